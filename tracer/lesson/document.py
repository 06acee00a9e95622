"""What is shown, before any format: sections of blocks. Tokens and labels are plain text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from tracer.formula.expression import Blank, Chain, Expression, Number
from tracer.node import Node

if TYPE_CHECKING:
    from tracer.decoder.forward import Trace


class Name(Node):
    """A token or a label, which may hold anything: inside a sentence it is set apart."""

    text: str


class Percent(Node):
    """A number between 0 and 1, to be read as a percentage."""

    number: Number | Blank


class Reference(Node):
    """Another step of the text: “step 4”."""

    number: int


Inline: TypeAlias = str | Name | Number | Percent | Reference | Expression
"""A piece of a sentence; `str` is the project's own words."""


Sentence: TypeAlias = tuple[Inline, ...]

Sign: TypeAlias = tuple[str | Expression, ...]
"""What stands for a step where there is no room for a sentence."""


class Line(Node):
    """A worked line: what it is for, where that is not said by its symbol, and its equations."""

    label: str | None
    chain: Chain


class Paragraph(Node):
    """A sentence or more."""

    parts: tuple[Inline, ...]


class Formula(Node):
    """A chain in symbols."""

    chain: Chain


class Working(Node):
    """Worked lines."""

    lines: tuple[Line, ...]


class Figure(Node):
    """What a block is as a figure: its file's name, without ending, and its title.

    `axes` are what its rows and its columns are called.
    """

    name: str
    title: str
    axes: tuple[str, str] = ("who looks", "at whom")


class Matrix(Node):
    """Numbers with labels for rows and columns; `marked` is the chosen token's row.

    `words` are what the numbers are the probabilities of, as a figure shows both.
    """

    symbol: Expression
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Number | Blank, ...], ...]
    marked: int | None = None
    figure: Figure | None = None
    words: tuple[tuple[str, ...], ...] = ()


class Curve(Node):
    """A number as it changes from step to step, the first before any: the loss in training."""

    label: str
    numbers: tuple[Number, ...]
    figure: Figure


class Box(Node):
    """A step in the picture of a model: its number, what stands for it, the shape of its result.

    `given` says that all of it or a part is pinned instead of computed, `aside` that it does not
    go on into what stands above it: the heads use it.
    """

    step: int
    sign: Sign
    shape: tuple[int, ...]
    given: bool = False
    aside: bool = False


Row: TypeAlias = tuple[Box, ...]
"""Boxes beside each other: none of them reads another."""


class Heads(Node):
    """Heads beside each other, the rows of each from below.

    `crosses` says for each head whether it reads the encoder's vectors, `alike` which is the first
    head that is built like it, counted from 0.
    """

    heads: tuple[tuple[Row, ...], ...]
    crosses: tuple[bool, ...]
    alike: tuple[int, ...]


class Part(Node):
    """A sub-layer, from below: what the way around it spans, the sum at its end, what follows.

    Without a residual connection there is no sum, and nothing follows. `reads` is the box whose
    result goes in, where that is not what stands right below, as in a parallel block.
    """

    name: str
    inside: tuple[Row | Heads, ...]
    residual: Box | None = None
    behind: tuple[Row, ...] = ()
    reads: Box | None = None


class Layer(Node):
    """A layer, which stands for those up to `last`: they are built alike.

    `others` are the first and the last step of the others.
    """

    first: int
    last: int
    parts: tuple[Part, ...]
    others: tuple[int, int] | None = None


class Tower(Node):
    """What reads tokens, from below: what goes in, the layers, what comes out."""

    tokens: tuple[Name, ...]
    inputs: tuple[Row, ...]
    layers: tuple[Layer, ...]
    outputs: tuple[Row, ...]


class Picture(Node):
    """The model at a glance."""

    decoder: Tower
    encoder: Tower | None
    figure: Figure


Cell: TypeAlias = Name | Expression
"""What stands in a table: text, or a symbol."""


class Table(Node):
    """Text in columns."""

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    marked: int | None = None

    @staticmethod
    def of(
        header: Iterable[str], rows: Iterable[Iterable[str | Cell]], marked: int | None = None
    ) -> Table:
        """A table whose plain text is tokens and labels."""
        cells = ((Name(cell) if isinstance(cell, str) else cell for cell in row) for row in rows)
        return Table(tuple(header), tuple(map(tuple, cells)), marked)


def paragraphs(*sentences: Sentence | None) -> tuple[Paragraph, ...]:
    """A paragraph for each of the sentences, where there is one."""
    return tuple(Paragraph(sentence) for sentence in sentences if sentence)


Block: TypeAlias = Paragraph | Formula | Working | Matrix | Table | Picture | Curve


class Section(Node):
    """A step as the reader meets it; `number` is its place in the whole run, if it has one.

    `part` is the title of the part of the text that it belongs to, if that has several; `within`
    is its own title under that, in pieces: ("Head 1", "Query"). `layer` and `head` are those
    that it belongs to, `trace` is the pass that its numbers are of.
    """

    number: int | None
    title: str
    blocks: tuple[Block, ...]
    part: str | None = None
    within: tuple[str, ...] = ()
    layer: int | None = None
    head: int | None = None
    trace: Trace | None = field(default=None, kw_only=True)


class Document(Node):
    """A text about one scenario; a part of one, to be put into another text, shows no title.

    `scenario` is its short name.
    """

    scenario: str
    title: str
    introduction: tuple[Block, ...]
    sections: tuple[Section, ...]
    whole: bool = True
