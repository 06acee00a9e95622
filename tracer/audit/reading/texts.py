"""A file → texts: each in one markup, with line positions; a notebook has one text per cell."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from pathlib import Path

from tracer.audit.reading.notebooks import cells
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


@dataclass(frozen=True)
class Text:
    """A text, with the name of its file."""

    name: str
    content: str
    markup: Markup
    cell: int | None = None
    """Its number, if it is a cell of a notebook."""
    other_cells: int = 0
    """The number of characters in the other cells of the notebook."""

    @property
    def title(self) -> str:
        """Its name in messages: `a.md`, or `a.ipynb:cell 3`."""
        return self.name if self.cell is None else f"{self.name}:cell {self.cell}"

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
        found = [
            Text(
                name,
                cell.text.replace("\0", " "),
                _OF_CELLS.get(cell.kind, Markup.PLAIN),
                number,
                size - len(cell.text),
            )
            for number, cell in enumerate(read, 1)
        ]
    else:
        found = [Text(name, content, markup)]
    if sum(len(text.content) for text in found) > MOST:
        message = f"more than {MOST // 10**6} million characters, expected less"
        raise TracerError(Problem(message, name))
    return found


_OF_CELLS = {"markdown": Markup.MARKDOWN, "heading": Markup.MARKDOWN}
"""The markup of a kind of cell; any other is plain."""
