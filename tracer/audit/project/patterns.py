"""Patterns for files, as ruff has them: `drafts` at any depth, `docs/*.md` from a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from fnmatch import translate
from glob import escape
from pathlib import Path


class Patterns:
    """Patterns; one that matches a folder matches everything in it.

    A pattern with a slash begins at the root. `*` also matches slashes, and `**/` no folder.
    """

    def __init__(self, patterns: Sequence[str] = (), root: Path | None = None) -> None:
        self.root = absolute(root or Path())
        plain = [pattern.removesuffix("/") for pattern in patterns]
        self._names = _any_of([pattern for pattern in plain if "/" not in pattern])
        paths = [absolute(escape(str(self.root)) / Path(each)) for each in plain if "/" in each]
        whole = [path.as_posix() for path in paths]
        self._paths = _any_of([*whole, *(path.replace("**/", "") for path in whole)])

    def __bool__(self) -> bool:
        return bool(self._names or self._paths)

    def match(self, path: Path) -> bool:
        """Return whether any pattern matches the path, or a folder that it lies in."""
        if not self:
            return False
        whole = absolute(path)
        inner = whole.relative_to(self.root) if whole.is_relative_to(self.root) else whole
        names, paths = self._names, self._paths
        if names and any(map(names.match, inner.parts)):
            return True
        if paths:
            return any(paths.match(each.as_posix()) for each in (whole, *whole.parents))
        return False


def absolute(path: Path) -> Path:
    """Return the absolute path, without `..`; links stay."""
    return Path(os.path.normpath(path.absolute()))


def _any_of(globs: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(translate, globs))) if globs else None
