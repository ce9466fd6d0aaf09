"""The sandbox: how a process for submitted code is started, and whether one can be had on this machine.

Inside there is Python with its packages, read-only, and one empty folder of 64 MB. There is no network,
no home, no course folder, no gradebook, no `lib`, and no way to start another process. On Linux,
bubblewrap does this; elsewhere `missing()` says why there is none and how to get one.
"""

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from grading import processes

REPOSITORY = Path(__file__).resolve().parent.parent
RUNNER = Path(__file__).resolve().with_name("runner.py")
SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/localtime",
)
PASSED_ON = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "SYSTEMROOT")  # what numpy needs on some machines


@dataclass(frozen=True)
class Limits:
    """How much one submission may use."""

    cell_seconds: float = 10  # one cell
    total_seconds: float = 60  # all cells of a submission, and every new start after a crash
    memory_mb: int = 2048
    file_mb: int = 16  # one file
    folder_mb: int = 64  # all files together

    def for_runner(self):
        """The limits that the process sets for itself before any submitted code runs."""
        return {
            "cell_seconds": self.cell_seconds,
            "cpu_seconds": int(self.total_seconds) + 10,
            "memory_bytes": self.memory_mb * 2**20,
            "file_bytes": self.file_mb * 2**20,
        }


def environment(home):
    """The variables that submitted code sees: none of the instructor's, so no token or key."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return kept | {
        "HOME": home,
        "IPYTHONDIR": os.path.join(home, ".ipython"),
        "LANG": "C.UTF-8",
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), "/usr/bin", "/bin"]),
        "PYTHONHASHSEED": "0",
    }


def _readable():
    """The folders that Python and numpy need."""
    python = {sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable))}
    return {Path(folder) for folder in (*SYSTEM, *python) if os.path.exists(folder)}


def _hidden(course):
    """What must not be seen, should it lie inside a readable folder."""
    spec = importlib.util.find_spec("lib")
    return {
        REPOSITORY,
        Path(course).resolve(),
        Path.home(),
        *map(Path, spec.submodule_search_locations if spec else ()),
    }


def _mounts(course):
    """Bubblewrap's arguments for the folders, from the outside in, so that an inner rule wins over an
    outer one."""
    readable = _readable()
    hidden = {folder for folder in _hidden(course) if any(root in folder.parents for root in readable)}
    rules = [(folder, "--ro-bind") for folder in readable] + [(folder, "--tmpfs") for folder in hidden]
    for folder, how in sorted(rules, key=lambda rule: len(rule[0].parts)):
        yield from (
            (how, str(folder), str(folder))
            if how == "--ro-bind"
            else (how, str(folder), "--remount-ro", str(folder))
        )


def bubblewrap(course, limits, seccomp_descriptor):
    """The command line in front of Python that makes the sandbox."""
    variables = (word for name, value in environment("/tmp").items() for word in ("--setenv", name, value))
    return [
        shutil.which("bwrap") or "bwrap",
        *"--die-with-parent --new-session --unshare-all --unshare-user --uid 1000 --gid 1000".split(),
        *("--cap-drop", "ALL", "--seccomp", str(seccomp_descriptor), "--clearenv", *variables),
        # the writable folder comes first: Python itself may lie in one that is below /tmp
        *("--proc", "/proc", "--dev", "/dev", "--size", "1048576", "--tmpfs", "/dev/shm"),
        *("--size", str(limits.folder_mb * 2**20), "--tmpfs", "/tmp"),
        *_mounts(course),
        *("--ro-bind", str(RUNNER), "/runner.py"),
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"),
    ]


def start(course, limits, sandboxed, scratch):
    """Start the runner, in the sandbox or (`sandboxed=False`) without one in the folder ``scratch``.

    Returns
    -------
    subprocess.Popen with binary pipes for standard input and output
    """
    python = [sys.executable, "-s", "-P"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    if not sandboxed:
        return subprocess.Popen([*python, str(RUNNER)], cwd=scratch, env=environment(scratch), **pipes)
    descriptor = _filter_descriptor()
    try:
        command = [*bubblewrap(course, limits, descriptor), *python, "/runner.py"]
        return subprocess.Popen(command, pass_fds=[descriptor], **pipes)
    finally:
        os.close(descriptor)


def _filter_descriptor():
    """The seccomp filter as an open pipe, which is how bubblewrap wants it."""
    read_end, write_end = os.pipe()
    os.write(write_end, processes.no_new_processes())
    os.close(write_end)
    return read_end


@functools.cache
def missing():
    """Say in one line why there is no sandbox here, or return None because there is one. It is tried, not
    guessed."""
    if sys.platform != "linux":
        return f"there is no sandbox on {sys.platform}"
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed"
    if not processes.supported():
        return "the sandbox knows no filter for this processor"
    descriptor = _filter_descriptor()
    command = [*bubblewrap(REPOSITORY, Limits(), descriptor), sys.executable, "-c", "pass"]
    done = subprocess.run(command, pass_fds=[descriptor], capture_output=True, text=True, errors="replace")
    os.close(descriptor)
    return None if done.returncode == 0 else f"bubblewrap does not work here ({done.stderr.strip()[:200]})"


HOW_TO_GET_ONE = """\
How to get a sandbox:
  Debian, Ubuntu, Fedora   install the package "bubblewrap", version 0.7 or newer
  Ubuntu 24.04 and newer   if it says "setting up uid map: Permission denied", allow it with
                           sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0
  Windows                  grade in WSL 2 (wsl --install), with bubblewrap installed there
  macOS, or a container    grade in a Linux virtual machine; most containers forbid namespaces"""
