"""Signed bars from a zero line: in characters, as an SVG, and in LaTeX."""

from __future__ import annotations

from decimal import Decimal
from html import escape
from math import ceil

from tracer.lesson.document import Bar, Bars
from tracer.names import name_text
from tracer.renderers import signed
from tracer.renderers.lettering import breakable
from tracer.renderers.mathematics import PAPER
from tracer.renderers.palette import BLUE, CLAY
from tracer.renderers.rows import GAP, Row, cells, padded, short
from tracer.renderers.svg import image
from tracer.renderers.tables import aligned
from tracer.renderers.text import number_text

MOST_CELLS, LEAST_CELLS = 48, 8
"""Cells of the bars in characters, of both signs together."""

WIDTH, MARGIN, TOP, HEIGHT, BAR, LETTER = 640, 12, 40, 24, 14, 7.5
"""Of an SVG, in pixels; `HEIGHT` is that of a row, `BAR` that of its bar."""

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #1f2328 } .page { fill: #ffffff }
.positive { fill: #0969da } .negative { fill: #bc4c00 } .axis { stroke: #57606a }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .page { fill: #0d1117 } .positive { fill: #58a6ff }
  .negative { fill: #f0883e } .axis { stroke: #8b949e }
}"""

LABEL_IN_LATEX, NUMBER_IN_LATEX, BARS_IN_LATEX = 44, 20, 90
"""The widths of the columns in LaTeX, in millimeters."""


def in_characters(bars: Bars, width: int) -> list[Row]:
    """A row for each bar: its label, its number, and the bar on its side of the zero line."""
    labels = [short(bar.label, width // 3) for bar in bars.bars]
    numbers = aligned([bar.number for bar in bars.bars])
    stub, wide = max(map(cells, labels)), max(map(len, numbers))
    room = width - stub - wide - 2 * len(GAP) - 2  # the zero line; both sides are rounded up
    unit = 2 * min(max(room, LEAST_CELLS), MOST_CELLS)  # half cells
    below = ceil(unit * zero_line(bars) / 2)
    rows = []
    for label, number, length in zip(labels, numbers, lengths(bars), strict=True):
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


def image_of(bars: Bars) -> str:
    """The bars as an SVG."""
    labels = [short(bar.label) for bar in bars.bars]
    numbers = [number_text(bar.number) for bar in bars.bars]
    right_of_number = 2 * MARGIN + LETTER * (max(map(cells, labels)) + max(map(len, numbers)))
    left = right_of_number + MARGIN
    span = WIDTH - MARGIN - left
    zero = left + span * zero_line(bars)
    bottom = TOP + HEIGHT * len(labels)
    lines = [
        f'<rect class="page" width="{WIDTH}" height="{bottom + MARGIN}"/>',
        f'<text x="{MARGIN}" y="24">{escape(name_text(bars.figure.title))}</text>',
    ]
    drawn = zip(labels, numbers, bars.bars, lengths(bars), strict=True)
    for i, (label, number, bar, length) in enumerate(drawn):
        y = TOP + HEIGHT * i
        text = y + HEIGHT / 2 + 5
        lines += [
            f'<text x="{MARGIN}" y="{text:g}">{escape(label)}</text>',
            f'<text x="{right_of_number:g}" y="{text:g}" text-anchor="end">{number}</text>',
            f'<rect class="{signed.side(bar.number)}" x="{zero + span * min(length, 0):.2f}" '
            f'y="{y + (HEIGHT - BAR) / 2:g}" width="{span * abs(length):.2f}" height="{BAR}"/>',
        ]
    lines.append(f'<path class="axis" d="M{zero:.2f} {TOP}V{bottom}"/>')
    size = (WIDTH, bottom + MARGIN)
    return image(name_text(bars.figure.title), description(bars), size, STYLE, lines)


def description(bars: Bars) -> str:
    """The bars in words: which part is the largest in size, if one is, and its sign."""
    parts = [(bar.label, bar.number) for bar in bars.bars if bar.parts == 1]
    return signed.description(bars.figure.title, parts)


def in_latex(bars: Bars) -> str:
    """A line for each bar, so that many of them can go on on the next page."""
    zero = BARS_IN_LATEX * zero_line(bars)
    drawn = zip(bars.bars, lengths(bars), strict=True)
    return "\n".join(
        [
            r"\par\medskip\begingroup\footnotesize\offinterlineskip\parskip0pt\parindent0pt",
            *(_line_in_latex(bar, BARS_IN_LATEX * length, zero) for bar, length in drawn),
            r"\endgroup\medskip",
        ]
    )


def _line_in_latex(bar: Bar, length: float, zero: float) -> str:
    """A bar behind its label and its number; its length and the zero line are in millimeters."""
    color = "orange" if length < 0 else "blue"
    rule = rf"\textcolor{{{color}!60}}{{\rule{{{abs(length):.2f}mm}}{{2.4mm}}}}"
    left, right = (rule, "") if length < 0 else ("", rule)
    return (
        rf"\leavevmode\makebox[{LABEL_IN_LATEX}mm][l]{{{breakable(short(bar.label))}}}"
        rf"\makebox[{NUMBER_IN_LATEX}mm][r]{{${PAPER.in_lines.write(bar.number)}$}}\hspace{{4mm}}"
        rf"\makebox[{zero:.2f}mm][r]{{{left}}}\rule[-1mm]{{0.2mm}}{{4.4mm}}{right}\par"
    )


def lengths(bars: Bars) -> list[float]:
    """The length of each bar, negative to the left; the longest of both sides make 1 together."""
    numbers = [bar.number.value for bar in bars.bars]
    span = max(Decimal(0), *numbers) - min(Decimal(0), *numbers)
    return [float(number / (span or 1)) for number in numbers]


def zero_line(bars: Bars) -> float:
    """The part of the width, from 0 to 1, that is left of the zero line."""
    return max(0.0, -min(lengths(bars)))
