"""The levels of a tower, from below: what every drawing of a model has above each other.

A level is a row of boxes, or heads beside each other, each with rows of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tracer.lesson.document import Box, Heads, LayerPicture, Row, SubLayerPicture, TowerPicture

MOST_STACKED = 3
"""The most heads below each other; of more, only the first is drawn."""


@dataclass(eq=False)
class Spot:
    """A box; in pixels also its size, and its place: `x` is its middle, `y` its bottom."""

    box: Box
    adds: bool = False
    width: float = 0
    height: float = 0
    x: float = 0
    y: float = 0


@dataclass(eq=False)
class Head:
    """A head with its rows, or a note on heads that are left out.

    Rows are numbered from below and aligned at the top: in a backward pass, the lowest ones may
    belong to some of the heads only.
    """

    title: str
    rows: dict[int, list[Spot]]
    note: tuple[str, ...] = ()
    width: float = 0
    x: float = 0
    lanes: int = 0
    """The most lines that pass rows at one of its sides."""


@dataclass(eq=False)
class Frame:
    """What surrounds a layer or a part of it."""

    of: LayerPicture | SubLayerPicture
    bottom: float = 0
    top: float = 0


@dataclass(eq=False)
class Level:
    """A row of boxes, or heads; the frames that it opens and closes."""

    spots: list[Spot] = field(default_factory=list)
    goes_on: bool = True
    """Whether the next level of the same part reads it."""
    heads: list[Head] = field(default_factory=list)
    crosses: bool = False
    """Whether any of its heads reads the encoder."""
    opens: list[Frame] = field(default_factory=list)
    closes: list[Frame] = field(default_factory=list)
    y: float = 0
    height: float = 0

    @property
    def rows(self) -> list[list[Spot]]:
        """Its row, or each row of its heads, from below."""
        if not self.heads:
            return [self.spots]
        highest = max(row for head in self.heads for row in head.rows)
        return [
            [spot for head in self.heads for spot in head.rows.get(row, ())]
            for row in range(highest + 1)
        ]


def levels_of(tower: TowerPicture, beside: int) -> list[Level]:
    """The levels of a tower with at most so many heads beside each other."""
    levels = list(_rows(tower.inputs))
    for layer in tower.layers:
        of_layer = [level for part in layer.parts for level in _part(part, beside)]
        levels += _framed(layer, of_layer) if tower.layers[-1].last > 1 else of_layer
    return [*levels, *_rows(tower.outputs)]


def _rows(rows: Sequence[Row]) -> Iterator[Level]:
    for i, row in enumerate(rows):
        yield Level(list(map(Spot, row)), goes_on=i < len(rows) - 1)


def _part(part: SubLayerPicture, beside: int) -> list[Level]:
    levels = [
        Level(heads=list(_heads(inside, beside)), crosses=any(inside.crosses))
        if isinstance(inside, Heads)
        else Level(list(map(Spot, inside)))
        for inside in part.inside
    ]
    if part.residual:
        levels.append(Level([Spot(part.residual, adds=True)]))
    return _framed(part, [*levels, *_rows(part.behind)])


def _framed(of: LayerPicture | SubLayerPicture, levels: list[Level]) -> list[Level]:
    if levels:
        frame = Frame(of)
        levels[0].opens.insert(0, frame)
        levels[-1].closes.append(frame)
    return levels


def _heads(heads: Heads, beside: int) -> Iterator[Head]:
    """The heads that are shown, and a note on the others."""
    every = heads.heads
    fits = len(every) <= (beside if beside > 1 else MOST_STACKED)
    number = len(every) if fits else max(beside - 1, 1)
    shown, rest = every[:number], every[number:]
    titles = heads.names[:number] if len(every) > 1 else ("",)
    most = max(map(len, shown))
    for title, rows in zip(titles, shown, strict=True):
        spots = (list(map(Spot, row)) for row in rows)
        yield Head(title, dict(enumerate(spots, most - len(rows))))
    if rest:
        alike = set(heads.alike[number:]) == {heads.alike[number - 1]}
        steps = f"{rest[0][0][0].step}–{rest[-1][-1][-1].step}"
        note = (f"{len(rest)} more", *(["alike"] if alike else []), "steps", steps)
        kind, ends_apart = heads.names[0].split()[0], "shared" in heads.names[-1]
        title = "the others" if ends_apart else f"{kind}s {number + 1}–{len(every)}"
        yield Head(title, {}, note)
