"""The workflows of GitHub: right by its own schema and by zizmor, with every action fixed to a commit, and doing what the README says.

Neither tool asks anything of the network; each is shown a workflow that it must reject.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slow  # runs other programs
ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github/workflows"
BIN = Path(sys.executable).parent
LINTERS = {
    "schema": [BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows"],
    "zizmor": [BIN / "zizmor", "--offline", "--no-progress", "--min-severity=medium", "--no-config"],
}
SETUP = "on: push\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-24.04\n"


def lint(linter, *files):
    """Run a linter; return its exit code and what it said."""
    done = subprocess.run([*LINTERS[linter], *files], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def workflow(name):
    """Return a workflow as PyYAML reads it, where the key ``on`` becomes True."""
    return yaml.safe_load((WORKFLOWS / f"{name}.yml").read_text("utf-8"))


def steps(name):
    """Yield (job, step) of a workflow."""
    for job_name, job in workflow(name)["jobs"].items():
        for step in job.get("steps", []):
            yield job_name, step


@pytest.mark.parametrize("linter", LINTERS)
def test_the_workflows_pass(linter):
    code, said = lint(linter, *sorted(WORKFLOWS.glob("*.yml")))
    assert code == 0, said


@pytest.mark.parametrize(
    ("linter", "steps", "said"),
    [
        ("schema", "    steps: [{runs: 'true'}]\n", "is not valid under any of the given schemas"),
        ("zizmor", "    steps: [{uses: actions/checkout@v6}]\n", "unpinned-uses"),
        ("zizmor", "    steps: [{run: 'echo ${{ github.event.issue.title }}'}]\n", "template-injection"),
    ],
)
def test_a_bad_workflow_is_rejected(linter, steps, said, tmp_path):
    bad = tmp_path / ".github/workflows/bad.yml"
    bad.parent.mkdir(parents=True)
    bad.write_text(SETUP + steps)
    code, output = lint(linter, bad)
    assert code != 0 and said in output, output


def test_dependabot_keeps_the_pins_up_to_date():
    done = subprocess.run(
        [BIN / "check-jsonschema", "--builtin-schema", "vendor.dependabot", ROOT / ".github/dependabot.yml"],
        check=False,
    )
    assert done.returncode == 0


def test_every_action_is_fixed_to_a_commit_and_says_its_version():
    for path in WORKFLOWS.glob("*.yml"):
        for used in re.findall(r"uses: (.*)", path.read_text("utf-8")):
            assert used.startswith("./") or re.fullmatch(
                r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", used
            ), used


def test_the_test_workflow_prepares_the_sandbox_and_then_runs_ci():
    runs = [step["run"] for _, step in steps("test") if "run" in step]
    assert runs[-1] == ".ci/run"
    assert "install -y -qq --no-install-recommends bubblewrap" in runs[1]
    assert "kernel.apparmor_restrict_unprivileged_userns=0" in runs[1]


def test_publishing_and_releasing_come_after_the_tests_and_build_as_the_readme_does():
    command = re.search(
        r"^ *(python -m pip install -r requirements\.txt && .*)$",
        (ROOT / "README.md").read_text("utf-8"),
        re.MULTILINE,
    )[1]
    for name, job in (("publish", "build"), ("release", "release")):
        assert workflow(name)["jobs"][job]["needs"] == "test"
        assert workflow(name)["jobs"]["test"]["uses"] == "./.github/workflows/test.yml"
        assert command in [step.get("run") for _, step in steps(name)]
    build = next(step for _, step in steps("publish") if step.get("name") == "Build")
    assert build["env"]["SITE_URL"] == "${{ steps.pages.outputs.base_url }}"


def test_the_archive_opens_and_its_checksum_finds_a_changed_byte(tmp_path):
    (tmp_path / "_build/html").mkdir(parents=True)
    (tmp_path / "_build/html/index.html").write_text("a book")
    script = next(step["run"] for _, step in steps("release") if step.get("name") == "Archive")
    env = {"GITHUB_REF_NAME": "v1.2", "PATH": f"{BIN}:/usr/bin:/bin"}
    subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, env=env, check=True)
    archive = tmp_path / "look-it-up-v1.2.zip"
    subprocess.run([sys.executable, "-m", "zipfile", "-e", archive, tmp_path / "opened"], check=True)
    assert (tmp_path / "opened/look-it-up-v1.2/index.html").read_text() == "a book"
    check = ["sha256sum", "--check", "--status", f"{archive.name}.sha256"]
    assert subprocess.run(check, cwd=tmp_path, check=False).returncode == 0
    archive.write_bytes(archive.read_bytes()[:-1] + b"x")
    assert subprocess.run(check, cwd=tmp_path, check=False).returncode == 1
