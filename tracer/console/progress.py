"""A sign of life for who waits at a terminal, once something takes more than a second."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

from tracer.console import interruption
from tracer.errors import printable

PATIENCE = 1.0
"""Seconds until something is shown, and the most to wait for it when it is to be taken away."""


class _Sign:
    """What is being done, shown on standard error until it is stopped."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.status: Any = None  # of Rich, which takes its time to import
        self.timer = Timer(PATIENCE, self.show)
        self.timer.daemon = True

    def show(self) -> None:
        from rich.console import Console

        self.status = Console(stderr=True).status("")
        self.update(self.what)
        self.status.start()

    def update(self, what: str) -> None:
        self.what = what
        if self.status is not None:
            from rich.text import Text

            self.status.update(Text(printable(what), no_wrap=True, overflow="ellipsis"))

    def stop(self) -> None:
        self.timer.cancel()
        self.timer.join(PATIENCE)
        if self.status is not None:
            self.status.stop()


_signs: list[_Sign] = []


@contextmanager
def shown(what: str) -> Iterator[None]:
    """Show what is being done while the block is at work; only where a person sees it."""
    if not sys.stderr.isatty():
        yield
        return
    sign = _Sign(what)
    sign.timer.start()
    _signs.append(sign)
    interruption.before_the_end.append(sign.stop)
    try:
        yield
    finally:
        sign.stop()
        interruption.before_the_end.remove(sign.stop)
        _signs.remove(sign)


def report(what: str) -> None:
    """Where the work is by now: `word 3 of 10`."""
    for sign in _signs:
        sign.update(what)
