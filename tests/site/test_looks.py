"""What was once found by looking at every page: on a phone, in the dark, in forced colours, on paper, with wider spacing."""

import io

import pytest
from PIL import Image

from sphinx_ext.text import improve, is_prose

CHAPTERS = [f"chapters/{name}.html" for name in ("01-library", "02-pipeline", "03-scaling", "04-variants")]
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
EXERCISES = [f"exercises/release/{name}/{name}.html" for name in ("lookup", "masks")]


def found_on(page, site_url, names, script, there):
    """Return, for each page on which a script finds something, what it finds; what it looks at must be ``there``."""
    found, seen = {}, 0
    for name in names:
        page.goto(f"{site_url}/{name}")
        page.evaluate("document.fonts.ready")
        found[name] = page.evaluate(script)
        seen += page.locator(there).count()
    assert seen, there
    return {name: faults for name, faults in found.items() if faults}


# ---- Words, names and formulas ----


def test_long_names_break_after_their_parts_and_chinese_says_so():
    assert "scaled_<wbr>dot_<wbr>product_<wbr>attention" in improve(
        '<td><span class="pre">scaled_dot_product_attention</span></td>'
    )
    plain = '<p><span class="pre">scaled_dot_product_attention</span></p><td><span class="pre">n_query</span></td>'
    assert improve(plain) == plain
    assert (
        improve("<th><p>中文</p></th><td><p>key</p></td>")
        == '<th><p lang="zh">中文</p></th><td><p>key</p></td>'
    )
    assert improve("<td>中文</td>", mark_chinese=False) == "<td>中文</td>"
    aligned = '<td class="text-left"><span class="pre">scaled_dot_product_attention</span></td>'
    assert "scaled_<wbr>dot" in improve(aligned) and "scaled_<wbr>dot" in improve(aligned.replace("td", "th"))


def test_a_printed_line_is_prose_and_printed_columns_are_not():
    assert is_prose("one line\n") and is_prose("short\n" + "long " * 30)
    assert not is_prose("\n".join(3 * ["0.123456 " * 12])), "a wide table keeps its columns"
    assert not is_prose("Star Atlas  2.50\nFairy Tales -2.00\n")


def test_what_a_chapter_prints_is_read_without_scrolling(site_url, new_page):
    scrolling = "[...document.querySelectorAll('.cell_output SELECTOR')].filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.innerText)"
    page = new_page(viewport=DESK)
    assert not found_on(page, site_url, CHAPTERS, scrolling.replace("SELECTOR", "pre"), ".cell_output pre")
    page.set_viewport_size(PHONE)
    assert not found_on(page, site_url, CHAPTERS, scrolling.replace("SELECTOR", ".prose pre"), ".prose pre")
    assert page.locator(".cell_output .prose").count() > 3
    # A printed table keeps its columns.
    assert (
        page.locator(".cell_output .output:not(.prose) pre").first.evaluate(
            "(box) => getComputedStyle(box).whiteSpace"
        )
        == "pre"
    )


def test_formulas_fit_on_a_phone_in_the_ink_of_the_text(site_url, new_page):
    script = """() => [...document.querySelectorAll(".katex-display")].filter((box) =>
        box.scrollWidth > box.clientWidth ||
        getComputedStyle(box.querySelector(".base")).color !== getComputedStyle(box.closest("article").querySelector("p")).color
    ).map((box) => box.textContent)"""
    for scheme in ("light", "dark"):
        page = new_page(viewport=PHONE, color_scheme=scheme)
        assert not found_on(page, site_url, CHAPTERS, script, ".katex-display .base")
    # A faint one is found.
    page.evaluate("document.querySelector('.katex-display .base').style.color = '#888'")
    assert len(page.evaluate(script)) == 1


