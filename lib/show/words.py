"""Every word that a figure or an explorer shows, in one table.

A translation adds a column here and needs no new figure code. Error messages are not in it: they stay English.
Names in formulas (Q, K, V, d_k) are the same in every language and need no row.
"""

import os

LANGUAGE = os.environ.get("LOOK_IT_UP_LANGUAGE", "en")

WORDS = {
    "query": {"en": "query"},
    "key": {"en": "key"},
    "value": {"en": "value"},
    "score": {"en": "score"},
    "scores": {"en": "scores"},
    "weight": {"en": "weight"},
    "weights": {"en": "weights"},
    "output": {"en": "output"},
    # The shelf: a query among books. In a group's rows {fields} are filled in by the script on the page.
    "shelf.title": {"en": "The shelf"},
    "shelf.use": {
        "en": "Drag the query q, or a book. With the keyboard: Tab to one of them, then the arrow keys "
        "(with Shift, larger steps)."
    },
    "shelf.how": {
        "en": "A score is the dot product of the query and the book’s key, divided by √d_k = √2. The scores are "
        "divided by the temperature, and the softmax turns them into weights. The blend is the sum of weight times value."
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
    "shelf.say_hard_tie": {"en": "Hard lookup, and a tie: {names} share the weight ({weight} each); the blend is {blend}."},
    "shelf.say_average": {
        "en": "Plain average: every book has the weight {weight}, wherever the query stands; the blend is {blend}."
    },
    "shelf.say_swapped": {"en": "The values stand at other books now; the weights do not ask for values, so they stay."},
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
    "mask.say_empty": {
        "en": "Token {i} {token} sees no key at all: its weights are 0, so its output is 0."
    },
    "mask.and": {"en": "and"},
    "mask.still": {"en": "Without scripts this picture does not change."},
}


def word(key, **fields):
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
    grouped = {key.partition(".")[2]: _row(key) for key in WORDS if key.partition(".")[0] in groups and "." in key}
    return alone | grouped


def _row(key):
    if key not in WORDS:
        raise KeyError(f"no words for {key!r}: add a row for it to WORDS in lib/show/words.py")
    if LANGUAGE not in WORDS[key]:
        raise KeyError(f"no {LANGUAGE!r} words for {key!r}: add them to WORDS in lib/show/words.py")
    return WORDS[key][LANGUAGE]
