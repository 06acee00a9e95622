"""Relative biases against the paper and transformers: buckets, scores, gradients, a cache."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.command import printed, run
from tests.helpers.part_tests import cached_generations, refusals
from tests.helpers.traces import traced
from tracer.decoder.forward import EarlierPasses, PassOptions, trace
from tracer.parts.relative_bias.scenario import Buckets, PositionKeys
from tracer.scenario.loading import parse
from tracer.scenario.part import keys_of

TABLE = "[[0.5, 0.1], [0.25, -0.2], [0, 0.3], [-0.4, 0.6]]"
BIASED = f"""\
tokens: [a, b, c, d, e]
embeddings: {{a: [0.5, -1], b: [1, 0.5], c: [0.25, 2], d: [1, 1], e: [-1, 0.5]}}
positions: {{relative_bias: {{max_distance: 8, table: {TABLE}}}}}
layers:
- &layer
  attention:
    scale: none
    heads:
    - {{W_Q: [[1, 0.2], [0.3, 1]], W_K: [[0.5, -0.2], [0.1, 1]], W_V: [[1], [0]]}}
    - {{W_Q: [[0.5, 0.2], [0.3, -1]], W_K: [[0.5, 0.2], [0.1, 1]], W_V: [[0], [1]]}}
    W_O: [[1, 0], [0.5, 1]]
