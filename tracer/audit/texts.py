"""Files → texts: each in one markup, with line positions; a notebook has one text per cell."""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import cached_property
from pathlib import Path

from tracer.dataclass import frozen
from tracer.errors import Problem, TracerError


class Markup(Enum):
    """The markup of a text."""

    MARKDOWN = auto()
    LATEX = auto()
    RESTRUCTURED = auto()
    HTML = auto()
    PLAIN = auto()
    NOTEBOOK = auto()


ENDINGS = {
    **dict.fromkeys((".md", ".markdown", ".mdx", ".qmd", ".rmd"), Markup.MARKDOWN),
    **dict.fromkeys((".tex", ".ltx"), Markup.LATEX),
    **dict.fromkeys((".rst", ".rest"), Markup.RESTRUCTURED),
    **dict.fromkeys((".html", ".htm", ".xhtml"), Markup.HTML),
    **dict.fromkeys((".txt", ".text"), Markup.PLAIN),
    ".ipynb": Markup.NOTEBOOK,
}

_SILENCED = re.compile(r"\baudit: ignore\b")
_ALONE = re.compile(r"\s*(?:<!--|%+|#+|//|\.\.)?\s*audit: ignore\b[^\w]*\Z")


@frozen
class Text:
    """A text with its name in messages."""

    name: str
    content: str
    markup: Markup

    @cached_property
    def _starts(self) -> list[int]:
        ends = (found.end() for found in re.finditer("\n", self.content))
        return [0, *ends, len(self.content) + 1]

    def place(self, at: int) -> tuple[int, int]:
        """Return the line and the column, from 1."""
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return a line without its line end."""
        start, following = self._starts[number - 1 : number + 1]
        return self.content[start : following - 1].rstrip("\r")

    @cached_property
    def silenced(self) -> frozenset[int]:
        """The lines to ignore: with the remark, or after a line that holds only the remark."""
        found = set()
        for match in _SILENCED.finditer(self.content):
            number, _ = self.place(match.start())
            found |= {number, number + 1} if _ALONE.match(self.line(number)) else {number}
        return frozenset(found)


MOST = 10_000_000
"""A text with more characters is not read; this many take half a minute."""


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


def texts(name: str, content: str) -> list[Text]:
    """Return the texts of a file; the suffix of its name determines the markup, else it is plain.

    Raises:
        TracerError: it is binary, too large, or not a notebook although its name says so.
    """
    if "\0" in content:
        line = content[: content.index("\0")].count("\n") + 1
        raise TracerError(Problem("a NUL character, expected text", name, line))
    markup = ENDINGS.get(Path(name).suffix.lower(), Markup.PLAIN)
    found = (
        list(_cells(name, content)) if markup is Markup.NOTEBOOK else [Text(name, content, markup)]
    )
    if sum(len(text.content) for text in found) > MOST:
        message = f"more than {MOST // 10**6} million characters, expected less"
        raise TracerError(Problem(message, name))
    return found


_OF_CELLS = {"markdown": Markup.MARKDOWN}


def _cells(name: str, content: str) -> Iterator[Text]:
    """Yield the cells of a notebook, each with its number; their output is left out."""
    try:
        cells = json.loads(content.removeprefix("\ufeff"))["cells"]
        for number, cell in enumerate(cells, 1):
            source = cell["source"]
            joined = source if isinstance(source, str) else "".join(source)
            markup = _OF_CELLS.get(cell["cell_type"], Markup.PLAIN)
            yield Text(f"{name}:cell {number}", joined.replace("\0", " "), markup)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise TracerError(Problem("no notebook: expected JSON with cells", name)) from None
