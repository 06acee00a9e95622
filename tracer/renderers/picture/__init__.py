"""The picture of the model: in cells with characters and in LaTeX, in pixels as SVG."""
