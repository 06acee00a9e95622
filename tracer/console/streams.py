"""Standard output and standard error: what is printed arrives, or it is told why not."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn, TextIO

from tracer.errors import Problem, TracerError, format_problems


def prepare() -> None:
    """Signs that the encoding lacks come out as escapes; what cannot be written is told.

    A stream that was closed is one that cannot be written.
    """
    sys.stdout = _Output(*_taken_over(sys.stdout))
    # If it fails, nobody is left to be told; the exit code stays right.
    sys.stderr = _Stream(*_taken_over(sys.stderr))
    # Where others ask how large the terminal is.
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[misc]


@contextmanager
def report_problems() -> Iterator[None]:
    """Problems are a line each on standard error, and exit code 2; so is what the system refuses.

    A full disk may be told of at the very end only.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except TracerError as error:
        _end(error.problems)
    except OSError as error:  # where nobody looked for it: a home or a current folder that is gone
        _end([Problem(f"cannot go on: {error.strerror or error}", error.filename)])
    except MemoryError:
        _end([Problem("cannot go on: not enough memory")])


def _end(problems: Sequence[Problem]) -> NoReturn:
    sys.stderr.writelines(f"{line}\n" for line in format_problems(problems))
    raise SystemExit(2) from None


class _Stream(io.TextIOWrapper):
    """A stream of the program's own, which can fail once."""

    def __init__(self, buffer: io.BufferedWriter, encoding: str, line_buffering: bool) -> None:
        super().__init__(buffer, encoding, "backslashreplace", line_buffering=line_buffering)

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self._fail(error)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """What is left to write goes nowhere, lest it fails a second time at the very end."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())


class _Output(_Stream):
    def _fail(self, error: OSError) -> None:
        super()._fail(error)
        reason = "it is closed" if error.errno == errno.EBADF else error.strerror
        raise TracerError(Problem(f"cannot be written: {reason}", "standard output"))


def _taken_over(stream: TextIO | None) -> tuple[io.BufferedWriter, str, bool]:
    """What a stream writes to, its encoding, and whether it writes line by line."""
    if not isinstance(stream, io.TextIOWrapper):
        # Closed. The null device, open for reading only, takes its number and fails as it does.
        return os.fdopen(os.open(os.devnull, os.O_RDONLY), "wb"), "utf-8", True
    encoding, line_buffering = stream.encoding, stream.line_buffering
    taken = stream.detach()
    if isinstance(taken, io.RawIOBase):  # of PYTHONUNBUFFERED: it may write a part, and be content
        taken = io.BufferedWriter(taken)
    return taken, encoding, line_buffering
