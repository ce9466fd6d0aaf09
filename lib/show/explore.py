"""Explorers: one definition, two lives. With a kernel they are widgets, on the built page they need none.

    def picture(fig, d_k, scaled):
        ax = fig.subplots()
        ...
        return f"With d_k = {d_k} the largest weight is {largest:.2f}."

    explore(
        picture,
        question="From which d_k on does one key take everything?",
        d_k=slider("d_k", [1, 4, 16, 64], 16),
        scaled=switch("divide by √d_k", True),
    )

``picture`` draws into an empty matplotlib figure and returns one sentence that says what is to be seen: it
stands under the picture, it is the alternative text, and a screen reader announces it.

Where it stands: above `frames.py` and `svg.py`; it knows nothing of attention. The build of the book sets
``LOOK_IT_UP_FRAMES`` for the kernels that it starts (see ``sphinx_ext/explorers.py``): then every frame is drawn
and put into the page, with plain HTML controls. The page's own script, ``static/explore.js``, swaps frames.
"""

import asyncio
import contextlib
import html
import inspect
import itertools
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real

from lib.show.frames import DrawError, draw_frame, packed_frames, unpack
from lib.show.words import word

__all__ = ["choice", "explore", "slider", "switch"]

FRAMES_FOLDER = "LOOK_IT_UP_FRAMES"  # set while the book is built: where frames are remembered
MOST_FRAMES = (
    400  # every combination of options is a frame of the page: about 1 kB and a tenth of a second each
)


@dataclass(frozen=True)
class Control:
    """What a reader moves: its kind, its name on the page, its options and the option at the start."""

    kind: str
    label: str
    names: tuple
    values: tuple
    start: int


def slider(label, options, default=None):
    """Return a slider over a few options in order, numbers mostly.

    Parameters
    ----------
    label : the words beside it
    options : the values that it takes; or a dictionary ``{name on the page: value}``
    default : the value at the start, by default the first

    >>> slider("d_k", [1, 4, 16], 4).start
    1
    """
    return _control("slider", label, options, default)


def choice(label, options, default=None):
    """Return a choice of one among a few options that stand side by side; parameters as for `slider`.

    >>> choice("mask", {"none": None, "causal": "causal"}).names
    ('none', 'causal')
    """
    return _control("choice", label, options, default)


def switch(label, default=False):
    """Return something that is on or off: ``draw`` gets True or False.

    >>> switch("divide by √d_k", True).values
    (False, True)
    """
    if not isinstance(default, bool):
        raise TypeError(
            f"the default of switch {label!r} must be True or False, got {default!r}: it is on or off"
        )
    return _control("switch", label, {word("explorer.off"): False, word("explorer.on"): True}, default)


def explore(draw, *, question=None, height=2.6, **controls):
    """Return a picture that the reader moves; the last line of a cell shows it.

    Parameters
    ----------
    draw : a function ``draw(fig, **values)`` that draws into an empty Figure and returns one sentence
    question : what is to be found out by moving it; it stands above the controls
    height : of the picture, in inches; it is 5 wide
    controls : a `slider`, `choice` or `switch` for each of ``draw``'s parameters, by its name

    Raises
    ------
    TypeError, ValueError : controls that do not fit, in one line that says which
    DrawError : ``draw`` failed or returned no sentence, and at which setting
    """
    return Explorer(draw, question, height, controls)