def test_no_word_and_no_shape_in_a_table_is_torn(site_url, new_page):
    script = r"""() => [...document.querySelectorAll("article table.table :is(td code .pre, td)")].flatMap((box) => [...box.childNodes])
      .filter((node) => node.nodeType === Node.TEXT_NODE && (node.parentNode.matches(".pre") || /^\d × \d$/.test(node.data.trim())))
      .filter((node) => { const range = new Range(); range.selectNodeContents(node);
          return new Set([...range.getClientRects()].map((line) => Math.round(line.y))).size > 1; })
      .map((node) => node.data)"""
    for viewport in (DESK, PHONE):
        page = new_page(viewport=viewport)
        assert not found_on(
            page,
            site_url,
            [*CHAPTERS[:2], "guide/glossary.html", "guide/conventions.html"],
            script,
            "td code .pre",
        )
    # A torn one is found.
    page.evaluate("document.querySelector('td code .pre').textContent = 'abcdefgh '.repeat(40)")
    assert len(page.evaluate(script)) == 1


def test_an_answer_stands_by_its_question(site_url, new_page):
    script = """() => [...document.querySelectorAll("article p + details + p")].flatMap((next) => {
        const answer = next.previousElementSibling, question = answer.previousElementSibling;
        const [above, box, below] = [question, answer, next].map((element) => element.getBoundingClientRect());
        return box.top - above.bottom < below.top - box.bottom ? [] : [next.innerText];
    })"""
    page = new_page(viewport=DESK)
    assert not found_on(page, site_url, CHAPTERS, script, "article p + details + p")
    page.evaluate("document.querySelector('article p + details').style.marginTop = '9rem'")
    assert len(page.evaluate(script)) == 1


# ---- Pictures ----


def test_no_text_leaves_its_picture(site_url, new_page):
    script = """() => [...document.querySelectorAll("article :is(.lu-figure, .lu-view) svg")].flatMap((svg) => {
        const frame = svg.getBoundingClientRect();
        return [...svg.querySelectorAll("text")].filter((text) => {
            const box = text.getBoundingClientRect();
            return Math.max(frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom) > 3;
        }).map((text) => text.textContent);
    })"""
    page = new_page(viewport=DESK)
    assert not found_on(page, site_url, CHAPTERS, script, ".lu-figure svg text")
    page.evaluate(
        "document.querySelector('.lu-figure svg text').setAttribute('transform', 'translate(-99 0)')"
    )
    assert len(page.evaluate(script)) == 1


def test_labels_keep_clear_of_axes_and_of_the_neighbour():
    from lib.show import example, figures

    figure = figures.shelf_map(example.SHELF_KEYS, example.BOOKS, example.SHELF_QUERY).figure
    (ax,) = figure.axes
    figure.draw_without_rendering()
    for text in [text for text in ax.texts if text.get_text() in example.BOOKS]:
        (left, _), (right, _) = ax.transData.inverted().transform(text.get_window_extent().get_points())
        assert not left < 0 < right, text.get_text()
    X = example.X[5:]
    figure = figures.queries_and_keys(X @ example.W_Q, X @ example.W_K, example.TOKENS[5:]).figure
    figure.draw_without_rendering()
    first, second = ([label.get_text() for label in axes.get_yticklabels()] for axes in figure.axes)
    assert first == list(example.TOKENS[5:]) and not any(second)  # said once, beside both
    # A short name stands at its own arrow; nothing stands on the axis, not even at 0.
    (ax,) = figures.shelf_map([[0.9, 1], [0, 2]], ["a", "Garden Plants"], [[1, 1]]).figure.axes
    near, upright = ax.texts[1], ax.texts[3]
    assert (near.get_text(), near.get_position()[0]) == ("a", 0.9)
    assert (upright.get_text(), upright.get_position()[0], upright.get_ha()) == ("Garden Plants", 0.1, "left")


# ---- Keyboard ----


@pytest.mark.parametrize(
    "button", [".primary-toggle", ".secondary-toggle", ".bd-header-article .search-button__button"]
)
def test_escape_gives_the_focus_back_to_the_button(button, site_url, new_page):
    page = new_page(viewport=PHONE, reduced_motion="reduce")
    page.goto(f"{site_url}/{CHAPTERS[0]}")
    page.locator(button).focus()
    page.keyboard.press("Enter")
    page.locator("dialog[open]").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    page.wait_for_function("button => document.activeElement.matches(button)", arg=button)
    assert not page.locator("dialog[open]").count()


