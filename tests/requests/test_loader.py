"""The screens of help, their examples, and what is told of wrong usage."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from tests.helpers.command import SERVED, printed, run
from tests.helpers.small_scenario import SMALL
from tracer import commands
from tracer.cli import app
from tracer.requests import loader

LISTED: Any = typer.main.get_command(app)
COMMANDS = {name: loader.parser(name) for name in LISTED.commands}
TEXT = "# Mine\n\n<!-- decoder-trace: step softmax -->\n<!-- /decoder-trace -->\n"
every_command = pytest.mark.parametrize("command", COMMANDS)


def options_of(command: str) -> dict[str, str]:
    """The options that a screen lists, with their help in one line."""
    text = printed(command, "--help").partition("Options:\n")[2].partition("\n\n")[0]
    rows = re.split(r"^  (?=-)", text, flags=re.MULTILINE)[1:]
    split = [re.split(r" {2,}", " ".join(row.splitlines()), maxsplit=1) for row in rows]
    return {name: " ".join(told.split()) for name, told in split}


# --- screens -------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_a_screen_fits_and_nothing_is_cut(command: str, width: int) -> None:
    shown = printed(*command.split(), "--help", width=width)
    # An example is copied as a whole: it goes beyond a screen that is narrower than 80.
    wrapped = shown if width == 80 else shown.partition("Examples:")[0]
    assert [line for line in wrapped.splitlines() if len(line) > width] == []
    assert "…" not in shown
    assert "..." not in shown.replace("]...", "").replace("FILE...", "")
    assert shown == printed(*command.split(), "-h", width=width)


@every_command
def test_each_option_is_there_with_what_it_takes(command: str) -> None:
    options = [p for p in COMMANDS[command].params if p.param_type_name == "option"]
    expected = [
        " / ".join([", ".join(sorted(option.opts, key=len)), *option.secondary_opts])
        + f" {option.metavar or ''}".rstrip()
        for option in options
    ]
    assert list(options_of(command)) == [*expected, "-h, --help"]
    assert all(option.metavar or option.is_flag for option in options)


def test_defaults_are_told() -> None:
    assert options_of("run")["-f, --format FORMAT"].endswith("[default: terminal]")
    assert options_of("tutorial")["-f, --format FORMAT"].endswith("[default: markdown]")
    assert options_of("step")["-s, --scenario SCENARIO"].endswith("[default: alex]")


def test_what_is_asked_comes_before_how_it_is_shown() -> None:
    names = [re.findall("--([a-z-]+)", name)[0] for name in options_of("run")]
    assert names == [
        *("token", "layer", "head", "sequence", "no-mask", "terms", "code", "given"),
        *("values", "vary", "detail", "decimals", "carry"),
        *("format", "brief", "math", "heading", "no-numbers", "standalone", "figures"),
        *("output", "force"),
        *("no-pager", "help"),
    ]


def test_the_first_screen_lists_each_command_in_a_line() -> None:
    shown = printed("--help")
    groups = dict(re.findall(r"^([A-Z].*):\n((?:  .*\n)+)", shown, re.MULTILINE))
    groups.pop("Options")
    listed = [line.split(maxsplit=1) for rows in groups.values() for line in rows.splitlines()]
    assert [name for name, _ in listed] == list(COMMANDS)
    assert all(told[0].isupper() and told.endswith(".") for _, told in listed)
    assert len(groups) == 4


def test_without_a_word_the_first_screen_is_shown() -> None:
    ran = run()
    assert (ran.exit_code, ran.stdout, ran.stderr) == (2, "", printed("--help"))


# --- examples ------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [each for each in COMMANDS if each not in SERVED])
def test_examples_work_as_they_are_printed(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.yaml").write_text(SMALL)
    Path("text.md").write_text(TEXT)
    np.savez("dump.npz", input=[[1, 2], [3, 4]])
    examples = printed(command, "--help").partition("Examples:\n")[2].splitlines()
    assert len(examples) == 2
    for example in map(str.strip, examples):
        program, *words = shlex.split(example)
        assert program == "decoder-trace"
        ran = run(*words)
        assert (ran.exit_code, ran.stderr) == (0, "")
        assert ran.stdout or {"weave", "-o"} & set(words)


# --- wrong usage ---------------------------------------------------------------------------------

WRONG = {
    "rum": "No such command 'rum'. Did you mean 'run'?",
    "xyzzy": "No such command 'xyzzy'.",
    "my.yaml": "No such command 'my.yaml'. Did you mean 'run my.yaml'?",
    "alex --token Emma": "No such command 'alex'. Did you mean 'run alex'?",
    "--verson": "No such option: --verson (Possible options: --version)",
    "run": "Missing argument 'SCENARIO'.",
    "step": "Missing argument 'NAME'.",
    "weave": "Missing argument 'FILE'.",
    "run alex --tokn 2": "No such option: --tokn (Possible options: --token)",
    "run alex -x": "No such option: -x",
    "run alex --token": "Option '--token' requires an argument.",
    "run alex -t": "Option '-t' requires an argument.",
    "run alex --no-mask=3": "Option '--no-mask' does not take a value.",
    "run alex science": "Got unexpected extra argument(s) (science)",
    "scenarios alex": "Got unexpected extra argument(s) (alex)",
    "run alex --layer 0": "Invalid value for '--layer' / '-l': got '0', expected a whole number, "
    "at least 1",
    "run alex -l x": "Invalid value for '--layer' / '-l': got 'x', expected a whole number, "
    "at least 1",
    "why input[1,1] --depth -1": "Invalid value for '--depth': got '-1', expected a whole number, "
    "at least 0",
    "run alex -f pdf": "Invalid value for '--format' / '-f': got 'pdf', expected terminal, "
    "markdown, latex, code, json, npz or safetensors",
    "run alex --carry nevr": "Invalid value for '--carry': got 'nevr', expected line, step or "
    "never; did you mean 'never'?",
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_usage_ends_with_a_line_that_says_what_is_wrong(words: str) -> None:
    ran = run(*words.split())
    *usage, last = ran.stderr.splitlines()
    assert (ran.exit_code, ran.stdout, last) == (2, "", f"Error: {WRONG[words]}")
    command = words.split()[0] if words.split()[0] in COMMANDS else "[OPTIONS]"
    assert not usage or usage[0].startswith(f"Usage: decoder-trace {command}")


@pytest.mark.parametrize(
    "words",
    ["run alex --token 2", "lens pizza --word la", "compare alex alex-learns", "check science"],
)
def test_a_scenario_can_be_named_with_an_option_everywhere(words: str) -> None:
    name, scenario, *others = words.split()
    for named in (["-s", scenario], ["--scenario", scenario], [f"--scenario={scenario}"]):
        for order in ([*named, *others], [*others, *named]):
            assert loader.parse([name, *order]) == loader.parse([name, scenario, *others])


@pytest.mark.parametrize(
    "words",
    [
        "step experts experts --head 1",
        "attribute pizza logits[la,pizza]",
        "value pizza output[1,1]",
    ],
)
def test_a_scenario_can_be_the_first_word_everywhere(words: str) -> None:
    name, scenario, *others = words.split()
    assert loader.parse(words.split()) == loader.parse([name, *others, "-s", scenario])
    alone = loader.parse([name, others[0]])
    assert alone == loader.parse([name, others[0], "-s", "alex"])


def test_nothing_in_a_word_acts_on_the_terminal() -> None:
    for words in (["run", "alex", "--\x1b[31m"], ["\x1b[31m"], ["run", "alex", "\x1b[31m"]):
        ran = run(*words)
        assert ran.exit_code == 2
        assert "\x1b" not in ran.stderr


def test_every_option_and_argument_has_a_help() -> None:
    options = [option for name in COMMANDS for option in loader.load(name).options()]
    for told in [option.metadata["option"].help for option in options]:
        assert told[0].isupper() and told.endswith(".")


# --- a new command -------------------------------------------------------------------------------

NEW = '''"""Count the tokens of a scenario.

