"""Show a long text on a terminal in the user's pager, as git does."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LESS = "FRX"
"""Options of less: quit if the text fits on one screen, keep colors, leave the text on screen."""

_OF_LESS = {"LESS": LESS, **({"LESSCHARSET": "utf-8"} if sys.platform == "win32" else {})}
"""The environment of less, where the variables are not set; on Windows it reads no locale."""


def page(text: str) -> bool:
    """Show a text in the pager, if standard output is a terminal and the text does not fit on it.

    Return False if the text still has to be printed, as when there is no pager. A text counts as
    shown even if the pager is quit early.
    """
    if not _is_long(text) or not (command := _command()):
        return False
    import subprocess

    written = text.encode(sys.stdout.encoding, "backslashreplace")
    sys.stdout.flush()
    with _left_to_the_pager():
        try:
            subprocess.run(command, input=written, env={**_OF_LESS, **os.environ}, check=False)
        except OSError:
            return False
    return True


def _is_long(text: str) -> bool:
    """Return whether standard output is a terminal, and the text is too long for it."""
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return False
    import shutil

    return text.count("\n") >= shutil.get_terminal_size().lines


def _command() -> list[str] | None:
    """Return the pager and its options; None without a pager, or if an empty one is set."""
    import shlex
    import shutil

    names = ("DECODER_TRACE_PAGER", "PAGER")
    named = next((os.environ[name] for name in names if name in os.environ), "less")
    try:
        # Windows separates folders with backslashes, and quotes a path that has spaces.
        is_windows = sys.platform == "win32"
        command = [word.strip('"') for word in shlex.split(named, posix=not is_windows)]
    except ValueError:
        return None
    return command if command and shutil.which(command[0]) else None


@contextmanager
def _left_to_the_pager() -> Iterator[None]:
    """Let only the pager react to Ctrl-C; survive the closed pipe of a pager that is quit early."""
    import signal

    def nothing(number: int, frame: object) -> None:
        """Do nothing; unlike this handler, SIG_IGN would be inherited by the pager."""

    concerned = [signal.SIGINT, *([signal.SIGPIPE] if hasattr(signal, "SIGPIPE") else [])]
    before = [signal.signal(one, nothing) for one in concerned]
    try:
        yield
    finally:
        for one, handler in zip(concerned, before, strict=True):
            signal.signal(one, handler)
