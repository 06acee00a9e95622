"""What a gradient says of one weight: held by computing the loss again, from the scenario alone."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from tests.helpers.judge import number, told_apart
from tests.helpers.learning_scenarios import examples, raised
from tests.helpers.reference import losses, reduced
from tests.helpers.scenario_yaml import Scenario
from tests.helpers.unembeddings import untied

RAISED = 0.01
RAISING = re.compile(
    r"Raising (?P<of>\S+) at (?P<names>“.*”) by 0\.01 would (?P<way>lower|raise) the loss by "
    r"(?P<by>\S+)\."
)


def mean_loss(spec: Scenario) -> float:
    """Over all positions of all examples that have a target; unrounded.

    Of what may be given only probabilities are known here, of an example.
    """
    found: list[float] = []
    for example in examples(spec):
        assert example["given"].keys() <= {"probabilities"}
        surprises = losses(untied(example))
        if shares := example["given"].get("probabilities"):
            words, targets = spec["vocabulary"], example["targets"]
            rows = zip(shares, targets, surprises, strict=True)
            surprises = [s and -math.log(row[words.index(t)]) for row, t, s in rows]
        found += [surprise for surprise in surprises if surprise is not None]
    return reduced(spec, found)


def change_of_loss(spec: Scenario, address: str, at: tuple[int, ...], by: float = RAISED) -> float:
    """What one weight of a parameter, raised by so much, does to the loss of the scenario."""
    plain = _in_floats(spec)
    return mean_loss(raised(plain, address, at, by)) - mean_loss(plain)


def is_true_of_raising(
    sentence: str, spec: Scenario, address: str, gradient: Any, labels: Sequence[Sequence[str]]
) -> bool:
    """Whether `Raising W_Q at “a”, “b” by 0.01 would lower the loss by 0.0003.` is so.

    The sentence stands behind the gradient of the parameter at an address, whose numbers and labels
    are given; the weight is that with the largest of them.
    """
    said = RAISING.fullmatch(sentence)
    assert said, sentence
    steepness = abs(np.array(gradient, float))
    named = list(_named(said["names"], labels))
    change = change_of_loss(spec, address, named[0])
    return (
        len(named) == 1
        and bool(np.isclose(steepness[named[0]], steepness.max(), rtol=1e-6))
        and (change < 0) == (said["way"] == "lower")
        and is_rounded(number(said["by"]), abs(change))
    )


def is_rounded(shown: float, exact: float) -> bool:
    """To two significant digits."""
    unit = 10.0 ** (math.floor(math.log10(exact)) - 1)
    return abs(shown - exact) <= unit * 0.5000001 + 1e-13


def _named(names: str, labels: Sequence[Sequence[str]]) -> Iterator[tuple[int, ...]]:
    """The entries that are called so: “row”, “column”."""
    told = [told_apart(axis) for axis in labels]
    for at in product(*(range(len(axis)) for axis in told)):
        called = [f"“{axis[i]}”" for axis, i in zip(told, at, strict=True)]
        if names == ", ".join(called):
            yield at


def _in_floats(data: Any) -> Any:
    """The numbers with decimals as floats, so that they can be added to."""
    match data:
        case dict():
            return {key: _in_floats(each) for key, each in data.items()}
        case list():
            return [_in_floats(each) for each in data]
        case str() | bool() | int() | None:
            return data
        case _:
            return float(data)
