"""Worked examples that others have published, of parts of a model: each figure judged by `check`.

Of a wrong figure, the right one is the author's calculation done again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import exp

import pytest

from tests.helpers.command import run

HEAD, FFN = "layer1.attention.head1", "layer1.ffn"


@dataclass(frozen=True)
class Published:
    """A scenario with an author's numbers, and the rows that the author prints.

    `wrong` has the right number of each wrong figure, by its place; `unit` that of each figure
    whose last digit is one off.
    """

    source: str
    scenario: str
    rows: dict[tuple[str, int], str]
    wrong: dict[tuple[str, int, int], float] = field(default_factory=dict)
    unit: dict[tuple[str, int, int], float] = field(default_factory=dict)


def silu(x: float) -> float:
    return x / (1 + exp(-x))


def of_buckets(number: int) -> str:
    """A table in which each bucket's bias is its own number."""
    return str([[bucket] for bucket in range(number)])


SCORES = (0.1, 1.8, 0.9, 0.4, 1.2, 0, 0.7, 0.1)
ONE_HOT = "[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]"

EXAMPLES = {
    "SwiGLU with weights": Published(
        "github.com/AlphaGPU/leetgpu-challenges, 84_swiglu_mlp_block",
        """
title: A SwiGLU block
tokens: [x, y]
embeddings: {x: [1, 0], y: [0, 1]}
layers:
  - ffn:
      activation: silu
      W_1: &half [[1, 0, 0, 0], [0, 1, 0, 0]]
      W_3: *half
      W_2: [[1, 0], [0, 1], [0, 0], [0, 0]]
rounding: {decimals: 6, carry: never}
""",
        {
            (f"{FFN}.gated", 1): "0.7311 0.0 0.0 0.0",
            (f"{FFN}.gated", 2): "0.0 0.7311 0.0 0.0",
            (f"{FFN}.output", 1): "0.7311 0.0",
            (f"{FFN}.output", 2): "0.0 0.7311",
        },
    ),
    "SwiGLU of two halves": Published(
        "github.com/AlphaGPU/leetgpu-challenges, 54_swiglu",
        """
title: SwiGLU
tokens: [x]
embeddings: {x: [1, 2, 3, 4]}
layers:
  - ffn:
      activation: silu
      W_1: [[1, 0], [0, 1], [0, 0], [0, 0]]
      W_3: [[0, 0], [0, 0], [1, 0], [0, 1]]
      W_2: [[0, 0, 0, 0], [0, 0, 0, 0]]
rounding: {decimals: 9, carry: never}
""",
        {(f"{FFN}.gated", 1): "2.1931758 7.0463767"},
        # In float32, each is a unit too large.
        unit={(f"{FFN}.gated", 1, 1): 3 * silu(1), (f"{FFN}.gated", 1, 2): 4 * silu(2)},
    ),
    "SwiGLU of large numbers": Published(
        "prof.lexailabs.com/practice/swiglu",
        """
title: SwiGLU
tokens: [x]
embeddings: {x: [1, -1, 1000, -1000]}
layers:
  - ffn:
      activation: silu
      W_1: [[0, 0], [0, 0], [1, 0], [0, 1]]
      W_3: [[1, 0], [0, 1], [0, 0], [0, 0]]
      W_2: [[0, 0, 0, 0], [0, 0, 0, 0]]
rounding: {carry: never}
""",
        {(f"{FFN}.gated", 1): "1000.0 0.0"},
    ),
    "a window and the first token": Published(
        "github.com/AlphaGPU/leetgpu-challenges, 110_attention_with_sinks",
        # The author prints seven decimals; float32 is exact to five here.
        f"""
title: The last two tokens and the first
tokens: [a, b, c, d]
mask: [[0, -inf, -inf, -inf], [0, 0, -inf, -inf], [0, 0, 0, -inf], [0, -inf, 0, 0]]
layers:
  - attention:
      heads:
        - Q: {ONE_HOT}
          K: {ONE_HOT}
          V: [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]
rounding: {{decimals: 8, carry: never}}
""",
        {
            (f"{HEAD}.output", 1): "1.00000 2.00000 3.00000 4.00000",
            (f"{HEAD}.output", 2): "3.48984 4.48984 5.48984 6.48984",
            (f"{HEAD}.output", 3): "5.71118 6.71118 7.71118 8.71118",
            (f"{HEAD}.output", 4): "8.61490 9.61490 10.61490 11.61490",
        },
    ),
    "a masked word of BERT": Published(
        "ainiketan.in/papers/11-bert-2018/sections/05-worked-example/",
        # The scores of [MASK] are given; the weight of “mat” is 0.1086, printed as 0.108.
        """
title: What a masked word attends to
tokens: ["[CLS]", The, cat, sat, "on", "[MASK]", mat, "[SEP]"]
mask: none
layers:
  - attention:
      scale: none
      heads:
        - Q: [[0], [0], [0], [0], [0], [1], [0], [0]]
          K: [[0.1], [1.8], [0.9], [0.4], [1.2], [0], [0.7], [0.1]]
          V: [[1], [1], [1], [1], [1], [1], [1], [1]]
rounding: {decimals: 6, carry: never}
""",
        {
            (f"{HEAD}.scores", 6): "0.1 1.8 0.9 0.4 1.2 0.0 0.7 0.1",
            (f"{HEAD}.exp", 6): "1.11 6.05 2.46 1.49 3.32 1.00 2.01 1.11",
            (f"{HEAD}.weights", 6): "0.060 0.326 0.133 0.080 0.179 0.054 0.108 0.060",
        },
        unit={(f"{HEAD}.weights", 6, 7): exp(0.7) / sum(map(exp, SCORES))},
    ),
    "linear attention": Published(
        "github.com/AlphaGPU/leetgpu-challenges, 56_linear_attention",
        # Without a mask; the last token reads all of them in any order.
        """
title: Linear attention
tokens: [a, b]
layers:
  - attention:
      kind: linear
      feature_map: elu_plus_1
      normalizer: true
      scale: none
      heads:
        - Q: &rows [[1, 0, 0, 0], [0, 1, 0, 0]]
          K: *rows
          V: [[1, 2, 3, 4], [5, 6, 7, 8]]
rounding: {decimals: 9, carry: never}
""",
        {(f"{HEAD}.output", 2): "3.153846 4.153846 5.153846 6.153846"},
    ),
    "linear attention, the other token last": Published(
        "github.com/AlphaGPU/leetgpu-challenges, 56_linear_attention",
        """
title: Linear attention
tokens: [b, a]
layers:
  - attention:
      kind: linear
      feature_map: elu_plus_1
      normalizer: true
      scale: none
      heads:
        - Q: &rows [[0, 1, 0, 0], [1, 0, 0, 0]]
          K: *rows
          V: [[5, 6, 7, 8], [1, 2, 3, 4]]
rounding: {decimals: 9, carry: never}
""",
        {(f"{HEAD}.output", 2): "2.846154 3.846154 4.846154 5.846154"},
    ),
    "the gated delta rule": Published(
        "github.com/AlphaGPU/leetgpu-challenges, 113_kimi_delta_attention",
        # Its gate has a number for each column; here both are equal.
        """
title: A gated delta rule
tokens: [a, b]
layers:
  - attention:
      kind: delta
      scale: none
      gate: [1, 0.5]
      beta: [1, 0.5]
      heads: [{Q: [[1, 0], [1, 1]], K: [[1, 0], [0, 1]], V: [[1, 2], [2, 0]]}]
""",
        {
            (f"{HEAD}.token1.state", 1): "1 2",
            (f"{HEAD}.token1.state", 2): "0 0",
            (f"{HEAD}.token2.kept", 1): "0.5 1",
            (f"{HEAD}.token2.kept", 2): "0 0",
            (f"{HEAD}.token2.state", 1): "0.5 1",
            (f"{HEAD}.token2.state", 2): "1 0",
            (f"{HEAD}.output", 1): "1 2",
            (f"{HEAD}.output", 2): "1.5 1",
        },
    ),
    "absolute maximum": Published(
        "github.com/huggingface/blog, hf-bitsandbytes-integration.md",
        """
title: Eight weights in eight bits
tokens: [x]
embeddings: {x: [1]}
layers:
  - ffn:
      W_1: {quantized: {bits: 8}, of: [[1.2, -0.5, -4.3, 1.2, -3.1, 0.8, 2.4, 5.4]]}
      W_2: [[0], [0], [0], [0], [0], [0], [0], [0]]
rounding: {decimals: 6, carry: never}
""",
        {
            (f"{FFN}.W_1.largest", 1): "5.4",
            (f"{FFN}.W_1.integers", 1): "28 -12 -101 28 -73 19 56 127",
        },
    ),
    "the error of a rounded weight": Published(
        "github.com/huggingface/blog, hf-bitsandbytes-integration.md",
        # 38 / 127 is 0.2992 as printed; the error of 0.008 has a 0 too few.
        """
title: Two weights in eight bits
tokens: [x]
embeddings: {x: [1]}
layers: [{ffn: {W_1: {quantized: {bits: 8}, of: [[1, 0.3]]}, W_2: [[0], [0]]}}]
rounding: {decimals: 6, carry: never}
""",
        {
            (f"{FFN}.W_1.integers", 1): "127 38",
            (f"{FFN}.W_1", 1): "1 0.2992",
            (f"{FFN}.W_1.error", 1): "0 0.008",
        },
        {(f"{FFN}.W_1.error", 1, 2): 0.3 - 38 / 127},
    ),
    "ties of eight bits": Published(
        "ai.adomicarts.com/practice/mle_interview_prep_28",
        """
title: Four weights in eight bits
tokens: [x]
embeddings: {x: [1]}
layers: [{ffn: {W_1: {quantized: {bits: 8}, of: [[1, -1, 0.5, -0.5]]}, W_2: [[0], [0], [0], [0]]}}]
rounding: {decimals: 8, carry: never}
""",
        {
            (f"{FFN}.W_1.scale", 1): "0.007874",
            (f"{FFN}.W_1.integers", 1): "127 -127 64 -64",
            (f"{FFN}.W_1", 1): "1.0 -1.0 0.5039 -0.5039",
        },
    ),
    "four bits with a power of two": Published(
        "github.com/kapilsh/kapilsh.github.io, Understanding MXFP4 Quantization",
        # The error of -1.25 has lost its sign.
        """
title: Four weights in MXFP4
tokens: [x]
embeddings: {x: [1, 1, 1, 1]}
layers:
  - ffn:
      W_1: {quantized: {kind: mxfp4, group: 4}, of: [[2.5], [-1.25], [0.75], [4]]}
      W_2: [[0, 0, 0, 0]]
""",
        {
            (f"{FFN}.W_1.scale", 1): "1.0",
            (f"{FFN}.W_1", 1): "2.0",
            (f"{FFN}.W_1", 2): "-1.0",
            (f"{FFN}.W_1", 3): "1.0",
            (f"{FFN}.W_1", 4): "4.0",
            (f"{FFN}.W_1.error", 1): "0.5",
            (f"{FFN}.W_1.error", 2): "0.25",
            (f"{FFN}.W_1.error", 3): "-0.25",
            (f"{FFN}.W_1.error", 4): "0.0",
        },
        {(f"{FFN}.W_1.error", 2, 1): -1.25 - -1.0},
    ),
    "a zero point": Published(
        "github.com/onnx/onnx, DynamicQuantizeLinear",
        # -2.5 is the tie -127.5 below 153, which float32 computes as -127.49999.
        """
title: Six weights with a zero point
tokens: [x]
embeddings: {x: [1]}
layers:
  - ffn:
      W_1: {quantized: {bits: 8, zero_point: true}, of: [[0, 2, -3, -2.5, 1.34, 0.5]]}
      W_2: [[0], [0], [0], [0], [0], [0]]
rounding: {decimals: 12, carry: never}
""",
        {
            (f"{FFN}.W_1.scale", 1): "0.01960784",
            (f"{FFN}.W_1.zero_point", 1): "153",
            (f"{FFN}.W_1.integers", 1): "153 255 0 26 221 179",
        },
        {(f"{FFN}.W_1.integers", 1, 4): 153 + round(-2.5 / (5 / 255))},
    ),
    "a zero point of negative weights": Published(
        "github.com/onnx/onnx, DynamicQuantizeLinear",
        """
title: Six negative weights with a zero point
tokens: [x]
embeddings: {x: [1]}
layers:
  - ffn:
      W_1: {quantized: {bits: 8, zero_point: true}, of: [[-1, -2.1, -1.3, -2.5, -3.34, -4]]}
      W_2: [[0], [0], [0], [0], [0], [0]]
rounding: {decimals: 12, carry: never}
""",
        {
            (f"{FFN}.W_1.zero_point", 1): "255",
            (f"{FFN}.W_1.integers", 1): "191 121 172 96 42 0",
        },
    ),
    "integers that are cut off": Published(
        "github.com/gizatechxyz/orion, dynamic_quantize_linear_fp_test.cairo",
        # The author does not round: 0.07 is 19.8 scales, 0.2 is 56.7 and 0.5 is 141.7.
        """
title: Six weights without negative ones
tokens: [x]
embeddings: {x: [1]}
layers:
  - ffn:
      W_1: {quantized: {bits: 8, zero_point: true}, of: [[0, 0.07, 0.1, 0.2, 0.5, 0.9]]}
      W_2: [[0], [0], [0], [0], [0], [0]]
rounding: {decimals: 12, carry: never}
""",
        {
            (f"{FFN}.W_1.scale", 1): "0.00353",
            (f"{FFN}.W_1.zero_point", 1): "0",
            (f"{FFN}.W_1.integers", 1): "0 19 28 56 141 255",
        },
        {
            (f"{FFN}.W_1.integers", 1, column): round(weight / (0.9 / 255))
            for column, weight in ((2, 0.07), (4, 0.2), (5, 0.5))
        },
    ),
    "YaRN": Published(
        "dappco.re/go/inference, a test of YaRN in gpt-oss",
        """
title: YaRN with the settings of gpt-oss
tokens: [a]
embeddings: {a: [0]}
positions:
  rotary:
    base: 150000
    scaling:
      kind: yarn
      factor: 32
      original_max_position_embeddings: 4096
      beta_fast: 32
      beta_slow: 1
      truncate: false
layers: [{attention: {heads: [{W_Q: ZEROS, W_K: ZEROS, W_V: [[0]]}]}}]
rounding: {decimals: 12, carry: never}
""".replace("ZEROS", str([[0] * 64])),
        {
            ("position.ramp_start", 1): "8.0928",
            ("position.ramp_end", 1): "17.3980",
            ("position.div_term", 1): "1.0",
            ("position.div_term", 9): "0.050813274815461475",
            ("position.div_term", 32): "3.0235114281192144e-07",
            ("position.attention_factor", 1): "1.3465735902799727",
        },
        # The digits of the nearest float are a unit too large at the end.
        unit={("position.div_term", 9, 1): 0.050813274815461474},
    ),
    "buckets of offsets, for earlier tokens only": Published(
        "github.com/onnxruntime/mobius, t5_test.py",
        """
title: Buckets as biases, in one direction
tokens: [a, b, c, d]
embeddings: {a: [0], b: [0], c: [0], d: [0]}
positions: {relative_bias: {table: BUCKETS}}
layers: [{attention: {heads: [{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}]}}]
rounding: {decimals: 6, carry: never}
""".replace("BUCKETS", of_buckets(32)),
        {
            (f"{HEAD}.relative_bias", 1): "0 0 0 0",
            (f"{HEAD}.relative_bias", 2): "1 0 0 0",
            (f"{HEAD}.relative_bias", 3): "2 1 0 0",
            (f"{HEAD}.relative_bias", 4): "3 2 1 0",
        },
    ),
    "buckets of offsets, in two directions": Published(
        "github.com/onnxruntime/mobius, t5_test.py",
        """
title: Buckets as biases, in two directions
tokens: [a, b, c, d]
embeddings: {a: [0], b: [0], c: [0], d: [0]}
mask: none
positions: {relative_bias: {table: BUCKETS}}
layers: [{attention: {heads: [{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}]}}]
rounding: {decimals: 6, carry: never}
""".replace("BUCKETS", of_buckets(32)),
        {
            (f"{HEAD}.relative_bias", 1): "0 17 18 19",
            (f"{HEAD}.relative_bias", 2): "1 0 17 18",
            (f"{HEAD}.relative_bias", 3): "2 1 0 17",
            (f"{HEAD}.relative_bias", 4): "3 2 1 0",
        },
    ),
    "buckets that several offsets share": Published(
        "github.com/justinluque/mlx-serve, t5_encoder.zig",
        """
title: Buckets of sixteen tokens
tokens: [a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a]
embeddings: {a: [0]}
mask: none
positions: {relative_bias: {table: BUCKETS}}
layers: [{attention: {heads: [{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}]}}]
rounding: {decimals: 6, carry: never}
""".replace("BUCKETS", of_buckets(32)),
        {
            ("position.bias", 16 + offset): str(bucket)
            for offset, bucket in (
                *((0, 0), (1, 17), (-1, 1), (7, 23), (-7, 7)),
                *((8, 24), (-8, 8), (15, 25), (-15, 9)),
            )
        },
    ),
    "a last bucket for all other offsets": Published(
        "1cademy.com, T5 bias with 4 buckets and the distance 5",
        """
title: Four buckets
tokens: [a, a, a, a, a, a, a, a]
embeddings: {a: [0]}
positions: {relative_bias: {max_distance: 5, table: BUCKETS}}
layers: [{attention: {heads: [{W_Q: [[1]], W_K: [[1]], W_V: [[1]]}]}}]
rounding: {decimals: 6, carry: never}
""".replace("BUCKETS", of_buckets(4)),
        {
            ("position.bias", 8 - distance): str(bucket)
            for distance, bucket in enumerate((0, 1, 2, 2, 3, 3, 3, 3))
        },
    ),
}


