// Search results quote the pages that they found, which a page opened from a folder may not read.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

document.addEventListener("DOMContentLoaded", () => {
  if (document.getElementById("search-results")) document.querySelector(".bd-search-container input").focus();
});

// The theme takes the focus from some buttons when they are pressed; who pressed with the keyboard keeps it.
document.addEventListener("click", (event) => {
  if (event.detail === 0) event.target.closest("button")?.focus();
});
