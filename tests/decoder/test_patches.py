"""Patched passes, against plain NumPy that goes on with the replaced value; sweeps."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from tests.decoder.test_forward import POSITIVE
from tests.helpers.random_scenarios import scenarios
from tests.helpers.reference import Array, reference
from tests.helpers.scenario_yaml import Scenario
from tests.helpers.traces import bundled, numbers, traced_or_rejected
from tracer.decoder.comparison import Comparison, compare
from tracer.decoder.forward import Trace, trace
from tracer.decoder.patches import Site, patched
from tracer.decoder.sweeps import Sweep, sites_of, sweep
from tracer.errors import TracerError

some = settings(max_examples=9, deadline=None, suppress_health_check=list(HealthCheck))

REPLACED = (".head1.weights", ".head1.output", "output", ".residual", ".norm", "input")
"""The ends of the addresses that the reference can replace."""


def with_other_embeddings(spec: Scenario) -> Scenario:
    """The same decoder with the numbers of each embedding in reverse order."""
    changed = deepcopy(spec)
    table = changed["embeddings"]
    rows = table.values() if isinstance(table, dict) else table
    for row in rows:
        row.reverse()
    return changed


def replaceable(found: Trace, expected: dict[str, Array]) -> list[str]:
    last = {f"layer{i}" for i in range(1, 9)}
    return [
        address
        for address in expected
        if address in found.values
        and address.endswith(REPLACED)
        and (address == "input" or address.split(".")[0] in last)
        and (not address.endswith(".norm") or address.removesuffix("norm") + "residual" in expected)
        and "expert" not in address
        and "shared" not in address
        and "block" not in address
    ]


def with_rows(of: dict[str, Array], at: str, row: int | None) -> Callable[[str, Array], Array]:
    """Replace the value at an address, or one row of it, by another pass's."""

    def replace(address: str, value: Array) -> Array:
        if address != at:
            return value
        if row is None:
            return of[at]
        changed = np.array(value)
        changed[row] = of[at][row]
        return changed

    return replace


@some
@given(
    spec=scenarios("never", all_digits=True, epsilons=POSITIVE, encoder=True),
    number=st.integers(0, 10**6),
    whole=st.booleans(),
)
def test_the_rest_follows_from_the_replaced_numbers(
    spec: Scenario, number: int, whole: bool
) -> None:
    other = with_other_embeddings(spec)
    first, second = traced_or_rejected(spec), traced_or_rejected(other)
    expected, theirs = reference(spec), reference(other)
    chosen = replaceable(first, expected)
    assume(chosen)
    address = chosen[number % len(chosen)]
    row = None if whole else number % len(first.tokens)
    again = patched(compare(first, second), [Site(first[address], row)])
    plain = reference(spec, with_rows(theirs, address, row))
    for name, array in plain.items():
        if name not in again.values or again[name].shape != array.shape:
            continue  # an expert may get other tokens
        finite = np.where(np.isfinite(array), array, 0)
        allowed = 1e-12 * max(1.0, float(np.abs(finite).max(initial=0)))
        assume(not (name.endswith(".std") and finite.min() < 1e-2))
        off = np.abs(np.where(np.isfinite(array), again[name].array, 0) - finite)
        assert off.max(initial=0) <= allowed, (address, row, name)


def pair(name: str, other: str | None = None) -> Comparison:
    first = bundled(name)
    if other is not None:
        return compare(first, bundled(other))
    return compare(first, trace(name, first.scenario.reading(first.tokens[::-1])))


def same(one: Trace, other: Trace, address: str) -> bool:
    return bool(np.array_equal(numbers(one, address), numbers(other, address)))


SCENARIOS = ("science", "experts", "blocks")


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_value_of_the_same_run_changes_nothing(name: str) -> None:
    first = bundled(name)
    itself = compare(first, bundled(name))
    for record in first.records[::5]:
        value = record.output
        if value.role.words or (value.axes and value.axes[0].positions is not None):
            continue
        again = patched(itself, [Site(value)])
        assert all(same(first, again, address) for address in ("output", value.address))


@pytest.mark.parametrize("name", ["science", "pizza", "experts"])
def test_all_inputs_give_the_other_run(name: str) -> None:
    both = pair(name)
    for again in (
        patched(both, [Site(both.first["input"])]),
        patched(both, [Site(both.first["input"], row) for row in range(len(both.first.tokens))]),
    ):
        for address, value in both.second.values.items():
            before_input = address.startswith(("embedding", "tokens", "token_ids", "position"))
            if not before_input and not value.role.words:
                assert same(again, both.second, address), address
        if "prediction" in again.values:
            assert list(again["prediction"].numbers) == list(both.second["prediction"].numbers)


def test_what_does_not_follow_is_not_computed_again() -> None:
    both = pair("pizza")
    site = Site(both.first["layer2.attention.head1.output"])
    again = patched(both, [site])
    assert again["layer1.ffn.output"] is both.first["layer1.ffn.output"]
    assert again["layer2.attention.head2.output"] is both.first["layer2.attention.head2.output"]
    assert again["layer2.attention.concat"] is not both.first["layer2.attention.concat"]


@pytest.mark.parametrize("what", [Sweep.HEADS, Sweep.LAYERS, Sweep.TOKENS])
def test_a_sweep_ranks_what_each_patch_restores(what: Sweep) -> None:
    both = different_answers()
    words = both.answers
    assert words

    def margin(found: Trace) -> float:
        last = found["logits"].array[-1]
        return float(last[words[1]] - last[words[0]])

    ours, theirs = margin(both.first), margin(both.second)
    sites = sites_of(what, both)
    effects = sweep(both, sites)
    assert len(effects) == len(sites) > 1
    assert [each.share for each in effects] == sorted((e.share for e in effects), reverse=True)
    for each in effects:
        expected = (margin(patched(both, [each.site])) - ours) / (theirs - ours)
        assert each.share == pytest.approx(expected, abs=1e-12)


def different_answers() -> Comparison:
    first = bundled("pizza")
    read = (*first.tokens[:-1], "<START>")
    return compare(first, trace("pizza", first.scenario.reading(read)))


def test_what_cannot_be_patched_is_refused() -> None:
    both = pair("experts")
    of_expert = next(v for v in both.first.values.values() if v.axes and v.axes[0].positions)
    with pytest.raises(TracerError, match="tokens of an expert may differ"):
        patched(both, [Site(of_expert)])
    with pytest.raises(TracerError, match="these are words"):
        patched(both, [Site(both.first["tokens"])])
    both = pair("science", "alex")
    with pytest.raises(TracerError) as problems:
        patched(both, [Site(both.first["output"]), Site(both.first["embedding"], 0)])
    assert len(problems.value.problems) == 2
