"""Every page of the built book, in Chromium: closed, without errors, light, readable, and with links that lead somewhere.

Each check is a function that returns what is wrong, and is shown a page that it must reject.
"""

import gzip
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

PLAIN_PAGE, ANY_PAGE = 200_000, 350_000  # bytes, compressed, everything included
RECORDED = Path(__file__).with_name("weights.json")  # written again by this test where RECORD_WEIGHTS is set
COMPRESSIBLE = {".html", ".css", ".js", ".svg", ".json", ".txt"}


def visit(page, url, own):
    """Open a page; return what it asked another host for, what it logged as an error, and what it did not find."""
    found, asked = [], []

    def gate(route):
        address = route.request.url
        asked.append(address)
        if address.startswith((own, "data:", "blob:")):
            return route.continue_()
        found.append(f"asked another host: {address}")
        return route.abort()

    page.route("**/*", gate)
    page.on(
        "console",
        lambda message: (
            found.append(f"console: {message.text}") if message.type in ("error", "warning") else None
        ),
    )
    page.on("pageerror", lambda error: found.append(f"script: {error}"))
    page.on(
        "response", lambda answer: found.append(f"missing: {answer.url}") if answer.status >= 400 else None
    )
    # A request that is only broken off, because the page leads on to another, misses nothing.
    page.on(
        "requestfailed",
        lambda request: found.append(f"missing: {request.url}") if "ABORTED" not in request.failure else None,
    )
    page.goto(url, wait_until="networkidle")
    return found, asked


@pytest.fixture(scope="module")
def visits(site_url, pages, browser):
    """A first visit to each page as it is served, in a browser that has seen none: what was wrong, and what was asked for."""
    found = {}
    for name in [*pages, "index.html"]:
        context = browser.new_context(service_workers="block")
        found[name] = visit(context.new_page(), f"{site_url}/{name}", site_url)
        context.close()
    return found


def test_no_page_asks_another_host_logs_an_error_or_misses_a_file(visits):
    assert not {name: faults for name, (faults, _) in visits.items() if faults}


def test_nor_does_a_page_that_is_opened_from_a_folder(site, pages, new_page):
    found = {}
    for name in [*pages, "index.html"]:
        page = new_page()
        found[name] = visit(page, f"{site.as_uri()}/{name}", site.as_uri())[0]
        page.close()
    assert not {name: faults for name, faults in found.items() if faults}


@pytest.mark.parametrize("way", ["served", "from a folder"])
def test_the_file_that_the_build_names_leads_to_the_first_page(way, site, site_url, new_page):
    page = new_page()
    page.goto(f"{site_url if way == 'served' else site.as_uri()}/index.html")
    page.wait_for_url("**/intro.html")


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (
            '<script src="https://cdn.example.org/x.js"></script>',
            "asked another host: https://cdn.example.org/x.js",
        ),
        (
            '<style>@import "https://fonts.example.org/a.css";</style>',
            "asked another host: https://fonts.example.org/a.css",
        ),
        (
            "<script>fetch('https://example.org/count').catch(() => {})</script>",
            "asked another host: https://example.org/count",
        ),
        ("<script>console.error('oh')</script>", "console: oh"),
        ("<script>nothing()</script>", "script: nothing is not defined"),
        ('<img src="nowhere.png" alt="">', "missing: "),
    ],
)
@pytest.mark.parametrize("way", ["served", "from a folder"])
def test_a_bad_page_is_rejected(way, body, fault, tmp_path, serve, new_page):
    (tmp_path / "bad.html").write_text(
        f'<!doctype html><link rel="icon" href="data:,"><title>x</title>{body}'
    )
    own = serve(tmp_path) if way == "served" else tmp_path.as_uri()
    assert any(said.startswith(fault) for said in visit(new_page(), f"{own}/bad.html", own)[0])


def transferred(path):
    """Return the bytes that a server sends for a file: compressed where that helps."""
    return len(gzip.compress(path.read_bytes())) if path.suffix in COMPRESSIBLE else path.stat().st_size


def weigh(asked, site, site_url):
    """Return the bytes of each of our files that a first visit transferred, by name."""
    names = {urlsplit(address).path.lstrip("/") for address in asked if address.startswith(site_url)}
    return {name: transferred(site / name) for name in names if (site / name).is_file()}


def too_heavy(weights, limit, recorded):
    """Return a sentence that names what grew if a page is over its limit, or nothing."""
    if sum(weights.values()) <= limit:
        return ""
    grown = sorted(weights, key=lambda name: recorded.get(name, 0) - weights[name])[:5]
    return f"{sum(weights.values())} of {limit} bytes; most grown: " + ", ".join(
        f"{name} {weights[name]} (was {recorded.get(name, 'not there')})" for name in grown
    )


