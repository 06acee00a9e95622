"""A pass as data that the script of a page evaluates: operations, operands, typed numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from tracer.data.tape_settings import settings
from tracer.data.tape_tokens import row_of, tokens_on_axes, tokens_setting, words_of
from tracer.data.typed import TypedNumbers
from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.contract import Contract
from tracer.decoder.forward import Trace
from tracer.decoder.gather import Gather, Where
from tracer.decoder.tape import Record
from tracer.decoder.value import Form, Value
from tracer.errors import TracerError
from tracer.formula.activations import ACTIVATIONS
from tracer.lesson.texts.page import PageTape
from tracer.lesson.texts.symbols import symbols
from tracer.names import distinct, name_text
from tracer.node import Node
from tracer.scenario.edits import typed_number
from tracer.scenario.nodes import Nodes
from tracer.scenario.reader import YamlPath

Data: TypeAlias = Any
"""What JSON can hold."""

NOWHERE = -1
"""The place of a number that does not come from the scenario's text."""

NAMES: Mapping[type, str] = {
    op.Largest: "max",
    op.LargestSoFar: "running_max",
    el.Exp: "exp",
    el.VanishingExp: "vanishing_exp",
    el.Mask: "mask",
    el.DivideByRowSum: "share",
    el.BelowMaximum: "below_maximum",
    el.MaximumChange: "below_maximum",
}
"""Names of operations whose own name is that of another one, too."""

PLAIN = (
    op.GroupExtreme,
    op.Rotate,
    op.DivTerm,
    op.PowerOfTwo,
    op.MixExperts,
    op.Cumulate,
    op.ArgMax,
    op.Pick,
)
"""Operations that are their name and their fields."""


def tape_of(trace: Trace, text: str) -> PageTape | None:
    """Return the tape of a pass of a scenario's text; None if a script cannot compute it."""
    nodes = Nodes(text)
    data = tape_data(trace, TypedNumbers(trace, nodes))
    if data is None:
        return None
    places = {record.output: i for i, record in enumerate(trace.records)}
    offered = list(settings(trace, text))
    if data["words"]:
        offered.append(tokens_setting(trace, nodes, data["words"]))
    more = {"settings": offered, "activations": activations()}
    return PageTape({**data, **more}, places)


def tape_data(trace: Trace, typed: TypedNumbers) -> Data | None:
    """Return the records of a pass with Decimals; None if a script cannot compute them."""
    if trace.scenario.on_demand:
        return None
    operations = [operation_data(record) for record in trace.records]
    if None in operations:
        return None
    pencil, named = trace.pencil, symbols(trace.records)
    rounding = pencil.rounding
    index = {record.output: i for i, record in enumerate(trace.records)}
    places = _Places(typed)
    words = words_of(trace, typed.nodes)
    values = [
        {
            "address": record.output.address,
            "symbol": formula_data(named[record.output.address]),
            "shape": record.output.shape,
            "labels": [list(map(name_text, distinct(axis.labels))) for axis in record.output.axes],
            "rule": record.output.role.rounding_rule.name.lower(),
            "digits": _digits(trace, record.output),
            **({"significant": least} if (least := record.output.role.significant) else {}),
            "operation": operation,
            "inputs": [index[each] for each in record.inputs],
            **({"logits": index[logits]} if (logits := _logits(trace, record)) else {}),
            **places.of(record),
            **(tokens_on_axes(record.output, trace.tokens) if words else {}),
        }
        for record, operation in zip(trace.records, operations, strict=True)
    ]
    return {
        "decimals": rounding.decimals,
        "working": rounding.working,
        "carry": pencil.carry.value,
        "trims": rounding.trailing_zeros.value == "trim",
        "floats": not pencil.decimal,
        "shifts": trace.scenario.softmax == "shifted",
        "values": values,
        "words": {
            word: {**row_of(trace, word, number), "places": places.of_word(word)}
            for word, number in words.items()
        },
        "text": typed.nodes.text,
        "spans": places.spans(),
    }


def formula_data(expression: Data) -> Data:
    """Return an expression as a list that begins with the name of its kind."""
    match expression:
        case Node():
            inside = [
                formula_data(getattr(expression, each.name))
                for each in fields(expression)  # type: ignore[arg-type]  # a node is a dataclass
                if each.compare
            ]
            # The terms of a sum stand in the list of the sum itself.
            flat = [
                part for each in inside for part in (each if isinstance(each, tuple) else (each,))
            ]
            return [type(expression).__name__.lower(), *flat]
        case tuple():
            return tuple(map(formula_data, expression))
        case Decimal():
            return str(expression)
        case _:
            return expression


@cache
def activations() -> Mapping[str, Data]:
    """Return the formula of each activation function by its name."""
    return {name: formula_data(each.formula.expression) for name, each in ACTIVATIONS.items()}


