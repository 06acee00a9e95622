"""Ctrl-C ends the program at once, with one line, but never while files are put in place."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

INTERRUPTED = 130

before_the_end: list[Callable[[], None]] = []
"""Functions to call before the program ends; they clear what is shown on the terminal."""


def ends_the_program() -> None:
    """Make Ctrl-C end the program; if it was set to be ignored, it stays ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _on_interruption)


@contextmanager
def defer_sigint() -> Iterator[Callable[[], None]]:
    """Defer Ctrl-C until the block ends.

    The block gets a function that raises KeyboardInterrupt if Ctrl-C was pressed. After a completed
    block, Ctrl-C is ignored: the work is done.
    """
    if signal.getsignal(signal.SIGINT) is not _on_interruption:
        yield lambda: None  # used as a library: Ctrl-C belongs to the program
        return
    waiting: list[int] = []

    def let_through() -> None:
        if waiting:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, lambda number, _: waiting.append(number))
    try:
        yield let_through
    except BaseException:
        signal.signal(signal.SIGINT, _on_interruption)
        if waiting:
            _end()
        raise
    _ignore_for_good()


def _on_interruption(_signal: int, _frame: object) -> None:
    _end()


def _ignored(_signal: int, _frame: object) -> None:
    """Do nothing: Python reports a signal that arrives while SIG_IGN is being set."""


def _ignore_for_good() -> None:
    """Ignore Ctrl-C even while Python exits, when it no longer calls Python handlers."""
    signal.signal(signal.SIGINT, _ignored)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end() -> None:
    """End immediately: some libraries swallow an exception while they are being imported."""
    signal.signal(signal.SIGINT, _ignored)
    for take_away in before_the_end:
        take_away()
    with suppress(OSError):
        os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)
