"""Makes plain ``jupyter-book build .`` the strict build: no flag to remember.

Any warning of Sphinx, and anything that a cell raises or writes to stderr, makes the build exit nonzero, after every page has
been tried, so that one run shows everything that is wrong.
"""

import json
from pathlib import Path

from sphinx.util import logging

log = logging.getLogger(__name__)


def complaints(notebook):
    """Yield (cell number, what it said) for every error and every word on stderr in an executed notebook."""
    for number, cell in enumerate(notebook["cells"], start=1):
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                yield number, f"raised {output['ename']}: {output['evalue']}"
            elif output.get("name") == "stderr":
                yield number, "wrote to stderr: " + "".join(output["text"]).strip()


def check_outputs(app, doctree):
    """Report the outputs of a page that has just been read, whatever tags hide them from its reader."""
    docname = app.env.docname
    executed = Path(app.outdir).parent / "jupyter_execute" / f"{docname}.ipynb"
    if Path(app.env.doc2path(docname)).suffix != ".ipynb" or not executed.exists():
        return
    for number, complaint in complaints(json.loads(executed.read_text(encoding="utf-8"))):
        log.error("cell %d %s", number, complaint, location=docname)


def forget_bad_build(app, exception):
    """Forget what was read if anything was wrong, or the next build would skip those pages and pass."""
    if exception is None and app._warncount:
        (Path(app.doctreedir) / "environment.pickle").unlink(missing_ok=True)
        log.info("The book is not accepted: %d errors or warnings stand above.", app._warncount)


def setup(app):
    """Turn on Sphinx's own ``-W --keep-going``, and the checks that it lacks."""
    app.keep_going = True
    app.connect("doctree-read", check_outputs)
    app.connect("build-finished", forget_bad_build, priority=900)
