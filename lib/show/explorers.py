"""The book's explorers: for each a draw function, its controls, and a question to answer by moving them.

Where it stands: above `explore.py`, `example.py` and `lib.attention`, which computes every number that is
shown here; chapters import it. Words are in `words.py`.
"""

from functools import lru_cache

import numpy as np
from matplotlib.patches import Rectangle

from lib.attention import causal_mask, padding_mask, scaled_dot_product_attention, softmax, window_mask
from lib.scaling import jacobian_norm
from lib.show import hands_on
from lib.show.example import (
    BOOKS,
    KEY_AXES,
    SHELF_KEYS,
    SHELF_QUERY,
    SHELF_VALUES,
    TOKENS,
    VALUE_AXES,
    W_K,
    W_Q,
    W_V,
    X,
)
from lib.show.explore import choice, explore, slider, switch
from lib.show.svg import BLUE, FAINT, INK, ORANGE, RED, set_margins, shade
from lib.show.words import word

__all__ = ["mask_editor", "masks", "pipeline", "scaling", "self_or_cross", "shelf"]


# To be taken in the hand: the modules of `hands_on`, on the running example


def shelf():
    """Return the shelf of five books with a query to drag among them."""
    return hands_on.shelf(
        BOOKS,
        SHELF_KEYS,
        SHELF_VALUES,
        SHELF_QUERY,
        attention=scaled_dot_product_attention,
        components=VALUE_AXES,
        axes=KEY_AXES,
    )


def mask_editor():
    """Return the mask of the sentence, causal to begin with, with cells to open and close."""
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    mask = causal_mask(len(X), len(X))
    return hands_on.mask_editor(TOKENS, Q, K, V, attention=scaled_dot_product_attention, mask=mask, row=5)


# The five steps, on the three tokens that are worked by hand

STEPS = ("project", "score", "scale", "softmax", "mix")


def pipeline():
    """Return the explorer of the five steps from tokens to output."""
    step = choice(word("pipeline.step"), {word(f"pipeline.{name}"): name for name in STEPS})
    return explore(draw_pipeline, question=word("pipeline.question"), height=3.0, step=step)


def draw_pipeline(fig, step):
    """Draw the matrices that one step takes and the one that it gives."""
    tokens, x = TOKENS[-3:], X[-3:]
    Q, K, V = x @ W_Q, x @ W_K, x @ W_V
    S, root = Q @ K.T, np.sqrt(K.shape[-1])
    A = softmax(S / root)
    ax = _canvas(fig)
    formula = word(f"pipeline.formula.{step}", root=root)
    ax.text(4, 16, formula, weight="bold")
    if step == "project":
        _matrix(ax, 44, 52, "X", x, rows=tokens, width=22)
        _matrix(ax, 44, 150, "Q", Q, rows=tokens, width=22)
        _matrix(ax, 154, 150, "K", K, width=22)
        _matrix(ax, 264, 150, "V", V, width=22)
    elif step == "score":
        _matrix(ax, 44, 90, "Q", Q, rows=tokens, width=22)
        _sign(ax, 141, 120, "@")
        _matrix(ax, 150, 80, "Kᵀ", K.T, columns=tokens)
        _sign(ax, 252, 120, "=")
        _matrix(ax, 264, 90, "S", S, columns=tokens)
    elif step == "scale":
        _matrix(ax, 44, 90, "S", S, rows=tokens, columns=tokens)
        _sign(ax, 167, 120, "→")
        _matrix(ax, 200, 90, f"S / {root:g}", S / root, columns=tokens)
    elif step == "softmax":
        _matrix(ax, 44, 90, f"S / {root:g}", S / root, rows=tokens, columns=tokens)
        _sign(ax, 167, 120, "→")
        _matrix(ax, 200, 90, "A", A, columns=tokens, decimals=2, fill=True)
        _rows(ax, 298, 90, [word("pipeline.sum", total=row.sum()) for row in A])
    else:
        _matrix(ax, 44, 90, "A", A, rows=tokens, columns=tokens, decimals=2, fill=True)
        _sign(ax, 149, 120, "@")
        _matrix(ax, 164, 90, "V", V)
        _sign(ax, 240, 120, "=")
        _matrix(ax, 258, 90, "O", A @ V, decimals=2, width=34)
    return word(
        f"pipeline.said.{step}",
        query=_numbers(Q[0]),
        scores=_listed(S[0], tokens, 0),
        scaled=_listed(S[0] / root, tokens, 0),
        weights=_listed(A[0], tokens, 2),
        output=_numbers((A @ V)[0]),
        root=root,
    )


# Why the scores are divided by √d_k

N_QUERIES, N_KEYS = 401, 64  # an odd number of queries, so that one of them is the typical one
ALMOST_NOTHING = 0.01  # a gradient below it


