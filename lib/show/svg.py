"""Matplotlib figures as small inline SVG, in the ink of the page that shows them.

Where it stands: under `figures.py` and `explore.py`; it knows nothing of attention. Matplotlib's own SVG has
a style sheet that would hit the whole page, letters as paths, and colours that are painted in. This one is

- *the page's*: what is drawn in `INK` takes the colour of the text around it, on a light page or a dark one;
- *text*: labels are real text in the page's own font, to be selected, searched and translated (formulas
  between dollar signs become paths);
- *small*: numbers with one decimal, no ids and no style attributes, so that it may stand anywhere, any number
  of times, under a strict policy.

A figure is drawn 5 inches = 360 units wide with letters of 12 units, because a phone shows it about 350
pixels wide: nobody has to zoom to read a label.

    @in_style
    def weights_of_one_query():
        fig, ax = new_figure(height=2.5)
        ax.bar(["look", "it", "up"], [0.2, 0.1, 0.7])
        return Picture(fig, "The word up gets most of the weight, 0.7.")
"""

import base64
import functools
import html
import io
import re

import matplotlib
import numpy as np
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.image import imsave
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Bbox

# Stand-ins: the SVG has the page's text colour for INK (black), and the same half transparent for FAINT.
INK, FAINT = "#000000", "#010203"
FAINT_OPACITY = 0.55  # 3:1 at least against the page, black on white or light grey on #121212

# Each has a contrast of 3:1 at least against white and against #121212, and all differ for the colour-blind.
BLUE, ORANGE, GREEN, RED = PALETTE = "#5b8fd9", "#cd710a", "#178a6a", "#c52149"

STRONGEST = 0.6  # the fill for a weight of 1: never so strong that the number in the cell cannot be read
WEIGHT_COLOURS = LinearSegmentedColormap.from_list(
    "weights", [to_rgba(BLUE, 0), to_rgba(BLUE, STRONGEST)], bad="none"
)
if "weights" not in matplotlib.colormaps:
    matplotlib.colormaps.register(WEIGHT_COLOURS)

WIDTH = 5.0  # inches, of 72 units each
TEXT_SIZE = 12
MOST_CELLS = 1024  # an image of more pixels is stored as PNG

STYLE = {
    "figure.dpi": 72,
    "figure.facecolor": "none",
    "figure.edgecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.labelsize": TEXT_SIZE,
    "axes.titlelocation": "left",
    "axes.titlesize": TEXT_SIZE,
    "axes.titleweight": "bold",
    "axes.titlepad": 8,
    "axes.titley": 1.0,  # given, because finding it takes a fifth of the time that drawing takes
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    # A line differs from the next in colour and in its dashes: it can be told without colour.
    "axes.prop_cycle": matplotlib.cycler(color=PALETTE, linestyle=["-", "--", "-.", ":"]),
    "font.size": TEXT_SIZE,
    "font.family": ["sans-serif"],
    # It comes with matplotlib, and is wider than the fonts of pages: what fits here fits there.
    "font.sans-serif": ["DejaVu Sans"],
    "text.color": INK,
    "text.usetex": False,
    "mathtext.fontset": "dejavusans",
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": TEXT_SIZE,
    "ytick.labelsize": TEXT_SIZE,
    "legend.frameon": False,
    "legend.fontsize": TEXT_SIZE,
    "lines.linewidth": 2,
    "lines.solid_capstyle": "butt",
    "image.interpolation": "none",
    "image.cmap": "weights",
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "hatch.color": INK,
    "hatch.linewidth": 0.8,
}


def in_style(function):
    """Make all that ``function`` draws look like the book: write ``@in_style`` above it.

    Outside of it matplotlib's settings stay the reader's own.
    """

    @functools.wraps(function)
    def styled(*args, **kwargs):
        with matplotlib.rc_context(STYLE):
            return function(*args, **kwargs)

    return styled


