"""Where an nbgrader course keeps its things, and nbgrader's own interface to it."""

import re
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import NbGraderAPI
from traitlets.config.loader import PyFileConfigLoader

HERE = Path(__file__).resolve().parent.parent / "exercises"


class Problem(Exception):
    """Something that the instructor can mend; its text is all that is shown."""


@dataclass(frozen=True)
class Course:
    """A course folder: nbgrader_config.py and source/ by hand, everything else made from them."""

    root: Path = HERE

    def api(self):
        """nbgrader's interface with this course's configuration."""
        config = PyFileConfigLoader("nbgrader_config.py", path=str(self.root)).load_config()
        return NbGraderAPI(config=config)

    @property
    def db_url(self):
        """The gradebook, in the words of its database library."""
        return f"sqlite:///{self.root / 'gradebook.db'}"

    def gradebook(self):
        """The gradebook, to be used in a ``with`` statement."""
        return Gradebook(self.db_url)

    def check_name(self, name):
        """Raise a `Problem` if there is no such assignment."""
        if not (self.root / "nbgrader_config.py").is_file():
            raise Problem(f"{self.root} is no course folder: nbgrader_config.py is missing there")
        there = sorted(
            path.parent.name for path in self.root.glob("source/*/*.ipynb") if path.stem == path.parent.name
        )
        if name not in there or not re.fullmatch(r"[\w-]+", name):
            raise Problem(
                f"there is no assignment {name!r} in {self.root / 'source'}: "
                f"there are {', '.join(there) or 'none'}"
            )

    def is_released(self, name):
        """Whether the gradebook knows the assignment."""
        with self.gradebook() as gradebook:
            try:
                return bool(gradebook.find_assignment(name).notebooks)
            except MissingEntry:
                return False

    def source(self, name):
        """The instructor's notebook, written by hand."""
        return self.root / "source" / name / f"{name}.ipynb"

    def release(self, name):
        """The student's version, and the book's page."""
        return self.root / "release" / name / f"{name}.ipynb"

    def submitted(self, student, name):
        """Where nbgrader looks for a student's notebook."""
        return self.root / "submitted" / student / name / f"{name}.ipynb"

    def autograded(self, student, name):
        """The student's notebook after it has run."""
        return self.root / "autograded" / student / name / f"{name}.ipynb"

    def feedback(self, student, name):
        """The page that goes back to the student."""
        return self.root / "feedback" / student / name / f"{name}.html"

    def table(self, name):
        """The table of grades."""
        return self.root / f"grades-{name}.csv"
