"""Signed bars from a zero line: in characters and in words."""

from __future__ import annotations

from math import ceil

from tracer.lesson.document import Bars
from tracer.renderers import signed
from tracer.renderers.palette import BLUE, CLAY
from tracer.renderers.rows import GAP, Row, cells, padded, shortened
from tracer.renderers.tables import aligned

MOST_CELLS, LEAST_CELLS = 48, 8
"""Cells of the bars in characters, of both signs together."""


def in_characters(bars: Bars, width: int) -> list[Row]:
    """A row for each bar: its label, its number, and the bar on its side of the zero line."""
    labels = [shortened(bar.label, width // 3) for bar in bars.bars]
    numbers = aligned([bar.number for bar in bars.bars])
    stub, wide = max(map(cells, labels)), max(map(len, numbers))
    room = width - stub - wide - 2 * len(GAP) - 2  # the zero line; both sides are rounded up
    unit = 2 * min(max(room, LEAST_CELLS), MOST_CELLS)  # half cells
    scale = scale_of(bars)
    below = ceil(unit * scale.zero / 2)
    rows = []
    for label, number, bar in zip(labels, numbers, bars.bars, strict=True):
        length = scale.length(bar.number)
        drawn = _drawn(length, round(unit * abs(length)))
        row = Row(f"{padded(label, stub)}{GAP}{number:>{wide}}{GAP}")
        start = len(row.plain)
        if length < 0:
            row.plain += f"{drawn:>{below}}│"
            row.stylize(CLAY, start, start + below)
        else:
            row.plain += f"{'':{below}}│{drawn}"
            row.stylize(BLUE, start + below + 1)
        rows.append(row)
    return rows


def _drawn(length: float, halves: int) -> str:
    """A bar of so many half cells; one that is too short for them is a thin line."""
    whole, half = divmod(halves, 2)
    if length < 0:
        return "▐" * half + "█" * whole or "▕"
    return "█" * whole + "▌" * half or "▏" * (length > 0)


def description(bars: Bars) -> str:
    """The bars in words: which part is the largest in size, if one is, and its sign."""
    parts = [(bar.label, bar.number) for bar in bars.bars if bar.parts == 1]
    return signed.description(bars.figure.title, parts)


def scale_of(bars: Bars) -> signed.BarScale:
    """The common scale of the bars."""
    return signed.BarScale(bar.number for bar in bars.bars)
