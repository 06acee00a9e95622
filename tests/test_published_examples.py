"""Examples that others have published, typed as they have them; what differs is their mistake."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal
from math import exp, sqrt

import pytest

from tests.helpers.command import printed

HEAD = "layer1.attention.head1"


@dataclass(frozen=True)
class Example:
    """A scenario as an author has it, the rows that the author prints, and wrong ones among them.

    A mistake is a place, with the author's calculation done again.
    """

    source: str
    scenario: str
    rows: dict[tuple[str, int], str]
    mistakes: dict[tuple[str, int, int], float] = field(default_factory=dict)
    command: str = "run"


def softmax(scores: list[float]) -> list[float]:
    powers = [exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def dot(a: str, b: str) -> float:
    return sum(float(x) * float(y) for x, y in zip(a.split(), b.split(), strict=True))


FIRST, WILL, WORK = "0.5 0.3 -0.2 0.1", "-0.1 0.4 0.2 -0.3", "0.2 -0.1 0.5 0.1"

EXAMPLES = {
    "attention in tiles": Example(
        "mylearningnoteforai.blogspot.com/2025/09/flash-attension.html",
        """
title: Normal attention and FlashAttention
tokens: [1, 2, 3, 4]
mask: none
layers:
  - attention:
      blocks: 2
      heads:
        - Q: [[1, 0, 2, 0], [0, 1, 1, 0], [1, 1, 0, 1], [0, 2, 1, 1]]
          K: [[2, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 1], [0, 0, 2, 1]]
          V: [[1, 0], [0, 1], [1, 1], [2, 1]]
rounding: {decimals: 6, carry: never}
""",
        {
            (f"{HEAD}.scores", 1): "1.0 1.0 1.5 2.0",
            (f"{HEAD}.scores", 2): "0.5 1.0 0.5 1.0",
            (f"{HEAD}.scores", 3): "1.5 0.5 1.0 0.5",
            (f"{HEAD}.scores", 4): "1.0 1.5 1.0 1.5",
            (f"{HEAD}.weights", 1): "0.1570 0.1570 0.2588 0.4269",
            (f"{HEAD}.weights", 2): "0.1887 0.3113 0.1887 0.3113",
            (f"{HEAD}.weights", 3): "0.4271 0.1571 0.2589 0.1571",
            (f"{HEAD}.weights", 4): "0.1888 0.3112 0.1888 0.3112",
            (f"{HEAD}.output", 1): "1.2696 0.8427",
            (f"{HEAD}.blocks.output", 2): "1.0000 0.8113",
            (f"{HEAD}.output", 3): "1.0000 0.5731",
            (f"{HEAD}.blocks.output", 4): "1.0000 0.8112",
        },
        {
            (f"{HEAD}.weights", 1, 3): softmax([1, 1, 1.5, 2])[2],
            (f"{HEAD}.weights", 3, 1): softmax([1.5, 0.5, 1, 0.5])[0],
            (f"{HEAD}.output", 1, 1): dot("1 0 1 2", " ".join(map(str, softmax([1, 1, 1.5, 2])))),
            (f"{HEAD}.output", 1, 2): 1 - softmax([1, 1, 1.5, 2])[0],
        },
    ),
    "queries, keys and values typed": Example(
        "lynx-cortex.pages.dev/phase-15-attention/theory/05-worked-length-4-attention/",
        """
title: A sequence of four tokens
tokens: [I, will, work, .]
layers:
  - attention:
      heads:
        - Q: &half [[0.25, 0.15, -0.1, 0.05], [-0.05, 0.2, 0.1, -0.15], [0.1, -0.05, 0.25, 0.05],
            [0, 0, 0, 0.1]]
          K: *half
          V: [[0.5, 0.3, -0.2, 0.1], [-0.1, 0.4, 0.2, -0.3], [0.2, -0.1, 0.5, 0.1], [0, 0, 0, 0.2]]
