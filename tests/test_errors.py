"""How problems are told: one line each, no longer and no more of them than a person reads."""

from __future__ import annotations

import pytest

from tests.helpers.command import run
from tests.helpers.small_scenario import SMALL, changed
from tracer.errors import MOST_CHARACTERS, MOST_PROBLEMS, Problem, format_problems


def test_a_problem_is_a_line() -> None:
    assert str(Problem("wrong", "f.yaml", 3, 7, "tokens")) == "f.yaml:3:7: tokens: wrong"
    assert str(Problem("wrong", "f.yaml")) == "f.yaml: wrong"
    assert str(Problem("a\nb\x1b[31m", "f")) == r"f: a\nb\x1b[31m"


def test_a_long_name_is_cut_in_its_middle() -> None:
    line = str(Problem(f"got {'x' * 10**6}, expected y", "f.yaml", address="z" * 10**6))
    assert len(line) < 2 * MOST_CHARACTERS + 30
    assert line.endswith("xx, expected y")
    assert line.startswith("f.yaml: zz")


def test_many_problems_are_counted() -> None:
    lines = list(format_problems([Problem(f"wrong {i}") for i in range(20_000)]))
    assert len(lines) == MOST_PROBLEMS + 1
    assert lines[-1] == "… and 19980 more"


@pytest.mark.parametrize(
    ("line", "column", "shown"),
    [
        ("ab: cd", 5, "  7 | ab: cd\n    |     ^"),
        ("日本: x", 5, "  7 | 日本: x\n    |       ^"),
        ("\tx: y", 2, "  7 |  x: y\n    |  ^"),
        ("a\x1b: y", 4, "  7 | a\\x1b: y\n    |       ^"),
    ],
)
def test_a_single_problem_points_at_its_place(line: str, column: int, shown: str) -> None:
    lines = list(format_problems([Problem("wrong", "f.yaml", 7, column, excerpt=line)]))
    assert "\n".join(lines[1:]) == shown


def test_of_a_long_line_a_part_is_shown() -> None:
    line = f"{'a' * 500}X{'b' * 500}"
    _, excerpt, caret = format_problems([Problem("wrong", "f.yaml", 7, 501, excerpt=line)])
    assert len(excerpt) < 90
    assert excerpt[caret.index("^")] == "X"


def test_the_first_of_several_problems_show_their_lines() -> None:
    problem = Problem("wrong", "f.yaml", 1, 1, excerpt="tokens: 3")
    shown = [str(problem), "  1 | tokens: 3", "    | ^"]
    assert list(format_problems([problem] * 2)) == shown * 2
    assert list(format_problems([problem] * 5)) == [*shown * 3, str(problem), str(problem)]


# --- on the command line -------------------------------------------------------------------------


def test_a_problem_that_is_found_while_computing_has_its_place() -> None:
    zero = changed(("[[1, 2]]", "[[0, 0]]\n      residual: false\n      norm: {}"))
    for command in ("run", "step residual -s", "tutorial", "why output[1,1] -s"):
        ran = run(*command.split(), "-", stdin=zero)
        assert ran.exit_code == 2
        first, excerpt, caret = ran.stderr.splitlines()
        assert first.startswith("<stdin>:12:5: layer1.ffn.norm: a division by zero")
        assert (excerpt, caret) == ("  12 |     ffn:", "     |     ^")


def test_a_pin_of_the_command_line_is_told_as_one() -> None:
    pin = "layer1.attention.head1.scale"
    for value, told_of in (("[1]", "a row of 1 number"), ("[[1]]", "1×1 numbers")):
        ran = run("run", "-", "--given", f"{pin}={value}", stdin=SMALL)
        message = f"--given {pin}: given as {told_of}, expected one number\n"
        assert (ran.exit_code, ran.stderr) == (2, message)
    in_file = run("run", "-", stdin=f"{SMALL}given: {{{pin}: [1]}}\n")
    assert in_file.stderr.startswith(f"<stdin>:15:9: {pin}: given as a row of 1 number, expected")
    for number in ("2", "0.5"):
        shown = run("step", "scores", "-s", "-", "--given", f"{pin}={number}", stdin=SMALL)
        assert f"/ {number} " in shown.stdout
