"""Attention and the FFN of a layer in parallel (Wang and Komatsuzaki 2021)."""
