"""The picture of a model as SVG, legible on light and on dark pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from tracer.lesson import document as doc
from tracer.names import count
from tracer.renderers.picture.boxes import shape, sign
from tracer.renderers.picture.layout import on_a_line
from tracer.renderers.picture.placing import PADDING, TITLE, SizeOf, Stack
from tracer.renderers.picture.stack import Frame, Spot
from tracer.renderers.picture.wires import Point, Wires
from tracer.renderers.rows import cells
from tracer.renderers.svg import image

LETTER, SMALL, LINE = 7.8, 6.4, 16
"""A letter of a sign and of a shape; the height of a line."""

INSIDE, HEIGHT = 7, 42
"""From the edge of a box to its words; the height of a box."""

TIP = (5, 4)
"""Half the width of an arrow's tip, and its length."""

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.small, .title, .name, .tokens { font-size: 11px; fill: #57606a }
.title { paint-order: stroke; stroke: #ffffff; stroke-width: 4px }
.edge { fill: #ffffff; stroke: #8c959f } .sum .edge { stroke-width: 2 }
.given .edge { stroke-dasharray: 4 2 } .wire { fill: none; stroke: #57606a; stroke-width: 1.3 }
.layer, .part { fill: none; stroke: #d0d7de } .layer { stroke-dasharray: 4 3 }
.head { fill: #f6f8fa; stroke: #d0d7de }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .small, .title, .name, .tokens { fill: #8b949e }
  .title { stroke: #0d1117 }
  .edge { fill: #0d1117; stroke: #6e7681 } .wire { stroke: #8b949e }
  .layer, .part, .head { stroke: #30363d } .head { fill: #161b22 }
}"""


def image_of(picture: doc.Picture) -> str:
    """The drawing, with a description in words."""
    drawn = InPixels(picture, lambda box, _: (words_of(box, sign(box)) + 2 * INSIDE, HEIGHT))
    size = drawn.width, drawn.height
    return image(picture.figure.title, description(picture), size, STYLE, drawn.lines())


def description(picture: doc.Picture) -> str:
    """The picture in words, from below."""
    said = "; ".join(_of_tower(picture.decoder))
    if picture.encoder:
        said = f"the encoder: {'; '.join(_of_tower(picture.encoder))}. The decoder: {said}"
    return f"{picture.figure.title}: {said}."


def _of_tower(tower: doc.TowerPicture) -> Iterator[str]:
    yield count(len(tower.tokens), "token")
    yield from map(_signs, tower.inputs)
    for layer in tower.layers:
        times = layer.last - layer.first + 1
        yield f"layer {layer.first}" + (f", {times} times" if times > 1 else "")
        yield from map(_of_part, layer.parts)
        if cycle := layer.cycle:
            yield f"layers {cycle.first} to {cycle.last} in turn, {cycle.times} times"
    yield from map(_signs, tower.outputs)


def _of_part(part: doc.SubLayerPicture) -> str:
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


class InPixels:
    """The boxes, frames and arrows of a picture as the elements of an SVG; rows go downward there.

    The boxes are in the order of their steps.
    """

    def __init__(self, picture: doc.Picture, size_of: SizeOf) -> None:
        self.picture = picture
        self.drawn = Wires(picture, size_of)
        last = self.drawn.placing.stacks[-1]
        self.width = last.x + last.right + 1
        self.height = max(self.drawn.bottoms.values()) + 2

    def lines(self) -> Iterator[str]:
        """All elements, those behind first."""
        spots = self.drawn.placing.spots
        stacks = self.drawn.placing.stacks
        for stack in stacks:
            yield from self._frames(stack)
        yield f"<g>{''.join(self._wires())}</g>"
        for stack in stacks:
            yield from self._titles(stack)
        for step in sorted(spots):
            yield self.box(spots[step])

    def box(self, spot: Spot) -> str:
        """A box with its words."""
        words = words_in(spot, escape(sign(spot.box)))
        return f'<g class="{sort_of(spot)}" {self.at(spot)}>{words}</g>'

    def at(self, spot: Spot) -> str:
        """Where a box is."""
        left, top = spot.x - spot.width / 2, self.height - spot.y - spot.height
        return f'transform="translate({left:g} {top:g})"'

    # --- frames and words ------------------------------------------------------------------------

    def _frames(self, stack: Stack) -> Iterator[str]:
        """The frames of layers, of their parts and of heads."""
        for level in stack.levels:
            for frame in level.opens:
                sort, inset, _ = _kind(frame)
                left = stack.x - stack.left + inset + 1
                width = stack.left + stack.right - 2 * (inset + 1)
                height = frame.top - frame.bottom
                yield self._rect(left, frame.bottom, width, height, sort)
            for head in level.heads:
                yield self._rect(head.x - head.width / 2, level.y, head.width, level.height, "head")

    def _titles(self, stack: Stack) -> Iterator[str]:
        """The names of a tower's frames and heads, and its tokens."""
        for level in stack.levels:
            for frame in level.opens:
                _, inset, title = _kind(frame)
                left = stack.x - stack.left + inset + 7
                yield self._text(left, frame.top - 13, title, "title", "start")
            for head in level.heads:
                top = level.y + level.height - 13
                yield self._text(head.x - head.width / 2 + 6, top, head.title, "name", "start")
                for i, line in enumerate(head.note):
                    middle = level.y + level.height / 2 + LINE * (len(head.note) / 2 - i - 1)
                    yield self._text(head.x, middle, line, "name", "middle")
        room = int((stack.left + stack.right) / SMALL)
        tokens = on_a_line(stack.tower.tokens, room)
        yield self._text(stack.x, TITLE - LINE + 4, tokens, "tokens", "middle")

    def _rect(self, x: float, y: float, width: float, height: float, sort: str) -> str:
        at = f'x="{x:g}" y="{self.height - y - height:g}" width="{width:g}" height="{height:g}"'
        return f'<rect class="{sort}" {at} rx="5"/>'

    def _text(self, x: float, y: float, words: str, sort: str, anchor: str) -> str:
        at = f'x="{x:g}" y="{self.height - y:g}" text-anchor="{anchor}"'
        return f'<text class="{sort}" {at}>{escape(words)}</text>' if words else ""

    # --- arrows ----------------------------------------------------------------------------------

    def _wires(self) -> Iterator[str]:
        for line in self.drawn.lines:
            corners = [(x, self.height - y) for x, y in line.corners]
            way = " ".join(f"{x:g} {y:g}" for x, y in corners)
            source, reader = line.wire.source, line.wire.reader
            yield (
                f'<path class="wire" data-from="{source}" data-to="{reader}" '
                f'd="M{way}{_tip(corners[-2], corners[-1])}"/>'
            )


def _kind(frame: Frame) -> tuple[str, float, str]:
    """The class of a frame, how far it is inside of its tower, and its title."""
    if isinstance(frame.of, doc.SubLayerPicture):
        return "part", PADDING / 2, frame.of.name
    first, last, cycle = frame.of.first, frame.of.last, frame.of.cycle
    title = f"layer {first}"
    if first < last:
        title += f" × {last - first + 1}: layers {first} to {last} are built alike"
    if cycle:
        others = f"layers {cycle.last + 1}–{cycle.end} like {cycle.first}–{cycle.last}"
        title += f"; × {cycle.times}: {others}"
    return "layer", 0, title


def words_of(box: doc.Box, label: str) -> float:
    """The width of the words of a box with a label."""
    return max(LETTER * cells(label), SMALL * cells(shape_and_step(box)))


def shape_and_step(box: doc.Box) -> str:
    """`4×6 (7)`: the shape and the step. A · between them would be a product."""
    return " ".join(filter(None, (shape(box), f"({box.step})")))


def sort_of(spot: Spot) -> str:
    """The classes of a box."""
    return f"box{' given' * spot.box.given}{' sum' * spot.adds}"


def words_in(spot: Spot, label: str) -> str:
    """The edge of a box, its label at the top, its shape and step at the bottom."""
    return (
        f'<rect class="edge" width="{spot.width:g}" height="{spot.height:g}" rx="5"/>'
        f'<text x="{INSIDE}" y="{LINE}">{label}</text>'
        f'<text class="small" x="{INSIDE}" y="{spot.height - 7:g}">'
        f"{shape_and_step(spot.box)}</text>"
    )


def _tip(before: Point, end: Point) -> str:
    """The tip of an arrow, as the end of its path."""
    half, length = TIP
    (x1, y1), (x, y) = before, end
    if x1 == x:
        back = y + (length if y1 > y else -length)
        return f"M{x - half:g} {back:g}L{x:g} {y:g} {x + half:g} {back:g}"
    back = x + (length if x1 > x else -length)
    return f"M{back:g} {y - half:g}L{x:g} {y:g} {back:g} {y + half:g}"
