"""Keep a running command from overwriting the files that it reads.

A file is registered when it is opened (`reading.py`) and when its name is checked for writing
(`targets.py`), so no command has to list its inputs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from tracer.errors import Problem, TracerError


@dataclass(eq=False)
class _Files:
    read: list[os.stat_result] = field(default_factory=list)
    written: list[tuple[os.stat_result, Problem]] = field(default_factory=list)


_files: ContextVar[_Files | None] = ContextVar("files", default=None)


@contextmanager
def registered() -> Iterator[None]:
    """Register the files of the block; outside of such a block, as in the library, none are."""
    token = _files.set(_Files())
    try:
        yield
    finally:
        _files.reset(token)


def register_input(found: os.stat_result) -> None:
    """Register a file that is read.

    Raises:
        TracerError: it is already registered for writing.
    """
    files = _files.get()
    if files is None or not stat.S_ISREG(found.st_mode):
        return
    files.read.append(found)
    for target, problem in files.written:
        if os.path.samestat(target, found):
            raise TracerError(problem)


def register_target(found: os.stat_result, problem: Problem) -> None:
    """Register a file for writing, and the problem to report if it is an input.

    Raises:
        TracerError: it is already an input.
    """
    files = _files.get()
    if files is None:
        return
    files.written.append((found, problem))
    if any(os.path.samestat(found, read) for read in files.read):
        raise TracerError(problem)
