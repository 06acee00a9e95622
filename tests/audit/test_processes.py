"""Several processes find what one finds, and none of them outlives the command."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.command import run
from tracer.audit import auditing
from tracer.audit.judging.findings import Audit, audit
from tracer.audit.project import processes
from tracer.audit.reading.texts import Text

Write = Callable[..., None]


def test_several_processes_report_what_one_does(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        write(f"{number}.md", content=f"2 + {number} = 1\n\n" * (40 - number))
    Path("bad.ipynb").write_text("{")
    Path("c.md").write_text("<!-- audit: ignore A99 -->")
    one = run("audit", ".", "missing.md", "--list-read", "-f", "json")
    monkeypatch.setattr(processes, "WORTH_IT", 0)
    monkeypatch.setattr(processes, "_cores", lambda: 2)
    assert run("audit", ".", "missing.md", "--list-read", "-f", "json") == one
    assert one.exit_code == 2
    assert len(one.stderr.splitlines()) == 3


def test_a_mistake_of_this_program_hides_no_other_file(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.md", "b.md")

    def mistaken(text: Text, *, strict: bool) -> Audit:
        if text.name == "a.md":
            raise KeyError("x")
        return audit(text, strict=strict)

    monkeypatch.setattr(auditing, "audit", mistaken)
    a, b = (
        auditing.audited_file(auditing.Job(f"{name}.md", True, frozenset(["A01"]), ()))
        for name in "ab"
    )
    (problem,) = a.problems
    assert problem.message.startswith("internal error, please report it: KeyError in test_proc")
    assert len(b.findings) == 1


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.fuzz)]
)
def test_when_the_command_ends_its_processes_end(write: Write, number: int) -> None:
    for name in range(4):
        write(f"{name}.md", content="1.55 + 2.55 = 4.1\n" * 50_000)
    command = [sys.executable, "-m", "tracer", "audit", "."]
    told = subprocess.PIPE
    with subprocess.Popen(command, stdout=told, stderr=told, start_new_session=True) as ran:
        children = Path(f"/proc/{ran.pid}/task/{ran.pid}/children")
        while len(started := children.read_text().split()) < 3:  # with the one that tracks them
            assert ran.poll() is None
            time.sleep(0.01)
        # As a terminal does with Ctrl-C: to all of them.
        os.killpg(ran.pid, number) if number == signal.SIGINT else ran.kill()
        out, err = ran.communicate(timeout=20)
    if number == signal.SIGINT:
        assert (ran.returncode, out, err) == (130, b"", b"interrupted\n")
    until = time.monotonic() + 10
    while any(_runs(each) for each in started):
        assert time.monotonic() < until
        time.sleep(0.02)


def _runs(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_no_process_is_left_when_all_values_are_there() -> None:
    numbers = range(8)
    assert list(processes.in_order(abs, numbers, processes.WORTH_IT)) == list(numbers)
    assert multiprocessing.active_children() == []
