"""What a reader sees and does on the built page: mouse, touch, keyboard, a phone, the dark, no scripts, a strict policy."""

import base64
import hashlib
import json
import re

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from lib.attention import scaled_dot_product_attention
from lib.show.hands_on import STATIC, mask_editor, shelf
from sphinx_ext.hands_on import inline_script

# Without preload: axe would fetch the theme's style sheets, which a page from a folder may not.
RULES = {
    "preload": False,
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}
LIGHTS = [dict(color_scheme="light"), dict(color_scheme="dark"), dict(color_scheme="dark", width=390)]


def first(page, kind="shelf"):
    return page.locator(f'[data-hands-on="{kind}"]').first


def handle(widget, which="query"):
    return widget.locator(f'.lu-handle[data-which="{which}"]')


def weights(widget):
    """The weight column of the shelf's table."""
    return [float(text) for text in widget.locator(".lu-table tbody td:nth-child(3)").all_inner_texts()]


def blend(widget):
    return [float(text) for text in widget.locator(".lu-table tfoot td").all_inner_texts()]


def sentence(widget, text):
    expect(widget.locator(".lu-say")).to_contain_text(text)


def middle(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, grip, target):
    grip.scroll_into_view_if_needed()
    page.mouse.move(*middle(grip))
    page.mouse.down()
    page.mouse.move(*middle(target), steps=5)
    page.mouse.up()


# ---- the shelf ----


def test_the_query_is_dragged_to_a_book(demo):
    page = demo()
    widget = first(page)
    sentence(widget, "The query asks most of ‘Lives of Astronomers’ (0.75)")
    drag(page, handle(widget), handle(widget, 4))
    sentence(widget, "The query asks most of ‘Fairy Tales’")
    assert weights(widget)[4] == max(weights(widget))
    assert handle(widget).get_attribute("aria-valuetext") == handle(widget, 4).get_attribute("aria-valuetext")
    assert sum(blend(widget)) == pytest.approx(14, abs=0.8) and blend(widget)[1] > 7


def test_a_book_is_dragged_and_only_it_moves(demo):
    page = demo()
    widget = first(page)
    places = lambda: [h.get_attribute("transform") for h in widget.locator(".lu-handle").all()]  # noqa: E731
    before = places()
    drag(page, handle(widget, 4), handle(widget))
    assert [i for i, place in enumerate(places()) if place != before[i]] == [4]
    assert weights(widget)[4] > 0.15


def test_a_touch_drags_the_query_and_does_not_scroll(demo):
    page = demo(width=390, has_touch=True, is_mobile=True)
    widget = first(page)
    handle(widget).scroll_into_view_if_needed()
    x, y = middle(handle(widget))
    scrolled = page.evaluate("scrollY")
    touch = page.context.new_cdp_session(page)
    for kind, points in [
        ("touchStart", [(x, y)]),
        ("touchMove", [(x, y + 40)]),
        ("touchMove", [(x, y + 90)]),
        ("touchEnd", []),
    ]:
        touch.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": a, "y": b} for a, b in points]}
        )
    expect(handle(widget)).to_have_attribute("aria-valuetext", re.compile(r"people −0\.\d\d"))
    sentence(widget, "The query asks most of ‘Star Atlas’")
    assert page.evaluate("scrollY") == scrolled
    assert (
        page.evaluate("s => getComputedStyle(document.querySelector(s)).touchAction", ".lu-plane") == "auto"
    )


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("End", "science 3.00, people 1.20"),
        ("Home", "science −3.00, people 1.20"),
        ("PageUp", "science 1.00, people 1.70"),
        ("PageDown", "science 1.00, people 0.70"),
    ],
)
def test_the_query_has_the_keys_of_every_slider(key, place, demo):
    page = demo()
    query = handle(first(page))
    query.focus()
    scrolled = page.evaluate("scrollY")
    page.keyboard.press(key)
    expect(query).to_have_attribute("aria-valuetext", place)
    assert page.evaluate("scrollY") == scrolled


def test_arrow_keys_move_the_query_and_the_books(demo):
    page = demo()
    widget = first(page)
    query = handle(widget)
    query.focus()
    for key in ["ArrowRight", "ArrowUp", "Shift+ArrowLeft", "ArrowDown"]:
        page.keyboard.press(key)
    expect(query).to_have_attribute("aria-valuetext", "science 0.60, people 1.20")
    expect(query).to_have_attribute("aria-valuenow", "0.6")
    handle(widget, 0).focus()
    for _ in range(20):
        page.keyboard.press("Shift+ArrowRight")
    expect(handle(widget, 0)).to_have_attribute(
        "aria-valuetext", "science 3.00, people −0.60"
    )  # it stays in the picture


