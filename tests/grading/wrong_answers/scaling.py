"""Wrong answers to the assignment `scaling`: for each question and each check, the bodies that it must reject."""

DRAW = """\
query = rng.standard_normal((n_draws, d_k))
key = rng.standard_normal((n_draws, d_k))
return (query * key).sum(axis=-1)"""
TABLE = """\
rows = []
for d_k in d_ks:
    products = (rng.standard_normal((n_draws, d_k)) * rng.standard_normal((n_draws, d_k))).sum(axis=-1)
    rows.append([products.var(), (products / np.sqrt(d_k)).var()])
return np.array(rows)"""
DETECT = """\
rng = np.random.default_rng(0)
X, W_Q, W_K = (rng.standard_normal(shape) for shape in ((5, 12), (12, 3), (12, 3)))
return not np.allclose(head(X, W_Q, W_K), (X @ W_Q) @ (X @ W_K).T / np.sqrt(3))"""
MEND = """\
n, d_model = X.shape
query, key = X @ W_Q, X @ W_K
return query @ key.T * key.shape[-1] ** -0.5"""


def changed(text, *changes):
    """A right answer with some of its text changed."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


WRONG = {
    "draws": {
        "draws-form": [
            changed(DRAW, ("return (query * key).sum(axis=-1)", "return list((query * key).sum(axis=-1))")),
            changed(DRAW, ("sum(axis=-1)", "sum(axis=-1, keepdims=True)")),
            changed(DRAW, ("return (query * key).sum(axis=-1)", "return (query * key).sum(axis=-1)[None]")),
        ],
        "draws-variance": [
            changed(DRAW, ("sum(axis=-1)", "mean(axis=-1)")),
            changed(DRAW, ("sum(axis=-1)", "sum(axis=-1) / np.sqrt(d_k)")),  # scaled already
            changed(DRAW, ("rng.standard_normal((n_draws, d_k))", "rng.uniform(-1, 1, (n_draws, d_k)) * 1.05")),
            changed(DRAW, ("query * key", "query * key * d_k")),
            changed(DRAW, ("sum(axis=-1)", "max(axis=-1) * rng.choice([-1, 1], n_draws)")),
            changed(DRAW, ("sum(axis=-1)", "sum(axis=-1) * 2")),
            changed(DRAW, ("(query * key).sum(axis=-1)", "np.sign((query * key).sum(axis=-1)) * rng.permutation(np.abs(query[:, 0] * key[:, 0]))")),
        ],
        "draws-pairs": [
            changed(DRAW, ("rng.standard_normal((n_draws, d_k))\nkey", "rng.standard_normal(d_k)\nkey")),  # one query for all
            changed(DRAW, ("key = rng.standard_normal((n_draws, d_k))", "key = rng.standard_normal(d_k)")),  # one key for all
            changed(DRAW, ("key = rng.standard_normal((n_draws, d_k))", "key = query")),  # each with itself
            changed(DRAW, ("key = rng.standard_normal((n_draws, d_k))", "key = (query + rng.standard_normal((n_draws, d_k))) / 2**0.5")),
            changed(DRAW, ("sum(axis=-1)", "sum(axis=-1) + d_k")),
            changed(DRAW, ("key = rng", "key = np.sign(query) * 0.3 + rng")),
        ],
        "draws-rng": [
            changed(DRAW, ("rng.standard_normal", "np.random.default_rng().standard_normal")),
            changed(DRAW, ("query = rng", "rng = np.random.default_rng(0)\nquery = rng")),
            changed(DRAW, ("rng.standard_normal((", "np.random.standard_normal((")),
            changed(DRAW, ("query = rng", "np.random.seed(1)\nquery = rng")),
            changed(DRAW, ("key = rng", "key = np.random.default_rng()")),
        ],
    },
    "table": {
        "table-form": [
            changed(TABLE, ("np.array(rows)", "rows")),
            changed(TABLE, ("np.array(rows)", "np.array(rows).ravel()")),
            changed(TABLE, ("np.array(rows)", "np.array(rows)[None]")),
        ],
        "table-unscaled": [
            changed(TABLE, ("[products.var(),", "[products.std(),")),
            changed(TABLE, ("[products.var(),", "[products.var() / n_draws,")),
            changed(TABLE, ("[products.var(),", "[products.mean(),")),
            changed(TABLE, ("[products.var(),", "[products.var() / 2,")),
            changed(TABLE, ("[products.var(),", "[np.abs(products).var(),")),
            changed(TABLE, ("[products.var(),", "[(products / np.sqrt(d_k)).var(),")),
        ],
        "table-scaled": [
            changed(TABLE, ("products / np.sqrt(d_k)", "products / d_k")),
            changed(TABLE, ("products / np.sqrt(d_k)", "products * np.sqrt(d_k)")),
            changed(TABLE, ("products / np.sqrt(d_k)", "products / d_k**0.25")),
            changed(TABLE, ("(products / np.sqrt(d_k)).var()", "products.var()")),
            changed(TABLE, ("products / np.sqrt(d_k)", "products / np.sqrt(len(d_ks))")),
            changed(TABLE, ("products / np.sqrt(d_k)", "products / np.sqrt(max(d_ks))")),
        ],
        "table-measured": [
            "return np.array([[d_k, 1.0] for d_k in d_ks])",  # the theory, typed in
            changed(TABLE, ("rows = []", "rows, rng = [], np.random.default_rng(0)")),
            changed(TABLE, ("rng.standard_normal", "np.random.standard_normal")),
            changed(TABLE, ("(products / np.sqrt(d_k)).var()", "1.0")),
            changed(TABLE, ("[products.var(),", "[float(d_k),")),
        ],
    },
    "spread": {
        "spread-form": [
            "return np.array([sigma_q * sigma_k * d_k**0.5])",
            "return [sigma_q * sigma_k * d_k**0.5]",
            "return (sigma_q * sigma_k * d_k**0.5,)",
        ],
        "spread-width": [
            "return sigma_q * sigma_k * d_k",  # the variance
            "return sigma_q * sigma_k",
            "return sigma_q * sigma_k / d_k**0.5",
            "return sigma_q * sigma_k * d_k**2",
            "return sigma_q * sigma_k * d_k ** (1 / 3)",
            "return sigma_q * sigma_k / d_k",
        ],
        "spread-sigmas": [
            "return sigma_q**2 * sigma_k**2 * d_k**0.5",
            "return (sigma_q * sigma_k) ** 0.5 * d_k**0.5",
            "return (sigma_q + sigma_k) / 2 * d_k**0.5",
            "return max(sigma_q, sigma_k) * d_k**0.5",
            "return sigma_q * d_k**0.5",
            "return d_k**0.5",
            "return sigma_q / sigma_k * d_k**0.5",
            "return ((sigma_q**2 + sigma_k**2) / 2 * d_k) ** 0.5",
        ],
    },
    "detect": {
        "detect-form": [
            changed(DETECT, ("return not", "return 0 + (not"), ("np.sqrt(3))", "np.sqrt(3)))")),
            changed(DETECT, ("return not", "return 'yes' if not"), ("np.sqrt(3))", "np.sqrt(3)) else ''")),
            changed(DETECT, ("return not np.allclose(", "return (~np.isclose("), ("np.sqrt(3))", "np.sqrt(3))).sum()")),
        ],
        "detect-right": [
            "return True",
            changed(DETECT, ("not np.allclose", "not np.array_equal"), ("/ np.sqrt(3)", "/ 3**0.5 * (1 + 1e-15)")),  # to the last digit
            changed(DETECT, ("np.sqrt(3)", "np.sqrt(12)"), ("return not", "return True or not")),
            changed(DETECT, ("np.sqrt(3)", "3.0**0.4999")),
        ],
        "detect-wrong": [
            "return False",
            changed(DETECT, ("(5, 12), (12, 3), (12, 3)", "(5, 3), (3, 3), (3, 3)")),  # one head: d_model = d_k
            changed(DETECT, ("(5, 12), (12, 3), (12, 3)", "(3, 12), (12, 3), (12, 3)")),  # as many tokens as d_k
            changed(DETECT, ("(12, 3)", "(12, 1)"), ("np.sqrt(3)", "np.sqrt(1)")),  # d_k = 1 shows nothing
            changed(DETECT, ("return not np.allclose(head(X, W_Q, W_K), ", "return head(X, W_Q, W_K).shape != ("), ("np.sqrt(3))", "np.sqrt(3)).shape")),
            "return not np.isfinite(head(np.ones((2, 3)), np.ones((3, 2)), np.ones((3, 2)))).all()",
            changed(DETECT, ("X, W_Q, W_K = (", "X, W_Q, W_K = (0 * "), ("3)))", "3)))")),  # zeros show nothing
        ],
    },
    "mend": {
        "mend-form": [
            changed(MEND, ("return query @ key.T * key.shape[-1] ** -0.5", "return list(query @ key.T * key.shape[-1] ** -0.5)")),
            changed(MEND, ("return query @ key.T * key.shape[-1] ** -0.5", "return (query @ key.T * key.shape[-1] ** -0.5)[None]")),
        ],
        "mend-scale": [
            changed(MEND, ("key.shape[-1]", "d_model")),  # as reported
            changed(MEND, (" * key.shape[-1] ** -0.5", "")),
            changed(MEND, ("key.shape[-1] ** -0.5", "key.shape[-1] ** -1")),
            changed(MEND, ("key.shape[-1] ** -0.5", "key.shape[-1] ** 0.5")),
            changed(MEND, ("key.shape[-1]", "n")),
            changed(MEND, ("key.shape[-1]", "W_K.shape[0]")),
            changed(MEND, ("key.shape[-1]", "key.size**2")),
            changed(MEND, ("key.shape[-1]", "64")),
        ],
    },
}

GROSS = {
    "draws": ["return np.zeros(n_draws)", "return rng.standard_normal((n_draws, d_k))", "return None"],
    "table": ["return np.zeros((len(d_ks), 2))", changed(TABLE, ("np.array(rows)", "np.array(rows)[:, ::-1]"))],
    "spread": ["return 2.0", "return 0"],
    "detect": ["return None"],
    "mend": ["return X @ W_Q", "return head_as_reported(X, W_Q, W_K).sum()"],
}
