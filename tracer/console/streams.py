"""Standard output and standard error: what cannot be written is reported."""

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
    """Escape characters that the encoding lacks, and report what cannot be written.

    A closed stream counts as one that cannot be written.
    """
    sys.stdout = _Output(*_taken_over(sys.stdout))
    # If standard error fails, nothing can report it; the exit code stays right.
    sys.stderr = _Stream(*_taken_over(sys.stderr))
    # Libraries ask these for the size of the terminal.
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[misc]


@contextmanager
def report_problems() -> Iterator[None]:
    """Print each problem on a line of standard error and exit with 2; OSErrors count as problems.

    The final flush may be the first to fail, for example because the disk is full.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except TracerError as error:
        _end(error.problems)
    except OSError as error:  # an OSError that no other code expects, such as a missing home folder
        _end([Problem(f"cannot go on: {error.strerror or error}", error.filename)])
    except MemoryError:
        _end([Problem("cannot go on: not enough memory")])


def _end(problems: Sequence[Problem]) -> NoReturn:
    sys.stderr.writelines(f"{line}\n" for line in format_problems(problems))
    raise SystemExit(2) from None


class _Stream(io.TextIOWrapper):
    """One of the program's standard streams, which fails at most once."""

    def __init__(
        self, buffer: io.BufferedWriter, encoding: str, newline: str | None, line_buffering: bool
    ) -> None:
        super().__init__(buffer, encoding, "backslashreplace", newline, line_buffering)

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
        """Redirect the stream to the null device, so that it does not fail again at exit."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())


class _Output(_Stream):
    def _fail(self, error: OSError) -> None:
        super()._fail(error)
        if _has_gone(error):  # `| head`: the reader has all that it wants
            return
        reason = "it is closed" if error.errno == errno.EBADF else error.strerror
        raise TracerError(Problem(f"cannot be written: {reason}", "standard output"))


def _taken_over(stream: TextIO | None) -> tuple[io.BufferedWriter, str, str | None, bool]:
    """Return a stream's buffer, its encoding, its line ends, and whether it is line-buffered.

    What Windows writes to a file or a pipe is UTF-8 with line feeds, as on other systems: the
    code page there lacks most of the signs. PYTHONIOENCODING sets another encoding.
    """
    if not isinstance(stream, io.TextIOWrapper):
        # Closed: the null device, opened read-only, gets its file descriptor and fails like it.
        return os.fdopen(os.open(os.devnull, os.O_RDONLY), "wb"), "utf-8", "\n", True
    encoding, newline, line_buffering = stream.encoding, None, stream.line_buffering
    if _is_windows() and not stream.isatty():
        encoding = encoding if "PYTHONIOENCODING" in os.environ else "utf-8"
        newline = "\n"
    taken = stream.detach()
    if isinstance(taken, io.RawIOBase):  # unbuffered by PYTHONUNBUFFERED: a write may be partial
        taken = io.BufferedWriter(taken)
    return taken, encoding, newline, line_buffering


def _has_gone(error: OSError) -> bool:
    """Return whether the reader of a pipe has gone, which Windows calls an invalid argument."""
    return error.errno == errno.EPIPE or (_is_windows() and error.errno == errno.EINVAL)


def _is_windows() -> bool:
    return sys.platform == "win32"
