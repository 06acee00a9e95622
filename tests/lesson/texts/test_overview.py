"""The overview, the recap and the table of all steps, held against the list of steps."""

from __future__ import annotations

import json
import re

from hypothesis import given

from tests.helpers.command import printed, run
from tests.helpers.random_scenarios import Scenario, scenarios, to_yaml
from tests.lesson.texts.test_at_a_glance import SEVERAL, WIDE, block

OVERVIEW = "From input to output:"
FULL = ("tutorial", "--detail", "full")
STEPS = "All steps in one table. Steps of one kind share a row, with the first one's formula."


def cells(text: str, title: str) -> list[list[str]]:
    _, *rows = block(text, title)
    return [re.split(" {2,}", row) for row in rows]


@SEVERAL
@given(scenarios(max_tokens=3))
def test_each_step_is_in_one_row(spec: Scenario) -> None:
    yaml = to_yaml(spec)
    ran = run(*FULL, "-", "--format", "terminal", width=WIDE, stdin=yaml)
    if ran.exit_code:
        return
    listed = printed("steps", "-", width=WIDE, stdin=yaml)
    listed_steps = re.findall(r"^  (\d+) +(\S+) +(\S+) +(\S+)$", listed, re.MULTILINE)
    steps = [(number, name, address) for number, name, _, address in listed_steps]
    names = {int(number): name for number, name, _ in steps}
    found: list[int] = []
    for numbers, *_ in cells(ran.stdout, STEPS):
        several = [int(number) for number in numbers.replace("…, ", "").split(", ")]
        assert len({names[number] for number in several}) == 1
        found += several if "…" not in numbers else every(several, steps)
    assert sorted(found) == sorted(names)
    spans = [numbers.split("–") for numbers, *_ in cells(ran.stdout, OVERVIEW)]
    in_order = [
        n for first, *last in spans for n in range(int(first), int((last or [first])[0]) + 1)
    ]
    assert in_order == sorted(names)
    forms: dict[int, list[tuple[str, str]]] = {}
    for _, name, shape, address in listed_steps:
        if layer := re.match(r"layer(\d+)\.", address):
            forms.setdefault(int(layer[1]), []).append((name, shape))
    for *_, what in cells(ran.stdout, OVERVIEW):
        if again := re.match(r"Layers? (\d+)(?: to (\d+))?: the same operations, ", what):
            first, last = int(again[1]), int(again[2] or again[1])
            assert all(forms[n] == forms[first - 1] for n in range(first, last + 1))


@SEVERAL
@given(scenarios(max_tokens=3))
def test_the_recap_has_the_numbers_of_its_steps(spec: Scenario) -> None:
    yaml = to_yaml(spec)
    ran = run("tutorial", "-", "--format", "terminal", width=WIDE, stdin=yaml)
    title = re.search("\nThe way of .* in numbers:\n", ran.stdout)
    if title is None:
        return
    listed = printed("steps", "-", width=WIDE, stdin=yaml)
    addresses = dict(re.findall(r"^  (\d+) +.* (\S+)$", listed, re.MULTILINE))
    document = json.loads(printed("run", "-", "--format", "json", stdin=yaml))
    values = {value["address"]: value for value in document["values"]}
    for number, _, symbol, row in cells(ran.stdout, title[0].strip("\n")):
        value = values[addresses[number]]
        shown = row.strip("[]").split(" ") if row.startswith("[") else row
        last = value["printed"][-1] if "printed" in value else value["data"][-1]
        assert (symbol, shown) == (value["symbol"], last)


def every(shown: list[int], steps: list[tuple[str, str, str]]) -> list[int]:
    """All numbers of the steps of one kind in one kind of sub-layer."""
    kinds = {
        int(n): (
            name,
            re.sub(r"\d+|expert\d+\.|shared\.|head\d+\.(?=(?:query|key)_norm)", "", address),
        )
        for n, name, address in steps
    }
    of = kinds[shown[0]]
    numbers = [n for n, kind in kinds.items() if kind == of]
    assert numbers[:2] == shown[:2] and numbers[-1] == shown[-1] and len(numbers) > 4
    return numbers


def test_what_is_given_has_no_formula() -> None:
    made = printed(
        *(*FULL, "alex", "--format", "terminal", "--given"),
        "layer1.ffn.hidden=" + json.dumps([[1, 2, 3]] * 4),
        width=WIDE,
    )
    (hidden,) = [row for row in cells(made, STEPS) if row[1] == "h"]
    assert hidden[2] == "–"
