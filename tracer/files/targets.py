"""Check the files that a command is to write, before it computes and again when it writes."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tracer.errors import Problem, TracerError
from tracer.files.inputs import register_target
from tracer.files.reading import reason

FORCE = " (--force overwrites it)"
"""The hint of commands that have this option."""


@dataclass(frozen=True)
class Target:
    """A file to be written, with the name that the user gave."""

    name: Path
    path: Path
    """The path with links resolved."""
    found: os.stat_result | None
    """The existing file, if any."""

    @property
    def is_stream(self) -> bool:
        """Whether it is written to directly: a device, a pipe, or the program's own output."""
        return self.found is not None and not (
            stat.S_ISREG(self.found.st_mode) and not _is_printed_to(self.found)
        )


def check(
    names: Iterable[Path], make: Path | None = None, *, force: bool | None = None
) -> list[Target]:
    """Return the targets, checked; the folder `make` need not exist yet.

    `force` also overwrites files that the command reads; None if the command has no --force.

    Raises:
        TracerError: a target cannot be written, or the command reads it.
    """
    hint = "" if force is None else FORCE
    targets: list[Target] = []
    for name in names:
        target = _target(name, make)
        if target.found and not force:
            register_target(target.found, _problem(name, f"the command reads it{hint}"))
        for other in targets:
            if not target.is_stream and _are_one(target, other):
                raise refused(name, f"{other.name} is to be written there too")
        targets.append(target)
    return targets


@contextmanager
def writing_to(name: Path) -> Iterator[None]:
    """Raise the system's errors while writing a file as problems that name the file."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise refused(name, reason(error)) from None


def refused(name: Path, why: str) -> TracerError:
    """Return the error for a file that is not written."""
    return TracerError(_problem(name, why))


def _problem(name: Path, why: str) -> Problem:
    return Problem(f"cannot be written: {why}", str(name))


def _target(name: Path, make: Path | None) -> Target:
    with writing_to(name):
        path = Path(os.path.realpath(name))
        try:
            found = name.stat()
        except FileNotFoundError:
            if not path.parent.is_dir() and name.parent != make:
                raise
            return Target(name, path, None)
        target = Target(name, path, found)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, "a folder, expected a file")
        if not target.is_stream:
            if not found.st_mode & 0o222 or not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, "it is read-only")
            if found.st_nlink > 1:
                links = f"{found.st_nlink} hard links lead to it"
                raise OSError(errno.EMLINK, f"{links}, and a new file would part them")
        return target


def _are_one(one: Target, other: Target) -> bool:
    if one.found and other.found:
        return os.path.samestat(one.found, other.found)
    return one.path == other.path


def _is_printed_to(found: os.stat_result) -> bool:
    """Return whether it is the standard output or error: `-o /dev/stdout > file`."""
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(found, os.fstat(number)):
                return True
    return False
