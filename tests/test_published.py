"""The figures that the documents print and that are right come out at their addresses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helpers.command import printed, run_json

FILE = Path(__file__).parent / "data" / "published.yaml"

HOW_MANY = {"alex": 207, "science": 185, "pizza": 43, "comics": 59}
"""The numbers that the file holds for each scenario."""

HOW_MANY_CHOSEN = {"layer1.attention.head1.weights": 4, "layer1.cross_attention.head1.weights": 5}
"""The rows of the translation's attention tables that were chosen, not computed."""

PARTS = ("value", "dot", "operand", "shape")

EXCEPTIONS = {
    # S¹ of Daniel is 6.096 only with √2 cut to 1.414, which the document's other scores do not do.
    ("alex-038", "6.096"),
    ("alex-045", "6.096"),
    ("alex-051", "6.096"),
    # e^6.469; the score is 6.468.
    ("alex-054", "645"),
    # The squares of deviations from a mean cut to 5.535; inside the step it is 5.5345.
    ("alex-106", "4.946"),
    ("alex-106", "5.452"),
    ("alex-106", "1.177"),
    ("alex-107", "4.946"),
    ("alex-107", "5.452"),
    ("alex-107", "1.177"),
}
"""Right figures that the program has otherwise, and why."""


@dataclass(frozen=True)
class Figure:
    """Some numbers of a document, with the place where the program has the same."""

    name: str
    address: str
    row: str | None
    column: int | None
    is_shape: bool
    printed: tuple[str | None, ...]

    def program(self, values: dict[str, Any]) -> list[Any]:
        """What the program has there."""
        value = values.get(self.address)
        if value is None:
            return []
        data = value["shape"] if self.is_shape else value["data"]
        if self.row is not None:
            data = data[value["axes"][0]["labels"].index(self.row)]
            if self.column is not None:
                data = data[self.column - 1]
        elif self.column is not None:
            data = [row[self.column - 1] for row in data]
        return data if isinstance(data, list) else [data]

    def missed(self, values: dict[str, Any]) -> list[str]:
        """The printed numbers that the program does not have, each in its place."""
        ours = self.program(values)
        if len(ours) != len(self.printed):
            return [number for number in self.printed if number is not None]
        return [
            theirs
            for theirs, number in zip(self.printed, ours, strict=True)
            if theirs is not None and not agrees(theirs, number)
        ]


def figures(section: str) -> list[Figure]:
    """A section of the file; its scalars stay the text that they are."""
    with FILE.open(encoding="utf-8") as file:
        entries = yaml.load(file, Loader=yaml.BaseLoader)[section]
    found = []
    for name, entry in entries.items():
        [part] = set(PARTS) & set(entry)
        assert set(entry) <= {"at", "row", "column", part}, name
        numbers = tuple(None if number == "_" else number for number in entry[part].split())
        column = int(entry["column"]) if "column" in entry else None
        row = entry.get("row")
        found.append(Figure(name, entry["at"], row, column, part == "shape", numbers))
    return found


def agrees(printed: str, number: float | str) -> bool:
    """Rounded to the digits printed; a tie may go either way, as in the documents."""
    if "inf" in printed or isinstance(number, str):
        return printed == number
    figure = Decimal(printed.removesuffix("%")) / (100 if "%" in printed else 1)
    exact = Decimal(repr(number))
    return any(
        exact.quantize(figure, rounding=way) == figure for way in (ROUND_HALF_UP, ROUND_HALF_DOWN)
    )


def values_of(name: str) -> dict[str, Any]:
    """The values of a forward pass by address, and with them those of the loss, if it is worked."""
    values = {value["address"]: value for value in run_json(name)["values"]}
    if name == "comics":
        for value in json.loads(printed("loss", name, "--format", "json"))["values"]:
            values.setdefault(value["address"], value)
    return values


@pytest.mark.parametrize("name", HOW_MANY)
def test_at_least_95_percent_of_the_right_figures_come_out(name: str) -> None:
    values = values_of(name)
    theirs = figures(name)
    missed = [(figure.name, number) for figure in theirs for number in figure.missed(values)]
    assert sorted(missed) == sorted(known for known in EXCEPTIONS if known[0].startswith(name))
    count = sum(number is not None for figure in theirs for number in figure.printed)
    assert count == HOW_MANY[name]
    assert len(missed) <= 0.05 * count


@pytest.mark.parametrize("address", HOW_MANY_CHOSEN)
def test_the_weights_chosen_for_the_translation_come_out(address: str) -> None:
    table = [figure for figure in figures("chosen") if figure.address == address]
    values = values_of("pizza")
    assert [figure.name for figure in table if figure.missed(values)] == []
    assert len(table) == HOW_MANY_CHOSEN[address]


@pytest.mark.parametrize(
    ("theirs", "ours", "expected"),
    [
        ("0.964", 0.9644, True),
        ("0.964", 0.9646, False),
        ("0.96", 0.965, True),
        ("0.97", 0.965, True),
        ("96.4%", 0.9644, True),
        ("96.4%", 0.9646, False),
        ("-inf", "-inf", True),
        ("-inf", -9e9, False),
        ("0", "-inf", False),
        ("21.3", 21.34, True),
        ("21.3", 21.36, False),
    ],
)
def test_a_figure_agrees_where_its_digits_do(
    theirs: str, ours: float | str, expected: bool
) -> None:
    assert agrees(theirs, ours) is expected
