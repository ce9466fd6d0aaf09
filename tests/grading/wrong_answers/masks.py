"""Wrong answers to the assignment `masks`: for each question and each check, the bodies that it must reject."""

CAUSAL = """\
i = np.arange(n_query)[:, None] + offset
j = np.arange(n_key)[None, :]
return j <= i"""
WEIGHTS = """\
scores = np.where(mask, scores, -np.inf)
largest = scores.max(axis=-1, keepdims=True)
e = np.exp(scores - np.where(largest == -np.inf, 0.0, largest))
total = e.sum(axis=-1, keepdims=True)
return e / np.where(total == 0, 1.0, total)"""
PACKED = """\
n = len(document)
i, j = np.arange(n)[:, None], np.arange(n)[None, :]
return (j <= i) & (document[:, None] == document[None, :])"""
LEAKS = """\
before = attend_to(X)
for j in range(1, len(X)):
    changed = X.copy()
    changed[j] = changed[j] + 10.0
    if not np.allclose(attend_to(changed)[:j], before[:j]):
        return True
return False"""
MEND = """\
n = query.shape[0]
mask = np.tril(np.ones((n, n), dtype=bool))
return attend(query, key, value, mask)"""


def changed(text, *changes):
    """A right answer with some of its text changed."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


WRONG = {
    "causal": {
        "causal-form": [
            changed(CAUSAL, ("return j <= i", "return (j <= i).astype(float)")),
            changed(CAUSAL, ("return j <= i", "return (j <= i).astype(int)")),
            changed(CAUSAL, ("return j <= i", "return (j <= i).tolist()")),
            changed(CAUSAL, ("return j <= i", "return (j <= i)[None]")),
        ],
        "causal-future": [
            "return np.ones((n_query, n_key), dtype=bool) & (np.arange(n_key) <= 2)"
            " if offset else np.ones((n_query, n_key), dtype=bool)",  # hides nothing
            changed(CAUSAL, ("j <= i", "j <= i + (offset == 0)")),  # one step ahead
            changed(CAUSAL, ("j <= i", "(j <= i) | (j >= n_key - (offset == 0))")),  # the last key open to all
            changed(CAUSAL, ("j <= i", "(j <= i) | ((j == 2) & (i == 0))")),
        ],
        "causal-self": [
            changed(CAUSAL, ("j <= i", "(j < i) | ((j == i) & (offset > 0))")),
            changed(CAUSAL, ("j <= i", "(j <= i) & ~((i == j) & (i == 0))")),  # row 0 sees nothing
            changed(CAUSAL, ("j <= i", "(j <= i) & ~((i == j) & (i == n_query - 1) & (offset == 0))")),
        ],
        "causal-past": [
            changed(CAUSAL, ("j <= i", "(j <= i) & (j >= i - 1)")),  # a window
            changed(CAUSAL, ("j <= i", "j == i")),  # only itself
            changed(CAUSAL, ("j <= i", "(j <= i) & ((j > 0) | (i == 0))")),  # the first key is forgotten
            changed(CAUSAL, ("j <= i", "(j == i) | ((j == 0) & (i > 0))")),
        ],
        "causal-sizes": [
            changed(CAUSAL, ("np.arange(n_key)", "np.arange(n_query)")),  # square only
            changed(CAUSAL, ("np.arange(n_query)", "np.arange(n_key)")),
            changed(CAUSAL, ("np.arange(n_key)", "np.arange(4)"), ("np.arange(n_query)", "np.arange(4)")),  # hard-coded
        ],
        "causal-offset": [
            changed(CAUSAL, (" + offset", "")),
            changed(CAUSAL, ("+ offset", "- offset")),
            changed(CAUSAL, ("+ offset", "+ n_key - n_query")),
            changed(CAUSAL, ("+ offset", "+ 2 * offset")),
            changed(CAUSAL, ("+ offset", "+ (offset > 0)")),
        ],
    },
    "weights": {
        "weights-form": [
            changed(WEIGHTS, ("return e / np.where(total == 0, 1.0, total)", "return list(e / np.where(total == 0, 1.0, total))")),
            changed(WEIGHTS, ("return e / np.where(total == 0, 1.0, total)", "return (e / np.where(total == 0, 1.0, total))[None]")),
            changed(WEIGHTS, ("return e / np.where(total == 0, 1.0, total)", "return (e / np.where(total == 0, 1.0, total)).tolist()")),
        ],
        "weights-zero": [
            changed(WEIGHTS, ("scores = np.where(mask, scores, -np.inf)\n", "")),  # ignored
            changed(WEIGHTS, ("-np.inf)\nl", "-1.0)\nl")),
            changed(WEIGHTS, ("-np.inf)\nl", "1e-9)\nl")),  # a tiny number in place of a large negative one
            changed(WEIGHTS, ("-np.inf)\nl", "-1e4)\nl")),
            changed(WEIGHTS, ("-np.inf)\nl", "-1e9)\nl")),
            changed(WEIGHTS, ("np.where(mask, scores, -np.inf)\n", "scores * mask\n")),
            changed(WEIGHTS, ("np.where(mask, scores, -np.inf)\n", "scores + np.where(mask, 0.0, -1e9)\n")),
        ],
        "weights-sum": [
            changed(WEIGHTS, ("scores = np.where(mask, scores, -np.inf)\n", ""), ("return e", "return mask * e")),  # after the softmax
            changed(WEIGHTS, ("return e / np.where(total == 0, 1.0, total)", "return e")),
            changed(WEIGHTS, ("return e", "return 2 * e")),
            changed(WEIGHTS, ("total = e.sum(axis=-1, keepdims=True)", "total = e.sum()")),
        ],
        "weights-ratio": [
            changed(WEIGHTS, ("np.exp(scores", "2.0 ** (scores"), ("largest))", "largest))")),
            changed(WEIGHTS, ("np.exp(scores - np.where(largest == -np.inf, 0.0, largest))", "1.0 * mask")),  # even shares
            changed(WEIGHTS, ("np.where(mask, scores, ", "np.where(mask, scores / 2, ")),
            changed(WEIGHTS, ("np.where(mask, scores, ", "np.where(mask, -scores, ")),
            changed(WEIGHTS, ("np.exp(scores - np.where(largest == -np.inf, 0.0, largest))", "1.0 * (mask & (scores == largest))")),
        ],
        "weights-empty": [
            "scores = np.where(mask, scores, -np.inf)\ne = np.exp(scores - scores.max(axis=-1, keepdims=True))\n"
            "return e / e.sum(axis=-1, keepdims=True)",
            changed(WEIGHTS, ("np.where(total == 0, 1.0, total)", "total")),
            changed(WEIGHTS, ("np.where(largest == -np.inf, 0.0, largest)", "largest")),
        ],
    },
    "packed": {
        "packed-form": [
            changed(PACKED, ("return (j <= i) & (document[:, None] == document[None, :])",
                             "return ((j <= i) & (document[:, None] == document[None, :])).astype(float)")),
            changed(PACKED, ("return (j <= i) & (document[:, None] == document[None, :])",
                             "return ((j <= i) & (document[:, None] == document[None, :])).tolist()")),
            changed(PACKED, ("return (j <= i) & (document[:, None] == document[None, :])",
                             "return ((j <= i) & (document[:, None] == document[None, :]))[None]")),
        ],
        "packed-future": [
            changed(PACKED, ("(j <= i) & ", "")),  # only the documents
            changed(PACKED, ("j <= i", "j <= i + 1")),
            changed(PACKED, ("j <= i", "(j <= i) | (j == n - 1)")),
            changed(PACKED, ("j <= i", "j <= i + n // 2")),
        ],
        "packed-documents": [
            changed(PACKED, (" & (document[:, None] == document[None, :])", "")),  # only causal
            changed(PACKED, ("document[:, None] == document[None, :]", "document[:, None] >= document[None, :]")),  # sorted?
            changed(PACKED, ("document[:, None] == document[None, :]", "document[:, None] <= document[None, :]")),
            changed(PACKED, ("document[:, None] == document[None, :]", "abs(document[:, None] - document[None, :]) <= 1")),
            changed(PACKED, ("document[:, None] == document[None, :]", "(i < 3) == (j < 3)"), ("return", "if len(set(document)) == 1:\n    return j <= i\nreturn")),
            changed(PACKED, ("(document[:, None] == document[None, :])", "((j == i - 1) | (document[:, None] == document[None, :]))")),
        ],
        "packed-open": [
            changed(PACKED, ("j <= i", "j < i")),
            changed(PACKED, ("j <= i", "j == i")),
            changed(PACKED, ("j <= i", "(j <= i) & (j >= i - 2)")),
            changed(PACKED, ("j <= i", "(j <= i) & (j > 0)")),
            "return np.zeros((len(document), len(document)), dtype=bool)",
        ],
    },
    "leaks": {
        "leaks-form": [
            changed(LEAKS, ("return True", "return 1"), ("return False", "return 0")),
            changed(LEAKS, ("return True", "return 'yes'"), ("return False", "return ''")),
            changed(LEAKS, ("return True", "return j"), ("return False", "return None")),
        ],
        "leaks-clean": [
            "return True",
            changed(LEAKS, ("attend_to(changed)[:j], before[:j]", "attend_to(changed), before")),  # its own output changes, too
            changed(LEAKS, ("attend_to(changed)[:j], before[:j]", "attend_to(changed)[: j + 1], before[: j + 1]")),
            changed(LEAKS, ("attend_to(changed)[:j], before[:j]", "attend_to(changed)[j:], before[j:]")),
            changed(LEAKS, ("attend_to(changed)[:j], before[:j]", "changed, X")),
        ],
        "leaks-finds": [
            "return False",
            changed(LEAKS, ("[:j], before[:j]", "[0], before[0]")),  # only the first output
            changed(LEAKS, ("range(1, len(X))", "[len(X) - 1]")),  # only the last token
            changed(LEAKS, ("range(1, len(X))", "[1]")),
            changed(LEAKS, ("[:j], before[:j]", "[j - 1], before[j - 1]")),  # only the token before
            changed(LEAKS, ("+ 10.0", "+ 1e-12")),
            changed(LEAKS, ("        return True\n", "        pass\n")),
        ],
        "leaks-copy": [
            changed(LEAKS, ("return False", "X[0] = 0\nreturn False")),
            changed(LEAKS, ("before = attend_to(X)", "X -= X.mean()\nbefore = attend_to(X)")),
            changed(LEAKS, ("return False", "X.sort(axis=0)\nreturn False")),
        ],
    },
    "mend": {
        "mend-form": [
            changed(MEND, ("return attend(query, key, value, mask)", "return list(attend(query, key, value, mask))")),
            changed(MEND, ("return attend(query, key, value, mask)", "return attend(query, key, value, mask)[None]")),
        ],
        "mend-causal": [
            changed(MEND, ("np.tril(np.ones((n, n), dtype=bool))", "np.triu(np.ones((n, n), dtype=bool), k=1)")),  # as reported
            changed(MEND, ("np.tril(np.ones((n, n), dtype=bool))", "np.triu(np.ones((n, n), dtype=bool))")),
            changed(MEND, ("np.tril(np.ones((n, n), dtype=bool))", "np.tril(np.ones((n, n), dtype=bool), k=-1)")),  # not itself
            changed(MEND, ("np.tril(np.ones((n, n), dtype=bool))", "np.tril(np.ones((n, n), dtype=bool), k=1)")),
            changed(MEND, ("np.tril(np.ones((n, n), dtype=bool))", "~np.triu(np.ones((n, n), dtype=bool))")),
            changed(MEND, ("np.tril(np.ones((n, n), dtype=bool))", "np.ones((n, n), dtype=bool)")),
            changed(MEND, ("np.tril(np.ones((n, n), dtype=bool))", "np.eye(n, dtype=bool)")),
            changed(MEND, ("np.tril(", "~np.tril(")),
        ],
    },
}

GROSS = {
    "causal": ["return np.triu(np.ones((n_query, n_key), dtype=bool))", "return None", "return ~np.tril(np.ones((n_query, n_key), dtype=bool))"],
    "weights": [changed(WEIGHTS, ("np.where(mask, scores, -np.inf)", "np.where(mask, -np.inf, scores)")), "return scores", "return np.where(mask, scores, -np.inf)"],
    "packed": ["return document", "return (document[:, None] == document) | np.tril(np.ones((len(document),) * 2, dtype=bool))"],
    "leaks": ["return None", changed(LEAKS, ("changed = X.copy()", "changed = X"))],
    "mend": ["return None", "return causal_attention_as_reported(query, key, value).T"],
}
