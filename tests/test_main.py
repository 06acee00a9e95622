"""`python -m tracer`, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

from tracer import __version__


def python_m_tracer(*arguments: str) -> subprocess.CompletedProcess[str]:
    """How it ends and what it says."""
    command = [sys.executable, "-m", "tracer", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def test_it_tells_its_version() -> None:
    ran = python_m_tracer("--version")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"decoder-trace {__version__}\n", "")


REGISTERED = """
import atexit, sys
from tracer.__main__ import main
atexit.register(lambda: sys.stdout.write("registered\\n"))
sys.argv = ["decoder-trace", *sys.argv[1:]]
main()
"""


def test_what_is_registered_for_the_exit_is_called_and_written() -> None:
    for arguments, code in ((["--version"], 0), (["run", "nonsense"], 2)):
        command = [sys.executable, "-c", REGISTERED, *arguments]
        ran = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        assert (ran.returncode, ran.stdout.splitlines()[-1:]) == (code, ["registered"])


def test_it_is_called_decoder_trace_and_ends_as_decoder_trace_does() -> None:
    ran = python_m_tracer("nonsense")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "decoder-trace" in ran.stderr
    assert "python -m" not in ran.stderr
