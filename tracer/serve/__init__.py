"""A scenario as a page in a browser, on which its numbers can be changed."""
