"""Three lengths of a text: how long they are, and that the shorter ones are parts of the full one.

The sentences, lines and rows of the full text are judged elsewhere (`test_every_claim`).
"""

from __future__ import annotations

import json
import re
from decimal import Decimal

import pytest
from hypothesis import given, settings

from tests.helpers.command import printed, run
from tests.helpers.continuity import violations
from tests.helpers.every_judge import REFUSED
from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.sentences import unbroken
from tests.helpers.whole_scenarios import plain_and_written

MOST_LINES = {
    **{("alex", "short"): 150, ("pizza", "short"): 200, ("alex", "normal"): 900},
    ("pizza", "normal"): 1400,
}
OF_ANOTHER_STEP = (
    r"The same as .*step \d+.*, with other numbers\.",
    r"Steps \d+ to \d+ are computed like earlier ones, with other numbers\.",
    r".* is computed as in step \d+(, from .*)?\.",
    r"(This is a part of the calculation\. )?A step of a new kind is worked; a step that repeats "
    r"another shows its result\.",
    r"As in step \d+\.",
    r"From the backward pass, without worked lines:",
    r"A unit at 0 adds nothing\.( \S+ is added at the end\.)?",
)
WITHOUT_INDEX = re.compile(r"[ᴱ¹²³⁴⁵]|\\(?=[\[\]])|(?<=its number in )\S+")
OF_SHORT = (
    "The head reads a query, and a key and a value of each token:",
    # A short text asks, and shows numbers of the first steps where these are read.
    r"(Which word comes next|What does).*",
    r"Only the gradient of one parameter is worked, for one token\.",
)


@pytest.mark.parametrize(("name", "detail"), MOST_LINES)
def test_a_text_is_as_long_as_its_detail_allows(name: str, detail: str) -> None:
    text = printed("tutorial", name, "--detail", detail)
    assert len(text.splitlines()) <= MOST_LINES[name, detail]


@pytest.mark.parametrize("name", ["alex", "science", "pizza", "comics", "picture", "experts"])
@pytest.mark.parametrize("detail", ["short", "normal"])
def test_a_shorter_text_is_a_part_of_the_full_one(name: str, detail: str) -> None:
    assert not_in_full(detail, name) == []


@settings(max_examples=15, deadline=None)
@given(plain_and_written())
def test_shorter_texts_of_random_scenarios(drawn: tuple[Scenario, Scenario]) -> None:
    stdin = to_yaml(drawn[1])
    if run("run", "-", stdin=stdin).exit_code:
        return
    for detail in ("short", "normal"):
        assert not_in_full(detail, "-", stdin) == []
        assert misplaced_references(detail, stdin) == []
        rounding = drawn[1].get("rounding", {})
        if rounding.get("carry") != "never" and "dimensions" not in drawn[1]:
            assert violations(run("run", "-", "--detail", detail, stdin=stdin).stdout) == []


def test_the_rest_of_the_layer_shows_the_results_of_its_steps() -> None:
    """The last row of the table is the output, and each residual connection adds two others."""
    text = printed("tutorial", "alex", "--detail", "short", "-f", "markdown")
    _, rest = text.split("## The rest of the layer")
    rows = [row[1:-1].split(" | ") for row in re.findall(r"^\|.*\|$", rest, re.MULTILINE)]
    numbers = {row[0].strip(): [Decimal(each) for each in row[1:]] for row in rows[2:]}
    found = json.loads(printed("run", "alex", "-f", "json"))["values"]
    output = next(value["printed"] for value in found if value["address"] == "output")
    x, attention, first, norm, ffn, second, last = numbers.values()
    assert last == [*map(Decimal, output[3])]
    for total, *terms in ((first, x, attention), (second, norm, ffn)):
        sums = map(sum, zip(*terms, strict=True))
        assert all(abs(a - b) <= Decimal("0.001") for a, b in zip(total, sums, strict=True))


