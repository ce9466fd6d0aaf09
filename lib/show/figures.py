"""The book's plots: arrays in, a picture with its sentence out. Nothing here computes attention.

Each function draws one figure in the book's style and says in one sentence what to see in it: that sentence is the
alternative text. Words come from `lib.show.words`; how a figure becomes part of a page is `lib.show.svg`.
"""

import re
from html import escape

import numpy as np

from lib.show.svg import BLUE, FAINT, GREEN, INK, ORANGE, RED, Picture, in_style, new_figure, shade
from lib.show.words import word

__all__ = [
    "Table", "bars", "flow", "follow_bands", "hull", "losses", "mask_map", "masked_weights", "matrices",
    "queries_and_keys", "shelf_map", "spreads", "temperature_bars", "two_halves", "walks", "weights_map", "wrong_axis_map",
]  # fmt: skip


@in_style
def shelf_map(keys, names, query):
    """Draw keys and one query as arrows in the plane of their two numbers.

    Parameters: ``keys`` ``(n_key, 2)``, ``names`` of the keys, ``query`` ``(1, 2)``.
    """
    _check_names(names, len(keys), "keys")
    fig, ax = new_figure(height=3.6)
    for (x, y), name in zip(keys, names, strict=True):
        ax.annotate(
            "", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "color": BLUE, "shrinkA": 0, "shrinkB": 0}
        )
        below = y < 0
        # beside the upright axis, not across it; a letter is about 0.11 wide
        side = "center" if abs(x) > 0.055 * len(name) + 0.05 else "right" if x < 0 else "left"
        place = {"center": x, "right": -0.1, "left": 0.1}[side]
        ax.text(place, y + (-0.12 if below else 0.1), name, ha=side, va="top" if below else "bottom")
    (x, y), *_ = query
    ax.annotate(
        "",
        (x, y),
        (0, 0),
        arrowprops={"arrowstyle": "-|>", "color": ORANGE, "lw": 3, "shrinkA": 0, "shrinkB": 0},
    )
    ax.text(x + 0.12, y - 0.05, word("shelf.your_query"), weight="bold", va="center")
    ax.axhline(0, color=FAINT, lw=0.8)
    ax.axvline(0, color=FAINT, lw=0.8)
    ax.set(
        xlim=(-2.9, 3.1),
        ylim=(-2.1, 2.6),
        xlabel=word("shelf.science_axis"),
        ylabel=word("shelf.people_axis"),
    )
    ax.set(xticks=range(-2, 4), yticks=range(-2, 3), title=word("title.shelf_map"))
    places = "; ".join(f"{name} ({x:g}, {y:g})" for name, (x, y) in zip(names, keys, strict=True))
    return Picture(fig, word("said.shelf_map", places=places, x=query[0][0], y=query[0][1]))


@in_style
def bars(weights, names, title="title.share_of_hour"):
    """Draw one row of weights as bars beside their names.

    Parameters: ``weights`` ``(n_key,)``, ``names`` of the keys, ``title`` a key of the table of words.
    """
    fig, ax = new_figure(height=0.7 + 0.32 * len(weights))
    fig.subplots_adjust(left=0.44, bottom=0.05, right=0.97)
    _bars(ax, weights, names)
    ax.set_title(word(title), loc="left", x=-0.75)
    return Picture(fig, f"{word(title)} {_listed(weights, names)}.")


def _bars(ax, weights, names):
    _check_names(names, len(weights), "weights")
    places = np.arange(len(weights))
    ax.barh(places, weights, color=BLUE, height=0.7)
    for place, weight in zip(places, weights, strict=True):
        ax.text(weight + 0.02, place, f"{weight:.3f}", va="center")
    ax.set(yticks=places, yticklabels=names, xticks=[], xlim=(0, 1.2))
    ax.invert_yaxis()
    ax.spines["bottom"].set_visible(False)
    ax.tick_params(left=False)


