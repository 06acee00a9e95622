"""The CPU time of programs, compared within one run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

Command: TypeAlias = Sequence[str]

ROOT = Path(__file__).parent.parent.parent
HERE = Path(__file__).parent

ONE_COMMAND = (sys.executable, str(HERE / "anchor_one_command.py"), "reader")
TWO_COMMANDS = (sys.executable, str(HERE / "anchor_two_commands.py"), "--version")


def program(*arguments: str) -> Command:
    """`decoder-trace` with arguments."""
    return (sys.executable, "-m", "tracer", *arguments)


def cpu_times(commands: Mapping[str, Command], rounds: int) -> dict[str, float]:
    """The least CPU time of each command in seconds, user and system; they take turns.

    The least, since whatever else the machine does can only add to it.
    """
    for command in commands.values():
        cpu_time(command)  # which also writes the compiled modules
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            times[name].append(cpu_time(command))
    return {name: min(taken) for name, taken in times.items()}


def cpu_time(command: Command) -> float:
    """The CPU time of one run in seconds."""
    usage = _usage(command)
    return float(usage.ru_utime + usage.ru_stime)


PEAK = (
    "import resource, subprocess, sys; "
    "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)
"""Started by a small program: a child is counted with what its parent holds when it starts."""


def peak_memory(command: Command) -> int:
    """The most bytes that it held at once; macOS counts bytes, Linux kilobytes."""
    peak = int(printed([sys.executable, "-c", PEAK, *command]))
    return peak * (1 if sys.platform == "darwin" else 1024)


def _usage(command: Command) -> Any:
    """What one run took; what it prints is thrown away."""
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage


def printed(command: Command) -> str:
    """What a command prints."""
    return subprocess.check_output(command, cwd=ROOT, env=environment(), encoding="utf-8")


def environment() -> dict[str, str]:
    """A terminal of 80 columns; modules compiled once; NumPy's idle threads do not spin."""
    outer = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**outer, "COLUMNS": "80", "OPENBLAS_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
