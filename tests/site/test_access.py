"""Every page for everybody: axe-core finds nothing in light and dark, and what no tool finds is held here one by one.

By keyboard (focus is seen, boxes that scroll can be scrolled), zoomed to 200 and 400 %, and on paper.
"""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
COLOURS = ["color-contrast", "link-in-text-block"]  # all that can differ between light and dark
# Axe looks at each word's colour by itself, for minutes. A page's second comma has the colours of its first: one is enough.
ONE_OF_EACH = """() => {
  const seen = new Set();
  for (const word of document.querySelectorAll(".highlight span[class]:not(:has(*)), .katex-html")) {
    const kind = [word.className, word.closest("blockquote, [class*=cell_]")?.className].join();
    if (seen.has(kind)) word.remove();
    seen.add(kind);
  }
}"""


def violations(page, only):
    """Return (rule, element) for each violation that axe-core finds on a page."""
    done = Axe().run(page, options={"runOnly": only, "resultTypes": ["violations"]})
    return [
        (rule["id"], " ".join(map(str, node["target"])))
        for rule in done.response["violations"]
        for node in rule["nodes"]
    ]


def in_both_modes(page):
    """Return axe-core's violations on an open page, in light and then, for colours, in dark."""
    page.evaluate(ONE_OF_EACH)
    light = violations(page, WCAG)
    page.emulate_media(color_scheme="dark")
    page.locator('html[data-theme="dark"], html:not([data-theme])').wait_for(state="attached")
    dark = violations(page, {"type": "rule", "values": COLOURS})
    page.emulate_media(color_scheme="light")
    return light + [(f"dark: {rule}", element) for rule, element in dark]


def test_axe_finds_nothing_on_any_page_in_light_and_dark(site_url, pages, new_page):
    found = {}
    page = new_page(reduced_motion="reduce")
    for name in [*pages, "404.html"]:
        page.goto(f"{site_url}/{name}")
        found[name] = in_both_modes(page)
    assert not {name: faults for name, faults in found.items() if faults}


def test_axe_finds_nothing_on_a_phone(site_url, pages, new_page):
    """There other boxes scroll, and other buttons are shown; colours are the same."""
    found, page = {}, new_page(viewport={"width": 390, "height": 800}, reduced_motion="reduce")
    for name in [*pages, "404.html"]:
        page.goto(f"{site_url}/{name}")
        page.evaluate(ONE_OF_EACH)
        rules = [
            "scrollable-region-focusable",
            "target-size",
            "button-name",
            "link-name",
            "label",
            "aria-allowed-role",
        ]
        found[name] = violations(page, {"type": "rule", "values": rules})
    assert not {name: faults for name, faults in found.items() if faults}


@pytest.mark.parametrize(
    ("html", "rule"),
    [
        ("<button></button>", "button-name"),
        ('<p style="color: #999; background: #fff">pale</p>', "color-contrast"),
        (
            '<p style="background: #121212"><span style="color: light-dark(#fff, #333)">dark words</span></p>',
            "dark: color-contrast",
        ),
        ('<img src="data:,">', "image-alt"),
        (
            '<button style="position:absolute;width:9px;height:9px">1</button><button style="position:absolute;left:9px;width:9px;height:9px">2</button>',
            "target-size",
        ),
    ],
)
def test_axe_finds_what_is_wrong(html, rule, new_page):
    page = new_page()
    page.set_content(
        f'<!doctype html><html lang="en" style="color-scheme: light dark"><title>x</title><main>{html}</main>'
    )
    assert rule in [found for found, _ in in_both_modes(page)]


@pytest.mark.parametrize(
    ("selector", "width"),
    [(".katex-display", 200), (".pst-scrollable-table-container", 320), (".cell_input pre", 320)],
)
def test_what_scrolls_sideways_has_a_name_and_scrolls_by_keyboard(selector, width, site_url, new_page):
    page = new_page(viewport={"width": width, "height": 800}, reduced_motion="reduce")
    page.goto(f"{site_url}/chapters/03-scaling.html")
    box = page.locator(f'{selector}[aria-label$="scrolls sideways"]').first
    box.wait_for()
    assert box.get_attribute("role") == "group"
    for _ in range(300):
        page.keyboard.press("Tab")
        if box.evaluate("box => box === document.activeElement"):
            break
    assert box.evaluate("box => getComputedStyle(box).outlineStyle") != "none"
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.scrollLeft > 0")
    # Where there is room, it is no stop on the way through the page.
    page.set_viewport_size({"width": 3000, "height": 800})
    page.wait_for_function("selector => !document.querySelector(`${selector}[aria-label]`)", arg=selector)


