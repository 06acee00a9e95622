"""Weave an author's files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tracer.console import progress
from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file
from tracer.weave.directives import renderer
from tracer.weave.patch import patch
from tracer.weave.woven import weave


@dataclass(frozen=True)
class File:
    """A file, its old and new text, and its number of marks."""

    path: Path
    old: str
    text: str
    marks: int

    @property
    def is_stale(self) -> bool:
        """Whether weaving changes it."""
        return self.text != self.old

    @property
    def difference(self) -> str:
        """The changes as a patch; empty if there are none."""
        return patch(self.old, self.text, str(self.path))


def woven(paths: Sequence[Path]) -> list[File]:
    """Return the files with their woven text.

    Raises:
        TracerError: all problems in any of the files.
    """
    problems: list[Problem] = []
    files = []
    for path in paths:
        progress.report(f"weave {path}")
        try:
            old = read_file(path, is_input=False)
            new = weave(old, str(path), renderer(path))
        except TracerError as error:
            problems += error.problems
        else:
            files.append(File(path, old, new.text, new.marks))
    if problems:
        raise TracerError(*problems)
    return files
