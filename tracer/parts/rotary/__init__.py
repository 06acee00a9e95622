"""Rotary positions: queries and keys are rotated by their positions (RoPE, Su et al. 2021)."""

AFTER = ("latent", "query_key_norm")
