"""Traces as JSON: every value with its address, operation, operands and labelled axes."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from tracer.decoder import Trace
from tracer.generation import Generated
from tracer.operations import SquareRoot
from tracer.renderers.text import text
from tracer.symbols import symbols
from tracer.tape import Step, Value


def render(trace: Trace, steps: Sequence[Step], token: int | None) -> str:
    """The values of `steps` in the order of computation, one row of each where a token is given."""
    return _dumped({**_header(trace), "values": _values(trace, steps, token)})


def generated(result: Generated, *, worked: bool) -> str:
    """A generated text: each turn's input, outputs and word; `worked`, its values too."""
    turns = [
        {
            "input": list(turn.trace.tokens),
            "outputs": turn.trace.value("prediction").array.tolist(),
            "word": turn.word,
            **({"values": _values(turn.trace, turn.trace.steps, None)} if worked else {}),
        }
        for turn in result.turns
    ]
    first = result.turns[0].trace
    return _dumped({**_header(first), "turns": turns, "text": list(result.text)})


def _header(trace: Trace) -> dict[str, Any]:
    rounding = trace.scenario.rounding
    return {
        "scenario": trace.name,
        "rounding": {"decimals": rounding.decimals, "carry": rounding.carry.value},
    }


def _values(trace: Trace, steps: Sequence[Step], token: int | None) -> list[dict[str, Any]]:
    named = symbols(trace.steps)
    return [
        {
            "address": step.output.address,
            "symbol": text(named[step.output.address]),
            "operation": step.operation.name,
            "operands": [value.address for value in step.inputs],
            **_epsilon(step),
            **_labelled(step.output, token),
        }
        for step in steps
    ]


def _dumped(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _epsilon(step: Step) -> dict[str, Any]:
    """What a standard deviation adds to the variance, without which it cannot be recomputed."""
    operation = step.operation
    epsilon = isinstance(operation, SquareRoot) and operation.epsilon
    return {"epsilon": float(epsilon)} if epsilon else {}


def _labelled(value: Value, token: int | None) -> dict[str, Any]:
    array, axes = value.array, [(axis.name, list(axis.labels)) for axis in value.axes]
    if token is not None and value.per_token:
        array = array[token : token + 1]
        axes[0] = (axes[0][0], axes[0][1][token : token + 1])
    return {
        "axes": [{"name": name, "labels": labels} for name, labels in axes],
        "shape": list(array.shape),
        "data": _plain(array.tolist()),
    }


def _plain(data: Any) -> Any:
    """Decimals as JSON numbers, words as they are.

    Infinities are the strings "inf" and "-inf"; so are numbers beyond the range of floats strings.
    """
    match data:
        case list():
            return [_plain(entry) for entry in data]
        case Decimal() if data.is_infinite():
            return "inf" if data > 0 else "-inf"
        case Decimal():
            number = float(data)
            lost = math.isinf(number) or (data and not number)
            return str(data) if lost else int(data) if data == data.to_integral_value() else number
        case _:
            return data