def scaling():
    """Return the explorer of d_k: spread of the scores, weights and gradient of the softmax."""
    return explore(
        draw_scaling,
        question=word("scaling.question"),
        height=3.7,
        d_k=slider("d_k", [2**power for power in range(11)], 64),
        scaled=switch(word("scaling.switch"), False),
    )


@lru_cache
def random_scores(d_k):
    """Return q·k for random queries and keys whose components have mean 0 and variance 1: (queries, keys)."""
    random = np.random.default_rng(d_k)
    return random.standard_normal((N_QUERIES, d_k)) @ random.standard_normal((N_KEYS, d_k)).T


def draw_scaling(fig, d_k, scaled):
    """Draw how far the scores spread, the weights of a typical query, and every query's gradient."""
    scores = random_scores(d_k) / (np.sqrt(d_k) if scaled else 1)
    weights = softmax(scores)
    gradients = jacobian_norm(weights)
    typical = int(np.argsort(gradients)[N_QUERIES // 2])
    lost = (gradients < ALMOST_NOTHING).mean()

    set_margins(fig, left=42, bottom=40, hspace=0.95, wspace=0.3)
    grid = fig.add_gridspec(2, 2)
    spread, row, gradient = map(fig.add_subplot, (grid[0, :], grid[1, 0], grid[1, 1]))
    spread.hist(scores.ravel(), bins=np.arange(-100, 101, 2), color=BLUE, density=True)
    spread.axvspan(-scores.std(), scores.std(), color=ORANGE, alpha=0.25, lw=0)
    title = word("scaling.spread", name=_score_name(scaled), sd=scores.std())
    spread.set(xlim=(-100, 100), yticks=[], title=title)
    row.bar(range(16), np.sort(weights[typical])[:-17:-1], color=ORANGE)
    row.set(ylim=(0, 1), xlim=(-0.8, 15.8), xticks=[0, 5, 10, 15], xticklabels=[1, 6, 11, 16])
    row.set(title=word("scaling.weights"), xlabel=word("scaling.rank"), yticks=[0, 0.5, 1])
    share = np.full(N_QUERIES, 1 / N_QUERIES)
    gradient.hist(gradients, bins=np.arange(0, 0.51, 0.025), color=BLUE, weights=share)
    gradient.axvline(gradients[typical], color=INK, lw=2)
    gradient.set(xlim=(0, 0.5), ylim=(0, 1), title=word("scaling.gradient"), xlabel="‖J‖", yticks=[0, 0.5, 1])
    return word(
        "scaling.said",
        name=_score_name(scaled),
        d_k=d_k,
        sd=scores.std(),
        largest=weights[typical].max(),
        norm=gradients[typical],
        lost=100 * lost,
    )


def _score_name(scaled):
    return "q·k / √d_k" if scaled else "q·k"


# Who may attend to whom

PADS = 2  # tokens of padding before the last six tokens of the sentence, as in a batch that generates
PADDED = (word("token.pad"),) * PADS + TOKENS[PADS:]
MASKS = ("none", "causal", "padding", "window", "causal_padding")


def masks():
    """Return the explorer of masks over eight tokens, two of which are padding."""
    rows = {f"{number}: {token}": number for number, token in enumerate(PADDED)}
    return explore(
        draw_masks,
        question=word("masks.question"),
        height=4.1,
        kind=choice(word("masks.mask"), {word(f"masks.{kind}"): kind for kind in MASKS}, "causal"),
        row=slider(word("masks.row"), rows, 5),
    )


def mask_of(kind, n):
    """Return the mask of a kind for ``n`` tokens, the first two padding: ``(n, n)``, True = may attend."""
    real = padding_mask([n - PADS], n)[0, :, ::-1]  # turned round, because here padding comes first
    return {
        "none": np.full((n, n), True),
        "causal": causal_mask(n, n),
        "padding": np.broadcast_to(real, (n, n)),
        "window": window_mask(n, n, left=2, right=2),
        "causal_padding": causal_mask(n, n) & real,
    }[kind]


def draw_masks(fig, kind, row):
    """Draw the weights of all queries under a mask, and below them those of one query."""
    x = np.concatenate([np.zeros((PADS, X.shape[1])), X[PADS:]])
    mask = mask_of(kind, len(PADDED))
    weights = scaled_dot_product_attention(x @ W_Q, x @ W_K, x @ W_V, mask).weights

    set_margins(fig, left=56, bottom=28, top=26, hspace=0.3)
    above, below = fig.subplots(2, 1, sharex=True, height_ratios=[2.2, 1])
    above.imshow(weights, vmin=0, vmax=1, aspect="auto")
    above.plot(*np.argwhere(~mask).T[::-1], "x", color=FAINT, ms=5, mew=1)
    above.add_patch(Rectangle((-0.5, row - 0.5), len(PADDED), 1, fill=False, ec=RED, lw=2, clip_on=False))
    above.set(yticks=range(len(PADDED)), yticklabels=PADDED, title=word("masks.map"))
    above.tick_params(length=0, labelbottom=False)
    below.bar(range(len(PADDED)), weights[row], color=RED)
    for key in np.flatnonzero(mask[row]):
        below.text(key, weights[row, key] + 0.04, f"{weights[row, key]:.2f}", ha="center")
    if not mask[row].any():
        below.text(3.5, 0.4, word("masks.nothing"), ha="center")
    below.set(xticks=range(len(PADDED)), xticklabels=PADDED, yticks=[0, 1], ylim=(0, 1.15))
    below.tick_params(axis="x", length=0)
    if not mask[row].any():
        return word("masks.said_nothing", kind=word(f"masks.{kind}"), row=row, token=PADDED[row])
    return word(
        "masks.said",
        kind=word(f"masks.{kind}"),
        row=row,
        token=PADDED[row],
        allowed=int(mask[row].sum()),
        count=len(PADDED),
        largest=weights[row].max(),
        key=PADDED[int(weights[row].argmax())],
    )


# Where queries and keys come from

PARTS = {" ".join(TOKENS[:5]): slice(0, 5), " ".join(TOKENS[5:]): slice(5, 8)}


def self_or_cross():
    """Return the explorer of self- and cross-attention between the two parts of the sentence."""
    first, second = PARTS
    return explore(
        draw_self_or_cross,
        question=word("cross.question"),
        height=2.6,
        queries=choice(word("cross.queries"), PARTS, PARTS[second]),
        keys=choice(word("cross.keys"), PARTS, PARTS[first]),
    )


def draw_self_or_cross(fig, queries, keys):
    """Draw the weights, one row a query and one column a key, in cells of one size."""
    weights = scaled_dot_product_attention(X[queries] @ W_Q, X[keys] @ W_K, X[keys] @ W_V).weights
    asking, asked = TOKENS[queries], TOKENS[keys]
    kind = word("cross.self" if queries == keys else "cross.cross")
    ax = _canvas(fig)
    shape = f"{len(asking)} × {len(asked)}"
    ax.text(4, 16, word("cross.title", kind=kind, shape=shape), weight="bold")
    _matrix(ax, 58, 58, "", weights, rows=asking, columns=asked, decimals=2, fill=True, width=46, height=24)
    query = asking.index(word("token.it")) if word("token.it") in asking else len(asking) - 1
    return word(
        "cross.said",
        kind=kind,
        n_query=len(asking),
        n_key=len(asked),
        query=asking[query],
        key=asked[int(weights[query].argmax())],
        weight=weights[query].max(),
    )


# Matrices with their numbers, placed by units


def _canvas(fig):
    """Return axes without a frame whose coordinates are the picture's units, from the top left."""
    width, height = fig.get_size_inches() * 72
    ax = fig.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, width), ylim=(height, 0))
    ax.axis("off")
    return ax


