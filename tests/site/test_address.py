"""What the site says of itself to others when its address is known: the original, a picture a page, and a page for what is not there."""

import functools
import re
import struct
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from sphinx.errors import ConfigError

from sphinx_ext.address import draw_preview, site_address

ADDRESS = "https://someone.github.io/look-it-up/"  # conftest.py builds the book for it


@pytest.mark.parametrize(
    ("configured", "env", "address"),
    [
        ("", {}, ""),
        ("", {"SITE_URL": "https://ann.github.io/book"}, "https://ann.github.io/book/"),
        ("", {"SITE_URL": "http://localhost:8000"}, "http://localhost:8000/"),
        ("", {"SITE_URL": "", "CI_PAGES_URL": "https://ann.gitlab.io/book/"}, "https://ann.gitlab.io/book/"),
        ("https://book.example.org", {"SITE_URL": "https://ann.github.io/book"}, "https://book.example.org/"),
    ],
)
def test_the_address_is_the_configured_one_or_what_ci_says(configured, env, address):
    assert site_address(SimpleNamespace(html_baseurl=configured), env) == address


@pytest.mark.parametrize("told", ["someone.github.io/book", "/book/", "ftp://someone.github.io/book", "https:///book"])
@pytest.mark.parametrize("source", ["html: baseurl in _config.yml", "SITE_URL", "CI_PAGES_URL"])
def test_what_is_no_address_is_refused(source, told):
    said = f"{source} must begin with https:// or http:// and name a host, got '{told}': write it"
    with pytest.raises(ConfigError, match=f"^{re.escape(said)}"):
        site_address(SimpleNamespace(html_baseurl=told if "html" in source else ""), {source: told})


def property_of(text, name):
    """Return what a page says of itself under a name."""
    return re.search(rf'<meta (?:property|name)="{name}" content="([^"]*)"', text)[1]


def size_of(png):
    """Return the width and height of a PNG."""
    assert png.startswith(b"\x89PNG")
    return struct.unpack(">II", png[16:24])


def test_every_page_has_a_picture_of_its_own_and_says_where_it_stands(site, pages):
    pictures = {}
    for name in pages:
        if name == "search.html":
            continue
        text = (site / name).read_text("utf-8")
        assert f'<link rel="canonical" href="{ADDRESS}{name}"' in text
        assert property_of(text, "og:url") == ADDRESS + name
        picture = property_of(text, "og:image")
        assert picture.startswith(ADDRESS)
        pictures[name] = (site / picture.removeprefix(ADDRESS)).read_bytes()
        assert size_of(pictures[name]) == (1200, 630) and len(pictures[name]) < 100_000
        assert len(property_of(text, "og:image:alt")) > 15 and property_of(text, "og:title")
        assert property_of(text, "og:description") == property_of(text, "description")
    assert len(set(pictures.values())) == len(pictures)


def test_a_title_with_a_dollar_sign_or_of_any_length_is_drawn():
    assert size_of(draw_preview("Scaling: why $√d_k", "Look It Up")) == (1200, 630)
    assert size_of(draw_preview("word " * 60, "Look It Up")) == (1200, 630)
    assert (
        draw_preview("A", "Look It Up") == draw_preview("A", "Look It Up") != draw_preview("B", "Look It Up")
    )


def test_without_an_address_a_page_names_none(small_book):
    done = small_book.build(SITE_URL="", CI_PAGES_URL="", READTHEDOCS_CANONICAL_URL="")
    assert done.returncode == 0, done.stdout
    text = small_book.page("intro.html")
    assert "og:image" not in text and "canonical" not in text
    assert 'href="/intro.html"' in small_book.page("404.html")


class PagesHandler(SimpleHTTPRequestHandler):
    """Serves the site as GitHub Pages does: in a folder, and with 404.html for whatever is not there."""

    def translate_path(self, path):
        """Take the site's folder off the path."""
        return super().translate_path(path.removeprefix("/look-it-up"))

    def send_error(self, code, message=None, explain=None):
        """Answer with the site's own page."""
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        with open(f"{self.directory}/404.html", "rb") as page:
            self.wfile.write(page.read())

    def log_message(self, *arguments):
        """Say nothing."""


@pytest.fixture
def published(site):
    """The address of the site as it is published."""
    handler = functools.partial(PagesHandler, directory=str(site))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/look-it-up"
    server.shutdown()
    server.server_close()


def test_a_page_that_is_not_there_leads_back_from_any_depth(published, new_page):
    page, missing = new_page(), []
    page.on("response", lambda answer: missing.append(answer.url) if answer.status >= 400 else None)
    for path in ("nowhere.html", "chapters/nowhere.html", "a/b/c/nowhere.html"):
        answer = page.goto(f"{published}/{path}")
        assert answer.status == 404 and page.locator("h1").is_visible()
        page.get_by_role("link", name="first page").click()
        page.wait_for_url("**/look-it-up/intro.html")
    assert len(missing) == 3  # the pages themselves, and nothing that they need


def test_a_page_that_is_not_there_can_be_looked_up(published, new_page):
    page = new_page()
    page.goto(f"{published}/chapters/nowhere.html")
    page.get_by_label("A word").fill("softmax")
    page.keyboard.press("Enter")
    page.wait_for_url("**/look-it-up/search.html?q=softmax")
    page.locator("#search-results a").first.wait_for()