@in_style
def empty_figure(height=2.6):
    """Return a figure of the book's width, ``height`` inches high, with margins for labels and a title."""
    fig = Figure(figsize=(WIDTH, height), dpi=72)
    set_margins(fig)
    return fig


def set_margins(fig, left=50, right=12, bottom=42, top=26, wspace=0.4, hspace=0.6):
    """Set the margins of a figure in units (a letter is 12 high).

    They are given, not computed: matplotlib's layout engines take longer than all the drawing.
    """
    width, height = fig.get_size_inches() * 72
    fig.subplots_adjust(left / width, bottom / height, 1 - right / width, 1 - top / height, wspace, hspace)


@in_style
def new_figure(height=2.6, **subplots):
    """Return ``(figure, axes)`` in the book's style, 5 inches wide; ``subplots`` as in ``Figure.subplots``.

    Call it in a function that has ``@in_style`` above it, so that what you add is in style, too.

    >>> fig, (left, right) = new_figure(height=2, ncols=2)
    >>> fig.get_size_inches().tolist()
    [5.0, 2.0]
    """
    fig = empty_figure(height)
    return fig, fig.subplots(**subplots)


def shade(weight, colour=BLUE):
    """Return the fill of a cell for a weight from 0 to 1: nothing at 0, never too strong for a number in it.

    >>> shade(0.5)[3]
    0.3
    """
    return to_rgba(colour, round(STRONGEST * float(weight), 3))


class Picture:
    """A figure and the sentence that says what to see in it; a cell that ends with it shows it.

    The same SVG serves the built page, JupyterLab and VS Code. Where no HTML can be shown, the sentence is.

    >>> fig, ax = new_figure()
    >>> Picture(fig, "Two empty axes, from 0 to 1.")
    Two empty axes, from 0 to 1.
    """

    def __init__(self, fig, description):
        """Take a matplotlib Figure and one sentence, the alternative text."""
        if not isinstance(fig, Figure):
            kind = type(fig).__name__
            raise TypeError(f"fig must be a matplotlib Figure, got {kind}: pass the figure itself")
        if not isinstance(description, str) or not description.strip():
            raise ValueError(
                f"description must be a sentence, got {description!r}: say what the picture shows"
            )
        self.figure, self.description = fig, " ".join(description.split())

    def _repr_html_(self):
        label = html.escape(self.description)
        return f'<figure class="lu-figure" role="img" aria-label="{label}">{to_svg(self.figure)}</figure>'

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self._repr_html_(), "text/plain": self.description}

    def __repr__(self):
        """Return the sentence."""
        return self.description


@in_style
def to_svg(fig):
    """Return the figure as one ``<svg>`` element to be put into a page, one drawn thing a line.

    It is hidden from screen readers, because whoever shows it says what is to be seen (see `Picture`).
    Raises ValueError if a text leaves the picture: there it would be cut.
    """
    dpi, fig.dpi = fig.dpi, 72
    try:
        renderer = InlineSVG(*fig.get_size_inches() * 72)
        fig.draw(renderer)
    finally:
        fig.dpi = dpi
    return renderer.svg()


SIZES = {}


