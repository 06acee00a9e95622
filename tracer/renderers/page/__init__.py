"""A document as a page of HTML: one file, to be explored in a browser."""
