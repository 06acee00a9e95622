"""Linear attention (Katharopoulos et al. 2020) and the gated delta rule (Yang et al. 2024).

A head keeps a matrix in place of the keys and values of all tokens, and changes it at each token.
"""

AFTER = ("rotary",)
