"""Programs that are run, and what they print for each step."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from decimal import Decimal
from typing import Any

import numpy as np

from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.loss import has_loss
from tracer.decoder.operations import Chosen, Given
from tracer.decoder.roles import RoundingRule
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.errors import TracerError
from tracer.lesson import entries
from tracer.lesson.code.library import Library
from tracer.lesson.code.program import Program
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.selection import steps

Printed = dict[str, list[list[str]]]
"""By the title of a step, the words or numbers of each row."""

DIGITS = Decimal("1e-15")
"""What float64 gets wrong of a product in a sum, at most."""


def printed_by(program: str) -> Printed:
    """Run a program, and return what it prints."""
    written = io.StringIO()
    with redirect_stdout(written), np.errstate(all="ignore"), warnings.catch_warnings():
        exec(compile(program, "program.py", "exec"), {})
    found: Printed = {}
    for line in written.getvalue().splitlines():
        if line and not line.startswith(" "):
            found[line] = rows = []
        elif line:
            rows.append(line.split())
    return found


def program_of(trace: Trace, library: Library) -> str:
    """The program of a pass, with the number of each step as its title."""
    every = steps(trace.records)
    program = Program(trace, library)
    return program.text({step: f"step {step.number}" for step in every})


def with_loss(of: Trace) -> Trace:
    """The same pass with the loss, if it has one."""
    try:
        return trace(of.name, of.scenario, PassOptions(loss=has_loss(of.scenario)))
    except TracerError as error:
        assert "too unlikely" in str(error) or "too small" in str(error), error
        return of


def faults_of_program(found: Trace, library: Library) -> list[str]:
    """The differences, of a pass that float64 can compute, and round as decimals are rounded."""
    try:
        wrong = list(differences(found, library))
    except TracerError as error:
        assert "range of float64" in str(error)
        return []
    return [] if wrong and is_beside_a_tie(found) else wrong


def differences(trace: Trace, library: Library) -> Iterator[str]:
    """The numbers that a program prints otherwise than the text."""
    printed = printed_by(program_of(trace, library))
    noise = 0.0 if trace.pencil.rounds else float(_noise(trace))
    results = [record for step in steps(trace.records) for record in _results(step)]
    assert len(printed) == len(results), "a result is missing, or two have the same title"
    for record, rows in zip(results, printed.values(), strict=True):
        value = record.output
        if isinstance(record.operation, Chosen):
            if not _are_tied(record) and rows != [list(value.numbers)]:
                yield f"{value.address}: {rows}, {list(value.numbers)} in the text"
            continue
        own = [float(number) for row in rows for number in row]
        places = list(np.ndindex(value.shape))
        if len(own) != len(places):
            yield f"{value.address}: {len(own)} numbers instead of {len(places)}"
        shown = [entries.number(trace.pencil, value, at) for at in places]
        bounds = _bounds(trace, value, noise)
        for number, text, at in zip(own, shown, places, strict=False):
            expected = float(text.value)
            is_same = np.isclose(number, expected, rtol=1e-11, atol=1e-12)
            if not (is_same or _is_other_side(number, float(value.array[at]), bounds, at)):
                yield f"{value.address}{list(at)}: {number}, {expected} in the text"
                break


def _results(step: Step) -> list[Record]:
    """What a program prints of a step: its result; in training each gradient or new weight."""
    of_training = [r for r in step.records if r.output.role.derivation in ("gradient", "new")]
    is_word = isinstance(step.last.operation, Chosen)
    shown = of_training or ([step.last] if is_word or not step.last.output.role.words else [])
    return [record for record in shown if 0 not in record.output.shape]


def _bounds(trace: Trace, value: Value, noise: float) -> Any:
    """If nothing is rounded on the way: how far the printed numbers may be from the results."""
    if trace.pencil.rounds:
        return None
    places = [entries.number(trace.pencil, value, at).places for at in np.ndindex(value.shape)]
    halves = np.array([0.5 * 10.0**-each for each in places]).reshape(value.shape)
    return halves * (1 + 1e-9) + noise


def _is_other_side(number: float, exact: float, bounds: Any, at: tuple[int, ...]) -> bool:
    """Whether a result beside a tie is rounded to its other side."""
    return bounds is not None and abs(number - exact) <= bounds[at]


def _are_tied(record: Record) -> bool:
    """Whether two words have logits that float64 cannot tell apart."""
    logits = np.sort(record.inputs[1].computed.astype(float), axis=1)
    return logits.shape[1] > 1 and bool(
        (logits[:, -1] - logits[:, -2] < 1e-9 * (1 + abs(logits[:, -1]))).any()
    )


def is_beside_a_tie(trace: Trace) -> bool:
    """Whether float64 cannot know how a result, or a product in it, is rounded.

    Where a weight of 10⁻⁴⁰ makes a sum smaller than 0.5, float64 has just 0.5.
    """
    noise = _noise(trace)
    return trace.pencil.rounds and any(
        not isinstance(record.operation, Given) and _depends_on(noise, trace, record)
        for record in trace.records
        if not record.output.role.words and record.output.numbers.size
    )


def _depends_on(noise: Decimal, trace: Trace, record: Record) -> bool:
    value = record.output
    operand = record.inputs[0].numbers if record.inputs else None
    low, high = (
        trace.pencil.kept(value.role, value.base_address, _finite(value.computed) + by, operand)
        for by in (-noise, noise)
    )
    return low is not None and high is not None and not np.array_equal(low, high)


def _noise(trace: Trace) -> Decimal:
    """How much of a result is noise in float64: part of products of the largest numbers."""
    sizes = (
        abs(number)
        for record in trace.records
        if not record.output.role.words
        and record.output.role.rounding_rule is not RoundingRule.SHARED
        for number in np.ravel(_finite(record.output.numbers))
    )
    largest: Decimal = max(sizes)
    return DIGITS * (1 + largest) ** 2


def _finite(numbers: Any) -> Any:
    """Decimals, with 0 for infinities."""
    exact = [Decimal(str(x)) for x in np.ravel(numbers)]
    finite = [x if x.is_finite() else Decimal(0) for x in exact]
    return np.array(finite, object).reshape(np.shape(numbers))
