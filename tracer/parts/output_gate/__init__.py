"""A gate of what each head returns, computed from what attention reads (Qiu et al. 2025)."""

AFTER = ("head_norm",)
