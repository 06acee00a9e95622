"""What is shown, independent of any format: sections of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from tracer.formula.expression import Blank, Chain, Expression, Number
from tracer.names import count
from tracer.node import Node, rewritten

if TYPE_CHECKING:
    from tracer.decoder.forward import Trace


@dataclass(frozen=True)
class Name(Node):
    """A token or a label, of any characters; inside a sentence it is set apart."""

    text: str


@dataclass(frozen=True)
class Percent(Node):
    """A number between 0 and 1, shown as a percentage."""

    number: Number | Blank


@dataclass(frozen=True)
class Reference(Node):
    """Another step of the text: “step 4”."""

    number: int


@dataclass(frozen=True)
class Plain(Node):
    """Words of the scenario's author, of any characters."""

    text: str


@dataclass(frozen=True)
class Code(Node):
    """Words of the author that are set as code."""

    text: str


@dataclass(frozen=True)
class Emphasis(Node):
    """Pieces that the author emphasizes: in italics, or in bold if they are `strong`."""

    parts: tuple[Inline, ...]
    strong: bool


Inline: TypeAlias = str | Name | Number | Percent | Reference | Expression | Plain | Code | Emphasis
"""A piece of a sentence; `str` is the project's own words."""


Sentence: TypeAlias = tuple[Inline, ...]

Sign: TypeAlias = tuple[str | Expression, ...]
"""The short name of a step in a picture."""


@dataclass(frozen=True)
class Line(Node):
    """A worked line: its equations, and a label unless the symbol says enough."""

    label: str | None
    chain: Chain


@dataclass(frozen=True)
class Paragraph(Node):
    """One or more sentences."""

    parts: tuple[Inline, ...]


@dataclass(frozen=True)
class Choices(Node):
    """What a reader chooses from: labels, and which are right; `several` or none may be."""

    labels: tuple[str, ...]
    right: tuple[int, ...]
    several: bool


NO_CHOICES = Choices((), (), several=False)


@dataclass(frozen=True)
class Question(Paragraph):
    """A question with its answer, which may have worked lines.

    A worksheet's key has the answer and its lines; a page asks with choices.
    """

    answer: Sentence
    choices: Choices
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True)
class Formula(Node):
    """A chain in symbols."""

    chain: Chain


@dataclass(frozen=True)
class Working(Node):
    """Worked lines."""

    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Listing(Node):
    """Lines of Python that compute a step."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Figure(Node):
    """A block as a figure: file name without ending, title, names of its rows and columns.

    The numbers of a matrix are shares; with a `scale`, they are signed, and it is the largest in
    size, which has the deepest color.
    """

    name: str
    title: str
    axes: tuple[str, str] = ("who looks", "at whom")
    scale: Number | None = None


@dataclass(frozen=True)
class Matrix(Node):
    """Numbers with labels for rows and columns; `marked` is the followed token's row.

    `words`, for a figure, are the words that the numbers are probabilities of.
    """

    symbol: Expression
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Number | Blank, ...], ...]
    marked: int | None = None
    figure: Figure | None = None
    words: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Curve(Node):
    """A number after each step, the first before any: the loss in training, the rank of a word.

    `step` is what a step is called. Ranks are drawn on a logarithmic axis, 1 at its top.
    """

    label: str
    numbers: tuple[Number, ...]
    figure: Figure
    step: str = "step"
    of_ranks: bool = False


@dataclass(frozen=True)
class Bar(Node):
    """A number and its name. It is the sum of so many `parts`."""

    label: str
    number: Number
    parts: int = 1


@dataclass(frozen=True)
class Bars(Node):
    """Signed numbers below each other, as bars with a common scale."""

    bars: tuple[Bar, ...]
    figure: Figure


@dataclass(frozen=True)
class Illustration(Node):
    """A drawing of numbers that the text has as well: only formats with pictures show it."""

    figure: Figure


@dataclass(frozen=True)
class Arcs(Illustration):
    """Attention weights as arcs, from each token in `rows` to those in `columns`.

    The rows are the last of the columns, unless the attention `crosses` to the encoder.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    weights: tuple[tuple[Number, ...], ...]
    followed: int
    crosses: bool


@dataclass(frozen=True)
class Group(Node):
    """Numbers as bars below each other, and their title."""

    title: Sign
    numbers: tuple[Number, ...]


