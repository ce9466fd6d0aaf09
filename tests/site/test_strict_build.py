"""Plain ``jupyter-book build .`` fails on anything that is wrong, says what and where, and goes on failing until it is put right."""

import re

FAULTS = {
    "chapters/raises.ipynb": ("1 / 0", (), "raises.*ZeroDivisionError"),
    "chapters/raises-on-purpose.ipynb": (
        "1 / 0",
        ("raises-exception",),
        "raises-on-purpose.*cell 2 raised ZeroDivisionError",
    ),
    "chapters/warns.ipynb": (
        "import warnings\nwarnings.warn('old')",
        (),
        r"warns.*cell 2 wrote to stderr.*(\n.*)*UserWarning: old",
    ),
    "chapters/hides.ipynb": (
        "import sys\nprint('psst', file=sys.stderr)",
        ("remove-output",),
        "hides.*cell 2 wrote to stderr: psst",
    ),
}
PAGE_FAULTS = {
    "chapters/no-file.md": ("[there](nowhere.ipynb)", "no-file.*nowhere.ipynb"),
    "chapters/no-heading.md": ("[there](../intro.md#nowhere)", "no-heading.*nowhere"),
    "chapters/no-picture.md": ("![a picture](nowhere.png)", "no-picture.*nowhere.png"),
    "chapters/formula.md": (r"$\frac{a$", "formula.md.*formula: .*Unexpected end of input"),
    "chapters/levels.md": ("#### Too deep", "levels.*[Hh]ead(er|ing)"),
    "chapters/role.md": ("{nosuchrole}`x`", "role.*nosuchrole"),
}


def test_a_clean_book_passes_and_says_which_file_to_open(small_book):
    small_book.notebook("chapters/one.ipynb", "print('fine')")
    done = small_book.build()
    assert done.returncode == 0, done.stdout
    assert "_build/html/index.html" in done.stdout
    assert (small_book.folder / "_build/html/index.html").exists()


def test_each_fault_is_reported_and_the_build_fails_until_they_are_gone(small_book):
    for name, (code, tags, _) in FAULTS.items():
        small_book.notebook(name, code, tags=tags)
    for name, (text, _) in PAGE_FAULTS.items():
        small_book.write(name, f"# A page\n\n{text}\n")
    first, second = small_book.build(), small_book.build()
    for done in (first, second):
        assert done.returncode != 0
        for expected in [fault[-1] for fault in (FAULTS | PAGE_FAULTS).values()]:
            assert re.search(expected, done.stdout), f"{expected!r} is not in\n{done.stdout}"
    for name in (*FAULTS, *PAGE_FAULTS):
        (small_book.folder / name).unlink()
    assert small_book.build().returncode == 0


def test_a_kernel_that_dies_fails_the_build_at_once(small_book):
    small_book.notebook("chapters/dies.ipynb", "import os\nos._exit(1)")
    done = small_book.build()
    assert done.returncode != 0 and re.search(r"dies\.ipynb: Executing(.*\n)*.*Kernel died", done.stdout), (
        done.stdout
    )
