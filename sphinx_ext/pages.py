"""Makes the theme's pages light and closed: a description, our own icons, and no file that a page does not
use.

Sphinx's theme ships an icon font, a script that draws the same icons (543 kB compressed) and a style rule
for each of 2,000 of them. The book's pages use about 15: ``static/site.css`` draws these, and the rest is
taken out of the built site.
"""

import re
import shutil
from html import escape
from pathlib import Path

from docutils import nodes

from .policy import meta, policy

HERE = Path(__file__).parent
ICON_RULE = re.compile(
    r'(?:\.fa-[a-z0-9-]+:{1,2}before,?)+\{content:"[^"]*"\}|@font-face\{[^}]*Font Awesome[^}]*\}'
)
SOURCE_MAP = re.compile(r"\n?(?://# sourceMappingURL=\S+|/\*# sourceMappingURL=\S+?\s*\*/)\s*$")
UNUSED = (
    "vendor/fontawesome",
    "scripts/fontawesome.js",
    "scripts/fontawesome.js.LICENSE.txt",
    "katex/katex.min.js",
)
LONGEST_DESCRIPTION = 160
INDEX = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
{policy}
<title>{title}</title>
<link rel="icon" href="_static/favicon.svg">
<meta http-equiv="refresh" content="0; url={first}.html">
<p><a href="{first}.html">{title}</a></p>
</html>
"""


def add_folders(app):
    """Let Sphinx find our static files (were they named in ``_config.yml``, each page would load all)."""
    app.config.html_static_path.append(str(HERE / "static"))


def describe(doctree):
    """Return how a page begins, cut at a word, for search engines and previews."""
    text = " ".join(" ".join(paragraph.astext() for paragraph in doctree.findall(nodes.paragraph)).split())
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    return text[: LONGEST_DESCRIPTION - 1].rpartition(" ")[0].rstrip(",;:") + "…"


def add_description(app, pagename, templatename, context, doctree):
    """Give a page's description to its template."""
    context["description"] = describe(doctree) if doctree else ""


def without_inline_scripts(buttons):
    """Return the header buttons that run no inline script; a menu of one becomes a plain button."""
    kept = []
    for button in buttons:
        inner = without_inline_scripts(button.get("buttons", []))
        if button["type"] == "group" and inner:
            single = inner[0] | {"text": "", "icon": button["icon"]}
            kept.append(button | {"buttons": inner} if len(inner) > 1 else single)
        elif button["type"] == "link":
            kept.append(button)
    return kept


def drop_inline_scripts(app, pagename, templatename, context, doctree):
    """Leave out the theme's inline scripts: a strict content policy forbids them, and nothing needs them."""
    scripts = context.get("script_files", [])
    context["script_files"] = [
        js for js in scripts if "DOCUMENTATION_OPTIONS." not in (js.attributes.get("body") or "")
    ]
    context["header_buttons"] = without_inline_scripts(context.get("header_buttons", []))


def set_theme_options(app, config):
    """Set the theme's options: in ``_config.yml`` they would replace what Jupyter Book derives from it."""
    config.html_theme_options.update(navbar_persistent=[], use_fullscreen_button=False)


def lighten(text):
    """Return a style sheet or script without the icons' rules and without the link to a source map."""
    return SOURCE_MAP.sub("", ICON_RULE.sub("", text))


def drop_unused(app, exception):
    """Take out of the built site what no page asks for."""
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for name in UNUSED:
        shutil.rmtree(static / name, ignore_errors=True) if (static / name).is_dir() else (
            static / name
        ).unlink(missing_ok=True)
    for path in static.rglob("*.map"):
        path.unlink()
    for path in [*static.glob("styles/*.css"), *static.glob("scripts/*.js")]:
        path.write_text(lighten(path.read_text(encoding="utf-8")), encoding="utf-8")


def write_index(app, exception):
    """Write an ``index.html`` that leads to the first page; Jupyter Book's has no title and no icon."""
    if exception is None and app.builder.format == "html" and app.config.root_doc != "index":
        text = INDEX.format(
            policy=meta(policy()), title=escape(app.config.html_title), first=app.config.root_doc
        )
        (Path(app.outdir) / "index.html").write_text(text, encoding="utf-8")


def setup(app):
    """Register templates, style, script and the handlers above."""
    app.config.templates_path.append(str(HERE / "templates"))
    app.connect("builder-inited", add_folders, priority=100)
    app.add_css_file("site.css", priority=900)
    app.add_js_file("site.js")
    app.connect("config-inited", set_theme_options)
    app.connect("html-page-context", add_description)
    app.connect("html-page-context", drop_inline_scripts, priority=900)
    app.connect("build-finished", drop_unused)
    app.connect("build-finished", write_index, priority=100)
    # Jupyter Book sets this even though the extension that reads it is not among ours.
    app.add_config_value("comments_config", {}, "")
