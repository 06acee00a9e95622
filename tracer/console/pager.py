"""A long text on a terminal: shown by the person's pager, as git does."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LESS = "FRX"
"""What fits is only printed, colours are kept, the text stays on the screen behind it."""


def page(text: str) -> bool:
    """Show a text in the pager, if standard output is a terminal that it is too long for.

    False where it is to be printed instead, as where there is no pager. One that is quit early has
    shown enough.
    """
    if not _is_long(text) or not (command := _command()):
        return False
    import subprocess

    written = text.encode(sys.stdout.encoding, "backslashreplace")
    sys.stdout.flush()
    with _left_to_the_pager():
        try:
            subprocess.run(command, input=written, env={"LESS": LESS, **os.environ}, check=False)
        except OSError:
            return False
    return True


def _is_long(text: str) -> bool:
    """Whether it is for a screen, and longer than that."""
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return False
    import shutil

    return text.count("\n") >= shutil.get_terminal_size().lines


def _command() -> list[str] | None:
    """The pager and its options; None if there is none, or an empty one is named."""
    import shlex
    import shutil

    names = ("DECODER_TRACE_PAGER", "PAGER")
    named = next((os.environ[name] for name in names if name in os.environ), "less")
    try:
        command = shlex.split(named, posix=os.name != "nt")
    except ValueError:
        return None
    return command if command and shutil.which(command[0]) else None


@contextmanager
def _left_to_the_pager() -> Iterator[None]:
    """Ctrl-C, and the end of who reads, concern the pager alone."""
    import signal

    def nothing(number: int, frame: object) -> None:
        """Not ignored, which the pager would inherit."""

    concerned = [signal.SIGINT, *([signal.SIGPIPE] if hasattr(signal, "SIGPIPE") else [])]
    before = [signal.signal(one, nothing) for one in concerned]
    try:
        yield
    finally:
        for one, handler in zip(concerned, before, strict=True):
            signal.signal(one, handler)