def test_everything_is_reached_with_tab_alone(demo):
    page = demo()
    widget = first(page)
    handle(widget, 0).focus()
    reached = []
    for _ in range(9):
        reached.append(
            page.evaluate("(e => e.ariaLabel ?? e.type + ' ' + e.className)(document.activeElement)")
        )
        page.keyboard.press("Tab")
    books = ["Star Atlas", "Lives of Astronomers", "A History of Rome", "Garden Plants", "Fairy Tales"]
    assert reached == [f"key {i}, {book}" for i, book in enumerate(books, 1)] + [
        "query", "range ", "button lu-swap", "button lu-reset",
    ]  # fmt: skip


def test_temperature_goes_from_hard_lookup_to_plain_average(demo):
    page = demo()
    widget = first(page)
    slider = widget.locator("input")
    slider.focus()
    page.keyboard.press("Home")
    assert weights(widget) == [0, 1, 0, 0, 0] and blend(widget) == [5, 8, 2]
    expect(slider).to_have_attribute("aria-valuetext", "0, hard lookup")
    sentence(
        widget, "Hard lookup: ‘Lives of Astronomers’ gets all the weight; the blend is its value, 5.00 facts"
    )
    page.keyboard.press("End")
    assert weights(widget) == [0.2] * 5 and blend(widget) == [5.2, 4.8, 5.0]
    sentence(widget, "Plain average: every book has the weight 0.20")
    page.keyboard.press("ArrowLeft")
    expect(widget.locator("output")).to_have_text("50")


def test_a_reader_who_comes_back_finds_the_slider_where_the_temperature_is(demo):
    """Safari keeps the page, and sets the slider alone back to its default, without saying so."""
    page = demo()
    slider = first(page).locator("input")
    slider.press("End")
    slider.evaluate("slider => slider.value = slider.defaultValue")
    expect(slider).to_have_value("15")
    expect(first(page).locator("output")).to_have_text("∞")


def test_the_temperature_stands_on_the_line_of_its_name(demo):
    """Safari sets an inline block that was empty too high; the theme makes every output one."""
    assert first(demo()).locator("output").evaluate("output => getComputedStyle(output).display") == "inline"


def test_swapped_values_change_the_blend_and_not_the_weights(demo):
    page = demo()
    widget = first(page)
    shown, blended = weights(widget), blend(widget)
    widget.get_by_role("button", name="Swap the values").click()
    assert weights(widget) == shown and blend(widget) != blended
    sentence(widget, "The values stand at other books now")
    handle(widget).focus()
    page.keyboard.press("ArrowLeft")
    widget.get_by_role("button", name="Reset").click()
    assert (weights(widget), blend(widget)) == (shown, blended)
    expect(widget.locator(".lu-say")).not_to_contain_text("other books")


def test_a_screen_reader_hears_one_sentence_when_the_hand_rests(demo):
    page = demo()
    widget = first(page)
    page.evaluate("""() => {
      window.said = 0;
      const watch = new MutationObserver(() => window.said++);
      for (const p of document.querySelectorAll(".lu-say")) watch.observe(p, {childList: true, characterData: true, subtree: true});
    }""")
    handle(widget).focus()
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
    sentence(widget, "‘A History of Rome’")
    page.wait_for_function("document.activeElement.getAttribute('aria-valuenow') === '-0.2'")
    assert page.evaluate("said") <= 2  # not twelve


# ---- the mask editor ----


def cell(widget, i, j):
    return widget.locator(f'button[data-cell="{i} {j}"]')


def row_weights(widget):
    return [float(text) for text in widget.locator(".lu-chosen tbody tr:last-child td").all_inner_texts()]


def test_a_click_makes_a_leak_and_the_row_follows(demo):
    widget = first(demo(), "mask_editor")
    sentence(widget, "The mask is: causal. Token 2 ‘forget’ sees 3 of 8 keys")
    assert row_weights(widget)[3:] == [0] * 5
    cell(widget, 2, 4).click()
    expect(cell(widget, 2, 4)).to_have_attribute("aria-pressed", "true")
    sentence(widget, "causal, but token 2 ‘forget’ sees token 4 ‘word’: a leak")
    assert row_weights(widget)[4] > 0 and sum(row_weights(widget)) == pytest.approx(1, abs=0.02)
    cell(widget, 6, 0).click()  # the row follows the hand
    expect(widget.locator("caption")).to_have_text("The row of token 6 ‘it’")
    assert row_weights(widget)[0] == 0


