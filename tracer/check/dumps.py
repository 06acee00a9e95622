"""Read another program's arrays, or a trace that was written as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tracer.checkpoints.json_file import read_json
from tracer.errors import Problem, TracerError
from tracer.scenario.activations import DumpedArray, Numbers, addressed, read_arrays
from tracer.scenario.carry import Carry
from tracer.scenario.model import Scenario
from tracer.scenario.rounding import MOST_DECIMALS, Rounding

ARRAYS, JSON = (".npz", ".safetensors"), ".json"
INFINITE = {"inf", "-inf"}


@dataclass(frozen=True)
class Dump:
    """Arrays by address, and the rounding of the pass to compare them with.

    A value may have several arrays, under the names of several programs.
    """

    arrays: Mapping[str, Sequence[DumpedArray]]
    left_out: Sequence[str]
    """Names of arrays without an address, and of values that are words."""
    rounding: Rounding


def read_dump(path: Path, scenario: Scenario) -> Dump:
    """Return the arrays of a file by their addresses in a scenario.

    Other programs do not round intermediate numbers; a written trace names its rounding.

    Raises:
        TracerError: it cannot be read or has another form.
    """
    if path.suffix not in (*ARRAYS, JSON):
        expected = "expected a .npz or .safetensors file, or a trace as .json"
        raise TracerError(Problem(expected, str(path)))
    if path.suffix in ARRAYS:
        return dump_of(read_arrays(path), scenario, str(path))
    found = read_json(path)
    values, rounding = found.get("values"), found.get("rounding")
    if not isinstance(values, list) or not all(map(_is_value, values)):
        message = "expected a trace, as --format json writes it"
        raise TracerError(Problem(message, str(path), address="values"))
    arrays, words, problems = dict[str, list[DumpedArray]](), list[str](), list[Problem]()
    for value in values:
        address = value["address"]
        try:
            numbers = _numbers(value["data"])
        except (ValueError, OverflowError, RecursionError):
            message = "rows of different lengths, or no numbers"
            problems.append(Problem(message, str(path), address=address))
            continue
        if numbers is None:
            words.append(address)
        else:
            arrays.setdefault(address, []).append(DumpedArray(address, "float64", numbers))
    if problems:
        raise TracerError(*problems)
    return Dump(arrays, words, _rounded(scenario.rounding, rounding))


def dump_of(arrays: Iterable[DumpedArray], scenario: Scenario, file: str) -> Dump:
    """Return arrays of another program by their addresses in a scenario; `file` as in messages.

    Raises:
        TracerError: an array has a larger batch, or another number of heads.
    """
    plain = scenario.rounding.model_copy(update={"carry": Carry.NEVER})
    return Dump(*addressed(arrays, scenario, file), plain)


def _is_value(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("address"), str) and "data" in value


def _numbers(data: Any) -> Numbers | None:
    """Return lists of numbers as an array, with the text -inf as -∞; None for words."""
    array = np.array(data, object)  # as an array of text, each would need the memory of the longest
    entries = array.ravel().tolist()
    kinds = set(map(type, entries))
    if kinds == {str} and not INFINITE.issuperset(entries):
        return None
    if not kinds <= {int, float, str}:
        raise ValueError
    return array.astype(np.float64)


def _rounded(own: Rounding, said: Any) -> Rounding:
    """Return the rounding of a scenario with the decimals and carry of a trace."""
    if not isinstance(said, dict):
        return own
    decimals, carry = said.get("decimals"), said.get("carry")
    changed: dict[str, Any] = {}
    if isinstance(decimals, int) and 0 <= decimals <= MOST_DECIMALS:
        changed["decimals"] = decimals
    if carry in list(map(str, Carry)):
        changed["carry"] = Carry(carry)
    return own.model_copy(update=changed)
