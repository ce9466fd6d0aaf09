// Light or dark, decided before the page is painted: the reader's choice, or else the system's.
(() => {
  let mode = null;
  try {
    mode = localStorage.getItem("mode");
  } catch {} // some browsers refuse storage to pages from a folder
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const html = document.documentElement.dataset;
  html.mode = mode || "auto";
  html.theme = html.mode === "auto" ? (dark ? "dark" : "light") : html.mode;
})();
