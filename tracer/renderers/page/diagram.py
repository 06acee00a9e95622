"""The picture of the model on the page: each box is a link to its step, with a small heat map."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from html import escape
from typing import TypeAlias

from tracer.lesson import document as doc
from tracer.lesson.texts.page import BoxResult, NumberNames, Page, place_name
from tracer.names import count
from tracer.renderers.page.heat import HeatMap, map_of
from tracer.renderers.picture.as_svg import (
    HEIGHT,
    INSIDE,
    LINE,
    InPixels,
    description,
    sort_of,
    words_in,
    words_of,
)
from tracer.renderers.picture.boxes import shape, sign
from tracer.renderers.picture.placing import Size
from tracer.renderers.picture.stack import Spot

Anchor: TypeAlias = Callable[[int], str | None]
"""The number of a step → the name of its section, if the page has it."""

WIDEST, HIGHEST, LARGEST = 60, 34, 9
"""A heat map, and a cell of it."""


class Maps:
    """The heat map of each box, if it has one, and the sizes of boxes with their maps."""

    def __init__(self, page: Page, numbers: NumberNames) -> None:
        self.page, self.numbers = page, numbers
        self.of: dict[int, HeatMap | None] = {}
        self.alone: set[int] = set()

    def size(self, box: doc.Box, alone: bool) -> Size:
        """As high as its two lines and its map, below each other unless it is alone in its row."""
        words = words_of(box)
        self.of[box.step] = found = self._map(box)
        wide, high = _map_size(found) if found else (0, 0)
        if alone:
            self.alone.add(box.step)
            return words + 2 * INSIDE + (wide + INSIDE if found else 0), max(HEIGHT, high + 8)
        return max(words, wide) + 2 * INSIDE, HEIGHT + (high + 4 if found else 0)

    def _map(self, box: doc.Box) -> HeatMap | None:
        result = self.page.results.get(box.step)
        source = result and self.numbers.source(result.value)
        return map_of(source[1], per_token=bool(result.rows)) if result and source else None


class Diagram(InPixels):
    """Writes a picture as SVG."""

    def __init__(
        self, picture: doc.Picture, page: Page, numbers: NumberNames, anchor: Anchor
    ) -> None:
        self.page, self.numbers, self.anchor = page, numbers, anchor
        self.maps = Maps(page, numbers)
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
        lines = [
            f'<svg viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}" '
            f'height="{self.height:g}" role="group" aria-label="{escape(title)}" '
            f'aria-describedby="{escape(name)}.words">',
            f'<desc id="{escape(name)}.words">{escape(description(self.picture))}</desc>',
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
            f"{title}{words_in(spot)}{heat}</{tag}>"
        )

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
        """What a box is, in words: step 7: Q · Kᵀ / √2, 4×4, from steps 4 and 5."""
        parts = [f"step {box.step}: {sign(box)}", shape(box)]
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
        wide, high = _map_size(found)
        alone = box.step in self.maps.alone
        x = spot.width - wide - INSIDE if alone else (spot.width - wide) / 2
        y = (spot.height - high) / 2 if alone else LINE + 4
        result = self.page.results[box.step]
        place = self.numbers.source(result.value)
        assert place
        rows = " ".join("-" if row is None else str(row // found.block[0]) for row in result.rows)
        yield (
            f'<g class="map{" reduced" * found.is_reduced}" data-rows="{rows}" '
            f'transform="translate({x:g} {y:g}) scale({_cell(found):g})">'
            f'<rect class="ground" width="{found.columns}" height="{found.rows}"/>'
        )
        for cell in found.cells:
            side = "cold" if cell.number.value < 0 else "heat"
            at = place_name(cell.at)
            yield (
                f'<rect class="{side}" x="{cell.column}" y="{cell.row}" '
                f'fill-opacity="{cell.depth / 10:g}" data-number="{place[0]}:{at}"/>'
            )
        yield f"{self._followed(found, result)}</g>"

    def _followed(self, found: HeatMap, result: BoxResult) -> str:
        """A frame around the row of the followed token."""
        if not result.rows:
            return ""
        row = result.rows[self.page.followed]
        shown = ' visibility="hidden"' if row is None else ""
        y = (row or 0) // found.block[0]
        return f'<rect class="followed" y="{y}" width="{found.columns}" height="1"{shown}/>'


def _cell(found: HeatMap) -> float:
    """The side of a cell."""
    return min(LARGEST, WIDEST / found.columns, HIGHEST / found.rows)


def _map_size(found: HeatMap) -> Size:
    return _cell(found) * found.columns, _cell(found) * found.rows
