"""Traces of scenarios, and what they hold, in a form that tests can read."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import numpy as np
from hypothesis import reject
from numpy.typing import NDArray

from tests.helpers.random_scenarios import to_yaml
from tracer.decoder.forward import Trace, trace
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.errors import TracerError
from tracer.formula.expression import Chain
from tracer.lesson.context import LessonContext
from tracer.lesson.texts.symbols import symbols
from tracer.lesson.working.formulas import formula
from tracer.lesson.working.lines import Writer
from tracer.renderers.text import text
from tracer.scenario.carry import Carry
from tracer.scenario.loading import load, parse
from tracer.scenario.rounding import Digits


def bundled(name: str, carry: Carry | None = None) -> Trace:
    """The forward pass of a bundled scenario."""
    scenario = load(name).scenario
    rounding = scenario.rounding.model_copy(update={"carry": carry or scenario.rounding.carry})
    return trace(name, scenario.model_copy(update={"rounding": rounding}))


def traced(yaml: str) -> Trace:
    """The forward pass of a scenario."""
    return trace("small", parse(yaml, "small.yaml"))


def traced_or_rejected(spec: dict[str, Any]) -> Trace:
    """The forward pass of a random scenario; none where a LayerNorm would divide by zero."""
    try:
        return traced(to_yaml(spec))
    except TracerError as error:
        assert re.search("a division by zero|too (large|small)", str(error))
        without_epsilon = any(norm.get("epsilon") == 0 for norm in _norms(spec))
        assert without_epsilon or "to compute with" in str(error)
        reject()


def _norms(spec: dict[str, Any]) -> list[dict[str, Any]]:
    towers = [spec, spec.get("encoder", {})]
    layers = [layer for tower in towers for layer in tower.get("layers", [])]
    parts = [part for layer in layers for part in (layer, *layer.values())]
    norms = [part.get("norm") for part in parts if isinstance(part, dict)]
    norms += [tower.get(f"{end}_norm") for tower in towers for end in ("embedding", "final")]
    return [norm for norm in norms if isinstance(norm, dict)]


def records(of: Trace) -> dict[str, Record]:
    """The records by the address of what they give."""
    return {record.output.address: record for record in of.records}


def values(of: Trace) -> dict[str, Value]:
    """The values by address."""
    return {address: record.output for address, record in records(of).items()}


def numbers(of: Trace, address: str) -> Any:
    """The numbers at an address as nested lists of what they are in decimal: "0.25"."""
    return _plain(values(of)[address].numbers.tolist())


def _plain(data: Any) -> Any:
    return [_plain(entry) for entry in data] if isinstance(data, list) else str(data)


def floats(value: Value) -> NDArray[np.float64]:
    """The numbers of a value as floats."""
    return value.array


def writer(of: Trace) -> Writer:
    """What writes out the steps of a trace."""
    return Writer(LessonContext(of, len(of.tokens) - 1, symbols(of.records)))


def worked(of: Trace, address: str, token: int) -> dict[str, str]:
    """The worked lines of a step for a token, counted from 1, by their labels."""
    lines = writer(of).lines(records(of)[address], token - 1)
    return {line.label or "": chain_text(line.chain) for line in lines}


def formula_of(of: Trace, address: str) -> str | None:
    """The formula of a step, on one line."""
    chain = formula(records(of)[address], symbols(of.records))
    return chain_text(chain) if chain else None


def chain_text(chain: Chain) -> str:
    """A chain on one line."""
    first, *rest = map(text, chain.sides)
    related = zip(chain.relations, rest, strict=True)
    return " ".join([first, *(f"{relation} {side}" for relation, side in related)])


def array(*rows: Any) -> NDArray[Any]:
    """Decimals from text: a list for each row, or a text for each entry."""
    return np.asarray(np.frompyfunc(Decimal, 1, 1)(np.array(rows, object)))


def is_short(number: Any, digits: Digits) -> bool:
    """Whether a number has no more digits than asked for, or is too small or large for them."""
    if isinstance(number, str) or not number or not number.is_finite():
        return True
    significant = len(number.normalize().as_tuple().digits)
    if abs(number) >= Decimal(10) ** 12:
        return significant <= (digits.significant or 4)
    whole = number == number.to_integral_value()
    if digits.significant:
        return significant <= digits.significant or whole
    decimals = digits.decimals or 0
    step = Decimal(1).scaleb(-decimals)
    # With five decimals or more what is less than one step is written as a power of ten.
    tiny = step if decimals > 4 else step / 2
    return number % step == 0 or (abs(number) <= tiny and significant <= 2)
