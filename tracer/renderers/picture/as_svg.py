"""The picture of a model as SVG, legible on light and on dark pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from tracer.lesson import document as doc
from tracer.names import count
from tracer.renderers.picture.boxes import sign
from tracer.renderers.picture.drawing import Cell, Drawing, Stroke, Words
from tracer.renderers.picture.layout import laid_out
from tracer.renderers.svg import image

WIDTH = 100
"""Columns, as of a wide terminal."""

COLUMN, ROW, MARGIN = 8, 22, 12
AROUND, GAP = 4, 2
"""Pixels from words to the edge of their box, and from there to the end of the row."""

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.box { fill: #f6f8fa; stroke: #8c959f } .given { stroke-dasharray: 4 2 }
.way, .rule { stroke: #57606a } .rule { stroke-dasharray: 1 4 } .frame { stroke: #d0d7de }
.head, .name { fill: #57606a }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .box { fill: #161b22; stroke: #6e7681 }
  .way, .rule { stroke: #8b949e } .frame { stroke: #30363d } .head, .name { fill: #8b949e }
}"""


def image_of(picture: doc.Picture) -> str:
    """The drawing, with a description in words."""
    drawing = laid_out(picture, WIDTH)
    size = (COLUMN * drawing.width + 2 * MARGIN, ROW * drawing.height + 2 * MARGIN)
    page = _Page(drawing)
    lines = [*page.strokes(), *page.words()]
    return image(picture.figure.title, description(picture), size, STYLE, lines)


def description(picture: doc.Picture) -> str:
    """The picture in words, from below."""
    said = "; ".join(_of_tower(picture.decoder))
    if picture.encoder:
        said = f"the encoder: {'; '.join(_of_tower(picture.encoder))}. The decoder: {said}"
    return f"{picture.figure.title}: {said}."


def _of_tower(tower: doc.Tower) -> Iterator[str]:
    yield count(len(tower.tokens), "token")
    yield from map(_signs, tower.inputs)
    for layer in tower.layers:
        times = layer.last - layer.first + 1
        yield f"layer {layer.first}" + (f", {times} times" if times > 1 else "")
        yield from map(_of_part, layer.parts)
    yield from map(_signs, tower.outputs)


def _of_part(part: doc.Part) -> str:
    beside = [inside.names for inside in part.inside if isinstance(inside, doc.Heads)]
    name = f"{part.name} with {_counted(beside[0])}" if beside else part.name
    steps = [_signs(inside) for inside in part.inside if not isinstance(inside, doc.Heads)]
    if part.reads:
        name += f" of {sign(part.reads)}"
    what = "the result of the part before" if part.reads else "its input"
    added = [f"{what} is added"] if part.residual else []
    return f"{name}: {', '.join([*steps, *added, *map(_signs, part.behind)])}"


def _counted(names: Sequence[str]) -> str:
    """`2 heads`, `3 experts`: the shared expert is one of them."""
    return count(len(names), names[0].split()[0])


def _signs(row: doc.Row) -> str:
    return " and ".join(map(sign, row))


class _Page:
    """A drawing in pixels; rows are counted downward there."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self.left, self.top = drawing.columns[0], drawing.height - 1

    def strokes(self) -> Iterator[str]:
        for stroke in self.drawing.strokes:
            (x1, y1), (x2, y2) = map(self._middle, (stroke.start, stroke.end))
            yield f'<line class="{stroke.sort}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'
            if stroke.arrow:
                yield self._head(stroke)

    def words(self) -> Iterator[str]:
        for words in self.drawing.words:
            if words.sort == "box":
                yield self._box(words)
            for (_, row), line in words.placed():
                yield self._line(words, row, line)

    def _middle(self, cell: Cell) -> tuple[float, float]:
        """The middle of a cell."""
        column, row = cell
        x, y = column - self.left + 0.5, self.top - row + 0.5
        return x * COLUMN + MARGIN, y * ROW + MARGIN

    def _head(self, stroke: Stroke) -> str:
        x, y = self._middle(stroke.end)
        tip = COLUMN / 2 if stroke.start < stroke.end else -COLUMN / 2
        points = f"{x + tip:g},{y:g} {x - tip:g},{y - 4:g} {x - tip:g},{y + 4:g}"
        return f'<polygon class="head" points="{points}"/>'

    def _box(self, words: Words) -> str:
        x, y = self._middle((words.middle, words.top))
        width = COLUMN * words.width + 2 * AROUND
        x, y = x - width / 2, y - ROW / 2 + GAP
        height = ROW * len(words.lines) - 2 * GAP
        sort = "box given" if words.given else "box"
        at = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
        return f'<rect class="{sort}" {at} rx="4"/>'

    def _line(self, words: Words, row: int, line: str) -> str:
        """One line; names and steps are aligned to the left, others centered."""
        at_left = words.sort in ("name", "steps")
        x, y = self._middle((words.column if at_left else words.middle, row))
        anchor = "start" if at_left else "middle"
        sort = "" if words.sort in ("box", "tokens") else ' class="name"'
        return f'<text x="{x:g}" y="{y + 5:g}" text-anchor="{anchor}"{sort}>{escape(line)}</text>'
