"""The text of a file, or of standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

from tracer.errors import Problem, TracerError

MOST = 64 * 2**20
"""Bytes that are read; what goes on for ever ends here."""


def read_file(path: Path, name: str | None = None) -> str:
    """The text of a file, its byte-order mark and its line endings as they are.

    Problems call the file by `name`, or by its path.

    Raises:
        TracerError: the file cannot be read, is too large, or is not UTF-8.
    """
    name = str(path) if name is None else name
    try:
        with path.open("rb") as file:
            return _text(file, name)
    except (OSError, ValueError) as error:  # a ValueError: a NUL in the name
        raise TracerError(Problem(f"cannot be read: {reason(error)}", name)) from None


def read_standard_input(name: str) -> str:
    """All of standard input.

    Raises:
        TracerError: it is closed, cannot be read, is too large, or is not UTF-8.
    """
    if sys.stdin is None:
        raise TracerError(Problem("cannot be read: standard input is closed", name))
    try:
        return _text(sys.stdin.buffer, name)
    except OSError as error:
        raise TracerError(Problem(f"cannot be read: {reason(error)}", name)) from None


def reason(error: OSError | ValueError) -> str:
    """Why a file cannot be read or written, without its name."""
    return str(getattr(error, "strerror", None) or error)


def _text(file: BinaryIO, name: str) -> str:
    content = file.read(MOST + 1)
    if len(content) > MOST:
        message = f"cannot be read: more than {MOST // 2**20} MB, expected less"
        raise TracerError(Problem(message, name))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        message = f"not UTF-8: byte 0x{content[error.start]:02X}"
        raise TracerError(Problem(message, name, line, column)) from None
