"""One entry of a trace as text, or a row, a column or a matrix of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from tracer.decoder.forward import Trace
from tracer.decoder.value import Index, Value
from tracer.errors import Problem, TracerError
from tracer.formula.expression import Number
from tracer.lesson import entries
from tracer.lesson.document import Document, Matrix
from tracer.lesson.texts.lookup import Part, find_part, find_quoted
from tracer.lesson.texts.symbols import symbols
from tracer.names import distinct, name_text
from tracer.renderers.lettering import in_text
from tracer.renderers.markdown import fenced
from tracer.renderers.mathematics import PAPER
from tracer.renderers.text import number_text, percentage


class Layout(StrEnum):
    """How `value ADDRESS[ROW] as …` writes several numbers."""

    ROW = "row"
    COLUMN = "column"
    BMATRIX = "bmatrix"
    TABLE = "table"


class Notation(StrEnum):
    """How numbers are written: as plain text, in Markdown, in LaTeX's text, in its mathematics."""

    PLAIN = "plain"
    MARKDOWN = "markdown"
    LATEX = "latex"
    MATHEMATICS = "mathematics"


IN_CHARACTERS = (Notation.PLAIN, Notation.MARKDOWN)

WITH_LAYOUT = re.compile(rf"(\S.*?)\s+as\s+({'|'.join(Layout)})\s*", re.DOTALL)
UPRIGHT = re.compile("[0-9.]+")
"""A number that LaTeX sets alike in its text and in its mathematics."""


def quoted(
    trace: Trace, words: Sequence[str], notation: Notation = Notation.PLAIN
) -> str | Document:
    """The number that `ADDRESS[ROW,COLUMN]` names, as it is printed, on a line of its own.

    With the words `as percent` behind it, as a percentage. `ADDRESS[ROW] as row`, `as column`, `as
    bmatrix` or `as table` is all of a row, `ADDRESS[,COLUMN]` of a column, `ADDRESS` of a value.

    Raises:
        TracerError: not of that form, no such address, row or column; what has no percentage.
    """
    asked = " ".join(words)
    if match := WITH_LAYOUT.fullmatch(asked):
        return _laid_out(trace, match[1], Layout(match[2]), notation)
    (value, at), as_percent = find_quoted(trace, asked)
    if as_percent:
        number = percentage(entries.number(trace.pencil, value, at))
        if notation in IN_CHARACTERS:
            return f"{number_text(number)} %\n"
        return f"{_in_latex(number, notation)}\\,\\%\n"
    return f"{printed(trace, value, at, notation)}\n"


def printed(trace: Trace, value: Value, at: Index, notation: Notation = Notation.PLAIN) -> str:
    """An entry as every text of the trace prints it: a number, or a word."""
    if value.role.words:
        word = str(value.read(at))
        if notation is Notation.MATHEMATICS:
            return rf"\text{{{in_text(word)}}}"
        return name_text(word) if notation in IN_CHARACTERS else in_text(word)
    number = entries.number(trace.pencil, value, at)
    return number_text(number) if notation in IN_CHARACTERS else _in_latex(number, notation)


def _in_latex(number: Number, notation: Notation) -> str:
    written = PAPER.in_lines.write(number)
    if notation is Notation.MATHEMATICS or UPRIGHT.fullmatch(written):
        return written
    return rf"\ensuremath{{{written}}}"


def _laid_out(trace: Trace, asked: str, layout: Layout, notation: Notation) -> str | Document:
    """Return the numbers side by side, below each other, or as a matrix without or with labels."""
    part = find_part(trace, asked)
    value = part.value
    if layout is Layout.TABLE and notation is Notation.MATHEMATICS:
        raise TracerError(Problem("a formula has no labels; try as bmatrix", address="as table"))
    if layout is Layout.TABLE:
        return Document(trace.name, trace.scenario.title, (_table(trace, part),), (), whole=False)
    is_set_off = layout is Layout.COLUMN and notation is Notation.LATEX
    as_matrix = is_set_off or layout is Layout.BMATRIX or notation is Notation.MATHEMATICS
    within = Notation.MATHEMATICS if as_matrix else notation
    cells = [[printed(trace, value, at, within) for at in row] for row in _places(part)]
    if layout is not Layout.BMATRIX:
        numbers = [each for row in cells for each in row]
        if 1 not in (len(cells), len(cells[0])):
            message = f"got a matrix, expected a row or a column of it, such as {asked}[1]"
            raise TracerError(Problem(message, address=asked))
        cells = [numbers] if layout is Layout.ROW else [[each] for each in numbers]
    if as_matrix:
        rows = " \\\\\n".join(" & ".join(row) for row in cells)
        matrix = f"\\begin{{bmatrix}}\n{rows}\n\\end{{bmatrix}}"
        if is_set_off:
            return f"\\ensuremath{{{matrix}}}\n"
        return f"$$\n{matrix}\n$$\n" if notation is Notation.MARKDOWN else f"{matrix}\n"
    if layout is Layout.ROW:
        return f"[{', '.join(cells[0])}]\n"
    column = [row[0] for row in cells]
    lines = fenced(column) if notation is Notation.MARKDOWN else "\n".join(column)
    return f"{lines}\n"


def _places(part: Part) -> list[list[Index]]:
    """Return the indices of a part as rows and columns; a number for each token is a column."""
    value, (first, *others) = part.value, part.chosen
    if others:
        return [[(i, j) for j in others[0]] for i in first]
    return [[(i,)] for i in first] if value.per_token else [[(i,) for i in first]]


def _table(trace: Trace, part: Part) -> Matrix:
    value = part.value
    if value.role.words:
        message = "these are words, which have no table; try as row or as column"
        raise TracerError(Problem(message, address=value.address))
    chosen = zip(value.axes, part.chosen, strict=True)
    labels = [[distinct(axis.labels)[i] for i in each] for axis, each in chosen]
    if len(labels) == 1:
        labels = [*labels, [""]] if value.per_token else [[""], *labels]
    cells = (tuple(entries.number(trace.pencil, value, at) for at in row) for row in _places(part))
    symbol = symbols(trace.records)[value.address]
    return Matrix(symbol, tuple(labels[0]), tuple(labels[1]), tuple(cells))
