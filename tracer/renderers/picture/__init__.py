"""The picture of the model: laid out once, and drawn with characters, as SVG or in LaTeX."""
