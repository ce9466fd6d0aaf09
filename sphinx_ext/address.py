"""The address that the site is read at, if the build is told it. Then a page says which is the original, a link
that is shared shows a picture, and the page for what is not there leads back.

It is ``html: baseurl`` in ``_config.yml``, or else the variable ``SITE_URL``, or else what GitLab and Read the Docs say.
"""

import io
import os
import textwrap
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from matplotlib.figure import Figure
from sphinx.errors import ConfigError

from .policy import meta, policy

VARIABLES = ("SITE_URL", "CI_PAGES_URL", "READTHEDOCS_CANONICAL_URL")
PREVIEWS = "_static/previews"
PAPER, INK, ACCENT = "#fbfaf6", "#1f2933", "#0b6e99"
WEIGHTS = np.array([0.06, 0.13, 0.46, 0.23, 0.12])

STYLE = """
  :root { color-scheme: light dark; font: 1.1rem/1.6 system-ui, sans-serif; }
  html { background: light-dark(#fff, #121212); color: light-dark(#1f2933, #e6e8ea); }
  a { color: light-dark(#0b5f86, #7cc4ea); }
  body { max-width: 34rem; margin: 15vh auto; padding: 0 1.25rem; }
  form { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; }
  :is(input, button) { font: inherit; padding: 0.3rem 0.6rem; max-width: 100%; box-sizing: border-box; }
"""
NOT_FOUND = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{policy}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Not found — {title}</title>
<meta name="description" content="There is no page at this address. The book begins elsewhere, and can be searched.">
<link rel="icon" href="{root}_static/favicon.svg">
<style>{style}</style>
</head>
<body>
<main>
<h1>Not on this shelf</h1>
<p>There is no page at this address. It may have moved, or the address has a slip in it.</p>
<p><a href="{root}{first}.html">Open the book at its first page</a>, or look it up:</p>
<form action="{root}search.html" role="search">
<label>A word <input type="search" name="q" size="16" required></label> <button>Search</button>
</form>
</main>
</body>
</html>
"""


def site_address(config, env):
    """Return the address of the site, with a slash at its end, or an empty string. ConfigError: it is no address."""
    sources = {"html: baseurl in _config.yml": config.html_baseurl} | {
        name: env.get(name) for name in VARIABLES
    }
    source, told = next(((source, told) for source, told in sources.items() if told), ("", ""))
    if told and (urlsplit(told).scheme not in ("http", "https") or not urlsplit(told).netloc):
        raise ConfigError(
            f"{source} must begin with https:// or http:// and name a host, got {told!r}: "
            "write it as a browser shows it, such as 'https://someone.github.io/look-it-up/'"
        )
    return told.rstrip("/") + "/" if told else ""


def set_address(app, config):
    """Tell Sphinx, which then says on each page which is the original."""
    config.html_baseurl = site_address(config, os.environ)


def draw_preview(title, book):
    """Return the picture that is shown beside a link to a page: its title, and weights on a shelf; PNG, 1200 × 630."""
    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor=PAPER)
    axes = figure.add_axes((0.09, 0.0, 0.82, 0.34))
    axes.bar(
        range(len(WEIGHTS)),
        WEIGHTS,
        width=0.82,
        color=[ACCENT if w == WEIGHTS.max() else INK for w in WEIGHTS],
    )
    axes.axis("off")
    lines = textwrap.fill(title, 30, max_lines=3, placeholder=" …")
    figure.text(0.09, 0.86, book, fontsize=26, color=ACCENT, va="top", parse_math=False)
    figure.text(0.09, 0.75, lines, fontsize=44, color=INK, va="top", weight="bold", parse_math=False)
    file = io.BytesIO()
    figure.savefig(file, format="png", facecolor=PAPER, metadata={"Software": None})
    return file.getvalue()


def add_preview(app, pagename, templatename, context, doctree):
    """Draw the page's picture, and give its address to the template."""
    if not app.config.html_baseurl or doctree is None:
        return
    picture = f"{PREVIEWS}/{pagename.replace('/', '-')}.png"
    path = Path(app.outdir) / picture
    path.parent.mkdir(parents=True, exist_ok=True)
    title = app.env.titles[pagename].astext()
    path.write_bytes(draw_preview(title, app.config.html_title))
    context["preview"] = {
        "url": app.config.html_baseurl + picture,
        "alt": f"{app.config.html_title}: {title}",
    }


def write_not_found(app, exception):
    """Write the page that a server shows for any address at which there is none, so nothing in it is relative."""
    if exception is None and app.builder.format == "html":
        text = NOT_FOUND.format(
            policy=meta(policy(style=[STYLE])),
            title=escape(app.config.html_title),
            root=escape(urlsplit(app.config.html_baseurl).path or "/"),
            first=app.config.root_doc,
            style=STYLE,
        )
        (Path(app.outdir) / "404.html").write_text(text, encoding="utf-8")


def setup(app):
    """Connect to the build."""
    app.connect("config-inited", set_address)
    app.connect("html-page-context", add_preview)
    app.connect("build-finished", write_not_found)