@in_style
def temperature_bars(weights, temperatures, names):
    """Draw the weights of the same keys at several temperatures, side by side.

    Parameters: ``weights`` ``(n_temperature, n_key)``, ``temperatures``, ``names`` of the keys.
    """
    _check_names(names, weights.shape[-1], "weights")
    fig, axes = new_figure(height=2.6, ncols=len(temperatures), sharey=True)
    fig.subplots_adjust(left=0.44, right=0.99, wspace=0.12, bottom=0.05, top=0.78)
    for ax, row, temperature in zip(axes, weights, temperatures, strict=True):
        places = np.arange(len(names))
        ax.barh(places, row, color=BLUE, height=0.7)
        for place, weight in zip(places, row, strict=True):
            inside = weight > 0.6
            ax.text(
                weight + (-0.05 if inside else 0.05),
                place,
                f"{weight:.2f}",
                va="center",
                ha="right" if inside else "left",
            )
        ax.set(xticks=[], xlim=(0, 1.02), title=f"T = {temperature:g}")
        ax.set(yticks=places, yticklabels=names)
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(left=False)
    axes[0].invert_yaxis()
    fig.text(0.02, 0.93, word("title.temperature"), weight="bold")
    rows = "; ".join(
        f"T = {t:g}: {_listed(row, names)}" for row, t in zip(weights, temperatures, strict=True)
    )
    return Picture(fig, f"{word('title.temperature')} {rows}.")


@in_style
def weights_map(weights, query_names, key_names, title="title.who_asks_whom"):
    """Draw weights as a map, one row a query, with every number in its cell.

    Parameters: ``weights`` ``(n_query, n_key)``, the names of queries and keys, ``title`` a key of the table of words.
    """
    n_query, n_key = weights.shape
    fig, ax = new_figure(height=1.0 + 0.36 * n_query)
    fig.subplots_adjust(left=0.17, right=0.99, top=1 - 0.75 / (1.0 + 0.36 * n_query), bottom=0.02)
    _grid(ax, weights, query_names, key_names, numbers="{:.2f}", shaded=weights)
    fig.text(0.02, 1 - 0.2 / (1.0 + 0.36 * n_query), word(title), weight="bold")
    asked = "; ".join(_most(row, name, key_names) for row, name in zip(weights, query_names, strict=True))
    return Picture(fig, f"{word(title)} {asked}.")


def wrong_axis_map(weights, query_names, key_names):
    """Draw, as `weights_map` does, weights that were shared out among the queries by mistake."""
    return weights_map(weights, query_names, key_names, "title.wrong_axis")


def _most(row, query_name, key_names):
    """Say whom a query asks most, all of them where several share the place."""
    best = [name for name, weight in zip(key_names, row, strict=True) if np.isclose(weight, row.max())]
    return word("said.asks_most", query=query_name, key=", ".join(best), weight=row.max())


@in_style
def queries_and_keys(queries, keys, names, topics=None):
    """Draw what each token looks for beside what it can be found by, as two tables of numbers.

    Parameters: ``queries`` and ``keys`` ``(n, d_k)``, ``names`` of the tokens, ``topics`` of the d_k columns.
    """
    topics = topics or tuple(word(f"feature.{name}") for name in ("action", "thing", "direction", "pointer"))
    fig, axes = new_figure(height=1.45 + 0.36 * len(names), ncols=2)
    fig.subplots_adjust(left=0.11, right=0.96, wspace=0.22, bottom=0.03, top=0.42)
    for ax, table, title in zip(axes, (queries, keys), ("title.looks_for", "title.found_by"), strict=True):
        _grid(
            ax,
            table,
            names if ax is axes[0] else [""] * len(names),
            topics,
            numbers="{:g}",
            shaded=table / max(queries.max(), keys.max()),
            turned=True,
        )
        ax.text(-0.5, -3.35, word(title), weight="bold")
    rows = "; ".join(
        word("said.looks_for", token=name, query=_listed_columns(q, topics), key=_listed_columns(k, topics))
        for name, q, k in zip(names, queries, keys, strict=True)
    )
    return Picture(fig, f"{rows}.")


@in_style
def matrices(parts, row_names, column_names=None, same_shades=False):
    """Draw several matrices with the same rows beside each other, each with its shape.

    Parameters: ``parts`` a list of ``(name, array)``; ``row_names`` of the tokens; ``column_names``, where all
    have the same; ``same_shades`` to compare their numbers: one shade is one number in all of them.
    """
    widths = [array.shape[-1] for _, array in parts]
    header = 0.62 + (0.3 if column_names else 0)
    height = header + 0.33 + 0.36 * len(row_names)
    fig, axes = new_figure(height=height, ncols=len(parts), width_ratios=widths, squeeze=False)
    fig.subplots_adjust(left=0.11, right=0.99, wspace=0.35, bottom=0.03, top=1 - header / height)
    largest = max(np.abs(array).max() for _, array in parts)
    for ax, (name, array) in zip(axes[0], parts, strict=True):
        names = row_names if ax is axes[0][0] else [""] * len(row_names)
        shaded = np.abs(array) / (largest if same_shades else np.abs(array).max())
        _grid(ax, array, names, column_names or [""] * array.shape[-1], numbers="{:g}", shaded=shaded)
        title = f"{name}\n{array.shape[0]} × {array.shape[1]}"
        ax.set_title(title, loc="left", fontsize=12, pad=24 if column_names else None)
    said = "; ".join(
        f"{name}, {array.shape[0]} × {array.shape[1]}: "
        + ", ".join(str(row.tolist()) for row in np.round(array, 3))
        for name, array in parts
    )
    return Picture(fig, f"{said}.")


