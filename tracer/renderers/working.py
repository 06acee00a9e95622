"""Formulas and worked lines on a terminal, with results in a column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tracer.formula.expression import Chain, Number
from tracer.lesson.document import Line, Working
from tracer.renderers.palette import LABEL, RESULT, hue, hues
from tracer.renderers.rows import GAP, INDENT, Row, cells, indented, padded, shortened
from tracer.renderers.tables import aligned
from tracer.renderers.text import sides, text
from tracer.renderers.wrapping import wrapped

WORKING_INDENT = 4


def formula_rows(formula: Chain, width: int) -> Iterable[Row]:
    """A chain in symbols."""
    lines = wrapped(sides(formula), "", width - INDENT)
    return indented(map(Row, lines), INDENT)


def working_rows(working: Working, width: int, *, colored: bool) -> Iterable[Row]:
    """Worked lines, with shorter labels where room is scarce; if `colored`, numbers have hues."""
    room = width - WORKING_INDENT
    rows = _laid_out(working.lines, width // 4, room, colored)
    if any(cells(row.plain) > room for row in rows):
        rows = _laid_out(working.lines, width // 8, room, colored)
    return indented(rows, WORKING_INDENT)


def _laid_out(lines: Sequence[Line], most: int, room: int, colored: bool) -> list[Row]:
    """Worked lines after labels of at most `most` cells, before their results."""
    labels = ["" if line.label is None else f"{shortened(line.label, most)}: " for line in lines]
    longest = max(map(cells, labels))
    results = _results(lines)
    widest = max(map(cells, results))
    bodies = [
        wrapped(sides(line.chain)[:-1], padded(label, longest), room, len(" ") + widest)
        for line, label in zip(lines, labels, strict=True)
    ]
    edge = _edge(bodies, widest, room)
    return [
        row
        for line, label, body, result in zip(lines, labels, bodies, results, strict=True)
        for row in _worked(line.chain, padded(label, longest), body, result, edge, colored)
    ]


def _results(lines: Sequence[Line]) -> list[str]:
    """The last side of each line with its relation, decimal points aligned."""
    last = [line.chain.sides[-1] for line in lines]
    numbers = [side for side in last if isinstance(side, Number)]
    written = aligned(numbers) if len(numbers) == len(last) else [text(side) for side in last]
    widest = max(map(cells, written))
    return [
        f"{line.chain.relations[-1]} {' ' * (widest - cells(result))}{result}"
        for line, result in zip(lines, written, strict=True)
    ]


def _edge(bodies: Sequence[Sequence[str]], widest: int, room: int) -> int:
    """The column where the results end: a little after the longest row, if there is room."""
    last = max(cells(body[-1]) for body in bodies)
    if len(bodies) == 1:
        return min(last + len(" ") + widest, room)
    rows = max(cells(row) for body in bodies for row in body)
    return min(max(rows, last + len(GAP) + widest), room)


def _worked(
    chain: Chain, label: str, body: list[str], result: str, edge: int, colored: bool
) -> Iterator[Row]:
    spans = _spans(chain) if colored else []
    at = 0
    for i, line in enumerate(body):
        row = Row(line)
        start = len(label) if i == 0 else len(line) - len(line.lstrip())
        end = at + len(line) - start
        row.styled(((a, b, hue) for a, b, hue in spans if at <= a < end), start - at)
        at = end + 1
        if i == 0:
            row.stylize(LABEL, 0, len(label))
        if i < len(body) - 1:
            yield row
        else:
            last = chain.sides[-1]
            style = f"{RESULT} {hue(last)}".strip() if isinstance(last, Number) else RESULT
            yield from _with_result(row, result, edge, style)


def _with_result(row: Row, result: str, edge: int, style: str) -> Iterator[Row]:
    """The last row of a line with its result, or the result below it."""
    place = edge - cells(result)
    if cells(row.plain) >= place:
        yield row
        row = Row()
    row.plain = padded(row.plain, place)
    start = len(row.plain) + len("= ")
    row.plain += result.rstrip()
    yield row.stylize(style, start)


def _spans(chain: Chain) -> list[tuple[int, int, str]]:
    """The spans of a chain as text that have a hue."""
    found: list[tuple[int, int, str]] = []
    at = 0
    for i, side in enumerate(chain.sides):
        at += 2 if i else 0  # the relation
        found += [(start + at, end + at, style) for start, end, style in hues(side)]
        at += len(text(side)) + 1
    return found
