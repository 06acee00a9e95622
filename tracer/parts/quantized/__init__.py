"""Quantized weights: integers or numbers of four bits, with a scale for each group."""
