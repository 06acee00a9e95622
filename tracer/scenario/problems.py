"""What is wrong with single keys of a scenario, in our words: what came, and what was expected."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from tracer.errors import Problem
from tracer.names import closest
from tracer.scenario.fields import OWN_MESSAGE, TAGS, RandomWeights
from tracer.scenario.model import Scenario
from tracer.scenario.parts import address
from tracer.scenario.reader import Data, Source, YamlPath
from tracer.scenario.sizes import part


def of_keys(
    error: ValidationError, source: Source, filled: Set[YamlPath], form: type[BaseModel] = Scenario
) -> Iterator[Problem]:
    """What a form of scenario refuses, each at its place; but for places that were written out.

    What is wrong there is told where it was typed.
    """
    for detail in error.errors(include_url=False):
        # A list whose entries are wrong is called too short as well: that adds nothing.
        if detail["type"] == "too_short" and detail["input"]:
            continue
        place = place_of(detail, source.data)
        if any(place[:i] in filled for i in range(1, len(place) + 1)):
            continue
        yield source.problem(place, _message(detail, place, form), address(place) or None)


def place_of(detail: ErrorDetails, data: Data) -> YamlPath:
    """Where in the data: pydantic also names the kinds it chose between."""
    place: YamlPath = ()
    for step in detail["loc"]:
        if step in TAGS and part(data, (*place, step)) is None:
            continue
        place = (*place, step)
    # A number of digits stands for a mapping: what is wrong with it is told at the pattern.
    shorthand = place[:2] == ("rounding", "digits") and part(data, place) is None
    return place[:3] if shorthand else place


MAPPING_TYPES = ("model_type", "model_attributes_type", "dict_type")

EXPECTED = {
    **dict.fromkeys(MAPPING_TYPES, "a mapping"),
    "tuple_type": "a list",
    **dict.fromkeys(("int_parsing", "int_type", "int_parsing_size"), "a whole number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "true or false"),
    "string_type": "text",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
}
"""What was expected, by pydantic's type of an error."""


def message_of(detail: ErrorDetails) -> str:
    """What was expected and what came, wherever it stands."""
    context = detail.get("ctx", {})
    match detail["type"]:
        case "value_error":
            return str(context["error"])
        case "literal_error" | "enum":
            expected = f"expected {context['expected']}".replace("'", "")
        case "too_short" | "string_too_short":
            return "empty, expected at least one entry"
        case kind if kind in EXPECTED:
            expected = f"expected {EXPECTED[kind].format(**context)}"
        case kind:
            expected = detail["msg"] if kind == OWN_MESSAGE else "not what belongs here"
    return f"{expected}, {_came(detail['input'])}"


WRONG_KIND = (*MAPPING_TYPES, "tuple_type", OWN_MESSAGE)


def _message(detail: ErrorDetails, place: YamlPath, form: type[BaseModel]) -> str:
    """With what is wanted, where another kind of thing stands, or nothing."""
    name, example = place[-1] if place else "", _example(place, form)
    match detail["type"]:
        case "missing":
            return f"missing, expected {name}: {example}" if example else "missing"
        case "extra_forbidden":
            return _unknown(str(name), place, form)
        case kind if example and kind in WRONG_KIND:
            expected, _, came = message_of(detail).rpartition(", got ")
            return f"{expected}, such as {name}: {example}, got {came}"
        case _:
            return message_of(detail)


def _came(value: Any) -> str:
    if isinstance(value, str):
        return f"got {value!r}"
    kinds: dict[type, str] = {dict: "a mapping", list: "a list"}
    return f"got {kinds.get(type(value), value)}"


def _unknown(name: str, place: YamlPath, form: type[BaseModel]) -> str:
    """An unknown key: the nearest one that belongs here, or where it belongs."""
    model = _model_at(place[:-1], form)
    here = closest(name, model.model_fields) if model else ""
    everywhere = dict(reversed(list(_keys(form, ""))))  # the first of several places
    if name in everywhere:
        return f"a key of {everywhere[name] or 'the scenario'}{here}"
    return f"unknown key{here or closest(name, everywhere)}"


def _keys(model: type[BaseModel], place: str) -> Iterator[tuple[str, str]]:
    """Every key of a model and of those inside, and the place that it is a key of."""
    yield from ((name, place) for name in model.model_fields)
    for name, field in model.model_fields.items():
        inner = _model_of(field)
        if inner is not None:
            yield from _keys(inner, f"{place}.{name}".removeprefix("."))


def _example(place: YamlPath, form: type[BaseModel]) -> str:
    """How the key at a place is written."""
    model = _model_at(place[:-1], form)
    if model is None or not place or place[-1] not in model.model_fields:
        return ""
    return str((model.model_fields[str(place[-1])].examples or [""])[0])


def _model_at(place: YamlPath, form: type[BaseModel]) -> type[BaseModel] | None:
    """The model of the mapping at a place; None where its keys are the author's own."""
    model: type[BaseModel] | None = form
    for step in place:
        if isinstance(step, str):
            field = model.model_fields.get(step) if model else RandomWeights.model_fields.get(step)
            model = _model_of(field) if field else None
    return model


def _model_of(field: FieldInfo) -> type[BaseModel] | None:
    return next(_models(field.annotation), None)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)
