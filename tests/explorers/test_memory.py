"""Frames are remembered between builds as long as all that they depend on is unchanged, and no longer."""

import importlib
import sys
import textwrap
import types

import numpy as np
import pytest

from lib.show import frames
from lib.show.frames import fingerprint, packed_frames

DRAWING = """
import numpy as np
from {name}_helper import LENGTH, measure

def draw(fig, n):
    DRAWN.append(n)
    fig.subplots().bar([0], [measure(n)])
    return f"A bar of {{measure(n)}}, {{LENGTH}}."

DRAWN = []
"""
HELPER = "LENGTH = 3\n\ndef measure(n):\n    return 2 * n\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A module that draws and one that it imports, in a folder of their own; call it to write and load them again."""
    folder = tmp_path / "code"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    name = f"drawing_{tmp_path.name.replace('-', '_')}"

    def load(drawing=DRAWING, helper=HELPER):
        (folder / f"{name}_helper.py").write_text(helper)
        (folder / f"{name}.py").write_text(drawing.format(name=name))
        for module in (name, f"{name}_helper"):
            sys.modules.pop(module, None)
        importlib.invalidate_caches()
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            return importlib.import_module(name)
        finally:
            sys.dont_write_bytecode = before

    load.folder = folder
    yield load
    for module in (name, f"{name}_helper"):
        sys.modules.pop(module, None)


SETTINGS = [{"n": 1}, {"n": 2}]


def drawn(module, folder, height=2.6, settings=SETTINGS):
    """Return the frames, and how many had to be drawn."""
    before = len(module.DRAWN)
    data = packed_frames(module.draw, height, settings, folder.parent / "frames")
    return data, len(module.DRAWN) - before


def test_what_has_not_changed_is_not_drawn_again(project):
    first, count = drawn(project(), project.folder)
    again, none = drawn(project(), project.folder)
    assert (count, none) == (2, 0) and first == again
    assert first["sentences"] == ["A bar of 2, 3.", "A bar of 4, 3."]


@pytest.mark.parametrize(
    "change",
    [
        {"drawing": DRAWING.replace("A bar", "One bar")},
        {"helper": HELPER.replace("2 * n", "3 * n")},
        {"helper": HELPER.replace("LENGTH = 3", "LENGTH = 4")},
    ],
)
def test_a_change_in_the_function_or_in_what_it_imports_is_noticed(project, change):
    drawn(project(), project.folder)
    assert drawn(project(**change), project.folder)[1] == 2


def test_other_settings_another_size_data_and_language_are_noticed(project, monkeypatch):
    module = project()
    drawn(module, project.folder)
    assert drawn(module, project.folder, settings=[{"n": 1}, {"n": 3}])[1] == 2
    assert drawn(module, project.folder, height=3)[1] == 2
    (project.folder / "data.csv").write_text("1,2")
    assert drawn(module, project.folder)[1] == 2
    monkeypatch.setenv("LOOK_IT_UP_LANGUAGE", "zh")
    assert drawn(module, project.folder)[1] == 2


def test_a_change_of_the_drawing_code_is_noticed(project, monkeypatch):
    module = project()
    before = fingerprint(module.draw, 2.6, SETTINGS)
    original = frames._module_bytes
    monkeypatch.setattr(frames, "_module_bytes", lambda m: original(m) + b"#" * (m.__name__ == "lib.show.svg"))
    assert fingerprint(module.draw, 2.6, SETTINGS) != before


def test_another_version_of_a_package_is_noticed(project, monkeypatch):
    module = project()
    before = fingerprint(module.draw, 2.6, SETTINGS)
    monkeypatch.setattr(np, "__version__", "0.1")
    assert fingerprint(module.draw, 2.6, SETTINGS) != before


def test_a_file_that_was_cut_off_is_drawn_again(project):
    module = project()
    drawn(module, project.folder)
    (kept,) = (project.folder.parent / "frames").glob("*.json")
    kept.write_text(kept.read_text()[:50])
    assert drawn(module, project.folder)[1] == 2


# A function that was written in a notebook


def notebook(source, monkeypatch, **names):
    """Run a cell as a kernel does: in __main__, with its text where `inspect` looks for it."""
    import linecache

    source = textwrap.dedent(source)
    main = types.ModuleType("__main__")
    main.__dict__.update(names)
    file = f"<cell {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), main.__dict__)
    return main.draw


CELL = """
    def double(n):
        return 2 * n

    def draw(fig, n):
        return f"{double(n)} of {data.sum()}."
"""


def test_in_a_notebook_the_text_the_functions_called_and_the_data_count(monkeypatch):
    def of(cell, data):
        return fingerprint(notebook(cell, monkeypatch, data=data), 2.6, SETTINGS)

    data = np.arange(3)
    key = of(CELL, data)
    assert key and key == of(CELL, data.copy())
    assert of(CELL.replace("of {", "from {"), data) != key
    assert of(CELL.replace("2 * n", "3 * n"), data) != key
    assert of(CELL, data + 1) != key


def test_what_cannot_be_known_is_not_remembered(monkeypatch, tmp_path):
    draw = notebook(CELL, monkeypatch, data=(n for n in range(3)))
    assert fingerprint(draw, 2.6, SETTINGS) is None
