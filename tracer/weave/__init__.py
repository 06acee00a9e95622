"""Weave an author's text: replace each marked part by the output that its mark asks for."""