def test_the_mask_is_worked_with_the_keyboard_alone(demo):
    page = demo()
    widget = first(page, "mask_editor")
    widget.get_by_role("button", name="window").focus()
    page.keyboard.press("Tab")  # one stop for the whole grid: the chosen row's name
    focused = "document.activeElement.dataset.cell"
    assert page.evaluate(focused) == "2 -1"
    for key, place in [("ArrowRight", "2 0"), ("ArrowUp", "1 0"), ("ArrowUp", "0 0"), ("ArrowUp", "0 0"), ("End", "0 7"), ("Home", "0 -1"),
                       ("ArrowRight", "0 0")]:  # fmt: skip
        page.keyboard.press(key)
        assert page.evaluate(focused) == place
    page.keyboard.press("Space")
    sentence(widget, "Token 0 ‘if’ sees no key at all: its weights are 0, so its output is 0.")
    assert row_weights(widget) == [0] * 8
    page.keyboard.press("Enter")
    sentence(widget, "Token 0 ‘if’ sees 1 of 8 keys and gives most weight to ‘if’ (1.00)")
    page.keyboard.press("Tab")
    assert page.evaluate(focused) is None  # and out of the grid
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(focused) == "0 0"  # back to the same cell


@pytest.mark.parametrize(
    ("preset", "said", "open_cells"),
    [
        ("none", "no mask", 64),
        ("causal", "causal", 36),
        ("padding", "padding: only the first 5", 40),
        ("window", "window of 2 before", 21),
    ],
)
def test_presets(demo, preset, said, open_cells):
    widget = first(demo(), "mask_editor")
    button = widget.get_by_role("button", name=preset, exact=True)
    button.click()
    sentence(widget, f"The mask is: {said}")
    assert widget.locator('.lu-cell[aria-pressed="true"]').count() == open_cells
    expect(button).to_have_attribute("aria-pressed", "true")
    cell(widget, 4, 4).click()
    expect(button).to_have_attribute("aria-pressed", "false")


# ---- both, and the page around them ----


def test_two_of_a_kind_do_not_move_each_other(demo):
    page = demo()
    for kind, control in [("shelf", ".lu-swap"), ("mask_editor", '[data-preset="window"]')]:
        one, two = page.locator(f'[data-hands-on="{kind}"]').all()
        before = two.inner_html()
        one.locator(control).click()
        expect(one.locator(".lu-say")).to_contain_text(re.compile("other books|window"))
        assert two.inner_html() == before


def axe(page):
    """Let axe look at one of a kind: its search for contrast takes seconds for each."""
    for kind in ("shelf", "mask_editor"):
        first(page, kind).evaluate("e => e.dataset.looked = 'at'")
    return Axe().run(page, context="[data-looked]", options=RULES)


@pytest.mark.parametrize("light", LIGHTS)
def test_axe_finds_nothing(demo, light):
    page = demo(**light)
    first(page).locator(".lu-swap").click()
    cell(first(page, "mask_editor"), 2, 4).click()
    found = axe(page)
    assert found.violations_count == 0, found.generate_report()


def test_axe_would_find_a_handle_without_a_name(demo):
    page = demo()
    page.evaluate("document.querySelector('.lu-handle').removeAttribute('aria-label')")
    assert axe(page).violations_count > 0


SMALL = """least => [...document.querySelectorAll(".lu *")].filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
  .filter(e => !e.closest("script, noscript, thead .visually-hidden"))
  .filter(e => parseFloat(getComputedStyle(e).fontSize) * (e.closest("svg") ? e.closest("svg").getScreenCTM().a : 1) < least)
  .map(e => e.textContent)"""
TIGHT = """least => [...document.querySelectorAll(".lu button, .lu input, .lu-handle circle")]
  .map(e => [e.className, e.getBoundingClientRect()]).filter(([, r]) => Math.min(r.width, r.height) < least).map(([name]) => name)"""
WIDE = """() => [...document.querySelectorAll(".lu *")].filter(e => e.getBoundingClientRect().right > innerWidth).map(e => e.className)"""


@pytest.mark.parametrize("width", [390, 1280])
def test_text_and_targets_are_large_enough_and_nothing_sticks_out(demo, width):
    page = demo(width=width)
    assert page.evaluate(SMALL, 11) == []
    assert page.evaluate(TIGHT, 24) == []
    assert page.evaluate(WIDE) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(SMALL, 40) and page.evaluate(TIGHT, 100)  # both do measure