Of its first sequence.
"""

from dataclasses import dataclass

from tracer.requests import options, values
from tracer.requests.request import Answer, Request
from tracer.requests.loader import parse


@dataclass(kw_only=True)
class Tokens(options.Written, Request):
    examples = ("tokens alex", "tokens pizza --double")

    scenario: str = options.SCENARIO
    double: bool = values.flag("Count each token twice.")

    def answer(self, engine):
        loaded = engine.load(self.subject)
        engine.charge(self.subject, 1, 0)
        return Answer(f"{len(loaded.scenario.tokens) * (1 + self.double)} tokens\\n")
'''


def test_a_new_command_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tokens.py"
    file.write_text(NEW)
    monkeypatch.setitem(loader.FILES, "tokens", file)
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])
    listed = "\n\nOther commands:\n  tokens     Count the tokens of a scenario.\n"
    assert listed in printed("--help")
    assert "Count each token twice." in printed("tokens", "--help")
    assert printed("tokens", "alex", "--double") == "8 tokens\n"
    assert run("tokens", "alex", "--force").stderr.startswith("--force: works only with")
    page = tmp_path / "page.md"
    page.write_text("<!-- decoder-trace: tokens pizza -->\n\n<!-- /decoder-trace -->\n")
    assert run("weave", str(page)).exit_code == 0
    assert "\n5 tokens\n" in page.read_text()