rounding: {decimals: 6}
""",
        {
            (f"{HEAD}.scores", 1): "0.049 -0.005 -0.002 0.003",
            (f"{HEAD}.scores", 2): "-0.005 0.038 0.005 -0.008",
            (f"{HEAD}.scores", 3): "-0.002 0.005 0.039 0.003",
            (f"{HEAD}.scores", 4): "0.003 -0.008 0.003 0.005",
        },
        {
            (f"{HEAD}.scores", 1, 2): dot(FIRST, WILL) / 4 / 2,
            (f"{HEAD}.scores", 2, 1): dot(WILL, FIRST) / 4 / 2,
            (f"{HEAD}.scores", 2, 3): dot(WILL, WORK) / 4 / 2,
            (f"{HEAD}.scores", 3, 2): dot(WORK, WILL) / 4 / 2,
        },
    ),
    "a test of two tokens": Example(
        "amanailab.com/code-lab/scaled-dot-product-attention",
        """
title: Scaled dot-product attention
tokens: [1, 2]
mask: none
layers: [{attention: {heads: [{Q: [[1, 0], [0, 1]], K: [[1, 0], [0, 1]], V: [[1, 2], [3, 4]]}]}}]
rounding: {decimals: 8, carry: never}
""",
        {
            (f"{HEAD}.output", 1): "1.66082 2.66082",
            (f"{HEAD}.output", 2): "2.33918 3.33918",
        },
        {
            (f"{HEAD}.output", 1, 1): 3 - 2 * softmax([1 / sqrt(2), 0])[0],
            (f"{HEAD}.output", 1, 2): 4 - 2 * softmax([1 / sqrt(2), 0])[0],
            (f"{HEAD}.output", 2, 1): 1 + 2 * softmax([1 / sqrt(2), 0])[0],
            (f"{HEAD}.output", 2, 2): 2 + 2 * softmax([1 / sqrt(2), 0])[0],
        },
    ),
    "a gradient that is given": Example(
        "github.com/RichardJPovinelli/Neural_Networks_Course, Attention_Backprop_Demo.ipynb",
        # Given is A - T, where T is the author's target. The text divides the scores by √4; the
        # gradients that it prints, at W_Q twice as large, are of a run without.
        """
title: Backpropagation through attention
tokens: [1, 2, 3]
mask: none
embeddings:
  1: [0.5, 0.2, 0.1, -0.1]
  2: [0.0, 0.3, -0.2, 0.2]
  3: [0.4, -0.1, 0.0, 0.3]
layers:
  - attention:
      scale: none
      heads:
        - W_Q: [[0.2, -0.1, 0.0, 0.3], [0.1, 0.0, 0.2, -0.2], [-0.1, 0.3, 0.1, 0.0],
            [0.0, 0.2, -0.2, 0.1]]
          W_K: [[0.1, 0.2, 0.0, -0.1], [0.0, 0.1, 0.3, 0.0], [0.2, -0.2, 0.1, 0.1],
            [-0.1, 0.0, 0.2, 0.2]]
          W_V: [[0.3, 0.1, 0.0, -0.2], [0.0, 0.2, 0.1, 0.0], [0.1, -0.1, 0.2, 0.1],
            [0.0, 0.1, -0.2, 0.3]]
given:
  gradient.layer1.attention.output:
    - [-0.0132611364, 0.0733147838, -0.0699816751, 0.0266255718]
    - [0.0869402211, -0.0267044888, 0.0301979295, -0.0736040125]
    - [0.0368313649, 0.1232435548, -0.1201460693, -0.0232589839]
