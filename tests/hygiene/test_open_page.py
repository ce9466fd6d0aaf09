"""What opens pages for the tests of the explorers sees what must not happen."""

import pytest


@pytest.mark.parametrize(
    "body, seen",
    [
        ("<script>console.error('oh')</script>", "oh"),
        ("<script>throw new Error('thrown')</script>", "thrown"),
        ("<img src='nowhere.png' alt=''>", "nowhere.png"),
        ("<img src='https://example.org/x.png' alt=''>", "https://example.org/x.png"),
    ],
)
def test_what_must_not_happen_is_seen(body, seen, tmp_path, serve, open_page):
    (tmp_path / "index.html").write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,">{body}'
    )
    for url in (f"{serve(tmp_path)}/index.html", (tmp_path / "index.html").as_uri()):
        open_page(url).wait_for_load_state("networkidle")
        assert any(seen in what for what in open_page.wrong), url
        open_page.wrong.clear()


def test_what_is_in_order_is_let_through(tmp_path, serve, open_page):
    (tmp_path / "a.js").write_text("document.title = 'ran'")
    (tmp_path / "index.html").write_text(
        '<!DOCTYPE html><link rel="icon" href="data:,"><script src="a.js"></script>'
    )
    assert open_page(f"{serve(tmp_path)}/index.html").title() == "ran"
    assert open_page.wrong == []
