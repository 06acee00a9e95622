"""The report as a text and as JSON, and how the command ends."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.check.test_verdicts import NORMED, after_a_norm
from tests.helpers.command import printed, problems, run
from tests.helpers.figures import checked, figures_file
from tests.helpers.latex_truth import from_latex, from_markdown
from tests.helpers.small_scenario import SMALL
from tests.helpers.truth import false_equations
from tracer.check.checking import check_figures, figures_beside
from tracer.check.report_text import report_text
from tracer.lesson.document import Document
from tracer.renderers import Format, HeadingLevel, render
from tracer.scenario.loading import load

ROUNDED = f"{SMALL}rounding: {{decimals: 2, carry: step}}\n"
HIDDEN = {"address": "layer1.ffn.hidden", "row": "b", "column": 1}
FIGURES: list[dict[str, Any]] = [
    {"line": 3, "address": "input", "row": "b", "printed": ["3", "4"]},
    {"line": 7, "where": "the first line", "printed": "25", **HIDDEN},
    {"line": 8, "address": "layer1.ffn.output", "row": "b", "printed": ["25", "50"]},
    {"line": 9, "printed": "25", **HIDDEN},
    {"line": 10, "address": "output", "row": "a", "printed": ["99", "_"]},
    {"line": 12, "unknown": "a setting", "printed": "96"},
    {"line": 14, "unknown": "a setting", "printed": "96"},
]
NAMES = ("alex", "science", "comics", "gpt2-small")


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    """A scenario with wrong figures beside it."""
    path = tmp_path / "text.yaml"
    path.write_text(ROUNDED)
    figures_file(tmp_path, FIGURES)
    return str(path)


def test_what_to_mend_first_stands_first(scenario: str) -> None:
    ran = run("check", scenario)
    assert ran.exit_code == 1
    text = " ".join(ran.stdout.split())
    assert "2 of 9 figures agree; 2 are wrong, 3 follow from wrong ones, 2 cannot" in text
    first, second = text.index("Wrong in line 7: "), text.index("Wrong in line 10: ")
    assert text.index("The first wrong figure in the order of computation is") < first < second
    assert "line wrong follow figures 7 1 3 layer1.ffn.hidden[b,h₁] 10 1 – output[a,d" in text
    assert text.index("By step") > second
    assert "Where: “the first line”. printed right figure 25 22 layer1.ffn.hidden[b,h₁]" in text
    assert "Correct: b, h₁: 6.00×1 + 8.00×2 = 6.00 + 16.00 = 22.00" in text
    assert "3 figures follow from this: line figures" in text
    assert "8 layer1.ffn.output, row b: 25 50, right 22 44" in text
    assert "9 layer1.ffn.hidden[b,h₁]: 25, again" in text
    assert "12, 14 96 a setting" in text


def test_the_same_for_programs(scenario: str) -> None:
    ran = run("check", scenario, "--format", "json")
    assert ran.exit_code == 1
    found = json.loads(ran.stdout)
    assert (found["holds"], found["first"], found["scenario"]) == (False, 2, "text")
    assert found["verdicts"] == {
        **{"wrong": 2, "follows": 3, "variant": 0, "rounding": 0},
        **{"not recomputable": 2, "agrees": 2},
    }
    assert [finding["verdict"] for finding in found["findings"]] == [
        *("agrees", "agrees", "wrong", "follows", "follows", "follows", "wrong"),
        *("not recomputable", "not recomputable"),
    ]
    wrong, follows = found["findings"][2:4]
    assert wrong == {
        **{"verdict": "wrong", "line": 7, "where": "the first line", "part": "value"},
        **{"figure": "layer1.ffn.hidden[b,h₁]", "step": wrong["step"], "printed": "25"},
        **{"right": "22", "by": None, "pencil": None, "units": 3, "follows_from": []},
    }
    assert (follows["follows_from"], follows["right"]) == ([2], "22")
    steps = json.loads(printed("steps", scenario, "--format", "json"))["steps"]
    named = {step["number"]: step["name"] for step in steps}
    assert [named[step["number"]] for step in found["steps"]] == [
        step["name"] for step in found["steps"]
    ]
    assert sum(sum(step["verdicts"].values()) for step in found["steps"]) == 7


def test_what_holds_ends_with_0(scenario: str, tmp_path: Path) -> None:
    figures = figures_file(tmp_path, FIGURES[:1])
    ran = run("check", scenario, "--figures-file", str(figures))
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "2 of 2 figures agree." in ran.stdout


def test_what_follows_from_a_variant_is_said_so(tmp_path: Path) -> None:
    """400 · 0.707 is 282.8; the variant itself has 282.84, and the scenario 400."""
    scenario = after_a_norm("[[400, 0], [0, 400]]")
    follows = {"address": "layer1.ffn.hidden", "row": "A", "printed": ["282.80", "-282.80"]}
    text = render(report_text(checked(tmp_path, scenario, NORMED, follows)), Format.TERMINAL)
    first, second = " ".join(text.split()).split("These follow from numbers that match a variant.")
    assert "These match the scenario with one setting changed." in first
    assert "layer1.ffn.norm: 0.707" in first
    assert "layer1.ffn.hidden, row A: 282.80 -282.80" in second
    assert "only by rounding" not in text


@cache
def document(name: str) -> Document:
    return report_text(check_figures(load(name), figures_beside(name, Path())))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [40, 80, 160])
def test_every_equation_of_a_report_is_true(name: str, width: int) -> None:
    text = render(document(name), Format.TERMINAL, width=width)
    assert false_equations(text) == []
    assert max(map(len, text.splitlines())) <= width


def test_every_text_format_has_the_report() -> None:
    markdown = render(document("alex"), Format.MARKDOWN, heading=HeadingLevel.THREE)
    assert false_equations(from_markdown(markdown)) == []
    assert "### Wrong in line 242" in markdown
    latex = render(document("alex"), Format.LATEX)
    assert false_equations(from_latex(latex)) == []
    assert "Wrong in line 242" in latex


def test_nothing_is_written_over_what_is_read(scenario: str, tmp_path: Path) -> None:
    for name in ("text.yaml", "text.figures.yaml"):
        before = (tmp_path / name).read_bytes()
        ran = run("check", scenario, "-o", str(tmp_path / name))
        assert ran.exit_code == 2
        assert "the command reads it" in ran.stderr
        assert (tmp_path / name).read_bytes() == before
    ran = run("check", scenario, "-o", str(tmp_path / "report.txt"))
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert "Wrong in line 7" in (tmp_path / "report.txt").read_text(encoding="utf-8")


def test_a_mark_cannot_ask_for_a_check(tmp_path: Path) -> None:
    text = tmp_path / "text.md"
    text.write_text("<!-- decoder-trace: check alex -->\n<!-- /decoder-trace -->\n")
    assert problems(run("weave", str(text)))[0].endswith("no command 'check' to weave")


def test_hostile_words_do_not_act_on_the_terminal(scenario: str, tmp_path: Path) -> None:
    figures = [{**FIGURES[1], "where": "a\x1b[31mb"}, {"unknown": "\u202e x", "printed": "1"}]
    ran = run("check", scenario, "--figures-file", str(figures_file(tmp_path, figures)))
    assert ran.exit_code == 1
    assert "\x1b" not in ran.stdout and "\u202e" not in ran.stdout
