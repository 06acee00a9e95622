"""Norms of queries and keys (Henry et al. 2020), in each head or over all heads."""