- *layer
vocabulary: [a, b, c, d, e]
unembedding: tied
targets: [b, c, d, e, a]
rounding: {{carry: never}}
"""


def numbers(text: str, address: str) -> Any:
    return traced(text)[address].array


def from_paper(offset: int, number: int, furthest: int, *, both: bool) -> int:
    """The bucket of an offset, counted up along the distances: an edge is a power of a ratio."""
    later = offset > 0
    if both:
        number //= 2
    elif later:
        return 0
    exact = number // 2
    shared, distance = number - exact, abs(offset)
    edges = [*range(exact), *(exact * (furthest / exact) ** (k / shared) for k in range(shared))]
    reached = max(b for b, edge in enumerate(edges) if distance >= edge - 1e-9 * exact)
    return reached + number * (both and later)


SIZES = [(32, 128), (320, 800), (8, 20), (12, 7), (64, 1000), (4, 2), (4, 3), (6, 100)]


@pytest.mark.parametrize(("number", "furthest"), SIZES)
@pytest.mark.parametrize("both", [True, False])
def test_buckets_are_those_of_the_paper(number: int, furthest: int, both: bool) -> None:
    buckets = Buckets(number // 2 if both else number, furthest, both)
    if buckets.exact < furthest:
        for offset in range(-1100, 1101):
            expected = from_paper(offset, number, furthest, both=both)
            assert buckets.of_offset(offset) == expected, offset


def test_an_integer_logarithm_is_not_rounded_down() -> None:
    """8 + 8 ln(16 / 8) / ln(128 / 8) = 10, of which floats may make 9.999…"""
    t5 = Buckets(16, 128, bidirectional=True)
    assert [t5.of_distance(d) for d in (15, 16, 31, 32, 63, 64)] == [9, 10, 11, 12, 13, 14]
    for number in range(2, 60):
        exact = number // 2
        buckets = Buckets(number, exact * 2 ** (number - exact), bidirectional=False)
        for power in range(number - exact):
            assert buckets.of_distance(exact * 2**power) == exact + power


@pytest.mark.parametrize(("offset", "bucket"), [
    (0, 0), (-79, 79), (-80, 80), (-81, 80), (-799, 159), (-800, 159), (-5000, 159),
    (1, 161), (79, 239), (80, 240), (800, 319), (5000, 319),
])  # fmt: skip
def test_buckets_of_320_up_to_800(offset: int, bucket: int) -> None:
    """As in WavLM (Chen et al. 2022): 80 exact buckets in each direction, then 80 shared ones."""
    assert Buckets(160, 800, bidirectional=True).of_offset(offset) == bucket


@pytest.mark.parametrize("both", [True, False])
def test_buckets_are_those_of_transformers(both: bool) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    t5 = pytest.importorskip("transformers.models.t5.modeling_t5")
    offsets = torch.arange(-1100, 1101)
    of_float32 = t5.T5Attention._relative_position_bucket
    for number, furthest in SIZES:
        buckets = Buckets(number // 2 if both else number, furthest, both)
        if buckets.exact >= furthest:
            continue
        theirs = of_float32(offsets, both, number, furthest).tolist()
        for offset, their in zip(offsets.tolist(), theirs, strict=True):
            ours = buckets.of_offset(offset)
            # Their float32 may round an edge, an integer logarithm, down.
            assert ours == their or (ours == their + 1 and is_edge(buckets, abs(offset))), offset


def is_edge(buckets: Buckets, distance: int) -> bool:
    """Whether the logarithm of a distance is an integer, or nearly."""
    exact, steps = buckets.exact, buckets.number - buckets.exact
    at = math.log(distance / exact) / math.log(buckets.max_distance / exact) * steps
    return abs(at - round(at)) < 1e-5


def softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def test_scores_get_the_bias_of_their_offset() -> None:
    found = traced(BIASED)
    table = np.array([[0.5, 0.1], [0.25, -0.2], [0, 0.3], [-0.4, 0.6]])
    # Of 4 buckets, distances 0 and 1 have their own; 2 + 2 ln(d / 2) / ln 4 is 2, 2.6 and 3.
    bucket = np.array([0, 1, 2, 2, 3])
    place = np.arange(5)
    back = np.maximum(place[:, None] - place, 0)
    for layer in (1, 2):
        for head in (1, 2):
            at = f"layer{layer}.attention.head{head}."
            biased = found[f"{at}scores"].array + table[bucket[back], head - 1]
            assert_allclose(found[f"{at}scores_and_bias"].array, biased, atol=1e-12)
            hidden = np.where(place[:, None] < place, -np.inf, biased)
            assert_allclose(found[f"{at}weights"].array, softmax(hidden), atol=1e-12)
    assert_allclose(found["position.bias"].array, table[[3, 2, 2, 1, 0]], atol=0)


@pytest.mark.parametrize(("more", "biases"), [
    ("", [-0.4, 0, 0, 0.25, 0.5]),
    ("mask: none\n", [0.25, 0.25, 0.25, 0.25, 0.5, -0.4, -0.4, -0.4, -0.4]),
])  # fmt: skip
def test_a_mask_of_none_is_bidirectional(more: str, biases: list[float]) -> None:
    assert numbers(BIASED + more, "position.bias")[:, 0].tolist() == biases


def test_one_direction_is_set_without_a_mask() -> None:
    text = BIASED.replace("max_distance", "bidirectional: false, max_distance") + "mask: none\n"
    bias = numbers(text, "layer1.attention.head1.relative_bias")
    assert bias[0].tolist() == [0.5] * 5
    assert bias[4].tolist() == [-0.4, 0, 0, 0.25, 0.5]


def test_an_encoder_has_its_own_buckets_in_both_directions() -> None:
    own = BIASED.partition("layers:")[2].partition("vocabulary")[0].replace("\n", "\n  ")
    encoder = (
        "encoder:\n  tokens: [x, y, z]\n  embeddings: [[1, 2], [0, 1], [1, 0]]\n"
        "  positions: {relative_bias: {max_distance: 2, table: [[1, 2], [3, 4], [5, 6], [7, 8]]}}\n"
        f"  layers:{own}"
    ).rstrip(" ")
    found = traced(encoder.replace("&layer", "&own").replace("*layer", "*own") + BIASED)
    bias = found["encoder.layer1.attention.head2.relative_bias"].array
    assert bias.tolist() == [[2, 8, 8], [4, 2, 8], [4, 4, 2]]


def gradient_at(address: str) -> Any:
    return trace("f", parse(BIASED, "f.yaml"), PassOptions(gradients=True))[address].array


def loss_with(table: Any) -> float:
    typed = str(np.array(table).tolist())
    scenario = parse(BIASED.replace(TABLE, typed), "f.yaml")
    return float(trace("f", scenario, PassOptions(loss=True))["loss"].numbers)


def test_gradients_are_central_differences() -> None:
    address = "gradient.positions.relative_bias.table"
    found = gradient_at(address)
    table, step = np.array([[0.5, 0.1], [0.25, -0.2], [0, 0.3], [-0.4, 0.6]]), 1e-5
    for at in np.ndindex(table.shape):
        moved = np.zeros_like(table)
        moved[at] = step
        slope = (loss_with(table + moved) - loss_with(table - moved)) / (2 * step)
        assert_allclose(found[at], slope, atol=1e-8)


def test_training_changes_the_table(tmp_path: Path) -> None:
    new = tmp_path / "new.yaml"
    printed("train", "-", "--save", str(new), stdin=BIASED)
    positions = parse(new.read_text(encoding="utf-8"), "f.yaml").positions
    assert positions
    own = keys_of(positions, PositionKeys).relative_bias
    assert own and own.max_distance == 8
    gradient = gradient_at("gradient.positions.relative_bias.table")
    before = np.array([[0.5, 0.1], [0.25, -0.2], [0, 0.3], [-0.4, 0.6]])
    assert_allclose(np.array(own.table, float), before - 0.01 * gradient, atol=1e-12)


test_a_cache_changes_no_number = cached_generations({"biased": BIASED})


def test_a_cache_has_the_offsets_of_the_new_rows() -> None:
    scenario = parse(BIASED, "f.yaml")
    first = trace("f", scenario.reading(("a", "b")))
    then = trace("f", scenario.reading(("a", "b", "c")), earlier=EarlierPasses(first))
    assert then["layer1.attention.head1.relative_bias"].array.tolist() == [[0, 0.25, 0.5]]


def test_a_table_is_a_parameter() -> None:
    counted = printed("shapes", "-", stdin=BIASED)
    assert "T learned [4, 2] 8" in " ".join(counted.split())
    assert "relative positions 8" in " ".join(counted.split())


KEYS = "positions: {relative_bias: {"


# fmt: off
test_what_does_not_fit = refusals(
    BIASED,
    ("max_distance: 8", "max_distance: 2", "max_distance: 2, expected more than 2"),
    ("max_distance: 8", "buckets: 5", "table: 4 rows, expected 5 (one per bucket)"),
    ("max_distance: 8", "buckets: 1", "buckets: 1 bucket, expected at least 2"),
    (TABLE, "[[1], [2], [3]]", "table: 1 column, expected 2 (one per head)"),
    (TABLE, "{random: {}}", "how many buckets? expected buckets: 32"),
    (f"max_distance: 8, table: {TABLE}", "max_distance: 8", "table: missing"),
    ("relative_bias:", "rotary: {}, relative_bias:", "expected one of sinusoidal, table, rotary"),
    ("relative_bias:", "alibi: true, relative_bias:", "expected one of sinusoidal, table, rotary"),
    ("max_distance", "bidirectional: maybe, max_distance", "bidirectional"),
    ("- *layer", "- attention: {heads: [{W_Q: identity, W_K: identity, W_V: identity}]}",
     "layer2.attention.heads: 1 head, expected 2"),
)
test_both_directions_need_pairs_of_buckets = refusals(
    f"{BIASED}mask: none\n",
    (TABLE, "[[1, 2], [3, 4], [5, 6]]", "expected an even number, at least 4"),
    (TABLE, "[[1, 2], [3, 4]]", "expected an even number, at least 4"),
)
# fmt: on


def test_one_direction_has_any_number_of_buckets() -> None:
    assert run("run", "-", stdin=BIASED.replace(TABLE, "[[1, 2], [3, 4], [5, 6]]")).exit_code == 0
