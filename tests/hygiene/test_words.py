"""The table of words is whole: every row has every language, and no language a word with other fields."""

import string

from lib.show.words import WORDS


def gaps(table):
    """Yield each row of a table of words that lacks a language, or whose fields differ between languages."""
    languages = set().union(*table.values())
    for key, row in table.items():
        if missing := languages - {language for language, words in row.items() if words}:
            yield f"{key} has no {sorted(missing)}"
        if len({frozenset(fields(words)) for words in row.values()}) > 1:
            yield f"{key} has other fields in another language"


def fields(words):
    """Return the names between braces in a sentence."""
    return {name for _, name, _, _ in string.Formatter().parse(words) if name is not None}


def test_every_row_has_every_language():
    assert WORDS and not list(gaps(WORDS))


def test_a_gap_is_seen():
    assert list(gaps({"a": {"en": "one", "zh": "一"}, "b": {"en": "two"}})) == ["b has no ['zh']"]
    assert list(gaps({"a": {"en": "one", "zh": ""}})) == ["a has no ['zh']"]
    assert list(gaps({"a": {"en": "{n} books", "zh": "{m} 本书"}})) == [
        "a has other fields in another language"
    ]
