"""Figures files: every problem is told at its place, in our words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.command import problems, run
from tests.helpers.small_scenario import SMALL

HEAD = "layer1.attention.head1"


def told(folder: Path, figures: str) -> list[str]:
    """What is said of a figures file beside the small scenario, without the name of the file."""
    (folder / "small.yaml").write_text(SMALL)
    path = folder / "small.figures.yaml"
    path.write_text(figures, encoding="utf-8")
    ran = run("check", str(folder / "small.yaml"))
    assert (ran.exit_code, ran.stdout) == (2, "")
    return [line.removeprefix(f"{path}") for line in problems(ran)]


PART = "address: input, row: 1, column: 1, part"


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        ("printed: 1", "figure1: expected address, or unknown with a reason"),
        ("address: input, row: 1, printed: x", "figure1.printed: expected a number as printed"),
        ("address: input, printed: []", "figure1.printed: empty, expected at least one entry"),
        ("address: inputs, printed: 1", "inputs: no such value; did you mean 'input'"),
        ("adress: input, printed: 1", "figure1.adress: unknown key; did you mean 'address'?"),
        ("address: input", "figure1.printed: missing, expected printed: [0.964, 0.026, _, 0.6%]"),
        ("address: input, row: x, printed: [1, 2]", "input: no token 'x', expected 1 to 2"),
        ("address: input, row: a, printed: [1, 2, 3]", "input: 3 numbers, expected 2"),
        ("address: input, printed: [[1, 2]]", "1 row, expected 2"),
        ("address: input, printed: [[1, 2], [3]]", "a row of 1, expected 2"),
        ("address: tokens, printed: [1, 2]", "these are words; only numbers can be"),
        ("address: input, example: 1, printed: 1", "no training example 1, there are none"),
        ("address: input, part: mean, printed: 1", "figure1.part: expected value, products"),
        ("address: input, part: parameters, printed: 1", "input: no parameters under this"),
        ("address: input, part: products, row: 1, printed: 1", "needs a single number"),
        ("address: input, part: shape, printed: [[2], [2]]", "2 rows, expected one"),
        (f"{PART}: sum, printed: 1", "its line divides no sum"),
        (f"{PART}: products, printed: 1", "its line has no products"),
        (f"address: {HEAD}.d_k, row: 1, printed: 1", f"{HEAD}.d_k: expected no row or column"),
        (f"address: {HEAD}.d_k, printed: [1, 2]", f"{HEAD}.d_k: 2 numbers, expected 1"),
    ],
)
def test_what_is_wrong_is_told_at_its_place(figure: str, said: str, tmp_path: Path) -> None:
    [line] = told(tmp_path, f"figures:\n  - {{{figure}}}\n")
    place, message = line.split(": ", 1)
    assert place.startswith(":2:")
    assert message.startswith(said)


def test_all_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    lines = told(
        tmp_path,
        """\
figures:
  - {address: nothing, printed: 1}
  - {address: input, row: a, printed: [1, 2]}
  - line: 3
    address: input
    row: c
    printed: [1, 2]
""",
    )
    assert [line.split(": ")[0] for line in lines] == [":2:6", ":6:5"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", ": empty, expected figures"),
        ("figures: []", ":1:1: figures: empty, expected at least one entry"),
        (
            "tokens: [a]",
            ":1:1: figures: missing, expected figures: [{line: 77, address: output, pri",
        ),
        ("figures: [", ":1:11: not YAML: "),
    ],
)
def test_another_file_is_refused(content: str, said: str, tmp_path: Path) -> None:
    assert any(line.startswith(said) for line in told(tmp_path, content))


def test_no_file_is_told_with_what_would_name_one(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    ran = run("check", str(tmp_path / "small.yaml"))
    assert ran.exit_code == 2
    assert "small.figures.yaml: no such figures file" in ran.stderr
    ran = run("check", "-", stdin=SMALL)
    assert ran.stderr == "--figures-file: required: a scenario from <stdin> has no figures file\n"
