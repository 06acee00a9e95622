"""Messages for pydantic's errors: what was expected at a key, and what came."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from tracer.errors import Problem, TracerError
from tracer.names import closest, similar
from tracer.scenario.fields import OWN_MESSAGE, TAGS, WRITTEN, RandomWeights
from tracer.scenario.layers import FORMS_OF_FFN
from tracer.scenario.model import Scenario
from tracer.scenario.networks import FORMS_OF_WEIGHTS
from tracer.scenario.parts import address
from tracer.scenario.reader import Data, ScenarioSource, YamlPath, with_excerpts
from tracer.scenario.sizes import data_at

_Form = TypeVar("_Form", bound=BaseModel)


def problems_of(
    error: ValidationError,
    source: ScenarioSource,
    filled: Set[YamlPath],
    form: type[BaseModel] = Scenario,
) -> Iterator[Problem]:
    """Yield a problem for each error at its place, except inside expanded short forms.

    Those are reported where they were typed.
    """
    details = error.errors(include_url=False)
    around = {detail["loc"][:depth] for detail in details for depth in range(len(detail["loc"]))}
    for detail in details:
        # Pydantic counts only the right entries of a list, and reports the wrong ones as well.
        if detail["type"] == "too_short" and detail["loc"] in around:
            continue
        place = place_of(detail, source.data)
        if any(place[:i] in filled for i in range(1, len(place) + 1)):
            continue
        yield source.problem(place, _message(detail, place, form), address(place) or None)


def validated(form: type[_Form], source: ScenarioSource, content: str) -> _Form:
    """Return the content of a YAML file as a form.

    Raises:
        TracerError: it has another form.
    """
    try:
        return form.model_validate(source.data)
    except ValidationError as error:
        problems = list(problems_of(error, source, set(), form))
        raise TracerError(*with_excerpts(problems, content)) from None


ALL_TAGS = (*TAGS, *FORMS_OF_FFN, *FORMS_OF_WEIGHTS)


def place_of(detail: ErrorDetails, data: Data) -> YamlPath:
    """Return the YAML path of an error, without the tags that pydantic adds."""
    place: YamlPath = ()
    for step in detail["loc"]:
        if step in ALL_TAGS and data_at(data, (*place, step)) is None:
            continue
        place = (*place, step)
    # A number is short for a mapping: its problem is reported at the pattern.
    shorthand = place[:2] == ("rounding", "digits") and data_at(data, place) is None
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
"""What was expected, by pydantic's type of error."""


def message_of(detail: ErrorDetails) -> str:
    """Return what was expected and what came, without the key."""
    context = detail.get("ctx", {})
    match detail["type"]:
        case "value_error":
            return str(context["error"])
        case "literal_error" | "enum":
            expected = f"expected {context['expected']}".replace("'", "")
        case "too_short" | "string_too_short" if context["min_length"] == 1:
            return "empty, expected at least one entry"
        case "too_short":
            least, came = context["min_length"], context["actual_length"]
            return f"expected at least {least} entries, got {came}"
        case "too_long":
            most, came = context["max_length"], context["actual_length"]
            return f"expected at most {most} entries, got {came}"
        case kind if kind in EXPECTED:
            expected = f"expected {EXPECTED[kind].format(**context)}"
        case kind:
            expected = detail["msg"] if kind == OWN_MESSAGE else "not allowed here"
    came = detail["input"]
    hint = _hint(came) if isinstance(came, str) and "number" in expected else ""
    return f"{expected}, {_came(came)}{hint}"


def _hint(typed: str) -> str:
    """Return what may be wrong with a text that was to be a number."""
    pieces = typed.split()
    if len(pieces) > 1 and all(map(WRITTEN.fullmatch, pieces)):
        return f"; a comma is missing after {pieces[0]}"
    plain = re.sub("[−–—]", "-", typed)
    if plain != typed and WRITTEN.fullmatch(plain):
        return f"; type the minus sign as a hyphen: {plain}"
    if re.fullmatch(r"[-+]?[0-9]+,[0-9]+", plain):
        return f"; type a decimal point: {plain.replace(',', '.')}"
    return ""


WRONG_KIND = (*MAPPING_TYPES, "tuple_type", OWN_MESSAGE)


def _message(detail: ErrorDetails, place: YamlPath, form: type[BaseModel]) -> str:
    """Return the message for an error, with an example if a value is missing or of a wrong kind."""
    name, example = place[-1] if place else "", _example(place, form)
    match detail["type"]:
        case "missing":
            return f"missing, expected {name}: {example}" if example else "missing"
        case "extra_forbidden":
            return _unknown(str(name), place, form)
        case kind if example and kind in WRONG_KIND:
            expected, _, came = message_of(detail).rpartition(", got ")
            tight = re.fullmatch(r"'[A-Za-z_]+:[^ ]+'", came)
            hint = "; a colon needs a space after it" if tight else ""
            return f"{expected}, such as {name}: {example}, got {came}{hint}"
        case _:
            return message_of(detail)


def _came(value: Any) -> str:
    if isinstance(value, str):
        return f"got {value!r}"
    kinds: dict[type, str] = {dict: "a mapping", list: "a list"}
    return f"got {kinds.get(type(value), value)}"


NO_KEY = {
    "dropout": "passes are computed without dropout, as when a trained model is used",
    "temperature": "generate has the option --temperature",
    "top_k": "generate has the option --top-k",
    "top_p": "generate has the option --top-p",
}
"""Keys of other programs, and what takes their place here."""


def _unknown(name: str, place: YamlPath, form: type[BaseModel]) -> str:
    """Return the message for an unknown key: the most similar one here, or where it belongs."""
    if name in NO_KEY:
        return f"unknown key; {NO_KEY[name]}"
    here = closest(name, _fields_at(place[:-1], form))
    everywhere = dict(reversed(list(_keys(form, ""))))  # the first of several places
    if name in everywhere:
        return f"not a key here, but of {everywhere[name] or 'the scenario'}{here}"
    elsewhere = [f"{key!r} is a key of {everywhere[key]}" for key in similar(name, everywhere)]
    return f"unknown key{here or '; '.join(['', *elsewhere[:1]])}"


def _keys(model: type[BaseModel], place: str) -> Iterator[tuple[str, str]]:
    """Yield every key of a model and of its inner models, with the place that it belongs to."""
    yield from ((name, place) for name in model.model_fields)
    for name, field in model.model_fields.items():
        for inner in _models(field.annotation):
            yield from _keys(inner, f"{place}.{name}".removeprefix("."))


def _example(place: YamlPath, form: type[BaseModel]) -> str:
    """Return the example of the key at a place."""
    field = _fields_at(place[:-1], form).get(str(place[-1])) if place else None
    return str((field.examples or [""])[0]) if field else ""


def _fields_at(place: YamlPath, form: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the keys of the mapping at a place, of each form that it may have; none if free."""
    found = dict(form.model_fields)
    for step in place:
        if isinstance(step, str):
            field = found.get(step) or RandomWeights.model_fields.get(step)
            models = _models(field.annotation) if field else ()
            found = {name: each for model in models for name, each in model.model_fields.items()}
    return found


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)
