"""Given values of the command line: `ADDRESS=0`, `ADDRESS[token]=[1, 2]`, `ADDRESS=mean`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from tracer.errors import Problem, TracerError
from tracer.scenario.fields import Pinned
from tracer.scenario.reader import read

OPTION = "--given"
MEAN = "mean"
FORM = re.compile(r"(?P<address>[^\s\[=]+)(?:\[(?P<token>.*?)\])?=(?P<numbers>.*)", re.DOTALL)


@dataclass(frozen=True)
class Repeated:
    """Numbers that fill a value or a row: one number, or the mean of each column.

    None if there is no mean.
    """

    numbers: Any
    is_mean: bool = False

    def filling(self, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return an array of this shape; of another one if the numbers do not fit it."""
        numbers = np.array(self.numbers, dtype=None if self.is_mean else object)
        fits = numbers.shape == shape[len(shape) - numbers.ndim :]
        return np.broadcast_to(numbers, shape) if fits else numbers


@dataclass(frozen=True)
class GivenRows:
    """A value with given rows, by token as typed; the others are computed, or in `whole`."""

    rows: Mapping[str, Any]
    whole: Any = None


@dataclass(frozen=True)
class GivenOption:
    """What one option gives: numbers or `mean`, for a whole value or for a token's row."""

    address: str
    token: str | None
    numbers: Any

    @property
    def is_mean(self) -> bool:
        """Whether the numbers are the means of the columns."""
        return isinstance(self.numbers, str)

    @property
    def name(self) -> str:
        """`ADDRESS`, or `ADDRESS[TOKEN]`."""
        return self.address if self.token is None else f"{self.address}[{self.token}]"


def parse_given(text: str) -> GivenOption:
    """Parse `ADDRESS=VALUES` or `ADDRESS[TOKEN]=VALUES`.

    The values are as in YAML: 1, [1, 2], [[1], [2]]; one number fills a value or a row. Or `mean`.

    Raises:
        TracerError: not of that form.
    """
    match = FORM.fullmatch(text)
    if match is None or not match["numbers"].strip():
        form = "expected ADDRESS=VALUES, such as layer1.attention.head1.scale=2"
        raise TracerError(Problem(f"got {text!r}, {form}", address=OPTION))
    address, token, numbers = match.groups()
    if numbers.strip() == MEAN:
        return GivenOption(address, token, MEAN)
    data = read(numbers, OPTION).data
    try:
        found = TypeAdapter[Any](Pinned).validate_python(data)
    except ValidationError as error:
        from tracer.scenario.problems import message_of  # only bad input needs it

        wrong = (f"{address}: {message_of(detail)}" for detail in error.errors())
        raise TracerError(*(Problem(each, address=OPTION) for each in wrong)) from None
    return GivenOption(address, token, found)


def parse_all(texts: Iterable[str]) -> tuple[GivenOption, ...]:
    """Parse all given values.

    Raises:
        TracerError: one is not of that form, or two give the same numbers.
    """
    found = tuple(map(parse_given, texts))
    problems = dict[str, Problem]()
    for i, each in enumerate(found):
        for other in found[:i]:
            if each.address == other.address and (
                None in (each.token, other.token) or each.token == other.token
            ):
                names = " and ".join(dict.fromkeys((other.name, each.name)))
                problems[names] = Problem(f"{names}: given twice", address=OPTION)
    if problems:
        raise TracerError(*problems.values())
    return found