class InlineSVG(RendererBase):
    """A matplotlib backend: the figure calls the ``draw_`` methods, and each adds elements to ``lines``."""

    def __init__(self, width, height):
        """Take the size of the picture in units."""
        super().__init__()
        self.width, self.height, self.lines = width, height, []
        self.flip = Affine2D().scale(1, -1).translate(0, height)  # matplotlib counts y upwards, SVG downwards

    def svg(self):
        """Return what was drawn, as one element."""
        view = f'viewBox="0 0 {_n(self.width)} {_n(self.height)}"'
        # The size where no style sheet of ours is: a third larger, so that letters are 16 pixels high.
        size = f'width="{_n(self.width * 4 / 3)}" height="{_n(self.height * 4 / 3)}"'
        hidden = 'aria-hidden="true" focusable="false"'
        defaults = f'font-size="{TEXT_SIZE}" fill="currentColor" stroke-linejoin="round" overflow="visible"'
        return "\n".join([f"<svg {view} {size} {hidden} {defaults}>", *self.lines, "</svg>"])

    # What matplotlib asks of a backend

    def get_canvas_width_height(self):
        """Return the size in units."""
        return self.width, self.height

    def points_to_pixels(self, points):
        """Return the same number: a unit is a point."""
        return points

    def get_text_width_height_descent(self, s, prop, ismath):
        """Return how large a text is; measured once, because texts recur from frame to frame."""
        letters = prop.get_size_in_points(), prop.get_weight(), prop.get_style(), tuple(prop.get_family())
        key = s, letters, ismath
        if key not in SIZES:
            SIZES[key] = super().get_text_width_height_descent(s, prop, ismath)
        return SIZES[key]

    def option_image_nocomposite(self):
        """Return True: images are written one by one."""
        return True

    def option_scale_image(self):
        """Return True: a map of 8 by 8 arrives here as 64 pixels, whatever its size on the page."""
        return True

    def draw_path(self, gc, path, transform, rgbFace=None):
        """Write a line or a shape, and its hatching."""
        fill, stroke = _fill(gc, rgbFace), _stroke(gc)
        if stroke or fill != ' fill="none"':
            self._write_path(gc, path, transform + self.flip, fill + stroke, filled=rgbFace is not None)
        if gc.get_hatch():
            self._write_hatch(gc, path, transform + self.flip)

    def draw_markers(self, gc, marker_path, marker_trans, path, trans, rgbFace=None):
        """Write all the markers of a line as one path; none outside of the axes."""
        points = path.transformed(trans + self.flip).vertices
        points = points[np.isfinite(points).all(axis=1)]
        if (clip := self._clip(gc)) is not None:
            points = points[((points >= clip.min - 0.5) & (points <= clip.max + 0.5)).all(axis=1)]
        marker = marker_trans + Affine2D().scale(1, -1)
        drawn = "".join(_d(marker_path, marker + Affine2D().translate(x, y)) for x, y in points)
        if drawn:
            self.lines.append(f'<path d="{drawn}"{_fill(gc, rgbFace)}{_stroke(gc)}/>')

    def draw_image(self, gc, x, y, im, transform=None):
        """Write an image: a small one, such as a map of weights, as cells; a large one as PNG."""
        if transform is None:
            transform = Affine2D().scale(im.shape[1], im.shape[0])
        corners = (transform + Affine2D().translate(x, y) + self.flip).transform([(0, 0), (1, 1)])
        if corners[0, 1] > corners[1, 1]:
            im = im[::-1]  # the first row of the array is the lowest of the image
        write = self._write_cells if im.shape[0] * im.shape[1] <= MOST_CELLS else self._write_png
        write(gc, im, _upright(corners))

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        """Write a text as text; a formula as paths, because only matplotlib knows where its parts stand."""
        width, *_ = self.get_text_width_height_descent(s, prop, ismath)
        self._check_inside(s, x, y, width, angle)
        if ismath:
            self._draw_text_as_path(gc, x, y, s, prop, angle, ismath, mtext)
            return
        # The letters of the page's font have other widths: give the end or middle that is to stay.
        align = mtext.get_horizontalalignment() if mtext is not None else "left"
        share, anchor = {"left": (0, ""), "center": (0.5, "middle"), "right": (1, "end")}[align]
        turn = np.deg2rad(angle)
        at = _n(x + share * width * np.cos(turn)), _n(y - share * width * np.sin(turn))
        attributes = f' x="{at[0]}" y="{at[1]}"'
        if angle:
            attributes += f' transform="rotate({_n(-angle)} {at[0]} {at[1]})"'
        if anchor:
            attributes += f' text-anchor="{anchor}"'
        attributes += _letters(prop) + _paint("fill", gc.get_rgb(), _opacity(gc))
        self.lines.append(f"<text{attributes}>{html.escape(s, quote=False)}</text>")

    # How it is written

    def _clip(self, gc):
        """Return the rectangle outside of which nothing may be seen, in SVG's units, or None."""
        box = gc.get_clip_rectangle()
        if box is None:
            path, transform = gc.get_clip_path()
            box = path and path.get_extents(transform)  # of a round clip only the box
        return box and _upright(self.flip.transform(box.get_points()))

    def _write_path(self, gc, path, transform, paint, filled):
        clip = self._clip(gc)
        box = path.get_extents(transform) if len(path.vertices) else None
        if box is None or (clip and not _contains(clip, box, gc.get_linewidth() / 2, wholly=False)):
            return
        inside = clip is None or _contains(clip, box)
        drawn = _d(path, transform, clip=None if inside or filled else clip, simplify=not filled)
        if drawn:
            element = f'<path d="{drawn}"{paint}/>'
            self.lines.append(element if inside else _clipped(clip, element))

    def _write_cells(self, gc, im, box):
        """Write a rectangle for each pixel that can be seen."""
        height, width = box.height / im.shape[0], box.width / im.shape[1]
        for i, j in np.argwhere(im[..., 3]):
            cell = Bbox.from_bounds(box.x0 + j * width, box.y0 + i * height, width, height)
            paint = _paint("fill", im[i, j] / 255, im[i, j, 3] / 255 * gc.get_alpha())
            self.lines.append(f'<rect {_place(cell)} shape-rendering="crispEdges"{paint}/>')

    def _write_png(self, gc, im, box):
        png = io.BytesIO()
        imsave(png, im, format="png")
        data = base64.b64encode(png.getvalue()).decode()
        how = 'preserveAspectRatio="none" image-rendering="pixelated"'
        self.lines.append(f'<image {_place(box)} {how} href="data:image/png;base64,{data}"/>')

    def _write_hatch(self, gc, path, transform, tile=36):
        """Fill a rectangle with its hatching."""
        box = path.get_extents(transform)
        if not _is_rectangle(path.transformed(transform).vertices, box):
            raise ValueError("only rectangles can be hatched, got another shape: tell it apart by a label")
        clip = self._clip(gc)
        box = Bbox.intersection(box, clip) if clip else box
        if box is None or not _n(box.width) or not _n(box.height):
            return
        hatch, drawn = gc.get_hatch_path(), ""
        for x in np.arange(box.x0, box.x1, tile):
            for y in np.arange(box.y0, box.y1, tile):
                drawn += _d(hatch, Affine2D().scale(tile).translate(x, y))
        colour = _paint("stroke", to_rgba(gc.get_hatch_color()), 1)
        width = f'stroke-width="{_n(gc.get_hatch_linewidth())}"'
        self.lines.append(_clipped(box, f'<path d="{drawn}" fill="none" {width}{colour}/>'))

    def _check_inside(self, s, x, y, width, angle, slack=6, capital=9):
        """Refuse a text that would be cut by the edge of the picture: its line, and the height of a capital above it."""
        along, up = (np.array([np.cos(a), -np.sin(a)]) for a in np.deg2rad([angle, angle + 90]))
        xs, ys = zip(
            *((x, y) + a * width * along + b * capital * up for a in (0, 1) for b in (0, 1)), strict=True
        )
        over = {"left": -min(xs), "right": max(xs) - self.width}
        over |= {"top": -min(ys), "bottom": max(ys) - self.height}
        side = max(over, key=over.get)
        if over[side] > slack:
            raise ValueError(
                f"the text {s!r} leaves the picture by {over[side]:.0f} units on the {side}: "
                f"make room with set_margins(fig, {side}=…), or shorten it"
            )


