"""The picture of a model as lists in lists, in which each box leads to its step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from tracer.lesson.document import Box, Heads, Layer, Part, Picture, Row, Tower
from tracer.renderers.picture.boxes import shape, sign
from tracer.renderers.text import name_text

Anchor = Callable[[int], str | None]
"""The number of a step → the name of its section, if the page has it."""


def picture(picture: Picture, anchor: Anchor) -> Any:
    """What the template writes: the towers, of each what is above each other."""
    towers = {"encoder": picture.encoder, "decoder": picture.decoder}
    return SimpleNamespace(
        title=picture.figure.title,
        towers=[
            _tower(tower, name if picture.encoder else None, anchor)
            for name, tower in towers.items()
            if tower
        ],
    )


def _tower(tower: Tower, name: str | None, anchor: Anchor) -> Any:
    return SimpleNamespace(
        name=name,
        tokens=[name_text(token.text) for token in tower.tokens],
        inputs=[_row(row, anchor) for row in tower.inputs],
        layers=[
            SimpleNamespace(
                title=f"layer {layer.first}",
                others=_others(layer, anchor),
                parts=[_part(part, anchor) for part in layer.parts],
            )
            for layer in tower.layers
        ],
        outputs=[_row(row, anchor) for row in tower.outputs],
    )


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
        reads=part.reads and _box(part.reads, anchor),
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
