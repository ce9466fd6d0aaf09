"""The explorers on the built page, in a real browser: every control of each, by keyboard, in all conditions."""

import gzip
import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from lib.show.frames import unpack

GUIDE, OTHERS = "guide/explorers-demo.html", "others.html"
# Every explorer: where it is, its place there, and how many options each of its controls has
EXPLORERS = {
    "scaling": (GUIDE, 0, [11, 2]),
    "masks": (GUIDE, 1, [5, 8]),
    "self_or_cross": (GUIDE, 2, [2, 2]),
    "pipeline": (OTHERS, 0, [5]),
    "example": (OTHERS, 3, [5, 2]),
}
each_explorer = pytest.mark.parametrize("page, place, counts", EXPLORERS.values(), ids=EXPLORERS)
AXE = {"preload": False}  # or it asks for style sheets that are not where it looks
each_page = pytest.mark.parametrize("page", [GUIDE, OTHERS])


def explorer_on(page, place):
    return page.locator(".lu-explorer").nth(place)


def data_of(root):
    return json.loads(root.locator("script").text_content())


def shown(root):
    """Return the numbers of the frames that are to be seen: picture and sentence are theirs."""
    data, says = data_of(root), root.locator(".lu-says").text_content()
    pictures = [unpack(data, number).svg for number in range(len(data["frames"]))]
    same = root.evaluate(
        """(root, pictures) => pictures.map(picture => {
            const other = document.createElement("div");
            other.innerHTML = picture;
            return other.innerHTML === root.querySelector(".lu-view").innerHTML;
        })""",
        pictures,
    )
    return [number for number, is_same in enumerate(same) if is_same and data["sentences"][number] == says]


def setting(root):
    """Return what each control stands at, by the browser's own word."""
    return root.evaluate(
        """root => [...root.querySelectorAll(".lu-control")].map(control => {
            const input = control.querySelector("input");
            if (input.type === "range") return Number(input.value);
            if (input.type === "checkbox") return Number(input.checked);
            return [...control.querySelectorAll("input")].findIndex(i => i.checked);
        })"""
    )


def number_of(setting, counts):
    number = 0
    for at, count in zip(setting, counts, strict=True):
        number = number * count + at
    return number


@each_explorer
def test_every_option_of_every_control_is_reached_by_keyboard_and_shows_its_frame(
    open_page, served, page, place, counts
):
    tab = open_page(f"{served}/{page}")
    root = explorer_on(tab, place)
    assert [len(options) for options in data_of(root)["options"]] == counts
    root.locator("input").first.focus()
    for control, count in enumerate(counts):
        if control:
            tab.keyboard.press("Tab")
        here = root.locator(".lu-control").nth(control)
        assert here.locator(":focus").count() == 1, "Tab goes from one control to the next, in order"
        kind = here.locator("input").first.get_attribute("type")
        moves = {"range": ["Home"] + ["ArrowRight"] * (count - 1), "checkbox": ["Space"] * 2}
        visited = set()
        for key in moves.get(kind, ["ArrowRight"] * count):
            tab.keyboard.press(key)
            visited.add(setting(root)[control])
            assert number_of(setting(root), counts) in shown(root)
            if kind == "range":
                option = data_of(root)["options"][control][setting(root)[control]]
                assert here.locator("output").text_content() == option
                assert here.locator("input").get_attribute("aria-valuetext") == option
        assert visited == set(range(count))


@each_explorer
def test_every_option_changes_the_picture_or_says_something_else(site, page, place, counts):
    data = json.loads(
        re.findall(r'<script type="application/json">(.*?)</script>', (site / page).read_text())[place]
    )
    frames = list(zip(map(tuple, data["frames"]), data["sentences"], strict=True))
    assert len(set(frames)) == len(frames)


@each_page
def test_the_next_frame_is_there_before_the_browser_paints(open_page, served, page):
    tab = open_page(f"{served}/{page}")
    late = tab.evaluate(
        """() => [...document.querySelectorAll(".lu-explorer input:not(:checked), .lu-explorer [role=switch]")].filter(input => {
            const root = input.closest(".lu-explorer"), before = root.querySelector(".lu-view").innerHTML;
            if (input.type === "range") input.value = Number(input.value) ? 0 : 1; else input.checked = !input.checked;
            input.dispatchEvent(new Event("input", {bubbles: true}));
            return root.querySelector(".lu-view").innerHTML === before;
        }).length"""
    )
    assert late == 0


