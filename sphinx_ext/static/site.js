// Search results quote the pages that they found, which a page opened from a folder may not read.
// And for Firefox the policy's 'self' holds no file: it would not send what is looked for, and say nothing.
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  addEventListener("submit", (event) => {
    if (!event.target.matches(".bd-search, [role=search]")) return;
    event.preventDefault();
    const address = new URL(event.target.action); // on the page of the search it is "#"
    address.hash = "";
    address.search = new URLSearchParams(new FormData(event.target));
    location.href = address;
  });
}

document.addEventListener("DOMContentLoaded", () => {
  if (document.getElementById("search-results")) document.querySelector(".bd-search-container input").focus();
});

// The theme takes the focus from some buttons when they are pressed; who pressed with the keyboard keeps it.
document.addEventListener("click", (event) => {
  if (event.detail === 0) event.target.closest("button")?.focus();
});

// A sidebar or search that Escape closes gives the focus back to its button, from which the theme took it before it opened.
let opener = null;
addEventListener("click", ({ target }) => (opener = target.closest(".sidebar-toggle, .search-button__button")), true);
function giveBack() {
  document.querySelector("dialog[open]")?.close();
  const { activeElement } = document;
  if (activeElement === document.body || activeElement.closest("dialog")) opener.focus();
  opener = null;
}
addEventListener("keydown", ({ key }) => {
  // A button on a wide screen opens no dialog: there Escape has nothing to give back.
  if (key === "Escape" && opener && document.querySelector("dialog[open]")) setTimeout(giveBack); // after the theme has closed it
}, true);

// The name of a button, shown while it has the focus, may lie over the text: Escape takes it away.
addEventListener("keydown", ({ key }) => {
  if (key === "Escape") for (const tip of document.querySelectorAll(".tooltip")) tip.hidden = true;
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
  ".lu-columns > :last-child": "Table",
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
