"""Experts: networks of which a router chooses some for each token (Shazeer et al. 2017)."""