rounding: {decimals: 10, carry: never}
""",
        {
            ("layer1.attention.output", 1): "0.0867 0.0733 -0.0200 -0.0234",
            ("layer1.attention.output", 2): "0.0869 0.0733 -0.0198 -0.0236",
            ("layer1.attention.output", 3): "0.0868 0.0732 -0.0201 -0.0233",
            (f"gradient.{HEAD}.W_Q", 1): "-0.000254 -0.0000672 0.0000662 0.000179",
            (f"gradient.{HEAD}.W_Q", 2): "0.000159 0.0000344 -0.0000672 -0.0000917",
            (f"gradient.{HEAD}.W_Q", 3): "-0.000186 -0.0000414 0.0000743 0.000111",
            (f"gradient.{HEAD}.W_Q", 4): "0.000140 0.0000262 -0.0000727 -0.0000700",
            (f"gradient.{HEAD}.W_K", 1): "-0.0000346 -0.00000876 -0.0000594 -0.000293",
            (f"gradient.{HEAD}.W_K", 2): "-0.0000436 0.00000258 0.0000259 -0.0000327",
            (f"gradient.{HEAD}.W_K", 3): "-0.0000271 -0.00000515 -0.0000339 -0.000187",
            (f"gradient.{HEAD}.W_K", 4): "0.0000744 0.00000438 0.0000208 0.000273",
            (f"gradient.{HEAD}.W_V", 1): "0.0332 0.0510 -0.0480 -0.0211",
            (f"gradient.{HEAD}.W_V", 2): "0.0147 0.0225 -0.0212 -0.00934",
            (f"gradient.{HEAD}.W_V", 3): "-0.00364 -0.00564 0.00531 0.00231",
            (f"gradient.{HEAD}.W_V", 4): "0.0147 0.0227 -0.0214 -0.00934",
        },
        command="train",
    ),
    "Adam without ε": Example(
        "www.q4quant.studio, Exercise: Compute the First Adam Update by Hand",
        """
title: The first step of Adam
tokens: [x]
embeddings: {x: [1]}
layers: [{ffn: {activation: relu, W_1: [[1]], W_2: [[1]]}}]
given: {gradient.layer1.ffn.output: [[4]]}
optimizer: {kind: adam, learning_rate: 0.1, epsilon: 0, trains: [layer1.ffn.W_2]}
""",
        {
            ("update.layer1.ffn.W_2.first_moment", 1): "0.4",
            ("update.layer1.ffn.W_2.second_moment", 1): "0.016",
            ("update.layer1.ffn.W_2.unbiased_first", 1): "4",
            ("update.layer1.ffn.W_2.unbiased_second", 1): "16",
            ("update.layer1.ffn.W_2", 1): "0.9",
        },
        command="train",
    ),
    "LoRA": Example(
        "prof.lexailabs.com/practice/lora-forward-pass",
        # The author multiplies from the left: the matrices are transposed, and B comes before A.
        """
title: The forward pass of LoRA
tokens: [x]
embeddings: {x: [1, 0]}
layers:
  - ffn:
      W_1: {frozen: [[1, 0], [0, 1]], A: [[1], [0]], B: [[1, 0]], alpha: 2}
      W_2: [[1, 0], [0, 1]]
""",
        {
            ("layer1.ffn.W_1", 1): "3 0",
            ("layer1.ffn.W_1", 2): "0 1",
            ("layer1.ffn.hidden", 1): "3 0",
        },
    ),
    "a router": Example(
        "ainiketan.in/papers/09-mixture-of-experts-2017/sections/05-worked-example/",
        """
title: Routing four tokens through four experts
tokens: [chai, bahut, garam, hai]
embeddings: {chai: [1.0, 0.2], bahut: [0.3, 0.8], garam: [0.1, 0.5], hai: [0.6, 0.1]}
layers:
  - ffn:
      router: [[1.0, 0.5, -0.5, 0.2], [-0.2, 0.8, 1.0, -0.3]]
      top: 2
      experts:
        - {W_1: [[1.2, 0.0], [0.0, 0.5]], W_2: &unchanged [[1, 0], [0, 1]], activation: none}
        - {W_1: [[0.3, 0.0], [0.0, 1.4]], W_2: *unchanged, activation: none}
        - {W_1: [[0.2, 0.8], [0.9, 0.1]], W_2: *unchanged, activation: none}
        - {W_1: [[0.7, 0.3], [0.1, 0.6]], W_2: *unchanged, activation: none}
""",
        {
            ("layer1.ffn.router.logits", 1): "0.96 0.66 -0.30 0.14",
            ("layer1.ffn.router.logits", 2): "0.14 0.79 0.65 -0.18",
        },
    ),
    "RMSNorm": Example(
        "prof.lexailabs.com/practice/rmsnorm",
        """
