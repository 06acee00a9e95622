"""The figures that the documents print and that are right come out at their addresses.

The documents are not part of the project; where they are not at hand these tests are skipped.
"""

from __future__ import annotations

import json
import re
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helpers.command import printed as output
from tests.helpers.command import run_json

PUBLISHED = Path(__file__).parents[2] / "shared" / "published"

FROM_A_WRONG_OPERAND = {"science": ("6.13", "2.79", "8.92")}
"""Right for the operands printed, but those are not: figures worked on from a wrong one."""

SIZES_OF_OTHERS = ("64", "512", "100,000")
"""The document speaks of a larger model than the small one that is run here."""

NO_VALUES = {
    # The numbers of the even columns, 0 and 2, which stand in the exponent.
    "comics-017",
    # The shape of a batch: the program takes one sequence at a time.
    "comics-062",
}

FRANK_EMMA_DANIEL = ("Frank", "Emma", "Daniel")

EXCEPTIONS = {
    # S¹ of Daniel is 6.096 only with √2 cut to 1.414, which the document's other scores do not do.
    ("alex", "6.096"),
    # e^6.469; the score is 6.468.
    ("alex", "645"),
    # The squares of deviations from a mean cut to 5.535; inside the step it is 5.5345.
    ("alex", "4.946"),
    ("alex", "5.452"),
    ("alex", "1.177"),
}

pytestmark = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the documents are not at hand")


def right_figures(name: str) -> list[tuple[dict[str, Any], int]]:
    """Each computed scalar that is exact, as its figure and its place in it."""
    document = yaml.safe_load((PUBLISHED / f"{name}.yaml").read_text(encoding="utf-8"))
    found = []
    for figure in document["figures"]:
        if figure["kind"] != "computed" or figure["part"] not in PARTS:
            continue
        if figure["address"].startswith("config") or figure["id"] in NO_VALUES:
            continue
        for i, verdict in enumerate(figure.get("verdicts", [])):
            printed = figure["printed"][i]
            if verdict != "exact" or printed in FROM_A_WRONG_OPERAND.get(name, ()):
                continue
            if figure["part"] == "shape" and printed in SIZES_OF_OTHERS:
                continue
            after_ffn = figure["address"].startswith("layer1.ffn")
            if name == "alex" and after_ffn and figure.get("row") in FRANK_EMMA_DANIEL:
                continue
            found.append((figure, i))
    return found


PARTS = ("value", "formula-operand", "dot", "shape")


def index(axis: dict[str, Any], label: str) -> int:
    """Where a published row or column is: by its label, or by the number in d_0 and h_1."""
    if label in axis["labels"]:
        return int(axis["labels"].index(label))
    letter, number = re.fullmatch(r"([dh])_([0-9]+)", label).groups()  # type: ignore[union-attr]
    return int(number) - (letter == "h")


def computed(values: dict[str, Any], figure: dict[str, Any], i: int) -> list[Any]:
    """What the program has at the figure's address: one number, or a whole column of them."""
    value = values[
        re.sub(r"ffn\.W([12])$", r"ffn.W_\1", figure["address"]).replace(
            "weights.output", "unembedding.W_U"
        )
    ]
    if figure["part"] == "shape":
        names = figure.get("axes")
        if names in (["columns"], ["d"]):
            return [value["shape"][-1]]
        return [value["shape"][i]]
    data, axes = value["data"], list(value["axes"])
    if "row" in figure:
        data = data[index(axes.pop(0), figure["row"])]
        if "column" in figure and len(figure["printed"]) == 1:
            data = data[index(axes.pop(0), figure["column"])]
        return [data[i] if isinstance(data, list) else data]
    if "column" in figure:
        column = index(axes[1], figure["column"])
        return [data[i][column]]
    match len(value["shape"]):
        case 0:
            return [data]
        case 1:
            return [data[i]]
        case _:
            return [entry for row in data for entry in row]


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
        for value in json.loads(output("loss", name, "--format", "json"))["values"]:
            values.setdefault(value["address"], value)
    return values


FEWEST = {"alex": 150, "science": 150, "pizza": 40, "comics": 55}


@pytest.mark.parametrize("name", FEWEST)
def test_at_least_95_percent_of_the_right_figures_come_out(name: str) -> None:
    values = values_of(name)
    figures = right_figures(name)
    missed = []
    for figure, i in figures:
        printed = figure["printed"][i]
        if figure["address"] == "layer1.ffn":  # the shapes d_model, d_ff, d_model in one figure
            continue
        if not any(agrees(printed, number) for number in computed(values, figure, i)):
            missed.append((figure["id"], figure["address"], printed))
    assert {(name, printed) for _, _, printed in missed} <= EXCEPTIONS, json.dumps(missed, indent=1)
    assert len(figures) > FEWEST[name]
    assert len(missed) <= 0.05 * len(figures)


TABLES = {"layer1.attention.head1.weights": 4, "layer1.cross_attention.head1.weights": 5}
"""The attention tables of the translation: how many of their rows were chosen, not computed."""


@pytest.mark.parametrize("address", TABLES)
def test_the_weights_chosen_for_the_translation_come_out(address: str) -> None:
    document = yaml.safe_load((PUBLISHED / "pizza.yaml").read_text(encoding="utf-8"))
    table = {
        figure["row"]: figure["printed"]
        for figure in document["figures"]
        if (figure["address"], figure["kind"], figure["part"]) == (address, "illustrative", "value")
    }
    assert len(table) == TABLES[address]
    values = values_of("pizza")
    tokens = values["tokens"]["data"]
    # In the second table a row is named after the word that comes out there, up to the end token.
    names = [*tokens[1:], "<END>"] if "cross" in address else tokens
    rows = dict(zip(names, values[address]["data"], strict=True))
    for name, printed in table.items():
        assert [agrees(*pair) for pair in zip(printed, rows[name], strict=True)] == [True] * len(
            printed
        ), name
