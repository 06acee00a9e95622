"""Ctrl-C: it ends the program at once, with one line, but never while files are put in place."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

INTERRUPTED = 130

before_the_end: list[Callable[[], None]] = []
"""What is done before the program is ended: whoever has something on the terminal takes it away."""


def ends_the_program() -> None:
    """From now on Ctrl-C ends the program; where it was set to be ignored, it stays so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _on_interruption)


@contextmanager
def defer_sigint() -> Iterator[Callable[[], None]]:
    """Ctrl-C waits until the block is left.

    The block gets a function that raises KeyboardInterrupt if one waits. Once the block is done,
    Ctrl-C comes too late: what was asked for is there.
    """
    if signal.getsignal(signal.SIGINT) is not _on_interruption:
        yield lambda: None  # another program's Python: Ctrl-C is its own
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
    """Python complains of a signal that comes in the moment in which it is set to SIG_IGN."""


def _ignore_for_good() -> None:
    """Also while Python ends, when handlers of ours are no longer asked."""
    signal.signal(signal.SIGINT, _ignored)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end() -> None:
    """End here and now: an exception would be lost in some libraries while they are imported."""
    signal.signal(signal.SIGINT, _ignored)
    for take_away in before_the_end:
        take_away()
    with suppress(OSError):
        os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)