@dataclass(frozen=True)
class Groups(Illustration):
    """Groups of bars beside each other, a row for each label.

    The groups share a scale if they are `alike`.
    """

    labels: tuple[str, ...]
    groups: tuple[Group, ...]
    alike: bool = False


@dataclass(frozen=True)
class Point(Node):
    """A named point of a graph or a plane."""

    name: str
    x: Number
    y: Number


Samples: TypeAlias = tuple[tuple[float, float], ...]
"""Points of a function, from left to right."""


@dataclass(frozen=True)
class Panel(Node):
    """A function, by points that are close together, and numbers of the trace on it."""

    title: Sign
    function: Samples
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Graph(Illustration):
    """Functions above each other, with a common horizontal axis."""

    panels: tuple[Panel, ...]
    across: Sign


@dataclass(frozen=True)
class Trail(Node):
    """Points of a plane, one after the other, and whose they are."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Region(Node):
    """The part of a plane in which a word is the most probable one, by its corners."""

    word: str
    corners: Samples


@dataclass(frozen=True)
class Plane(Illustration):
    """Vectors in the plane of two columns: arrows from point to point; one point is an arrow's tip.

    Such an arrow begins at the origin. The note says which columns they are. An axis has the names
    of its column in all vectors, or one name if they are the same.
    """

    followed: Trail
    others: tuple[Trail, ...]
    axes: tuple[tuple[str, ...], tuple[str, ...]]
    note: str = ""
    regions: tuple[Region, ...] = ()


@dataclass(frozen=True)
class Multiple(Node):
    """Numbers as the colored cells of a small heat map, and its title."""

    title: Sign
    cells: tuple[tuple[Number, ...], ...]


@dataclass(frozen=True)
class HeatMaps(Illustration):
    """Small heat maps beside each other, with the same rows and columns.

    The numbers are shares; with a scale of the figure, they are signed, as those of a matrix.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    maps: tuple[Multiple, ...]
    followed: int


@dataclass(frozen=True)
class Box(Node):
    """A step in the picture of a model: its number, sign and result's shape.

    `given`: some of it is pinned. `aside`: the heads use it, not the box above. `name` says in
    words what the sign says in symbols.
    """

    step: int
    sign: Sign
    shape: tuple[int, ...]
    given: bool = False
    aside: bool = False
    name: str = ""


Row: TypeAlias = tuple[Box, ...]
"""Boxes beside each other: none of them reads another."""