title: RMSNorm
tokens: [x]
embeddings: {x: [1, 2, 3, 4]}
layers:
  - ffn:
      norm: {placement: pre, kind: rms_norm, gain: [1, 1, 1, 1], epsilon: 0.00000001}
      W_1: [[1], [1], [1], [1]]
      W_2: [[1, 1, 1, 1]]
rounding: {decimals: 4}
""",
        {("layer1.ffn.norm", 1): "0.3651 0.7303 1.0954 1.4606"},
    ),
    "slopes of ALiBi": Example(
        "crackedaicode.com/problems/flax-alibi-bias",
        """
title: ALiBi with two heads
tokens: [1, 2]
embeddings: {1: [0, 1], 2: [0, 1]}
positions: {alibi: true}
layers:
  - attention:
      heads:
        - {W_Q: [[1], [0]], W_K: [[1], [0]], W_V: [[1], [0]]}
        - {W_Q: [[1], [0]], W_K: [[1], [0]], W_V: [[1], [0]]}
      W_O: [[1, 0], [0, 1]]
rounding: {decimals: 8}
""",
        {
            ("layer1.attention.head1.biased", 2): "-0.0625 0",
            ("layer1.attention.head2.biased", 2): "-0.00390625 0",
        },
    ),
    "slopes of ALiBi, heads counted from 0": Example(
        # Press et al. (2022): the first of 2 heads has 2^(-8/2), not 2^0.
        "crackedaicode.com/problems/alibi-position-bias",
        """
title: ALiBi with two heads
tokens: [1, 2]
embeddings: {1: [0, 1], 2: [0, 1]}
positions: {alibi: true}
layers:
  - attention:
      heads:
        - {W_Q: [[1], [0]], W_K: [[1], [0]], W_V: [[1], [0]]}
        - {W_Q: [[1], [0]], W_K: [[1], [0]], W_V: [[1], [0]]}
      W_O: [[1, 0], [0, 1]]
rounding: {decimals: 8}
""",
        {
            ("layer1.attention.head1.biased", 2): "-1.0 0",
            ("layer1.attention.head2.biased", 2): "-0.0625 0",
        },
        {
            ("layer1.attention.head1.biased", 2, 1): -(2 ** (-8 / 2)),
            ("layer1.attention.head2.biased", 2, 1): -(2 ** (-16 / 2)),
        },
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_differs_is_the_mistake_of_the_author(name: str) -> None:
    example = EXAMPLES[name]
    found = json.loads(printed(example.command, "-", "-f", "json", stdin=example.scenario))
    ours = {value["address"]: value["data"] for value in found["values"]}
    wrong = {}
    for (address, row), numbers in example.rows.items():
        rows = ours[address] if isinstance(ours[address][0], list) else [ours[address]]
        for column, theirs in enumerate(numbers.split(), 1):
            right = Decimal(str(rows[row - 1][column - 1]))
            unit = Decimal(1).scaleb(int(Decimal(theirs).as_tuple().exponent))
            if abs(right - Decimal(theirs)) > unit:  # one unit may be a matter of rounding
                wrong[address, row, column] = float(right)
    assert wrong == pytest.approx(example.mistakes, rel=1e-3)


def test_merges_are_learned_as_published() -> None:
    """The corpus of Hugging Face's course, and at vizlearn.app/ai/nlp/bpe-training/."""
    scenario = """
title: BPE
corpus: {hug: 10, pug: 5, pun: 12, bun: 4, hugs: 5}
merges: 4
text: hugs
embeddings: {hug: [1, 0], s: [0, 1]}
layers: [{ffn: {W_1: [[1, 0], [0, 1]], W_2: [[1, 0], [0, 1]]}}]
"""
    text = printed("step", "learned_merges", "--scenario", "-", stdin=scenario)
    merges = [("u", "g", 20), ("u", "n", 16), ("h", "ug", 15), ("p", "un", 12)]
    for number, (a, b, times) in enumerate(merges, 1):
        assert f"Merge {number} joins “{a}” and “{b}”, which are neighbors {times} times." in text
