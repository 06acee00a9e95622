"""Programs that are run, and what they print for each step."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from decimal import Context
from typing import Any

import numpy as np

from tracer.decoder.contract import Contract
from tracer.decoder.forward import Trace
from tracer.decoder.operations import Chosen, Given
from tracer.decoder.tape import Record
from tracer.decoder.value import Form, Value
from tracer.formula.expression import Number
from tracer.lesson import entries
from tracer.lesson.code.library import Library
from tracer.lesson.code.program import Program
from tracer.lesson.texts.selection import steps

Printed = dict[str, list[list[str]]]
"""By the title of a step, the words or numbers of each row."""


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
    program = Program(trace, every, library)
    return program.text({step: f"step {step.number}" for step in every})


def differences(trace: Trace, library: Library) -> Iterator[str]:
    """The numbers that a program prints otherwise than the text."""
    every = steps(trace.records)
    printed = printed_by(program_of(trace, library))
    for step in every:
        value = step.last.output
        if 0 in value.shape or (value.role.words and not isinstance(step.last.operation, Chosen)):
            continue
        rows = printed[f"step {step.number}"]
        if value.role.words:
            continue
        own = [float(number) for row in rows for number in row]
        places = list(np.ndindex(value.shape))
        if len(own) != len(places):
            yield f"{value.address}: {len(own)} numbers instead of {len(places)}"
        wrong = [
            f"{value.address}{list(at)}: {number}, {shown.value} in the text"
            for number, at in zip(own, places, strict=False)
            if not _agrees(trace, number, shown := entries.number(trace.pencil, value, at), value)
        ]
        yield from wrong[:1]


def _agrees(trace: Trace, number: float, shown: Number, value: Value) -> bool:
    """Whether a program prints the number of the text.

    If nothing is rounded on the way, a result near a tie may be rounded to the other side.
    """
    if np.isclose(number, float(shown.value), rtol=1e-11, atol=1e-12):
        return True
    if trace.pencil.rounds or value.form is not Form.ROUNDED_FOR_PRINT:
        return False
    exact, scale = float(entries.exact(*shown.entry)), float(abs(value.array).max())
    half = 0.5 * 10.0**-shown.places
    return abs(number - exact) <= half * (1 + 1e-6) + 1e-11 * scale


def is_beside_a_tie(trace: Trace) -> bool:
    """Whether a result is rounded to the other side if only 14 digits of it are known.

    Where a weight of 10⁻⁴⁰ makes a sum smaller than 0.5, float64 has just 0.5.
    """
    return trace.pencil.rounds and any(
        not isinstance(record.operation, Given) and _changes(trace, record)
        for record in trace.records
        if not record.output.role.words and record.output.numbers.size
    )


def _changes(trace: Trace, record: Record) -> bool:
    value = record.output
    if isinstance(record.operation, Contract) and record.operation.is_matrix_product:
        a, b = (each.numbers for each in record.inputs[:2])
        columns = b.T if record.operation.factors[1][0] != record.operation.summed else b
        products = a[:, :, None] * columns if a.shape[1] == len(columns) else a
        part = trace.pencil.part(value.base_address)
        if not np.array_equal(part(products), part(_shortened(products))):
            return True
    fewer = _shortened(value.computed)
    operand = record.inputs[0].numbers if record.inputs else None
    before, after = (
        trace.pencil.kept(value.role, value.base_address, numbers, operand)
        for numbers in (value.computed, fewer)
    )
    return not (before is None or after is None or np.array_equal(before, after))


def _shortened(numbers: Any) -> Any:
    """Numbers with 14 digits."""
    return np.asarray(np.frompyfunc(Context(prec=14).plus, 1, 1)(numbers), object)
