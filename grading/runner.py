"""The one file that runs beside submitted code: it executes a notebook's cells and reports what each one
gave.

Started by `grading.sandbox` as a plain script, inside the sandbox. It imports nothing of ours, because
nothing of ours can be seen from there. It reads one JSON line, the job, and writes one JSON line for each
cell that has ended.

Answers run in IPython, as in Jupyter. Checks run as plain Python in a copy of the student's names, after
numpy and the builtins have been put back: whatever a submission did to them, the check sees the real
ones.
"""

import builtins
import contextlib
import io
import json
import os
import re
import signal
import sys
import traceback
import warnings

import numpy as np
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

TEXT_LIMIT = 20_000  # characters of printed text that are kept of one cell
ANSI_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class CellTimeout(BaseException):
    """A cell ran out of time. Not an Exception, so that ``except Exception`` in a loop does not swallow
    it."""


class LimitedText(io.StringIO):
    """Keeps the beginning of what is printed and forgets the rest."""

    room = TEXT_LIMIT

    def write(self, text):
        """Keep what still fits."""
        if self.room > 0:
            self.room -= super().write(text[: self.room])
        return len(text)


def set_limits(limits):
    """Limit this process for good: memory, file size, processor time. Windows has no such limits."""
    try:
        import resource
    except ImportError:
        return
    for name, value in (
        ("RLIMIT_AS", limits["memory_bytes"]),
        ("RLIMIT_FSIZE", limits["file_bytes"]),
        ("RLIMIT_CPU", limits["cpu_seconds"]),
        ("RLIMIT_CORE", 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # macOS knows no RLIMIT_AS
            resource.setrlimit(getattr(resource, name), (value, value))


@contextlib.contextmanager
def alarm(seconds):
    """Raise CellTimeout in the main thread after some seconds; where there is no alarm, the parent's
    clock rules."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(signum, frame):
        raise CellTimeout(f"it ran longer than {seconds} seconds")

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)  # again every half second, in case it was swallowed
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Notebook:
    """The state of one running notebook: its names, and how the modules looked before any submitted code."""

    def __init__(self):
        """Start IPython and remember how everything looks now."""
        config = Config()
        config.HistoryManager.enabled = False
        self.shell = InteractiveShell.instance(config=config)
        self.shell._showtraceback = self.keep_error
        sys.modules["__main__"] = self.shell.user_module
        sys.modules["lib"] = None  # the course's own library is no answer
        self.names = self.shell.user_ns
        self.own_names = set(self.names)
        self.given = {}  # names that the instructor's locked cells defined
        self.errors = []
        self.pristine = {
            module: dict(vars(module))
            for name, module in list(sys.modules.items())
            if module is not None and name.partition(".")[0] in ("builtins", "math", "numpy")
        }

    def keep_error(self, kind, value, lines):
        """Take an error down instead of printing it."""
        self.errors.append(
            error(kind.__name__, str(value), [ANSI_COLOURS.sub("", str(line)) for line in lines])
        )

    def put_back(self):
        """Undo what submitted code did to the builtins, math and numpy."""
        for module, kept in self.pristine.items():
            now = vars(module)
            for name, value in kept.items():
                if now.get(name) is not value:
                    now[name] = value
        sys.settrace(None)
        sys.setprofile(None)

    def names_for_checks(self):
        """The student's names, without those that hide a builtin, and with the instructor's as they were."""
        hiding = {n for n in self.names if hasattr(builtins, n) and n not in self.own_names}
        return {n: v for n, v in self.names.items() if n not in hiding} | self.given

    def run_answer(self, source):
        """Run a cell of the student in IPython, and return what it displayed."""
        self.shell.display_pub = CapturingDisplayPublisher()
        self.shell.run_cell(source)
        return [shown(item) for item in self.shell.display_pub.outputs]

    def run_given(self, source):
        """Run a locked cell of the instructor's, and remember the names that it defined."""
        before = dict(self.names)
        exec(compile(source, "<given>", "exec"), self.names)
        self.given |= {
            n: v for n, v in self.names.items() if before.get(n) is not v and not n.startswith("__")
        }

    def run_check(self, source):
        """Run a check in a copy of the names; a warning is no failure."""
        self.put_back()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            exec(compile(source, "<check>", "exec"), self.names_for_checks())

    def run(self, cell, seconds):
        """Run one cell and return its outputs, in the notebook format's words."""
        self.errors, shown_items, printed = [], [], LimitedText()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            try:
                with alarm(seconds):
                    if cell["kind"] == "answer":
                        shown_items = self.run_answer(cell["source"])
                    elif cell["kind"] == "given":
                        self.run_given(cell["source"])
                    else:
                        self.run_check(cell["source"])
            except BaseException as problem:  # SystemExit and CellTimeout, too
                lines = traceback.format_exception_only(problem)
                self.keep_error(type(problem), problem, lines)
        text = ANSI_COLOURS.sub("", printed.getvalue())
        stream = [{"output_type": "stream", "name": "stdout", "text": text}] if text else []
        return stream + shown_items + self.errors[:1]


def error(kind, value, lines):
    """An error in the notebook format's words."""
    return {
        "output_type": "error",
        "ename": kind,
        "evalue": value[:2000],
        "traceback": [ln[:4000] for ln in lines][-30:],
    }


def shown(item):
    """A displayed thing as text, or as a picture; never as HTML or script, which an instructor's browser
    would run."""
    data = item["data"] if isinstance(item, dict) else item.data
    kept = {kind: str(data[kind])[:1_000_000] for kind in ("text/plain", "image/png") if kind in data}
    kept["text/plain"] = kept.get("text/plain", "")[:TEXT_LIMIT]
    return {"output_type": "display_data", "data": kept, "metadata": {}}


def main():
    """Read the job, run its cells, report each."""
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    job = json.loads(sys.stdin.readline())
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    set_limits(job["limits"])
    notebook = Notebook()

    def say(message):
        report.write(json.dumps(message) + "\n")
        report.flush()

    say({"ready": True})
    for index, cell in enumerate(job["cells"]):
        if cell["skip"]:
            continue
        say({"cell": index, "outputs": notebook.run(cell, job["limits"]["cell_seconds"])})
    os._exit(0)  # no threads, exit handlers or destructors of the submission


if __name__ == "__main__":
    main()
