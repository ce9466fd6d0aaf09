"""Takes the README's picture of the built book: ``python tests/site/take_picture.py`` after ``jupyter-book build .``"""

import runpy
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "_build/html/chapters/01-library.html"
PICTURE = ROOT / "guide/images/book.png"


def take(page=PAGE, picture=PICTURE):
    """Open the first chapter at its first figure, and save what is seen."""
    common = runpy.run_path(str(ROOT / "conftest.py"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=common["find_browser"](), args=common["BROWSER_FLAGS"]
        )
        tab = browser.new_page(viewport={"width": 1200, "height": 750})
        tab.goto(page.as_uri())
        figure = tab.locator(".cell_output :is(svg, img):not(button *)").first
        figure.evaluate("figure => scrollTo(0, figure.getBoundingClientRect().top + scrollY - 300)")
        picture.parent.mkdir(exist_ok=True)
        tab.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    take()
    print(f"saved {PICTURE.relative_to(ROOT)}")
