"""A file → texts: each in one markup, with line positions; a notebook has one text per cell."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache, cached_property, partial
from pathlib import Path
from typing import NamedTuple

from tracer.audit.reading.notebooks import cells, lines_in_file
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


class Place(NamedTuple):
    """Where something stands; lines and columns are those of the cell in a notebook."""

    file: str
    cell: int | None
    line: int
    column: int
    end_line: int
    end_column: int
    lines_in_file: tuple[int, int]
    """The first and the last line in the file."""

    @property
    def text(self) -> str:
        """The name of the text: `a.md`, or `a.ipynb:cell 3`."""
        return self.file if self.cell is None else f"{self.file}:cell {self.cell}"

    def __str__(self) -> str:
        return f"{self.text}:{self.line}:{self.column}"


@dataclass(frozen=True, eq=False)
class Text:
    """A text, with the name of its file."""

    name: str
    content: str
    markup: Markup
    cell: int | None = None
    """Its number, if it is a cell of a notebook."""
    other_cells: int = 0
    """The number of characters in the other cells of the notebook."""
    lines_in_file: Callable[[], list[list[int]]] = list
    """Returns, for each cell, the line of the file in which each of its lines stands."""

    @cached_property
    def _starts(self) -> list[int]:
        ends = (found.end() for found in re.finditer("\n", self.content))
        return [0, *ends, len(self.content) + 1]

    def place(self, at: int) -> tuple[int, int]:
        """Return the line and the column, from 1."""
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1

    def span(self, start: int, end: int) -> Place:
        """Return the place of a stretch."""
        (line, column), (end_line, end_column) = self.place(start), self.place(end)
        lines = self._in_file(line), self._in_file(end_line)
        return Place(self.name, self.cell, line, column, end_line, end_column, lines)

    def on_one_line(self, start: int, end: int) -> str:
        """Return a stretch with single spaces."""
        return " ".join(self.content[start:end].split())

    def _in_file(self, line: int) -> int:
        known = None if self.cell is None else self.lines_in_file()[self.cell - 1]
        return line if known is None else known[min(line, len(known)) - 1] if known else 1

    def line(self, number: int) -> str:
        """Return a line without its line end."""
        start, following = self._starts[number - 1 : number + 1]
        return self.content[start : following - 1].rstrip("\r")


MOST = 10_000_000
"""A text with more characters is not read; this many take half a minute."""


def texts(name: str, content: str) -> list[Text]:
    """Return the texts of a file; the suffix of its name determines the markup, else it is plain.

    Raises:
        TracerError: it is binary, too large, or not a notebook although its name says so.
    """
    if "\0" in content:
        line = content[: content.index("\0")].count("\n") + 1
        raise TracerError(Problem("a NUL character, expected text", name, line))
    markup = ENDINGS.get(Path(name).suffix.lower(), Markup.PLAIN)
    if markup is Markup.NOTEBOOK:
        read = cells(name, content)
        size = sum(len(cell.text) for cell in read)
        lines = cache(partial(lines_in_file, name, content))
        found = []
        for number, cell in enumerate(read, 1):
            shown, markup = cell.text.replace("\0", " "), _OF_CELLS.get(cell.kind, Markup.PLAIN)
            found.append(Text(name, shown, markup, number, size - len(cell.text), lines))
    else:
        found = [Text(name, content, markup)]
    if sum(len(text.content) for text in found) > MOST:
        message = f"more than {MOST // 10**6} million characters, expected less"
        raise TracerError(Problem(message, name))
    return found


_OF_CELLS = {"markdown": Markup.MARKDOWN, "heading": Markup.MARKDOWN}
"""The markup of a kind of cell; any other is plain."""
