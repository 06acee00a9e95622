"""The program in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent

PROGRAM = (sys.executable, "-m", "tracer")

ALONE = {
    **{k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "DECODER_TRACE_SCENARIO")},
    "PYTHONPATH": str(ROOT),
    "PYTHONUTF8": "1",
    "COLUMNS": "80",
}
"""An environment that asks for nothing special, from any folder."""


def started(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    """The program at work."""
    return subprocess.Popen([*PROGRAM, *arguments], encoding="utf-8", env=ALONE, **options)


def ended(*arguments: str, **options: Any) -> tuple[int, str | None, str | None]:
    """The exit code, what was printed and what was said on standard error, where they are pipes."""
    with started(*arguments, **{"stderr": subprocess.PIPE, **options}) as process:
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def in_shell(line: str, cwd: Path) -> tuple[int, str]:
    """A line of the shell, in which $PROGRAM is the program: its exit code, and what was said."""
    variables = {**ALONE, "PROGRAM": " ".join(PROGRAM)}
    command = ["/bin/sh", "-c", line]
    ran = subprocess.run(
        command, cwd=cwd, env=variables, stderr=subprocess.PIPE, encoding="utf-8", check=False
    )
    return ran.returncode, ran.stderr