def test_on_a_wide_screen_escape_leaves_the_reader_where_she_is(site_url, new_page):
    """There the sidebar's button opens no dialog, and so nothing is given back."""
    page = new_page(viewport=DESK, reduced_motion="reduce")
    page.goto(f"{site_url}/{CHAPTERS[0]}")
    page.locator(".primary-toggle").click()
    page.evaluate("document.activeElement.blur(), scrollTo({ top: 3000, behavior: 'instant' })")
    page.keyboard.press("Escape")
    page.evaluate("() => new Promise((done) => setTimeout(() => requestAnimationFrame(done)))")
    assert page.evaluate("document.activeElement.tagName") == "BODY"
    assert page.evaluate("scrollY") > 2000


def test_a_link_in_the_sidebar_leads_on_and_not_back_to_the_button(site_url, new_page):
    page = new_page(viewport=PHONE, reduced_motion="reduce")
    page.goto(f"{site_url}/{CHAPTERS[0]}")
    page.locator(".secondary-toggle").focus()
    page.keyboard.press("Enter")
    page.locator("dialog[open] .nav-link").nth(2).focus()
    page.keyboard.press("Enter")
    page.locator("dialog[open]").wait_for(state="detached")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('article') !== null")


def test_escape_takes_away_the_name_of_a_button(site_url, new_page):
    page = new_page(viewport=DESK, reduced_motion="reduce")
    page.goto(f"{site_url}/{CHAPTERS[0]}")
    page.locator(".btn-download-source-button").focus()
    page.keyboard.press("Tab")
    tip = page.locator(".tooltip")
    tip.wait_for()
    page.keyboard.press("Escape")
    tip.wait_for(state="hidden")
    assert page.evaluate("document.activeElement.matches('.theme-switch-button')")


def test_only_code_is_there_to_be_copied(site_url, new_page):
    page = new_page(viewport=DESK)
    page.goto(f"{site_url}/{CHAPTERS[0]}")
    page.locator(".cell_input .copybtn").first.wait_for(state="attached")
    assert not page.locator(".cell_output .copybtn").count()


# ---- Forced colours, paper, spacing ----


def test_icons_are_seen_in_forced_colours(site_url, new_page):
    page = new_page(viewport=PHONE, forced_colors="active", reduced_motion="reduce")
    page.goto(f"{site_url}/{CHAPTERS[0]}")
    buttons = page.locator(".bd-header-article :is(.btn, .sidebar-toggle):visible").all()
    assert len(buttons) >= 4
    for button in buttons:
        picture = Image.open(io.BytesIO(button.screenshot())).convert("L")
        dark, light = picture.getextrema()
        assert light - dark > 100, button.get_attribute("class")


def test_hands_on_figures_take_forced_colours_whatever_the_reader_chose(site_url, new_page):
    page = new_page(viewport=DESK, forced_colors="active", color_scheme="dark")
    page.add_init_script("localStorage.setItem('mode', 'light')")
    page.goto(f"{site_url}/{CHAPTERS[0]}")
    assert page.locator('html[data-theme="light"]').count()
    look = "([box, name]) => getComputedStyle(document.querySelector(box))[name]"
    text = page.evaluate(look, ["article p", "color"])
    assert page.evaluate(look, [".lu-plane .lu-name", "fill"]) == text
    assert page.evaluate(look, [".lu-key circle", "stroke"]) == text


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_bars_stand_under_the_cells_of_the_mask(width, site_url, new_page):
    page = new_page(viewport={"width": width, "height": 900})
    page.goto(f"{site_url}/{CHAPTERS[3]}")
    middles = """selector => [...document.querySelectorAll(selector)].map((cell) => {
        const box = cell.getBoundingClientRect();
        return box.left + box.width / 2;
    })"""
    cells = page.evaluate(middles, ".lu-grid:not(.lu-chosen) tbody tr:first-child td")
    bars = page.evaluate(middles, ".lu-chosen tbody tr:last-child td")
    assert len(cells) == len(bars) == 8 and all(abs(a - b) < 3 for a, b in zip(cells, bars, strict=True))
    assert min(b - a for a, b in zip(cells, cells[1:], strict=False)) >= 28  # each a target of its own


