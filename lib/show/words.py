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
}


def word(key, **fields):
    """Return the word or sentence for ``key`` in the book's language, with its fields filled in.

    >>> word("query")
    'query'
    """
    if key not in WORDS:
        raise KeyError(f"no words for {key!r}: add a row for it to WORDS in lib/show/words.py")
    if LANGUAGE not in WORDS[key]:
        raise KeyError(f"no {LANGUAGE!r} words for {key!r}: add them to WORDS in lib/show/words.py")
    return WORDS[key][LANGUAGE].format(**fields)
