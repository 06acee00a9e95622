"""Signed bars from a zero line: in characters, as an SVG, and in LaTeX."""

from __future__ import annotations

from html import escape
from math import ceil

from tracer.formula.expression import Number
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
    for label, number, bar in zip(labels, numbers, bars.bars, strict=True):
        length = share(bars, bar.number)
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
    for i, (label, number, bar) in enumerate(zip(labels, numbers, bars.bars, strict=True)):
        length = share(bars, bar.number)
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
    return "\n".join(
        [
            r"\par\medskip\begingroup\footnotesize\offinterlineskip\parskip0pt\parindent0pt",
            *(_line_in_latex(bars, bar) for bar in bars.bars),
            r"\endgroup\medskip",
        ]
    )


def _line_in_latex(bars: Bars, bar: Bar) -> str:
    length = BARS_IN_LATEX * share(bars, bar.number)
    below = BARS_IN_LATEX * zero_line(bars)
    color = "orange" if length < 0 else "blue"
    rule = rf"\textcolor{{{color}!60}}{{\rule{{{abs(length):.2f}mm}}{{2.4mm}}}}"
    left, right = (rule, "") if length < 0 else ("", rule)
    return (
        rf"\leavevmode\makebox[{LABEL_IN_LATEX}mm][l]{{{breakable(short(bar.label))}}}"
        rf"\makebox[{NUMBER_IN_LATEX}mm][r]{{${PAPER.in_lines.write(bar.number)}$}}\hspace{{4mm}}"
        rf"\makebox[{below:.2f}mm][r]{{{left}}}\rule[-1mm]{{0.2mm}}{{4.4mm}}{right}\par"
    )


def zero_line(bars: Bars) -> float:
    """The part of the width, from 0 to 1, that is left of the zero line."""
    return max([0.0, *(-share(bars, bar.number) for bar in bars.bars)])


def share(bars: Bars, number: Number) -> float:
    """The length of a bar, negative to the left, where the longest of both sides fill 1."""
    numbers = [0.0, *(float(bar.number.value) for bar in bars.bars)]
    return float(number.value) / ((max(numbers) - min(numbers)) or 1)
