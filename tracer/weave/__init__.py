"""Weave an author's Markdown: replace each marked part by the output that its mark asks for."""
