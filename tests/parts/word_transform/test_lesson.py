"""The text of the transform before the unembedding: lines, sentences, code, an edited page."""

from __future__ import annotations

from tests.helpers.command import printed
from tests.helpers.continuity import violations
from tests.helpers.part_tests import page_edits, programs

TYPED = """\
tokens: [a, b]
mask: none
embeddings: {a: [1, 0.5], b: [-0.5, 2], c: [0.3, 0.4]}
layers: []
vocabulary: [a, b, c]
unembedding:
  W_U: tied
  transform:
    W_M: [[1, 0.5], [-0.5, 1]]
    b_M: [0.1, -0.2]
    activation: gelu
    norm: {epsilon: 0.01, gain: [1.5, 0.5], shift: [0.1, 0.2]}
targets: [none, c]
"""


def joined(text: str) -> str:
    return " ".join(text.split())


def test_the_lines_of_the_transform() -> None:
    """-0.5×1 + 2×(-0.5) + 0.1 = -1.4 and -0.5×0.5 + 2×1 - 0.2 = 1.55."""
    written = printed("run", "-", "--detail", "full", stdin=TYPED)
    text = joined(written)
    assert "h_M (2 × 2) = y (2 × 2) · W_M (2 × 2) + b_M (2)" in text
    assert "+ 2×(-0.5) + 0.1" in text and "= -1.400" in text and "= 1.550" in text
    assert "y is transformed before the logits are computed. W_M maps it to 2 hidden units." in text
    assert "With the transform, the model can compare another vector with them" in text
    assert "is the dot product of y_M with the column of" in text
    assert violations(written) == []


def test_relu_and_an_own_unembedding_have_other_sentences() -> None:
    text = TYPED.replace("gelu", "relu").replace("tied", "[[1, 0, 1], [0, 1, 1]]")
    text = joined(printed("run", "-", "--detail", "full", stdin=text))
    assert "ReLU keeps “d₁” and sets “d₀” to 0." in text
    assert "The columns of W_U are the embeddings." not in text


def test_without_a_norm_the_unembedding_reads_the_activations() -> None:
    typed = TYPED.partition("    norm:")[0] + "targets: [none, c]\n"
    text = joined(printed("run", "-", "--detail", "full", stdin=typed))
    assert "z (2 × 3) = a_M (2 × 2) · W_U (2 × 3)" in text


def test_the_boxes_of_the_diagram() -> None:
    text = joined(printed("tutorial", "-", stdin=TYPED))
    above = "softmax 2×3 8 · W_U 2×3 7 LayerNorm 2×2 6 GELU 2×2 5 · W_M + b_M 2×2 4 y 2×2 3"
    assert above in text


def test_the_parameters_count_as_those_of_the_unembedding() -> None:
    """4 of W_M, 2 each of b_M, γ and β; W_U is the embeddings."""
    text = joined(printed("shapes", "-", stdin=TYPED))
    assert "unembedding 10" in text


test_the_program_computes_the_same = programs({"transform": TYPED})
test_edits_of_a_page = page_edits({"transform": TYPED})
