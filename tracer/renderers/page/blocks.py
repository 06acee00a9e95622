"""Each block of a document as HTML."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from math import ceil
from types import SimpleNamespace
from typing import Any, assert_never

from markupsafe import Markup

from tracer.lesson.document import (
    Block,
    Box,
    Cell,
    Curve,
    Formula,
    Heads,
    Inline,
    Layer,
    Line,
    Matrix,
    Name,
    Paragraph,
    Part,
    Percent,
    Picture,
    Reference,
    Row,
    Table,
    Working,
)
from tracer.lesson.expression import Expression, Number, Sized
from tracer.names import count
from tracer.renderers import curve, mathml
from tracer.renderers.page.lines import Numbers, sides
from tracer.renderers.picture.boxes import shape, sign
from tracer.renderers.text import name_text, number_text, text
from tracer.scenario.rounding import trimmed

SHADES = 10
"""Of a heat map, beside that of none."""

Anchor = Callable[[int], str | None]
"""The number of a step → the name of its section, if the page has it."""


class Blocks:
    """Writes blocks with the macros of a template; the anchor of a step depends on where it is."""

    def __init__(self, macros: Any, numbers: Numbers) -> None:
        self.macros, self.numbers = macros, numbers
        self.matrices: dict[Any, str] = {}
        self.workings: dict[Any, str] = {}

    def written(self, block: Block, anchor: Anchor, token: int, *, shown: bool) -> str:
        """A block as HTML for a token; lines that the script draws stay empty till they are shown.

        Matrices and lines are written alike for all tokens for which they are the same.
        """
        match block:
            case Paragraph(parts):
                said = [self.inline(part, anchor) for part in parts]
                return str(self.macros.paragraph(said))
            case Formula(chain):
                return str(self.macros.formula(Markup(mathml.formula(chain))))
            case Working(lines):
                return self.working(lines, shown)
            case Matrix():
                return self.matrix(block, token)
            case Table(header, rows, marked):
                cells = [[self.cell(cell) for cell in row] for row in rows]
                return str(self.macros.table(header, cells, marked))
            case Picture():
                return str(self.macros.picture(self.picture(block, anchor)))
            case Curve():
                return str(self.macros.image(_inside(curve.image_of(block)), _words(block)))
            case _:
                assert_never(block)

    def inline(self, part: Inline, anchor: Anchor) -> str | Markup:
        """A piece of a sentence; text is escaped where it is put in."""
        match part:
            case str():
                return part
            case Name(name):
                return self.macro("name", name_text(name))
            case Percent(number):
                percent = f"{number_text(Number(trimmed(number.value * 100)))} %"
                return self.macro("number", percent, self.numbers.name(number.entry))
            case Number():
                return self.macro("number", number_text(part), self.numbers.name(part.entry))
            case Reference(number):
                return self.macro("reference", number, anchor(number))
            case Sized(of, size):
                return symbol(of) + f" ({' × '.join(map(str, size))})"
            case _:
                return symbol(part)

    def macro(self, name: str, *arguments: Any) -> Markup:
        """What a macro writes."""
        return Markup(getattr(self.macros, name)(*arguments))

    def cell(self, cell: Cell) -> str | Markup:
        """What stands in a table of words."""
        match cell:
            case Name(name):
                return name_text(name) if name else ""
            case Number():
                return self.macro("number", number_text(cell), self.numbers.name(cell.entry))
            case _:
                return symbol(cell)

    def working(self, lines: Sequence[Line], shown: bool) -> str:
        """Worked lines, as they were written when they were shown first."""
        written = [self.line(line, shown) for line in lines]
        key = tuple((line.of, line.label, line.front) for line in written)
        if not all(line.of for line in written):
            return str(self.macros.working(written))
        if shown or key not in self.workings:
            self.workings[key] = str(self.macros.working(written))
        return self.workings[key]

    def line(self, line: Line, shown: bool) -> Any:
        """A worked line: label, symbol in front, sides, result."""
        chain, of = line.chain, self.numbers.line(line.chain)
        own = self.numbers.of_line(chain) if of else chain
        front = text(chain.sides[0]) if len(own.sides) < len(chain.sides) else ""
        drawn = bool(of) and not shown
        return SimpleNamespace(
            of=of,
            label=line.label and name_text(line.label),
            front=front,
            work="" if drawn else "".join(s if isinstance(s, str) else text(s) for s in sides(own)),
            sign="" if drawn or not own.relations else own.relations[-1],
            result="" if drawn else text(own.sides[-1]),
        )

    def matrix(self, matrix: Matrix, token: int) -> str:
        """A table; where it has a row for each token, it says for which the first of them is."""
        first = None if matrix.marked is None else token - matrix.marked
        corners = matrix.cells[0][0], matrix.cells[-1][-1]
        key = (
            *(*(corner.origin for corner in corners), *(corner.at for corner in corners)),
            *(first, matrix.columns, matrix.rows, matrix.figure),
        )
        if corners[0].origin is None or key not in self.matrices:
            self.matrices[key] = str(self.macros.matrix(self._table(matrix, first)))
        return self.matrices[key]

    def _table(self, matrix: Matrix, first: int | None) -> Any:
        shaded = matrix.figure is not None
        return SimpleNamespace(
            symbol=symbol(matrix.symbol),
            title=matrix.figure.title if matrix.figure else "",
            columns=list(map(name_text, matrix.columns)) if any(matrix.columns) else [],
            rows_named=any(matrix.rows),
            first_token=first,
            rows=[
                SimpleNamespace(
                    label=name_text(label),
                    cells=[
                        SimpleNamespace(
                            of=self.numbers.name(number.entry),
                            text=number_text(number),
                            heat=_shade(number) if shaded else None,
                        )
                        for number in numbers
                    ],
                )
                for label, numbers in zip(matrix.rows, matrix.cells, strict=True)
            ],
        )

    def picture(self, picture: Picture, anchor: Anchor) -> Any:
        """The picture as lists in lists, each box a link to its step."""
        return SimpleNamespace(
            title=picture.figure.title,
            tokens=[name_text(token.text) for token in picture.tokens],
            inputs=[_row(row, anchor) for row in picture.inputs],
            encoder=picture.encoder
            and SimpleNamespace(
                tokens=[name_text(token.text) for token in picture.encoder.tokens],
                box=_box(picture.encoder.box, anchor),
            ),
            layers=[
                SimpleNamespace(
                    title=f"layer {layer.first}",
                    others=_others(layer, anchor),
                    parts=[_part(part, anchor) for part in layer.parts],
                )
                for layer in picture.layers
            ],
            outputs=[_row(row, anchor) for row in picture.outputs],
        )


def symbol(expression: Expression) -> Markup:
    """A symbol in a sentence or a table."""
    return Markup(mathml.symbol(expression))


def _others(layer: Layer, anchor: Anchor) -> Any:
    """The layers that are built like one, and where their steps begin."""
    if layer.others is None:
        return None
    (first, last), second = layer.others, layer.first + 1
    many = f"layers {second} to {layer.last} are" if layer.last > second else f"layer {second} is"
    steps = f"{first}–{last}"
    return SimpleNamespace(title=f"{many} built alike", steps=steps, anchor=anchor(first))


def _part(part: Part, anchor: Anchor) -> Any:
    return SimpleNamespace(
        name=part.name,
        inside=list(_inner(part.inside, anchor)),
        residual=part.residual and _box(part.residual, anchor),
        behind=[_row(row, anchor) for row in part.behind],
    )


def _inner(inside: Sequence[Row | Heads], anchor: Anchor) -> Iterator[Any]:
    for each in inside:
        if isinstance(each, Heads):
            heads = [[_row(row, anchor) for row in head] for head in each.heads]
            yield SimpleNamespace(heads=heads)
        else:
            yield SimpleNamespace(heads=None, row=_row(each, anchor))


def _row(row: Row, anchor: Anchor) -> list[Any]:
    return [_box(box, anchor) for box in row]


def _box(box: Box, anchor: Anchor) -> Any:
    return SimpleNamespace(
        sign=sign(box),
        shape=shape(box),
        step=box.step,
        given=box.given,
        anchor=anchor(box.step),
    )


def _shade(number: Number) -> int:
    """0 of nothing, up to SHADES of all."""
    return ceil(min(max(float(number.value), 0.0), 1.0) * SHADES)


def _inside(svg: str) -> str:
    """An image inside the page, where its styles are its own."""
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


def _words(block: Curve) -> str:
    return f"{curve.description(block)} {count(len(block.numbers), 'number')}."
