"""A softmax in blocks: a board by hand, masks, caches, shared keys, an encoder, what is refused."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers import learning
from tests.helpers.command import printed
from tests.helpers.every_part import every_part
from tests.helpers.part_tests import refusals_of
from tests.helpers.traces import traced
from tracer.decoder.forward import EarlierPasses, Trace, trace
from tracer.parts.blocks.decoder import BLOCKS_OUTPUT, split
from tracer.scenario.loading import parse

BOARD = """\
tokens: [a, b, c]
mask: MASK
layers:
  - attention:
      heads:
        - {Q: [[1], [1], [1]], K: [[1], [0], [3]], V: [[2], [4], [10]]}
        - {Q: [[2], [0], [-1]], shares: 1}
      scale: none
      blocks: 2
rounding: {carry: never}
"""
AT = "layer1.attention.head1."


def board(mask: str = "none", blocks: int = 2, arithmetic: str = "decimal") -> str:
    text = BOARD.replace("MASK", mask).replace("blocks: 2", f"blocks: {blocks}")
    return f"{text}arithmetic: {arithmetic}\n"


def numbers(ran: Trace, address: str) -> list[float]:
    return [float(x) for x in ran[address].numbers.ravel()]


def assert_same_with_and_without(ran: Trace, tolerance: float = 1e-12) -> None:
    found = [value for value in ran.values.values() if value.role is BLOCKS_OUTPUT]
    assert found
    for value in found:
        whole = ran[value.address.replace("blocks.output", "output")]
        assert_allclose(value.array, whole.array, rtol=tolerance, atol=tolerance)


def test_a_board() -> None:
    ran = traced(board())
    assert numbers(ran, f"{AT}block1.max") == [1] * 3
    assert numbers(ran, f"{AT}block2.max") == [3] * 3
    assert numbers(ran, f"{AT}block2.change") == [-2] * 3
    first, factor = 1 + np.exp(-1), np.exp(-2)
    assert_allclose(numbers(ran, f"{AT}block1.sum"), [first] * 3)
    assert_allclose(numbers(ran, f"{AT}block2.factor"), [factor] * 3)
    assert_allclose(numbers(ran, f"{AT}block2.sum"), [factor * first + 1] * 3)
    weighted = factor * (2 + 4 * np.exp(-1)) + 10
    assert_allclose(numbers(ran, f"{AT}block2.output"), [weighted] * 3)
    assert_allclose(numbers(ran, f"{AT}blocks.output"), [weighted / (factor * first + 1)] * 3)
    assert_same_with_and_without(ran)


@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
@pytest.mark.parametrize("blocks", [1, 2, 3])
@pytest.mark.parametrize("mask", [
    "causal",
    "{window: 1}",
    "[[-inf, -inf, 0], [-inf, -inf, -inf], [0, -inf, -1000000000]]",
    "[[-1000000000, -99, 0.5], [0, 0, 0], [-1000000000, -1000000000, -1000000000]]",
])  # fmt: skip
def test_blocks_give_the_same_under_every_mask(mask: str, blocks: int, arithmetic: str) -> None:
    assert_same_with_and_without(traced(board(mask, blocks, arithmetic)))


def test_blocks_without_a_visible_key_add_nothing() -> None:
    ran = traced(board("[[0, 0, 0], [-inf, -inf, 0], [-inf, -inf, -inf]]"))
    hidden = -np.inf
    assert numbers(ran, f"{AT}block1.max") == [1, hidden, hidden]
    assert numbers(ran, f"{AT}block2.max") == [3, 3, hidden]
    assert numbers(ran, f"{AT}block1.sum")[1:] == numbers(ran, f"{AT}block1.output")[1:] == [0, 0]
    assert numbers(ran, f"{AT}block2.factor")[1:] == [0, 0]
    assert numbers(ran, f"{AT}blocks.output")[1:] == [10, 0]


def test_exponentials_that_only_blocks_shift_may_vanish() -> None:
    """Floats have e^-600 and e^600, but no e^-1200."""
    apart = board(arithmetic="float64").replace("[[1], [0], [3]]", "[[-600], [0], [600]]")
    apart = apart.replace("[[2], [0], [-1]]", "[[0], [0], [0]]")
    ran = traced(apart)
    assert numbers(ran, f"{AT}block2.factor") == [np.exp(-600)] * 3
    assert_same_with_and_without(ran)
    assert_same_with_and_without(traced(apart.replace("blocks: 2", "blocks: 1")))


@pytest.mark.parametrize(("keys", "blocks", "sizes"), [
    (4, 2, [2, 2]), (5, 2, [3, 2]), (5, 4, [2, 1, 1, 1]), (7, 3, [3, 2, 2]), (2, 3, [1, 1]),
])  # fmt: skip
def test_keys_are_split_evenly(keys: int, blocks: int, sizes: list[int]) -> None:
    found = split(keys, blocks)
    assert list(map(len, found)) == sizes
    assert [key for block in found for key in block] == list(range(keys))


def test_a_cache_has_the_keys_of_all_passes() -> None:
    scenario = parse(every_part(mask="causal"), "f.yaml")
    first = trace("f", scenario.reading(("a", "b")))
    then = trace("f", scenario, earlier=EarlierPasses(first))
    at = "layer2.attention.head1.block"
    assert [then[f"{at}{b}.scores"].shape for b in (1, 2)] == [(1, 2), (1, 1)]
    assert_same_with_and_without(first, 1e-2)
    assert_same_with_and_without(then, 1e-2)


def test_a_text_that_is_shorter_than_the_blocks_has_as_many_as_keys() -> None:
    scenario = parse(every_part(), "f.yaml")
    one = trace("f", scenario.reading(("a",)))
    assert "layer2.attention.head1.block1.sum" in one.values
    assert "layer2.attention.head1.block2.sum" not in one.values


CROSSED = """\
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [-0.5, 2]}
encoder: {tokens: [x, y, z], vectors: [[1, 2], [0, 1], [3, -1]]}
layers:
  - cross_attention:
      heads: [{W_Q: identity, W_K: identity, W_V: identity}]
      blocks: 3
