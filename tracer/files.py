"""Reading a file; writing one so that it is never half there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tracer.errors import Problem, TracerError


def read(path: Path) -> str:
    """The text of a file, its line endings as they are.

    Raises:
        TracerError: the file cannot be read, or is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise TracerError(Problem(f"cannot be read: {error.strerror}", str(path))) from None
    except UnicodeDecodeError as error:
        message = f"not UTF-8: byte 0x{error.object[error.start]:02X}"
        raise TracerError(Problem(message, str(path))) from None


def replace(path: Path, content: str, *, create_folder: bool = False) -> None:
    """Put `content` in place of what the file holds, as a whole or not at all.

    Raises:
        TracerError: the file cannot be written.
    """
    try:
        if create_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        path = path.resolve()  # of a link, the file that it stands for
        if path.exists() and not path.is_file():
            path.write_text(content, encoding="utf-8", newline="")  # a pipe or a device
            return
        handle, temporary = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
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
