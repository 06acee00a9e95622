"""A scenario by name, path or standard input → the validated Scenario."""

from __future__ import annotations

import sys
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from tracer.errors import Problem, TracerError
from tracer.names import closest
from tracer.scenario import shapes
from tracer.scenario.model import (
    Frozen,
    GivenNumbers,
    Scenario,
    SubLayer,
)
from tracer.scenario.reader import Data, Place, Source, read
from tracer.scenario.rounding import Digits, Rounding

STANDARD_INPUT = "-"
MODELS: tuple[type[BaseModel], ...] = (
    *(*SubLayer.__subclasses__(), *Frozen.__subclasses__()),
    *(Rounding, Digits),
)
KNOWN_KEYS = {name for model in MODELS for name in model.model_fields}


def bundled() -> dict[str, Path]:
    """The scenarios that come with the program, by name."""
    package = Path(__file__).parent.parent
    # In the wheel they lie inside the package; in a checkout beside it.
    folder = next(f for f in (package / "scenarios", package.parent / "scenarios") if f.is_dir())
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def parse_given(text: str) -> tuple[str, tuple[Any, ...]]:
    """`ADDRESS=VALUES` from the command line, the values as in a scenario: [1, 2] or [[1], [2]].

    Raises:
        TracerError: not of that form.
    """
    address, equals, numbers = text.partition("=")
    if not (address and equals):
        raise TracerError(Problem(f"got {text!r}, expected ADDRESS=VALUES", address="--given"))
    data = read(numbers, "--given").data
    try:
        return address, TypeAdapter[Any](GivenNumbers).validate_python(data)
    except ValidationError as error:
        wrong = error.errors()[0]
        message = f"{address}: {wrong['msg']}, got {wrong['input']!r}"
        raise TracerError(Problem(message, address="--given")) from None


@dataclass(frozen=True)
class Loaded:
    """A scenario, the short name it goes by, and the file that messages about it name."""

    name: str
    file: str
    scenario: Scenario


def load(name: str) -> Loaded:
    """Load a scenario from a path, a bundled name with or without `.yaml`, or `-`.

    A file of that name wins over a bundled scenario.

    Raises:
        TracerError: no such scenario, not readable, or anything wrong in it.
    """
    if name == STANDARD_INPUT:
        file = "<stdin>"
        return Loaded("stdin", file, parse(_text(sys.stdin.buffer.read(), file), file))
    path = Path(name)
    try:
        if path.is_dir() or not path.exists():
            path = _bundled(name, folder=path.is_dir())
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise TracerError(Problem(f"cannot be read: {reason}", name)) from None
    return Loaded(path.stem, name, parse(_text(content, name), name))


def _bundled(name: str, *, folder: bool) -> Path:
    known = bundled()
    short = name.removesuffix(".yaml")
    if short not in known:
        what = "a folder, expected a scenario" if folder else "no such file or scenario"
        raise TracerError(Problem(f"{what}{closest(short, known)}", name))
    return known[short]


def _text(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8: byte 0x{content[error.start]:02X}"
        raise TracerError(Problem(message, name, line)) from None


def parse(text: str, file: str) -> Scenario:
    """YAML text → Scenario.

    Raises:
        TracerError: all that is wrong with it at once.
    """
    source = read(text, file)
    scenario, found = _validated(source)
    if scenario is not None:
        told = {(problem.line, problem.column) for problem in found}
        misfits = dict.fromkeys(shapes.problems(scenario, source))
        found += [problem for problem in misfits if (problem.line, problem.column) not in told]
    if found or scenario is None:
        raise TracerError(*sorted(found, key=lambda p: (p.line or 0, p.column or 0)))
    return scenario


def _validated(source: Source) -> tuple[Scenario | None, list[Problem]]:
    """The scenario, and what is wrong with single keys and scalars.

    What is wrong is then taken out or replaced, so that the shapes of the rest are still checked.
    """
    try:
        return Scenario.model_validate(source.data), []
    except ValidationError as error:
        # A list whose entries are wrong is called too short as well: that adds nothing.
        details = [
            detail
            for detail in error.errors(include_url=False)
            if detail["type"] != "too_short" or not detail["input"]
        ]
    found = [_problem(detail, source) for detail in details]
    data = deepcopy(source.data)
    for detail in details:
        _repair(data, _place(detail))
    if isinstance(data, dict):
        data.setdefault("title", "untitled")
    try:
        return Scenario.model_validate(data), found
    except ValidationError:
        return None, found


def _problem(detail: ErrorDetails, source: Source) -> Problem:
    place = _place(detail)
    return source.problem(place, _message(detail), shapes.address(place) or None)


def _place(detail: ErrorDetails) -> Place:
    """Where in the data: pydantic also names the kinds it chose between, and keys."""
    loc = detail["loc"]
    if len(loc) > 3 and loc[:2] == ("rounding", "digits"):
        # What is wrong with a pattern's digits is told at the pattern.
        loc = loc[:3]
    if loc[:1] == ("embeddings",):
        return (*loc[:1], *loc[2:])
    for at in (0, 2):
        if loc[at : at + 1] == ("given",):
            return (*loc[: at + 2], *loc[at + 3 :])
    return loc


def _message(detail: ErrorDetails) -> str:
    """What was expected and what came."""
    given, context = detail["input"], detail.get("ctx", {})
    came = f"got {given!r}" if isinstance(given, str) else f"got {_kind(given)}"
    match detail["type"]:
        case "missing":
            return "missing"
        case "extra_forbidden":
            name = str(detail["loc"][-1])
            return (
                "a key of another place"
                if name in KNOWN_KEYS
                else (f"unknown key{closest(name, KNOWN_KEYS)}")
            )
        case "value_error":
            return str(context["error"])
        case "literal_error" | "enum":
            message = f"expected {context['expected']}".replace("'", "")
        case "model_type" | "model_attributes_type" | "dict_type":
            message = "expected a mapping"
        case "tuple_type":
            message = "expected a list"
        case "too_short" | "string_too_short":
            return "empty, expected at least one entry"
        case "int_parsing" | "int_type" | "int_parsing_size":
            message = "expected a whole number"
        case "bool_parsing" | "bool_type":
            message = "expected true or false"
        case "string_type":
            message = "expected text"
        case "greater_than_equal":
            message = f"expected at least {context['ge']}"
        case "less_than_equal":
            message = f"expected at most {context['le']}"
        case _:  # a NUMBER_ERROR among them, whose text is the model's own
            message = detail["msg"]
    return f"{message}, {came}"


def _kind(value: Any) -> str:
    match value:
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case _:
            return repr(value)


def _repair(data: Data, place: Place) -> None:
    """Take a wrong key out, or put a zero in place of a wrong entry of a row."""
    if not place:
        return
    *way, last = place
    for part in way:
        data = data[part]  # type: ignore[index]  # pydantic has been there before
    if isinstance(data, dict):
        data.pop(str(last), None)
    elif isinstance(data, list) and isinstance(last, int):
        data[last] = "0"
