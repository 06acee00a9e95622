"""What a person can be told: where the problem is, what was expected and what came."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

MOST_PROBLEMS = 20
"""So many are read; the others mostly follow from them."""

MOST_CHARACTERS = 240
"""Of an address or a message: a name in it may be of any length."""

MOST_EXCERPTS = 3
"""So many problems are shown with their lines."""

EXCERPT = 72
"""Characters of a line that are shown around a place."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: `alex.yaml:12:7: layer1.ffn.W_1: 5 rows, expected 6`."""

    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    address: str | None = None
    yaml_path: tuple[int | str, ...] | None = field(default=None, compare=False)
    """Where in the scenario's data it lies, while nobody has looked for its line."""
    excerpt: str | None = field(default=None, compare=False)
    """The line of the file, if it may be shown."""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        address, message = (short(part) for part in (self.address or "", self.message))
        return printable(": ".join(part for part in (place, address, message) if part))


Located: TypeAlias = Callable[[Sequence[Problem]], Iterable[Problem]]
"""Problems → the same with their places in the scenario's file."""


class TracerError(Exception):
    """Bad input: every problem found, to be shown a line each; the exit code is 2."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class InternalError(TracerError):
    """The program contradicts itself: a mistake in it, not in the input."""

    def __init__(self, message: str, address: str) -> None:
        super().__init__(Problem(f"internal error, please report it: {message}", address=address))


def format_problems(problems: Sequence[Problem]) -> Iterator[str]:
    """The lines that a person reads: the first problems with their lines of the file."""
    for number, problem in enumerate(problems[:MOST_PROBLEMS]):
        yield str(problem)
        line, column = problem.line, problem.column
        if number < MOST_EXCERPTS and problem.excerpt is not None and line and column:
            yield from excerpt(problem.excerpt, line, column)
    if len(problems) > MOST_PROBLEMS:
        yield f"… and {len(problems) - MOST_PROBLEMS} more"


def printable(text: str, keep: str = "") -> str:
    """A text that may hold anything, so that it does not act on the terminal; `keep` is kept."""
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def strict_json(data: object, indent: int = 1) -> str:
    """Data as strict JSON in lines, a row on one; what is not printable is an escape."""
    import json

    encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode

    def in_lines(data: object, margin: str) -> str:
        inner = margin + " " * indent
        if isinstance(data, dict) and data:
            items = [f"{encoded(key)}: {in_lines(each, inner)}" for key, each in data.items()]
            return f"{{{inner}{f',{inner}'.join(items)}{margin}}}"
        if isinstance(data, list | tuple) and any(
            isinstance(each, list | tuple | dict) for each in data
        ):
            return f"[{inner}{f',{inner}'.join([in_lines(each, inner) for each in data])}{margin}]"
        return encoded(data)  # Python's own lines would be written ten times as slowly

    escaped = re.sub(
        r"[^\n -~]+",
        lambda run: "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in run[0]),
        in_lines(data, "\n"),
    )
    return f"{escaped}\n"


def excerpt(line: str, number: int, column: int, length: int = 1) -> tuple[str, str]:
    """A line of a file, and a caret under each character from a column on."""
    begin = max(0, min(column - 1 - EXCERPT // 2, len(line) - EXCERPT))
    shown, at = cut(line.replace("\t", " "), begin), column - 1 - begin
    margin = f"  {number} | "
    before, marked = printable(shown[:at]), printable(shown[at : at + length])
    carets = " " * cells(before) + "^" * max(1, cells(marked))
    return margin + printable(shown).rstrip(), f"{' ' * (len(margin) - 2)}| {carets}"


def cut(line: str, begin: int) -> str:
    """The part of a line that is shown, from a column on; an ellipsis is where it goes on."""
    shown = line[begin : begin + EXCERPT]
    shown = f"…{shown[1:]}" if begin else shown
    return f"{shown[:-1]}…" if begin + EXCERPT < len(line) else shown


def cells(text: str) -> int:
    """How wide it is: 日 takes two cells."""
    import unicodedata  # only what is wrong has to be marked

    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def short(text: str) -> str:
    """A text with its middle left out where it is too long: both ends say most."""
    if len(text) <= MOST_CHARACTERS:
        return text
    half = MOST_CHARACTERS // 2
    return f"{text[:half]} … {text[-half:]}"