rounding: {carry: never}
"""


def test_an_encoders_keys_are_split() -> None:
    ran = traced(CROSSED)
    assert ran["layer1.cross_attention.head1.block3.scores"].axes[1].labels == ("z",)
    assert_same_with_and_without(ran)


AT_MOST = "attention.blocks: expected at most 3, as many as there are keys, got 4"

test_what_does_not_fit = refusals_of(
    "blocks: 2",
    board(),
    {
        "blocks: 4": f"layer1.{AT_MOST}",
        "blocks: 4000": f"layer1.{AT_MOST}",
        "blocks: 0": "layer1.attention.blocks: expected",
        "blocks: 1.5": "layer1.attention.blocks: expected",
        "blocks: many": "layer1.attention.blocks: expected",
    },
)
test_more_blocks_than_keys_of_an_encoder = refusals_of(
    "blocks: 3", CROSSED, {"blocks: 4": f"layer1.cross_{AT_MOST}"}
)


def test_gradients_are_those_without_blocks() -> None:
    with_blocks = every_part() + "targets: [b, c, a]\n"
    found, expected = (
        learning.gradients_of(learning.way_back([parse(text, "f.yaml")]))
        for text in (with_blocks, with_blocks.replace("      blocks: 2\n", ""))
    )
    assert found.keys() == expected.keys()
    for address, gradient in found.items():
        assert gradient.numbers.tolist() == expected[address].numbers.tolist()


def test_the_text_works_block_by_block() -> None:
    text = printed("step", "block", "-s", "-", "--head", "1", stdin=board())
    lines = text.replace(".000", "")
    assert "m₁¹ = max(1, 0) = 1" in lines and "m₂¹ = max(1, 3) = 3" in lines
    assert "For “c”, the maximum rises from 1.000 to 3.000" in " ".join(text.split())
    said = " ".join(printed("step", "blocks", "-s", "-", "--head", "1", stdin=board()).split())
    assert "All numbers are equal to those of O¹, computed without blocks." in said


def test_rounding_on_the_way_is_said() -> None:
    rough = board().replace("carry: never", "carry: line, decimals: 1")
    said = " ".join(printed("step", "blocks", "-s", "-", "--head", "1", stdin=rough).split())
    ran = traced(rough)
    apart = ran[f"{AT}blocks.output"].numbers - ran[f"{AT}output"].numbers
    assert f"As printed, they differ by at most {max(abs(apart).flat)}." in said
    assert max(abs(apart).flat) > Decimal(0)
    given = f"{rough}given: {{{AT}weights: [[1, 0, 0], [1, 0, 0], [1, 0, 0]]}}\n"
    text = printed("step", "blocks", "-s", "-", "--head", "1", stdin=given)
    assert "would be equal" not in text


def test_products_are_counted_once() -> None:
    text = " ".join(printed("shapes", "-", stdin=board()).split())
    assert "which are counted once" in text
    without = printed("shapes", "-", stdin=board().replace("      blocks: 2\n", ""))
    total = [line for line in without.splitlines() if line.startswith("▸ all")]
    assert total == [x for x in printed("shapes", "-", stdin=board()).splitlines() if "▸ all" in x]