@each_page
def test_it_works_from_a_folder(open_page, site, page):
    tab = open_page((site / page).as_uri())
    root = explorer_on(tab, 0)
    before = root.locator(".lu-says").text_content()
    root.locator("input").last.press("Space") if "switch" in root.inner_html() else root.locator(
        "input"
    ).last.check()
    assert root.locator(".lu-says").text_content() != before


def test_two_of_a_kind_move_alone(open_page, served):
    tab = open_page(f"{served}/{OTHERS}")
    first, second = explorer_on(tab, 1), explorer_on(tab, 2)
    assert data_of(first) == data_of(second)
    other = second.locator(".lu-says").text_content()
    first.locator("input[type=radio]").last.check()
    first.locator("input[type=range]").press("Home")
    assert "nothing" in first.locator(".lu-says").text_content()
    assert second.locator(".lu-says").text_content() == other
    ids = tab.evaluate("[...document.querySelectorAll('.lu-explorer [id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_a_row_without_any_key_is_shown_as_what_it_is(open_page, served):
    tab = open_page(f"{served}/{GUIDE}")
    root = explorer_on(tab, 1)
    root.get_by_label("causal and padding").check()
    root.locator("input[type=range]").press("Home")
    assert root.locator("svg text", has_text="nothing to attend to: all weights are 0").is_visible()
    assert "may attend to nothing" in root.locator(".lu-says").text_content()


@each_page
def test_with_scripts_off_the_start_is_there_and_no_dead_control(open_page, served, page):
    tab = open_page(f"{served}/{page}", java_script_enabled=False)
    assert tab.locator(".lu-explorer form:visible").count() == 0
    for root in tab.locator(".lu-explorer").all():
        data = data_of(root)
        assert (
            root.locator("svg").is_visible() and root.locator(".lu-says").text_content() in data["sentences"]
        )
        assert root.locator("noscript").is_visible()


@each_page
@pytest.mark.parametrize("width", [390, 320])
def test_on_a_phone_letters_are_large_enough_and_nothing_scrolls_sideways(open_page, served, page, width):
    tab = open_page(f"{served}/{page}", width=width)
    sizes = tab.evaluate(
        """() => [...document.querySelectorAll(".lu-view text, .lu-figure text")].map(text =>
            parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d)"""
    )
    upright = [abs(size) for size in sizes if size]
    assert upright and (width == 320 or min(upright) >= 11)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    wide = "[...document.querySelectorAll('.lu-explorer, .lu-figure')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
    assert tab.evaluate(wide) == 0


@each_page
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_are_in_the_pages_ink_on_the_page_itself(open_page, served, page, scheme):
    tab = open_page(f"{served}/{page}", color_scheme=scheme)
    seen = tab.evaluate(
        """() => [...document.querySelectorAll(".lu-view text, .lu-figure text")].map(text => {
            const papers = [];
            for (let e = text; e; e = e.parentElement) papers.push(getComputedStyle(e).backgroundColor);
            return [getComputedStyle(text).fill, papers.find(c => c !== "rgba(0, 0, 0, 0)")];
        })"""
    )
    assert seen
    for ink, paper in {tuple(pair) for pair in seen}:
        assert contrast(ink, paper) >= 7, (ink, paper)
        assert (luminance(paper) > 0.5) == (scheme == "light")


def luminance(colour):
    channels = [int(c) / 255 for c in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@each_page
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_any_explorer_or_picture(open_page, served, page, scheme):
    tab = open_page(f"{served}/{page}", color_scheme=scheme)
    found = Axe().run(tab, context=".lu-explorer, .lu-figure", options=AXE)
    assert found.violations_count == 0, found.generate_report()
    assert found.response["passes"]


def test_axe_would_find_a_control_without_a_name(open_page, served):
    tab = open_page(f"{served}/{GUIDE}")
    tab.evaluate("document.querySelector('.lu-explorer label[for]').remove()")
    assert Axe().run(tab, context=".lu-explorer", options=AXE).violations_count > 0


@each_page
@pytest.mark.parametrize("width", [390, 1280])
def test_targets_are_24_pixels_at_least(open_page, served, page, width):
    tab = open_page(f"{served}/{page}", width=width)
    for target in tab.locator(".lu-explorer input").all():
        box = target.bounding_box()
        assert min(box["width"], box["height"]) >= 24


def test_the_sentence_is_announced_and_names_the_picture(open_page, served):
    tab = open_page(f"{served}/{GUIDE}")
    for root in tab.locator(".lu-explorer").all():
        says = root.locator(".lu-says")
        assert says.get_attribute("aria-live") == "polite"
        assert root.locator(".lu-view").get_attribute("aria-labelledby") == says.get_attribute("id")
    # the same element stays, or a screen reader would not notice
    kept = tab.evaluate(
        """() => { const root = document.querySelector(".lu-explorer"), says = root.querySelector(".lu-says");
            const input = root.querySelector("[role=switch]"); input.click();
            return root.querySelector(".lu-says") === says && says.isConnected; }"""
    )
    assert kept


def test_a_reader_who_comes_back_finds_the_explorer_as_it_was_left(open_page, served):
    tab = open_page(f"{served}/{GUIDE}")
    explorer_on(tab, 0).locator("input[type=range]").press("End")
    left = setting(explorer_on(tab, 0))
    tab.goto(f"{served}/intro.html")
    tab.go_back()
    root = explorer_on(tab, 0)
    assert setting(root) == left
    assert number_of(left, [11, 2]) in shown(root)
    # Safari keeps the whole page, and sets what must not be completed back to the start, without saying so.
    assert tab.locator(".lu-explorer [autocomplete]").count() == 0


def test_the_name_of_a_group_of_choices_stands_before_the_first(open_page, served):
    tab = open_page(f"{served}/{GUIDE}")
    for group in tab.locator(".lu-explorer fieldset").all():
        name, choice = group.locator("legend").bounding_box(), group.locator("label").first.bounding_box()
        assert name["x"] + name["width"] < choice["x"]
        assert abs(name["y"] + name["height"] / 2 - choice["y"] - choice["height"] / 2) < 2
        # Safari lets a legend float in a plain block alone.
        assert group.evaluate("group => getComputedStyle(group).display") == "block"


def test_in_print_there_is_the_picture_and_no_control(open_page, served):
    tab = open_page(f"{served}/{GUIDE}")
    tab.emulate_media(media="print")
    assert tab.locator(".lu-explorer svg:visible").count() == 3
    assert tab.locator(".lu-explorer form:visible").count() == 0


def test_a_strict_policy_has_nothing_to_refuse(open_page, served):
    """With a policy that allows the site's own files alone, the explorers work: no script of theirs is inline."""
    tab = open_page(f"{served}/intro.html")
    policy = "default-src 'self'; img-src 'self' data:"

    def with_policy(route):
        answer = route.fetch()
        route.fulfill(response=answer, headers=answer.headers | {"Content-Security-Policy": policy})

    tab.route("**/*.html", with_policy)
    tab.goto(f"{served}/{GUIDE}")
    root = explorer_on(tab, 1)
    before = root.locator(".lu-says").text_content()
    root.get_by_label("none").check()
    assert root.locator(".lu-says").text_content() != before
    assert open_page.wrong == []
    tab.evaluate("fetch('data:,').catch(() => 0)")
    assert "Content Security Policy" in open_page.wrong.pop(0), "the policy is in force"
    open_page.wrong.clear()


# What stands in the files


def test_no_page_has_widget_state_and_only_pages_with_explorers_have_the_script(site):
    for page in (GUIDE, OTHERS):
        text = (site / page).read_text()
        assert "widget-state" not in text and "widget-view" not in text
        assert len(re.findall(r'<script[^>]*src="[^"]*explore\.js', text)) == 1
        assert len(re.findall(r'<link[^>]*href="[^"]*explore\.css', text)) == 1
    assert not re.search(r"explore\.(js|css)", (site / "intro.html").read_text())


def test_forty_frames_are_forty_kilobytes_at_most(site):
    text = (site / GUIDE).read_text()
    start = text.index('<div class="lu-explorer"', text.index('id="who-may-attend'))
    masks = text[start : text.index("</script>", start)]
    data = json.loads(re.search(r'json">(.*)', masks, re.S)[1])
    assert len(data["frames"]) == 40
    assert len(gzip.compress(masks.encode())) <= 40_000


def test_frames_are_remembered_when_the_page_is_built_anew(book, built):
    """What a build finds in its memory, it puts into the page: seen by changing what it remembers."""
    import shutil

    kept = next(f for f in (book / "_build/.frames").glob("*.json") if "first book gets" in f.read_text())
    original = kept.read_text()
    kept.write_text(original.replace("first book gets", "first book is remembered to get"))
    for cache in (".jupyter_cache", ".doctrees", "html/others.html"):
        path = book / "_build" / cache
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    try:
        built(book)
        assert "first book is remembered to get" in (book / "_build/html" / OTHERS).read_text()
    finally:
        kept.write_text(original)
