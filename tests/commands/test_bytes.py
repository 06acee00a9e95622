"""Files and folders whose names are not UTF-8: every command reads and writes them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.helpers.command import printed, run
from tests.helpers.small_scenario import SMALL

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names that are bytes")

ODD = os.fsdecode(b"\xff\x1b")
SPEAKS = f"{SMALL}vocabulary: [a, b]\nunembedding: {{W_U: [[1, 0], [0, 1]]}}\n"
FIGURES = "figures: [{where: here, address: input, printed: [[1, 2], [3, 4]]}]\n"


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with files that a command may read; none of them says its title."""
    folder = tmp_path / ODD
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / f"{ODD}.yaml").write_text(SPEAKS.partition("\n")[2])
    (folder / f"{ODD}.figures.yaml").write_text(FIGURES)
    (folder / f"{ODD}.md").write_text("1 + 1 = 3")
    mark = f"<!-- decoder-trace: steps '{ODD}.yaml' -->\n<!-- /decoder-trace -->\n"
    (folder / f"w{ODD}.md").write_bytes(os.fsencode(mark.replace(ODD, "plain")))
    (folder / "plain.yaml").write_text(SPEAKS)
    return folder


FORMATS = ("terminal", "markdown", "latex", "json")


@pytest.mark.parametrize(
    ("command", "formats", "code"),
    [
        ("run {}.yaml", FORMATS, 0),
        ("tutorial {}.yaml --train --figures {}f", ("markdown",), 0),
        ("run {}.yaml --figures {}f", ("markdown", "terminal"), 0),
        ("generate {}.yaml", FORMATS, 0),
        ("loss {}.yaml", ("npz", "safetensors"), 0),
        ("train {}.yaml --save {}saved.yaml --force", FORMATS, 0),
        ("tutorial {}.yaml --blanks --key {}key.md", ("markdown",), 0),
        ("shapes {}.yaml", FORMATS, 0),
        ("page {}.yaml", (), 0),
        ("check {}.yaml", FORMATS, 0),
        ("check {}.yaml --against {}.npz", FORMATS, 1),
        ("audit {}.md {}f", ("terminal", "json", "sarif", "github"), 1),
    ],
)
def test_every_command(command: str, formats: tuple[str, ...], code: int, odd: Path) -> None:
    printed("run", f"{ODD}.yaml", "-f", "npz", "-o", f"{ODD}.npz")
    (odd / f"{ODD}f").mkdir()
    (odd / f"{ODD}f" / f"{ODD}.md").write_text("1 + 1 = 3")
    for format in formats or [""]:
        out = f"{ODD}.out"
        how = ["-f", format] if format else []
        ran = run(*command.replace("{}", ODD).split(" "), *how, "-o", out)
        assert (ran.exit_code, ran.stdout, ran.stderr) == (code, "", "")
        content = (odd / out).read_bytes()
        assert content
        if format == "json":
            json.loads(content)


def test_a_new_scenario_and_a_woven_text(odd: Path) -> None:
    assert "is written" in printed("new", f"new{ODD}.yaml")
    assert run("run", f"new{ODD}.yaml").exit_code == 0
    assert "layer1" in run("weave", f"w{ODD}.md", "--check").stdout
    assert run("weave", f"w{ODD}.md").exit_code == 0
    assert "layer1" in (odd / f"w{ODD}.md").read_text()


def test_a_title_is_made_of_the_name(odd: Path) -> None:
    assert printed("run", f"{ODD}.yaml").startswith(r"\xff\x1b")
