"""The figures' SVG: what is drawn is there, in the page's colours, as text, and small."""

import gzip
import re
import xml.etree.ElementTree as ET
from itertools import combinations

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from lib.show import svg
from lib.show.svg import (
    FAINT,
    INK,
    PALETTE,
    Picture,
    empty_figure,
    in_style,
    new_figure,
    set_margins,
    shade,
    to_svg,
)

SVG = "{http://www.w3.org/2000/svg}"


def parse(text):
    return ET.fromstring(text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def elements(text, name):
    return list(parse(text).iter(SVG + name))


@in_style
def picture(draw, height=2.6):
    fig, ax = new_figure(height)
    draw(ax)
    return to_svg(fig)


def numbers(element):
    return [float(n) for n in re.findall(r"-?[\d.]+", element.get("d"))]


def test_labels_are_text_of_twelve_units_in_the_pages_ink():
    found = {
        e.text: e
        for e in elements(picture(lambda ax: ax.set(title="Which key wins?", xlabel="a < b")), "text")
    }
    assert {"Which key wins?", "a < b"} <= found.keys()
    assert found["Which key wins?"].get("font-weight") == "bold"
    assert all(e.get("font-size") is None and e.get("fill") is None for e in found.values())
    root = parse(picture(lambda ax: None))
    assert (root.get("font-size"), root.get("fill"), root.get("viewBox")) == (
        "12",
        "currentColor",
        "0 0 360 187.2",
    )


@pytest.mark.parametrize("side, anchor", [("left", None), ("center", "middle"), ("right", "end")])
def test_a_text_holds_the_end_that_it_is_aligned_at(side, anchor):
    drawn = picture(lambda ax: ax.text(0.5, 0.5, "here", ha=side, transform=ax.figure.transFigure))
    (text,) = (e for e in elements(drawn, "text") if e.text == "here")
    assert (text.get("text-anchor"), float(text.get("x"))) == (anchor, pytest.approx(180, abs=0.2))


def test_a_turned_text_turns_about_the_end_that_it_is_aligned_at():
    drawn = picture(
        lambda ax: ax.text(
            0.5, 0.5, "up", rotation=90, ha="center", va="center", transform=ax.figure.transFigure
        )
    )
    (text,) = (e for e in elements(drawn, "text") if e.text == "up")
    x, y = float(text.get("x")), float(text.get("y"))
    assert text.get("transform") == f"rotate(-90 {x:g} {y:g})"
    assert (x, y) == (pytest.approx(180, abs=6), pytest.approx(187.2 / 2, abs=0.2))
    assert text.get("text-anchor") == "middle"


def test_a_formula_is_drawn_in_ink():
    drawn = picture(lambda ax: (ax.axis("off"), ax.text(0.1, 0.5, r"$\sqrt{d_k}$")))
    assert not elements(drawn, "text")
    paths = elements(drawn, "path")
    assert paths and all(p.get("fill") is None for p in paths)


def test_ink_is_the_pages_colour_and_faint_the_same_half_transparent():
    drawn = picture(
        lambda ax: (ax.axis("off"), ax.plot([0, 1], [0, 1], color=INK), ax.plot([0, 1], [1, 0], color=FAINT))
    )
    ink, faint = elements(drawn, "path")
    assert (ink.get("stroke"), ink.get("stroke-opacity")) == ("currentColor", None)
    assert (faint.get("stroke"), faint.get("stroke-opacity")) == ("currentColor", "0.55")


def test_nothing_in_it_can_clash_with_the_page():
    def everything(ax):
        ax.bar([0, 1], [1, 2], hatch="//", edgecolor=INK)
        ax.imshow(np.eye(3), extent=(0, 1, 0, 1))
        ax.plot([0, 5], [0, 5])
        ax.set(xlim=(0, 1), ylim=(0, 1))

    drawn = picture(everything)
    assert not re.search(r"\bid=|\bstyle=|<style|clip-path|url\(", drawn)


def test_a_bar_is_where_it_belongs():
    drawn = picture(
        lambda ax: (ax.axis("off"), ax.bar([0.5], [0.5], width=1), ax.set(xlim=(0, 2), ylim=(0, 1)))
    )
    (bar,) = elements(drawn, "path")
    left, right, top, bottom = 50, 348, 26, 187.2 - 42
    assert bar.get("d").startswith("M") and bar.get("d").endswith("Z") and bar.get("fill") == PALETTE[0]
    assert numbers(bar) == pytest.approx(
        [left, bottom, (left + right) / 2, (top + bottom) / 2, left], abs=0.11
    )


@pytest.mark.parametrize("origin", ["upper", "lower"])
def test_a_map_is_cells_and_its_first_row_is_where_matplotlib_puts_it(origin):
    drawn = picture(lambda ax: (ax.axis("off"), ax.imshow([[0, 1], [0, 0.5]], vmin=0, vmax=1, origin=origin)))
    strong, weak = sorted(elements(drawn, "rect"), key=lambda r: -float(r.get("fill-opacity")))
    assert strong.get("x") == weak.get("x"), "the cells of weight 0 are empty"
    assert (float(strong.get("y")) < float(weak.get("y"))) == (origin == "upper")
    assert float(strong.get("fill-opacity")) == pytest.approx(2 * float(weak.get("fill-opacity")), abs=0.01)


def test_a_large_image_is_a_png_of_its_own_pixels():
    drawn = picture(lambda ax: ax.imshow(np.random.default_rng(0).random((64, 64))))
    (image,) = elements(drawn, "image")
    assert image.get("href").startswith("data:image/png;base64,") and not elements(drawn, "rect")


def test_what_leaves_the_axes_is_cut_or_left_out():
    drawn = picture(
        lambda ax: (
            ax.axis("off"),
            ax.bar([0, 5], [9, 9]),
            ax.plot([0, 1, 9], [0, 3, 0]),
            ax.plot([0.5, 9], [0.5, 0.5], "o"),
            ax.set(xlim=(0, 1), ylim=(0, 1)),
        )
    )
    inner = [e for e in elements(drawn, "svg")[1:]]
    assert len(inner) == 2, "one bar and the line are cut at the axes, the other bar is not there at all"
    assert {e.get("overflow") for e in inner} == {"hidden"} and {e.get("x") for e in inner} == {"50"}
    (markers,) = [p for p in elements(drawn, "path") if "C" in p.get("d")]
    assert markers.get("d").count("M") == 1


def test_hatching_ends_at_the_edge_of_a_rectangle_and_no_other_shape_has_it():
    drawn = picture(lambda ax: ax.bar([0], [1], hatch="//", edgecolor=INK))
    assert len(elements(drawn, "svg")) == 2
    with pytest.raises(ValueError, match="only rectangles can be hatched"):
        picture(lambda ax: ax.fill([0, 1, 0.5], [0, 0, 1], hatch="//"))


def test_transparent_things_are_not_written():
    assert not elements(picture(lambda ax: (ax.axis("off"), ax.bar([0], [1], color="none"))), "path")


def test_a_text_that_would_be_cut_is_refused_with_the_remedy():
    with pytest.raises(
        ValueError, match=r"'consult this' leaves the picture by \d+ units on the left: make room .*left="
    ):
        picture(lambda ax: ax.set_yticks([0], ["consult this"]))
    with pytest.raises(ValueError, match=r"'high' leaves the picture by \d+ units on the top"):
        picture(lambda ax: ax.figure.text(0.5, 0.995, "high"))  # its line is inside, its letters are not

    @in_style
    def with_room():
        fig = empty_figure()
        set_margins(fig, left=110)
        fig.subplots().set_yticks([0], ["consult this"])
        return to_svg(fig)

    assert "consult this" in with_room()


def test_it_is_smaller_than_matplotlibs_own():
    import io

    fig, ax = new_figure()
    ax.plot(np.sin(np.linspace(0, 9, 300)), label="a wave")
    own = io.StringIO()
    fig.savefig(own, format="svg")
    assert len(gzip.compress(to_svg(fig).encode())) < len(gzip.compress(own.getvalue().encode())) / 2


def test_the_figures_own_resolution_is_left_as_it_was():
    fig = Figure(figsize=(5, 2), dpi=200)
    to_svg(fig)
    assert fig.dpi == 200


def test_settings_outside_stay_the_readers_own():
    before = matplotlib.rcParams["font.size"], matplotlib.rcParams["text.color"]
    picture(lambda ax: ax.plot([1, 2]))
    assert (matplotlib.rcParams["font.size"], matplotlib.rcParams["text.color"]) == before


def test_a_picture_has_a_role_and_its_sentence():
    shown = Picture(new_figure()[0], 'Two "empty"\n axes.')._repr_mimebundle_()
    assert shown["text/plain"] == 'Two "empty" axes.'
    assert (
        '<figure class="lu-figure" role="img" aria-label="Two &quot;empty&quot; axes.">' in shown["text/html"]
    )


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((None, "A sentence."), "fig must be a matplotlib Figure, got NoneType: "),
        ((Figure(), " "), "description must be a sentence, got ' ': "),
        ((Figure(), None), "description must be a sentence, got None: "),
    ],
)
def test_a_picture_without_a_sentence_is_refused(arguments, message):
    with pytest.raises((TypeError, ValueError)) as error:
        Picture(*arguments)
    assert str(error.value).startswith(message) and "\n" not in str(error.value)


