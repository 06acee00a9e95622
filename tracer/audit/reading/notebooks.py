"""Notebooks: the sources of their cells, and the lines of the file in which they stand."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, NamedTuple

from tracer.errors import Problem, TracerError


class Cell(NamedTuple):
    """A cell of a notebook; its output is left out."""

    kind: str
    source: str | list[str]

    @property
    def text(self) -> str:
        """The source in one piece."""
        return self.source if isinstance(self.source, str) else "".join(self.source)


def cells(name: str, content: str) -> list[Cell]:
    """Return the cells of a notebook, in format 3 or 4.

    Raises:
        TracerError: it is no notebook, for example because it is cut.
    """
    try:
        notebook = json.loads(content.removeprefix("\ufeff"))
        sheets = notebook.get("worksheets", [notebook])
        found = [_cell(cell) for sheet in sheets for cell in sheet["cells"]]
        for cell in found:
            _ = cell.text
    except json.JSONDecodeError as error:
        message = f"no notebook: not JSON: {error.msg}"
        raise TracerError(Problem(message, name, error.lineno, error.colno)) from None
    except (AttributeError, TypeError, KeyError, ValueError, RecursionError):
        raise TracerError(Problem("no notebook: expected JSON with cells", name)) from None
    return found


def _cell(cell: dict[str, Any]) -> Cell:
    """Return a cell; in format 3, the source of code is called input."""
    return Cell(cell["cell_type"], cell["input"] if "input" in cell else cell["source"])


_KEY = re.compile(r'"(?:source|input)"\s*:\s*')
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')


def lines_in_file(name: str, content: str) -> list[list[int]]:
    """Return, for each cell, the line of the file in which each line of its source stands."""
    ends = [found.start() for found in re.finditer("\n", content)]
    keys = _KEY.finditer(content)
    return [
        [bisect_left(ends, at) + 1 for at in _line_starts(_strings(cell, content, keys))]
        for cell in cells(name, content)
    ]


_OUTPUT = re.compile(r'"(?:text|text/plain)"\s*:\s*(?=[\["])')


def outputs(content: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the printed outputs of a notebook, each with the line of the file of each line."""
    ends = [found.start() for found in re.finditer("\n", content)]
    for key in _OUTPUT.finditer(content):
        value, end = json.JSONDecoder().raw_decode(content, key.end())
        strings = [value] if isinstance(value, str) else value
        if all(isinstance(each, str) for each in strings):
            found = _STRING.finditer(content, key.end(), end)
            starts = _line_starts((each.start(), json.loads(each[0])) for each in found)
            yield "".join(strings), [bisect_left(ends, at) + 1 for at in starts]


def _strings(cell: Cell, content: str, keys: Iterator[re.Match[str]]) -> Iterator[tuple[int, str]]:
    """Yield the strings of a source, each with its position in the file."""
    for key in keys:
        value, end = json.JSONDecoder().raw_decode(content, key.end())
        if value == cell.source:
            for found in _STRING.finditer(content, key.end(), end):
                yield found.start(), json.loads(found[0])
            return


def _line_starts(strings: Iterator[tuple[int, str]]) -> Iterator[int]:
    """Yield, for each line of the joined strings, the position of the string that begins it."""
    begins = True
    for at, string in strings:
        if begins:
            yield at
        yield from [at] * string[:-1].count("\n")
        begins = string.endswith("\n")
