"""One number of a trace: how it is asked for, named and printed, and that every line knows it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.helpers.expressions import numbers
from tests.helpers.random_scenarios import scenarios
from tests.helpers.traces import bundled, traced, traced_or_rejected, writer
from tracer.decoder.forward import Trace
from tracer.decoder.generation import GenerationOptions, choice, generate
from tracer.decoder.operations import Rotate, RotateBack, Total
from tracer.decoder.value import Entry, Form, Index
from tracer.errors import TracerError
from tracer.formula.expression import Number
from tracer.lesson.entries import labels, name, number
from tracer.lesson.texts.lookup import find
from tracer.lesson.working.lines import is_worked
from tracer.scenario.carry import Carry
from tracer.scenario.loading import load

HEAD = "layer1.attention.head1"
WEIGHTS = f"{HEAD}.weights"
ALONE = (Total, Rotate, RotateBack)
"""Operations whose line may be a single number: a sum of one, a column that is not rotated."""
TWICE = """\
title: Names that are hard to tell apart
tokens: [a, b, a, "2", "a (1) (5)"]
features: ["1", "x,y"]
embeddings: [[0.10, 1], [2, 3], [4, 5], [6, 7.50], [8, 9]]
layers:
  - ffn: {W_1: [[1], [0]], W_2: [[0, 0]], residual: false, labels: ["x [1]"]}
