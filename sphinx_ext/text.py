"""How the words of a page behave: where long names break, which outputs wrap, and which words are Chinese.

- In a table a long name in code breaks after a part of it (``scaled_dot_product_`` / ``attention``), not within a word.
- What a cell prints keeps its columns and scrolls; a single line, or one that is too long for columns, is prose and wraps.
- A screen reader says Chinese words with a Chinese voice, and a browser takes a Chinese font for them.
"""

import re

from docutils import nodes

COLUMNS = 100  # characters: a line that is longer, and not one of many, is no row of a table
CELL = re.compile(r"<(t[dh])\b[^>]*>.*?</\1>", re.DOTALL)
HAN = ("zh", "ja", "ko")  # languages of books in which such a cell needs no mark
LONG_NAME = re.compile(r'(?<=<span class="pre">)[^<]{16,}')
PART = re.compile(r"(?<=\w{3}[_./])(?=\w{3})")
CHINESE = re.compile(r"<(p|th|td)>(?=[\u4e00-\u9fff][^<]*</\1>)")


def is_prose(text):
    """Return True if a printed text has one line, or a few that are too long to be rows of a table."""
    lines = text.strip().splitlines()
    long = sum(len(line) > COLUMNS for line in lines)
    return len(lines) == 1 or 0 < long <= len(lines) / 2


def wrap_prose(app, doctree, docname):
    """Mark the printed outputs that wrap, for the style sheet."""
    for output in doctree.findall(nodes.literal_block):
        if "output" in output["classes"] and is_prose(output.astext()):
            output["classes"].append("prose")


def break_names(cell):
    """Return a cell of a table with the places where its long names may break."""
    return LONG_NAME.sub(lambda name: PART.sub("<wbr>", name[0]), cell[0])


def improve(html, mark_chinese=True):
    """Return a page's text with these places, and with the language of Chinese cells.

    >>> improve('<td>词元</td><td><span class="pre">causal_upper_left</span></td>')
    '<td lang="zh">词元</td><td><span class="pre">causal_<wbr>upper_<wbr>left</span></td>'
    """
    html = CELL.sub(break_names, html)
    return CHINESE.sub(r'<\1 lang="zh">', html) if mark_chinese else html


def improve_page(app, pagename, templatename, context, doctree):
    """Do so for a page on its way to the template."""
    if "body" in context:
        context["body"] = improve(context["body"], not app.config.language.startswith(HAN))


def setup(app):
    """Register the handlers above."""
    app.connect("doctree-resolved", wrap_prose)
    app.connect("html-page-context", improve_page)