class Explorer:
    """What `explore` returns."""

    numbers = itertools.count(1)

    def __init__(self, draw, question, height, controls):
        """Check everything that can be checked at once, and draw the frame of the start."""
        _check(draw, question, height, controls)
        self.draw, self.question, self.height, self.controls = draw, question, height, controls
        self.seen = {}
        self.frame(self.start)

    @property
    def start(self):
        """The options at the start, by number."""
        return tuple(control.start for control in self.controls.values())

    @property
    def settings(self):
        """All combinations of the options, by number; the last control changes fastest."""
        return list(itertools.product(*(range(len(control.values)) for control in self.controls.values())))

    def values(self, setting):
        """Return ``draw``'s arguments for a setting."""
        pairs = zip(self.controls.items(), setting, strict=True)
        return {name: control.values[number] for (name, control), number in pairs}

    def frame(self, setting):
        """Return the frame for a setting, drawn when it is asked for the first time."""
        if setting not in self.seen:
            self.seen[setting] = draw_frame(self.draw, self.height, self.values(setting))
        return self.seen[setting]

    def neighbours(self, setting):
        """Return the settings that differ from this one in one control, the nearest first."""
        moves = [s for s in self.settings if sum(a != b for a, b in zip(s, setting, strict=True)) == 1]
        return sorted(moves, key=lambda s: sum(abs(a - b) for a, b in zip(s, setting, strict=True)))

    def __repr__(self):
        """Return what it is, for where nothing can be shown."""
        labels = ", ".join(control.label for control in self.controls.values())
        return word("explorer.plain", question=self.question or self.draw.__name__, controls=labels)

    def _repr_mimebundle_(self, include=None, exclude=None):
        if FRAMES_FOLDER in os.environ:
            return {"text/html": self.page(os.environ[FRAMES_FOLDER]), "text/plain": repr(self)}
        bundle = self.widget()._repr_mimebundle_()
        data, *_ = bundle if isinstance(bundle, tuple) else (bundle,)
        return {**data, "text/plain": repr(self)}

    # With a kernel

    def widget(self):
        """Return ipywidgets: the controls, the picture and its sentence."""
        import ipywidgets  # the built page needs none

        handles = [_handle(ipywidgets, control) for control in self.controls.values()]
        view, says, ahead = ipywidgets.HTML(), ipywidgets.HTML(), Ahead(self)

        def show(change=None):
            setting = tuple(int(handle.value) for handle in handles)
            try:
                frame = self.frame(setting)
            except DrawError as error:
                says.value = f'<p role="alert">{html.escape(str(error))}</p>'
                return
            view.value = f'<div class="lu-view">{frame.svg}</div>'
            says.value = f'<p role="status">{html.escape(frame.sentence)}</p>'

            ahead.start(setting)

        for handle in handles:
            handle.observe(show, "value")
        show()
        question = ipywidgets.HTML(f"<p><strong>{html.escape(self.question or '')}</strong></p>")
        box = ipywidgets.VBox([*([question] if self.question else []), *handles, view, says])
        box.add_class("lu-explorer")
        return box

    # Without one

    def page(self, folder=None):
        """Return HTML with all the frames, remembered in ``folder`` from one build to the next."""
        settings = self.settings
        data = packed_frames(self.draw, self.height, [self.values(s) for s in settings], folder or None)
        frame = unpack(data, settings.index(self.start))
        name = f"lu-explorer-{next(self.numbers)}"
        controls = "".join(_html(f"{name}-{key}", control) for key, control in self.controls.items())
        data["options"] = [control.names for control in self.controls.values()]
        asked = (
            f'<p class="lu-question" id="{name}-question">{html.escape(self.question)}</p>'
            if self.question
            else ""
        )
        label = f'aria-labelledby="{name}-question"' if asked else f'aria-label="{html.escape(repr(self))}"'
        return (
            f'<div class="lu-explorer" role="group" {label}>{asked}'
            f'<form class="lu-controls" hidden>{controls}</form>'
            f'<div class="lu-view" role="img" aria-labelledby="{name}-says">{frame.svg}</div>'
            f'<p class="lu-says" id="{name}-says" aria-live="polite">{html.escape(frame.sentence)}</p>'
            f'<noscript><p class="lu-note">{html.escape(word("explorer.no_script"))}</p></noscript>'
            f'<script type="application/json">{_json(data)}</script></div>'
        )


class Ahead:
    """Draws what is one move away while the kernel has nothing to do, so that the next move shows at once."""

    PAUSE = 0.3  # seconds without a move: whoever is moving must not wait for a frame that nobody asked for

    def __init__(self, explorer):
        """Take the explorer whose frames are to be drawn."""
        self.explorer, self.timer, self.waiting = explorer, None, []

    def start(self, setting):
        """Begin at a setting, and forget the one before."""
        if self.timer:
            self.timer.cancel()
        self.waiting = self.explorer.neighbours(setting)
        try:
            self.timer = asyncio.get_running_loop().call_later(self.PAUSE, self.step)
        except RuntimeError:  # no kernel's loop here: frames are drawn when they are asked for
            self.timer = None

    def step(self):
        """Draw one frame, and let the kernel do other things before the next."""
        setting = next((s for s in self.waiting if s not in self.explorer.seen), None)
        if setting is None:
            return
        self.waiting.remove(setting)
        with contextlib.suppress(DrawError):  # said when the reader gets there
            self.explorer.frame(setting)
        self.timer = asyncio.get_running_loop().call_later(0.01, self.step)


# Controls


