"""Copy the attributes of a file to the file that replaces it."""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path


def carry_over(old: Path, new: Path) -> None:
    """Copy owner, group, mode and extended attributes, which include ACLs, to a new file.

    Raises:
        OSError: an attribute cannot be copied.
    """
    before = old.stat()
    if sys.platform != "win32":
        for owner, group in ((before.st_uid, -1), (-1, before.st_gid)):
            with suppress(PermissionError):
                os.chown(new, owner, group)
    _carry_over_extended(old, new)
    new.chmod(stat.S_IMODE(before.st_mode))  # last: a new owner clears setuid and setgid
    after = new.stat()
    for what, is_kept in {
        "owner": before.st_uid == after.st_uid,
        "group": before.st_gid == after.st_gid,
        "mode": before.st_mode == after.st_mode,
    }.items():
        if not is_kept:
            raise _not_given(what)


def _carry_over_extended(old: Path, new: Path) -> None:
    if sys.platform != "linux":
        return
    before, after = _extended(old), _extended(new)
    for name in after.keys() - before.keys():  # those that the folder sets on new files
        os.removexattr(new, name)
    for name, content in before.items():
        if after.get(name) != content:
            try:
                os.setxattr(new, name, content)
            except OSError:
                raise _not_given(f"extended attribute {name}") from None


def _extended(path: Path) -> dict[str, bytes]:
    if sys.platform != "linux":
        return {}
    try:
        names = os.listxattr(path)
    except OSError:  # a file system without extended attributes
        return {}
    return {name: os.getxattr(path, name) for name in names}


def _not_given(what: str) -> OSError:
    return PermissionError(errno.EPERM, f"a new file could not be given its {what}")
