"""Two explorers to take in the hand: the shelf, and the mask editor.

Where it stands: this is their Python side. What they show and compute in the browser stands in ``static/shelf.js`` and
``static/mask_editor.js``, modules that run as they are in JupyterLab and on a page without a kernel. The words come from
`lib.show.words`; the attention, the books and the tokens come from the caller.

With a kernel both are `anywidget` widgets: move one, and read ``w.weights`` in the next cell. While the site is built
(``LOOK_IT_UP_FRAMES`` is set, as for `explore`) they are plain objects that write themselves as HTML: the default
state, drawn by the same module in V8 (`mini-racer`), and beside it the numbers that the module goes on with once
`sphinx_ext.hands_on` has put it on the page.
"""

import json
import os
import re
from math import inf
from pathlib import Path

import anywidget
import numpy as np
import traitlets

from lib.show.words import templates

__all__ = ["MaskEditor", "Shelf", "mask_editor", "shelf"]

STATIC = Path(__file__).parent / "static"
MOST_TOKENS = 10  # more cells than this in a row are too small for a finger on a phone


class Array(traitlets.TraitType):
    """A NumPy array of a fixed shape and dtype; the browser gets it as nested lists.

    A length may be the name of another trait, or None for any: ``Array("names", 2)`` has one row for each of the names.
    The array cannot be written into, because the browser would not notice: set a new one, ``w.query = [[1, 0]]``.
    """

    def __init__(self, *shape, dtype=float):
        """Remember what ``validate`` is to hold values against."""
        super().__init__()
        self.shape, self.dtype = shape, dtype
        self.tag(sync=True, to_json=lambda array, _: array.tolist(), from_json=lambda lists, _: lists)

    def validate(self, owner, value):
        """Return ``value`` as an array, or say in one line what is wrong with it."""
        array = _as_array(self.name, value)
        wanted = tuple(len(getattr(owner, n)) if isinstance(n, str) else n for n in self.shape)
        if array.ndim == len(wanted):
            wanted = tuple(
                given if n is None else n for n, given in zip(wanted, array.shape, strict=True)
            )  # None: any
        if array.shape != wanted:
            shape = ", ".join("any" if n is None else str(n) for n in wanted)
            raise ValueError(
                f"{self.name} must have the shape ({shape}), got {array.shape}: give one row for each {self._rows()}"
            )
        if self.dtype is bool and array.dtype != bool:
            raise TypeError(
                f"{self.name} must be boolean, True = may attend, got {array.dtype}: "
                f"for ones and zeros write {self.name} == 1"
            )
        if not np.isfinite(array).all():
            raise ValueError(
                f"{self.name} must be finite, got {array[~np.isfinite(array)][0]}: replace it by a number"
            )
        array = np.array(array, dtype=self.dtype)
        array.flags.writeable = False
        return array

    def _rows(self):
        return {"names": "book", "tokens": "token"}.get(self.shape[0], "query")


def _as_array(name, value):
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(
            f"{name} must be a rectangular array, got rows of several lengths: make them equally long"
        ) from None
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"{name} must hold real numbers, got {array.dtype}: give a list of lists of numbers, or an array"
        )
    return array


class Temperature(traitlets.TraitType):
    """What the scores are divided by, from 0 (hard lookup) to ``math.inf`` (plain average)."""

    def __init__(self):
        """Tell the browser ``null`` for infinity, which JSON does not know."""
        super().__init__(1.0)
        self.tag(
            sync=True,
            to_json=lambda t, _: None if t == inf else t,
            from_json=lambda t, _: inf if t is None else t,
        )

    def validate(self, owner, value):
        """Return the temperature as a float, or say what it may be."""
        try:
            temperature = float(value)
        except (TypeError, ValueError):
            raise TypeError(f"temperature must be a number, got {value!r}: 1 is the plain softmax") from None
        if temperature != 0 and not temperature >= 1e-9:
            raise ValueError(
                f"temperature must be 0 or at least 1e-9, got {value!r}: 0 is the hard lookup, math.inf the plain average"
            )
        return temperature


