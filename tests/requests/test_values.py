"""What is typed behind an option: what is read of it, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from pathlib import Path

import pytest
import typer

from tests.helpers.command import problems, run
from tracer.requests.values import Reader, file_name, number, one_of, some, whole


class Size(StrEnum):
    SMALL = "small"
    MIDDLE = "middle"
    LARGE = "large"


def told(reader: Reader, typed: str) -> str:
    """What is said of a value that is refused."""
    with pytest.raises(typer.BadParameter) as caught:
        reader(typed)
    return caught.value.message


@pytest.mark.parametrize(("typed", "number"), [("0", 0), ("12", 12), ("+3", 3), ("-4", -4)])
def test_whole_numbers(typed: str, number: int) -> None:
    assert whole()(typed) == number


@pytest.mark.parametrize(
    "typed", ["1_0", "٣", "²", "1e3", "1.0", " 1", "1 ", "0x1", "", "--1", "one", "9" * 5000]
)
def test_what_is_no_whole_number(typed: str) -> None:
    assert told(whole(), typed).endswith(", expected a whole number of at most 18 digits")


def test_bounds_of_whole_numbers() -> None:
    assert [whole(0, 12)(typed) for typed in ("0", "12")] == [0, 12]
    assert told(whole(0, 12), "13") == "got '13', expected a whole number from 0 to 12"
    assert told(whole(0, 12), "-1") == "got '-1', expected a whole number from 0 to 12"
    assert told(whole(1), "0") == "got '0', expected a whole number, at least 1"


def test_numbers_keep_their_digits() -> None:
    read = number("a number above 0", lambda n: n > 0)
    assert [str(read(typed)) for typed in ("0.80", "1", ".5", "2.")] == ["0.80", "1", "0.5", "2"]
    assert read("+1.5") == Decimal("1.5")


@pytest.mark.parametrize(
    "typed", ["nan", "inf", "-inf", "1_0", "1e3", "٣", "0", "-1", "", ".", "x"]
)
def test_what_is_no_such_number(typed: str) -> None:
    assert told(number("a number above 0", lambda n: n > 0), typed).endswith(
        ", expected a number above 0"
    )


def test_one_of_a_few_words() -> None:
    assert one_of(Size)("large") is Size.LARGE
    assert told(one_of(Size), "x") == "got 'x', expected small, middle or large"
    assert len(told(one_of(Size), "x" * 5000)) < 1000, "the middle is left out"
    assert told(one_of(Size), "larg").endswith("; did you mean 'large'?")
    assert told(one_of(Size), "LARGE").endswith("; did you mean 'large'?")
    assert told(one_of(Size), "") == "empty, expected small, middle or large"


def test_a_file_to_be_written() -> None:
    assert file_name("-x.md") == Path("-x.md")
    assert told(file_name, "-") == "got '-', expected the name of a file"
    assert told(file_name, "") == "empty, expected the name of a file"
    for name in ("x.pdf", "x.PDF", "x.docx"):
        assert told(file_name, name).startswith(f"got '{name}', expected a file for text, Markdown")
    assert file_name("pdf") == Path("pdf")


def test_some_text() -> None:
    assert some("a name")(" ") == " "
    assert some("a number", int)("3") == 3
    assert told(some("a name"), "") == "empty, expected a name"


FORMATS = "terminal, markdown, latex, code, json, npz or safetensors"
REFUSED = [
    *(("--decimals", typed, "a whole number from 0 to 12") for typed in ("1_0", "13", "-1", "")),
    *(("--layer", typed, "a whole number, at least 1") for typed in ("٣", "0", "1.0")),
    *(("--carry", typed, "line, step or never") for typed in ("", "always")),
    *(("--format", typed, FORMATS) for typed in ("", "pdf")),
    ("--output", "", "the name of a file"),
    ("--output", "-", "the name of a file"),
    ("--figures", "", "the name of a folder"),
]
REFUSED_BY_GENERATE = [
    ("--seed", "1e3", "a whole number of at most 18 digits"),
    *(
        ("--temperature", typed, "a number from 0.001 to 1000")
        for typed in ("nan", "inf", "1_0", "0", "-1", "", "1000.1", "0.0009")
    ),
    *(("--top-p", typed, "a number above 0, at most 1") for typed in ("2", "0", "1.01", "nan")),
    ("--top-k", "0", "a whole number, at least 1"),
    ("--max-tokens", "0", "a whole number, at least 1"),
]


@pytest.mark.parametrize(
    ("command", "option", "typed", "expected"),
    [
        *(("run", *refused) for refused in REFUSED),
        *(("generate", *refused) for refused in REFUSED_BY_GENERATE),
    ],
)
def test_options(command: str, option: str, typed: str, expected: str) -> None:
    came = f"got {typed!r}" if typed else "empty"
    ran = run(command, "pizza", option, typed)
    assert (ran.exit_code, ran.stdout) == (2, "")
    [problem] = problems(ran)
    assert problem.startswith(f"Error: Invalid value for '{option}'")
    assert problem.endswith(f": {came}, expected {expected}")


@pytest.mark.parametrize("words", [["run", ""], ["step", "query", "-s", ""]])
def test_a_scenario_has_a_name(words: list[str]) -> None:
    ran = run(*words)
    name = "SCENARIO" if words[0] == "run" else "--scenario"
    assert (ran.exit_code, ran.stdout) == (2, "")
    [problem] = problems(ran)
    assert problem.startswith(f"Error: Invalid value for '{name}'")
    assert problem.endswith(": empty, expected a file, the name of a scenario, or -")


def test_a_first_token_needs_an_embedding() -> None:
    for token, hint in (("", ""), ("piza", "; did you mean 'pizza'?")):
        ran = run("generate", "pizza", "--start", token)
        assert (ran.exit_code, ran.stdout) == (2, "")
        assert ran.stderr == f"--start: no embedding for the token {token!r}{hint}\n"
