"""A sign of life: only at a terminal, only after a while, and gone when done."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stderr

import pytest

from tests.helpers.command import printed
from tracer.console import interruption, progress

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
"""The cursor."""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """What a person sees of standard error, once a test shows it there."""
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


def wait_for(terminal: io.StringIO, text: str) -> None:
    end = time.monotonic() + 10
    while text not in terminal.getvalue():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_quick_run_shows_nothing(terminal: Terminal) -> None:
    with redirect_stderr(terminal), progress.shown("run alex"):
        pass
    assert terminal.getvalue() == ""
    assert interruption.before_the_end == []


def test_what_takes_long_is_shown_until_it_is_done(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    with redirect_stderr(terminal), progress.shown("weave"):
        wait_for(terminal, "weave")
        progress.report("weave [bold]a.md\x9b\x1b]0;x")
        wait_for(terminal, r"weave [bold]a.md\x9b\x1b]0;x")
    # Its line is erased, and the cursor is back.
    assert terminal.getvalue().rstrip("\r").endswith("\x1b[2K")
    assert terminal.getvalue().count(HIDE) == terminal.getvalue().count(SHOW) == 1
    assert interruption.before_the_end == []


def test_ctrl_c_takes_it_away(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    with redirect_stderr(terminal), progress.shown("run alex"):
        wait_for(terminal, "run alex")
        (take_away,) = interruption.before_the_end
        take_away()
        assert terminal.getvalue().endswith("\x1b[2K")
        assert SHOW in terminal.getvalue()


def test_it_says_which_layer_or_word_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(progress, "report", told.append)
    printed("lens", "pizza")
    assert told[0] == "layer 1 of 2"
    told.clear()
    printed("generate", "pizza", "--max-tokens", "2")
    assert told == ["word 1 of at most 2", "word 2 of at most 2"]


def test_nothing_is_shown_where_nobody_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with redirect_stderr(io.StringIO()) as pipe, progress.shown("run alex"):
        time.sleep(0.1)
    assert pipe.getvalue() == ""
