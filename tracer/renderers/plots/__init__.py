"""Plots: pictures of numbers, drawn with a few kinds of marks."""
