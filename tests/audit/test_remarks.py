"""Comments that switch findings off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.audit.conftest import found
from tests.helpers.command import run

pytestmark = pytest.mark.usefixtures("here")

FALSE = "2 + 2 = 5"
OPENED = {"md": "<!-- {} -->", "mdx": "{{/* {} */}}", "html": "<!--{}-->", "tex": "% {}"}
OPENED |= {"rst": ".. {}", "yaml": "# {}", "js": "// {}", "txt": "# {}"}


@pytest.mark.parametrize("ending", OPENED)
def test_a_line_or_a_part_of_a_file_is_switched_off(ending: str) -> None:
    false = "Sum: 2 + 2 = 5;"

    def remark(text: str) -> str:
        return OPENED[ending].format(f"audit: {text}")

    lines = [
        *((false, True), (f"{false} {remark('ignore')}", False), (false, True)),
        *((remark("ignore A02, A01"), False), (false, False), (false, True)),
        *((remark("ignore A02"), False), (false, True)),
        *((remark("off"), False), (false, False), (false, False)),
        *((remark("on"), False), (false, True), (remark("off"), False), (false, False)),
    ]
    Path(f"a.{ending}").write_text("\n".join(line for line, _ in lines))
    reported = [number for number, (_, is_reported) in enumerate(lines, 1) if is_reported]
    assert found(f"a.{ending}") == [f"a.{ending}:{number} A01" for number in reported]


@pytest.mark.parametrize(
    ("remark", "codes"),
    [
        ("<!-- audit: ignore A01 -->", ["A02"]),
        ("<!-- audit: ignore A02 because of a reason -->", ["A01"]),
        ("<!-- wrong on purpose, audit: ignore -->", []),
        ("<!-- audit: ignore A0 -->", []),
        ("<!-- audit: off -->", ["A01", "A02"]),
        ("Write `audit: ignore` there", ["A01", "A02"]),
        ("<!-- audit: ignored -->", ["A01", "A02"]),
    ],
)
def test_a_remark_beside_an_equation_is_for_its_line(remark: str, codes: list[str]) -> None:
    Path("a.md").write_text(f"2 + 2 = 5, 7 / 6 = 1.18 {remark}\n")
    assert [each.split()[1] for each in found("a.md")] == codes


@pytest.mark.parametrize("line", ["So `<!-- audit: off -->` is.", "audit: off", "- audit: off"])
def test_a_text_may_write_about_them(line: str) -> None:
    Path("a.md").write_text(f"{line}\n\n{FALSE}\n")
    assert found("a.md") == ["a.md:3 A01"]


def test_what_a_cell_switches_off_is_off_in_the_next_ones() -> None:
    off, on = f"<!-- audit: off -->\n{FALSE}", f"{FALSE}\n<!-- audit: on -->\n\n{FALSE}"
    sources = [FALSE, off, FALSE, on]
    cells = [{"cell_type": "markdown", "source": each} for each in sources]
    Path("a.ipynb").write_text(json.dumps({"cells": cells}))
    assert found("a.ipynb") == ["a.ipynb:cell 1:1 A01", "a.ipynb:cell 4:4 A01"]


def test_a_code_that_does_not_exist_is_told_and_silences_nothing() -> None:
    Path("a.md").write_text(f"x\n\n{FALSE} <!-- audit: ignore A1O -->\n")
    ran = run("audit", "a.md")
    assert (ran.exit_code, ran.stdout.count("A01 false")) == (1, 1)
    assert ran.stderr.startswith("a.md:3: unknown code 'A1O', expected A01 to A09, or a prefix")
