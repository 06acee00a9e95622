"""Other numbers in a scenario of the same form."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from tests.helpers.bundled import TYPED
from tracer.scenario.loading import load, parse
from tracer.scenario.parts import networks
from tracer.scenario.varying import varied

FORM = (
    "tokens",
    "features",
    "positions",
    "mask",
    "vocabulary",
    "targets",
    "rounding",
    "generation",
)

TINY = """
tokens: [a, b]
embeddings: {a: [0.50, 1], b: [0.20, 3]}
layers: [{ffn: {W_1: [[0.5], [0.5]], W_2: [[0.1, 0.2]]}}]
vocabulary: [a, b]
unembedding: tied
given: {mask: [[0, -inf], [0, 0]]}
"""


def numbers(of: Any) -> Iterator[tuple[str, Decimal]]:
    """Every number of a scenario with its place."""
    if isinstance(of, Decimal):
        yield "", of
    elif isinstance(of, dict | tuple) or hasattr(of, "model_fields_set"):
        named = of.items() if isinstance(of, dict) else enumerate(of)
        for name, part in named if isinstance(of, dict | tuple) else of:
            for place, number in numbers(part):
                yield f".{name}{place}", number


@pytest.mark.parametrize("name", TYPED)
def test_the_form_is_kept_and_the_numbers_are_others(name: str) -> None:
    first = load(name).scenario
    others = [varied(first, seed) for seed in ("1", "2")]
    before = dict(numbers(first))
    for other in others:
        after = dict(numbers(other))
        assert all(getattr(first, part) == getattr(other, part) for part in FORM)
        assert list(after) == list(before)
        for place, number in after.items():
            assert number.as_tuple().exponent == before[place].as_tuple().exponent
        changed = sum(number != before[place] for place, number in after.items())
        assert changed > len(before) / 4
    assert others[0] != others[1]
    assert varied(first, "1") == others[0]


def test_what_is_not_said_is_not_said_of_the_other() -> None:
    """Of what is said, an optimizer refuses what does not go with it."""
    first = load("pizza").scenario
    other = varied(first, "1")
    assert other.model_fields_set == first.model_fields_set
    assert other.optimizer.model_fields_set == first.optimizer.model_fields_set
    assert other.optimizer == first.optimizer


def test_each_number_is_drawn_within_its_matrix() -> None:
    other = varied(parse(TINY, "tiny"), "7")
    embeddings: Any = other.embeddings
    drawn = Random("7 .embeddings").random
    # From 0.20 to 3.00 in hundredths, and from 1 to 3.
    expected = [Decimal(20 + int(drawn() * 281)) / 100, 1 + int(drawn() * 3)]
    assert list(embeddings["a"]) == expected


def test_what_is_alike_or_hides_stays() -> None:
    first = parse(TINY, "tiny")
    other = varied(first, "7")
    assert [n.W_1 for n in networks(other.layers[0])] == [n.W_1 for n in networks(first.layers[0])]
    assert other.given == first.given


def test_nothing_is_without_effect_that_had_one() -> None:
    """Of 0 and 1 nine in sixteen matrices have a row or a column of zeros: a query of nothing."""
    first = parse(
        "tokens: [a]\nembeddings: {a: [1, 2]}\nlayers: [{ffn: {W_1: identity, "
        "W_2: [[0.5, 0], [0.2, 0]]}}]",
        "tiny",
    )
    drawn = [n for seed in range(30) for n in networks(varied(first, str(seed)).layers[0])]
    assert len(drawn) == 30
    for ffn in drawn:
        assert all(map(any, ffn.W_1)) and all(map(any, zip(*ffn.W_1, strict=True)))
    assert len({ffn.W_1 for ffn in drawn}) > 3


def test_what_is_tied_stays_tied() -> None:
    other = varied(parse(TINY, "tiny"), "7")
    embeddings: Any = other.embeddings
    assert other.unembedding
    assert tuple(zip(embeddings["a"], embeddings["b"], strict=True)) == other.unembedding.W_U