def _check_names(names, n, of):
    """Refuse names that are more or fewer than what they name."""
    if len(names) != n:
        raise ValueError(
            f"{n} {of} need {n} names, got {len(names)}: give one for each, such as TOKENS[5:] for Q[5:]"
        )


def _grid(ax, array, row_names, column_names, numbers, shaded, turned=False):
    """Draw a table of numbers: a cell is the darker the larger its number."""
    n_row, n_column = array.shape
    _check_names(row_names, n_row, "rows")
    _check_names(column_names, n_column, "columns")
    for i in range(n_row):
        for j in range(n_column):
            colour = shade(max(0.0, min(1.0, shaded[i, j])))
            ax.fill(
                [j - 0.5, j + 0.5, j + 0.5, j - 0.5], [i - 0.5, i - 0.5, i + 0.5, i + 0.5], color=colour, lw=0
            )
            ax.text(j, i, numbers.format(array[i, j]), ha="center", va="center")
    ax.set(xlim=(-0.5, n_column - 0.5), ylim=(n_row - 0.5, -0.5))
    ax.set(yticks=range(n_row), yticklabels=row_names, xticks=range(n_column))
    ax.xaxis.tick_top()
    ax.set_xticklabels(column_names, rotation=90 if turned else 0)
    ax.tick_params(length=0)
    for side in ("top", "bottom", "left", "right"):
        ax.spines[side].set_visible(True)
        ax.spines[side].set_color(FAINT)


@in_style
def hull(values, outputs, names, axes_names):
    """Draw values as corners and outputs as points: each output lies inside the hull of the values.

    Parameters: ``values`` and ``outputs`` ``(n, 2)``, ``names`` of the tokens, ``axes_names`` of the two numbers.
    """
    _check_names(names, len(values), "values")
    fig, ax = new_figure(height=3.4)
    ax.fill(*values.T, color=BLUE, alpha=0.15, lw=0)
    ax.plot(*np.vstack([values, values[:1]]).T, color=BLUE, lw=1, ls="-")
    ax.plot(*values.T, "s", color=BLUE, ms=8)
    ax.plot(*outputs.T, "o", color=ORANGE, ms=8)
    for name, (x, y) in zip(names, values, strict=True):
        ax.text(x + 0.08, y + 0.08, word("hull.value_of", token=name), va="bottom")
    for name, (x, y) in zip(names, outputs, strict=True):
        ax.text(x - 0.08, y - 0.06, word("hull.output_of", token=name), ha="right", va="top")
    ax.set(
        xlim=(-0.4, 4.2),
        ylim=(-0.4, 2.6),
        xlabel=axes_names[0],
        ylabel=axes_names[1],
        title=word("title.hull"),
    )
    said = "; ".join(
        word("said.hull", token=name, vx=v[0], vy=v[1], ox=o[0], oy=o[1])
        for name, v, o in zip(names, values, outputs, strict=True)
    )
    return Picture(fig, f"{word('title.hull')} {said}.")


def _listed(weights, names):
    return ", ".join(f"{name} {weight:.3f}" for name, weight in zip(names, weights, strict=True))


def _listed_columns(row, topics):
    """Name the columns that are not 0: ``direction 4, thing 2``."""
    found = ", ".join(f"{topic} {number:g}" for number, topic in zip(row, topics, strict=True) if number)
    return found or "0"


# Chapter 03, scaling


