"""A scenario with quantized weights, as an option asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from tracer.errors import Problem, TracerError
from tracer.scenario.model import Scenario
from tracer.scenario.part import scenario_parts
from tracer.scenario.parts import with_parts
from tracer.scenario.problems import message_of
from tracer.scenario.reader import read

OPTION = "--quantize"
EXPECTED = "expected 8, 4, mxfp4 or settings such as '{bits: 4, group: column}'"


def with_quantized_weights(scenario: Scenario, how: str) -> Scenario:
    """Return a scenario with the weights of attention, FFNs and the unembedding quantized.

    `how` is a number of bits, a kind, or settings as a scenario types them. Of LoRA, the frozen
    weights are quantized; A and B stay as they are.

    Raises:
        TracerError: the settings are wrong or do not fit a matrix, or there is nothing to quantize.
    """
    settings = _settings(how)
    found = scenario
    for part in scenario_parts():
        if part.quantized is None:
            continue
        try:
            found = _changed(found, part.quantized(settings))
        except ValidationError as error:
            detail = error.errors(include_url=False)[0]
            key = ".".join(str(step) for step in detail["loc"] if not str(step).startswith("("))
            raise _problem(f"{key}: {message_of(detail)}" if key else message_of(detail)) from None
        except ValueError as error:
            raise _problem(str(error)) from None
    if found is scenario:
        raise _problem("no weight matrix that could be quantized")
    return found


def _changed(scenario: Scenario, change: Callable[[Any], Any]) -> Scenario:
    return with_parts(scenario, lambda _, part: change(part))


def _settings(how: str) -> Mapping[str, Any]:
    try:
        typed = read(how, OPTION).data
    except TracerError:
        typed = None
    match typed:
        case dict() if all(isinstance(each, str) for each in typed.values()):
            return typed
        case str() if typed.isdecimal():
            return {"bits": typed}
        case "mxfp4":
            return {"kind": typed}
        case _:
            raise _problem(f"got {how!r}, {EXPECTED}")


def _problem(message: str) -> TracerError:
    return TracerError(Problem(message, address=OPTION))
