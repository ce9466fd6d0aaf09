"""No file of the project names a machine that it was written on; the licences, the year and the versions agree."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
# Written in pieces, so that this file does not accuse itself.
MACHINE = re.compile(
    "|".join(
        [
            r"(?<![\w.:/-])/(?:work|root|home|Users|opt|mnt)/" + r"[\w.-]+",
            r"[A-Z]:\\" + r"(?:Users|Documents)",
            r"\b(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\." + r"\d+\.\d+(?:\.\d+)?\b(?=[:/])",
            r"\b[\w-]+\.(?:internal|local|lan|corp)\b" + r"(?=[:/])",
        ]
    )
)


def tracked_texts():
    """Yield (name, text) of each text file that git tracks, or would; what others wrote and we ship as it is left out."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines():
        if (ROOT / name).is_file() and not name.endswith(".min.js"):
            try:
                yield name, (ROOT / name).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue  # a font, a picture


def test_no_file_names_a_machine():
    found = {name: MACHINE.search(text)[0] for name, text in tracked_texts() if MACHINE.search(text)}
    assert not found


@pytest.mark.parametrize(
    "text",
    [
        "/ro" + "ot/book/x.py",
        "open('/ho" + "me/ann/data')",
        "C:" + "\\Users\\ann",
        "http://10.0" + ".0.7:8080/simple",
        "https://pypi.corp" + "/simple",
    ],
)
def test_the_check_sees_a_machine(text):
    assert MACHINE.search(text)


@pytest.mark.parametrize(
    "text", ["http://127.0.0.1:8000", "https://github.com/home/x", "a/root/b", "version 10.0.0", "../lib"]
)
def test_the_check_lets_ordinary_text_pass(text):
    assert not MACHINE.search(text)


def test_the_year_is_the_same_everywhere():
    year = re.search(r"Copyright \(c\) (\d{4})", (ROOT / "LICENSE").read_text("utf-8"))[1]
    assert str(yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["copyright"]) == year
    assert year in (ROOT / "LICENSE-TEXT").read_text("utf-8")
    assert str(yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["date-released"]).startswith(year)


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert str(yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"]) == project["version"]


def test_every_requirement_is_pinned_by_the_constraints():
    pinned = {
        name.lower().replace("_", "-")
        for name in re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text("utf-8"), re.M)
    }
    wanted = set()
    for name in ("requirements.txt", "requirements-dev.txt"):
        wanted |= {
            line.lower()
            for line in re.findall(r"^([\w.-]+)", (ROOT / name).read_text("utf-8"), re.M)
            if line[0] != "-"
        }
    assert wanted and wanted <= pinned, wanted - pinned
