"""Renders formulas while the book is built, with KaTeX: readable with scripts off, and no other host is
asked.

KaTeX against MathML (latex2mathml), by pictures of the softmax formula, a derivation in ``aligned`` and a
Jacobian in Chromium: MathML printed the ``&`` of ``aligned`` and lost its lines, kept the parentheses of a
matrix one line high, and depends on a mathematics font that few phones have. KaTeX was right everywhere, for
4 kB of style sheet and 30 to 90 kB of fonts, loaded only by pages with formulas; it writes MathML beside its
boxes, so that screen readers have that, too. Its script runs here, in the V8 of ``mini-racer`` (one wheel of
22 MB, where Node.js is one of 61), and never in the reader's browser.

The script, the style sheet and the fonts stand in ``static/katex``, all of one version.
"""

import atexit
from functools import cache
from pathlib import Path

from docutils import nodes
from py_mini_racer import JSEvalException, MiniRacer
from sphinx.util import logging

log = logging.getLogger(__name__)
KATEX = Path(__file__).parent / "static" / "katex"


class FormulaError(ValueError):
    """A formula that KaTeX cannot read."""


@cache
def engine():
    """Return a JavaScript engine that has read KaTeX (0.2 s, once)."""
    context = MiniRacer()
    atexit.register(context.close)  # on Python 3.13 a process with an open one never ends
    context.eval((KATEX / "katex.min.js").read_text(encoding="utf-8"))
    return context


@cache
def render(latex, display=False):
    """Return the HTML of a formula, as a block or within a line."""
    options = {"displayMode": display, "throwOnError": True, "strict": "error"}
    try:
        return engine().call("katex.renderToString", latex, options)
    except JSEvalException as error:
        first_line = str(error).splitlines()[0]
        raise FormulaError(first_line.partition("KaTeX parse error: ")[2] or first_line) from None


def render_or_warn(node, display):
    """Return the HTML of a formula's node; one that cannot be read stands as it is, and fails the build."""
    try:
        return render(node.astext(), display)
    except FormulaError as error:
        log.warning("formula: %s", error, location=node)
        return f"<code>{nodes.unescape(node.astext())}</code>"


def visit_inline(writer, node):
    """Write a formula within a line."""
    writer.body.append(
        writer.starttag(node, "span", "", CLASS="math") + render_or_warn(node, False) + "</span>"
    )
    raise nodes.SkipNode


def visit_block(writer, node):
    """Write a formula that has its own lines, and its number if it has one."""
    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    writer.body.append(
        writer.starttag(node, "div", CLASS="math") + render_or_warn(node, True) + number + "</div>\n"
    )
    raise nodes.SkipNode


def add_style(app, pagename, templatename, context, doctree):
    """Load KaTeX's style sheet, and with it the fonts, on pages that have a formula."""
    if doctree and any(doctree.findall(lambda node: isinstance(node, nodes.math | nodes.math_block))):
        app.add_css_file("katex/katex.min.css")


def setup(app):
    """Register KaTeX as Sphinx's way to write formulas."""
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_block, None))
    app.connect("html-page-context", add_style)
