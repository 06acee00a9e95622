"""What a killed run has left is cleared, what a run at work has is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracer.files.drafts import PREFIX, Drafts

HOLD = """
import sys
from pathlib import Path
from tracer.files.drafts import Drafts
drafts = Drafts(Path(sys.argv[1]))
drafts.written("half")
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other_run(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run that has drafts in the folder, and goes on until it is ended."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8")
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.communicate()


def left(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_drafts_are_gone_in_the_end(tmp_path: Path) -> None:
    with Drafts(tmp_path) as drafts:
        assert drafts.written("é\r\n").read_bytes() == "é\r\n".encode()
        assert len(left(tmp_path)) == 1
    assert left(tmp_path) == []


def test_a_run_at_work_keeps_its_drafts_and_a_killed_one_loses_them(
    tmp_path: Path, other_run: subprocess.Popen[str]
) -> None:
    (theirs,) = left(tmp_path)
    with Drafts(tmp_path):
        assert theirs in left(tmp_path)
    assert (tmp_path / theirs / "1").read_text() == "half"
    other_run.kill()
    other_run.communicate()
    assert left(tmp_path) == [theirs]
    with Drafts(tmp_path):
        assert theirs not in left(tmp_path)


def test_one_killed_before_it_had_a_lock_is_cleared(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}a").mkdir()
    with Drafts(tmp_path):
        pass
    assert left(tmp_path) == []


def test_nothing_of_anybody_elses_is_cleared(tmp_path: Path) -> None:
    folder, own = tmp_path / "here", tmp_path / "own"
    own.mkdir()
    folder.mkdir()
    for name in ("lock", "precious"):
        (own / name).write_text("precious")
    (folder / f"{PREFIX}link").symlink_to(own)
    (folder / f"{PREFIX}file").write_text("precious")
    (folder / ".decoder-trace.yaml").write_text("precious")
    if sys.platform != "win32" and os.getuid() == 0:
        (folder / f"{PREFIX}other").mkdir()
        os.chown(folder / f"{PREFIX}other", 1234, -1)
    before = sorted(left(folder))
    with Drafts(folder):
        pass
    assert sorted(left(folder)) == before
    assert sorted(left(own)) == ["lock", "precious"]
