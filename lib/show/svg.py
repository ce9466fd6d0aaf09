"""Matplotlib figures as small inline SVG, in the ink of the page that shows them.

Where it stands: under `figures.py` and `explore.py`; it knows nothing of attention. Why not matplotlib's own SVG: that one
brings a style sheet that would hit the whole page, draws every letter as a path and has its colours painted in. This one is

- *the page's*: what is drawn in `INK` takes the colour of the text around it, in a light page and in a dark one;
- *text*: labels are real text, in the page's own font, that can be selected, searched and read aloud
  (formulas between dollar signs become paths);
- *small*: numbers with one decimal, nothing twice, no ids and no style attribute, so that it may stand anywhere, any number of times.

A figure is drawn 5 inches = 360 units wide with letters of 12 units, because a phone shows it about 350 pixels wide: nobody has to
zoom to read a label.

    fig, ax = new_figure(height=2.5)
    ax.bar(["look", "it", "up"], [0.2, 0.1, 0.7])
    Picture(fig, "The word up gets most of the weight, 0.7.")
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

__all__ = [
    "BLUE", "FAINT", "GREEN", "INK", "ORANGE", "RED", "STYLE", "WEIGHT_COLOURS",
    "Picture", "in_style", "new_figure", "shade", "to_svg",
]  # fmt: skip

# Stand-ins: the SVG has the page's text colour in place of INK, and the same made half transparent in place of FAINT.
INK, FAINT = "#000000", "#010203"
FAINT_OPACITY = 0.55  # 3:1 at least against a page in black on white or light grey on #121212

# Each has a contrast of 3:1 at least against white and against #121212, and all differ for the colour-blind.
BLUE, ORANGE, GREEN, RED = "#5b8fd9", "#cd710a", "#1e9383", "#c52149"

STRONGEST = 0.62  # a cell of the map is never so blue that the number in it cannot be read in black or in white
WEIGHT_COLOURS = LinearSegmentedColormap.from_list("weights", [to_rgba(BLUE, 0.0), to_rgba(BLUE, STRONGEST)])
WEIGHT_COLOURS.set_bad(alpha=0)

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
    "axes.titlelocation": "left",
    "axes.titlesize": TEXT_SIZE,
    "axes.titleweight": "bold",
    "axes.titlepad": 8,
    "axes.labelsize": TEXT_SIZE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.axisbelow": True,
    # A line differs from the next in colour and in its dashes: it can be told without colour.
    "axes.prop_cycle": matplotlib.cycler(color=[BLUE, ORANGE, GREEN, RED]) + matplotlib.cycler(linestyle=["-", "--", "-.", ":"]),
    "font.size": TEXT_SIZE,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib; wider than the fonts of pages, so that what fits here fits there
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
    "path.simplify": True,
}
if "weights" not in matplotlib.colormaps:
    matplotlib.colormaps.register(WEIGHT_COLOURS)


def in_style(function):
    """Make everything that ``function`` draws look like the book: ``@in_style`` above a function that makes a figure.

    Outside of it matplotlib's settings stay the reader's own.
    """

    @functools.wraps(function)
    def styled(*args, **kwargs):
        with matplotlib.rc_context(STYLE):
            return function(*args, **kwargs)

    return styled


@in_style
def empty_figure(height=2.6):
    """Return a figure of the book's width without axes, its margins wide enough for labels and a title."""
    fig = Figure(figsize=(WIDTH, height), dpi=72)
    units = 72 * height
    # Fixed, not computed: matplotlib's layout engines take longer than all the drawing.
    fig.subplots_adjust(left=50 / 360, right=1 - 8 / 360, bottom=42 / units, top=1 - 26 / units, wspace=0.3, hspace=0.5)
    return fig


@in_style
def new_figure(height=2.6, **subplots):
    """Return ``(figure, axes)`` in the book's style, 5 inches wide; ``subplots`` as in ``Figure.subplots``.

    What is drawn into it takes matplotlib's current settings, so call it in a function with ``@in_style`` above.

    >>> fig, (left, right) = new_figure(height=2, ncols=2)
    >>> fig.get_size_inches().tolist()
    [5.0, 2.0]
    """
    fig = empty_figure(height)
    return fig, fig.subplots(**subplots)


def shade(weight, colour=BLUE):
    """Return the fill of a cell for a weight from 0 to 1: nothing at 0, and never too strong for the number in it.

    >>> shade(0.5)
    (0.3568627450980392, 0.5607843137254902, 0.8509803921568627, 0.31)
    """
    return to_rgba(colour, round(STRONGEST * float(weight), 3))


