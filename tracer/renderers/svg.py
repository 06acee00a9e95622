"""A matrix of shares as an SVG heat map; and what all SVGs begin with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from tracer.lesson.document import Matrix
from tracer.renderers.text import name_text, number_text

CELL_WIDTH, CELL_HEIGHT, LETTER, MARGIN = 64, 32, 7.5, 12
LONGEST_NAME = 20

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.cell { fill: #0969da } .frame { fill: none; stroke: #8c959f }
.strong { fill: #ffffff }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .cell { fill: #58a6ff } .strong { fill: #0d1117 }
}"""


def image(
    title: str, description: str, size: tuple[float, float], style: str, lines: Iterable[str]
) -> str:
    """An SVG of a width and height that says in words what it shows, too."""
    width, height = size
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f"<style>\n{style}\n</style>",
    )
    return "\n".join([*head, *lines, "</svg>"]) + "\n"


def description(matrix: Matrix) -> str:
    """The picture in words: the title, and the strongest cell of each row that has one."""
    assert matrix.figure
    strongest = []
    for label, cells in zip(matrix.rows, matrix.cells, strict=True):
        shares = [cell.value for cell in cells]
        best = shares.index(max(shares))
        if sum(map(bool, shares)) > 1 and shares.count(shares[best]) == 1:
            column, number = name_text(matrix.columns[best]), number_text(cells[best])
            strongest.append(f"{name_text(label)} most to {column} ({number})")
    return f"{matrix.figure.title}{': ' * bool(strongest)}{'; '.join(strongest)}."


def heat_map(matrix: Matrix) -> str:
    """Rows look at columns; the larger the share, the fuller the cell."""
    assert matrix.figure
    stub = MARGIN + LETTER * max(len(_short(label)) for label in matrix.rows) + MARGIN
    column = max(CELL_WIDTH, LETTER * max(len(_short(c)) for c in matrix.columns) + MARGIN)
    top = 64
    width = stub + column * len(matrix.columns) + MARGIN
    height = top + CELL_HEIGHT * len(matrix.rows) + MARGIN
    lines = [f'<text x="{MARGIN}" y="22">{escape(matrix.figure.title)}</text>']
    for j, label in enumerate(matrix.columns):
        x = stub + column * (j + 0.5)
        lines.append(f'<text x="{x:g}" y="{top - 10}" text-anchor="middle">{_name(label)}</text>')
    for i, label in enumerate(matrix.rows):
        y = top + CELL_HEIGHT * i
        middle = y + CELL_HEIGHT / 2 + 5
        at = f'x="{stub - 8:g}" y="{middle:g}" text-anchor="end"'
        lines.append(f"<text {at}>{_name(label)}</text>")
        lines += _cells(matrix, i, (stub, y, column, middle))
    return image(matrix.figure.title, description(matrix), (width, height), STYLE, lines)


def _cells(matrix: Matrix, row: int, place: tuple[float, float, float, float]) -> Iterator[str]:
    stub, y, width, middle = place
    for j, number in enumerate(matrix.cells[row]):
        share = min(max(float(number.value), 0.0), 1.0)
        x = stub + width * j
        box = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{CELL_HEIGHT}"'
        strong = ' class="strong"' if share > 0.6 else ""
        yield f'<rect class="cell" {box} fill-opacity="{share:.3g}"/>'
        yield f'<rect class="frame" {box}/>'
        yield (
            f'<text x="{x + width / 2:g}" y="{middle:g}" text-anchor="middle"{strong}>'
            f"{number_text(number)}</text>"
        )


def _short(name: str) -> str:
    whole = name_text(name)
    return whole if len(whole) <= LONGEST_NAME else f"{whole[: LONGEST_NAME - 1]}…"


def _name(name: str) -> str:
    return escape(_short(name))
