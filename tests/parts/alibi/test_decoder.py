"""ALiBi: slopes, weights like BLOOM's, an encoder, a cache, what is refused."""

from __future__ import annotations

from decimal import Decimal

import pytest
from numpy.testing import assert_allclose

from tests.helpers.command import printed
from tests.helpers.part_tests import cached_generations, refusals_of
from tests.helpers.traces import traced
from tracer.decoder.forward import EarlierPasses, trace
from tracer.parts.alibi.decoder import exponent
from tracer.scenario.loading import parse

FAR = """\
tokens: [a, b, c]
embeddings: {a: [0.5, -1], b: [1, 0.5], c: [0.25, 2]}
positions: {alibi: true}
layers: [{attention: {heads: [HEADS]}}]
vocabulary: [a, b, c]
unembedding: tied
rounding: {carry: never}
"""
HEAD = "{W_Q: [[1, 0.2], [0.3, 1]], W_K: [[0.5, -0.2], [0.1, 1]], W_V: [[1], [0]]}"


def far(heads: int) -> str:
    text = FAR.replace("HEADS", ", ".join([HEAD] * heads))
    return text.replace("]}}]", "], W_O: {random: {columns: 2}}}}]")


@pytest.mark.parametrize(("heads", "slopes"), [
    (1, ["0.00390625"]),
    (2, ["0.0625", "0.00390625"]),
    (3, ["0.0625", "0.00390625", "0.25"]),  # of 2 heads, and the first of 4
    (4, ["0.25", "0.0625", "0.015625", "0.00390625"]),
    (6, ["0.25", "0.0625", "0.015625", "0.00390625", "0.5", "0.125"]),
])  # fmt: skip
def test_slopes_are_those_of_the_paper(heads: int, slopes: list[str]) -> None:
    found = traced(far(heads))
    addresses = [f"layer1.attention.head{head}.slope" for head in range(1, heads + 1)]
    assert [found[address].numbers.item() for address in addresses] == list(map(Decimal, slopes))


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 5, 8, 12])
def test_weights_are_those_of_bloom(heads: int) -> None:
    """It adds the slope times the key's position, the same for all of a row but for a constant."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    bloom = pytest.importorskip("transformers.models.bloom.modeling_bloom")
    bias = bloom.build_alibi_tensor(torch.ones(1, 3), heads, torch.float64).reshape(heads, 1, 3)
    found = traced(far(heads))
    for head in range(1, heads + 1):
        at = f"layer1.attention.head{head}."
        scores = torch.tensor(found[f"{at}scores"].numbers.astype(float)) + bias[head - 1]
        hidden = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
        weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=1)
        # BLOOM computes its slopes in float32.
        assert_allclose(found[f"{at}weights"].numbers.astype(float), weights, atol=1e-7)


def test_slopes_of_many_heads_fall_from_the_one_of_a_power_of_two() -> None:
    found = [2 ** (over / under) for over, under in (exponent(head, 12) for head in range(1, 13))]
    assert found[:8] == [2.0**-head for head in range(1, 9)]
    assert_allclose(found[8:], [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5])


test_a_cache_changes_no_number = cached_generations({"two heads": far(2)})


def test_a_cache_has_the_distances_of_the_new_rows() -> None:
    scenario = parse(far(2), "f.yaml")
    first = trace("f", scenario.reading(("a", "b")))
    then = trace("f", scenario, earlier=EarlierPasses(first))
    assert then["position.distance"].numbers.tolist() == [[2, 1, 0]]


def test_the_text_works_out_slope_and_penalty() -> None:
    text = printed("step", "alibi", "-s", "-", stdin=far(2))
    assert "m_D¹ = 1 / 2^(8 / 2) = 0.0625" in text
    assert "0.0625×2" in text


KINDS = "expected one of sinusoidal, table, rotary, alibi: true or relative_bias"

test_one_kind_of_positions_is_expected = refusals_of(
    "alibi: true", far(2), {"alibi: false": KINDS, "alibi: true, rotary: {}": KINDS}
)
