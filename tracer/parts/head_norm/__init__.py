"""A norm of what each head returns, before its gate (Sun et al. 2023; Yang et al. 2024)."""

AFTER = ("recurrent",)
