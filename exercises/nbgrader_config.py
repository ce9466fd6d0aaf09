"""The nbgrader course of this book: plain nbgrader, with four steps of the course's own from
`grading.plugins`."""

import os
import sys
from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader import preprocessors as nb

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # so that `grading` is found by nbgrader's own command, too
os.environ["PATH"] = os.pathsep.join(
    [os.path.dirname(sys.executable), os.environ.get("PATH", "")]
)  # it calls alembic

from grading import ahead, plugins  # noqa: E402

ahead.COURSE = HERE

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "look-it-up"
c.CourseDirectory.root = str(HERE)

c.ClearSolutions.code_stub = {"python": 'raise NotImplementedError("Replace this line with your answer.")'}
c.ClearSolutions.text_stub = "*Double-click here, and replace this line with your answer.*"

c.Autograde.sanitize_preprocessors = [
    nb.ClearOutput,
    plugins.Graft,
    nb.OverwriteCells,
    nb.CheckCellMetadata,
]
c.Autograde.autograde_preprocessors = [
    plugins.SandboxExecute,
    plugins.OnlyErrorsCount,
    nb.LimitOutput,
    nb.SaveAutoGrades,
    nb.AssignLatePenalties,
    nb.CheckCellMetadata,
]
c.GenerateFeedback.preprocessors = [nb.GetGrades, plugins.TidyFeedback, CSSHTMLHeaderPreprocessor]
