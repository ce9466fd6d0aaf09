"""The image that Binder makes: as repo2docker plans it, with the versions of constraints.txt, and the CPU build of PyTorch."""

import re
import shutil
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.slow  # runs other programs
ROOT = Path(__file__).parents[2]
ONLY_TO_BUILD = {
    "jupyter-book",
    "mini-racer",
}  # of requirements.txt: they make the pages, no chapter needs them
OF_THE_IMAGE = {"jupyterlab", "setuptools"}  # Binder brings its own
OF_A_GRAPHICS_CARD = re.compile(r"(nvidia|cuda|triton)\b")  # what PyTorch needs where it is not the CPU build


def pins(text):
    """Return the version of each package that a requirements file fixes."""
    return {
        canonicalize_name(name): version
        for name, version in re.findall(r"^([\w.-]+)==(\S+)$", text, re.MULTILINE)
    }


def needed(packages):
    """Return these packages and all that they need, as far as they are installed here, on this Python."""
    found, rest = set(), [*packages]
    while rest:
        name = canonicalize_name(rest.pop())
        if name not in found | OF_THE_IMAGE and not OF_A_GRAPHICS_CARD.match(name):
            found.add(name)
            rest += [
                wanted.name
                for wanted in map(Requirement, requires(name) or [])
                if not wanted.marker or wanted.marker.evaluate({"extra": ""})
            ]
    return found


def faults(binder, constraints, book):
    """Return what is wrong with Binder's requirements, beside the book's and the constraints."""
    fixed, allowed = pins(binder), pins(constraints)
    chapters = {
        canonicalize_name(re.match(r"[\w.-]+", line)[0])
        for line in book.splitlines()
        if re.match(r"\w", line)
    } - ONLY_TO_BUILD
    found = [
        f"missing: {name}"
        for name in sorted(needed(chapters | {"ipykernel"}) - set(fixed))
        if name not in OF_THE_IMAGE
    ]
    found += [
        f"{name} is {version}, elsewhere {allowed.get(name)}"
        for name, version in sorted(fixed.items())
        if version.removesuffix("+cpu") != allowed.get(name)
    ]
    found += [
        f"not an exact version: {line}"
        for line in binder.splitlines()
        if line and not re.match(r"#|[\w.-]+==\S+$|--extra-index-url ", line)
    ]
    return found + ([] if fixed.get("torch", "").endswith("+cpu") else ["torch is not the CPU build"])


@pytest.fixture
def files():
    """Binder's requirements, the constraints, and the book's requirements."""
    return [
        (ROOT / name).read_text("utf-8")
        for name in ("binder/requirements.txt", "constraints.txt", "requirements.txt")
    ]


def test_binder_has_what_the_chapters_need_in_the_versions_of_the_constraints(files):
    assert not faults(*files)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (r"^numpy==.*\n", "", "missing: numpy"),
        (r"^pyparsing==.*\n", "", "missing: pyparsing"),  # which only matplotlib needs
        (r"^numpy==.*", "numpy==1.0", "numpy is 1.0"),
        (r"^numpy==.*", "numpy>=2", "not an exact version: numpy>=2"),
        (r"\Z", "-e ..\n", "not an exact version: -e .."),
        (r"\+cpu", "", "torch is not the CPU build"),
    ],
)
def test_a_wrong_requirement_is_found(old, new, fault, files):
    wrong = re.sub(old, new, files[0], flags=re.MULTILINE)
    assert any(found.startswith(fault) for found in faults(wrong, *files[1:]))


def plan(folder):
    """Return the Dockerfile that repo2docker makes of a folder."""
    command = [Path(sys.executable).parent / "jupyter-repo2docker", "--no-build", "--debug", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def plan_with(tmp_path, extra=""):
    """Plan the project's image with some more lines in Binder's requirements."""
    for name in ("binder", "pyproject.toml", "requirements.txt"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    with (tmp_path / "binder/requirements.txt").open("a") as requirements:
        requirements.write(extra)
    return plan(tmp_path)


def installs_before_the_books_files(dockerfile):
    """Return whether a change to a chapter leaves the installed packages as they are."""
    install = dockerfile.index('pip install --no-cache-dir -r "binder/requirements.txt"')
    return install < re.search(r"COPY --chown=\S+ src/ \$", dockerfile).start()


def test_the_packages_come_before_the_books_text_and_the_project_after_it(tmp_path):
    dockerfile = plan_with(tmp_path)
    assert installs_before_the_books_files(dockerfile)
    assert "RUN ./binder/postBuild" in dockerfile and "python=3.11" in dockerfile


def test_a_path_in_the_requirements_would_install_everything_again(tmp_path):
    assert not installs_before_the_books_files(plan_with(tmp_path, "-e .\n"))


def test_post_build_adds_the_project_and_asserts_the_cpu_build(tmp_path):
    post_build = ROOT / "binder/postBuild"
    assert post_build.stat().st_mode & 0o111, "repo2docker runs postBuild itself"
    script = post_build.read_text("utf-8")
    assert "--no-deps --editable ." in script
    # Its Python runs here as it is, and refuses a PyTorch for graphics cards.
    check = re.search(r"<<'END'\n(.*?)\nEND", script, re.DOTALL)[1]
    assert "torch.version.cuda is None" in check
    for wrong, code in ((False, 0), (True, 1)):
        build = (
            "import torch; torch.version.cuda = '13.0'\n"
            if wrong
            else "import torch; torch.version.cuda = None\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", build + check], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == code and ("is built for one" in done.stderr) == wrong, done.stderr
