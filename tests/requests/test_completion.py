"""What a shell offers: the right words, and nothing else on the terminal."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command import printed, run
from tests.helpers.small_scenario import SMALL
from tracer.renderers import Format
from tracer.scenario.loading import bundled

BASH = shutil.which("bash") if os.name == "posix" else None


def offered(*words: str, **environment: Any) -> list[str]:
    """What is offered for the last word, as the shells ask for it."""
    ran = run(
        _DECODER_TRACE_COMPLETE="complete_bash",
        COMP_WORDS="\n".join(["decoder-trace", *words]),
        COMP_CWORD=str(len(words)),
        **environment,
    )
    assert (ran.exit_code, ran.stderr) == (0, "")
    return ran.stdout.split()


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a scenario of two layers, of which the first has two heads."""
    monkeypatch.chdir(tmp_path)
    layer = SMALL[SMALL.index("  - attention") :]
    Path("mine.yaml").write_text(
        SMALL.replace("[a, b]", '[a, "two words"]').replace("  b:", '  "two words":') + layer
    )
    return tmp_path


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ste"], ["step", "steps"]),
        (["run", "alex", "--no"], ["--no-mask", "--no-numbers", "--no-pager"]),
        (["run", ""], [*bundled(), "mine.yaml"]),
        (["run", "m"], ["mine.yaml"]),
        (["step", "query", "-s", "sci"], ["science"]),
        (["tutorial", "p"], ["paris", "picture", "pizza"]),
        (["step", "so"], ["softmax"]),
        (["step", "at"], ["attention"]),
        (["step", "log"], []),
        (["step", "-s", "science", "log"], ["logits"]),
        (["step", "layer1.ffn.W"], ["layer1.ffn.W_1", "layer1.ffn.W_2"]),
        (["why", "layer1.attention.head2.we"], ["layer1.attention.head2.weights"]),
        (["value", "-s", "science", "logi"], ["logits"]),
        (["run", "alex", "--token", ""], ["Frank", "Emma", "Daniel", "Alex"]),
        (["run", "alex", "-t", "D"], ["Daniel"]),
        (["run", "mine.yaml", "--token", ""], ["a", "2"]),
        (["step", "query", "-s", "mine.yaml", "--layer", ""], ["1", "2"]),
        (["step", "query", "-s", "pizza", "--layer", "2", "--head", ""], ["1", "2"]),
        (["run", "science", "--head", ""], ["1"]),
        (["run", "alex", "--format", ""], list(Format)),
        (["run", "alex", "-f", "m"], ["markdown"]),
        (["run", "alex", "--carry", ""], ["line", "step", "never"]),
        (["run", "alex", "--output", ""], []),
    ],
)
def test_what_is_offered(words: list[str], expected: list[str]) -> None:
    assert offered(*words) == expected


def test_every_command_is_offered() -> None:
    listed = printed("--help").partition("Look at the calculation:")[2]
    assert offered("") == re.findall(r"^  ([a-z]+)  ", listed, re.MULTILINE)


def test_without_the_mask_there_are_more_steps() -> None:
    assert offered("step", "-s", "pizza", "unm") == []
    assert offered("step", "-s", "pizza", "--no-mask", "unm") == ["unmasked"]


def test_the_scenario_may_be_that_of_the_environment() -> None:
    assert offered("step", "query", "-t", "", DECODER_TRACE_SCENARIO="science") == [
        *("i", "like", "data", "science")
    ]


def test_scenarios_of_another_folder(mine: Path) -> None:
    (mine / "below").mkdir()
    (mine / "below" / "other.yml").write_text(SMALL)
    (mine / "below" / "notes.txt").write_text("")
    assert offered("run", "below/") == ["below/other.yml"]
    assert offered("run", "nowhere/") == []


BROKEN = {
    "not yaml": b"title: [",
    "not utf-8": b"\xff\xfe",
    "empty": b"",
    "no scenario": b"tokens: 3",
    "a misfit": SMALL.replace("[[3], [4]]", "[[3]]").encode(),
    "endless aliases": b"a: &a [1]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "deep": b"a: " + b"[" * 5000,
    "too long": SMALL.encode() + b"# " + b"x" * 2_000_000,
}


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize("content", BROKEN.values(), ids=list(BROKEN))
def test_a_broken_scenario_offers_nothing_and_says_nothing(content: bytes) -> None:
    Path("bad.yaml").write_bytes(content)
    for words in (["--token", ""], ["--layer", ""], ["--head", ""]):
        assert offered("run", "bad.yaml", *words) == []
    assert offered("step", "-s", "bad.yaml", "") == []
    assert offered("why", "-s", "bad.yaml", "") == []


@pytest.mark.parametrize("name", ["-", "no-such", "", ".", "/dev/zero"])
def test_what_cannot_be_read_at_once_is_not_read(name: str) -> None:
    assert offered("run", name, "--token", "") == []


@pytest.mark.usefixtures("mine")
def test_nothing_that_is_offered_acts_on_the_shell() -> None:
    hostile = ["$(reboot)", "`id`", "a b", "'", '"', ";", "\\", "\x1b[31m", "*", "~", "é", "tab\t"]
    layers = SMALL[SMALL.index("layers:") :]
    tokens, vectors = json.dumps(hostile), [[1, 2]] * len(hostile)
    Path("mine.yaml").write_text(f"title: T\ntokens: {tokens}\nembeddings: {vectors}\n{layers}")
    found = offered("run", "mine.yaml", "--token", "")
    assert found == ["é" if token == "é" else str(i) for i, token in enumerate(hostile, 1)]


@pytest.mark.parametrize("shell", ["zsh", "fish", "powershell"])
def test_other_shells_ask_in_another_way(shell: str) -> None:
    ran = run(
        _DECODER_TRACE_COMPLETE=f"complete_{shell}",
        _TYPER_COMPLETE_ARGS="decoder-trace run science --token li",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
        _TYPER_COMPLETE_WORD_TO_COMPLETE="li",
    )
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "like" in ran.stdout
    assert "data" not in ran.stdout


@pytest.mark.skipif(BASH is None, reason="bash is not at hand")
def test_bash_completes(tmp_path: Path) -> None:
    assert BASH
    program = tmp_path / "decoder-trace"
    program.write_text(f'#!{BASH}\nexec "{sys.executable}" -m tracer "$@"\n')
    program.chmod(0o755)
    script = """
        eval "$(decoder-trace --show-completion)"
        complete -p decoder-trace
        COMP_WORDS=(decoder-trace why layer1.attention.head1.we) COMP_CWORD=2
        _decoder_trace_completion decoder-trace
        echo "${COMPREPLY[@]}"
    """
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    root = Path(__file__).parent.parent.parent
    ran = subprocess.run(
        [BASH, "--norc", "-c", script],
        capture_output=True,
        cwd=root,
        encoding="utf-8",
        env=environment,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "-F _decoder_trace_completion decoder-trace" in ran.stdout
    assert ran.stdout.endswith("\nlayer1.attention.head1.weights\n")
