"""Run the cells of one submission, and come back with outputs whatever they do.

Where it stands: it starts `grading.runner` through `grading.sandbox` and listens. A cell that ends its
process, or hangs and cannot be interrupted, is left out, with the reason as its output, and the others
are run again without it.
"""

import json
import queue
import tempfile
import threading
import time
from dataclasses import dataclass, field

from grading import sandbox

LINE_LIMIT = 8 * 2**20  # bytes that the report of one cell may have
GRACE = 8  # seconds between a cell's own alarm and the end of our patience, on a busy machine
READER = "reads what the runner says"
START = 60  # seconds that Python and numpy may take to start on a busy machine


@dataclass(frozen=True)
class Cell:
    """A code cell. ``kind`` is "answer" (of the student), "given" (locked, by the instructor) or "check"."""

    name: str
    kind: str
    source: str


@dataclass
class Run:
    """What came out: outputs for each cell, in order, and notes for the instructor and the student."""

    outputs: list = field(default_factory=list)
    notes: list = field(default_factory=list)


class NoStart(Exception):
    """The process that should run the cells did not come up: no fault of the student."""


def run(cells, course, limits, sandboxed=True):
    """Execute the cells in order, as often as it takes, and return a `Run`."""
    result, left_out = Run(outputs=[None] * len(cells)), {}
    seconds = limits.total_seconds  # for all attempts together; starting Python does not count
    while seconds > 0:
        broke, used = _attempt(cells, left_out, result.outputs, course, limits, sandboxed, seconds)
        if broke is None:
            break
        seconds -= used
        index, reason = broke
        left_out[index] = reason
        result.outputs[index] = [_stopped(reason)]
    _note(cells, left_out, result, limits)
    return result


def _note(cells, left_out, result, limits):
    """Say what was left out, and let no cell pass because it never ran."""
    for index, cell in enumerate(cells):
        if index in left_out:
            result.notes.append(f"{cell.name} was left out: {left_out[index]}")
        elif result.outputs[index] is None:
            result.outputs[index] = [
                _stopped(f"the {limits.total_seconds} seconds for this submission were used up")
            ]
        elif any(output.get("ename") == "CellTimeout" for output in result.outputs[index]):
            result.notes.append(f"{cell.name} ran longer than {limits.cell_seconds} seconds and was stopped")


def _stopped(reason):
    return {"output_type": "error", "ename": "Stopped", "evalue": reason, "traceback": [f"Stopped: {reason}"]}


def _attempt(cells, left_out, outputs, course, limits, sandboxed, seconds):
    """Run what is not left out, filling ``outputs``.

    Return the cell that broke the run and why, or None if none did; and the seconds that were used.
    """
    job = {
        "limits": limits.for_runner(),
        "cells": [{"kind": c.kind, "source": c.source, "skip": i in left_out} for i, c in enumerate(cells)],
    }
    with (
        tempfile.TemporaryDirectory(prefix="grading-") as scratch,
        _Listener(course, limits, sandboxed, scratch) as process,
    ):
        process.send(job)
        if process.next(START) != {"ready": True}:
            why = sandbox.missing() or "try it again"
            raise NoStart(f"the process for submitted code did not start: {why}")
        started = time.monotonic()
        broke = _listen(process, cells, left_out, outputs, limits.cell_seconds + GRACE, started + seconds)
        return broke, time.monotonic() - started


def _listen(process, cells, left_out, outputs, cell_seconds, deadline):
    """Take one message for each cell that runs."""
    for index in range(len(cells)):
        if index in left_out:
            continue
        message = process.next(max(min(cell_seconds, deadline - time.monotonic()), 0.1))
        if message == "silence":
            return index, "it could not be stopped in time"
        if not isinstance(message, dict) or message.get("cell") != index:
            return index, "it ended the Python process (exit, crash or memory)"
        outputs[index] = message["outputs"]
    return None


class _Listener:
    """The runner's process, with a thread that turns its lines into a queue (pipes know no time limit
    everywhere)."""

    def __init__(self, course, limits, sandboxed, scratch):
        self.process = sandbox.start(course, limits, sandboxed, scratch)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, name=READER, daemon=True)
        self.reader.start()

    def _read(self):
        # LINE_LIMIT and the queue's reader together keep a flood from filling our memory
        for line in iter(lambda: self.process.stdout.readline(LINE_LIMIT), b""):
            self.lines.put(line)
            if not line.endswith(b"\n") or self.lines.qsize() > 1000:
                break
        self.lines.put(b"")

    def send(self, job):
        try:
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it is gone already; `next` will say so

    def next(self, seconds):
        """The next message; "silence" if none came in time, None if the process has ended or talks
        nonsense."""
        try:
            return json.loads(self.lines.get(timeout=seconds))
        except queue.Empty:
            return "silence"
        except ValueError:
            return None

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.process.kill()  # with bubblewrap, this ends everything inside
        self.process.wait()
        self.reader.join(GRACE)  # a pipe must not be closed under its reader, who now comes to its end
        self.process.stdin.close()
        self.process.stdout.close()
