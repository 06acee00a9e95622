"""Wrong input of every kind: the program says what is wrong, in time, and touches nothing.

`pytest -m fuzz` tries some 50,000 more.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.helpers import mutations
from tests.helpers.bundled import TYPED
from tests.helpers.command import Ran, run
from tests.helpers.truth import false_equations, unreadable

SECONDS = 10
MOST_MEMORY = 2_000_000
"""Of this process, in kilobytes, whatever it has tried before."""
SEED = os.environ.get("FUZZ_SEED", "")
"""Draws other faults."""
LONGEST_LINE = 1000
OTHER_FORMATS = {"markdown", "latex", "json"}
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in TYPED.items()}

SHOWING = (
    *("run FILE", "run FILE --token 1 --carry line", "step attention -s FILE", "steps FILE"),
    *("shapes FILE", "shapes FILE --length 9 --format json"),
    *("loss FILE", "generate FILE --max-tokens 3", "value output[1,1] -s FILE"),
    *("tutorial FILE --format terminal", "lens FILE", "train FILE --steps 2", "run FILE --vary 3"),
    *("run FILE --sequence 1", "attribute output[1,1] -s FILE", "compare FILE --text a"),
    *("compare FILE alex", "train FILE --steps 3000", "generate FILE --max-tokens 900 --worked"),
    *("run FILE --format json", "run FILE --format latex", "why output[1,1] -s FILE --depth 2"),
)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def held(ran: Ran, seconds: float, file: str | None, words: Sequence[str]) -> None:
    """What holds of every run, whatever was asked."""
    said = (words, ran.stderr[:2000])
    assert seconds < SECONDS, said
    assert "Traceback" not in ran.stderr, said
    assert ran.exit_code in (0, 1, 2), said
    if sys.platform != "win32":
        import resource

        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < MOST_MEMORY, said
    if ran.exit_code == 2:
        assert ran.stdout == "", said
        lines = ran.stderr.splitlines()
        assert lines, said
        assert len(lines) < 31 and max(map(len, lines)) < LONGEST_LINE, said
        if file is not None:
            assert lines[0].startswith((f"{file}:", "--", "decoder-trace ", "no ", "this ")), said
    elif (
        "-h" not in words
        and "audit" not in words
        and not OTHER_FORMATS & {*words}
        and ("tutorial" not in words or "terminal" in words)
    ):
        assert (false_equations(ran.stdout), unreadable(ran.stdout)) == ([], []), said


def tried(words: Sequence[str], folder: Path, file: str | None) -> Ran:
    """Run a command in a folder that must stay as it is."""
    before, start = files(folder), time.process_time()
    ran = run(*words)
    held(ran, time.process_time() - start, file, words)
    assert files(folder) == before, words
    return ran


def wrong_scenarios(folder: Path, seeds: range) -> None:
    for seed in seeds:
        chance = random.Random(f"{SEED}scenario {seed}")
        file = folder / "s.yaml"
        text = mutations.mutated(TEXTS[chance.choice(sorted(TEXTS))], chance)
        file.write_text(text, encoding="utf-8", newline="")
        words = [word.replace("FILE", str(file)) for word in chance.choice(SHOWING).split()]
        tried(words, folder, str(file))


def wrong_command_lines(folder: Path, seeds: range) -> None:
    for seed in seeds:
        chance = random.Random(f"{SEED}command {seed}")
        tried(mutations.command_line(chance, tuple(TEXTS)), folder, None)


def wrong_pages(folder: Path, seeds: range) -> None:
    (folder / "mine.yaml").write_text(TEXTS["science"], encoding="utf-8")
    for seed in seeds:
        chance = random.Random(f"{SEED}page {seed}")
        file = folder / "page.md"
        file.write_text(mutations.page(chance, "mine.yaml"), encoding="utf-8", newline="")
        checked = tried(["weave", "--check", str(file)], folder, str(file))
        before, start = file.read_bytes(), time.monotonic()
        ran = run("weave", str(file))
        assert time.monotonic() - start < SECONDS
        assert ran.exit_code == (2 if checked.exit_code == 2 else 0)
        assert set(files(folder)) == {"mine.yaml", "page.md"}
        if ran.exit_code == 2 or checked.exit_code == 0:
            assert file.read_bytes() == before


def wrong_configurations(folder: Path, seeds: range) -> None:
    """Those of a project above a text, by either name; another folder has none."""
    inner = folder / "docs"
    inner.mkdir(exist_ok=True)
    (inner / "a.md").write_text("2 + 2 = 5\n")
    for seed in seeds:
        chance = random.Random(f"{SEED}configuration {seed}")
        file = folder / chance.choice((".decoder-trace.toml", "pyproject.toml"))
        file.write_text(mutations.configuration(chance), encoding="utf-8", newline="")
        start = time.process_time()
        ran = run("audit", str(inner / "a.md"))
        held(ran, time.process_time() - start, None, ("audit",))
        if ran.exit_code == 2:
            named = [line for line in ran.stderr.splitlines() if f"{file.name}:" in line]
            assert named or "not a pattern" in ran.stderr, (seed, ran.stderr)
        file.unlink()


IN_ONE_GO = 50


@pytest.mark.parametrize("start", range(0, 100, IN_ONE_GO))
def test_wrong_scenarios(start: int, tmp_path: Path) -> None:
    wrong_scenarios(tmp_path, range(start, start + IN_ONE_GO))


@pytest.mark.parametrize("start", range(0, 50, IN_ONE_GO))
def test_wrong_command_lines(start: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong_command_lines(tmp_path, range(start, start + IN_ONE_GO))


@pytest.mark.parametrize("start", range(0, 50, IN_ONE_GO))
def test_wrong_pages(start: int, tmp_path: Path) -> None:
    wrong_pages(tmp_path, range(start, start + IN_ONE_GO))


@pytest.mark.parametrize("start", range(0, 50, IN_ONE_GO))
def test_wrong_configurations(start: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong_configurations(tmp_path, range(start, start + IN_ONE_GO))


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(10_000, 60_000, 1000))
def test_many_more(start: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, case, share in (
        ("scenarios", wrong_scenarios, 650),
        ("commands", wrong_command_lines, 250),
        ("pages", wrong_pages, 100),
        ("configurations", wrong_configurations, 100),
    ):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        case(folder, range(start, start + share))