def test_every_page_is_light(visits, site, site_url, pages, capsys):
    weights = {name: weigh(visits[name][1], site, site_url) for name in pages}
    if "RECORD_WEIGHTS" in os.environ:
        record = {file: size for each in weights.values() for file, size in each.items()}
        RECORDED.write_text(json.dumps(record, indent=0, sort_keys=True) + "\n")
    recorded, found = json.loads(RECORDED.read_text()), {}
    for name in pages:
        article = (site / name).read_text("utf-8").partition("<article")[2]
        plain = not re.search(r'class="katex|<svg|<img|<canvas', article.partition("</article")[0])
        found[name] = too_heavy(weights[name], PLAIN_PAGE if plain else ANY_PAGE, recorded)
        with capsys.disabled():
            print(
                f"\n{name}: {sum(weights[name].values()) / 1000:.0f} kB{' (plain)' if plain else ''}", end=""
            )
    assert not {name: fault for name, fault in found.items() if fault}


def test_a_heavy_page_is_rejected_with_what_grew():
    recorded = {"theme.css": 70_000, "page.html": 8_000}
    said = too_heavy({"theme.css": 70_000, "icons.js": 543_000, "page.html": 9_000}, PLAIN_PAGE, recorded)
    assert said.startswith(
        "622000 of 200000 bytes; most grown: icons.js 543000 (was not there), page.html 9000 (was 8000)"
    )
    assert not too_heavy({"page.html": 9_000}, PLAIN_PAGE, recorded)


def test_every_icon_is_drawn(site_url, pages, new_page):
    page, blank = new_page(), {}
    for name in pages:
        page.goto(f"{site_url}/{name}")
        blank[name] = page.evaluate(
            """() => [...document.querySelectorAll('[class*="fa-"]')]
                 .filter(icon => !getComputedStyle(icon, '::before').maskImage.startsWith('url("data:image/svg'))
                 .map(icon => icon.className)"""
        )
    assert not {name: icons for name, icons in blank.items() if icons}


def test_formulas_are_readable_with_scripts_off(site, new_page):
    with_formulas = [path for path in site.rglob("*.html") if 'class="katex"' in path.read_text("utf-8")]
    assert with_formulas
    for path in with_formulas:
        page = new_page(java_script_enabled=False)
        page.goto(path.as_uri())
        formula = page.locator(".katex-html").first
        assert formula.is_visible() and formula.bounding_box()["width"] > 5
        assert "$$" not in page.locator("article").inner_text()
        page.close()


def test_katex_is_loaded_only_where_there_is_a_formula(site, pages):
    for name in pages:
        text = (site / name).read_text("utf-8")
        assert ("katex.min.css" in text) == ('class="katex"' in text), name


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts on", "scripts off"])
def test_no_page_scrolls_sideways_on_a_phone(scripts, site_url, pages, new_page):
    page = new_page(viewport={"width": 390, "height": 800}, java_script_enabled=scripts)
    widths = {}
    for name in pages:
        page.goto(f"{site_url}/{name}")
        # A page can be scrolled sideways if scrolling it moves it.
        page.mouse.wheel(500, 0)
        widths[name] = page.locator("html").evaluate("html => html.scrollWidth")
    assert not {name: width for name, width in widths.items() if width > 390}


def test_on_a_wide_screen_no_output_of_text_is_cut(site_url, new_page):
    page = new_page(viewport={"width": 1280, "height": 800})
    cut = "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth).map(box => box.textContent)"
    page.goto(f"{site_url}/chapters/04-variants.html")
    assert page.locator(".cell_output pre").count() > 10
    assert page.locator(".cell_output pre").evaluate_all(cut) == []
    page.evaluate("document.querySelectorAll('.cell_output pre').forEach(box => box.style.whiteSpace = 'pre')")
    assert "is_causal=True needs" in " ".join(page.locator(".cell_output pre").evaluate_all(cut))


def test_a_wide_formula_scrolls_in_its_own_box(small_book, new_page):
    small_book.write("intro.md", "# Wide\n\n$$\n" + " ".join(f"x_{{{i}}}" for i in range(60)) + "\n$$\n")
    assert small_book.build().returncode == 0
    page = new_page(viewport={"width": 390, "height": 800})
    page.goto((small_book.folder / "_build/html/intro.html").as_uri())
    assert page.locator("html").evaluate("html => html.scrollWidth") == 390
    assert page.locator(".katex-display").evaluate("box => box.scrollWidth > box.clientWidth")


