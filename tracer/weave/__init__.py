"""An author's own Markdown: marked parts, each replaced by what its mark asks for."""
