"""Drafts: new files in a hidden folder beside their targets, until they are put in place.

The folder is locked during a run. A folder that a killed run left behind is removed by the next
run that writes beside it.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

PREFIX, LOCK = ".decoder-trace-", "lock"


class Drafts:
    """The hidden folder of a run beside its targets; leaving the context removes it."""

    def __init__(self, beside: Path) -> None:
        _clear_abandoned(beside)
        self._folder, self._lock = _made(beside)
        self._count = 0

    def __enter__(self) -> Drafts:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            _remove(self._folder, self._lock)
        self._lock.close()

    def written(self, content: str | bytes) -> Path:
        """Return a new draft, flushed to the disk, with the mode of any new file."""
        draft = self._next()
        with draft.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        return draft

    def copied(self, path: Path) -> Path:
        """Return a draft that is a copy of a file."""
        return Path(shutil.copyfile(path, self._next()))

    def _next(self) -> Path:
        self._count += 1
        return self._folder / str(self._count)


def _made(beside: Path) -> tuple[Path, BinaryIO]:
    """Create a folder; return it and its open lock."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=beside))
        try:
            lock = (folder / LOCK).open("xb")
        except FileNotFoundError:  # another run removed it as abandoned, before it had a lock
            continue
        _locks(lock, wait=True)
        if (folder / LOCK).exists():
            return folder, lock
        lock.close()


def _clear_abandoned(beside: Path) -> None:
    for folder in beside.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if _is_ours(folder):
                _clear_if_abandoned(folder)


def _is_ours(folder: Path) -> bool:
    """Return whether this user owns the folder, and it is no link that leads elsewhere."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    return sys.platform == "win32" or folder.stat().st_uid == os.getuid()


def _clear_if_abandoned(folder: Path) -> None:
    try:
        lock = (folder / LOCK).open("r+b")
    except FileNotFoundError:  # killed before it had a lock, or when only the lock was removed
        folder.rmdir()
        return
    with lock:
        if _locks(lock, wait=False):
            _remove(folder, lock)


def _remove(folder: Path, lock: BinaryIO) -> None:
    """Remove the folder; the lock goes last, so a folder without a lock is empty."""
    for file in folder.iterdir():
        if file.name != LOCK:
            file.unlink()
    if sys.platform == "win32":
        lock.close()  # Windows cannot remove an open file
    (folder / LOCK).unlink()
    folder.rmdir()


def _locks(file: BinaryIO, *, wait: bool) -> bool:
    """Lock a file for as long as it is open; return whether that succeeded."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
