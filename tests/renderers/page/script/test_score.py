"""The score of an exercise: kept over a reload, handed in as a code, verified by a command."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from zlib import crc32

import pytest

from tests.helpers.browser import opened, violations
from tests.helpers.command import run
from tests.helpers.examples import fences
from tests.renderers.page.conftest import Saved

ANSWERS = {"Frank": "11.563", "Emma": "7.957"}
EXERCISE = "#token=Alex&level=2&try&steps=7,8"


class HandedIn(NamedTuple):
    """What a page shows, before it is loaded again and after."""

    before: list[str]
    after: list[str]
    code: str


def shown(page: Any) -> list[str]:
    lines = page.locator("#step-7 li:visible").all_inner_texts()
    return [page.locator("#score").inner_text(), *(" ".join(line.split()) for line in lines)]


@pytest.fixture(scope="module")
def handed_in(browser: Any, saved: Saved) -> Iterator[HandedIn]:
    """Two numbers are right, one is shown, two are open."""
    with opened(browser, saved("alex"), EXERCISE, everything=False) as page:
        page.locator("#step-7 .open button:text-is('Show answer')").first.click()
        for name, number in ANSWERS.items():
            field = page.locator(f"input[aria-label^='S¹[Alex, {name}]']")
            if name == "Emma":
                field.fill("7")
                field.press("Enter")
            field.fill(number)
            field.press("Enter")
        before = shown(page)
        page.reload()
        page.wait_for_selector("body.ready.trying")
        code = page.locator("#hand-in")
        assert violations(page, "#controls") == []
        yield HandedIn(before, shown(page), code.text_content())
        page.click("#trying summary:text-is('Hand in')")
        assert code.is_visible()
        page.click("#clear-score")
        assert page.locator("#score").inner_text() == "This step: 0 of 5. All steps: 0."
        assert "/0.0.0.0.6/" in code.inner_text()


def test_a_reload_keeps_the_score(handed_in: HandedIn) -> None:
    score, *lines = handed_in.before
    assert score == (
        "This step: 3 of 5 (1 first try, 1 later try, 1 shown). "
        "All steps: 3 (1 first try, 1 later try, 1 shown)."
    )
    assert handed_in.after == handed_in.before
    assert [line.rpartition(" ")[2] for line in lines[:3]] == ["shown", "correct", "correct"]


def test_a_command_verifies_the_code(handed_in: HandedIn) -> None:
    ran = run("check", "alex", "--score", handed_in.code)
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[2::2] == [
        "The code is complete and belongs to this scenario's page.",
        "Followed token: Alex. Asked in steps 7-8: 6.",
        "Answered: 1 first try, 1 later try, 0 with a hint, 1 shown.",
    ]
    found = json.loads(run("check", "alex", "--score", handed_in.code, "-f", "json").stdout)
    assert found["holds"] is True
    assert found["answers"] == {"first_try": 1, "later_try": 1, "with_a_hint": 0, "shown": 1}
    assert (found["asked"], found["token"], found["steps"]) == (6, 4, "7-8")


def test_the_code_of_the_docs_is_one() -> None:
    commands = "".join(fences("teaching.md", "sh"))
    (code,) = re.findall("^decoder-trace check alex --score (.*)$", commands, re.MULTILINE)
    assert run("check", "alex", "--score", code).exit_code == 0


def test_what_is_no_code_of_the_page_is_refused(handed_in: HandedIn) -> None:
    body, _, checksum = handed_in.code.rpartition("/")
    assert checksum == f"{crc32(body.encode()):08x}"
    better = body.replace("/1.1.0.1.6", "/3.0.0.0.6")
    impossible = body.replace("/1.1.0.1.6", "/9.0.0.0.6")
    assert body not in (better, impossible)

    def answer(code: str, *options: str, scenario: str = "alex") -> str:
        ran = run("check", scenario, "--score", code, *options)
        assert (ran.exit_code, ran.stderr) == (1, "")
        return " ".join(ran.stdout.split())

    assert "checksum is wrong" in answer(f"{better}/{checksum}")
    whole = f"{impossible}/{crc32(impossible.encode()):08x}"
    assert "more is answered than was asked" in answer(whole)
    for options in (("--decimals", "2"), ("--carry", "never")):
        assert "of another page" in answer(handed_in.code, *options)
    assert "of another page" in answer(handed_in.code, scenario="science")
    ran = run("check", "alex", "--score", body)
    assert ran.exit_code == 2
    assert ran.stderr == "--score: expected the code that a page shows under Hand in\n"


def test_a_step_is_asked_again_if_the_reader_wants(alex: Any) -> None:
    alex.evaluate("location.hash = '#step-7&try'")
    alex.wait_for_selector("body.trying")
    while alex.locator("#step-7 .open").count():
        alex.locator("#step-7 .open button:text-is('Show answer')").first.click()
    alex.select_option("#step", "step-8")
    alex.select_option("#step", "step-7")
    assert alex.locator("#step-7 .open").count() == 0
    assert alex.locator("#step-7 table:visible").count() == 1
    alex.click("#again")
    assert alex.locator("#step-7 .open").count() > 0
    assert alex.locator("#score").inner_text().startswith("This step: 0 of 5.")
