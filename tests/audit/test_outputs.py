"""What the program itself writes: nothing is found in it, and a changed digit is."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from tests.helpers.command import printed, run
from tests.helpers.random_scenarios import odd_tokens, scenarios, to_yaml
from tests.helpers.truth import false_equations
from tracer.audit.judging.findings import audit
from tracer.audit.reading.texts import Markup, Text

FORMATS = {
    "terminal": ((), Markup.PLAIN),
    "markdown": (("--format", "markdown"), Markup.MARKDOWN),
    "mathematics": (("--format", "markdown", "--math"), Markup.MARKDOWN),
    "latex": (("--format", "latex"), Markup.LATEX),
    "standalone": (("--format", "latex", "--standalone"), Markup.LATEX),
}
FEWEST = 40
"""Equations that are read at least, of one pass."""

SHARE = 0.95


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("scenario", ["alex", "science"])
def test_nothing_is_found_in_a_pass(scenario: str, form: str) -> None:
    options, markup = FORMATS[form]
    found = audit(Text(form, printed("run", scenario, *options), markup))
    assert found.findings == []
    assert found.read >= FEWEST


@pytest.mark.parametrize(
    "words",
    [
        ("tutorial", "pizza", "--format", "terminal"),
        ("tutorial", "comics", "--format", "markdown"),
        ("run", "alex", "--carry", "never"),
        ("run", "comics", "--carry", "line"),
        ("loss", "pizza"),
        ("generate", "pizza", "--temperature", "0.8", "--seed", "1"),
        ("shapes", "gpt2-small"),
        ("shapes", "gpt2-small", "--caches"),
        ("why", "output[Alex,spicy]"),
    ],
)
def test_nothing_is_found_in_other_texts(words: tuple[str, ...]) -> None:
    markup = Markup.MARKDOWN if "markdown" in words else Markup.PLAIN
    assert audit(Text("text", printed(*words), markup)).findings == []


def assert_nothing_is_found(data: st.DataObject) -> None:
    names = data.draw(st.sampled_from([None, odd_tokens()]))
    scenario = data.draw(scenarios() if names is None else scenarios(names=names))
    options, markup = FORMATS[data.draw(st.sampled_from(list(FORMATS)))]
    ran = run("run", "-", *options, stdin=to_yaml(scenario))
    # A sum in which a term is below 10^-99 has its last digit there, which audit takes literally.
    if ran.exit_code == 0 and not re.search(r"10(\^|\*\*)?\{?[-⁻][\d⁰¹²³⁴-⁹]{3}", ran.stdout):
        assert audit(Text("text", ran.stdout, markup)).findings == []


OPTIONS = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}


@settings(max_examples=5, phases=[Phase.generate], **OPTIONS)  # type: ignore[arg-type]
@given(st.data())
def test_nothing_is_found_in_random_scenarios(data: st.DataObject) -> None:
    assert_nothing_is_found(data)


DECIMAL = re.compile(r"(?<![\d.])-?\d+\.\d+")


def with_one_digit_changed(text: str, chance: random.Random) -> str:
    """A text in which one digit of a decimal number in an equation is another one."""
    lines = text.splitlines(keepends=True)
    worked = [i for i, line in enumerate(lines) if re.match(r"    .*[=≈] +-?\d", line)]
    at = chance.choice([i for i in worked if DECIMAL.search(lines[i])])
    number = chance.choice(list(DECIMAL.finditer(lines[at])))
    digits = [i for i in range(*number.span()) if lines[at][i].isdigit()]
    place = chance.choice(digits)
    other = chance.choice([digit for digit in "0123456789" if digit != lines[at][place]])
    lines[at] = lines[at][:place] + other + lines[at][place + 1 :]
    return "".join(lines)


def share_found(scenario: str, times: int, seed: int) -> float:
    """Of changes that make an equation false, as the tests' own judge has it, those found."""
    text = printed("run", scenario)
    chance = random.Random(seed)
    found: list[bool] = []
    while len(found) < times:
        changed = with_one_digit_changed(text, chance)
        if false_equations(changed):
            found.append(bool(audit(Text("text", changed, Markup.PLAIN)).findings))
    return sum(found) / times


def test_a_changed_digit_is_found() -> None:
    assert share_found("alex", 25, seed=1) >= SHARE


@pytest.mark.fuzz
@pytest.mark.parametrize("scenario", ["alex", "science", "pizza", "comics"])
def test_changed_digits_are_found(scenario: str) -> None:
    assert share_found(scenario, 300, seed=2) >= SHARE
