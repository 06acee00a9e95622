"""A short causal convolution of queries, keys and values along the tokens (So et al. 2021)."""
