"""Wrong answers to the assignment `five-steps`: for each question and each check, the bodies that it must reject."""

SOFTMAX = "e = np.exp(scores - scores.max(axis=-1, keepdims=True)); "
ATTENTION = """\
scores = query @ key.T / np.sqrt(key.shape[-1])
exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
return weights @ value, weights"""


def mended(*changes):
    """The right answer to the last question with some of its text changed."""
    text = ATTENTION
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


WRONG = {
    "project": {
        "project-form": [
            "return (X @ W).T",
            "return X @ W.T",
            "return W @ X",
            "return list(X @ W)",
            "return (X @ W)[None]",
            "return X.T @ W",
            "return (X @ W).tolist()",
        ],
        "project-values": [
            "return X @ W + 1",
            "return np.maximum(X @ W, 2)",
            "return X @ W / np.sqrt(W.shape[-1])",
            "return X @ np.abs(W - 1.5)",
            "return X @ (W / W.sum(axis=0))",
            "return np.zeros((X.shape[0], W.shape[1]))",
            "return np.abs(X) @ W",
            "return X @ W[:, ::-1]",
        ],
    },
    "score": {
        "score-form": [
            "return list(query @ key.T)",
            "return (query @ key.T)[None]",
            "return (query @ key.T).tolist()",
            "return tuple(query @ key.T)",
        ],
        "score-pairs": [
            "return key @ query.T",  # rows and columns swapped
            "return query @ key.T / np.sqrt(key.shape[-1])",  # the next step, too early
            "return query @ key.T / (np.linalg.norm(query, axis=1)[:, None] * np.linalg.norm(key, axis=1))",
            "return -np.linalg.norm(query[:, None] - key[None], axis=-1)",
            "return np.abs(query @ key.T)",
            "return np.maximum(query @ key.T, 0)",
            "return query @ (key - key.mean(axis=0)).T",
            "return np.eye(len(query), len(key)) * (query @ key.T)",
            "return query.sum(axis=1)[:, None] + key.sum(axis=1)",
        ],
    },
    "scale": {
        "scale-form": [
            "return list(scores / np.sqrt(key.shape[-1]))",
            "return (scores / np.sqrt(key.shape[-1]))[None]",
            "return (scores / np.sqrt(key.shape[-1])).tolist()",
        ],
        "scale-root": [
            "return scores.copy()",  # no scale
            "return scores / key.shape[-1]",
            "return scores * np.sqrt(key.shape[-1])",
            "return scores / key.shape[-1] ** 2",
            "return scores / key.shape[-1] ** (1 / 3)",
            "return scores * key.shape[-1]",
        ],
        "scale-width": [
            "return scores / np.sqrt(key.shape[0])",  # the number of keys
            "return scores / np.sqrt(len(scores))",  # the number of queries
            "return scores / np.sqrt(scores.shape[-1])",
            "return scores / np.sqrt(max(key.shape))",
            "return scores / np.sqrt(key.shape[-2])",
        ],
        "scale-copy": [
            "scores /= np.sqrt(key.shape[-1]); return scores",
            "scores *= key.shape[-1] ** -0.5; return scores",
            "return np.divide(scores, np.sqrt(key.shape[-1]), out=scores)",
            "scores[:] = scores / np.sqrt(key.shape[-1]); return scores.copy()",
        ],
    },
    "weights": {
        "weights-form": [
            SOFTMAX + "return list(e / e.sum(axis=-1, keepdims=True))",
            SOFTMAX + "return (e / e.sum(axis=-1, keepdims=True))[None]",
            SOFTMAX + "return (e / e.sum(axis=-1, keepdims=True)).tolist()",
        ],
        "weights-axis": [
            "e = np.exp(scores - scores.max(axis=0)); return e / e.sum(axis=0)",  # over the queries
            SOFTMAX + "return e / e.sum()",  # over everything
            SOFTMAX + "return e / e.sum(axis=-1)",  # no keepdims
            SOFTMAX + "return e",  # forgot to divide
            SOFTMAX + "return e / np.linalg.norm(e, axis=-1, keepdims=True)",
            SOFTMAX + "return e / e.mean(axis=-1, keepdims=True)",
        ],
        "weights-ratio": [
            "e = 2.0 ** (scores - scores.max(axis=-1, keepdims=True)); return e / e.sum(axis=-1, keepdims=True)",
            "e = np.exp(2 * (scores - scores.max(axis=-1, keepdims=True))); return e / e.sum(axis=-1, keepdims=True)",
            "e = np.exp((scores - scores.max(axis=-1, keepdims=True)) / 2); return e / e.sum(axis=-1, keepdims=True)",
            "e = np.exp(scores.min(axis=-1, keepdims=True) - scores); return e / e.sum(axis=-1, keepdims=True)",
            "e = 1.0 * (scores == scores.max(axis=-1, keepdims=True)); return e / e.sum(axis=-1, keepdims=True)",
            "e = 1 + scores - scores.min(axis=-1, keepdims=True); return e / e.sum(axis=-1, keepdims=True)",
        ],
        "weights-large": [
            "e = np.exp(scores); return e / e.sum(axis=-1, keepdims=True)",
            "e = np.exp(scores - scores.max()); return e / e.sum(axis=-1, keepdims=True)",  # one maximum for all rows
            "e = np.exp(scores - scores.min(axis=-1, keepdims=True)); return e / e.sum(axis=-1, keepdims=True)",
            "e = np.exp(scores - scores.mean(axis=-1, keepdims=True)); return e / e.sum(axis=-1, keepdims=True)",
            "e = np.exp(np.minimum(scores, 700)); return e / e.sum(axis=-1, keepdims=True)",
        ],
    },
    "mix": {
        "mix-form": [
            "return list(weights @ value)",
            "return (weights @ value)[None]",
            "return (weights @ value).tolist()",
        ],
        "mix-rows": [
            "return weights.T @ value",
            "return value[weights.argmax(axis=-1)]",
            "return np.repeat(value.mean(axis=0)[None], len(weights), axis=0)",
            "return weights**2 @ value",
            "return weights @ value / len(value)",
            "return weights[:, ::-1] @ value",
            "return weights @ value[:, ::-1]",
            "return weights.sum(axis=-1, keepdims=True) * value[: len(weights)]",
            "return weights @ value + value[: len(weights)]",
        ],
    },
    "mend": {
        "mend-form": [
            mended(("return weights @ value, weights", "return weights, weights @ value")),
            mended(("return weights @ value, weights", "return [weights @ value, weights]")),
            mended(("return weights @ value, weights", "return weights @ value, weights.T")),
            mended(("return weights @ value, weights", "return weights @ value, scores, weights")),
        ],
        "mend-axis": [
            mended(("axis=-1", "axis=0")),  # as reported
            mended(("scores.max(axis=-1", "scores.max(axis=0")),  # one line mended, one not
            mended(("exponentials.sum(axis=-1", "exponentials.sum(axis=0")),
            mended(("exponentials.sum(axis=-1, keepdims=True)", "exponentials.sum()")),
            mended(("exponentials.sum(axis=-1, keepdims=True)", "exponentials.sum(axis=0)")),
        ],
        "mend-scale": [
            mended((" / np.sqrt(key.shape[-1])", "")),
            mended(("np.sqrt(key.shape[-1])", "key.shape[-1]")),
            mended((" / np.sqrt", " * np.sqrt")),
        ],
        "mend-large": [
            mended((" - scores.max(axis=-1, keepdims=True)", "")),
            mended(("scores.max(axis=-1", "scores.min(axis=-1")),
        ],
    },
}

GROSS = {
    "project": ["return X * W", "return None", "return W"],
    "score": ["return query @ key", "return (query * key).sum(axis=-1)"],
    "scale": ["return scores / 2", "return scores / np.sqrt(key)"],  # hard-coded for d_k = 4
    "weights": ["return scores", "return np.exp(scores)"],
    "mix": ["return value @ weights", "return weights * value"],
    "mend": ["return attention_as_reported(query, key.T, value)", "return None", "return attention_as_reported(query, key, value)[0]"],
}
