"""Signed numbers of heads as heat maps: a row for each layer, a column for each head."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from tracer.decoder.roles import Place
from tracer.formula.expression import Expression, Number
from tracer.lesson import document as doc
from tracer.names import count

LEAST_LAYERS = LEAST_HEADS = 2
"""Fewer are as easy to compare in a list."""

AXES = ("layer", "")


def head_maps(
    numbers: Mapping[Place, Number], symbol: Expression, name: str, title: str
) -> Iterator[doc.Block]:
    """Yield a map with its title for each kind of attention; all have the same scale.

    Layers with other heads have a map of their own. Where heads share keys, the first of them has
    the number.
    """
    scale = max(numbers.values(), key=lambda number: abs(number.value), default=None)
    for kind, layers in _kinds(numbers).items():
        of_heads = sorted({tuple(row) for row in layers.values()}, key=len)
        if sum(len(row) >= LEAST_HEADS for row in layers.values()) < LEAST_LAYERS:
            continue
        for heads in of_heads:
            rows = {layer: row for layer, row in layers.items() if tuple(row) == heads}
            words = f"{title}{OF_KIND[kind]}"
            file = f"{name}.heads{kind and f'.{kind}'}"
            if len(of_heads) > 1:
                words += f", layers with {count(len(heads), 'head')}"
                file += f".{len(heads)}"
            yield doc.Paragraph((f"{words}, a row for each layer:",))
            yield doc.Matrix(
                symbol,
                tuple(map(str, rows)),
                tuple(f"head {head}" for head in heads),
                tuple(tuple(row.values()) for row in rows.values()),
                None,
                doc.Figure(file, words, AXES, scale),
            )


OF_KIND = {"": "", "cross_attention": " of cross-attention", "encoder": " of the encoder"}
"""The kinds of heads, each with its words."""


def _kinds(numbers: Mapping[Place, Number]) -> dict[str, dict[int, dict[int, Number]]]:
    """The numbers of each layer's heads by head, by the kind of head."""
    found = defaultdict[str, dict[int, dict[int, Number]]](lambda: defaultdict(dict))
    ordered = sorted(numbers, key=lambda place: (place.layer or 0, place.head or 0))
    for place in ordered:
        crosses = place.sub_layer == "cross_attention"
        kind = "encoder" if place.encoder else "cross_attention" if crosses else ""
        found[kind][place.layer or 0][place.head or 0] = numbers[place]
    return {kind: found[kind] for kind in OF_KIND if kind in found}