class _HandsOn(traitlets.HasTraits):
    """What the two have in common: words, an attention to compute with, and the HTML of the default state."""

    module = ""  # the name of the file in static/
    attention = traitlets.Callable()
    words = traitlets.Dict().tag(sync=True)

    def to_json(self):
        """Return the synced traits as JSON, as the browser gets them."""
        traits = self.traits(sync=True)
        plain = {
            n: t.metadata.get("to_json", lambda x, _: x)(getattr(self, n), self) for n, t in traits.items()
        }
        return json.dumps(plain, ensure_ascii=False, sort_keys=True)

    def to_html(self):
        """Return the default state as HTML that can be read with scripts off, and its numbers for the script."""
        state = self.to_json()
        data = state.replace("<", "\\u003c")  # nothing in it may end the element
        return (
            f'<div class="lu" data-hands-on="{self.module}"><script type="application/json">{data}</script>'
            f"{_draw(self.module, state)}</div>"
        )

    def _repr_mimebundle_(self, **kwargs):
        return {"text/html": self.to_html(), "text/plain": f"{self.words['title']} ({type(self).__name__})"}


def _draw(module, state):
    """Let the module itself draw its default state: one drawing for the page, the kernel and a browser without scripts."""
    from py_mini_racer import JSEvalException, MiniRacer  # here, because only the build of the site needs it

    script = (STATIC / f"{module}.js").read_text("utf-8")
    script = re.sub(
        r"^export (default )?", "", script, flags=re.MULTILINE
    )  # a plain script: V8 alone has no modules
    try:
        with MiniRacer() as v8:  # closed at once: on Python 3.13 a process with an open one never ends
            return v8.eval(f"{script}\npage({state})")
    except JSEvalException as error:
        raise RuntimeError(
            f"{module}.js failed to draw its default state: {str(error).splitlines()[0]}"
        ) from None


def _is_static():
    return bool(os.environ.get("LOOK_IT_UP_FRAMES"))


class Shelf(_HandsOn):
    """A query among books: ``query`` (1, 2), ``key`` (n, 2), ``value`` (n, d_v), and what follows from them."""

    module = "shelf"
    names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    components = traitlets.List(traitlets.Unicode()).tag(sync=True)
    axes = traitlets.List(traitlets.Unicode(), minlen=2, maxlen=2).tag(sync=True)
    query = Array(1, 2)
    key = Array("names", 2)
    value = Array("names", "components")
    temperature = Temperature()
    start = traitlets.Dict().tag(sync=True)  # where the reset button leads

    @property
    def weights(self):
        """The weights ``(1, n)`` of the books as they stand now."""
        return self._attend().weights

    @property
    def output(self):
        """The blended value ``(1, d_v)`` as things stand now."""
        return self._attend().output

    def _attend(self):
        if self.temperature > 0:
            return self.attention(self.query, self.key, self.value, scale=1 / self.temperature)
        scores = self.query @ self.key.T
        largest = scores.max()
        # The limit of temperature 0: only the winners may be seen. Equal but for rounding is a tie, as in shelf.js.
        winners = largest - scores <= 1e-9 * max(1.0, abs(largest))
        return self.attention(self.query, self.key, self.value, winners, scale=0.0)


class MaskEditor(_HandsOn):
    """A mask over tokens: ``mask`` (n, n), True = may attend, the ``row`` that is looked at, and what follows from them."""

    module = "mask_editor"
    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    query = Array("tokens", None)
    key = Array("tokens", None)
    value = Array("tokens", None)
    mask = Array("tokens", "tokens", dtype=bool)
    row = traitlets.Int().tag(sync=True)
    real = traitlets.Int().tag(sync=True)
    left = traitlets.Int().tag(sync=True)

    @property
    def weights(self):
        """The weights ``(n, n)`` under the mask as it is now."""
        return self.attention(self.query, self.key, self.value, self.mask).weights

    @property
    def output(self):
        """The outputs ``(n, d_v)`` under the mask as it is now."""
        return self.attention(self.query, self.key, self.value, self.mask).output

    @traitlets.validate("row")
    def _check_row(self, proposal):
        if not 0 <= proposal.value < len(self.tokens):
            raise ValueError(
                f"row must lie between 0 and {len(self.tokens) - 1}, got {proposal.value}: it counts the tokens from 0"
            )
        return proposal.value


class _LiveShelf(anywidget.AnyWidget, Shelf):
    _esm = STATIC / "shelf.js"
    _css = STATIC / "hands_on.css"


class _LiveMaskEditor(anywidget.AnyWidget, MaskEditor):
    _esm = STATIC / "mask_editor.js"
    _css = STATIC / "hands_on.css"


