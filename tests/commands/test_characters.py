"""Nothing that a scenario or a file name holds acts on a terminal, whatever shows it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.helpers.command import printed, run
from tests.helpers.small_scenario import SMALL, changed
from tracer.cli import start
from tracer.errors import printable, strict_json

ACTS = "\x1b]0;x\x07\x7f\x85\x9b\u200e\u2028\u2029\u202a\u202e\u2066\u2069\ufeff"
"""Controls, line ends, and what turns the direction of a text."""

NAME = f"a{ACTS}"
TYPED = json.dumps(NAME)
SPEAKS = (
    changed(("tokens: [a, b]", f"tokens: [{TYPED}, b]"), ("  a:", f"  {TYPED}:"))
    + f"vocabulary: [{TYPED}, b]\nunembedding: {{W_U: [[1, 0], [0, 1]]}}\n"
)


def is_plain(text: str) -> bool:
    return text.replace("\n", "").isprintable()


@pytest.mark.parametrize("format", ["terminal", "markdown", "latex", "json"])
@pytest.mark.parametrize(
    "command", ["run", "tutorial", "lens", "loss", "train", "generate --worked", "steps", "shapes"]
)
def test_names_in_every_format(command: str, format: str) -> None:
    name, *options = command.split()
    text = printed(name, "-", *options, "--format", format, stdin=SPEAKS)
    assert is_plain(text)
    if format == "json" and name == "run":
        tokens = json.loads(text)["values"][0]["axes"][0]["labels"]
        assert tokens == [NAME, "b"]


@pytest.mark.parametrize("format", ["terminal", "markdown", "latex", "json"])
def test_names_of_an_attribution(format: str) -> None:
    asked = ("attribute", "logits[2,1]", "-s", "-", "--instead-of", "2", "--by", "token")
    assert is_plain(printed(*asked, "--format", format, stdin=SPEAKS))


def test_a_trained_scenario(tmp_path: Path) -> None:
    saved = tmp_path / "x.yaml"
    printed("train", "-", "--save", str(saved), stdin=SPEAKS)
    assert is_plain(saved.read_text(encoding="utf-8"))
    found = json.loads(printed("run", str(saved), "-f", "json"))
    assert found["values"][0]["axes"][0]["labels"] == [NAME, "b"]


@pytest.mark.parametrize(
    "command",
    [
        *("run", "run alex --token", "step", "value", "run alex --decimals", "audit", "weave"),
        *("check alex --against", "generate alex --start", "run alex --given", "schema"),
    ],
)
def test_what_was_typed(command: str) -> None:
    ran = run(*command.split(), ACTS)
    assert ran.exit_code == 2
    assert is_plain(ran.stdout) and is_plain(ran.stderr)


def test_a_patch_on_a_terminal_is_shown_and_elsewhere_is_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    block = f"<!-- decoder-trace: steps x.yaml -->\n{ACTS}\t|\n<!-- /decoder-trace -->\n"
    page.write_text(block, encoding="utf-8")
    (tmp_path / "x.yaml").write_text(SMALL)
    assert f"-{ACTS}\t|\n" in run("weave", "--check", str(page)).stdout

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    with pytest.raises(SystemExit):
        start(["weave", "--check", str(page)])
    assert f"-{printable(ACTS)}\t|\n" in terminal.getvalue()


def test_strict_json_is_read_back() -> None:
    data = {ACTS: ["\U000e0041é日本\U0001f600", "\udcff", "\n\\u"]}
    text = strict_json(data)
    assert is_plain(text)
    assert json.loads(text) == data
    assert "é日本\U0001f600" in text