@dataclass(frozen=True)
class Heads(Node):
    """Heads beside each other, the rows of each from below.

    `crosses`: which read the encoder. `alike`: the first head built like each, counted from 0.
    """

    heads: tuple[tuple[Row, ...], ...]
    crosses: tuple[bool, ...]
    alike: tuple[int, ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class SubLayerPicture(Node):
    """A sub-layer, from below: what is inside the residual connection, the sum, what follows.

    `reads` is the box that it reads, if that is not the one below, as in a parallel block.
    """

    name: str
    inside: tuple[Row | Heads, ...]
    residual: Box | None = None
    behind: tuple[Row, ...] = ()
    reads: Box | None = None


@dataclass(frozen=True)
class LayerCycle(Node):
    """Layers `first` to `last`, which follow each other again and again up to layer `end`.

    `others` are the first and last step of those that are not drawn.
    """

    first: int
    last: int
    end: int
    others: tuple[int, int]

    @property
    def times(self) -> int:
        """How often they follow each other, those that are drawn included."""
        return (self.end - self.first + 1) // (self.last - self.first + 1)


@dataclass(frozen=True)
class LayerPicture(Node):
    """A layer that stands for all up to `last`; `others` are the first and last step of those.

    `cycle` is set for the last layer of one.
    """

    first: int
    last: int
    parts: tuple[SubLayerPicture, ...]
    others: tuple[int, int] | None = None
    cycle: LayerCycle | None = None


@dataclass(frozen=True)
class TowerPicture(Node):
    """The decoder or the encoder, from below: inputs, layers, outputs."""

    tokens: tuple[Name, ...]
    inputs: tuple[Row, ...]
    layers: tuple[LayerPicture, ...]
    outputs: tuple[Row, ...]


@dataclass(frozen=True)
class Wire(Node):
    """From the box of a step to the box of a step that reads it."""

    source: int
    reader: int


@dataclass(frozen=True)
class Picture(Node):
    """The model at a glance, and which box reads which.

    `folded` are the steps of layers that are not drawn, each with the step that stands for it.
    """

    decoder: TowerPicture
    encoder: TowerPicture | None
    figure: Figure
    wires: tuple[Wire, ...] = ()
    folded: tuple[tuple[int, int], ...] = ()


Cell: TypeAlias = Name | Expression
"""A cell of a table: a token or label, or a symbol."""


@dataclass(frozen=True)
class Table(Node):
    """Text in columns."""

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    marked: int | None = None
    is_whole: bool = False
    """Whether no name is shortened, because a reader copies it."""

    @staticmethod
    def of(
        header: Iterable[str],
        rows: Iterable[Iterable[str | Cell]],
        marked: int | None = None,
        *,
        is_whole: bool = False,
    ) -> Table:
        """A table whose strings are tokens and labels."""
        cells = ((Name(cell) if isinstance(cell, str) else cell for cell in row) for row in rows)
        return Table(tuple(header), tuple(map(tuple, cells)), marked, is_whole)


def paragraphs(*sentences: Sentence | None) -> tuple[Paragraph, ...]:
    """A paragraph for each sentence that is not empty."""
    return tuple(Paragraph(sentence) for sentence in sentences if sentence)


Drawing: TypeAlias = Arcs | Groups | Graph | Plane | HeatMaps
"""The illustrations."""

Text: TypeAlias = Paragraph | Formula | Working | Matrix | Table | Listing
"""The blocks that are no pictures."""

Block: TypeAlias = Text | Picture | Curve | Bars | Drawing


@dataclass(frozen=True)
class Section(Node):
    """A step of the text; `number` is its place in the whole run, if it has one.

    A section of several steps has the number of the `last`, too. `part` is the title of its part
    of the text; `within` its own title in that part, in pieces: ("Head 1", "Query"). `trace` is the
    pass that its numbers are from. What is `folded` repeats another section, so that a reader may
    skip it.
    """

    number: int | None
    title: str
    blocks: tuple[Block, ...]
    part: str | None = None
    within: tuple[str, ...] = ()
    layer: int | None = None
    head: int | None = None
    folded: bool = False
    last: int | None = None
    trace: Trace | None = field(default=None, kw_only=True, compare=False, repr=False)

    @property
    def steps(self) -> range:
        """The numbers of its steps."""
        if self.number is None:
            return range(0)
        return range(self.number, (self.last or self.number) + 1)

    @property
    def counted(self) -> str:
        """The numbers of its steps in print: `7`, `11–17`, or nothing."""
        return "–".join(str(number) for number in (self.number, self.last) if number is not None)


@dataclass(frozen=True)
class Document(Node):
    """A text about a scenario, by its short name; unless `whole`, it shows no title.

    A long text `has_contents`, a list of its sections.
    """

    scenario: str
    title: str
    introduction: tuple[Block, ...]
    sections: tuple[Section, ...]
    whole: bool = True
    has_contents: bool = True

    def __repr__(self) -> str:
        return f"<Document {self.title!r}: {count(len(self.sections), 'section')}>"

    @property
    def paragraphs(self) -> Iterator[Paragraph]:
        """All paragraphs, in order."""
        for blocks in (self.introduction, *(section.blocks for section in self.sections)):
            yield from (block for block in blocks if isinstance(block, Paragraph))


def without_illustrations(document: Document) -> Document:
    """Return the document as formats without pictures show it."""
    sections = (replace(each, blocks=_plain(each.blocks)) for each in document.sections)
    introduction = _plain(document.introduction)
    return replace(document, introduction=introduction, sections=tuple(sections))


def without_numbers(document: Document) -> Document:
    """Return the document without numbers of steps in its titles; a sentence names a step by title.

    A step that is not in the document is “an earlier step”.
    """
    titles = {number: each.title for each in document.sections for number in each.steps}

    def named(reference: Reference) -> Plain:
        title = titles.get(reference.number)
        return Plain(f"“{title}”" if title else "an earlier step")

    sections = (
        replace(each, blocks=rewritten(each.blocks, Reference, named), number=None, last=None)
        for each in document.sections
    )
    return replace(document, sections=tuple(sections))


def _plain(blocks: Iterable[Block]) -> tuple[Block, ...]:
    return tuple(block for block in blocks if not isinstance(block, Illustration))
