"""Writing a file so that it is never half there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tracer.errors import Problem, TracerError


def replace(path: Path, content: str) -> None:
    """Put `content` in place of what the file holds, as a whole or not at all.

    Raises:
        TracerError: the file cannot be written.
    """
    try:
        handle, temporary = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(content)
            Path(temporary).chmod(_mode(path))
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise TracerError(Problem(f"cannot be written: {error.strerror}", str(path))) from None


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced; else those that a new file would have."""
    if path.exists():
        return path.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
