"""The picture of the model on the page: each box is a link to its step, with a small heat map."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from typing import TypeAlias

from tracer.lesson import document as doc
from tracer.lesson.texts.page import BoxResult, NumberNames, Page, place_name
from tracer.names import count
from tracer.node import rewritten
from tracer.renderers.page.heat import HeatMap, map_of
from tracer.renderers.picture.as_svg import (
    HEIGHT,
    INSIDE,
    LETTER,
    LINE,
    SMALL,
    InPixels,
    description,
    sort_of,
    words_in,
    words_of,
)
from tracer.renderers.picture.boxes import shape, sign
from tracer.renderers.picture.placing import Size
from tracer.renderers.picture.stack import Spot
from tracer.renderers.rows import cells

Anchor: TypeAlias = Callable[[int], str | None]
"""The number of a step → the name of its section, if the page has it."""

BETWEEN, WIDEST_LABEL = 8, 170
"""From the name of a box to its sign; both together."""


class Maps:
    """The heat map of each box, if it has one, and the sizes of boxes with their maps.

    The maps of the lowest row of each tower show the names of their rows.
    """

    def __init__(self, picture: doc.Picture, page: Page, numbers: NumberNames) -> None:
        self.page, self.numbers = page, numbers
        self.of: dict[int, HeatMap | None] = {}
        self.alone: set[int] = set()
        towers = filter(None, (picture.encoder, picture.decoder))
        self.lowest = [box.step for tower in towers for box in (tower.inputs or ((),))[0]]

    def size(self, box: doc.Box, alone: bool) -> Size:
        """As high as its two lines and its map, below each other unless it is alone in its row."""
        name, symbol = label_of(box, alone)
        words = max(words_of(box, name), _width(name, symbol))
        self.of[box.step] = found = self._map(box)
        wide, high = found.size if found else (0, 0)
        if alone:
            self.alone.add(box.step)
            return words + 2 * INSIDE + (wide + INSIDE if found else 0), max(HEIGHT, high + 8)
        return max(words, wide) + 2 * INSIDE, HEIGHT + (high + 6 if found else 0)

    def _map(self, box: doc.Box) -> HeatMap | None:
        result = self.page.results.get(box.step)
        source = result and self.numbers.source(result.value)
        if not result or not source:
            return None
        return map_of(source[1], per_token=bool(result.rows), named=box.step in self.lowest)


def label_of(box: doc.Box, alone: bool) -> tuple[str, str]:
    """The name of a box, and its sign where there is room for it."""
    name, symbol = box.name or sign(box), sign(box)
    fits = alone and name.lower() != symbol.lower() and _width(name, symbol) <= WIDEST_LABEL
    return name, symbol if fits else ""


def _width(name: str, symbol: str) -> float:
    return LETTER * cells(name) + (BETWEEN + SMALL * cells(symbol) if symbol else 0)


class Diagram(InPixels):
    """Writes a picture as SVG."""

    def __init__(
        self, picture: doc.Picture, page: Page, numbers: NumberNames, anchor: Anchor
    ) -> None:
        self.page, self.numbers, self.anchor = page, numbers, anchor
        self.maps = Maps(picture, page, numbers)
        self.stands_for: dict[int, list[int]] = defaultdict(list)
        for step, shown in picture.folded:
            self.stands_for[shown].append(step)
        self.sources: dict[int, list[int]] = defaultdict(list)
        for wire in picture.wires:
            self.sources[wire.reader].append(wire.source)
        super().__init__(picture, self.maps.size)

    def svg(self) -> str:
        """The drawing, to be written in a page."""
        name, title = self.picture.figure.name, self.picture.figure.title
        words = description(rewritten(self.picture, doc.Box, _in_words))
        lines = [
            f'<svg viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}" '
            f'height="{self.height:g}" role="group" aria-label="{escape(title)}" '
            f'aria-describedby="{escape(name)}.words">',
            f'<desc id="{escape(name)}.words">{escape(words)}</desc>',
            *self.lines(),
            "</svg>",
        ]
        return "\n".join(lines)

    # --- boxes -----------------------------------------------------------------------------------

    def box(self, spot: Spot) -> str:
        """A link to the step, unless the page does not have it."""
        box = spot.box
        found, to = self.maps.of[box.step], self.anchor(box.step)
        tag, href = ("a", f' href="#{to}"') if to else ("g", "")
        title = f"<title>{escape(self._words(box, found))}</title>"
        heat = "".join(self._heat(box, found, spot)) if found else ""
        return (
            f'<{tag} class="{sort_of(spot)}"{href}{self._data(box)} {self.at(spot)}>'
            f"{title}{words_in(spot, self._label(box))}{heat}</{tag}>"
        )

    def _label(self, box: doc.Box) -> str:
        name, symbol = label_of(box, box.step in self.maps.alone)
        small = f'<tspan class="small" dx="{BETWEEN}">{escape(symbol)}</tspan>' if symbol else ""
        return escape(name) + small

    def _data(self, box: doc.Box) -> str:
        """The box's step, the sections of the steps that it stands for, and their values."""
        steps = [box.step, *self.stands_for[box.step]]
        sections = [anchor for step in steps if (anchor := self.anchor(step))]
        results = [self.page.results[step] for step in steps if step in self.page.results]
        places = (self.numbers.source(value) for result in results for value in result.values)
        values = dict.fromkeys(str(place[0]) for place in places if place)
        return (
            f' data-step="{box.step}" data-sections="{" ".join(sections)}" '
            f'data-values="{" ".join(values)}"'
        )

    def _words(self, box: doc.Box, found: HeatMap | None) -> str:
        """What a box is, in words: step 7: scores, Q · Kᵀ / √2, 4×4, from steps 4 and 5."""
        named = dict.fromkeys(filter(None, (box.name, sign(box))))
        parts = [f"step {box.step}: {', '.join(named)}", shape(box)]
        if sources := sorted(self.sources[box.step]):
            *others, last = map(str, sources)
            steps = f"{', '.join(others)} and {last}" if others else last
            parts.append(f"from step{'s' * bool(others)} {steps}")
        if times := len(self.stands_for[box.step]):
            parts.append(f"and {count(times, 'equal step')} of other layers")
        parts.append(found.words if found else "")
        return ", ".join(filter(None, parts))

    def _heat(self, box: doc.Box, found: HeatMap, spot: Spot) -> Iterator[str]:
        """The map at the right of the words, or between them."""
        wide, high = found.size
        alone = box.step in self.maps.alone
        x = spot.width - wide - INSIDE if alone else (spot.width - wide) / 2
        y = (spot.height - high) / 2 if alone else LINE + 6
        result = self.page.results[box.step]
        place = self.numbers.source(result.value)
        assert place
        rows = " ".join("-" if row is None else str(row // found.block[0]) for row in result.rows)
        cell_wide, cell_high = found.cell
        for i, name in enumerate(found.written):
            at = f'x="{x:g}" y="{y + (i + 0.8) * cell_high:g}"'
            yield f'<text class="small" {at}>{escape(name)}</text>'
        yield (
            f'<g class="map{" reduced" * found.is_reduced}" data-rows="{rows}" '
            f'transform="translate({x + found.margin:g} {y:g}) scale({cell_wide:g} {cell_high:g})">'
            f'<rect class="ground" width="{found.columns}" height="{found.rows}"/>'
        )
        for name, row in zip(found.names, found.cells, strict=True):
            yield f"<g><title>{escape(name)}</title>" if name else "<g>"
            for cell in row:
                side = "cold" if cell.number.value < 0 else "heat"
                at = place_name(cell.at)
                yield (
                    f'<rect class="{side}" x="{cell.column}" y="{cell.row}" '
                    f'fill-opacity="{cell.depth / 10:g}" data-number="{place[0]}:{at}"/>'
                )
            yield "</g>"
        yield f"{self._followed(found, result)}</g>"

    def _followed(self, found: HeatMap, result: BoxResult) -> str:
        """A frame around the row of the followed token."""
        if not result.rows:
            return ""
        row = result.rows[self.page.followed]
        shown = ' visibility="hidden"' if row is None else ""
        y = (row or 0) // found.block[0]
        return f'<rect class="followed" y="{y}" width="{found.columns}" height="1"{shown}/>'


def _in_words(box: doc.Box) -> doc.Box:
    return replace(box, sign=(box.name,)) if box.name else box
