"""Every word that a figure or an explorer shows, in one table.

A translation adds a column here and needs no new figure code. Error messages are not in it: they stay English.
Names in formulas (Q, K, V, d_k) are the same in every language and need no row.
"""

import os

LANGUAGE = os.environ.get("LOOK_IT_UP_LANGUAGE", "en")

WORDS = {
    # the roles
    "query": {"en": "query"},
    "key": {"en": "key"},
    "value": {"en": "value"},
    "score": {"en": "score"},
    "scores": {"en": "scores"},
    "weight": {"en": "weight"},
    "weights": {"en": "weights"},
    "output": {"en": "output"},
    # the running example: the shelf
    "book.star_atlas": {"en": "Star Atlas"},
    "book.astronomers": {"en": "Lives of Astronomers"},
    "book.rome": {"en": "A History of Rome"},
    "book.garden": {"en": "Garden Plants"},
    "book.fairy_tales": {"en": "Fairy Tales"},
    "axis.science": {"en": "science"},
    "axis.people": {"en": "people"},
    "axis.facts": {"en": "facts"},
    "axis.stories": {"en": "stories"},
    "axis.pictures": {"en": "pictures"},
    # the running example: the sentence
    "token.if": {"en": "if"},
    "token.you": {"en": "you"},
    "token.forget": {"en": "forget"},
    "token.a": {"en": "a"},
    "token.word": {"en": "word"},
    "token.look": {"en": "look"},
    "token.it": {"en": "it"},
    "token.up": {"en": "up"},
    "feature.action": {"en": "action"},
    "feature.thing": {"en": "thing"},
    "feature.direction": {"en": "direction"},
    "feature.pointer": {"en": "pointer"},
    "feature.partner": {"en": "wants a partner"},
    "content.happens": {"en": "what happens"},
    "content.about": {"en": "what it is about"},
    # explorers
    "explorer.on": {"en": "on"},
    "explorer.off": {"en": "off"},
    "explorer.plain": {"en": "{question} (a picture to be moved by: {controls})"},
    "explorer.no_script": {"en": "Without JavaScript only this setting is shown."},
    # explorers: the five steps
    "pipeline.question": {"en": "At which step is it settled that “look” will take most from “up”?"},
    "pipeline.step": {"en": "step"},
    "pipeline.project": {"en": "1 project"},
    "pipeline.score": {"en": "2 score"},
    "pipeline.scale": {"en": "3 scale"},
    "pipeline.softmax": {"en": "4 softmax"},
    "pipeline.mix": {"en": "5 mix"},
    "pipeline.formula.project": {"en": "Q = X @ W_Q,  K = X @ W_K,  V = X @ W_V"},
    "pipeline.formula.score": {"en": "S = Q @ Kᵀ: every query with every key"},
    "pipeline.formula.scale": {"en": "S / √d_k = S / {root:g}"},
    "pipeline.formula.softmax": {"en": "A = softmax(S / {root:g}), row by row"},
    "pipeline.formula.mix": {"en": "O = A @ V: the values, blended"},
    "pipeline.sum": {"en": "sum {total:.0f}"},
    "pipeline.said.project": {
        "en": "Project: each of the three tokens gets a query and a key of four numbers and a value of two. "
        "The query of “look” is {query}."
    },
    "pipeline.said.score": {
        "en": "Score: three queries and three keys give nine scores. Those of “look” are {scores}."
    },
    "pipeline.said.scale": {
        "en": "Scale: all scores are divided by √d_k = {root:g}. Those of “look” are now {scaled}, in the same order."
    },
    "pipeline.said.softmax": {
        "en": "Softmax: each row becomes weights that sum to 1. Those of “look” are {weights}."
    },
    "pipeline.said.mix": {
        "en": "Mix: each token gets the values in proportion to its weights. The output of “look” is {output}."
    },
    # explorers: the scale
    "scaling.question": {"en": "At which d_k is half of all queries silent, ‖J‖ < 0.01?"},
    "scaling.switch": {"en": "divide by √d_k"},
    "scaling.spread": {"en": "Scores {name}: standard deviation {sd:.1f}"},
    "scaling.weights": {"en": "Weights, typical"},
    "scaling.rank": {"en": "keys by weight"},
    "scaling.gradient": {"en": "‖J‖, all queries"},
    "scaling.said": {
        "en": "With d_k = {d_k} the scores {name} have a standard deviation of {sd:.1f}. A typical query gives "
        "its best key of 64 the weight {largest:.2f}, and its ‖J‖ is {norm:.2g}; for {lost:.0f} % of the "
        "queries it is below 0.01."
    },
    # explorers: masks
    "token.pad": {"en": "pad"},
    "masks.question": {
        "en": "Under which mask does a row have nothing to attend to, and what are its weights?"
    },
    "masks.mask": {"en": "mask"},
    "masks.row": {"en": "query"},
    "masks.none": {"en": "none"},
    "masks.causal": {"en": "causal"},
    "masks.padding": {"en": "padding"},
    "masks.window": {"en": "window"},
    "masks.causal_padding": {"en": "causal and padding"},
    "masks.map": {"en": "Weights; × = may not attend"},
    "masks.nothing": {"en": "nothing to attend to: all weights are 0"},
    "masks.said": {
        "en": "Mask: {kind}. Query {row}, “{token}”, may attend to {allowed} of {count} keys; "
        "its weights sum to 1, and the largest is {largest:.2f}, on “{key}”."
    },
    "masks.said_nothing": {
        "en": "Mask: {kind}. Query {row}, “{token}”, may attend to nothing: "
        "its weights are 0, sum to 0, and its output is 0."
    },
    # explorers: self or cross
    "cross.question": {"en": "Who decides how many rows the weights have, and who how many columns?"},
    "cross.queries": {"en": "queries from"},
    "cross.keys": {"en": "keys and values from"},
    "cross.self": {"en": "Self-attention"},
    "cross.cross": {"en": "Cross-attention"},
    "cross.title": {"en": "{kind}: weights {shape}"},
    "cross.said": {
        "en": "{kind}: {n_query} queries ask {n_key} keys, so there are {n_query} rows of weights with "
        "{n_key} in each. “{query}” takes most from “{key}”, {weight:.2f}."
    },
    # figures: titles are the questions that they answer
    "shelf.your_query": {"en": "your query"},
    "shelf.science_axis": {"en": "science →"},
    "shelf.people_axis": {"en": "people →"},
    "title.shelf_map": {"en": "Which keys point the way of your query?"},
    "title.share_of_hour": {"en": "What share of your hour does each book get?"},
    "title.temperature": {"en": "How does the temperature T share out the hour?"},
    "title.who_asks_whom": {"en": "Whom does each token (row) ask?"},
    "title.wrong_axis": {"en": "The wrong axis: here each column sums to 1"},
    "title.looks_for": {"en": "what it looks for (Q)"},
    "title.found_by": {"en": "what it is found by (K)"},
    "title.hull": {"en": "Where can a blend of three values lie?"},
    "hull.value_of": {"en": "value of {token}"},
    "hull.output_of": {"en": "output of {token}"},
    # figures: what is to be seen, for those who do not see it
    "said.shelf_map": {
        "en": "Five arrows for the keys, by science and people: {places}. The arrow of your query points to "
        "({x:g}, {y:g}), between Star Atlas and Lives of Astronomers."
    },
    "said.asks_most": {"en": "{query} asks {key} most ({weight:.2f})"},
    "said.looks_for": {"en": "{token} looks for {query} and is found by {key}"},
    "said.hull": {
        "en": "{token} has the value ({vx:g}, {vy:g}) as a corner and the output ({ox:.2f}, {oy:.2f}) inside"
    },
    # chapter 03, scaling: its figures
    "title.walk": {"en": "How far does a sum of 64 products get?"},
    "walk.components": {"en": "components added"},
    "walk.sum": {"en": "sum so far"},
    "walk.reach": {"en": "{reach:g}"},
    "said.walk": {
        "en": "{n} sums wander up and down over {steps} steps, as wide as the root of the steps: {inside} of them "
        "end within {sd:g} of 0, and a second line at three times that, {three:g}, has nearly all of them inside."
    },
    "title.divisor": {"en": "Which divisor keeps the spread?"},
    "spread.axis": {"en": "standard deviation of a score"},
    "said.divisor": {
        "en": "divided by {name} the standard deviation is {first:.2f} at d_k = {low:g} "
        "and {last:.2f} at d_k = {high:g}"
    },
    "scale.unscaled": {"en": "without scale"},
    "scale.scaled": {"en": "with 1/√d_k"},
    "title.follow_scores": {"en": "How much do the weights follow the scores?"},
    "axis.follow_scores": {"en": "‖J‖"},
    "title.follow_query": {"en": "How much do the weights follow the query?"},
    "axis.follow_query": {"en": "‖da/dq‖"},
    "said.bands": {
        "en": "d_k = {d_k:g}: without scale 5 of 100 queries lie below {low:.2g}, half below {middle:.2g}, "
        "95 below {high:.2g}; with it half lie below {scaled:.2g}"
    },
    "title.training": {"en": "Does the model learn, d_k = 256?"},
    "training.step": {"en": "step"},
    "training.loss": {"en": "loss"},
    "said.training": {"en": "{start}: the loss at the last step is {unscaled} without the scale and {scaled} with it"},
    # chapter 04: the variants
    "token.please": {"en": "please"},
    "token.consult": {"en": "consult"},
    "title.mask": {"en": "Whom may each token (row) ask?"},
    "title.cross": {"en": "Whom does each token of the new text (row) ask?"},
    "title.causal": {"en": "Whom does each token ask without the future?"},
    "title.one_word": {"en": "What becomes of one row without the future?"},
    "title.flow": {"en": "How does a token become an output?"},
    "title.halves": {"en": "Which half has which attention?"},
    "said.may_ask": {"en": "{query} may ask {keys}"},
    "said.asks_nobody": {"en": "{query} asks nobody"},
    "flow.tokens": {"en": "tokens"},
    "flow.embedding": {"en": "embedding + position"},
    "flow.project": {"en": "project: Q, K, V"},
    "flow.variants": {"en": "score, scale, hide by the mask"},
    "flow.attention": {"en": "softmax, mix"},
    "flow.heads": {"en": "join the heads"},
    "flow.linear": {"en": "linear (W_O), add to the token"},
    "flow.feed_forward": {"en": "feed-forward, add to the token"},
    "flow.output": {"en": "output"},
    "said.flow": {
        "en": "A column of boxes from top to bottom, each with its shape. {steps}. Shaded are the steps of this book so "
        "far: project; score, scale, hide by the mask; softmax, mix."
    },
    "halves.encoder": {"en": "Encoder"},
    "halves.decoder": {"en": "Decoder"},
    "halves.sentence": {"en": "whole sentence"},
    "halves.written": {"en": "written so far"},
    "halves.embedding": {"en": "embedding + position"},
    "halves.self": {"en": "self-attention"},
    "halves.self.mask": {"en": "all see all"},
    "halves.causal": {"en": "self-attention"},
    "halves.causal.mask": {"en": "causal mask"},
    "halves.cross": {"en": "cross-attention"},
    "halves.cross.mask": {"en": "Q from here, no causal mask"},
    "halves.feed_forward": {"en": "feed-forward"},
    "halves.linear": {"en": "linear, softmax"},
    "halves.next": {"en": "next token"},
    "halves.keys_values": {"en": "K and V for the decoder"},
    "said.halves": {
        "en": "Two columns. The encoder, on the left: the whole sentence; embedding + position; then a block of "
        "self-attention, in which all see all, and feed-forward. The decoder, on the right: what is written so far; "
        "embedding + position; then a block of self-attention with a causal mask, cross-attention, and feed-forward; "
        "at its end linear and softmax, which give the next token. An arrow leads from the end of the encoder to "
        "cross-attention: K and V come from there, Q from the decoder."
    },
    # The shelf: a query among books. In a group's rows {fields} are filled in by the script on the page.
    "shelf.title": {"en": "The shelf"},
    "shelf.use": {
        "en": "Drag the query q, or a book. With the keyboard: Tab to one of them, then the arrow keys "
        "(with Shift, or the Page keys, larger steps); Home and End go to the edges."
    },
    "shelf.how": {
        "en": "A score is the dot product of the query and the book’s key. The scores are divided by the temperature, "
        "and the softmax turns them into weights. The blend is the sum of weight times value."
    },
    "shelf.plane": {"en": "The books and the query in the plane of {x} and {y}"},
    "shelf.handle": {"en": "point to move"},
    "shelf.place": {"en": "{x_name} {x}, {y_name} {y}"},
    "shelf.book": {"en": "book"},
    "shelf.blend": {"en": "blend: weights times values"},
    "shelf.temperature": {"en": "Temperature"},
    "shelf.hard": {"en": "hard lookup"},
    "shelf.average": {"en": "plain average"},
    "shelf.swap": {"en": "Swap the values"},
    "shelf.reset": {"en": "Reset"},
    "shelf.say_most": {"en": "The query asks most of {names} ({weight}); the blend is {blend}."},
    "shelf.say_tie": {"en": "The query asks equally of {names} ({weight} each); the blend is {blend}."},
    "shelf.say_hard": {"en": "Hard lookup: {names} gets all the weight; the blend is its value, {blend}."},
    "shelf.say_hard_tie": {
        "en": "Hard lookup, and a tie: {names} share the weight ({weight} each); the blend is {blend}."
    },
    "shelf.say_average": {
        "en": "Plain average: every book has the weight {weight}, wherever the query stands; the blend is {blend}."
    },
    "shelf.say_swapped": {
        "en": "The values stand at other books now; the weights do not ask for values, so they stay."
    },
    "shelf.and": {"en": "and"},
    "shelf.still": {"en": "Without scripts this picture does not move."},
    # The mask editor: which query may attend to which key.
    "mask.title": {"en": "The mask"},
    "mask.use": {
        "en": "Click a cell to let its query (row) attend to its key (column), or not. With the keyboard: Tab into the "
        "mask, arrow keys to move, Space or Enter to change a cell."
    },
    "mask.grid": {"en": "Mask: rows are queries, columns are keys"},
    "mask.cell": {"en": "query {i} {query} may attend to key {j} {key}"},
    "mask.choose": {"en": "show the row of query {i} {query}"},
    "mask.corner": {"en": "query ↓ key →"},
    "mask.presets": {"en": "Start from"},
    "mask.none": {"en": "none"},
    "mask.causal": {"en": "causal"},
    "mask.padding": {"en": "padding"},
    "mask.window": {"en": "window"},
    "mask.row": {"en": "The row of token {i} {token}"},
    "mask.is_none": {"en": "no mask"},
    "mask.is_causal": {"en": "causal"},
    "mask.is_padding": {"en": "padding: only the first {n} tokens are real, nobody sees the others"},
    "mask.is_window": {"en": "window of {left} before and {right} after"},
    "mask.is_closed": {"en": "everything hidden: no token sees any"},
    "mask.is_custom": {"en": "custom: {seen} of {all} cells are open, {ahead} of them look ahead"},
    "mask.but": {"en": "{name}, but {exceptions}"},
    "mask.leak": {"en": "token {i} {query} sees token {j} {key}: a leak"},
    "mask.sees": {"en": "token {i} {query} sees token {j} {key}"},
    "mask.misses": {"en": "token {i} {query} does not see token {j} {key}"},
    "mask.say": {"en": "The mask is: {name}."},
    "mask.say_row": {
        "en": "Token {i} {token} sees {n} of {all} keys and gives most weight to {names} ({weight}); its output is {output}."
    },
    "mask.say_empty": {"en": "Token {i} {token} sees no key at all: its weights are 0, so its output is 0."},
    "mask.and": {"en": "and"},
    "mask.still": {"en": "Without scripts this picture does not change."},
}


def word(key, /, **fields):
    """Return the word or sentence for ``key`` in the book's language, with its fields filled in.

    >>> word("query")
    'query'
    """
    return _row(key).format(**fields)


def templates(*groups):
    """Return the words that stand alone and those of some groups, unfilled, for a script that fills them in itself.

    >>> templates("shelf")["swap"], templates("shelf")["query"]
    ('Swap the values', 'query')
    """
    alone = {key: _row(key) for key in WORDS if "." not in key}
    grouped = {
        key.partition(".")[2]: _row(key) for key in WORDS if key.partition(".")[0] in groups and "." in key
    }
    return alone | grouped


def _row(key):
    if key not in WORDS:
        raise KeyError(f"no words for {key!r}: add a row for it to WORDS in lib/show/words.py")
    if LANGUAGE not in WORDS[key]:
        raise KeyError(f"no {LANGUAGE!r} words for {key!r}: add them to WORDS in lib/show/words.py")
    return WORDS[key][LANGUAGE]


def words(*keys):
    """Return the words for several keys, as a tuple.

    >>> words("query", "key")
    ('query', 'key')
    """
    return tuple(word(key) for key in keys)