def _matrix(ax, x, y, name, array, rows=(), columns=(), decimals=None, fill=False, width=30, height=20):
    """Write a matrix with its name and shape above it; (x, y) is its upper left corner."""
    n_rows, n_columns = array.shape
    if name:
        ax.text(x, y - (26 if columns else 8), f"{name}  ({n_rows} × {n_columns})")
    for (i, j), value in np.ndenumerate(array):
        corner = x + j * width, y + i * height
        face = shade(value) if fill else "none"
        ax.add_patch(Rectangle(corner, width, height, fc=face, ec=FAINT, lw=0.5))
        text = f"{value:.{decimals}f}" if decimals else f"{value:g}"
        ax.text(corner[0] + width / 2, corner[1] + height / 2, text, ha="center", va="center_baseline")
    for j, column in enumerate(columns):
        ax.text(x + (j + 0.5) * width, y - 6, column, ha="center")
    _rows(ax, x - 6, y, rows, ha="right", height=height)


def _sign(ax, x, y, sign):
    ax.text(x, y, sign, ha="center", va="center_baseline")


def _rows(ax, x, y, texts, ha="left", height=20):
    for i, text in enumerate(texts):
        ax.text(x, y + (i + 0.5) * height, text, ha=ha, va="center_baseline")


def _numbers(row):
    return "(" + ", ".join(f"{value:.3g}" for value in row) + ")"


def _listed(row, names, decimals):
    return ", ".join(f"{name} {value:.{decimals}f}" for name, value in zip(names, row, strict=True))