"""

# --- find ----------------------------------------------------------------------------------------

OF_ALEX: dict[str, tuple[str, Index]] = {
    f"{WEIGHTS}[Alex,Frank]": (WEIGHTS, (3, 0)),
    f"{WEIGHTS}[ Alex , 1 ]": (WEIGHTS, (3, 0)),
    f"{WEIGHTS}[4,Daniel]": (WEIGHTS, (3, 2)),
    f"{HEAD}.exp_sum[Emma]": (f"{HEAD}.exp_sum", (1,)),
    f"{HEAD}.d_k": (f"{HEAD}.d_k", ()),
    "layer1.attention.W_O[info-budget,vibe]": ("layer1.attention.W_O", (1, 5)),
    "layer1.ffn.norm[1,6]": ("layer1.ffn.norm", (0, 5)),
    "tokens[3]": ("tokens", (2,)),
}


@pytest.mark.parametrize("asked", OF_ALEX)
def test_find(asked: str) -> None:
    alex = bundled("alex")
    address, index = OF_ALEX[asked]
    found = find(alex, asked)
    assert found.value is alex[address]
    assert found.at == index


@pytest.mark.parametrize(
    ("asked", "row", "column"),
    [
        ("embedding[b,1]", 1, 0),
        ("embedding[a (3),1]", 2, 0),
        ("embedding[3,1]", 2, 0),
        ("embedding[2,1]", 3, 0),  # a label goes before a position
        ("embedding[4,1]", 3, 0),
        ("embedding[1,2]", 0, 1),
        ("embedding[5,1]", 4, 0),
    ],
)
def test_labels_go_before_positions(asked: str, row: int, column: int) -> None:
    assert find(traced(TWICE), asked).at == (row, column)


MISFITS = {
    "layer1.ffn.actvation[1,1]": "layer1.ffn.actvation: no such value; did you mean "
    "'layer1.ffn.activation'",
    "xyzzy[1,1]": "xyzzy: no such value",
    "scores[1,1]": f"scores: no such value; did you mean '{HEAD}.scores'",
    "A[Alex,Frank]": "A: no such value; A is the symbol of "
    f"{HEAD}.weights[Alex,Frank], layer1.attention.head2.weights[Alex,Frank]",
    "A²[1,1]": "A²: no such value; A² is the symbol of layer1.attention.head2.weights[1,1]",
    "W_Q^1[1,1]": f"W_Q^1: no such value; W_Q^1 is the symbol of {HEAD}.W_Q[1,1]",
    "x1": "x1: no such value; x1 is the symbol of layer1.attention.norm",
    "[1,1]": "got '[1,1]', expected ADDRESS[ROW,COLUMN]",
    "": "got '', expected ADDRESS[ROW,COLUMN]",
    f"{WEIGHTS}[1,1": f"got '{WEIGHTS}[1,1', expected ADDRESS[ROW,COLUMN]",
    f"{WEIGHTS} [1,1]": f"got '{WEIGHTS} [1,1]', expected ADDRESS[ROW,COLUMN]",
    f"{WEIGHTS}[1,1]]x": f"got '{WEIGHTS}[1,1]]x', expected ADDRESS[ROW,COLUMN]",
    f"{WEIGHTS}": f"{WEIGHTS}: got no row or column, expected [token,key], such as [Frank,Frank]",
    f"{WEIGHTS}[Alex]": f"{WEIGHTS}: got [Alex], expected [token,key], such as [Frank,Frank]",
    f"{WEIGHTS}[1,2,3]": f"{WEIGHTS}: got [1,2,3], expected [token,key], such as [Frank,Frank]",
    f"{HEAD}.d_k[1]": f"{HEAD}.d_k: got [1], expected only the address, because it is a single "
    "number",
    f"{HEAD}.exp_sum": f"{HEAD}.exp_sum: got no row or column, expected [token], such as [Frank]",
    f"{HEAD}.exp_sum[1,2]": f"{HEAD}.exp_sum: no token '1,2', expected 1 to 4 or a label, such as "
    "'Frank'",
    f"{WEIGHTS}[Alex,Frnak]": f"{WEIGHTS}: no key 'Frnak'; did you mean 'Frank'?",
    f"{WEIGHTS}[alex,1]": f"{WEIGHTS}: no token 'alex'; did you mean 'Alex'?",
    f"{WEIGHTS}[0,1]": f"{WEIGHTS}: no token '0', expected 1 to 4 or a label, such as 'Frank'",
    f"{WEIGHTS}[1,5]": f"{WEIGHTS}: no key '5', expected 1 to 4 or a label, such as 'Frank'",
    f"{WEIGHTS}[1,²]": f"{WEIGHTS}: no key '²', expected 1 to 4 or a label, such as 'Frank'",
    f"{WEIGHTS}[1,]": f"{WEIGHTS}: no key '', expected 1 to 4 or a label, such as 'Frank'",
    "layer1.ffn.W_1[cheep,1]": "layer1.ffn.W_1: no feature 'cheep'; did you mean 'cheap'?",
}


@pytest.mark.parametrize("asked", MISFITS)
def test_what_is_not_there_is_told(asked: str) -> None:
    with pytest.raises(TracerError) as caught:
        find(bundled("alex"), asked)
    (problem,) = caught.value.problems
    told, hint, _ = str(problem).partition(" or 'layer1")  # others that are like it
    assert told == MISFITS[asked]
    assert not hint or "did you mean" in told


def test_a_label_that_is_there_twice_is_told_apart() -> None:
    with pytest.raises(TracerError, match=r"^embedding: no token 'a'; did you mean 'a \(1\)' or"):
        find(traced(TWICE.replace(', "a (1)"', ', "c"')), "embedding[a,1]")


# --- name and labels -----------------------------------------------------------------------------


def every_entry(of: Trace) -> Iterator[Entry]:
    for value in of.values.values():
        for index in np.ndindex(value.numbers.shape):
            yield Entry(value, index)


@pytest.mark.parametrize("scenario", ["alex", "science", "pizza", "comics"])
def test_every_entry_is_found_by_its_name(scenario: str) -> None:
    ran = bundled(scenario)
    for entry in every_entry(ran):
        assert find(ran, name(entry)) == entry, name(entry)


def test_names_and_labels() -> None:
    alex = bundled("alex")
    assert name(Entry(alex[WEIGHTS], (3, 0))) == f"{WEIGHTS}[Alex,Frank]"
    assert labels(Entry(alex[WEIGHTS], (3, 0))) == ("Alex", "Frank")
    assert name(Entry(alex[f"{HEAD}.d_k"], ())) == f"{HEAD}.d_k"
    assert labels(Entry(alex[f"{HEAD}.d_k"], ())) == ()
    assert name(Entry(alex["layer1.ffn.norm.std"], (1,))) == "layer1.ffn.norm.std[Emma]"
    twice = traced(TWICE)
    rows = [labels(Entry(twice["embedding"], (i, 0)))[0] for i in range(5)]
    assert rows == ["a (1)", "b", "a (3)", "2", "a (1) (5)"]


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(max_layers=2))
def test_every_entry_of_a_random_scenario_is_found_by_its_name(spec: dict[str, Any]) -> None:
    ran = traced_or_rejected(spec)
    for entry in every_entry(ran):
        assert find(ran, name(entry)) == entry, name(entry)


# --- number --------------------------------------------------------------------------------------

EXACTLY = Context(prec=200)


def rounded(exact: Decimal, places: int) -> Decimal:
    return exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, EXACTLY)


def assert_printed(of: Trace, entry: Entry) -> None:
    """The number as it is, or rounded to its decimals; it knows where it stands."""
    value, index = entry
    recorded = value.numbers[index]
    shown = number(of.pencil, value, index)
    assert shown.entry == entry
    if value.form is Form.AS_THEY_ARE or not recorded.is_finite():
        assert str(shown.value) == str(recorded if recorded else abs(recorded))
        return
    assert shown.value == rounded(recorded, shown.places)
    assert not (shown.value.is_zero() and shown.value.is_signed())
    digits = of.scenario.rounding.digits
    if not digits and of.scenario.rounding.trailing_zeros == "keep" and shown.value:
        assert shown.places == places_of(entry, of.scenario.rounding.decimals)


def places_of(entry: Entry, usual: int) -> int:
    """As many decimals as asked for; more for what is tiny, fewer for what is huge."""
    number = entry.value.numbers[entry.at]
    exponent = int(number.adjusted())
    if entry.value.address.endswith(("exp", "exp_sum")):
        if exponent >= 7:
            return 3 - exponent
        usual = min(usual, max(0, usual + 2 - exponent))
    if exponent >= 12:
        return 3 - exponent
    hidden = rounded(number, usual) == 0 or (usual > 4 and exponent < -usual)
    return 1 - exponent if number and hidden else usual


@settings(max_examples=7, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(max_layers=2))
def test_numbers_are_printed_as_they_are_or_rounded(spec: dict[str, Any]) -> None:
    ran = traced_or_rejected(spec)
    for entry in every_entry(ran):
        if not entry.value.role.words:
            assert_printed(ran, entry)


def test_more_digits_only_where_the_number_has_them() -> None:
    never = traced(TWICE + "rounding: {carry: never, decimals: 1}\npositions: {sinusoidal: {}}\n")
    # sin 1 = 0.84147…; 0.10 + 0.84147… = 0.94147…
    value = never["input"]
    assert [str(number(never.pencil, value, (0, 0), guard).value) for guard in (0, 1, 2, 4)] == [
        *("0.9", "0.94", "0.941", "0.94147")
    ]
    # A typed number has the digits with which it was typed; 1 + cos 1 is 1.5403….
    assert str(number(never.pencil, never["embedding"], (0, 0), 3).value) == "0.10"
    assert str(number(never.pencil, value, (0, 1), 1).value) == "1.54"


# --- the numbers of a line -----------------------------------------------------------------------


def assert_lines_know_their_entries(ran: Trace) -> None:
    write = writer(ran)
    for record in ran.records:
        output = record.output
        for index in np.ndindex(output.numbers.shape):
            if not is_worked(record, index):
                continue
            chain = write.chain(record, index)
            found = [n for side in chain.sides for n in numbers(side)]
            for each in found:
                if each.entry is not None:
                    assert_holds(each, each.entry)
            if isinstance(record.operation, ALONE) and len(chain.sides) == 1:
                continue  # nothing is added or rotated, and both have the same digits
            assert found[-1].entry == Entry(output, index)


def assert_holds(shown: Number, entry: Entry) -> None:
    """The entry's number, digit by digit where it has digits, else correctly rounded."""
    held = entry.value.numbers[entry.at]
    if entry.value.form is Form.AS_THEY_ARE or not held.is_finite():
        assert str(shown.value) == str(held)
    else:
        assert shown.value == rounded(held, shown.places)


@settings(max_examples=7, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(max_layers=2, max_tokens=4, all_digits=True), st.sampled_from(list(Carry)))
def test_every_number_of_a_line_is_that_of_its_entry(spec: dict[str, Any], carry: Carry) -> None:
    ran = traced_or_rejected({**spec, "rounding": {**spec["rounding"], "carry": carry.value}})
    assert_lines_know_their_entries(ran)


@pytest.mark.parametrize("carry", list(Carry))
@pytest.mark.parametrize("scenario", ["alex", "science", "comics"])
def test_lines_of_bundled_scenarios_know_their_entries(scenario: str, carry: Carry) -> None:
    assert_lines_know_their_entries(bundled(scenario, carry))


@pytest.mark.parametrize("cached", [False, True])
def test_lines_of_a_drawn_word_know_their_entries(cached: bool) -> None:
    drawn = choice(seed=3, temperature=Decimal("1.5"), top_k=4, top_p=Decimal("0.9"))
    pizza = load("pizza").scenario
    options = GenerationOptions(["<START>"], 2, drawn, cached=cached)
    turns = generate("pizza", pizza, options).steps
    for step in turns:
        assert_lines_know_their_entries(step.trace)
