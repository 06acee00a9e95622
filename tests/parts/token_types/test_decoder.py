"""Token types: what is added, its gradients, a longer text, an attribution, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose

from tests.helpers.command import printed
from tests.helpers.part_tests import refusals
from tests.helpers.traces import traced
from tracer.decoder.forward import PassOptions, trace
from tracer.scenario.loading import parse

EMBEDDINGS = {"a": [1, 0.5], "b": [-0.5, 2], "c": [0.3, 0.4]}
TABLE, TYPES = [[0.1, 0.2], [-0.4, 1.0]], [0, 1, 1]
TYPED = f"""\
tokens: [a, b, a]
embeddings: {EMBEDDINGS}
token_types: {TYPES}
type_embeddings: {TABLE}
embedding_norm: {{gain: [1, 2], epsilon: 0.01}}
positions: {{table: [[0.5, 0], [1, 1], [0, -1], [2, 0]]}}
layers: [{{ffn: {{W_1: [[1, 0.5], [-1, 1]], W_2: [[1, 0], [0.5, 1]]}}}}]
vocabulary: [a, b, c]
unembedding: tied
targets: [b, a, c]
rounding: {{carry: never}}
arithmetic: float64
"""


def test_the_input_is_the_normalized_sum_of_words_types_and_positions() -> None:
    """BERT: LayerNorm(word + token type + position), Devlin et al. 2019, figure 2."""
    found = traced(TYPED)
    words = np.array([EMBEDDINGS[token] for token in "aba"])
    summed = words + np.array(TABLE)[TYPES] + [[0.5, 0], [1, 1], [0, -1]]
    deviation = summed - summed.mean(axis=1, keepdims=True)
    expected = deviation / np.sqrt((deviation**2).mean(axis=1, keepdims=True) + 0.01) * [1, 2]
    assert_allclose(found["token_type"].array, np.array(TABLE)[TYPES])
    assert_allclose(found["input"].array, expected, atol=1e-12)


def test_all_tokens_have_type_0_unless_types_are_typed() -> None:
    found = traced(TYPED.replace(f"token_types: {TYPES}\n", ""))
    assert_allclose(found["token_type"].array, [TABLE[0]] * 3)


def test_the_last_type_continues_in_a_longer_text() -> None:
    longer = parse(TYPED, "f.yaml").reading(("a", "b", "a", "c"))
    assert_allclose(trace("f", longer)["token_type"].array, np.array(TABLE)[[0, 1, 1, 1]])


def test_gradients_are_central_differences() -> None:
    scenario = parse(TYPED, "f.yaml")
    found = trace("f", scenario, PassOptions(gradients=True))["gradient.type_embeddings"].array

    def loss(row: int, column: int, by: float) -> float:
        table = [list(each) for each in TABLE]
        table[row][column] += by
        text = TYPED.replace(f"type_embeddings: {TABLE}", f"type_embeddings: {table}")
        return float(trace("f", parse(text, "f.yaml"), PassOptions(loss=True))["loss"].array)

    step = 1e-6
    for row in range(2):
        for column in range(2):
            slope = (loss(row, column, step) - loss(row, column, -step)) / (2 * step)
            assert_allclose(found[row, column], slope, atol=1e-7)


def test_an_attribution_has_the_part_of_the_type(tmp_path: Path) -> None:
    place = tmp_path / "f.yaml"
    place.write_text(TYPED, encoding="utf-8")
    text = printed("attribute", "logits[1,b]", "-s", str(place))
    assert "the token type" in text and "token type  " in text


# fmt: off
test_what_does_not_fit = refusals(
    TYPED,
    (str(TYPES), "[0, 1]", "token_types: 2 entries, expected 3 (one per token)"),
    (str(TYPES), "[0, 2, 1]", "2, but type_embeddings has 2 rows, counted from 0"),
    (str(TYPES), "[0, -1, 1]", "expected at least 0, got '-1'"),
    (str(TABLE), "[[0.1], [0.2]]", "1 column, expected 2 (one per feature of the embedding)"),
    (f"type_embeddings: {TABLE}\n", "", "types without rows to add, expected type_embeddings: "),
)
# fmt: on


def test_a_random_table_has_a_row_for_each_type() -> None:
    text = TYPED.replace(f"type_embeddings: {TABLE}", "type_embeddings: {random: {seed: 1}}")
    assert traced(text)["type_embeddings"].shape == (2, 2)
