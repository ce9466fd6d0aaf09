// Search results quote the pages that they found, which a page opened from a folder may not read.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

document.addEventListener("DOMContentLoaded", () => {
  if (document.getElementById("search-results")) document.querySelector(".bd-search-container input").focus();
});

// The theme takes the focus from some buttons when they are pressed; who pressed with the keyboard keeps it.
document.addEventListener("click", (event) => {
  if (event.detail === 0) event.target.closest("button")?.focus();
});

// Paper is light: whoever reads in the dark prints dark ink on white, and then reads on in the dark.
let modeOnScreen = null;
addEventListener("beforeprint", () => {
  modeOnScreen = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = modeOnScreen;
});

// What scrolls sideways can be reached and scrolled with the keyboard, and says what it is. The theme does the first for tables and
// outputs, when the page is ready and when the window changes; formulas and all the names are added here.
const SCROLLING = {
  ".katex-display": "Formula",
  ".pst-scrollable-table-container, .cell_output > .text_html:has(> table)": "Table",
  ".cell_input pre": "Code",
  ".cell_output pre": "Output",
};

function nameWhatScrolls(boxes) {
  for (const [box, name] of boxes) {
    const scrolls = box.scrollWidth > box.clientWidth;
    if (scrolls) {
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", `${name}, scrolls sideways`);
      box.tabIndex = 0;
    } else if (box.hasAttribute("aria-label")) {
      for (const attribute of ["role", "aria-label", "tabindex"]) box.removeAttribute(attribute);
    }
  }
}

document.addEventListener("DOMContentLoaded", () => {
  const boxes = Object.entries(SCROLLING).flatMap(([selector, name]) =>
    [...document.querySelectorAll(selector)].map((box) => [box, name]),
  );
  const observer = new ResizeObserver((entries) => {
    const seen = new Set(entries.map((entry) => entry.target));
    nameWhatScrolls(boxes.filter(([box]) => seen.has(box)));
  });
  for (const [box] of boxes) observer.observe(box);
});