def shelf(names, key, value, query, *, attention, components, axes=("x", "y"), temperature=1.0):
    """Show books as keys in a plane, and a query to drag among them.

    Parameters
    ----------
    names : list of n strings, the books
    key : array ``(n, 2)``, where the books stand, from -3 to 3
    value : array ``(n, d_v)``, what each of them hands over
    query : array ``(1, 2)`` or ``(2,)``, where the query starts
    attention : function of (query, key, value, mask, scale=) that returns ``output`` and ``weights``:
        ``lib.attention.scaled_dot_product_attention``
    components : list of d_v strings, what the numbers of a value are
    axes : two strings, what the plane's directions mean
    temperature : float, 0 (hard lookup) to ``math.inf`` (plain average)

    Returns
    -------
    Shelf : its ``query``, ``key``, ``value`` and ``temperature`` can be read and set; ``weights`` and ``output`` follow.

    Raises
    ------
    TypeError, ValueError: an array of another shape, or with something else than finite numbers in it.

    Examples
    --------
    >>> from lib.attention import scaled_dot_product_attention
    >>> books = dict(names=["Stars", "Rome"], key=[[2, 0], [0, 2]], value=[[9.0], [1.0]], components=["facts"])
    >>> w = shelf(**books, query=[1, 1], attention=scaled_dot_product_attention)
    >>> w.weights
    array([[0.5, 0.5]])
    >>> w.query = [[3, 0]]
    >>> w.output.round(2)
    array([[8.98]])
    """
    if len(names) < 2:
        raise ValueError(
            f"a shelf needs at least 2 books, got {len(names)}: with one there is nothing to choose"
        )
    query = _as_array("query", query)
    query = query[None, :] if query.ndim == 1 else query
    cls = Shelf if _is_static() else _LiveShelf
    widget = cls(
        attention=attention,
        words=templates("shelf"),
        names=list(names),
        components=list(components),
        axes=list(axes),
        query=query,
        key=key,
        value=value,
        temperature=temperature,
    )
    widget.start = {
        "query": widget.query.tolist(),
        "key": widget.key.tolist(),
        "value": widget.value.tolist(),
        "temperature": None if widget.temperature == inf else widget.temperature,
    }
    for name in ("query", "key"):
        _check_inside(name, getattr(widget, name))
    return widget


def _check_inside(name, points):
    if np.abs(points).max() > 3:
        raise ValueError(
            f"{name} must lie between -3 and 3 to be in the picture, got {points[np.abs(points) > 3][0]}: scale it down"
        )


def mask_editor(tokens, query, key, value, *, attention, mask=None, row=0, real=None, left=2):
    """Show a mask whose cells can be opened and closed, and the weights of one row under it.

    Parameters
    ----------
    tokens : list of n strings, 2 to 10 of them
    query, key : arrays ``(n, d_k)``
    value : array ``(n, d_v)``
    attention : function of (query, key, value, mask) that returns ``output`` and ``weights``:
        ``lib.attention.scaled_dot_product_attention``
    mask : boolean array ``(n, n)`` to start with, True = may attend. Default: all True, no mask
    row : int, the query whose weights are shown first, counted from 0
    real : int, how many tokens the preset "padding" takes for real (default: all but three)
    left : int, how many places back the preset "window" sees

    Returns
    -------
    MaskEditor : its ``mask`` and ``row`` can be read and set; ``weights`` and ``output`` follow.

    Raises
    ------
    TypeError, ValueError: an array of another shape, a mask that is not boolean, or too many tokens to press.

    Examples
    --------
    >>> import numpy as np
    >>> from lib.attention import scaled_dot_product_attention
    >>> X = np.eye(3)
    >>> w = mask_editor(["look", "it", "up"], X, X, X, attention=scaled_dot_product_attention)
    >>> w.mask = np.tril(np.ones((3, 3), dtype=bool))
    >>> w.weights[0]
    array([1., 0., 0.])
    """
    n = len(tokens)
    if not 2 <= n <= MOST_TOKENS:
        raise ValueError(f"tokens must be 2 to {MOST_TOKENS}, got {n}: more cells are too small for a finger")
    real = max(1, n - 3) if real is None else real
    _check_between("real", real, 1, n)
    _check_between("left", left, 0, n)
    widths = {name: _as_array(name, x).shape[-1:] for name, x in {"query": query, "key": key}.items()}
    if widths["query"] != widths["key"]:
        raise ValueError(
            f"query and key must share their last axis (d_k), got {widths['query']} and {widths['key']}: project both alike"
        )
    cls = MaskEditor if _is_static() else _LiveMaskEditor
    mask = np.ones((n, n), dtype=bool) if mask is None else mask
    return cls(attention=attention, words=templates("mask"), tokens=list(tokens), query=query, key=key, value=value,
               mask=mask, row=row, real=real, left=left)  # fmt: skip


def _check_between(name, number, low, high):
    if not low <= number <= high:
        raise ValueError(f"{name} must lie between {low} and {high}, got {number}: it counts tokens")
