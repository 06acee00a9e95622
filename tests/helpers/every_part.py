"""A scenario with every part that a decoder may have or not, and that the others leave out."""

from __future__ import annotations

EVERY_PART = """\
title: Every part
tokens: [a, b, c]
features: [w, x, y, z]
embeddings: {random: {seed: 1}}
vocabulary: [a, b, c]
unembedding: {W_U: tied, scale: 8, softcap: 3}
positions: {rotary: {base: 100, layout: LAYOUT, start: 1, share: 0.5}}
embedding_scale: sqrt
embedding_norm: {epsilon: 0.01, gain: [1, 0.5, 2, 1], shift: [0, 0.5, 0, 0.1]}
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
      residual_scale: 0.22
      query_norm: {kind: rms_norm, epsilon: 0.01, gain: [1, 0.5, 2, 1]}
      key_norm: {epsilon: 0.01, gain: [0.5, 0.5, 1, 2], shift: [0, 0.5, 0, 0.1]}
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
      blocks: 2
    ffn:
      labels: [first, second]
      W_1: {random: {seed: 2, columns: 2}}
      W_2: {random: {seed: 2}}
      activation: gelu
      activates: output
  - parallel: true
    attention:
      norm: {epsilon: 0.01, placement: pre}
      heads:
        - {W_Q: {random: {seed: 5, columns: 4}}, W_K: {random: {seed: 6}}, W_V: identity}
        - {W_Q: {random: {seed: 7, columns: 4}}, W_K: {random: {seed: 8}}, W_V: identity}
      W_O: {random: {seed: 5}}
      query_norm: {kind: rms_norm, over: heads, epsilon: 0.01, gain: [1, 0.5, 2, 1, 1, 2, 1, 1]}
      key_norm: {over: heads, epsilon: 0.01, shift: [0, 0.5, 0, 0.1, 0, 0, 1, 0]}
      scale: none
      softcap: 2
    ffn: {W_1: {random: {seed: 3, columns: 2}}, W_2: {random: {seed: 3}}, activation: gelu_tanh}
"""


ADAPTED = """\
title: LoRA at all weights
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [-0.5, 2]}
layers:
  - attention:
      heads:
        - W_Q: {frozen: [[1, 0], [0.5, 1]], A: [[1], [0.5]], B: [[0.2, -0.4]], alpha: 2}
          W_K: {frozen: [[1, 0], [0, 1]], A: [[1, 0], [0, 1]], B: [[0.1, 0.2], [0.3, 0]], alpha: 1}
          W_V: {frozen: [[1, 2], [0, 1]], A: [[0.3], [0.1]], B: [[0, 0]], alpha: 0.5}
      W_O: {frozen: [[1, 0.5], [0.2, 1]], A: [[0.1], [1]], B: [[1, -0.3]], alpha: 1}
    ffn:
      W_1: {frozen: [[1], [0.5]], A: [[1], [0.5]], B: [[0.2]], alpha: 1}
      W_3: {frozen: [[0.5], [1]], A: [[1, 0.1], [0.5, 1]], B: [[0.2], [0.3]], alpha: 3}
      W_2: {frozen: [[1, 0.3]], A: [[0.7]], B: [[0.2, -1]], alpha: 1}
      activation: gelu
vocabulary: [a, b]
unembedding:
  W_U: {frozen: [[1, 0.3], [0.2, 1]], A: [[0.5], [1]], B: [[0.1, -0.2]], alpha: 1}
training: [{tokens: [a, b], targets: [b, a]}, {tokens: [b], targets: [a]}]
"""
"""A batch, in which each weight matrix has LoRA."""


QLORA = """\
title: QLoRA
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [-0.5, 2]}
layers:
- attention:
    heads:
    - W_Q:
        frozen: {quantized: {bits: 4}, of: [[1, 0.2], [0.5, -0.9]]}
        A: [[1], [0.5]]
        B: [[0.2, -0.4]]
        alpha: 2
      W_K:
        frozen: {quantized: {kind: mxfp4}, of: [[1, 0.3], [0.1, 1]]}
        A: [[1, 0], [0, 1]]
        B: [[0.1, 0.2], [0.3, 0]]
        alpha: 1
      W_V: {frozen: [[1, 2], [0, 1]], A: [[0.3], [0.1]], B: [[0, 0]], alpha: 0.5}
    W_O: {quantized: {bits: 4}, of: [[1, 0.5], [0.2, 1]]}
vocabulary: [a, b]
unembedding:
  W_U:
    frozen: {quantized: {bits: 8, group: row, zero_point: true}, of: [[1, 0.3], [0.2, 1]]}
    A: [[0.5], [1]]
    B: [[0.1, -0.2]]
    alpha: 1
targets: [b, a]
rounding: {carry: never}
"""
"""LoRA on weights that are quantized in each way, and on others."""


WITH_SINKS = """\
tokens: [a, b, c]
embeddings: {a: [0.5, -1], b: [1, 0.5], c: [0.25, 2]}
layers:
- attention:
    heads:
    - {sink: 0.5, W_Q: [[1, 0.2], [0.3, 1]], W_K: [[0.5, -0.2], [0.1, 1]], W_V: identity}
    - {sink: -0.25, shares: 1, W_Q: [[0.1, 0.2], [0.3, 1]]}
    W_O: {random: {seed: 1}}
vocabulary: [a, b, c]
unembedding: tied
targets: [b, c, a]
"""
"""Heads with sinks; the second one shares keys and values."""


WITH_SWIGLU = """\
title: SwiGLU with limits
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [-0.5, 2]}
layers:
  - ffn:
      W_1: [[1, 0.5, -2], [0.5, 1, 0.25]]
      W_3: [[2, -1, 0.5], [0.5, 1, -0.25]]
      b_3: [0.1, 0, -0.2]
      W_2: [[1, 0.5], [0.25, -1], [0.5, 1]]
      activation: swiglu
      gate_scale: 1.702
      gate_limit: 1.5
vocabulary: [a, b]
unembedding: tied
targets: [b, a]
"""
"""A network whose limits change numbers."""


WITH_TYPES = """\
title: Token types
tokens: [a, b]
token_types: [0, 1]
type_embeddings: [[0.5, -1], [1, 0.25]]
embeddings: {a: [1, 0.5], b: [-0.5, 2]}
positions: {table: [[0.3, 1], [0.5, -0.2]]}
embedding_norm: {epsilon: 0.1, gain: [1, 2], shift: [0.5, 1]}
layers:
  - attention:
      heads:
        - {W_Q: [[1], [0.5]], W_K: [[0.3], [1]], W_V: [[1], [0.2]]}
        - {W_Q: [[0.2], [1]], shares: 1}
vocabulary: [a, b]
unembedding: tied
training: [{tokens: [a, b], targets: [b, a]}, {tokens: [b], targets: [a]}]
"""
"""Embeddings, types and positions, whose sum is normalized, as in BERT."""


POSITIONS = "positions: {rotary: {base: 100, layout: halves, start: 1, share: 0.5}}"
"""Those of the scenario, in place of which there can be others."""


def every_part(layout: str = "halves", mask: str = "{window: 2}", softmax: str = "shifted") -> str:
    """The scenario, with a choice of what cannot stand beside each other."""
    chosen = EVERY_PART.replace("LAYOUT", layout).replace("{window: 2}", mask)
    return chosen.replace("softmax: shifted", f"softmax: {softmax}")
