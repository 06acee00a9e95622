"""Patterns for files, as in .gitignore: `drafts` at any depth, `docs/*.md` from a folder."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from pathlib import Path

from tracer.errors import Problem, TracerError


class Patterns:
    """Patterns; one that matches a folder matches everything in it."""

    def __init__(self, patterns: Sequence[str] = (), root: Path | None = None) -> None:
        """Create patterns; one with a slash begins at the root, and may begin with `./`.

        Raises:
            TracerError: a pattern is wrong.
        """
        self._root = absolute(root or Path())
        self._spec = None
        if patterns:
            from pathspec import GitIgnoreSpec

            lines = [re.sub(r"^\./", "/", pattern) for pattern in patterns]
            try:
                with warnings.catch_warnings(action="ignore"):  # of Python's re, for `[[]`
                    self._spec = GitIgnoreSpec.from_lines(lines)
            except (ValueError, re.error) as error:
                raise TracerError(Problem(f"not a pattern as in .gitignore: {error}")) from None

    def __bool__(self) -> bool:
        return self._spec is not None

    def match(self, path: Path) -> bool:
        """Return whether the patterns match the path, or a folder that it lies in."""
        if self._spec is None:
            return False
        return self._spec.match_file(os.path.relpath(path, self._root))


def absolute(path: Path) -> Path:
    """Return the absolute path, without `..`; links stay."""
    return Path(os.path.normpath(path.absolute()))
