"""Traces as JSON: every value with its address, operation, operands and labelled axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from tracer.decoder.forward import Trace
from tracer.decoder.generation import Generated
from tracer.decoder.operations import Operation
from tracer.decoder.roles import ENCODER_OUTPUT, LOSS, PREDICTION
from tracer.decoder.tape import Record
from tracer.decoder.training import Training
from tracer.decoder.value import Value
from tracer.errors import strict_json
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.survey import NUMBER_TYPES, Survey, table_name, table_symbol
from tracer.lesson.texts.symbols import symbols
from tracer.renderers.quote import printed as printed_entry
from tracer.renderers.text import text

SCHEMA = 1
"""The version of the form; it grows where a reader of the old form would be misled."""


def render(trace: Trace, records: Sequence[Record], token: int | None) -> str:
    """The values of `records` in the order of computation; of one token, where it is given.

    A token is one of the decoder's, unless all values are the encoder's.
    """
    return strict_json({**_header(trace), "values": _values(trace, records, token)})


def generated(result: Generated, *, worked: bool, cached: bool) -> str:
    """A generated text: each turn's input, outputs and word; `worked`, its values too.

    With `cached`, the outputs of each turn after the first are those of the new token.
    """
    turns = [
        {
            "input": list(step.trace.tokens),
            "outputs": list(step.outputs[-1:] if cached and i else step.outputs),
            "word": step.word,
            **({"values": _values(step.trace, step.trace.records, None)} if worked else {}),
        }
        for i, step in enumerate(result.steps)
    ]
    first = result.steps[0].trace
    return strict_json({**_header(first), "turns": turns, "text": list(result.text)})


def contents(trace: Trace) -> str:
    """The steps with what each comes to; of the trace only the shapes are looked at."""
    listed = [
        {
            "number": step.number,
            "name": step.kind.name,
            "address": step.last.output.address,
            "shape": list(step.last.output.shape),
        }
        for step in steps(trace.records)
    ]
    return strict_json({"schema": SCHEMA, "scenario": trace.name, "steps": listed})


def training(training: Training) -> str:
    """The first step with all its values, and the loss of every pass."""
    first = training.steps[0]
    passes = [
        {
            "step": step,
            "loss": _plain(found[LOSS.name].numbers.tolist()),
            "printed": printed_entry(found, found[LOSS.name], ()),
            "predictions": found[PREDICTION.name].numbers.tolist(),
        }
        for step, found in enumerate(training.passes)
    ]
    header = _header(first)
    return strict_json({**header, "values": _values(first, first.records, None), "passes": passes})


def shapes(survey: Survey) -> str:
    """Every matrix once for all heads and layers that have one like it, and what they come to."""
    own, crossed = survey.cached
    tables = [
        {
            "address": table_name(address),
            "symbol": text(table_symbol(address)),
            "shape": list(shape),
        }
        for address, shape in survey.tables.items()
    ]
    matrices = [
        {
            "address": matrix.place.address(matrix.role),
            "symbol": text(matrix.symbol),
            "step": matrix.step,
            "layers": list(matrix.layers),
            "heads": list(matrix.heads),
            "shape": list(matrix.shape),
            "parameters": matrix.parameters,
            "multiply_adds": matrix.multiply_adds,
        }
        for matrix in survey.matrices
    ]
    parts = {
        name: {"parameters": parameters, "multiply_adds": cost}
        for name, (parameters, cost) in survey.parts.items()
    }
    sizes = {
        kind: {"parameters": survey.parameters * size, "cache": survey.cache * size}
        for kind, size in NUMBER_TYPES.items()
    }
    return strict_json(
        {
            "schema": SCHEMA,
            "scenario": survey.trace.name,
            "tokens": survey.length,
            "tables": tables,
            "matrices": matrices,
            "parts": parts,
            "parameters": survey.parameters,
            "multiply_adds": survey.multiply_adds,
            "cache": {"per_token": own, "encoder": crossed, "all": survey.cache},
            "bytes": sizes,
        }
    )


def _header(trace: Trace) -> dict[str, Any]:
    rounding = trace.scenario.rounding
    rounded = {"decimals": rounding.decimals, "carry": rounding.carry.value}
    return {"schema": SCHEMA, "scenario": trace.name, "rounding": rounded}


def _values(trace: Trace, records: Sequence[Record], token: int | None) -> list[dict[str, Any]]:
    named = symbols(trace.records)
    outputs = [record.output for record in records]
    encodes = all(o.place.encoder or o.role is ENCODER_OUTPUT for o in outputs)
    return [
        {
            "address": record.output.address,
            "symbol": text(named[record.output.address]),
            "operation": record.operation.name,
            "parameters": _parameters(record.operation),
            "operands": [value.address for value in record.inputs],
            **_labelled(
                trace, record.output, token if record.output.place.encoder == encodes else None
            ),
        }
        for record in records
    ]


def _parameters(operation: Operation) -> dict[str, Any]:
    """What the operation needs, besides its name and operands, to be done again."""
    return {
        name: _plain(parameter)
        for name, parameter in vars(operation).items()
        if parameter != operation.name
    }


def _labelled(trace: Trace, value: Value, token: int | None) -> dict[str, Any]:
    axes = [(axis.name, list(axis.labels)) for axis in value.axes]
    numbers, first = value.numbers, 0
    if token is not None and value.per_token:
        axes[0] = (axes[0][0], axes[0][1][token : token + 1])
        numbers, first = numbers[token : token + 1], token
    printed = np.empty(numbers.shape, object)
    for at in np.ndindex(numbers.shape):
        printed[at] = printed_entry(trace, value, (at[0] + first, *at[1:]) if at else ())
    return {
        "axes": [{"name": name, "labels": labels} for name, labels in axes],
        "shape": list(numbers.shape),
        "data": _plain(numbers.tolist()),
        "printed": printed.tolist(),
    }


def _plain(data: Any) -> Any:
    """Decimals as JSON numbers, words as they are.

    Infinities are the strings "inf" and "-inf"; so are numbers beyond the range of floats strings.
    """
    match data:
        case list() | tuple():
            return [_plain(entry) for entry in data]
        case Decimal() | float() if abs(data) == math.inf:
            return "inf" if data > 0 else "-inf"
        case Decimal():
            number = float(data)
            lost = math.isinf(number) or (data and not number)
            return str(data) if lost else int(data) if data == data.to_integral_value() else number
        case _:
            return data
