"""Ctrl-C ends the program with a line and exit code 130, and no kill loses a file."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from tests.helpers.command import printed
from tests.helpers.process import ALONE, PROGRAM, ended
from tracer.console import interruption

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals to another process"),
    pytest.mark.usefixtures("ctrl_c"),
]

INTERRUPTED = (130, "", "interrupted\n")


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A pipe that nobody reads from."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """How a process ends that gets Ctrl-C."""
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def at_work(*arguments: str, imported: str = "tracer.scenario.loading") -> subprocess.Popen[str]:
    """The program, as soon as it has begun to import a module."""
    code = f"""
import importlib.abc, os, sys
class Told(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {imported!r}:
            os.write(2, b"here\\n")
sys.meta_path.insert(0, Told())
from tracer.__main__ import main
main()
"""
    piped = subprocess.PIPE
    command = [sys.executable, "-c", code, *arguments]
    process = subprocess.Popen(
        command, stdin=piped, stdout=piped, stderr=piped, encoding="utf-8", env=ALONE
    )
    assert process.stderr
    assert process.stderr.readline() == "here\n"
    return process


@pytest.mark.parametrize("imported", ["tracer.cli", "numpy", "pydantic_core"])
def test_it_ends_while_modules_are_imported(imported: str) -> None:
    assert interrupted(at_work("run", "alex", imported=imported)) == INTERRUPTED


def test_it_ends_while_it_waits(pipe: Path) -> None:
    for arguments in (["run", "-"], ["step", "query", "-o", str(pipe)]):
        process = at_work(*arguments)
        time.sleep(0.3)  # now it waits
        assert process.poll() is None
        assert interrupted(process) == INTERRUPTED


def test_a_parent_that_ignores_it_is_obeyed() -> None:
    shell = ["/bin/sh", "-c", "trap '' INT; exec \"$@\"", "sh", *PROGRAM, "run", "-"]
    piped = subprocess.PIPE
    with subprocess.Popen(
        shell, stdin=piped, stdout=piped, stderr=piped, encoding="utf-8", env=ALONE
    ) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate("", timeout=60)
    assert (process.returncode, told) == (2, "<stdin>: empty, expected a scenario\n")


@pytest.fixture
def handled() -> Iterator[mock.Mock]:
    """Ctrl-C handled as in the program, but that the test does not end with it."""
    with mock.patch.object(interruption, "_end") as end:
        interruption.ends_the_program()
        yield end


def test_while_files_are_written_it_waits(handled: mock.Mock) -> None:
    with pytest.raises(KeyboardInterrupt), interruption.defer_sigint() as let_through:
        let_through()
        signal.raise_signal(signal.SIGINT)
        handled.assert_not_called()
        let_through()
    handled.assert_called_once()


def test_once_they_are_written_it_comes_too_late(handled: mock.Mock) -> None:
    with interruption.defer_sigint():
        signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)
    handled.assert_not_called()
    # Python gives up handlers of its own before it ends; this one stays.
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_failure_to_write_is_followed_by_it(handled: mock.Mock) -> None:
    with pytest.raises(ValueError, match="full"), interruption.defer_sigint():
        raise ValueError("full")
    handled.assert_not_called()
    signal.raise_signal(signal.SIGINT)
    handled.assert_called_once()


MARK = "<!-- decoder-trace: step scores -->\n{}<!-- /decoder-trace -->\n"


@pytest.mark.fuzz
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_kill_loses_a_file(number: signal.Signals, tmp_path: Path) -> None:
    page, out = tmp_path / "page.md", tmp_path / "out.txt"
    fresh = printed("step", "scores", "-f", "markdown").strip("\n")
    old = {page: MARK.format(""), out: "old"}
    new = {page: MARK.format(f"\n{fresh}\n\n"), out: printed("run", "alex")}
    commands = {page: ["weave", str(page)], out: ["run", "alex", "-o", str(out)]}
    chance, ends = random.Random(1), Counter[tuple[int, str, str]]()
    for i in range(500):
        path = (page, out)[i % 2]
        page.write_text(old[page], encoding="utf-8")
        out.write_text(old[out], encoding="utf-8")
        before = set(tmp_path.iterdir())
        # The moments before are Python's own.
        process = at_work(*commands[path], imported="tracer.console.streams")
        if i % 4 < 2:  # at any moment
            time.sleep(chance.uniform(0, 0.5))
        else:  # from when its drafts are there
            while set(tmp_path.iterdir()) <= before and process.poll() is None:
                pass
            time.sleep(chance.uniform(0, 0.005))
        process.send_signal(number)
        _, told = process.communicate(timeout=60)
        found = path.read_text(encoding="utf-8")
        assert found in (old[path], new[path])
        ends[(process.returncode, told, "old" if found == old[path] else "new")] += 1
        if number == signal.SIGINT:
            assert set(tmp_path.iterdir()) == {page, out}
    if number == signal.SIGINT:
        assert set(ends) == {(0, "", "new"), (130, "interrupted\n", "old")}
    else:
        assert set(ends) >= {(-9, "", "new"), (-9, "", "old")}
    for command in commands.values():
        assert ended(*command, stdout=subprocess.PIPE) == (0, "", "")
    assert set(tmp_path.iterdir()) == {page, out}
