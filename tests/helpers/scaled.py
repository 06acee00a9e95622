"""A scenario with a factor of what each sub-layer adds and a divisor of the logits."""

SCALED = """\
title: scaled
tokens: [a, b]
embeddings: {a: [0.5, -1], b: [1, 2]}
layers:
  - attention:
      residual_scale: 0.5
      heads: [{W_Q: [[1, 0.2], [0.3, 1]], W_K: [[0.5, -0.2], [0.1, 1]], W_V: identity}]
  - ffn: {W_1: [[1], [1]], b_1: [10], W_2: [[1, 2]], residual_scale: 0.25}
vocabulary: [x, y]
unembedding: {W_U: [[1, 0], [0, 1]], b_U: [4, 0], scale: 8}
rounding: {decimals: 2, carry: never, trailing_zeros: trim}
"""
