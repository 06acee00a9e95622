"""Read files and standard input; all files are opened for reading here."""

from __future__ import annotations

import os
import stat
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tracer.errors import Problem, TracerError
from tracer.files.inputs import register_input

MOST = 64 * 2**20
"""The limit of bytes per file, which also stops endless input."""
AT_ONCE = 2**16
"""Bytes read at a time, so that a small file needs little memory."""


def open_file(path: Path, name: str | None = None, *, is_input: bool = True) -> BinaryIO:
    """Open a regular file for reading; refuse a pipe or a device without waiting for it.

    Problems call the file `name`, or its path if that is None. An input must not be overwritten; a
    file that the command itself replaces is not an input.

    Raises:
        TracerError: the file cannot be read, or is to be written by the same command.
    """
    with reading_from(str(path) if name is None else name), ExitStack() as closing:
        file = closing.enter_context(open(path, "rb", opener=_without_waiting))
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError("expected a regular file")
        if is_input:
            register_input(found)
        closing.pop_all()
        return file


def read_file(path: Path, name: str | None = None, *, is_input: bool = True) -> str:
    """Return the text of a file, with its byte-order mark and its line endings.

    `name` and `is_input` are as in `open_file`.

    Raises:
        TracerError: the file cannot be read, is too large, or is not UTF-8.
    """
    name = str(path) if name is None else name
    with open_file(path, name, is_input=is_input) as file:
        return _text(file, name)


def read_document(path: Path) -> str:
    """Return the text of a file in UTF-8, UTF-16 with a byte-order mark, or else Windows-1252.

    Windows-1252 has the letters of Latin-1.

    Raises:
        TracerError: the file cannot be read or is too large.
    """
    name = str(path)
    with open_file(path, name) as file:
        content = _content(file, name)
    encodings = ["utf-16"] if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else []
    for encoding in (*encodings, "utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            return content.decode(encoding)
    return content.decode("latin-1")


def read_standard_input(name: str) -> str:
    """Return all of standard input.

    Raises:
        TracerError: it is closed, cannot be read, is too large, or is not UTF-8.
    """
    if sys.stdin is None:
        raise TracerError(Problem("cannot be read: standard input is closed", name))
    with suppress(OSError):  # standard input may have no file descriptor
        register_input(os.fstat(sys.stdin.fileno()))
    return _text(sys.stdin.buffer, name)


@contextmanager
def reading_from(name: str) -> Iterator[None]:
    """Raise the system's errors while reading a file as problems that name the file."""
    try:
        yield
    except (OSError, ValueError) as error:  # a ValueError: a NUL in the name
        raise TracerError(Problem(f"cannot be read: {reason(error)}", name)) from None


def reason(error: OSError | ValueError) -> str:
    """Return why a file cannot be read or written, without its name."""
    return str(getattr(error, "strerror", None) or error)


def _without_waiting(path: str, flags: int) -> int:
    try:
        return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # Windows has no such flag
    except PermissionError:
        if Path(path).is_dir():  # Windows does not open a folder
            raise OSError("expected a regular file") from None
        raise


def _content(file: BinaryIO, name: str) -> bytearray:
    content = bytearray()
    with reading_from(name):
        while len(content) <= MOST and (block := file.read(AT_ONCE)):
            content += block
    if len(content) > MOST:
        message = f"cannot be read: more than {MOST // 2**20} MB, expected less"
        raise TracerError(Problem(message, name))
    return content


def _text(file: BinaryIO, name: str) -> str:
    content = _content(file, name)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        message = f"not UTF-8: byte 0x{content[error.start]:02X}"
        raise TracerError(Problem(message, name, line, column)) from None
