"""Three lengths of a text: how long they are, and that the shorter ones are parts of the full one.

The sentences, lines and rows of the full text are judged elsewhere (`test_every_claim`).
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings

from tests.helpers.command import printed, run
from tests.helpers.continuity import misplaced, violations
from tests.helpers.every_judge import ONE_LINE, not_refused
from tests.helpers.lengths import not_in_full
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.sentences import unbroken
from tests.helpers.whole_scenarios import plain_and_written

MOST_LINES = {
    **{("alex", "short"): 150, ("pizza", "short"): 200, ("alex", "normal"): 900},
    ("pizza", "normal"): 1400,
}


@pytest.mark.parametrize(("name", "detail"), MOST_LINES)
def test_a_text_is_as_long_as_its_detail_allows(name: str, detail: str) -> None:
    text = printed("tutorial", name, "--detail", detail)
    assert len(text.splitlines()) <= MOST_LINES[name, detail]


@pytest.mark.parametrize("name", ["alex", "science", "pizza", "comics", "picture", "experts"])
@pytest.mark.parametrize("detail", ["short", "normal"])
def test_a_shorter_text_is_a_part_of_the_full_one(name: str, detail: str) -> None:
    assert wrong(detail, name) == []


@settings(max_examples=15, deadline=None)
@given(plain_and_written())
def test_shorter_texts_of_random_scenarios(drawn: tuple[Scenario, Scenario]) -> None:
    stdin = to_yaml(drawn[1])
    if run("run", "-", stdin=stdin).exit_code:
        return
    for detail in ("short", "normal"):
        assert wrong(detail, "-", stdin) == []
        assert misplaced_references(detail, stdin) == []
        rounding = drawn[1].get("rounding", {})
        if rounding.get("carry") != "never" and "dimensions" not in drawn[1]:
            assert violations(run("run", "-", "--detail", detail, stdin=stdin).stdout) == []


IN_BLOCKS = """
title: A block repeats another
tokens: [a, b, c]
mask: none
layers:
  - attention:
      blocks: 3
      heads: [{Q: [[1], [2], [1]], K: [[0], [1], [2]], V: [[1, 0], [0, 1], [3, 1]]}]
rounding: {decimals: 3}
"""


def test_a_repeated_step_shows_what_later_steps_read() -> None:
    """The last step of blocks divides by the sum of the last block, which repeats the second."""
    text = text_of("normal", "-", IN_BLOCKS)
    assert "O₃ is computed as in step " in text
    assert (violations(text), misplaced(text)) == ([], [])


def test_a_short_text_refers_to_no_step() -> None:
    assert not re.search(r"\bstep \d", text_of("short", "-", IN_BLOCKS))


def wrong(detail: str, name: str, stdin: str = "") -> list[str]:
    """The sentences and lines of a shorter text that the full one does not have."""
    shorter, full = (text_of(length, name, stdin) for length in (detail, "full"))
    return not_in_full(shorter, full, detail)


def text_of(detail: str, name: str, stdin: str) -> str:
    asked = ("tutorial", name, "--detail", detail, "--format", "terminal")
    ran = run(*asked, width=ONE_LINE, stdin=stdin)
    assert not not_refused(ran)
    return unbroken(ran.stdout)


def misplaced_references(detail: str, stdin: str) -> list[str]:
    """The sections of repeated steps that refer to other steps than those of the same names."""
    table = run("steps", "-", stdin=stdin).stdout
    names = {int(n): name for n, name in re.findall(r"^ *(\d+) +(\S+)", table, re.MULTILINE)}
    text = unbroken(run("run", "-", "--detail", detail, width=5000, stdin=stdin).stdout)
    form = r"^(\d+)(?:–(\d+))? · [^\n]*\n─+\n+The same as ([^\n]*), with other"
    found = []
    for first, last, said in re.findall(form, text, re.MULTILINE):
        own = {names[n] for n in range(int(first), int(last or first) + 1)}
        meant: set[str] = set()
        for start, end in re.findall(r"step (\d+)(?: to step (\d+))?", said):
            meant |= {names[n] for n in range(int(start), int(end or start) + 1)}
            assert int(end or start) < int(first)
        found += [f"{first}: {said}"] if own != meant else []
    return found
