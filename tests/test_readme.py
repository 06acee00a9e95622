"""What the README shows is what the program prints, and its scenario runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.command import printed
from tests.truth import false_equations

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
FENCES = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def test_its_output_is_the_programs() -> None:
    shown = next(text for language, text in FENCES if text.startswith("$ decoder-trace"))
    command, _, output = shown.partition("\n")
    arguments = shlex.split(command.removeprefix("$ decoder-trace"))
    assert output.strip() == printed(*arguments).strip()


def test_its_scenario_runs() -> None:
    scenario = next(text for language, text in FENCES if language == "yaml")
    text = printed("run", "-", stdin=scenario)
    assert text.startswith("Two words")
    assert false_equations(text) == []


def test_its_map_names_every_file() -> None:
    package = Path(__file__).parent.parent / "tracer"
    files = {path.name for path in package.rglob("*.py")} - {"__init__.py"}
    assert {name for name in files if name not in README} == set()
