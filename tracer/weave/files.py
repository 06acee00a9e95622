"""An author's files, woven: which of them have something stale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracer import progress
from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file
from tracer.request import Request
from tracer.weave.directives import renderer
from tracer.weave.marks import difference, weave


@dataclass(frozen=True)
class Stale:
    """A file, what it holds and what it should hold, and the difference as a patch."""

    path: Path
    held: str
    woven: str
    difference: str


def stale(paths: Sequence[Path], asked: Callable[[Sequence[str]], Request]) -> list[Stale]:
    """The files that weaving changes; `asked` reads the words of a mark.

    Raises:
        TracerError: all that is wrong in any of them.
    """
    texts = [(path, read_file(path)) for path in paths]
    problems: list[Problem] = []
    found = []
    for path, text in texts:
        progress.tell(f"weave {path}")
        try:
            woven = weave(text, str(path), renderer(path, asked))
        except TracerError as error:
            problems += error.problems
        else:
            if woven != text:
                found.append(Stale(path, text, woven, difference(text, woven, str(path))))
    if problems:
        raise TracerError(*problems)
    return found
