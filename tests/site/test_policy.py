"""The content policy of every page, held by the browser itself: it lets the book through, and nothing else."""

import re
import shutil
from pathlib import Path

import pytest

from sphinx_ext.policy import hash_source

META = '<meta http-equiv="Content-Security-Policy" content="'


def policy_of(text):
    """Return a page's policy, by directive; it must come before anything that it rules."""
    before, _, after = text.partition(META)
    assert after, "a page without a policy"
    assert not re.search(r"<(script|link|style|img|base)\b", before), "the policy comes too late"
    return {rule.split()[0]: set(rule.split()[1:]) for rule in after.partition('"')[0].split(";")}


STRICT = {
    "default-src": {"'none'"},
    "script-src": {"'self'"},
    "style-src": {"'self'"},
    "style-src-attr": {"'unsafe-inline'"},
    "img-src": {"'self'", "data:"},
    "font-src": {"'self'"},
    "connect-src": {"'self'"},
    "form-action": {"'self'"},
    "base-uri": {"'none'"},
}


def without_hashes(policy):
    """Return a policy without the hashes of scripts and styles, which are not the same on every page."""
    return {
        rule: {source for source in sources if not source.startswith("'sha256-")}
        for rule, sources in policy.items()
    }


def test_every_page_has_a_strict_policy(site, pages):
    for name in [*pages, "index.html", "404.html"]:
        text = (site / name).read_text("utf-8")
        assert without_hashes(policy_of(text)) == STRICT, name
        hashes = {source for source in policy_of(text)["style-src"] if source.startswith("'sha256-")}
        assert not hashes or name == "404.html", name
        for seed in ("connect-src 'self'", "style-src 'self'", "form-action 'self'"):
            assert without_hashes(policy_of(text.replace(seed, f"{seed} file:"))) != STRICT, seed


def test_the_search_field_is_sent_from_a_folder(site, new_page):
    """For Firefox the policy's 'self' holds no file, and it would say nothing: so the page's own script sends it."""
    page = new_page()
    page.add_init_script(
        "addEventListener('submit', (event) => addEventListener('pagehide', () => sessionStorage.setItem('sent', event.defaultPrevented)))"
    )
    page.goto((site / "search.html").as_uri())
    field = page.locator(".bd-search-container input")
    field.fill("stars & √d_k")
    field.press("Enter")
    page.wait_for_url("**/search.html?*q=stars+%26+%E2%88%9Ad_k*")
    page.wait_for_function("() => sessionStorage.getItem('sent')")
    assert page.evaluate("sessionStorage.getItem('sent')") == "true"
    assert page.locator(".bd-search-container input").input_value() == "stars & √d_k"


def fetched_ahead(text):
    """Return the elements for which a browser would fetch a page before it is asked for; for Firefox, rel="next" is one."""
    links = re.findall(r"<link\b[^>]*>", text)
    return [link for link in links if re.search(r'\brel="[^"]*\b(next|prefetch|prerender)\b', link)]


def test_no_page_is_fetched_ahead(site, pages):
    """The policy forbids it, and Firefox logs that as an error on each page."""
    assert not {name: links for name in pages if (links := fetched_ahead((site / name).read_text("utf-8")))}
    assert fetched_ahead('<link rel="next" title="Scaling" href="03-scaling.html" />')


def test_the_only_scripts_within_a_page_are_those_that_the_policy_names(site, pages):
    inline = 0
    for name in pages:
        text = (site / name).read_text("utf-8")
        bodies = re.findall(
            r"<script(?![^>]*\b(?:src=|application/json))[^>]*>(.*?)</script>", text, re.DOTALL
        )
        hashes = {source for source in policy_of(text)["script-src"] if source.startswith("'sha256-")}
        assert hashes == {hash_source(body) for body in bodies}, name
        assert not re.findall(r"<[a-z][^>]* on[a-z]+=", text), name
        inline += len(bodies)
    assert inline


