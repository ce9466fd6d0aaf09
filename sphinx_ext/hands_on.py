"""Puts the hands-on explorers' modules on the pages that show them.

`lib.show.hands_on` writes the default state and its numbers; this adds, once a page, the module's own text with a small
model behind it, as an inline script: Chromium loads no module from a file beside the page when that is opened from a
folder, and `inline_script` lets a Content-Security-Policy name its hash. No other page carries any of it.
"""

import hashlib
import re
from pathlib import Path

from lib.show.hands_on import STATIC

PAGE_MODEL = Path(__file__).parent / "static" / "page_model.js"
CSS = STATIC / "hands_on.css"
MODULES = ("mask_editor", "shelf")


def inline_script(module):
    """Return the exact text of the inline script for a module: hash this for a Content-Security-Policy."""
    text = (STATIC / f"{module}.js").read_text("utf-8") + PAGE_MODEL.read_text("utf-8").replace(
        "MODULE", module
    )
    if "</script" in text.lower():
        raise ValueError(
            f"{module}.js must not contain </script, which would end it on the page: write <\\/script"
        )
    return text


def modules_on(body):
    """Return the names of the modules that a page's HTML needs, each once.

    >>> modules_on('<div class="lu" data-hands-on="shelf">…</div>' * 2)
    ['shelf']
    """
    return sorted(set(re.findall(rf'<div class="lu" data-hands-on="({"|".join(MODULES)})"', body)))


def _add_static_file(app):
    # Not in _config.yml: Jupyter Book puts every script and style sheet of a folder named there on every page.
    app.config.html_static_path.append(str(CSS))


def _add_modules(app, pagename, templatename, context, doctree):
    modules = modules_on(context.get("body", ""))
    if modules:
        app.add_css_file(CSS.name)  # for this page only, because it is called while the page is written
    for module in modules:
        app.add_js_file(None, body=inline_script(module), type="module")


def _digest():
    return hashlib.sha256("".join(map(inline_script, MODULES)).encode()).hexdigest()


def setup(app):
    """Put modules where they are needed. That a site is being built, `sphinx_ext.explorers` tells the kernels."""
    app.add_config_value(
        "hands_on_digest", _digest(), "html"
    )  # a changed module: every page is written again
    app.connect("builder-inited", _add_static_file)
    app.connect("html-page-context", _add_modules)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