# Rectangles


def _upright(corners):
    return Bbox([np.min(corners, axis=0), np.max(corners, axis=0)])


def _contains(clip, box, slack=0.1, wholly=True):
    """Return whether the box lies in the clip wholly, or else partly."""
    (x0, y0), (x1, y1) = (box.min, box.max) if wholly else (box.max, box.min)
    left, top, right, bottom = clip.extents
    return x0 > left - slack and y0 > top - slack and x1 < right + slack and y1 < bottom + slack


def _is_rectangle(vertices, box):
    """Return whether all the vertices are corners of the box."""
    return np.isclose(np.abs(vertices - (box.min + box.max) / 2), box.size / 2, atol=0.1).all()


def _place(box):
    return f'x="{_n(box.x0)}" y="{_n(box.y0)}" width="{_n(box.width)}" height="{_n(box.height)}"'


def _clipped(box, element):
    """Return the element in an inner ``<svg>``, which cuts at its edges and, unlike a clipPath, has no id."""
    view = " ".join(_n(v) for v in box.bounds)
    return f'<svg {_place(box)} viewBox="{view}" overflow="hidden">{element}</svg>'


# Attributes


def _n(number, digits=1):
    """Return a number in as few characters as it needs: ``12``, ``0.5``, ``-3.1``."""
    text = f"{number:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


