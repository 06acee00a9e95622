"""What is shown, before any format: sections of blocks. Tokens and labels are plain text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tracer.lesson.expression import Chain, Expression, Number


@dataclass(frozen=True)
class Name:
    """A token or a label, which is data and may hold anything."""

    text: str


@dataclass(frozen=True)
class Percent:
    """A number between 0 and 1, to be read as a percentage."""

    number: Number


Inline: TypeAlias = str | Name | Number | Percent | Expression
"""A piece of a sentence; `str` is the project's own words."""


Sentence: TypeAlias = tuple[Inline, ...]


@dataclass(frozen=True)
class Line:
    """A worked line: what it is for, where that is not said by its symbol, and its equations."""

    label: str | None
    chain: Chain


@dataclass(frozen=True)
class Paragraph:
    """A sentence or more."""

    parts: tuple[Inline, ...]


@dataclass(frozen=True)
class Formula:
    """A chain in symbols."""

    chain: Chain


@dataclass(frozen=True)
class Working:
    """Worked lines."""

    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Vector:
    """One row of a matrix, by itself: what a step gives for the chosen token."""

    symbol: Expression
    of: Name | None
    numbers: tuple[Number, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Figure:
    """What a matrix of shares is as a picture: its file's name, without ending, and its title."""

    name: str
    title: str


@dataclass(frozen=True)
class Matrix:
    """Numbers with labels for rows and columns; `marked` is the chosen token's row."""

    symbol: Expression
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Number, ...], ...]
    marked: int | None = None
    figure: Figure | None = None


@dataclass(frozen=True)
class Diagram:
    """The way through the steps, one below the other."""

    steps: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Text in columns."""

    header: tuple[str, ...]
    rows: tuple[tuple[Name, ...], ...]
    marked: int | None = None


Block: TypeAlias = Paragraph | Formula | Working | Vector | Matrix | Table | Diagram


@dataclass(frozen=True)
class Section:
    """A step as the reader meets it; `number` is its place in the whole run, if it has one."""

    number: int | None
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A text about one scenario; a part of one, to be put into another text, shows no title."""

    title: str
    introduction: tuple[Block, ...]
    sections: tuple[Section, ...]
    whole: bool = True