def operation_data(record: Record) -> Data | None:
    """Return the operation of a record; None if it is none of a plain forward pass."""
    operation, shapes = record.operation, [value.shape for value in record.inputs]
    match operation:
        case op.Given():
            return {"kind": "given"}
        case op.Pinned(given_rows=None, is_mean=False):
            return {"kind": "given", "pinned": True}
        case el.NegativeLogLikelihood(columns):
            return _entry(operation, columns=columns)
        case el.Add() if record.inputs[1].role is roles.MASK:
            return _entry(el.Mask())  # an edit may change whether it hides only
        case el.Elementwise():
            return _entry(operation)
        case Contract():
            return {
                "kind": "contract",
                "name": operation.name,
                "factors": operation.factors,
                "kept": operation.kept,
                "summed": operation.summed,
                "matrix": operation.is_matrix_product,
                "negative": operation.negative,
                "divisor": _divisor(operation, shapes),
                "of": _flat(operation.of(), shapes[0]),
                "in_order": isinstance(operation, op.SumInOrder),
            }
        case Gather():
            moves = [
                [each.operand, _flat(each.of, shapes[each.operand]), _flat(each.to, shape)]
                for shape in [record.output.shape]
                for each in operation.moves(*shapes)
            ]
            found: Data = {"kind": "gather", "moves": moves, "others": str(operation.others)}
            if isinstance(operation, op.Keep):
                found["columns"] = operation.columns
            return found
        case op.Largest() | op.LargestSoFar():
            return {"kind": NAMES[type(operation)]}
        case _ if isinstance(operation, PLAIN):
            own = {name: _plain(field) for name, field in vars(operation).items()}
            return {"kind": operation.name, **own}
        case _:
            return None


def _logits(trace: Trace, record: Record) -> Value | None:
    """The logits by which columns are kept: the value whose columns they are, or those before it.

    None if a record keeps no columns.
    """
    if not isinstance(record.operation, op.Keep):
        return None
    value = record.inputs[0]
    while (before := trace.producers[value].inputs) and before[0].axes == value.axes:
        value = before[0]
    return value


def _entry(operation: el.Elementwise, **more: Data) -> Data:
    name = NAMES.get(type(operation), operation.name)
    function = {"function": operation.function} if isinstance(operation, el.Activate) else {}
    formula = formula_data(operation.expression())
    return {"kind": "entry", "name": name, "formula": formula, **function, **more}


def _divisor(operation: Contract, shapes: Sequence[tuple[int, ...]]) -> int | None:
    if operation.is_matrix_product or len(shapes) > 1:
        return None
    axis = operation.factors[0].index(operation.summed)
    taken = _flat(operation.of(), shapes[0])
    return operation.divisor(len(taken) if taken is not None else shapes[0][axis])


def _flat(where: Where, shape: tuple[int, ...]) -> list[int] | None:
    """The entries at a NumPy index, counted row by row; None for all."""
    if not where:
        return None
    every = np.arange(int(np.prod(shape))).reshape(shape)
    found: list[int] = np.ravel(every[where]).tolist()
    return found


def _plain(field: Data) -> Data:
    match field:
        case Decimal():
            return str(field)
        case tuple():
            return [_plain(each) for each in field]
        case _:
            return field


def _digits(trace: Trace, value: Value) -> Data:
    chosen = trace.pencil.chosen(value.base_address)
    return chosen and chosen.model_dump(exclude_none=True)


class _Places:
    """The numbers that a pass is given; equal places are one number of the scenario."""

    def __init__(self, typed: TypedNumbers) -> None:
        self.typed = typed
        self.found: dict[YamlPath, int] = {}

    def of(self, record: Record) -> dict[str, Data]:
        """Return the numbers of a given value and their places; words as they are."""
        value = record.output
        if not isinstance(record.operation, op.Given | op.Pinned):
            return {"words": True} if value.role.words else {}
        numbers = value.numbers.ravel().tolist()
        if value.role.words:
            return {"words": True, "numbers": numbers}
        found: dict[str, Data] = {"numbers": list(map(str, numbers))}
        if value.form is Form.ROUNDED_FOR_PRINT:
            found["rounded"] = True
        places = [self._place(record, at) for at in np.ndindex(value.shape)]
        return {**found, "places": places} if set(places) != {NOWHERE} else found

    def of_word(self, word: str) -> list[int]:
        """Return the places of the numbers of a word in the table of embeddings."""
        width = self.typed.trace[roles.EMBEDDING.name].shape[1]
        return [self._place_of(("embeddings", word, column)) for column in range(width)]

    def spans(self) -> list[tuple[int, int] | None]:
        """Return where each number is typed in the text; None if it cannot be edited."""
        return list(map(self._span, self.found))

    def _place(self, record: Record, at: tuple[int, ...]) -> int:
        if record.output.role is roles.TOKEN_IDS:
            return NOWHERE  # another id would be another token
        path = self.typed.source(record.output, at)
        return NOWHERE if path is None else self._place_of(path)

    def _place_of(self, path: YamlPath) -> int:
        return self.found.setdefault(path, len(self.found))

    def _span(self, path: YamlPath) -> tuple[int, int] | None:
        nodes = self.typed.nodes
        try:
            return nodes.span(typed_number(nodes, path))
        except TracerError:
            return None