class Picture:
    """A figure and the sentence that says what to see in it. The last line of a cell shows it.

    The same SVG serves the built page, JupyterLab and VS Code; where no HTML can be shown, the sentence is.
    """

    def __init__(self, fig, description):
        if not isinstance(fig, Figure):
            raise TypeError(f"fig must be a matplotlib Figure, got {type(fig).__name__}: pass the figure, not its axes")
        if not isinstance(description, str) or not description.strip():
            raise ValueError(f"description must be a sentence that says what to see, got {description!r}: it is the alternative text")
        self.figure, self.description = fig, " ".join(description.split())

    def _repr_html_(self):
        label = html.escape(self.description)
        return f'<figure class="lu-figure" role="img" aria-label="{label}">{to_svg(self.figure)}</figure>'

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self._repr_html_(), "text/plain": self.description}

    def __repr__(self):
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


class InlineSVG(RendererBase):
    """A matplotlib backend: the figure calls its ``draw_`` methods, each adds an element to ``lines``."""

    def __init__(self, width, height):
        super().__init__()
        self.width, self.height, self.lines = width, height, []
        self.flip = Affine2D().scale(1, -1).translate(0, height)  # matplotlib counts y upwards, SVG downwards

    def svg(self):
        """Return what was drawn."""
        # width and height: the size where no style sheet of ours is, as in JupyterLab.
        size = f'viewBox="0 0 {_n(self.width)} {_n(self.height)}" width="{_n(self.width * 4 / 3)}" height="{_n(self.height * 4 / 3)}"'
        defaults = f'font-size="{TEXT_SIZE}" fill="currentColor" stroke-linejoin="round" overflow="visible"'
        return "\n".join([f'<svg {size} {defaults} aria-hidden="true" focusable="false">', *self.lines, "</svg>"])

    # What matplotlib asks of a backend ---------------------------------------------------------------------------------------

    def get_canvas_width_height(self):
        """Return the size in units."""
        return self.width, self.height

    def points_to_pixels(self, points):
        """Return the same number: one unit of ours is one point."""
        return points

    def option_image_nocomposite(self):
        """Return True: images are written one by one."""
        return True

    def option_scale_image(self):
        """Return True: the browser scales an image, so that a map of 8 by 8 is stored as 64 pixels."""
        return True

    def draw_path(self, gc, path, transform, rgbFace=None):
        """Write one path; drop it where nothing of it would be seen."""
        paint = _fill(gc, rgbFace) + _stroke(gc)
        hatch = gc.get_hatch()
        if not paint.strip() == 'fill="none"':
            self._write_path(gc, path, transform + self.flip, paint, filled=rgbFace is not None)
        if hatch:
            self._write_hatch(gc, path, transform + self.flip)

    def draw_markers(self, gc, marker_path, marker_trans, path, trans, rgbFace=None):
        """Write all the markers of a line as one path."""
        paint = _fill(gc, rgbFace) + _stroke(gc)
        clip = self._clip(gc)
        marker = marker_trans + Affine2D().scale(1, -1)
        points = path.transformed(trans + self.flip).vertices
        points = points[np.isfinite(points).all(axis=1)]
        if clip is not None:  # a marker is shown whole or not at all
            points = points[((points >= clip.min - 0.5) & (points <= clip.max + 0.5)).all(axis=1)]
        drawn = "".join(_d(marker_path, marker + Affine2D().translate(x, y)) for x, y in points)
        if drawn:
            self.lines.append(f'<path d="{drawn}"{paint}/>')

    def draw_image(self, gc, x, y, im, transform=None):
        """Write an image: a small one, as a map of weights is, as cells; a large one as PNG with square pixels."""
        if transform is None:
            transform = Affine2D().scale(im.shape[1], im.shape[0])
        corners = (transform + Affine2D().translate(x, y) + self.flip).transform([(0, 0), (1, 1)])
        box = _upright(corners)
        if corners[0, 1] > corners[1, 1]:
            im = im[::-1]  # the first row of the image is its lowest
        if im.shape[0] * im.shape[1] <= MOST_CELLS:
            self._write_cells(gc, im, box)
        else:
            png = io.BytesIO()
            imsave(png, im, format="png")
            data = base64.b64encode(png.getvalue()).decode()
            how = 'preserveAspectRatio="none" image-rendering="pixelated"'
            self.lines.append(f'<image {_place(box)} {how} href="data:image/png;base64,{data}"/>')

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        """Write a text as text; a formula as paths, because its parts stand where only matplotlib knows."""
        width, *_ = self.get_text_width_height_descent(s, prop, ismath)
        self._check_inside(s, x, y, width, angle)
        if ismath:
            self._draw_text_as_path(gc, x, y, s, prop, angle, ismath, mtext)
            return
        side = mtext.get_horizontalalignment() if mtext is not None else "left"
        share = {"left": 0, "center": 0.5, "right": 1}[side]  # the page's font has other widths: hold the end that is aligned
        turn = np.deg2rad(angle)
        x, y = x + share * width * np.cos(turn), y - share * width * np.sin(turn)
        at = f' x="{_n(x)}" y="{_n(y)}"'
        if angle:
            at += f' transform="rotate({_n(-angle)} {_n(x)} {_n(y)})"'
        if share:
            at += f' text-anchor="{("middle", "end")[share == 1]}"'
        if (size := _n(prop.get_size_in_points())) != str(TEXT_SIZE):
            at += f' font-size="{size}"'
        if prop.get_weight() in ("bold", "semibold", "heavy") or (str(prop.get_weight()).isdigit() and int(prop.get_weight()) >= 600):
            at += ' font-weight="bold"'
        if prop.get_style() != "normal":
            at += ' font-style="italic"'
        self.lines.append(f"<text{at}{_paint('fill', gc.get_rgb(), gc)}>{html.escape(s, quote=False)}</text>")

    # How ---------------------------------------------------------------------------------------------------------------------

    def _clip(self, gc):
        """Return the rectangle outside which nothing may be seen, in SVG's units, or None."""
        box = gc.get_clip_rectangle()
        if box is None:
            path, transform = gc.get_clip_path()
            box = path and path.get_extents(transform)  # of a round clip only the box
        return box and _upright(self.flip.transform(box.get_points()))

    def _write_cells(self, gc, im, box):
        """Write one rectangle a pixel; what is not to be seen is left out."""
        rows, columns = im.shape[:2]
        width, height = box.width / columns, box.height / rows
        for (i, j), opacity in np.ndenumerate(im[..., 3]):
            if opacity:
                cell = Bbox.from_bounds(box.x0 + j * width, box.y0 + i * height, width, height)
                paint = _paint("fill", im[i, j] / 255, gc)
                self.lines.append(f'<rect {_place(cell)} shape-rendering="crispEdges"{paint}/>')

    def _write_path(self, gc, path, transform, paint, filled):
        clip, box = self._clip(gc), path.get_extents(transform) if len(path.vertices) else None
        if box is None or (clip is not None and not _meet(box, clip, gc.get_linewidth() / 2)):
            return
        if clip is None or _within(box, clip):
            drawn = _d(path, transform, simplify=not filled)
        else:
            drawn = _d(path, transform, simplify=not filled, clip=None if filled else clip)
        if drawn and (clip is None or _within(box, clip)):
            self.lines.append(f'<path d="{drawn}"{paint}/>')
        elif drawn:
            self._clipped(clip, f'<path d="{drawn}"{paint}/>')

    def _clipped(self, clip, element):
        """Write an element inside an inner <svg>, which cuts at its edges and, unlike a clipPath, needs no id."""
        view = " ".join(_n(v) for v in clip.bounds)
        self.lines.append(f'<svg {_place(clip)} viewBox="{view}" overflow="hidden">{element}</svg>')

    def _write_hatch(self, gc, path, transform):
        """Fill a rectangle with its hatching (other shapes are refused: their hatching would not end at their edge)."""
        box = path.get_extents(transform)
        corners = path.transformed(transform).vertices
        if not all(np.isclose(x, (box.x0, box.x1), atol=0.1).any() and np.isclose(y, (box.y0, box.y1), atol=0.1).any() for x, y in corners):
            raise ValueError("hatch must be on a rectangle, got another shape: leave it out, or tell the shapes apart by a label")
        clip = self._clip(gc)
        box = box if clip is None else Bbox.intersection(box, clip)
        if box is None or box.width < 0.1 or box.height < 0.1:
            return
        tile, columns, rows = 36, int(box.width // 36 + 1), int(box.height // 36 + 1)
        hatch = gc.get_hatch_path()
        drawn = "".join(
            _d(hatch, Affine2D().scale(tile).translate(box.x0 + tile * i, box.y0 + tile * j)) for i in range(columns) for j in range(rows)
        )
        colour = _paint("stroke", to_rgba(gc.get_hatch_color()), gc)
        self._clipped(box, f'<path d="{drawn}" fill="none" stroke-width="{_n(gc.get_hatch_linewidth())}"{colour}/>')

    def _check_inside(self, s, x, y, width, angle):
        """Refuse a text that would be cut by the edge of the picture."""
        turn = np.deg2rad(angle)
        ends = np.array([[x, y], [x + width * np.cos(turn), y - width * np.sin(turn)]])
        sides = {"left": -ends[:, 0].min(), "right": ends[:, 0].max() - self.width, "top": -ends[:, 1].min(), "bottom": ends[:, 1].max() - self.height}
        side, over = max(sides.items(), key=lambda item: item[1])
        if over > 6:
            raise ValueError(
                f"the text {s!r} leaves the picture by {over:.0f} units on the {side}: "
                f"make room, as in fig.subplots_adjust({side}=…), or shorten it"
            )


def _upright(corners):
    (x0, y0), (x1, y1) = corners
    return Bbox([[min(x0, x1), min(y0, y1)], [max(x0, x1), max(y0, y1)]])


def _meet(box, clip, margin):
    return box.x1 > clip.x0 - margin and box.x0 < clip.x1 + margin and box.y1 > clip.y0 - margin and box.y0 < clip.y1 + margin


def _within(box, clip, slack=0.1):
    return box.x0 > clip.x0 - slack and box.x1 < clip.x1 + slack and box.y0 > clip.y0 - slack and box.y1 < clip.y1 + slack


def _place(box):
    return f'x="{_n(box.x0)}" y="{_n(box.y0)}" width="{_n(box.width)}" height="{_n(box.height)}"'


def _n(number, digits=1):
    """Return a number in as few characters as it needs: ``12``, ``0.5``, ``-3.1``."""
    text = f"{number:.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


# SVG's letter for matplotlib's code, which says the same in numbers
LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}


