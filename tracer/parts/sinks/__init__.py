"""Attention sinks: a learned number takes part in the softmax (gpt-oss, Agarwal et al. 2025)."""
