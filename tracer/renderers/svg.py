"""A matrix of shares or of signed numbers as an SVG heat map; the frame of every SVG."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from tracer.formula.expression import Blank, Number
from tracer.lesson.document import Matrix
from tracer.names import name_text
from tracer.renderers import signed
from tracer.renderers.rows import cells
from tracer.renderers.text import text

CELL_WIDTH, CELL_HEIGHT, LETTER, LINE, MARGIN = 72, 36, 7.5, 15, 12
LEGEND_WIDTH, LEGEND_HEIGHT, SIDE = 360, 27, 100
"""Of the legend of signed numbers, and of a sign with its color."""

MOST_LINES = {"column": 3, "row": 2, "cell": 3}
ROOM = {"column": 9, "row": 18, "cell": 8}
"""Letters that a line of a label or of a cell's word has."""

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.axis { fill: #57606a; font-style: italic } .followed { font-weight: bold }
.page { fill: #ffffff } .cell { fill: #54aeff } .frame { fill: none; stroke: #8c959f }
.positive { fill: #54aeff } .negative { fill: #ff9e57 }
.marked { fill: none; stroke: #1f2328; stroke-width: 2 }
.hatched { fill: url(#nothing) } path { stroke: #d0d7de }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .axis { fill: #8b949e } .page { fill: #0d1117 }
  .cell { fill: #1158c7 } .positive { fill: #1158c7 } .negative { fill: #9b4c0f }
  .frame { stroke: #6e7681 } .marked { stroke: #e6edf3 } path { stroke: #30363d }
}"""
"""Words have a contrast of at least 4.5 to 1 on each background."""

HATCHING = (
    '<defs><pattern id="nothing" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<path d="M0 6L6 0"/></pattern></defs>'
)


def image(
    title: str, description: str, view: tuple[float, ...], style: str, lines: Iterable[str]
) -> str:
    """An SVG with its description in words; `view` is its size, after its corner if not 0."""
    left, top, width, height = (0, 0, *view)[-4:]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:g} {top:g} {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f"<style>\n{style}\n</style>",
    )
    return "\n".join([*head, *lines, "</svg>"]) + "\n"


def description(matrix: Matrix) -> str:
    """The picture in words: the title, and the clearly largest cell of each row.

    Of a matrix with words: the word of each row in the last column.
    """
    assert matrix.figure
    if matrix.words:
        last = name_text(matrix.columns[-1])
        rows = zip(matrix.rows, matrix.words, matrix.cells, strict=True)
        words = [f"{label}: {name_text(w[-1])} ({text(numbers[-1])})" for label, w, numbers in rows]
        return f"{matrix.figure.title}, after {last} {'; '.join(words)}."
    if matrix.figure.scale is not None:
        return signed.description(matrix.figure.title, list(_named(matrix)))
    strongest = []
    for label, numbers in zip(matrix.rows, matrix.cells, strict=True):
        shares = [number.value for number in numbers if isinstance(number, Number)]
        if len(shares) < len(numbers):
            continue
        best = shares.index(max(shares))
        if sum(map(bool, shares)) > 1 and shares.count(shares[best]) == 1:
            column, number = name_text(matrix.columns[best]), text(numbers[best])
            strongest.append(f"{name_text(label)} most to {column} ({number})")
    return f"{matrix.figure.title}{': ' * bool(strongest)}{'; '.join(strongest)}."


def _named(matrix: Matrix) -> Iterator[tuple[str, Number]]:
    """The numbers with the names of their row and column: `layer 2, head 1`."""
    assert matrix.figure
    for label, numbers in zip(matrix.rows, matrix.cells, strict=True):
        for column, number in zip(matrix.columns, numbers, strict=True):
            if isinstance(number, Number):
                yield f"{matrix.figure.axes[0]} {label}, {column}", number


def heat_map(matrix: Matrix) -> str:
    """Cells filled by their share, or their size and sign; a share of 0 is hatched."""
    assert matrix.figure
    rows = [_lines(label, "row") for label in matrix.rows]
    columns = [_lines(label, "column") for label in matrix.columns]
    of_rows, of_columns = matrix.figure.axes
    widest = max(map(cells, [of_rows, *(line for label in rows for line in label)]))
    stub = 2 * MARGIN + LETTER * widest
    top = 50 + LINE * max(map(len, columns))
    words = [[_lines(word, "cell") for word in row] for row in matrix.words]
    cell_height = CELL_HEIGHT + LINE * max((len(w) for row in words for w in row), default=0)
    title = name_text(matrix.figure.title)
    width = max(stub + CELL_WIDTH * len(columns), MARGIN + LETTER * cells(title)) + MARGIN
    bottom = top + cell_height * len(rows)
    height = bottom + MARGIN
    scale = matrix.figure.scale
    if scale is not None:
        width, height = max(width, LEGEND_WIDTH), height + LEGEND_HEIGHT
    middle = stub + CELL_WIDTH * len(columns) / 2
    lines = [
        HATCHING,
        f'<rect class="page" width="{width:g}" height="{height:g}"/>',
        f'<text x="{MARGIN}" y="22">{escape(title)}</text>',
        f'<text class="axis" x="{middle:g}" y="42" text-anchor="middle">{of_columns}</text>',
        f'<text class="axis" x="{stub - 8:g}" y="{top - 8:g}" text-anchor="end">{of_rows}</text>',
    ]
    for j, label in enumerate(columns):
        first = top - 8 - LINE * (len(label) - 1)
        lines.append(_label(label, (stub + CELL_WIDTH * (j + 0.5), first), "middle"))
    for i, label in enumerate(rows):
        y = top + cell_height * i
        middle = y + cell_height / 2 + 5 - LINE * (len(label) - 1) / 2
        lines.append(_label(label, (stub - 8, middle), "end", followed=i == matrix.marked))
        lines += _cells(matrix, i, words[i] if words else [], (stub, y), cell_height)
    if matrix.marked is not None:
        y = top + cell_height * matrix.marked
        box = _box(stub, y, CELL_WIDTH * len(columns), cell_height)
        lines.append(f'<rect class="marked" {box}/>')
    if scale is not None:
        lines += _legend(bottom + MARGIN, scale)
    return image(matrix.figure.title, description(matrix), (width, height), STYLE, lines)


def _legend(y: float, scale: Number) -> Iterator[str]:
    """The colors of both signs, and the number with the deepest color."""
    for i, side in enumerate(("positive", "negative")):
        x = MARGIN + SIDE * i
        yield f'<rect class="{side}" {_box(x, y, LINE, LINE)}/>'
        yield f'<text x="{x + LINE + 6:g}" y="{y + 12:g}">{side}</text>'
    yield f'<text x="{MARGIN + 2 * SIDE:g}" y="{y + 12:g}">deepest: {text(scale)}</text>'


def _cells(
    matrix: Matrix, row: int, words: Sequence[list[str]], at: tuple[float, float], height: float
) -> Iterator[str]:
    """The cells of a row, their words above their numbers."""
    assert matrix.figure
    scale = matrix.figure.scale
    followed = ' class="followed"' if row == matrix.marked else ""
    (stub, y), lowest = at, at[1] + height - CELL_HEIGHT / 2 + 5
    for j, number in enumerate(matrix.cells[row]):
        known = None if isinstance(number, Blank) else number.value
        shown = f"[{number.number}]" if isinstance(number, Blank) else text(number)
        share, kind = min(max(float(known or 0), 0.0), 1.0), "cell"
        if scale is not None and isinstance(number, Number):
            share, kind = signed.share_of_largest(number, scale), f"cell {signed.side(number)}"
        x = stub + CELL_WIDTH * j
        box = _box(x, y, CELL_WIDTH, height)
        yield f'<rect class="{kind}" {box} fill-opacity="{share:.3g}"/>'
        if known == 0 and scale is None:
            yield f'<rect class="hatched" {box}/>'
        yield f'<rect class="frame" {box}/>'
        middle = x + CELL_WIDTH / 2
        if words:
            yield _label(words[j], (middle, lowest - LINE * len(words[j])), "middle", followed=True)
        place = f'x="{middle:g}" y="{lowest:g}" text-anchor="middle"'
        yield f"<text {place}{followed}>{shown}</text>"


def _box(x: float, y: float, width: float, height: float) -> str:
    return f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'


def _label(
    lines: Sequence[str], at: tuple[float, float], anchor: str, *, followed: bool = False
) -> str:
    x, y = at
    spans = "".join(
        f'<tspan x="{x:g}" y="{y + LINE * i:g}">{escape(line)}</tspan>'
        for i, line in enumerate(lines)
    )
    kind = ' class="followed"' if followed else ""
    return f'<text text-anchor="{anchor}"{kind}>{spans}</text>'


def _lines(name: str, of: str) -> list[str]:
    """A label in a few lines, broken after a space or a hyphen where possible."""
    lines = [""]
    for word in re.findall(".*?[ -]|.+", name_text(name)):
        if lines[-1] and cells(lines[-1] + word.rstrip()) > ROOM[of]:
            lines.append("")
        for c in word:
            if cells(lines[-1] + c) > ROOM[of] and c != " ":
                lines.append("")
            lines[-1] += c
    most = MOST_LINES[of]
    return lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1][:-1]}…"]
