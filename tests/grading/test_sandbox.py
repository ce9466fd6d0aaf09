"""What submitted code can reach and use up, tried in the real sandbox; and what happens where there is none."""

import csv
import socket
import struct
import subprocess
import sys
import threading

import pytest

from grading import execute, processes, sandbox
from grading.execute import Cell

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("sandbox_there")]
LIMITS = sandbox.Limits(cell_seconds=3, total_seconds=40, memory_mb=1024, file_mb=2, folder_mb=4)


@pytest.fixture(scope="module")
def run(bench):
    def run(*sources, kind="answer", limits=LIMITS):
        cells = [Cell(f"cell-{number}", kind, source) for number, source in enumerate(sources)]
        return execute.run(cells, bench.repository / "exercises", limits)

    return run


def said(outputs):
    """What a cell printed, or the kind of its error."""
    return "".join(output.get("text", "") or output.get("ename", "") for output in outputs).strip()


def test_nothing_of_the_instructors_can_be_seen(run, bench):
    look = f"""
import os
for path in ({str(bench.repository)!r}, {str(bench.repository / "lib" / "attention.py")!r}, {str(bench.repository / "exercises")!r}, "/etc/passwd", "/home", "/root"):
    try:
        print(path, sorted(os.listdir(path)) if os.path.isdir(path) else open(path).read(5))
    except OSError:
        pass
print(sorted(set(os.environ) & {{"USER", "SSH_AUTH_SOCK", "VIRTUAL_ENV", "SECRET_TOKEN"}}), os.path.expanduser("~"))"""
    seen = said(run(look).outputs[0])
    assert "attention" not in seen and "source" not in seen and "nbgrader_config" not in seen and "root:" not in seen
    assert seen.splitlines()[-1] == "[] /tmp"


def test_python_may_live_below_tmp_or_in_the_repository(bench, tmp_path):
    """Found by trying the guide: an environment in a folder that the sandbox covers must still be seen."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", str(tmp_path / "env")], check=True)
    ask = [tmp_path / "env" / "bin" / "python", "-c", "from grading import sandbox; print(sandbox.missing())"]
    assert subprocess.run(ask, cwd=bench.repository, capture_output=True, text=True).stdout == "None\n"


def test_no_network_not_even_to_this_machine(run):
    with socket.create_server(("127.0.0.1", 0)) as server:
        outputs = run(f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), timeout=2)").outputs
        assert said(outputs[0]) in ("ConnectionRefusedError", "OSError")


def test_limits_on_memory_files_and_processes(run):
    outputs = run(
        "import numpy; numpy.ones(10**9)",
        "open('big', 'wb').write(b'x' * 3_000_000)",
        "for n in range(9): open(str(n), 'wb').write(b'x' * 1_000_000)",
        "open('/new', 'w')",
        "open('/dev/shm/x', 'wb').write(b'x' * 1_500_000)",
        "import os; os.fork()",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.posix_spawn('/bin/true', ['true'], {})",
        "import threading; t = threading.Thread(target=int); t.start(); t.join(); print('threads work')",
    ).outputs
    assert [said(output) for output in outputs] == [
        "MemoryError", "OSError", "OSError", "OSError", "OSError", "PermissionError", "PermissionError", "PermissionError", "threads work",
    ]  # fmt: skip


def test_the_library_of_the_course_is_no_answer(run):
    assert said(run("from lib.attention import softmax").outputs[0]) == "ModuleNotFoundError"


def test_limits_on_time(run):
    swallow = "while True:\n    try:\n        while True: pass\n    except Exception: pass"
    result = run("while True: pass", swallow, "import time; time.sleep(60)", "print('still here')")
    assert [said(output) for output in result.outputs] == ["CellTimeout"] * 3 + ["still here"]
    assert result.notes[0] == "cell-0 ran longer than 3 seconds and was stopped"


def test_all_time_together_is_limited_and_what_never_ran_does_not_pass(run):
    limits = sandbox.Limits(cell_seconds=30, total_seconds=2)
    result = run("import signal; signal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass", "assert True", limits=limits)
    assert [said(output) for output in result.outputs] == ["Stopped", "Stopped"]


def test_a_cell_that_ends_the_process_is_left_out_and_the_others_run_again(run):
    result = run("x = 1", "import os; os._exit(0)", "print(x)", "import ctypes; ctypes.string_at(0)", "print(x + 1)")
    assert [said(output) for output in result.outputs] == ["", "Stopped", "1", "Stopped", "2"]
    assert len(result.notes) == 2


def test_a_flood_of_forged_reports_ends_the_process_and_not_the_grader(run):
    forge = "import os\nfor fd in range(3, 30):\n    try:\n        os.write(fd, b'x' * 5_000_000)\n    except OSError: pass"
    result = run(forge, "print('next')")
    assert said(result.outputs[0]) == "Stopped" and said(result.outputs[1]) == "next"
    assert execute.READER not in [thread.name for thread in threading.enumerate()]  # none reads on from a closed pipe


def test_checks_see_the_real_numpy_and_builtins(bench):
    cells = [
        Cell("given", "given", "import numpy as np\n\n\ndef helper():\n    return 'ours'"),
        Cell("answer", "answer", "np.allclose = lambda *a: True\nimport builtins\nbuiltins.abs = lambda x: 0\nabs = len = None\ndef helper(): return 'theirs'"),
        Cell("answer-2", "answer", "class np: pass\nimport sys; sys.settrace(lambda *a: None)"),
        Cell("check", "check", "assert not np.allclose(1, 2) and abs(-1) == 1 and len('ab') == 2 and helper() == 'ours'"),
        Cell("check-2", "check", "assert np.allclose(1, 2), 'they differ'"),
    ]
    outputs = execute.run(cells, bench.repository / "exercises", LIMITS).outputs
    assert [said(output) for output in outputs] == ["", "", "", "", "AssertionError"]


def test_what_is_shown_is_text_or_a_picture(run):
    (outputs,) = run("from IPython.display import HTML, display\ndisplay(HTML('<script>x</script>'))\n7").outputs
    assert {kind for output in outputs for kind in output.get("data", {})} == {"text/plain"}


def test_the_filter_knows_other_processors_and_no_foreign_calls():
    for machine in ("x86_64", "aarch64"):
        program = processes.no_new_processes(machine)
        assert len(program) % 8 == 0 and struct.unpack("HBBI", program[-8:]) == (0x06, 0, 0, 0x7FFF0000)
    assert not processes.supported("riscv64")


@pytest.fixture(scope="module")
def without_sandbox(bench, tmp_path_factory):
    """Grade three students on a machine that has no bubblewrap."""
    course = bench.copy_course(tmp_path_factory.mktemp("unsafe"), "\nc.SandboxExecute.cell_seconds = 3\n")
    hack = f"""
