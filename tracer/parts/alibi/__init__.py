"""Attention with linear biases (ALiBi, Press et al. 2022)."""

AFTER = ("rotary", "softcap")