def written(address: str, row: int, column: int) -> str:
    """A place as `check` takes it: in a matrix, in a vector, a single number."""
    if address in ("position.ramp_start", "position.ramp_end", "position.attention_factor"):
        return address
    return f"{address}[{row}]" if address == "position.div_term" else f"{address}[{row},{column}]"


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_published_example_is_judged(name: str) -> None:
    example = EXAMPLES[name]
    figures = [
        (address, row, column, printed)
        for (address, row), numbers in example.rows.items()
        for column, printed in enumerate(numbers.split(), 1)
    ]
    options = [
        f"--figure={written(a, row, column)}={printed}" for a, row, column, printed in figures
    ]
    ran = run("check", "-", *options, "--format", "json", stdin=example.scenario)
    assert ran.exit_code in (0, 1), ran.stderr
    found = json.loads(ran.stdout)["findings"]
    said = [(each["figure"].partition("[")[0], each["printed"]) for each in found]
    assert said == [(address, printed) for address, _, _, printed in figures]
    judged: dict[str, set[tuple[str, int, int]]] = {}
    for (address, row, column, printed), each in zip(figures, found, strict=True):
        place = (address, row, column)
        judged.setdefault(each["verdict"], set()).add(place)
        if each["verdict"] != "agrees":
            right = {**example.wrong, **example.unit}[place]
            half = 0.5 * 10.0 ** -len(printed.partition(".")[2])
            assert float(each["right"]) == pytest.approx(right, abs=half)
    judged.pop("agrees", None)
    assert judged.pop("rounding", set()) == example.unit.keys()
    assert {place for places in judged.values() for place in places} == example.wrong.keys()
    assert ran.exit_code == bool(example.wrong)