class Anchors(HTMLParser):
    """Collects a page's ids, and what it links to."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links = {""}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id", ""))
        self.links += [attributes[key] for key in ("href", "src") if attributes.get(key)]


def broken_links(folder):
    """Return (page, link) for each link of a built site to a file or a heading that does not exist."""
    parsed = {
        path: Anchors(path.read_text("utf-8"))
        for path in folder.rglob("*.html")
        if "_static" not in path.parts and path.name != "404.html"  # which leads to the site's address
    }
    broken = []
    for path, page in parsed.items():
        for link in page.links:
            address, heading = urldefrag(urljoin(path.as_uri(), link))
            target = Path(unquote(urlsplit(address).path))
            if urlsplit(address).scheme != "file":
                continue
            if not target.is_file() or (
                target in parsed and heading and unquote(heading) not in parsed[target].ids
            ):
                broken.append((path.name, link))
    return broken


def test_every_link_leads_to_a_page_and_a_heading(site):
    assert not broken_links(site)


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="here"></h1><a href="a.html#here">1</a><a href="#here">2</a><a href="https://x.org">3</a>'
    )
    assert not broken_links(tmp_path)
    (tmp_path / "b.html").write_text(
        '<a href="a.html#there">1</a><a href="c.html">2</a><img src="d.png"><a href="#x">3</a>'
    )
    assert broken_links(tmp_path) == [
        ("b.html", "a.html#there"),
        ("b.html", "c.html"),
        ("b.html", "d.png"),
        ("b.html", "#x"),
    ]


def rare_word(name, texts):
    """Return a long word of this page that no other page has."""
    words = {page: set(re.findall(r"\b[a-z]{6,14}\b", text.lower())) for page, text in texts.items()}
    others = set().union(*(found for page, found in words.items() if page != name))
    return max(words[name] - others, key=lambda word: (len(word), word))


@pytest.mark.parametrize("way", ["served", "from a folder"])
def test_search_finds_a_word_of_every_chapter(way, site, site_url, pages, new_page):
    own = site_url if way == "served" else site.as_uri()
    texts = {
        name: " ".join(re.findall(r"<p>([^<]+)", (site / name).read_text("utf-8")))
        for name in pages
        if name != "search.html"
    }
    page = new_page()
    for name in (name for name in pages if name.startswith("chapters/")):
        found, _ = visit(page, f"{own}/{name}", own)
        page.keyboard.press("Control+k")
        page.locator("#pst-search-dialog input").fill(rare_word(name, texts))
        page.keyboard.press("Enter")
        result = page.locator(f'#search-results a[href*="{name}"]').first
        result.wait_for()
        page.get_by_text("Search finished").wait_for()
        page.wait_for_load_state("networkidle")
        assert not found
        page.unroute_all()
    result.click()
    page.wait_for_url(f"**/{name}*")


def test_search_quotes_what_it_found_where_it_may(site_url, new_page):
    page = new_page()
    page.goto(f"{site_url}/search.html?q=attention")
    page.locator("#search-results .context").first.wait_for()


def test_every_page_says_what_it_is(site, pages):
    titles, descriptions = {}, {}
    for name in pages:
        text = (site / name).read_text("utf-8")
        titles[name] = re.search(r"<title>(.*?)</title>", text)[1]
        assert "Look It Up" in titles[name] and "<no title>" not in titles[name]
        if name != "search.html":
            descriptions[name] = re.search(r'<meta name="description" content="(.*?)">', text)[1]
            assert 20 < len(descriptions[name]) <= 320, (
                name
            )  # 160 characters, some of them written as entities
    assert len(set(titles.values())) == len(titles) and len(set(descriptions.values())) == len(descriptions)


def test_there_is_one_search_field_and_no_empty_footer(site_url, pages, new_page):
    page = new_page()
    for name in pages:
        page.goto(f"{site_url}/{name}")
        fields = page.locator("input[type=search]:visible, .search-button-field:visible").count()
        assert fields == 1, name
        empty = page.evaluate(
            "[...document.querySelectorAll('footer')].filter(f => f.offsetHeight && !f.innerText.trim()).length"
        )
        assert not empty, name


def test_the_footer_names_the_books_year_and_authors(site, pages):
    text = (site / "intro.html").read_text("utf-8")
    assert "© Copyright 2026" in text and "By the Look It Up contributors" in text


def test_the_mode_is_known_before_the_themes_own_script_runs(site_url, new_page):
    page = new_page(color_scheme="dark")
    page.route("**/pydata-sphinx-theme.js", lambda route: route.abort())
    page.goto(f"{site_url}/intro.html")
    assert page.locator("html").get_attribute("data-theme") == "dark"


def test_the_mode_is_the_systems_and_changes_by_keyboard(site_url, new_page):
    page = new_page(color_scheme="dark")
    page.goto(f"{site_url}/intro.html")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.locator(".theme-switch-button").focus()
    seen = set()
    for _ in range(3):
        page.keyboard.press("Enter")
        seen.add(
            (
                page.locator("html").get_attribute("data-mode"),
                page.locator("html").get_attribute("data-theme"),
            )
        )
    assert seen == {("light", "light"), ("dark", "dark"), ("auto", "dark")}
