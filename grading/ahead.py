"""Run submissions ahead of nbgrader, one on each core, while nbgrader keeps its books one by one.

nbgrader grades strictly one after the other, and its gradebook wants a single writer. Only the running of
the code is slow, and it needs no gradebook: so it is started here a few submissions ahead, and `run`
finds it done.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice

from grading import execute

COURSE = None  # the course folder, which no submission may see; set by exercises/nbgrader_config.py
_started = {}


def run(student, cells, limits):
    """The `execute.Run` of these cells: the one that was started ahead if there is one, else a new one,
    now."""
    future = _started.pop((student, *cells), None)
    return future.result() if future else execute.run(cells, COURSE, limits)


@contextmanager
def running(jobs, limits, workers=None):
    """Keep the next few jobs running while the body of the ``with`` statement uses up one after the other.

    ``jobs`` yields (student, cells). The body calls the returned function each time it turns to the next
    student.
    """
    workers = workers or os.cpu_count() or 1
    waiting = iter(jobs)

    with ThreadPoolExecutor(workers) as pool:

        def advance():
            # one more than there are cores: enough to keep them busy, few enough to stay small in a class
            # of 200
            for student, cells in islice(waiting, workers + 1 - len(_started)):
                _started[student, *cells] = pool.submit(execute.run, cells, COURSE, limits)

        try:
            yield advance
        finally:
            _started.clear()
