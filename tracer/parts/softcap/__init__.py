"""The soft cap of scores, which keeps them between two limits (Gemma 2, Riviere et al. 2024)."""