LEARN = ("alex-learns", "pizza", "comics", "experts", "picture")


@pytest.mark.parametrize("name", LEARN)
@pytest.mark.parametrize("detail", ["short", "normal"])
def test_a_shorter_backward_pass_is_a_part_of_the_full_one(name: str, detail: str) -> None:
    assert not_in_full(detail, name, command="train") == []
    assert violations(printed("train", name, "--detail", detail)) == []


@settings(max_examples=8, deadline=None)
@given(learning_scenarios("step", any_loss=True))
def test_shorter_backward_passes_of_random_scenarios(spec: Scenario) -> None:
    stdin = to_yaml(spec)
    for detail in ("short", "normal"):
        assert not_in_full(detail, "-", stdin, "train") == []
        full, shorter = (
            violations(run("train", "-", "--detail", length, stdin=stdin).stdout)
            for length in ("full", detail)
        )
        # The 0 of a target that is not the correct word may be the first 0 of a text.
        assert {each.text for each in shorter} <= {each.text for each in full}


def not_in_full(detail: str, name: str, stdin: str = "", command: str = "tutorial") -> list[str]:
    """The sentences and lines of a shorter text that the full one does not have.

    A reason may stand at another step than in the full text, with the symbols of that one; without
    a number, with its token.
    """
    full, shorter = (pieces(length, name, stdin, command) for length in ("full", detail))
    known = re.compile("|".join(OF_ANOTHER_STEP + (OF_SHORT if detail == "short" else ())))
    there = set(full) | set(map(elsewhere, full))
    return [
        each
        for each in shorter
        if each not in there and elsewhere(each) not in there
        if not known.fullmatch(each)
    ]


def elsewhere(sentence: str) -> str:
    """A sentence as another step may have it."""
    unnamed = re.sub("`.+?`", "`…`", sentence)
    return WITHOUT_INDEX.sub("", sentence if re.search(r"\d", unnamed) else unnamed)


def pieces(detail: str, name: str, stdin: str, command: str) -> list[str]:
    """Sentences and worked lines, without titles and links."""
    ran = run(command, name, "--detail", detail, "--format", "markdown", stdin=stdin)
    if ran.exit_code:
        assert re.search(REFUSED, ran.stderr), ran.stderr
        return []
    # A shorter text of several layers has a smaller diagram.
    text = re.sub(
        r"(Read the diagram [^\n]*\n\n)```text\n.*?```\n", r"\1", ran.stdout, flags=re.DOTALL
    )
    without_links = re.sub(r"\[(step \d+)\]\(#[^)]*\)", r"\1", text)
    lines = without_links.replace("**", "").splitlines()
    shown = [line for line in lines if line and not re.match(r"#|<|```|- \[|\|", line)]
    return [piece for line in shown for piece in re.split(r"(?<=[.:]) (?=[A-Z])", line)]


def misplaced_references(detail: str, stdin: str) -> list[str]:
    """The sections of repeated steps that refer to other steps than those of the same names."""
    table = run("steps", "-", stdin=stdin).stdout
    names = {int(n): name for n, name in re.findall(r"^ *(\d+) +(\S+)", table, re.MULTILINE)}
    text = unbroken(run("run", "-", "--detail", detail, width=5000, stdin=stdin).stdout)
    form = (
        r"^(\d+)(?:–(\d+))? · [^\n]*\n─+\n+"
        r"(?:The same as |[^\n]* is computed as in )([^\n.]*?)(?:, with other numbers)?\.$"
    )
    found = []
    for first, last, said in re.findall(form, text, re.MULTILINE):
        own = {names[n] for n in range(int(first), int(last or first) + 1)}
        meant: set[str] = set()
        for start, end in re.findall(r"step (\d+)(?: to step (\d+))?", said):
            meant |= {names[n] for n in range(int(start), int(end or start) + 1)}
            assert int(end or start) < int(first)
        found += [f"{first}: {said}"] if own != meant else []
    return found