# Colours


def linear(colour):
    c = np.array(matplotlib.colors.to_rgb(colour))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(a, b):
    a, b = (linear(c) @ [0.2126, 0.7152, 0.0722] for c in (a, b))
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


def over(fill, opacity, page):
    return opacity * np.array(matplotlib.colors.to_rgb(fill)) + (1 - opacity) * np.array(
        matplotlib.colors.to_rgb(page)
    )


PAGES = [("#ffffff", "#323232"), ("#ffffff", "#000000"), ("#121212", "#ced6dd"), ("#111111", "#e0e0e0")]


@pytest.mark.parametrize("page, ink", PAGES)
def test_every_colour_stands_out_from_the_page(page, ink):
    assert min(contrast(colour, page) for colour in PALETTE) >= 3
    assert contrast(over(ink, svg.FAINT_OPACITY, page), page) >= 3


@pytest.mark.parametrize("page, ink", PAGES)
@pytest.mark.parametrize("weight", [0, 0.5, 1])
def test_a_number_can_be_read_in_every_cell(page, ink, weight):
    *fill, opacity = shade(weight)
    assert contrast(over(fill, opacity, page), ink) >= 4.5


# Machado, Oliveira and Fernandes 2009: what protanopes, deuteranopes and tritanopes see of linear RGB
SEEN_BY = {
    "all": np.eye(3),
    "protanopes": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopes": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritanopes": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}


def lab(colour):
    x = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ np.clip(
        colour, 0, 1
    )
    x = np.cbrt(x / [0.9505, 1, 1.089])
    return np.array([116 * x[1] - 16, 500 * (x[0] - x[1]), 200 * (x[1] - x[2])])


@pytest.mark.parametrize("eyes", SEEN_BY)
def test_colours_differ_for_the_colour_blind(eyes):
    seen = [lab(np.array(SEEN_BY[eyes]) @ linear(c)) for c in PALETTE]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 12, (
        "2 can just be told apart side by side"
    )
