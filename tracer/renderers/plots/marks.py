"""A plot and the marks that it is drawn with, in pixels; y is counted downward."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import hypot
from typing import Literal, TypeAlias, assert_never

from tracer.formula.expression import Number
from tracer.lesson.document import Sign
from tracer.names import name_text
from tracer.renderers.rows import cells
from tracer.renderers.text import text

Color: TypeAlias = Literal["ink", "faint", "axis", "positive", "negative", "other"]
Spot: TypeAlias = tuple[float, float]

LETTER, LINE, MARGIN = 7.5, 15, 12
"""The width of a letter, the height of a line of words, and around a plot."""

RADIUS = 4
"""The radius of a dot."""

SHARE_LEFT = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""How much of a label is left of its place."""

HEAD = 9
"""The length of an arrow's head."""


@dataclass(frozen=True)
class Rect:
    """A filled rectangle. `of` is the number that a mark shows; `depth` is that of its color."""

    color: Color
    x: float
    y: float
    width: float
    height: float
    of: Number | None = None
    depth: float = 1


@dataclass(frozen=True)
class Path:
    """A line through points; if it `bends`, from the first to the last toward the middle one."""

    color: Color
    points: tuple[Spot, ...]
    width: float = 1.5
    bends: bool = False
    of: Number | None = None


@dataclass(frozen=True)
class Dot:
    """A filled circle."""

    color: Color
    x: float
    y: float
    of: Number | None = None


@dataclass(frozen=True)
class Label:
    """Words on a line, whose middle is at `y`."""

    words: Sign
    x: float
    y: float
    anchor: Literal["start", "middle", "end"] = "middle"
    color: Color = "ink"
    bold: bool = False
    of: Number | None = None


Mark: TypeAlias = Rect | Path | Dot | Label


@dataclass(frozen=True)
class Plot:
    """Marks, the later ones above the earlier ones, with a description in words.

    `left` and `top` are the coordinates of its corner.
    """

    title: str
    description: str
    left: float
    top: float
    width: float
    height: float
    marks: tuple[Mark, ...]

    @staticmethod
    def of(title: str, description: str, marks: Iterable[Mark]) -> Plot:
        """A plot that is as large as its marks need, with its title above them."""
        drawn = tuple(marks)
        boxes = list(map(box_of, drawn))
        left, top = (min(box[side] for box in boxes) for side in (0, 1))
        own = Label((name_text(title),), left, top - LINE, "start")
        boxes.append(box_of(own))
        right, bottom = (max(box[side] for box in boxes) for side in (2, 3))
        left, top = left - MARGIN, boxes[-1][1] - MARGIN
        size = (right + MARGIN - left, bottom + MARGIN - top)
        return Plot(name_text(title), description, left, top, *size, (own, *drawn))


def box_of(mark: Mark) -> tuple[float, float, float, float]:
    """The left, top, right and bottom ends of a mark."""
    match mark:
        case Rect(x=x, y=y):
            return x, y, x + mark.width, y + mark.height
        case Dot(x=x, y=y):
            return x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS
        case Label(x=x, y=y):
            width = width_of(mark.words) * (1.1 if mark.bold else 1)
            left = x - width * SHARE_LEFT[mark.anchor]
            return left, y - LINE / 2, left + width, y + LINE / 2
        case Path(points=points):
            if mark.bends:
                first, _, last = points
                tip = tuple((a + 2 * b + c) / 4 for a, b, c in zip(*points, strict=True))
                points = (first, (tip[0], tip[1]), last)
            xs, ys = zip(*points, strict=True)
            half = mark.width / 2
            return min(xs) - half, min(ys) - half, max(xs) + half, max(ys) + half
        case _:
            assert_never(mark)


def plain(words: Sign) -> str:
    """The words of a label as plain text."""
    return "".join(part if isinstance(part, str) else text(part) for part in words)


def width_of(words: Sign) -> float:
    """The width of a label."""
    return LETTER * cells(plain(words))


def arrow(
    color: Color, start: Spot, end: Spot, width: float = 1.5, of: Number | None = None
) -> Iterator[Path]:
    """An arrow: its shaft and its head; nothing from a point to itself."""
    (x1, y1), (x2, y2) = start, end
    length = hypot(x2 - x1, y2 - y1)
    if not length:
        return
    dx, dy = HEAD * (x2 - x1) / length, HEAD * (y2 - y1) / length
    sides = ((x2 - dx + dy / 2, y2 - dy - dx / 2), (x2 - dx - dy / 2, y2 - dy + dx / 2))
    yield Path(color, (start, end), width, of=of)
    yield Path(color, (sides[0], end, sides[1]), width, of=of)