@pytest.fixture(scope="module")
def copy(site, tmp_path_factory):
    """A copy of the site, to put things into."""
    return shutil.copytree(site, tmp_path_factory.mktemp("copy") / "site")


SEEDS = {
    "script": "<script>document.title = 'seeded'</script>",
    "handler": '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="" onload="document.title = \'seeded\'">',
    "another host": '<script src="https://evil.example.org/x.js"></script>',
    "style": "<style>article { opacity: 0 }</style>",
    "picture": '<img src="https://evil.example.org/x.png" alt="">',
    "frame": '<iframe src="search.html"></iframe>',
}


@pytest.mark.parametrize("way", ["served", "from a folder"])
def test_what_is_seeded_is_blocked_and_the_rest_of_the_page_works(way, copy, serve, new_page):
    original = (copy / "chapters/01-library.html").read_text("utf-8")
    (copy / "chapters/seeded.html").write_text(
        original.replace("</article>", "".join(SEEDS.values()) + "</article>")
    )
    page, asked = new_page(), []
    page.route("https://**", lambda route: (asked.append(route.request.url), route.abort()))
    page.add_init_script(
        "globalThis.blocked = []; document.addEventListener('securitypolicyviolation', event => blocked.push(event.effectiveDirective))"
    )
    page.goto(f"{serve(copy) if way == 'served' else copy.as_uri()}/chapters/seeded.html")
    page.wait_for_function("() => blocked.length >= 6")
    assert sorted(page.evaluate("blocked")) == [
        "frame-src", "img-src", "script-src-attr", "script-src-elem", "script-src-elem", "style-src-elem",
    ]  # fmt: skip
    assert page.title() != "seeded" and not asked
    assert page.locator("article").evaluate("article => getComputedStyle(article).opacity") == "1"
    # The module that the build put into the page is let through.
    query = page.get_by_role("slider", name="query").or_(page.locator('[aria-label^="query"]')).first
    query.focus()
    before = page.locator(".lu-say").first.inner_text()
    page.keyboard.press("Shift+ArrowLeft")
    page.wait_for_function("before => document.querySelector('.lu-say').innerText !== before", arg=before)


def test_without_the_policy_the_seeds_would_have_worked(copy, serve, new_page):
    original = (copy / "chapters/01-library.html").read_text("utf-8")
    open_page = re.sub(META + "[^>]*>", "", original).replace("</article>", SEEDS["script"] + "</article>")
    (copy / "chapters/open.html").write_text(open_page)
    page = new_page()
    page.goto(f"{serve(copy)}/chapters/open.html")
    assert page.title() == "seeded"
    with pytest.raises(AssertionError, match="a page without a policy"):
        policy_of(open_page)
    with pytest.raises(AssertionError, match="too late"):
        policy_of(f"<script>early()</script>{original}")


@pytest.mark.slow
def test_a_translated_book_needs_no_code_from_strings(small_book, new_page):
    """Sphinx's own script of translated words does: the browser refuses it, and its words stay English."""
    config = small_book.folder / "_config.yml"
    config.write_text(re.sub(r"language: en\b", "language: zh_CN", config.read_text("utf-8")), "utf-8")
    built = small_book.build()
    assert built.returncode == 0, built.stdout + built.stderr
    page, wrong = new_page(), []
    page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    search = (small_book.folder / "_build/html/search.html").as_uri()
    page.goto(search)
    assert page.evaluate("Documentation.LOCALE").startswith("zh")
    assert page.evaluate("[_('Searching'), Documentation.PLURAL_EXPR(2)]") == ["正在搜索中", 0]
    assert page.locator("html").get_attribute("lang") == "zh-CN" and wrong == []
    # With Sphinx's own, the same page is refused.
    import sphinx

    theirs = Path(sphinx.__file__).parent / "locale/zh_CN/LC_MESSAGES/sphinx.js"
    shutil.copy(theirs, small_book.folder / "_build/html/_static/translations.js")
    page.goto(search)
    assert wrong and "unsafe-eval" in " ".join(wrong)
