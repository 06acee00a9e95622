"""A scenario with every part that a decoder may have or not, and that the others leave out."""

from __future__ import annotations

EVERY_PART = """\
title: Every part
tokens: [a, b, c]
features: [w, x, y, z]
embeddings: {random: {seed: 1}}
vocabulary: [a, b, c]
unembedding: {W_U: tied, softcap: 3}
positions: {rotary: {base: 100, layout: LAYOUT, start: 1, share: 0.5}}
embedding_scale: sqrt
mask: {window: 2}
softmax: shifted
final_norm: {kind: rms_norm, epsilon: 0.001, epsilon_outside: true}
layers:
  - norm:
      {kind: rms_norm, placement: pre, epsilon: 0.00001, gain: [1, 0.5, 2, 1], unit_offset: true}
    attention:
      heads:
        - {W_Q: {random: {seed: 1, columns: 4}}, W_K: {random: {seed: 2}}, W_V: identity}
        - {W_Q: {random: {seed: 4}}, shares: 1}
      W_O: {random: {seed: 1}}
    ffn:
      W_1: {random: {seed: 1, columns: 3}}
      W_3: {random: {seed: 1}}
      b_3: [0.1, -0.2, 0]
      W_2: {random: {}}
      activation: silu
  - norm: {deviation: sample, epsilon: 0.01, epsilon_outside: true}
    attention:
      heads: [{W_Q: {random: {seed: 1, columns: 4}}, W_K: {random: {seed: 2}}, W_V: identity}]
      scale: 2.5
    ffn:
      labels: [first, second]
      W_1: {random: {seed: 2, columns: 2}}
      W_2: {random: {seed: 2}}
      activation: gelu
      activates: output
  - attention:
      heads: [{W_Q: {random: {seed: 5, columns: 4}}, W_K: {random: {seed: 6}}, W_V: identity}]
      scale: none
      softcap: 2
    ffn: {W_1: {random: {seed: 3, columns: 2}}, W_2: {random: {seed: 3}}, activation: gelu_tanh}
"""


POSITIONS = "positions: {rotary: {base: 100, layout: halves, start: 1, share: 0.5}}"
"""Those of the scenario, in place of which there can be others."""


def every_part(layout: str = "halves", mask: str = "{window: 2}", softmax: str = "shifted") -> str:
    """The scenario, with a choice of what cannot stand beside each other."""
    chosen = EVERY_PART.replace("LAYOUT", layout).replace("{window: 2}", mask)
    return chosen.replace("softmax: shifted", f"softmax: {softmax}")