LETTER = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}


def _d(path, transform, clip=None, simplify=False):
    """Return the ``d`` of a path element, empty if it draws nothing."""
    box = clip and tuple(clip.padded(2).extents)
    out, last = [], ("", "")
    for vertices, code in path.iter_segments(transform, clip=box, simplify=simplify):
        numbers = [] if code == Path.CLOSEPOLY else [_n(v) for v in vertices]
        here, letter = tuple(numbers[-2:]), LETTER[code]
        if letter == "L" and here == last:
            continue
        if letter == "L" and here[0] == last[0]:
            letter, numbers = "V", here[1:]
        elif letter == "L" and here[1] == last[1]:
            letter, numbers = "H", here[:1]
        out.append(letter + " ".join(numbers))
        last = here or ("", "")
    drawn = "".join(out)
    return drawn if re.search("[LHVQC]", drawn) else ""


def _letters(prop):
    """Return how the letters differ from the text around them."""
    size = _n(prop.get_size_in_points())
    out = "" if size == str(TEXT_SIZE) else f' font-size="{size}"'
    if str(prop.get_weight()) in ("bold", "semibold", "heavy", "600", "700", "800", "900"):
        out += ' font-weight="bold"'
    return out if prop.get_style() == "normal" else out + ' font-style="italic"'


def _fill(gc, colour):
    if colour is None:
        return ' fill="none"'
    return _paint("fill", colour, gc.get_alpha() if gc.get_forced_alpha() else (*colour, 1)[3])


def _stroke(gc):
    """Return the attributes of a line, nothing if it is not to be seen."""
    width, colour = gc.get_linewidth(), _paint("stroke", gc.get_rgb(), _opacity(gc))
    if not width or colour == ' stroke="none"':
        return ""
    out = colour if _n(width) == "1" else f'{colour} stroke-width="{_n(width, 2)}"'
    offset, dashes = gc.get_dashes()
    if dashes is not None:
        out += f' stroke-dasharray="{" ".join(map(_n, dashes))}"'
    if offset:
        out += f' stroke-dashoffset="{_n(offset)}"'
    cap, join = gc.get_capstyle(), gc.get_joinstyle()
    out += {"butt": "", "round": ' stroke-linecap="round"', "projecting": ' stroke-linecap="square"'}[cap]
    return out if join == "round" else f'{out} stroke-linejoin="{join}"'


def _opacity(gc):
    return gc.get_alpha() if gc.get_forced_alpha() else gc.get_rgb()[3]


def _paint(what, colour, opacity):
    """Return ``fill`` or ``stroke`` and its opacity: the page's colour for INK and FAINT."""
    if not opacity:
        return f' {what}="none"'
    name = "#" + "".join(f"{round(255 * c):02x}" for c in colour[:3])
    if name == FAINT:
        name, opacity = INK, opacity * FAINT_OPACITY
    name = "currentColor" if name == INK else name
    out = "" if (what, name) == ("fill", "currentColor") else f' {what}="{name}"'
    return out + (f' {what}-opacity="{_n(opacity, 2)}"' if opacity < 0.995 else "")
