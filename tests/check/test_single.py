"""Single figures on the command line: the verdict, the cause, and the worked line of both ways."""

from __future__ import annotations

import json
import random
from math import isfinite
from pathlib import Path
from typing import Any

import pytest

from tests.check.test_verdicts import HEAD, ROUNDED, SAMPLE, THIRDS, after_a_norm
from tests.helpers.command import problems, run
from tests.helpers.truth import false_equations
from tracer.check.single import MEANINGS, check_single, single_text
from tracer.decoder.forward import trace as run_pass
from tracer.decoder.value import Entry
from tracer.lesson.entries import name as name_of
from tracer.renderers import Format, render
from tracer.scenario.carry import Carry
from tracer.scenario.loading import load

KEPT = THIRDS.replace("W_2: [[3, 5]]", "W_2: [[0.3333, 5]]")
"""0.3333 · 2.00 is 0.6666, printed 0.67, and 6 + 0.67 is 6.67."""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs `check --figure` for some figures of a scenario."""
    monkeypatch.chdir(tmp_path)

    def ask(scenario: str, *figures: str, json: bool = False) -> Any:
        Path("my.yaml").write_text(scenario, encoding="utf-8")
        words = [word for figure in figures for word in ("--figure", figure)]
        return run("check", "my.yaml", *words, *(["-f", "json"] if json else []))

    return ask


def test_a_right_figure_has_its_line(asked: Any) -> None:
    places = ("[b,h₁]=22", "[2,1]=22.00", "[b,1]=2.2e1")
    ran = asked(ROUNDED, *(f"layer1.ffn.hidden{place}" for place in places))
    assert ran.exit_code == 0
    assert ran.stdout.count("6.00×1 + 8.00×2 = 6.00 + 16.00 = 22.00") == len(places)


WEIGHT, ADDED = "layer1.ffn.W_1[d₀,h₁]", "layer1.ffn.output[b,d₀]"
CAUSES = [
    # 5 · 1.9998 is 9.999.
    (THIRDS, "output[b,2]=9.999", "rounding", "with carry: never", "1.9998×5 = 9.999"),
    # 3 · 1.9998 is 5.9994.
    (
        *(THIRDS.replace("step", "never"), "output[b,1]=5.99", "rounding"),
        *("truncated instead of rounded", None),
    ),
    (THIRDS, "hidden[b,1]=1.8", "wrong", f"with {WEIGHT} rounded to 1 decimal", "6.00×0.3"),
    (THIRDS, "hidden[b,1]=1.98", "wrong", f"with {WEIGHT} rounded to 2 decimals", "6.00×0.33"),
    (KEPT, "residual[b,1]=6.6666", "wrong", f"with {ADDED} kept with 4 decimals", "0.6666"),
    (after_a_norm("identity"), "norm[A,1]=0.7071", "variant", SAMPLE, "0.5000 / 0.7071 ≈ 0.7071"),
]


@pytest.mark.parametrize(("scenario", "figure", "verdict", "by", "line"), CAUSES)
def test_the_cause_is_named_with_both_lines(
    scenario: str, figure: str, verdict: str, by: str, line: str | None, asked: Any
) -> None:
    """What a figures file would hold wrong stays wrong; the changed input says why."""
    number = figure.partition("=")[2]
    [found] = json.loads(asked(scenario, f"layer1.ffn.{figure}", json=True).stdout)["findings"]
    assert (found["verdict"], found["by"]) == (verdict, by)
    ran = asked(scenario, f"layer1.ffn.{figure}")
    text = " ".join(ran.stdout.split())
    assert ran.exit_code == (1 if verdict == "wrong" else 0)
    assert f"{number} is the result {by}.{MEANINGS.get(by, '')} Correct: " in text
    assert found["worked"] in text
    if line is None:
        assert found["worked_as_printed"] is None
    else:
        assert line in found["worked_as_printed"]
        assert found["worked_as_printed"] in text
    assert false_equations(ran.stdout) == []


def test_a_line_shows_nothing_that_it_computes_otherwise(asked: Any) -> None:
    """3.74 / 1.41 is 2.65; with 3.7 it is 2.62, but the line shows the factors of 3.74."""
    scenario = (
        "tokens: A\nembeddings: {A: [1.5, 1.2247]}\nmask: none\n"
        "layers: [{attention: {heads: [{W_Q: identity, W_K: identity, W_V: identity}]}}]\n"
        "rounding: {decimals: 2, carry: line}\n"
    )
    [found] = json.loads(asked(scenario, f"{HEAD}.scores[A,A]=2.62", json=True).stdout)["findings"]
    assert found["by"] == f"with {HEAD}.dot[A,A] rounded to 1 decimal"
    assert found["worked_as_printed"] is None


def test_what_nothing_explains_is_wrong(asked: Any) -> None:
    ran = asked(ROUNDED, "layer1.ffn.hidden[b,1]=25", "input[b,1]=7", "output[a,1]=12")
    assert ran.exit_code == 1
    text = " ".join(ran.stdout.split())
    assert "Wrong: FFN: hidden layer" in text
    assert "“layer1.ffn.hidden[b,h₁]” is 22, not 25. No other rounding and no variant" in text
    assert "“input[b,d₀]” is 3, not 7. Right:" in text, "a typed number has no reason"


def test_a_wrong_figure_of_few_digits_hides_nothing_of_the_right_number() -> None:
    """-0.273 is 0 without decimals; a text that prints 2 is told more than that."""
    wrong = {
        "output[Alex,spicy]=2": "is -0.273, not 2.",
        "layer1.attention.head1.weights[Alex,Frank]=96.4": "is 0.964, not 96.4. 96.4 % is right",
        "layer1.attention.head1.scores[Alex,Emma]=96.4": "not 96.4. No other rounding",
    }
    ran = run("check", "alex", *(word for each in wrong for word in ("--figure", each)))
    assert ran.exit_code == 1
    for said in wrong.values():
        assert said in " ".join(ran.stdout.split())


def test_every_mode_of_rounding_is_explained() -> None:
    assert set(MEANINGS) == {f"with carry: {mode}" for mode in Carry}


def test_each_is_judged_alone(asked: Any) -> None:
    """44 is twice 22; that 50 is twice 25 is no excuse."""
    ran = asked(ROUNDED, "layer1.ffn.hidden[b,1]=25", "layer1.ffn.output[b,2]=50", json=True)
    assert [each["verdict"] for each in json.loads(ran.stdout)["findings"]] == ["wrong", "wrong"]


def test_all_mistakes_are_told_at_once(asked: Any) -> None:
    wrong = {
        "layer1.ffn.hiden[b,1]=3": "no such value; did you mean 'layer1.ffn.hidden'",
        "layer1.ffn.hidden[b,1]=3,x": "got 'layer1.ffn.hidden[b,1]=3,x', expected ADDRESS=NUMBER",
        "layer1.ffn.hidden[b,1]=3,5": "got '3,5', expected a decimal point instead of the comma",
        "layer1.ffn.hidden[b,1]": "expected ADDRESS=NUMBER",
        "=3": "expected ADDRESS=NUMBER",
        "layer1.ffn.hidden=3": "got no row or column, expected [token,hidden], such as [a,h₁]",
        "layer1.ffn.hidden[z,1]=3": "no token 'z'",
        "tokens[1]=3": "these are words",
    }
    ran = asked(ROUNDED, *wrong)
    assert ran.exit_code == 2
    lines = problems(ran)
    assert len(lines) == len(wrong)
    for line, expected in zip(lines, wrong.values(), strict=True):
        assert expected in line


def test_it_works_with_a_scenario_only() -> None:
    for others in (["--against", "x.npz"], ["--figures-file", "x.yaml"], ["x.npz"]):
        ran = run("check", "alex", "--figure", "input[1,1]=1", *others)
        assert (ran.exit_code, ran.stdout) == (2, "")
        assert "works only with" in ran.stderr


def test_shapes_without_numbers_cannot_be_checked() -> None:
    ran = run("check", "transformer-base", "--figure", "output[1,1]=1")
    assert ran.exit_code == 0
    assert "cannot be checked: the scenario has shapes but no numbers." in ran.stdout


@pytest.mark.parametrize("name", ["alex", "science", "comics", "experts"])
def test_every_line_of_a_changed_number_is_true(name: str) -> None:
    """Numbers of the pass, each with its last digit changed, or with one more or less."""
    chance, trace = random.Random(name), run_pass(name, load(name).scenario)
    values = [value for value in trace.values.values() if not value.role.words and value.shape]
    figures = []
    for value in chance.sample(values, 12):
        at = tuple(map(chance.randrange, value.shape))
        number, places = value.computed[at], chance.randrange(5)
        if isfinite(number):
            changed = float(number) + chance.choice((0, 1, -2)) * 10**-places
            figures.append(f"{name_of(Entry(value, at))}={changed:.{places}f}")
    report, found = check_single(load(name), figures)
    text = render(single_text(report, found), Format.TERMINAL, width=160)
    assert text.count(" is ") >= len(figures) > 5
    assert false_equations(text) == []
