"""Explorers and pictures on the built page: has the kernels put frames into it, and adds script and style.

The frames are remembered beside the book's other caches, in ``_build/.frames``; see ``lib/show/frames.py``.
"""

import hashlib
import os
import time
from pathlib import Path

import lib.show
from lib.show.explore import FRAMES_FOLDER

STATIC = Path(lib.show.__file__).parent / "static"
FILES = [STATIC / "explore.css", STATIC / "explore.js"]
MONTH = 30 * 24 * 3600


def add_static_files(app):
    """Have Sphinx copy script and style; named in _config.yml they would be put on every page."""
    app.config.html_static_path.extend(map(str, FILES))


def add_to_page(app, pagename, templatename, context, doctree):
    """Put the style sheet on pages with a picture, and the script on those with an explorer."""
    body = context.get("body", "")
    if 'class="lu-' in body:
        app.add_css_file("explore.css")
    if 'class="lu-explorer"' in body:
        app.add_js_file("explore.js", loading_method="defer")


def forget_old_frames(folder, now):
    """Delete frames that no build has asked for in a month."""
    for kept in folder.glob("*.json"):
        if now - kept.stat().st_mtime > MONTH:
            kept.unlink()


def finish(app, error):
    """Leave the environment as it was, for whoever built the book from Python."""
    folder = os.environ.pop(FRAMES_FOLDER, None)
    if folder:
        forget_old_frames(Path(folder), time.time())


def setup(app):
    """Connect to the build."""
    os.environ[FRAMES_FOLDER] = str(Path(app.outdir).parent / ".frames")  # the kernels it starts inherit it
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in FILES)).hexdigest()
    app.add_config_value("explorers_digest", digest, "html")  # when it changes, every page is written again
    app.connect("builder-inited", add_static_files)
    app.connect("html-page-context", add_to_page)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
