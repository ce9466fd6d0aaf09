"""The figures of chapter 03 say in words what is to be seen, and draw what they are given."""

import re

import numpy as np
import pytest

from lib.show import figures

WIDTHS = np.array([4, 16, 64])


def test_walks_say_how_many_end_near():
    paths = np.array([[0.0, 1, 2, 3, 4], [0, -1, -1, 0, 1], [0, 1, 0, -1, -2]])
    picture = figures.walks(paths, np.sqrt(np.arange(5)))
    assert "3 sums" in picture.description and "2 of them end within 2 of 0" in picture.description
    assert "three times that, 6" in picture.description
    drawn = [line.get_ydata() for line in picture.figure.axes[0].lines]
    for path in paths:
        assert any(np.array_equal(line, path) for line in drawn)


def test_spreads_draw_points_and_formula_and_name_both_ends():
    names = ("nothing", "√d_k", "√d_model", "d_k")
    measured = {name: np.array([2.1, 4.1, 8.1]) / (i + 1) for i, name in enumerate(names)}
    formulas = {name: np.array([2.0, 4.0, 8.0]) / (i + 1) for i, name in enumerate(names)}
    picture = figures.spreads(WIDTHS, measured, formulas)
    assert (
        "divided by nothing the standard deviation is 2.10 at d_k = 4 and 8.10 at d_k = 64"
        in picture.description
    )
    drawn = [tuple(line.get_ydata()) for line in picture.figure.axes[0].lines]
    assert all(tuple(values) in drawn for name in names for values in (measured[name], formulas[name]))
    assert all(
        name in picture._repr_html_() for name in names
    )  # beside each line, so that none is known by colour alone


@pytest.mark.parametrize(
    "title, axis",
    [("title.follow_scores", "axis.follow_scores"), ("title.follow_query", "axis.follow_query")],
)
def test_bands_say_the_quantiles_and_draw_what_is_too_small_on_the_edge(title, axis):
    without = np.array([[0.1, 0.2, 0.3], [0.01, 0.1, 0.4], [1e-9, 1e-6, 0.5]])
    scaled = np.array([[0.15, 0.18, 0.21]] * 3)
    picture = figures.follow_bands(WIDTHS, without, scaled, title, axis)
    assert (
        "5 of 100 queries lie below 1e-09, half below 1e-06, 95 below 0.5; with it half lie below 0.18"
        in picture.description
    )
    medians = [line.get_ydata() for line in picture.figure.axes[0].lines]
    np.testing.assert_allclose(medians, [[0.2, 0.1, 1e-4], [0.18] * 3])
    assert len(picture.figure.axes[0].patches) == 2  # a band each


def test_losses_say_the_last_ones_and_draw_a_line_for_each_seed():
    steps = np.linspace(3, 0, 11)[:, None]
    bad, good = steps * 0 + [[2.0, 2.5]], steps + [[0.01, 0.02]]
    picture = figures.losses({"variance 1": (bad, good), "small start": (good, good)})
    assert (
        "variance 1: the loss at the last step is 2.00 – 2.50 without the scale and 0.01 – 0.02 with it"
        in picture.description
    )
    assert [len(ax.lines) for ax in picture.figure.axes] == [4, 4]
    styles = {line.get_linestyle() for line in picture.figure.axes[0].lines}
    assert styles == {"--", "-"}  # told apart without colour


def shades(picture):
    """How strongly the cells of a picture are filled, in the order in which they are drawn."""
    return re.findall(r'fill-opacity="([^"]+)"', picture._repr_html_())


def test_one_shade_is_one_number_only_where_it_is_asked_for():
    parts = [("a", np.array([[1.0, 0.0]])), ("b", np.array([[0.5, 0.0]]))]
    alone, together = (figures.matrices(parts, ["look"], same_shades=same) for same in (False, True))
    assert shades(alone) == ["0.6", "0.6"] and shades(together) == ["0.6", "0.3"]


def test_columns_are_named_where_names_are_given():
    picture = figures.matrices(
        [("a", np.eye(2)), ("b", np.eye(2))], ["look", "it"], column_names=["one", "two"]
    )
    assert picture._repr_html_().count(">two</text>") == 2


def test_a_number_and_its_error_stay_on_one_line():
    table = figures.Table(["d_k", "silent"], [["4", "1.3 ± 0.3"], ["16", "0.03 – 0.06"]])._repr_html_()
    assert "1.3\xa0±\xa00.3" in table and "0.03\xa0–\xa00.06" in table