def test_on_paper_rows_keep_their_names_and_nobody_is_asked_to_drag(site_url, new_page):
    page = new_page(viewport=DESK)
    for name, rows in ((CHAPTERS[0], ".lu-table tbody th"), (CHAPTERS[3], ".lu-grid .lu-row")):
        page.emulate_media(media="screen")
        page.goto(f"{site_url}/{name}")
        page.emulate_media(media="print")
        assert page.locator(rows).count() >= 5
        assert all(row.is_visible() for row in page.locator(rows).all())
        assert not page.locator(":is(.lu-use, .lu-preset, .lu-swap, .lu input):visible").count()
    page.goto(f"{site_url}/{CHAPTERS[0]}")
    assert page.locator(".lu-how").is_visible()


def test_a_sheet_is_used_to_its_margins_and_code_keeps_its_lines(site_url, new_page):
    """An A4 sheet is 680 pixels wide between its margins."""
    page = new_page(viewport={"width": 680, "height": 900})
    for name in CHAPTERS[:2]:
        page.emulate_media(media="screen")
        page.goto(f"{site_url}/{name}")
        page.emulate_media(media="print")
        for part in ("article p", "#jb-print-toc", "#jb-print-docs-body h1"):
            assert page.locator(part).first.bounding_box()["x"] == 0, part
        torn = page.evaluate("""() => [...document.querySelectorAll("article pre")].filter((box) => {
            const height = box.offsetHeight;
            box.style.whiteSpace = "pre";
            return box.offsetHeight < height;
        }).map((box) => box.innerText)""")
        assert not [text for text in torn if max(map(len, text.splitlines())) <= 80]


SPACING = """* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
p { margin-bottom: 2em !important; }"""  # WCAG 1.4.12


def test_nothing_is_cut_when_a_reader_spaces_the_text(site_url, new_page):
    cut = """() => [...document.querySelectorAll("body *")].filter((box) => {
        const style = getComputedStyle(box);
        const hides = [style.overflowX, style.overflowY].some((how) => how === "hidden" || how === "clip");
        const words = [...box.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
        return hides && words && box.clientWidth > 1 && box.checkVisibility({ opacityProperty: true, visibilityProperty: true })
            && (box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1);
    }).map((box) => `${box.className}: ${box.textContent.trim().slice(0, 40)}`)"""
    for viewport in (DESK, PHONE):
        page = new_page(viewport=viewport, bypass_csp=True, reduced_motion="reduce")
        for name in [*CHAPTERS, *EXERCISES, "guide/conventions.html", "search.html"]:
            page.goto(f"{site_url}/{name}")
            page.add_style_tag(content=SPACING)
            assert not page.evaluate(cut), name
            assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], name
    page.evaluate("""() => document.querySelector("main").insertAdjacentHTML("beforeend",
        '<div class="seeded" style="overflow: hidden; height: 9px">words</div>')""")
    assert page.evaluate(cut) == ["seeded: words"]


@pytest.mark.parametrize(("width", "spaced"), [(1280, True), (390, True), (320, False)])
def test_tables_in_hands_on_figures_fit_or_scroll(width, spaced, site_url, new_page):
    beyond = """() => [...document.querySelectorAll(".lu table")].filter((table) => {
        const box = table.closest(".lu-body"), inside = box.getBoundingClientRect().left + box.clientLeft + box.clientWidth;
        const scroller = [table.parentElement, box].find((it) => getComputedStyle(it).overflowX === "auto");
        return table.getBoundingClientRect().right > inside && !(scroller?.scrollWidth > scroller?.clientWidth);
    }).map((table) => table.className)"""
    page = new_page(viewport={"width": width, "height": 900}, bypass_csp=True)
    for name in (CHAPTERS[0], CHAPTERS[3]):
        page.goto(f"{site_url}/{name}")
        if spaced:
            page.add_style_tag(content=SPACING)
        assert page.locator(".lu table").count()
        assert not page.evaluate(beyond)


def test_the_lost_readers_button_stands_apart_from_the_field(site_url, new_page):
    page = new_page(viewport=PHONE)
    page.goto(f"{site_url}/404.html")
    field, button = (page.locator(f"form {what}").bounding_box() for what in ("input", "button"))
    assert (
        button["y"] - (field["y"] + field["height"]) >= 4 or button["x"] - (field["x"] + field["width"]) >= 4
    )
