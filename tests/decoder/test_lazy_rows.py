"""Of many tokens, words are computed for the rows that are read, and scores are not kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tracer.decoder import memory, roles
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.lazy import MANY_ROWS, LazyRows, LazyValue
from tracer.decoder.part import all_roles
from tracer.formula.arithmetic import FLOATS
from tracer.lesson.texts.lookup import find
from tracer.lesson.texts.model_summary import model_summary
from tracer.lesson.texts.why import why
from tracer.renderers import Format, render
from tracer.scenario.loading import parse

TOKENS = 2 * MANY_ROWS + 3
YAML = f"""
title: random weights
dimensions: {{layers: 2, width: 16, heads: 2, words: 40, context: {TOKENS}, norm: layer_norm}}
random: {{seed: 3}}
rounding: {{carry: never}}
"""

OF_WORDS = (
    "logits",
    "probabilities.max",
    "probabilities.exp",
    "probabilities.exp_sum",
    "probabilities",
)


def passes(**options: Any) -> tuple[Trace, Trace]:
    """The same pass, computed when it is read and computed at once."""
    scenario = parse(YAML, "small.yaml")
    at_once = trace("small", scenario, PassOptions(arithmetic=FLOATS, **options))
    return trace("small", scenario, PassOptions(**options)), at_once


def ready(found: Trace, role: roles.Role | None = None) -> set[str]:
    """The addresses of all values, or of those of a role, whose numbers are kept."""
    values = [v for v in found.values.values() if isinstance(v, LazyValue)]
    return {v.address for v in values if v.is_ready and (role is None or v.role is role)}


@pytest.mark.parametrize("address", OF_WORDS)
def test_a_row_is_computed_alone(address: str) -> None:
    lazy, at_once = passes()
    value = lazy[address]
    for row in (TOKENS - 1, 0, TOKENS - 1):
        assert_allclose(value.read((row,)), at_once[address].numbers[row], rtol=1e-12)
    column = (5,) * (len(value.axes) - 1)
    assert_allclose(value.read((7, *column)), at_once[address].numbers[7, *column], rtol=1e-12)
    assert not ready(lazy) & {*OF_WORDS}
    assert isinstance(value, LazyRows) and sorted(value.rows) == [0, 7, TOKENS - 1]
    assert_allclose(value.numbers, at_once[address].numbers, rtol=1e-12)


def test_words_are_predicted_without_keeping_logits() -> None:
    lazy, at_once = passes()
    assert lazy["prediction"].numbers.tolist() == at_once["prediction"].numbers.tolist()
    assert ready(lazy) & {*OF_WORDS, "prediction", "output"} == {"prediction", "output"}


@pytest.mark.parametrize("token", [0, MANY_ROWS, TOKENS - 1])
def test_a_text_shows_one_row_and_is_the_same(token: int) -> None:
    lazy, at_once = passes()
    texts = [
        render(model_summary(found, token, full=True, terms=None), Format.TERMINAL)
        for found in (lazy, at_once)
    ]
    assert texts[0] == texts[1]
    assert not ready(lazy) & {*OF_WORDS}
    value = lazy["logits"]
    assert isinstance(value, LazyRows) and [*value.rows] == [token]


def test_the_origin_of_a_probability_is_that_of_its_row() -> None:
    lazy, at_once = passes()
    texts = [
        render(why(found, find(found, f"probabilities[{TOKENS},3]")), Format.TERMINAL)
        for found in (lazy, at_once)
    ]
    assert texts[0] == texts[1]
    assert not ready(lazy) & {*OF_WORDS}


def test_of_few_tokens_all_rows_are_computed_at_once() -> None:
    few = parse(YAML.replace(f"context: {TOKENS}", f"context: {MANY_ROWS}"), "small.yaml")
    assert not any(isinstance(v, LazyRows) for v in trace("small", few).values.values())


@pytest.mark.parametrize("unmasked", [False, True])
def test_scores_are_computed_again_where_they_are_shown(unmasked: bool) -> None:
    lazy, at_once = passes(unmasked=unmasked)
    assert lazy["output"].numbers.size
    assert not any(ready(lazy, role) for role in all_roles() if role.to_weights)
    assert len(ready(lazy, roles.WEIGHTS)) == 2 * 2
    for address, expected in at_once.values.items():
        assert np.array_equal(lazy[address].numbers, expected.numbers), address


def test_memory_is_not_needed_for_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = list[str]()
    monkeypatch.setattr(
        memory, "check_memory", lambda values: kept.extend(v.address for v in values)
    )
    found, _ = passes()
    assert found["output"].numbers.size
    assert "layer2.attention.head2.weights" in kept
    assert not any(found[address].role.to_weights for address in kept)
