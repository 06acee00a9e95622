"""A learned bias for each distance of two tokens (T5, Raffel et al. 2020)."""

AFTER = ("alibi",)