def test_with_scripts_off_the_default_state_can_be_read(demo):
    page = demo(java_script_enabled=False)
    widget = first(page)
    expect(widget.locator(".lu-say")).to_contain_text("The query asks most of ‘Lives of Astronomers’ (0.75)")
    assert weights(widget) == [0.1, 0.75, 0.14, 0.01, 0.0]
    assert "Without scripts this picture does not move." in widget.locator("noscript").text_content()
    expect(widget.locator("noscript")).to_be_visible()
    expect(widget.locator(".lu-plane")).to_be_visible()
    expect(widget.locator(".lu-swap")).to_be_hidden()
    mask = first(page, "mask_editor")
    expect(mask.locator(".lu-say")).to_contain_text("The mask is: causal.")
    expect(mask.locator(".lu-preset").first).to_be_hidden()
    expect(cell(mask, 0, 0)).to_be_disabled()


def test_the_page_carries_each_module_once_and_no_widget_state(site):
    html = (site / "demo.html").read_text("utf-8")
    scripts = re.findall(r'<script type="module">(.*?)</script>', html, re.DOTALL)
    assert scripts == [
        inline_script("mask_editor"),
        inline_script("shelf"),
    ]  # to the letter: a policy names their hashes
    assert not re.search("widget-state|widget-view|html-manager|require.js", html)
    other = (site / "intro.html").read_text("utf-8")
    assert "hands_on.css" in html and "hands_on.css" not in other and 'type="module"' not in other


# ---- a strict Content-Security-Policy ----


def policed(open_page, page_text, *hashes):
    """Open a page with the two explorers whose policy lets only these scripts run."""
    policy = f"default-src 'none'; style-src file:; script-src {' '.join(hashes)}"
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}"><link rel="stylesheet" href="hands_on.css">'
    page_text.with_name("hands_on.css").write_text((STATIC / "hands_on.css").read_text())
    scripts = "".join(
        f'<script type="module">{inline_script(name)}</script>' for name in ("shelf", "mask_editor")
    )
    X = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    widgets = shelf(
        list("abc"), X, X, [1, 0], components=["x", "y"], attention=scaled_dot_product_attention
    ).to_html()
    widgets += mask_editor(list("abc"), X, X, X, attention=scaled_dot_product_attention).to_html()
    page_text.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>{head}{widgets}{scripts}</html>',
        "utf-8",
    )
    return open_page(page_text.as_uri())


def hashes():
    return [
        f"'sha256-{base64.b64encode(hashlib.sha256(inline_script(m).encode()).digest()).decode()}'"
        for m in ("shelf", "mask_editor")
    ]


def test_it_works_under_a_policy_that_names_its_hashes(open_page, tmp_path, monkeypatch):
    monkeypatch.setenv("LOOK_IT_UP_FRAMES", "1")
    page = policed(open_page, tmp_path / "index.html", *hashes())
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.lu-handle circle')).touchAction") == "none"
    )  # the style sheet is in
    handle(first(page)).focus()
    page.keyboard.press("ArrowUp")
    expect(handle(first(page))).to_have_attribute("aria-valuetext", "x 1.00, y 0.10")
    cell(first(page, "mask_editor"), 0, 0).click()
    sentence(first(page, "mask_editor"), "no mask, but token 0 ‘a’ does not see token 0 ‘a’")
    # a failure would be a console error, which open_page reports


def test_a_policy_without_the_hashes_stops_them(browser, tmp_path, monkeypatch):
    monkeypatch.setenv("LOOK_IT_UP_FRAMES", "1")
    said = []

    def open_page(url):
        page = browser.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.goto(url)
        return page

    page = policed(open_page, tmp_path / "index.html", "'none'")
    assert handle(first(page)).get_attribute("tabindex") is None
    assert any("Content Security Policy" in text for text in said)
    page.close()


def test_the_numbers_on_the_page_are_those_of_the_notebook(demo):
    """The state that the kernel wrote and the default view that the module drew from it agree."""
    page = demo()
    state = json.loads(first(page).locator("script").text_content())
    wanted = scaled_dot_product_attention(
        *(np.array(state[name], dtype=float) for name in ("query", "key", "value")), scale=1
    )
    assert weights(first(page)) == wanted.weights[0].round(2).tolist()
    assert blend(first(page)) == pytest.approx(wanted.output[0], abs=0.005)
