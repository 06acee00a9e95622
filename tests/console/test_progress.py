"""A sign of life: only at a terminal, only after a while, and gone when done."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stderr

import pytest

from tests.helpers.command import printed
from tracer.console import interruption, progress

LARGE = """
title: t
tokens: [a, b]
dimensions: {layers: 2, width: 4, heads: 2, words: 5, context: 9}
random: {seed: 1}
"""
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
    with redirect_stderr(terminal), progress.show_activity("run alex"):
        pass
    assert terminal.getvalue() == ""
    assert interruption.before_the_end == []


def test_what_takes_long_is_shown_until_it_is_done(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    with redirect_stderr(terminal), progress.show_activity("weave"):
        wait_for(terminal, "weave")
        progress.report("weave [bold]a.md")
        wait_for(terminal, "weave [bold]a.md")
        progress.report("weave \x1b]0;a\x9b.md")
        wait_for(terminal, r"weave \x1b]0;a\x9b.md")
    # Its line is erased, and the cursor is back.
    assert terminal.getvalue().rstrip("\r").endswith("\x1b[2K")
    assert terminal.getvalue().count(HIDE) == terminal.getvalue().count(SHOW) == 1
    assert interruption.before_the_end == []


def test_ctrl_c_takes_it_away(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    with redirect_stderr(terminal), progress.show_activity("run alex"):
        wait_for(terminal, "run alex")
        (take_away,) = interruption.before_the_end
        take_away()
        assert terminal.getvalue().endswith("\x1b[2K")
        assert SHOW in terminal.getvalue()


def test_it_says_which_number_or_word_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(progress, "is_shown", lambda: True)
    monkeypatch.setattr(progress, "report", lambda what, *_: told.append(what))
    printed("run", "-", stdin=LARGE)
    assert told.index("layer1.ffn.hidden") < told.index("layer2.ffn.hidden") < told.index("logits")
    told.clear()
    printed("generate", "pizza", "--max-tokens", "2")
    assert told == ["word 1 of at most 2", "word 2 of at most 2"]


def test_it_says_how_long_the_rest_will_take(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter((100.0, 100.0, 100.5, 103.0, 112.0))
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    with redirect_stderr(terminal), progress.show_activity("run paris"):
        wait_for(terminal, "run paris")
        monkeypatch.setattr(progress, "PATIENCE", 1.0)
        monkeypatch.setattr(progress, "monotonic", lambda: next(now))
        progress.report("layer 1", 0, 30)
        progress.report("layer 3", 2, 30)  # too early to tell
        progress.report("layer 7", 6, 30)
        wait_for(terminal, "layer 7, about 12 s left")
        assert "layer 3, about" not in terminal.getvalue()


def test_nothing_is_shown_where_nobody_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with redirect_stderr(io.StringIO()) as pipe, progress.show_activity("run alex"):
        time.sleep(0.1)
    assert pipe.getvalue() == ""
