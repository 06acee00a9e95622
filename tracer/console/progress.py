"""Show progress on a terminal when something takes more than a second."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from tracer.errors import printable

PATIENCE = 1.0
"""Seconds before progress is shown, and the longest wait for it to be cleared."""


class _Sign:
    """The current activity, shown on standard error until it is stopped."""

    def __init__(self, what: str) -> None:
        from threading import Timer

        self.what = what
        self.status: Any = None  # Rich's status; Rich is slow to import
        self.timer = Timer(PATIENCE, self.show)
        self.timer.daemon = True
        self.since = monotonic()

    def left(self, done: int, of: int) -> str:
        """`, about 12 s left`, once more than a second has passed."""
        passed = monotonic() - self.since
        if not done or passed < PATIENCE:
            return ""
        return f", about {passed * (of - done) / done:.0f} s left"

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
def show_activity(what: str) -> Iterator[None]:
    """Show an activity while the block runs, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from tracer.console import interruption  # there may be no signals where nothing is shown

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


def is_shown() -> bool:
    """Return whether somebody may see reports."""
    return bool(_signs)


def report(what: str, done: int = 0, of: int = 0) -> None:
    """Update the activity: `word 3 of 10`.

    Where `done` parts of `of` are done, also say how long the others will take; 0 is the start.
    """
    for sign in _signs:
        if not done:
            sign.since = monotonic()
        sign.update(what + sign.left(done, of))
