"""Wrong answers to the assignment `lookup`: for each question and each check, the bodies that this check must reject."""

WORDS = ("nothing", "weights", "answer", "both")
PREDICTIONS = {
    "other values": "answer",
    "other keys": "both",
    "longer query": "both",
    "every book twice": "weights",
    "higher scores": "nothing",
}

WRONG = {
    "match": {
        "match-form": [
            "return list(keys @ query)",
            "return tuple(keys @ query)",
            "return (keys @ query)[None]",
            "return (keys @ query)[:, None]",
            "return keys @ query[:, None]",
            "return [float(key @ query) for key in keys]",
        ],
        "match-dot": [
            "return keys @ query / np.sqrt(len(query))",  # scaled already: that is a later step
            "return keys @ query / (np.linalg.norm(keys, axis=1) * np.linalg.norm(query) + 1e-9)",  # cosine
            "return (keys * query).mean(axis=1)",
            "return (keys * query).max(axis=1)",
            "return -np.linalg.norm(keys - query, axis=1)",  # distance
            "return keys[:, 0] * query[0]",
            "return keys.sum(axis=1)",
            "return (keys @ query).round()",
        ],
        "match-sign": [
            "return np.abs(keys @ query)",
            "return np.maximum(keys @ query, 0)",
            "return np.abs(keys) @ np.abs(query)",
            "return np.clip(keys @ query, 0, None)",
            "return np.sqrt((keys @ query) ** 2)",
        ],
    },
    "share": {
        "share-form": [
            "e = np.exp(scores - scores.max()); return list(e / e.sum())",
            "e = np.exp(scores - scores.max()); return (e / e.sum())[None]",
            "e = np.exp(scores - scores.max()); return (e / e.sum())[:, None]",
        ],
        "share-sum": [
            "return np.exp(scores - scores.max())",  # forgot to divide
            "e = np.exp(scores - scores.max()); return 100 * e / e.sum()",  # per cent
            "e = np.exp(scores - scores.max()); return e / np.linalg.norm(e)",
            "e = np.exp(scores - scores.max()); return e / len(e)",
        ],
        "share-ratio": [
            "return scores / scores.sum()",  # linear shares
            "e = 2.0 ** (scores - scores.max()); return e / e.sum()",
            "return scores**2 / (scores**2).sum()",
            "return (scores == scores.max()) / (scores == scores.max()).sum()",  # the winner takes all
            "e = np.exp(2 * (scores - scores.max())); return e / e.sum()",
            "e = np.exp((scores - scores.max()) / np.sqrt(len(scores))); return e / e.sum()",
            "r = scores.argsort().argsort() + 1.0; return r / r.sum()",  # ranks
        ],
        "share-large": [
            "e = np.exp(scores); return e / e.sum()",
            "e = np.exp(scores - scores.min()); return e / e.sum()",
            "e = np.exp(scores - scores.mean()); return e / e.sum()",
            "e = np.exp(np.minimum(scores, 700)); return e / e.sum()",
            "return np.nan_to_num(np.exp(scores) / np.exp(scores).sum())",
            "e = np.exp(np.clip(scores, -50, 50)); return e / e.sum()",
            "return np.exp(scores - np.log(np.exp(scores).sum()))",
        ],
    },
    "blend": {
        "blend-form": [
            "return (weights @ values)[None]",
            "return weights[:, None] * values",  # weighted, but not added up
            "return list(weights @ values)",
            "return (weights @ values)[:, None]",
        ],
        "blend-all": [
            "return values[weights.argmax()]",  # one book taken home
            "return values.mean(axis=0)",
            "return values.sum(axis=0)",
            "return values.max(axis=0)",
            "return weights**2 @ values",
            "return weights[::-1] @ values",
            "return np.exp(weights) / np.exp(weights).sum() @ values",  # softmax once too often
            "return np.where(weights >= np.sort(weights)[-2], weights, 0) @ values",  # the best two
            "return weights @ values / len(weights)",
        ],
    },
    "roles": {
        "roles-form": [
            f"return list({PREDICTIONS!r}.items())",
            f"return {PREDICTIONS | {'more books': 'perhaps'}!r}",
            f"return {PREDICTIONS | {'more books': 'Both'}!r}",
        ],
        **{
            check: [f"return {PREDICTIONS | {experiment: word}!r}" for word in WORDS if word != PREDICTIONS[experiment]]
            for check, experiment in {
                "roles-values": "other values",
                "roles-keys": "other keys",
                "roles-query": "longer query",
                "roles-copies": "every book twice",
                "roles-shift": "higher scores",
            }.items()
        },
    },
}

# So far from right that several checks of their question must fail.
GROSS = {
    "match": ["return float(keys.ravel()[:2] @ query)", "return keys * query", "return None"],
    "share": ["return scores", "return np.array([0.665, 0.245, 0.09])"],
    "blend": ["return float((weights @ values).sum())", "return values @ weights"],
    "roles": ["return {}", "return None"],
}
