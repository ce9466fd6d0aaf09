"""Run submissions ahead of nbgrader, one on each core, while nbgrader keeps its books one by one.

nbgrader grades strictly one after the other, and its gradebook wants a single writer. Only the running of the code is
slow, and it needs no gradebook: so it is started here a few submissions ahead, and `run` finds it done.
"""

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from grading import execute

COURSE = None  # the course folder, which no submission may see; set by exercises/nbgrader_config.py
_started = {}


def run(student, cells, limits, sandboxed):
    """The `execute.Run` of these cells: the one that was started ahead if there is one, else a new one, now."""
    future = _started.pop((student, *cells), None)
    return future.result() if future else execute.run(cells, COURSE, limits, sandboxed)


@contextmanager
def running(jobs, limits, sandboxed, workers=None):
    """Keep the next jobs running. ``jobs`` yields (student, cells); call the returned function once for each student."""
    workers = workers or os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        waiting = iter(jobs)
        window = deque()

        def advance():
            """Start what fits into the window: enough to keep every core busy, few enough to stay small."""
            while len(window) < workers + 1:
                job = next(waiting, None)
                if job is None:
                    break
                student, cells = job
                _started[student, *cells] = pool.submit(execute.run, cells, COURSE, limits, sandboxed)
                window.append(student)
            if window:
                window.popleft()

        try:
            yield advance
        finally:
            _started.clear()