import sqlite3
base = sqlite3.connect({str(course / "exercises" / "gradebook.db")!r})
base.execute("update grade set manual_score = 1000")
base.commit()"""
    bench.save(bench.solved("lookup"), course / "inbox" / "anna.ipynb")
    bench.save(bench.solved("lookup", match=hack + "\nreturn keys @ query"), course / "inbox" / "mallory.ipynb")
    bench.save(bench.solved("lookup"), course / "inbox" / "zoe.ipynb")
    bench.save("nonsense", course / "inbox" / "bad.ipynb")
    done = bench.command(course, "grade", "lookup", "inbox", env={"PATH": "/nonexistent"})
    with open(course / "exercises" / "grades-lookup.csv", newline="") as file:
        return done, {row["student"]: row for row in csv.DictReader(file)}


def test_without_a_sandbox_it_says_so_first_how_to_get_one_and_in_each_row(without_sandbox):
    done, rows = without_sandbox
    warning, first = done.stdout.index("WARNING: no sandbox, bubblewrap is not installed"), done.stdout.index("[1/4]")
    assert warning < done.stdout.index("How to get a sandbox") < first
    assert all("graded WITHOUT a sandbox" in row["notes"] for row in rows.values())
    assert (rows["anna"]["score"], rows["zoe"]["score"]) == ("15", "15")


def test_without_a_sandbox_the_gradebook_is_put_back(without_sandbox):
    _, rows = without_sandbox
    assert rows["mallory"]["status"] == "NOT GRADED" and "changed the gradebook; it was put back" in rows["mallory"]["notes"]


def test_required_sandbox_refuses_to_run_without(monkeypatch):
    from grading.plugins import SandboxExecute

    monkeypatch.setattr(sandbox, "missing", lambda: "bubblewrap is not installed")
    with pytest.raises(RuntimeError, match="bubblewrap is not installed\nHow to get a sandbox"):
        SandboxExecute(sandbox="require").sandboxed  # noqa: B018
    assert SandboxExecute(sandbox="auto").sandboxed is False
