"""The frames of an explorer: drawn one by one, packed for the page, and remembered from one build to the next.

Where it stands: under `explore.py`, above `svg.py`; it knows nothing of attention. A frame is the picture and the
sentence for one setting of the controls. Frames of one explorer share most of their lines (axes, labels), so that
a page holds each distinct line once.

Between builds the frames are kept in a folder, under a name that is made of all that they depend on: the draw
function and what it calls, the drawing code, the versions of the packages, the controls. What has not changed is
not drawn again.
"""

import ast
import contextlib
import hashlib
import importlib.util
import inspect
import json
import os
import pickle
import sys
import sysconfig
from pathlib import Path
from types import FunctionType, ModuleType
from typing import NamedTuple

import matplotlib

from lib.show import svg


class Frame(NamedTuple):
    """One setting of the controls: the picture as SVG, and the sentence that says what it shows."""

    svg: str
    sentence: str


class DrawError(RuntimeError):
    """A draw function failed, or returned no sentence; the message says at which setting."""


def draw_frame(draw, height, values):
    """Draw one frame: call ``draw(fig, **values)`` on an empty figure.

    Raises DrawError, in one line, if it fails or does not return a sentence.
    """
    at = f"{draw.__name__} at {', '.join(f'{name}={value!r}' for name, value in values.items())}"
    try:
        with matplotlib.rc_context(svg.STYLE):
            fig = svg.empty_figure(height)
            sentence = draw(fig, **values)
            place_no_labels(fig)
            picture = svg.to_svg(fig)
    except Exception as error:
        raise DrawError(f"{at} failed with {type(error).__name__}: {' '.join(str(error).split())}") from error
    if not isinstance(sentence, str) or not sentence.strip():
        raise DrawError(
            f"{at} returned {sentence!r}: end it with 'return' and one sentence on what the picture shows"
        )
    return Frame(picture, " ".join(sentence.split()))


def place_no_labels(fig):
    """Give axes without a label a place for it: to find one, matplotlib would measure every tick."""
    for axis in (axis for ax in fig.axes for axis in (ax.xaxis, ax.yaxis)):
        if not axis.get_label_text():
            axis.set_label_coords(0.5, 0.5)


def pack(frames):
    """Return the frames as data for a page: the distinct lines, and for each frame which of them it has.

    A frame's lines are runs: ``[3, 5]`` stands for the five lines from number 3 on.

    >>> pack([Frame("a\\nb", "One."), Frame("a\\nc", "Two.")])
    {'lines': ['a', 'b', 'c'], 'frames': [[0, 2], [0, 1, 2, 1]], 'sentences': ['One.', 'Two.']}
    """
    numbers, packed = {}, []
    for frame in frames:
        runs = []
        for number in (numbers.setdefault(line, len(numbers)) for line in frame.svg.split("\n")):
            if runs and sum(runs[-2:]) == number:
                runs[-1] += 1
            else:
                runs += [number, 1]
        packed.append(runs)
    return {"lines": list(numbers), "frames": packed, "sentences": [frame.sentence for frame in frames]}


def unpack(data, number):
    """Return one frame of `pack`'s data.

    >>> unpack(pack([Frame("a\\nb", "One."), Frame("a\\nc", "Two.")]), 1)
    Frame(svg='a\\nc', sentence='Two.')
    """
    runs = data["frames"][number]
    lines = [
        line
        for at, count in zip(runs[::2], runs[1::2], strict=True)
        for line in data["lines"][at : at + count]
    ]
    return Frame("\n".join(lines), data["sentences"][number])


def packed_frames(draw, height, settings, folder=None):
    """Return `pack` of the frames for all ``settings``, from the folder if it remembers them."""
    key = fingerprint(draw, height, settings) if folder else None
    kept = key and Path(folder) / f"{key}.json"
    if kept and kept.is_file():
        kept.touch()  # the build forgets what no build has asked for in a month
        with contextlib.suppress(json.JSONDecodeError):  # a file that was cut off is drawn again
            return json.loads(kept.read_text(encoding="utf-8"))
    data = pack([draw_frame(draw, height, values) for values in settings])
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        half = kept.with_suffix(f".{os.getpid()}")  # another process sees the whole file or none
        half.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
        half.replace(kept)
    return data


