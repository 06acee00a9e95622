"""Each block of a document as HTML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import ceil
from types import SimpleNamespace
from typing import Any, assert_never

from markupsafe import Markup

from tracer.formula.expression import Blank, Expression, Number, Sized
from tracer.lesson import document as doc
from tracer.lesson.texts.page import NumberNames, Page
from tracer.names import name_text, visible
from tracer.renderers import bars, mathml, signed
from tracer.renderers.page.diagram import Anchor, Diagram
from tracer.renderers.plots.as_svg import elements
from tracer.renderers.plots.illustrations import plot_of
from tracer.renderers.text import in_percent, sides, text

SHADES = 10
"""The shades of a heat map, besides none."""


class Blocks:
    """Writes blocks with the macros of a template."""

    def __init__(self, macros: Any, page: Page, numbers: NumberNames) -> None:
        self.macros, self.page, self.numbers = macros, page, numbers
        self.matrices: dict[Any, str] = {}
        self.workings: dict[Any, str] = {}
        self.diagrams: dict[doc.Picture, str] = {}
        self.widest = 0.0
        """The width of the widest diagram, in pixels."""

    def written(
        self, block: doc.Block, anchor: Anchor, token: int, *, shown: bool, title: str = ""
    ) -> str:
        """A block as HTML for a token; lines that the script draws are empty unless `shown`.

        `title` is that of its section. Matrices and lines that are the same for several tokens are
        written once.
        """
        match block:
            case doc.Question(parts, answer, choices):
                asked, answered = (
                    [self.inline(part, anchor) for part in each] for each in (parts, answer)
                )
                return str(self.macros.question(asked, answered, _data(choices)))
            case doc.Paragraph(parts):
                said = [self.inline(part, anchor) for part in parts]
                return str(self.macros.paragraph(said))
            case doc.Formula(chain):
                return str(self.macros.formula(Markup(mathml.formula(chain))))
            case doc.Working(lines):
                return self.working(lines, shown)
            case doc.Matrix():
                return self.matrix(block, token)
            case doc.Table(header, rows, marked):
                cells = [[self.cell(cell) for cell in row] for row in rows]
                caption = f"{title}: {', '.join(filter(None, header))}"
                return str(self.macros.table(caption, header, cells, marked))
            case doc.Listing(lines):
                return str(self.macros.listing("\n".join(lines)))
            case doc.Picture():
                return self.diagram(block, anchor)
            case doc.Bars():
                return str(self.macros.bars(self.bars(block)))
            case doc.Curve() | doc.Illustration():
                plot = plot_of(block)
                drawn = Markup("".join(elements(plot, self.name)))
                # The script draws changed attention weights anew.
                return str(self.macros.plot(plot, drawn, isinstance(block, doc.Arcs)))
            case _:
                assert_never(block)

    def diagram(self, picture: doc.Picture, anchor: Anchor) -> str:
        """The picture of the model, the same for every token."""
        if picture not in self.diagrams:
            drawn = Diagram(picture, self.page, self.numbers, anchor)
            svg, is_first = Markup(drawn.svg()), not self.diagrams
            self.widest = max(self.widest, drawn.width)
            has_maps = any(drawn.maps.of.values())
            written = self.macros.diagram(picture.figure.title, svg, has_maps, is_first)
            self.diagrams[picture] = str(written)
        return self.diagrams[picture]

    def inline(self, part: doc.Inline, anchor: Anchor) -> str | Markup:
        """A piece of a sentence; the template escapes text."""
        match part:
            case str():
                return part
            case doc.Plain(words):
                return visible(words)
            case doc.Emphasis(parts, strong):
                inner = [self.inline(each, anchor) for each in parts]
                return self.macro("emphasis", inner, strong)
            case doc.Name(name) | doc.Code(name):
                return self.macro("name", name_text(name))
            case doc.Percent(number):
                return self.macro("number", f"{text(in_percent(part))} %", self.name(number))
            case Number():
                return self.macro("number", text(part), self.name(part))
            case doc.Reference(number):
                return self.macro("reference", number, anchor(number))
            case Sized(of, size):
                return symbol(of) + f" ({' × '.join(map(str, size))})"
            case _:
                return symbol(part)

    def name(self, number: Number | Blank) -> str | None:
        """The name of a number to point at."""
        return self.numbers.name(number.entry) if isinstance(number, Number) else None

    def macro(self, name: str, *arguments: Any) -> Markup:
        """The HTML of a macro."""
        return Markup(getattr(self.macros, name)(*arguments))

    def cell(self, cell: doc.Cell) -> str | Markup:
        """A cell of a table of words."""
        match cell:
            case doc.Name(name):
                return name_text(name) if name else ""
            case Number():
                return self.macro("number", text(cell), self.name(cell))
            case _:
                return symbol(cell)

    def working(self, lines: Sequence[doc.Line], shown: bool) -> str:
        """Worked lines, reused where they were shown before."""
        written = [self.line(line, shown) for line in lines]
        key = tuple((line.of, line.label, line.front) for line in written)
        if not all(line.of for line in written):
            return str(self.macros.working(written))
        labels = self.page.tape and not shown and self.labels_of(written)
        if labels:  # the script writes the whole lines
            return str(self.macros.lines([line.of for line in written], labels))
        if shown or key not in self.workings:
            self.workings[key] = str(self.macros.working(written))
        return self.workings[key]

    def line(self, line: doc.Line, shown: bool) -> Any:
        """A worked line: label, symbol in front, sides, result."""
        of, own = self.numbers.line(line.chain)
        front = text(line.chain.sides[0]) if len(own.sides) < len(line.chain.sides) else ""
        drawn = bool(of) and not shown
        return SimpleNamespace(
            of=of,
            label=line.label and name_text(line.label),
            front=front,
            work="" if drawn else " ".join(sides(own)[:-1]),
            sign="" if drawn or not own.relations else own.relations[-1],
            result="" if drawn else text(own.sides[-1]),
        )

    def labels_of(self, lines: Sequence[Any]) -> str | None:
        """What the labels of lines are: their symbol, or the labels of their entry's axes."""
        if all(line.front and not line.label for line in lines):
            return "symbol"
        for kind, first in (("all", 0), ("column", 1)):
            if all(line.label == self.numbers.label(line.of, first) for line in lines):
                return kind
        return None

    def matrix(self, matrix: doc.Matrix, token: int) -> str:
        """A table; one with a row for each token has the token of its first row."""
        first = None if matrix.marked is None else token - matrix.marked
        corners = self.name(matrix.cells[0][0]), self.name(matrix.cells[-1][-1])
        key = (corners, first, matrix.columns, matrix.rows, matrix.figure)
        if None in corners or key not in self.matrices:
            self.matrices[key] = str(self.macros.matrix(self._table(matrix, first)))
        return self.matrices[key]

    def _table(self, matrix: doc.Matrix, first: int | None) -> Any:
        figure = matrix.figure
        return SimpleNamespace(
            name=text(matrix.symbol),
            symbol=symbol(matrix.symbol),
            title=figure.title if figure else "",
            signed=bool(figure and figure.scale),
            columns=list(map(name_text, matrix.columns)) if any(matrix.columns) else [],
            rows_named=any(matrix.rows),
            first_token=first,
            rows=[
                SimpleNamespace(
                    label=name_text(label),
                    cells=[
                        SimpleNamespace(
                            of=self.name(number),
                            text=text(number),
                            shade=_shade(number, figure) if figure else None,
                        )
                        for number in numbers
                    ],
                )
                for label, numbers in zip(matrix.rows, matrix.cells, strict=True)
            ],
        )

    def bars(self, block: doc.Bars) -> Any:
        """A table whose numbers have bars; a length is in percent of both sides together."""
        scale = bars.scale_of(block)
        zero = 100 * scale.zero

        def row(bar: doc.Bar) -> Any:
            length = scale.length(bar.number)
            return SimpleNamespace(
                label=name_text(bar.label),
                of=self.name(bar.number),
                text=text(bar.number),
                side=signed.side(bar.number),
                start=f"{zero + 100 * min(length, 0):.2f}",
                length=f"{100 * abs(length):.2f}",
            )

        title, words = name_text(block.figure.title), bars.description(block)
        rows = list(map(row, block.bars))
        return SimpleNamespace(title=title, description=words, zero=f"{zero:.2f}", rows=rows)


def _data(choices: doc.Choices) -> str:
    """The choices of a question for the script."""
    labels = list(map(name_text, choices.labels))
    return json.dumps({"labels": labels, "right": choices.right, "several": choices.several})


def symbol(expression: Expression) -> Markup:
    """A symbol in a sentence or a table."""
    return Markup(mathml.symbol(expression))


def _shade(number: Number | Blank, figure: doc.Figure) -> str | None:
    """The class of a cell: `heat-0` for a share of 0, up to SHADES; `cold-` if it is negative."""
    if isinstance(number, Blank):
        return None
    if figure.scale is None:
        return f"heat-{ceil(min(max(float(number.value), 0.0), 1.0) * SHADES)}"
    depth = round(signed.share_of_largest(number, figure.scale) * SHADES)
    return f"{'cold' if number.value < 0 else 'heat'}-{depth}" if depth else None