def test_focus_is_seen_on_everything_that_takes_it(site_url, new_page):
    """By difference: an element with the focus does not look as it does without."""
    page, unseen = new_page(reduced_motion="reduce"), []
    page.goto(f"{site_url}/chapters/01-library.html")
    for _ in range(40):
        page.keyboard.press("Tab")
        looks = page.evaluate(
            """() => {
                 const look = (element) => [element, ...element.querySelectorAll("*")].slice(0, 9).map((part) => {
                   const style = getComputedStyle(part);
                   return [style.outlineStyle, style.boxShadow, style.textDecoration, style.stroke, style.strokeWidth, style.fill, style.backgroundColor].join();
                 }).join(";");
                 const element = document.activeElement, focused = look(element);
                 element.blur();
                 const blurred = look(element);
                 element.focus({ focusVisible: true });
                 return [element.outerHTML.slice(0, 150), focused !== blurred];
               }"""
        )
        unseen += [looks[0]] * (not looks[1])
    assert not unseen


def test_a_copy_button_is_shown_to_who_comes_by_keyboard(site_url, new_page):
    page = new_page(reduced_motion="reduce")
    page.goto(f"{site_url}/chapters/01-library.html")
    button = page.locator(".copybtn").first
    button.wait_for(state="attached")
    for _ in range(40):
        page.keyboard.press("Tab")
        if button.evaluate("button => button === document.activeElement"):
            break
    page.wait_for_function("() => getComputedStyle(document.activeElement).opacity === '1'")
    assert "copybtn" in page.evaluate("document.activeElement.className")


@pytest.mark.parametrize(
    ("width", "text"), [(640, 100), (320, 100), (1280, 200)], ids=["200 %", "400 %", "text alone 200 %"]
)
def test_zoomed_pages_do_not_scroll_sideways(width, text, site_url, pages, new_page):
    page, wide = new_page(viewport={"width": width, "height": 512}), {}
    for name in [*pages, "404.html"]:
        page.goto(f"{site_url}/{name}")
        wide[name] = page.locator("html").evaluate(
            "(html, size) => { html.style.fontSize = `${size}%`; return html.scrollWidth; }", text
        )
    assert not {name: found for name, found in wide.items() if found > width}


def test_the_headings_of_a_page_go_down_one_level_at_a_time(site, pages):
    for name in pages:
        article = (site / name).read_text("utf-8").partition("<article")[2].partition("</article")[0]
        levels = [int(level) for level in re.findall(r"<h([1-6])", article)]
        assert not levels or levels[0] == 1 and levels.count(1) == 1, name
        assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False)), name


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_paper_gets_the_default_frames_in_dark_ink_and_no_controls(mode, site_url, new_page):
    """Chromium makes the page's PDF; what is on it is asked of the page in its print form."""
    page = new_page(color_scheme=mode)
    page.goto(f"{site_url}/chapters/04-variants.html")
    page.evaluate("""() => addEventListener("beforeprint", () => {
        globalThis.printed = [document.documentElement.dataset.theme, getComputedStyle(document.querySelector("article p")).color];
    })""")
    assert page.pdf(format="A4").startswith(b"%PDF")
    theme, ink = page.evaluate("printed")
    assert theme == "light" and max(map(int, re.findall(r"\d+", ink)[:3])) < 100
    assert page.locator("html").get_attribute("data-theme") == mode
    page.emulate_media(media="print")
    pictures = page.locator(":is(.lu-explorer .lu-view, .lu-figure, .lu-grid) >> visible=true").count()
    assert pictures >= page.locator(".lu-explorer, .lu-figure, .lu-grid").count() > 5
    assert not page.locator("article :is(.lu-controls, .lu-body button:not(.lu-grid *), .copybtn):visible").count()
    hidden = page.evaluate(
        "[...document.querySelectorAll('article pre')].filter((box) => box.scrollWidth > box.clientWidth + 1).length"
    )
    assert not hidden


def test_a_picture_of_text_is_never_the_only_text(site, pages):
    """Each picture says what is to be seen on it."""
    for name in pages:
        text = (site / name).read_text("utf-8")
        for image in re.findall(r"<img[^>]*>", text):
            assert re.search(r'alt="[^"]{15,}"', image), (name, image)
        for figure in re.findall(r'<svg[^>]*role="img"[^>]*>', text):
            assert re.search(r'aria-label(?:ledby)?="[^"]+"', figure), (name, figure)