def _d(path, transform, clip=None, simplify=False, digits=1):
    """Return the ``d`` of a path element."""
    clip = clip and (clip.x0 - 2, clip.y0 - 2, clip.x1 + 2, clip.y1 + 2)
    out, last = [], (None, None)
    for vertices, code in path.iter_segments(transform, remove_nans=True, clip=clip, simplify=simplify):
        if code == Path.CLOSEPOLY:
            out.append("Z")
            last = (None, None)
            continue
        numbers = [_n(v, digits) for v in vertices]
        here = tuple(numbers[-2:])
        if code == Path.LINETO and here == last:
            continue
        if code == Path.LINETO and here[0] == last[0]:
            out.append("V" + here[1])
        elif code == Path.LINETO and here[1] == last[1]:
            out.append("H" + here[0])
        else:
            out.append(LETTERS[code] + " ".join(numbers).replace(" -", "-"))
        last = here
    drawn = "".join(out)
    return "" if re.fullmatch(r"(M[^A-Z]*)*", drawn) else drawn


def _fill(gc, colour):
    return ' fill="none"' if colour is None else _paint("fill", colour, gc) or ""


def _stroke(gc):
    """Return the attributes of the line around a shape, or nothing if it has none."""
    width, colour = gc.get_linewidth(), gc.get_rgb()
    if not width or not (gc.get_alpha() if gc.get_forced_alpha() else colour[3]):
        return ""
    out = _paint("stroke", colour, gc)
    if _n(width) != "1":
        out += f' stroke-width="{_n(width, 2)}"'
    offset, dashes = gc.get_dashes()
    if dashes is not None:
        out += f' stroke-dasharray="{" ".join(_n(d) for d in dashes)}"'
        if offset:
            out += f' stroke-dashoffset="{_n(offset)}"'
    if (cap := gc.get_capstyle()) != "butt":
        out += f' stroke-linecap="{"square" if cap == "projecting" else cap}"'
    if (join := gc.get_joinstyle()) != "round":
        out += f' stroke-linejoin="{join}"'
    return out


def _paint(what, colour, gc):
    """Return ``fill`` or ``stroke`` and its opacity: the page's colour for INK and FAINT."""
    opacity = gc.get_alpha() if gc.get_forced_alpha() else (colour[3] if len(colour) > 3 else 1)
    if not opacity:
        return f' {what}="none"'
    name = "#" + "".join(f"{round(255 * c):02x}" for c in colour[:3])
    if name == FAINT:
        name, opacity = INK, opacity * FAINT_OPACITY
    out = "" if (name, what) == (INK, "fill") else f' {what}="{"currentColor" if name == INK else name}"'
    return out + (f' {what}-opacity="{_n(opacity, 2)}"' if opacity < 0.995 else "")
