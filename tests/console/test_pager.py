"""A long text is shown by a pager, in a terminal of its own that the tests pretend to be."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.helpers.command import problems, run
from tracer.console import pager as console_pager

pty = pytest.importorskip("pty")
fcntl, struct, termios = (pytest.importorskip(name) for name in ("fcntl", "struct", "termios"))

LONG, SHORT = ("run", "comics"), ("value", "output[1,1]")
ROWS = 30


class Seen(NamedTuple):
    """What a terminal has shown, without its styles, and how the program ended."""

    text: str
    exit_code: int


def seen(*arguments: str, typed: Callable[[str], bytes] | None = None, **environment: str) -> Seen:
    """Run the program in a terminal; `typed` is what is typed once it has shown some text."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, 80, 0, 0))
    left_out = ("PAGER", "DECODER_TRACE_PAGER", "LESS", "NO_COLOR", "COLUMNS", "LINES")
    outer = {name: value for name, value in os.environ.items() if name not in left_out}
    process = subprocess.Popen(
        [sys.executable, "-m", "tracer", *arguments],
        stdin=theirs, stdout=theirs, stderr=theirs,
        env={**outer, "TERM": "xterm-256color", **environment},
        preexec_fn=lambda: os.login_tty(theirs),
    )  # fmt: skip
    os.close(theirs)
    late = threading.Timer(60, process.kill)
    late.start()
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
            if typed and (answer := typed(shown.decode(errors="ignore"))):
                os.write(ours, answer)
                typed = None
    except OSError:
        pass  # so ends a terminal on Linux, once nobody writes to it
    late.cancel()
    exit_code = process.wait()
    os.close(ours)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())
    return Seen(plain.replace("\r\n", "\n"), exit_code)


def pager(folder: Path, program: str) -> str:
    """The command of a pager that is this program."""
    file = folder / "pager.py"
    file.write_text(f"import os, signal, sys, time\n{program}", encoding="utf-8")
    return f"{sys.executable} {file}"


COUNTS = "text = sys.stdin.read()\nprint('paged', len(text.splitlines()), os.environ['LESS'])"


def test_what_is_longer_than_the_screen_is_given_to_the_pager_whole(tmp_path: Path) -> None:
    lines = len(run(*LONG).stdout.splitlines())
    assert seen(*LONG, DECODER_TRACE_PAGER=pager(tmp_path, COUNTS)) == (f"paged {lines} FRX\n", 0)


def test_what_fits_is_printed(tmp_path: Path) -> None:
    shown = seen(*SHORT, DECODER_TRACE_PAGER=pager(tmp_path, COUNTS))
    assert shown == (run(*SHORT).stdout, 0)


def test_the_pager_is_the_one_that_is_named_first(tmp_path: Path) -> None:
    ours = pager(tmp_path, "print('ours')")
    assert seen(*LONG, DECODER_TRACE_PAGER=ours, PAGER="cat").text == "ours\n"
    assert seen(*LONG, PAGER=ours).text == "ours\n"


def test_the_options_of_less_are_left_as_they_are(tmp_path: Path) -> None:
    shown = seen(*LONG, PAGER=pager(tmp_path, COUNTS), LESS="-S")
    assert shown.text.endswith(" -S\n")


@pytest.mark.parametrize("named", ["", "there-is-no-such-program", "'"])
def test_there_may_be_no_pager(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECODER_TRACE_PAGER", named)
    assert console_pager._command() is None


@pytest.mark.parametrize(
    ("options", "environment"),
    [(["--no-pager"], {}), ([], {"TERM": "dumb"}), ([], {"DECODER_TRACE_PAGER": ""})],
)
def test_else_it_is_printed(
    options: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    named = {"DECODER_TRACE_PAGER": pager(tmp_path, COUNTS), **environment}
    shown = seen("run", "alex", *options, typed=None, **named)
    assert shown == (run("run", "alex").stdout, 0)


def test_to_quit_it_early_is_no_error(tmp_path: Path) -> None:
    ends = pager(tmp_path, "print(sys.stdin.readline().strip())")
    first = run(*LONG).stdout.splitlines()[0]
    assert seen(*LONG, DECODER_TRACE_PAGER=ends) == (f"{first}\n", 0)


def test_an_interrupt_is_the_pagers(tmp_path: Path) -> None:
    """As less does it: Ctrl-C ends neither it nor what feeds it."""
    waits = pager(
        tmp_path,
        "def interrupted(*_):\n"
        "    print('still here', flush=True)\n"
        "    sys.exit()\n"
        "signal.signal(signal.SIGINT, interrupted)\n"
        "sys.stdin.read()\n"
        "print('reading', flush=True)\n"
        "time.sleep(30)",
    )
    shown = seen(
        *LONG, typed=lambda text: b"\x03" if "reading" in text else b"", DECODER_TRACE_PAGER=waits
    )
    # The terminal may drop what it has not shown yet when it is interrupted.
    assert re.fullmatch(r"reading\s*(?:\^C)?\s*still here\n", shown.text)
    assert shown.exit_code == 0


def test_an_interrupt_ends_a_pager_that_does_not_mind_it(tmp_path: Path) -> None:
    waits = pager(
        tmp_path,
        "signal.signal(signal.SIGINT, signal.SIG_DFL) if signal.getsignal(signal.SIGINT) "
        "!= signal.SIG_IGN else None\n"
        "sys.stdin.read()\nprint('reading', flush=True)\ntime.sleep(30)",
    )
    began = time.monotonic()
    shown = seen(
        *LONG, typed=lambda text: b"\x03" if "reading" in text else b"", DECODER_TRACE_PAGER=waits
    )
    assert shown.exit_code == 0
    assert time.monotonic() - began < 25


def test_it_means_nothing_beside_a_file(tmp_path: Path) -> None:
    ran = run("run", "alex", "--no-pager", "-o", str(tmp_path / "out.txt"))
    assert (ran.exit_code, problems(ran)) == (
        2,
        ["--no-pager: works only with the screen, not --output"],
    )
