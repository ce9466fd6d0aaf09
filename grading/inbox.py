"""Find out who handed in what. Nothing is unpacked, followed, executed or changed here; files are only read.

An inbox is a folder with a notebook for each student, a folder with a folder for each student (clones of
GitHub Classroom, too), or the zip file of Canvas' or Moodle's "download all submissions".
"""

import hashlib
import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from grading.course import Problem

SIZE_LIMIT = 50 * 2**20  # bytes of one notebook; ours have some 20 thousand
IGNORED = {"__MACOSX", "Thumbs.db", "desktop.ini"}
CANVAS = re.compile(r"^(?P<name>[^_]+)_(?P<late>LATE_)?(?P<id>\d+)_\d+_(?P<file>.+)$")
MOODLE = re.compile(r"^(?P<name>.+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)$")


@dataclass(frozen=True)
class Entry:
    """One file in the inbox. ``problem`` says why it cannot be used; ``read`` gives its bytes."""

    path: str
    when: float
    read: Callable[[], bytes]
    problem: str = ""

    @property
    def parts(self):
        """The folders and the file's name."""
        return tuple(self.path.split("/"))


@dataclass
class HandIn:
    """What one student handed in: the notebook to be graded, or the problem that there is none."""

    student: str
    name: str = ""
    entries: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    chosen: Entry | None = None
    problem: str = ""


def read_inbox(inbox, assignment):
    """Return a `HandIn` for every student who is in the inbox, ordered by student."""
    inbox = Path(inbox)
    if not inbox.exists():
        raise Problem(f"there is no {inbox}: give a folder, or the zip file of your learning platform")
    if inbox.is_dir():
        entries = _folder_entries(inbox)
    elif zipfile.is_zipfile(inbox):
        entries = _zip_entries(inbox)
    else:
        raise Problem(f"{inbox} is neither a folder nor a zip file")
    found = {}
    for entry in _without_wrapper(list(entries), assignment):
        key, name, late = _student(entry, assignment)
        hand_in = found.setdefault(key, HandIn(student="", name=name))
        hand_in.entries.append(entry)
        if late:
            hand_in.notes = ["the platform says: late"]
    for key, student in _ids(found).items():
        found[key].student = student
        _choose(found[key], assignment)
    return sorted(found.values(), key=lambda hand_in: hand_in.student)


def _folder_entries(folder):
    """The files below a folder. Links are named and never followed: one could point at the solutions."""
    for where, folders, files in os.walk(folder, followlinks=False):
        linked = [name for name in folders if os.path.islink(os.path.join(where, name))]
        folders[:] = sorted(name for name in folders if not _ignored(name) and name not in linked)
        for name in sorted(files + linked):
            path = Path(where) / name
            if _ignored(name):
                continue
            about = path.lstat()
            problem = "" if stat.S_ISREG(about.st_mode) else "it is a link, not a file"
            if not problem and about.st_size > SIZE_LIMIT:
                problem = f"it has {about.st_size:,} bytes"
            yield Entry(
                path.relative_to(folder).as_posix(),
                about.st_mtime,
                lambda path=path: _read_file(path),
                problem,
            )


def _read_file(path):
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as file:
        return file.read(SIZE_LIMIT)


def _zip_entries(path):
    """The files in a zip; read one by one, never unpacked to the disk, whatever their names say."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    for member in members:
        name = member.filename.replace("\\", "/").strip("/")
        if member.is_dir() or not name or any(_ignored(part) for part in name.split("/")):
            continue
        problem = ""
        if stat.S_ISLNK(member.external_attr >> 16):
            problem = "it is a link, not a file"
        elif member.flag_bits & 1:
            problem = "it is encrypted"
        elif member.file_size > SIZE_LIMIT:
            problem = f"it has {member.file_size:,} bytes"
        yield Entry(name, _zip_time(member), lambda member=member: _read_member(path, member), problem)


def _read_member(path, member):
    with zipfile.ZipFile(path) as archive, archive.open(member) as file:
        return file.read(SIZE_LIMIT)


def _zip_time(member):
    try:
        return datetime(*member.date_time).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _ignored(name):
    return name.startswith((".", "~")) or name in IGNORED


def _without_wrapper(entries, assignment):
    """Drop an outer folder around everything, such as ``submissions/``, but not a single student's own."""
    tops = {entry.parts[0] for entry in entries}
    if len(tops) != 1 or any(len(entry.parts) == 1 for entry in entries):
        return entries
    seconds = {entry.parts[1] for entry in entries}
    folders = {entry.parts[1] for entry in entries if len(entry.parts) > 2} - {assignment}
    by_platform = any(CANVAS.match(name) or MOODLE.match(name) for name in seconds)
    if by_platform or (len(folders) > 1 and len(folders) == len(seconds)):
        return [Entry("/".join(e.parts[1:]), e.when, e.read, e.problem) for e in entries]
    return entries


def _student(entry, assignment):
    """A key for the student, the name to show, and whether the platform marked the file as late."""
    top = entry.parts[0]
    platform = MOODLE.match(top) or (CANVAS.match(top) if len(entry.parts) == 1 else None)
    if platform:
        return platform["id"], platform["name"], bool(platform.groupdict().get("late"))
    if len(entry.parts) == 1:
        top = os.path.splitext(top)[0]
    shorter = re.sub(
        rf"^{re.escape(assignment)}[-_ ]+|[-_ ]+{re.escape(assignment)}$", "", top
    )  # lookup-anna
    return shorter or top, shorter or top, False


def _ids(keys):
    """Give each student an identifier that is safe as a folder's name; no two get the same."""
    ids = {}
    for key in sorted(keys, key=lambda key: (_safe(key) != key, key)):
        safe = _safe(key)
        if safe.lower() in {other.lower() for other in ids.values()}:
            safe += f"~{hashlib.sha256(key.encode()).hexdigest()[:6]}"
        ids[key] = safe
    return ids


def _safe(key):
    return re.sub(r"[^\w.@+-]+", "_", unicodedata.normalize("NFC", key)).lstrip(".-")[:80] or "student"


def handed_in_name(entry):
    """The file's name as the student gave it, without what a platform put in front."""
    name = entry.parts[-1]
    platform = MOODLE.match(name) or CANVAS.match(name)
    return (platform["file"] or name) if platform else name


def _choose(hand_in, assignment):
    """Pick the notebook to grade: one with the assignment's name, the newest, the least deep."""
    notebooks = [entry for entry in hand_in.entries if entry.path.lower().endswith(".ipynb")]
    alike = re.compile(rf"(copy of )?{re.escape(assignment)}([ _-]*(copy)?[ _-]*\(?\d*\)?)?\.ipynb", re.I)
    named = [entry for entry in notebooks if alike.fullmatch(handed_in_name(entry))]
    candidates = sorted(named or notebooks, key=lambda e: (round(e.when / 60), -len(e.parts), e.when, e.path))
    if not candidates:
        there = ", ".join(handed_in_name(entry) for entry in hand_in.entries[:3])
        hand_in.problem = f"no notebook: {there}"
        return
    hand_in.chosen = candidates[-1]
    name = handed_in_name(hand_in.chosen)
    if len(candidates) > 1:
        hand_in.notes.append(
            f"{len(candidates)} notebooks were handed in; the newest was graded, {hand_in.chosen.path}"
        )
    elif name != f"{assignment}.ipynb" and (
        len(hand_in.chosen.parts) > 1 or name != hand_in.chosen.parts[-1]
    ):
        hand_in.notes.append(f"handed in as {name!r}")
    if hand_in.chosen.problem:
        hand_in.problem = f"{name}: {hand_in.chosen.problem}"
