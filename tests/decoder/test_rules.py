"""The rules of all operations that compute numbers, held against a formula of NumPy for each."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.helpers.operation_cases import Case, cases
from tests.helpers.operations import rows_of
from tests.helpers.traces import chain_text
from tests.helpers.truth import equations, false_equations
from tracer.decoder import elementwise as el, operations as op, results, roles
from tracer.decoder.axes import Axis
from tracer.decoder.contract import Contract
from tracer.decoder.gather import Gather
from tracer.decoder.gradients import _BackwardPass
from tracer.decoder.pencil import Pencil
from tracer.decoder.tape import Record, Tape
from tracer.formula.arithmetic import DECIMALS, FLOATS, Array, no_rounding
from tracer.formula.expression import Number, entries_in
from tracer.formula.numbers import round_half_away
from tracer.lesson.working.lines import _chain, is_worked
from tracer.lesson.working.sums import Terms
from tracer.lesson.working.written import LineSides
from tracer.scenario.carry import Carry
from tracer.scenario.rounding import Rounding

NEVER = Pencil(Rounding(carry=Carry.NEVER))
GENERIC = {el.Elementwise, el.GradientOf, Contract, Gather}
KINDS = {*get_args(op.Computed | op.Trained), op.Largest, op.LargestSoFar} - GENERIC
KINDS |= {*rows_of(el.Elementwise), *rows_of(Contract)} - GENERIC
EACH = pytest.mark.parametrize("kind", sorted(KINDS, key=str))
SIZES = st.integers(1, 4)


def each_case(test: Any) -> Any:
    """Runs a test with random cases of each operation."""

    @EACH
    @settings(max_examples=10, deadline=None)
    @given(seed=st.integers(0, 2**32), n=SIZES, m=SIZES, k=SIZES)
    def tested(kind: type, seed: int, n: int, m: int, k: int) -> None:
        for case in cases(seed, n, m, k)[kind]:
            test(case)

    return tested


def axes(shape: tuple[int, ...]) -> tuple[Axis, ...]:
    return tuple(Axis("axis", tuple(map(str, range(size)))) for size in shape)


def decimals(numbers: Any) -> Any:
    return np.asarray(np.frompyfunc(lambda number: Decimal(repr(float(number))), 1, 1)(numbers))


def on_tape(case: Case) -> tuple[Tape, Record]:
    """The operation as it is recorded in a pass."""
    tape = Tape(DECIMALS, NEVER)
    with tape.computing():
        x = [tape.given(roles.INPUT, decimals(each), axes(each.shape)) for each in case.x]
        tape.record_as(roles.HIDDEN, case.operation, axes(case.result().shape), *x)
    return tape, tape.records[-1]


@each_case
def test_a_result_is_that_of_the_formula(case: Case) -> None:
    expected = case.result()
    for arithmetic in (FLOATS, DECIMALS):
        with arithmetic.context():
            x = [arithmetic.array(each) for each in case.x]
            found = results.result(arithmetic, case.operation, x, (), no_rounding)
        assert found.shape == expected.shape
        numbers = found.astype(float)
        np.testing.assert_allclose(numbers, expected, rtol=1e-9, atol=1e-9)


@each_case
def test_a_line_is_true_and_names_what_the_entry_depends_on(case: Case) -> None:
    _, record = on_tape(case)
    for index in np.ndindex(record.output.shape):
        if not is_worked(record, index):
            continue
        sides = LineSides(NEVER, {}, case.operation, record, index, Terms())(20, 20)
        result = Number(round_half_away(record.output.read(index), 12))
        line = f"    {chain_text(_chain([*sides, result]))}"
        assert equations(line)
        assert false_equations(line) == []
        named = {entry for entry in entries_in(sides[0]) if entry.value is not record.output}
        depends = {
            (value, at)
            for operand, value in enumerate(record.inputs)
            for at in np.ndindex(value.shape)
            if changes(case, operand, at)[index]
        }
        # A line of Cumulate reads the sum before, and b^0 does not depend on b. A rounded number
        # need not change with what it is rounded from.
        if not isinstance(case.operation, op.Cumulate | op.DivTerm | ROUNDED):
            assert named == depends


def changes(case: Case, operand: int, at: tuple[int, ...]) -> Any:
    """Which entries of the result change with an entry of an operand."""

    def changed(by: float) -> Any:
        x = [each.copy() for each in case.x]
        x[operand][at] += by
        return ~np.isclose(case.result(*x), case.result(), rtol=1e-9, atol=0)

    return changed(0.5) | changed(-0.5) | changed(50) | changed(-50)


ROUNDED = el.DivideByScale | el.SharedExponent | op.GroupExtreme

OTHERWISE = {el.DivideByRowSum, el.Normalize, *get_args(op.Trained)}
OTHERWISE |= {el.Slope, el.SoftmaxCrossEntropyGrad, el.BroadcastDivide, el.TimesExpertWeight}
"""A softmax and a norm pass on gradients as a whole; gradients have none themselves."""

WITHOUT = {
    *(el.Exp, op.Total, op.Largest),  # of a softmax
    *(el.NegativeLogLikelihood, op.MeanOf, op.SumOf),  # of a loss
    op.LargestSoFar,  # of blocks
    *(op.DivTerm, el.Outer, el.Sin, el.Cos, op.PowerOfTwo),  # not learned
    *(el.Turns, el.TurningPair, el.Ramp, el.Interpolate),
    *(el.LargerBase, el.YarnFactor, el.LongRopeFactor),
    *(op.Cumulate, el.AddNumber),  # of a generated text
    *(op.NegativeTotal, op.ColumnTotal, op.LastColumnTotal, op.ColumnDot),  # gradients
    *(el.Quantize, el.QuantizeToE2M1, el.ZeroPoint),  # frozen
    *(el.SharedExponent, el.TwoToThe, op.GroupExtreme),
    *(op.ByEntry, op.ConvolveBack),  # gradients
}


@each_case
def test_a_gradient_is_how_fast_the_result_changes(case: Case) -> None:
    tape, record = on_tape(case)
    if type(case.operation) in OTHERWISE:
        return
    result = case.result()
    g = np.arange(1.0, result.size + 1).reshape(result.shape)
    with tape.computing():
        upstream = tape.given(roles.HIDDEN, decimals(g), axes(g.shape))
        back = _BackwardPass(tape, {}, set(record.inputs))
        try:
            paths = list(back.to_operands(record, upstream))
        except TypeError as error:
            assert "passes on no gradient" in str(error)
            paths = []
        is_of_gradients = case.operation == op.RowDot(negative=True)
        assert bool(paths) == (type(case.operation) not in WITHOUT and not is_of_gradients)
        for value, path in paths:
            found = back.along(value, path).array
            for at in np.ndindex(value.shape):
                rises = (g * slope(case, record.inputs.index(value), at)).sum()
                np.testing.assert_allclose(found[at], rises, rtol=1e-5, atol=1e-5)


def slope(case: Case, operand: int, at: tuple[int, ...], step: float = 1e-5) -> Array:
    """How fast each entry of the result rises with an entry of an operand."""
    results = []
    for by in (step, -step):
        x = [each.copy() for each in case.x]
        x[operand][at] += by
        results.append(case.result(*x))
    return (results[0] - results[1]) / (2 * step)
