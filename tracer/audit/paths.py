"""Names → the files to audit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from tracer.audit.texts import ENDINGS


def files(path: Path, unreadable: Callable[[OSError], None]) -> Iterator[Path]:
    """Yield the file, or the supported files of a folder, hidden ones left out.

    `unreadable` is called for each folder that cannot be listed.
    """
    if not os.path.isdir(path):  # noqa: PTH112  # Path.is_dir() raises for a name that is too long
        yield path
        return
    found: list[Path] = []
    for folder, inner, names in os.walk(path, onerror=unreadable):
        inner[:] = (name for name in inner if not name.startswith("."))
        found += (Path(folder, name) for name in names if not name.startswith("."))
    yield from sorted(each for each in found if each.suffix.lower() in ENDINGS)