# What frames depend on


def fingerprint(draw, height, settings):
    """Return a hash of all that the frames depend on, or None if that cannot be known."""
    try:
        parts = used_by(draw) | used_by(svg.to_svg) | used_by(draw_frame)
        parts["settings"] = pickle.dumps((height, settings))
    except (pickle.PicklingError, AttributeError, TypeError, OSError):
        return None  # something without a source or without a fixed form: then the frames are drawn again
    words = {name: value for name, value in os.environ.items() if name.startswith("LOOK_IT_UP_")}
    parts["words"] = repr(sorted(words.items())).encode()
    parts["python"] = sys.version.encode()
    return hashlib.sha256(
        b"".join(hashlib.sha256(parts[name]).digest() for name in sorted(parts))
    ).hexdigest()[:32]


def used_by(thing):
    """Return ``{name: bytes}`` of the code and the data that a function or another value stands for.

    A function of a module stands for the module, the modules that this imports and the data beside them; of an
    installed package only the version counts. A function of a notebook stands for its text, its closure and the
    global names in it.
    """
    parts, waiting = {}, [("", thing)]
    while waiting:
        name, thing = waiting.pop()
        module = (
            thing
            if isinstance(thing, ModuleType)
            else sys.modules.get(getattr(thing, "__module__", None) or "")
        )
        if isinstance(module, ModuleType) and _is_ours(module):
            name, found, more = module.__name__, _module_bytes(module), _imports(module)
        elif isinstance(thing, FunctionType) and thing.__module__ in ("__main__", None):
            name, found, more = thing.__qualname__, inspect.getsource(thing).encode(), _names(thing)
        elif module is not None and module.__name__ != "__main__":
            package = sys.modules.get(module.__name__.partition(".")[0], module)
            name, found, more = package.__name__, str(getattr(package, "__version__", "")).encode(), []
        else:
            found, more = pickle.dumps(thing), [] if isinstance(thing, type) else [("", type(thing))]
            if isinstance(thing, type) and thing.__module__ == "__main__":
                raise TypeError(f"{thing.__name__} is a class of the notebook: its code cannot be found")
        if (name, found) not in parts.items():
            parts[name] = found
            waiting += more
    return parts


def _is_ours(module):
    """Return whether a module is the project's: neither Python's own nor installed."""
    file = getattr(module, "__file__", None)
    installed = {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return bool(file) and not any(Path(file).is_relative_to(folder) for folder in installed)


def _module_bytes(module):
    """Return a module's code, and the data beside it."""
    file = Path(module.__file__)
    data = [path for path in sorted(file.parent.iterdir()) if path.is_file() and path.suffix not in NOT_DATA]
    return b"\0".join(path.read_bytes() for path in [file, *data])


NOT_DATA = {".py", ".pyc", ".ipynb", ".md", ".css", ".js"}  # the page's own scripts are no part of a frame


def _imports(module):
    """Return the loaded modules that a module's code names in its imports."""
    names = set()
    for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(base, module.__package__) if node.level else base
            names.update({base, *(f"{base}.{alias.name}" for alias in node.names)})
    return [(name, sys.modules[name]) for name in names if name in sys.modules]


def _names(function):
    """Return the values that a function's code can reach: its globals, its closure, its defaults."""
    found, codes = {}, [function.__code__]
    while codes:
        code = codes.pop()
        codes += [const for const in code.co_consts if inspect.iscode(const)]
        found |= {name: function.__globals__[name] for name in code.co_names if name in function.__globals__}
    closure = inspect.getclosurevars(function).nonlocals
    return [*found.items(), *closure.items(), ("defaults", (function.__defaults__, function.__kwdefaults__))]
