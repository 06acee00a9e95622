"""Worked calculations of a transformer decoder in which every printed equation is true."""

__version__ = "0.1.0"
