// Search results quote the pages that they found, which a page opened from a folder may not read.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
