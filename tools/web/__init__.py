"""Reading the web: search a site, render its pages in a real browser, and take their tables."""