@in_style
def walks(paths, formula):
    """Draw running sums of products, component by component, and how far they typically get.

    Parameters: ``paths`` ``(n_walk, d_k + 1)``, ``formula`` ``(d_k + 1,)``, the standard deviation after each step.
    """
    fig, ax = new_figure(height=3.4)
    steps = np.arange(paths.shape[-1])
    for path in paths:
        ax.plot(steps, path, color=FAINT, lw=0.8, ls="-", alpha=0.6)
    for times, style in ((1, "-"), (3, "--")):
        for sign in (1, -1):
            ax.plot(steps, sign * times * formula, color=ORANGE, ls=style, lw=2.5)
        reach = times * formula[-1]
        ax.text(steps[-1] + 1, reach, word("walk.reach", reach=reach), va="center")
    ax.set(xlim=(0, steps[-1] * 1.16), xticks=steps[:: len(steps) // 4], title=word("title.walk"))
    ax.set(xlabel=word("walk.components"), ylabel=word("walk.sum"))
    inside = (np.abs(paths[:, -1]) <= formula[-1]).sum()
    said = word(
        "said.walk", n=len(paths), steps=steps[-1], inside=inside, sd=formula[-1], three=3 * formula[-1]
    )
    return Picture(fig, f"{word('title.walk')} {said}")


@in_style
def spreads(d_k, measured, formulas):
    """Draw the standard deviation of scores against d_k for several divisors: points measured, lines by formula.

    Parameters: ``d_k`` ``(n,)``; ``measured`` and ``formulas``, both from the divisor's name to an array ``(n,)``.
    """
    fig, ax = new_figure(height=3.4)
    fig.subplots_adjust(right=0.77)
    colours, marks = (ORANGE, BLUE, GREEN, RED), ("o", "s", "^", "D")
    for (name, points), colour, mark in zip(measured.items(), colours, marks, strict=True):
        ax.plot(d_k, formulas[name], color=colour, lw=1.5, ls="-")
        ax.plot(d_k, points, mark, color=colour, ms=6)
        ax.text(d_k[-1] * 1.25, formulas[name][-1], name, va="center")
    ax.set(xscale="log", yscale="log", xlabel="d_k", ylabel=word("spread.axis"), title=word("title.divisor"))
    _plain_logarithmic(ax, d_k, (0.01, 0.1, 1, 10))
    said = "; ".join(
        word("said.divisor", name=name, first=points[0], last=points[-1], low=d_k[0], high=d_k[-1])
        for name, points in measured.items()
    )
    return Picture(fig, f"{word('title.divisor')} {said}.")


@in_style
def follow_bands(d_k, unscaled, scaled, title, axis, lowest=1e-4):
    """Draw how far weights follow, against d_k, without the scale and with it: the median, and the band of nine in ten.

    Parameters: ``d_k`` ``(n,)``; ``unscaled`` and ``scaled`` ``(n, 3)``, the three quantiles; ``title`` and
    ``axis`` keys of the table of words; ``lowest`` the end of the axis: what is smaller is drawn on it.
    """
    fig, ax = new_figure(height=3.4)
    fig.subplots_adjust(right=0.72, left=0.19)
    for bands, colour, style, name in ((unscaled, ORANGE, "--", "unscaled"), (scaled, BLUE, "-", "scaled")):
        low, middle, high = np.maximum(bands, lowest).T
        ax.fill([*d_k, *d_k[::-1]], [*low, *high[::-1]], color=colour, alpha=0.22, lw=0)
        ax.plot(d_k, middle, color=colour, ls=style, marker="o", ms=4)
        ax.text(d_k[-1] * 1.25, middle[-1], word(f"scale.{name}"), va="center")
    ax.set(xscale="log", yscale="log", xlabel="d_k", ylabel=word(axis))
    ax.set_title(word(title), loc="left", x=-0.1)
    ax.set_ylim(lowest, 3 * max(unscaled.max(), scaled.max()))
    marks = [mark for mark in (1e-4, 1e-3, 0.01, 0.1, 1, 10) if lowest <= mark <= 3 * unscaled.max()]
    _plain_logarithmic(ax, d_k, marks)
    said = "; ".join(
        word("said.bands", d_k=d, low=u[0], middle=u[1], high=u[2], scaled=s[1])
        for d, u, s in zip(d_k, unscaled, scaled, strict=True)
    )
    return Picture(fig, f"{word(title)} {said}.")


def _plain_logarithmic(ax, x, y):
    """Mark a logarithmic plot with plain numbers, at these places and no others."""
    ax.minorticks_off()
    ax.set_xticks(x, [f"{number:g}" for number in x])
    ax.set_yticks(y, [f"{number:g}" for number in y])


@in_style
def losses(panels):
    """Draw losses while models were trained, a panel for each way to start, a thin line for each seed.

    Parameters: ``panels`` from a panel's title to ``(unscaled, scaled)``, two arrays ``(steps, seeds)``.
    """
    fig, axes = new_figure(height=3.4, ncols=len(panels), sharey=True)
    fig.subplots_adjust(top=0.72, bottom=0.17, right=0.96, wspace=0.16)
    for ax, (title, runs) in zip(axes, panels.items(), strict=True):
        looks = ((ORANGE, "--", "unscaled"), (BLUE, "-", "scaled"))
        for loss, (colour, style, name) in zip(runs, looks, strict=True):
            for seed, line in enumerate(loss.T):
                label = word(f"scale.{name}") if seed == 0 else None
                ax.plot(line, color=colour, ls=style, lw=1.2, label=label)
        ax.set(ylim=(0, 3.4), xlim=(0, len(loss)), xticks=[0, len(loss) // 2, len(loss)])
        ax.set_xlabel(word("training.step"))
        ax.set_title(title, weight="normal")
    axes[0].set_ylabel(word("training.loss"))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(0, 0.93), ncols=2)
    fig.text(0.02, 0.94, word("title.training"), weight="bold")
    said = "; ".join(
        word("said.training", start=title, unscaled=_span(unscaled[-1]), scaled=_span(scaled[-1]))
        for title, (unscaled, scaled) in panels.items()
    )
    return Picture(fig, f"{word('title.training')} {said}.")


def _span(numbers):
    return f"{numbers.min():.2f} – {numbers.max():.2f}"


# Chapter 04: who may ask whom, and where all this sits


@in_style
def mask_map(mask, query_names, key_names, title="title.mask"):
    """Draw a mask: a shaded cell with a tick where the row may ask the column, an empty one where not.

    Parameters: ``mask`` boolean ``(n_query, n_key)``, the names of both, ``title`` a key of the table of words.
    """
    ticks = np.where(mask, "✓", "")
    fig = _cells(ticks, 0.5 * mask, query_names, key_names, word(title))
    asked = "; ".join(_may_ask(name, row, key_names) for name, row in zip(query_names, mask, strict=True))
    return Picture(fig, f"{word(title)} {asked}.")


@in_style
def masked_weights(weights, mask, query_names, key_names, title="title.who_asks_whom"):
    """Draw weights as a map with a × where the mask hides: a real 0, and not a small number rounded.

    Parameters: ``weights`` and ``mask`` ``(n_query, n_key)``, the names of both, ``title`` a key of the table of words.
    """
    numbers = np.where(mask, np.char.mod("%.2f", weights), "×")
    fig = _cells(numbers, weights, query_names, key_names, word(title))
    asked = [
        _most(row, name, key_names) if row.any() else word("said.asks_nobody", query=name)
        for name, row in zip(query_names, weights, strict=True)
    ]
    return Picture(fig, f"{word(title)} {'; '.join(asked)}.")


def _cells(texts, shaded, query_names, key_names, title):
    """Return a figure of one table of texts, its title above."""
    height = 1.0 + 0.36 * len(query_names)
    fig, ax = new_figure(height=height)
    fig.subplots_adjust(left=0.2, right=0.99, top=1 - 0.75 / height, bottom=0.02)
    _grid(ax, texts, query_names, key_names, numbers="{}", shaded=shaded)
    fig.text(0.02, 1 - 0.2 / height, title, weight="bold")
    return fig


def _may_ask(name, row, key_names):
    asked = ", ".join(key for key, allowed in zip(key_names, row, strict=True) if allowed)
    return word("said.may_ask", query=name, keys=asked) if asked else word("said.asks_nobody", query=name)


@in_style
def flow(shapes):
    """Draw the way from tokens to output, one box a step, with its shape beside it; known steps are shaded.

    Parameters: ``shapes`` maps each step, as in the rows ``flow.…`` of the table of words, to its shape as text.
    """
    fig, ax = _canvas(height=0.62 + 0.62 * len(shapes))
    for place, (step, shape) in enumerate(shapes.items()):
        top = 34 + 44.5 * place
        if place:
            _arrow(ax, (120, top - 13.5), (120, top))
        _box(ax, 10, top, 220, word(f"flow.{step}"), shaded=step in ("project", "attention", "variants"))
        ax.text(242, top + 15.5, shape, va="center")
    ax.text(10, 16, word("title.flow"), weight="bold", va="center")
    steps = "; ".join(f"{word(f'flow.{step}')}: {shape}" for step, shape in shapes.items())
    return Picture(fig, word("said.flow", steps=steps))


ATTENTION_STEPS = ("self", "causal", "cross")


@in_style
def two_halves():
    """Draw the encoder and the decoder side by side: which attention stands where, and with which mask."""
    fig, ax = _canvas(height=6.2)
    columns = {
        8: {"sentence": 58, "embedding": 103, "self": 164, "feed_forward": 217},
        194: {"written": 58, "embedding": 103, "causal": 164, "cross": 247, "feed_forward": 300}
        | {"linear": 364, "next": 409},
    }
    for x, steps in columns.items():
        bottom = None
        for step, top in steps.items():
            if bottom is not None:
                _arrow(ax, (x + 79, bottom), (x + 79, top))
            bottom = _box(ax, x, top, 158, word(f"halves.{step}"), step in ATTENTION_STEPS, _note(step))
    for x, bottom, name in ((2, 262, "encoder"), (188, 345, "decoder")):
        ax.plot([x, x + 170, x + 170, x, x], [146, 146, bottom, bottom, 146], color=FAINT, lw=1, ls="--")
        ax.text(x + 6, 40, word(f"halves.{name}"), weight="bold", va="center")
    ax.plot([87, 87, 180], [248, 266, 266], color=ORANGE, lw=2, ls="-")
    _arrow(ax, (178, 266), (194, 266), color=ORANGE)
    ax.text(87, 283, word("halves.keys_values"), ha="center", va="center")
    ax.text(10, 16, word("title.halves"), weight="bold", va="center")
    return Picture(fig, word("said.halves"))


def _note(step):
    return word(f"halves.{step}.mask") if step in ATTENTION_STEPS else ""


def _canvas(height):
    """Return a figure whose one axes counts in the picture's units, from the upper left corner."""
    fig, ax = new_figure(height=height)
    ax.set_position([0, 0, 1, 1])
    ax.set(xlim=(0, 360), ylim=(72 * height, 0))
    ax.axis("off")
    return fig, ax


def _box(ax, left, top, width, text, shaded, note=""):
    """Draw a box with its text, and under it a smaller note. Return where it ends."""
    height = 38 if note else 31
    corners = [(left, top), (left + width, top), (left + width, top + height), (left, top + height)]
    colour = shade(0.5) if shaded else "none"
    ax.fill(*zip(*corners, strict=True), facecolor=colour, edgecolor=FAINT, lw=1, ls="-")
    ax.text(left + width / 2, top + (13 if note else 15.5), text, ha="center", va="center")
    if note:
        ax.text(left + width / 2, top + 28, note, ha="center", va="center", fontsize=10.5)
    return top + height


def _arrow(ax, start, end, color=INK):
    arrow = {"arrowstyle": "-|>", "color": color, "shrinkA": 0, "shrinkB": 0, "lw": 1.2}
    ax.annotate("", end, start, arrowprops=arrow)


class Table:
    """Answers in rows under headings, as a table of the page: real text, which a screen reader reads by cells."""

    def __init__(self, headings, rows):
        """Keep the texts: as many in each row as there are ``headings``."""
        self.headings, self.rows = list(headings), [list(row) for row in rows]
        for row in self.rows:
            if len(row) != len(self.headings):
                raise ValueError(f"each row must have {len(self.headings)} cells, got {len(row)}: {row}")

    def _repr_html_(self):
        """Return the table for a page and for a notebook."""
        head = "".join(f'<th scope="col">{escape(text)}</th>' for text in self.headings)
        body = "".join(self._html_row(*row) for row in self.rows)
        # "dataframe" is what Jupyter and the theme call a table among the outputs: they give it the page's colours.
        return f'<table class="table dataframe"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'

    @staticmethod
    def _html_row(first, *rest):
        # A number and its error, or the ends of a span, stay on one line.
        unbroken = [re.sub(" ([±–]) ", "\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", text) for text in rest]
        cells = "".join(f"<td>{escape(text)}</td>" for text in unbroken)
        return f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>'

    def __repr__(self):
        """Return the rows as lines, where no HTML can be shown."""
        return "\n".join(" | ".join(row) for row in [self.headings, *self.rows])