def _control(kind, label, options, default):
    """Return a control whose options are sure to be usable, or say in one line what is wrong with them."""
    if not isinstance(label, str) or not label.strip():
        raise ValueError(
            f"the label of a {kind} must be words, got {label!r}: a reader has to know what it moves"
        )
    if isinstance(options, str) or not hasattr(options, "__iter__"):
        raise TypeError(
            f"the options of {kind} {label!r} must be a list or a dictionary, got {options!r}: list them"
        )
    pairs = options.items() if isinstance(options, Mapping) else [(str(value), value) for value in options]
    names, values = zip(*pairs, strict=True) if len(pairs) else ((), ())
    if len(values) < 2:
        raise ValueError(
            f"{kind} {label!r} must have at least 2 options, got {len(values)}: nothing would move"
        )
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        if name in names[:i] or any(_same(value, other) for other in values[:i]):
            raise ValueError(f"{kind} {label!r} has the option {name!r} twice: leave one out")
    if default is None:
        return Control(kind, label, names, values, 0)
    start = next((i for i, value in enumerate(values) if _same(value, default)), None)
    if start is None:
        listed = ", ".join(names)
        raise ValueError(f"the default of {kind} {label!r} must be one of {listed}; got {default!r}")
    return Control(kind, label, names, values, start)


def _same(a, b):
    try:
        return a is b or bool(a == b)
    except ValueError:  # arrays: they have no one answer
        return False


def _check(draw, question, height, controls):
    """Say in one line what is wrong with the arguments of `explore`."""
    if not callable(draw):
        raise TypeError(f"draw must be a function, got {type(draw).__name__}: pass it without calling it")
    if not isinstance(height, Real) or isinstance(height, bool) or not 0.5 <= height <= 12:
        raise ValueError(
            f"height must be a number of inches from 0.5 to 12, got {height!r}: the picture is 5 wide"
        )
    if question is not None and not isinstance(question, str):
        raise TypeError(
            f"question must be a sentence, got {type(question).__name__}: give the control another name"
        )
    if not controls:
        raise ValueError(
            "explore needs at least one control: give a slider, a choice or a switch by draw's name for it"
        )
    for name, control in controls.items():
        if not isinstance(control, Control):
            raise TypeError(
                f"{name} must be a slider, a choice or a switch, got {type(control).__name__}: "
                "wrap its options"
            )
    try:
        inspect.signature(draw).bind(None, **controls)
    except TypeError as error:
        got = ", ".join(controls)
        raise TypeError(
            f"{draw.__name__} does not take (fig, {got}): {error}; name each control as draw does"
        ) from None
    count = math.prod(len(control.values) for control in controls.values())
    if count > MOST_FRAMES:
        sizes = " × ".join(f"{len(control.values)} {name}" for name, control in controls.items())
        raise ValueError(
            f"{count} combinations ({sizes}) are more than {MOST_FRAMES}: give a control fewer options"
        )


def _handle(ipywidgets, control):
    """Return the ipywidget for a control; its value is the number of the option."""
    if control.kind == "switch":
        return ipywidgets.Checkbox(value=bool(control.start), description=control.label, indent=False)
    kind = {"slider": ipywidgets.SelectionSlider, "choice": ipywidgets.ToggleButtons}[control.kind]
    return kind(
        options=[(name, number) for number, name in enumerate(control.names)],
        value=control.start,
        description=control.label,
        style={"description_width": "initial"},
    )


def _html(name, control):
    """Return the HTML for a control; its value is the number of the option."""
    label, count = html.escape(control.label), len(control.names)
    if control.kind == "slider":
        start = html.escape(control.names[control.start])
        return (
            f'<div class="lu-control"><label for="{name}">{label}</label>'
            f'<input type="range" id="{name}" max="{count - 1}" value="{control.start}" '
            f'aria-valuetext="{start}">'
            f'<output for="{name}">{start}</output></div>'
        )
    checked = ["", " checked"]
    if control.kind == "switch":
        box = f'<input type="checkbox" id="{name}" role="switch"{checked[control.start]}>'
        return f'<div class="lu-control"><label>{box} {label}</label></div>'
    buttons = "".join(
        f'<label><input type="radio" name="{name}" value="{i}"{checked[i == control.start]}> '
        f"{html.escape(option)}</label>"
        for i, option in enumerate(control.names)
    )
    return f'<fieldset class="lu-control"><legend>{label}</legend>{buttons}</fieldset>'


def _json(data):
    """Return data as JSON that may stand in a page: nothing in it can end the element that it stands in."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("</", "<\\/").replace("<!--", "\\u003c!--")
