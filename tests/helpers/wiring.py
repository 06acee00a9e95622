"""Passes whose values are recorded in other orders, or whose FFN reads what attention reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from random import Random
from unittest.mock import patch
from xml.etree import ElementTree

from tracer.decoder import forward
from tracer.decoder.forward import Trace
from tracer.decoder.roles import NORM_AFTER
from tracer.decoder.sub_layers import added, normalized
from tracer.decoder.tape import Record, Tape
from tracer.decoder.value import Value
from tracer.scenario.networks import SubLayer
from tracer.scenario.norms import Norm, Normalization


@contextmanager
def parallel(*layers: int) -> Iterator[None]:
    """In these layers, or in all, each sub-layer of this width reads what goes into the layer."""
    into: dict[tuple[int, bool, int | None], tuple[Tape, Value]] = {}

    def sub_layer(
        tape: Tape,
        x: Value,
        parameters: SubLayer,
        norm: Norm | None,
        after: Normalization | None,
        compute: Callable[[Tape, Value, SubLayer], Value],
    ) -> Value:
        at = (id(tape), tape.place.encoder, tape.place.layer)
        _, read = into.setdefault(at, (tape, x))
        if read.shape != x.shape or (layers and tape.place.layer not in layers):
            read = x
        before = norm is not None and norm.placement == "pre"
        change = compute(
            tape, normalized(tape, read, norm) if norm and before else read, parameters
        )
        if after:
            change = normalized(tape, change, after, NORM_AFTER)
        if parameters.residual:
            change = added(tape, x, change, parameters)
        return normalized(tape, change, norm) if norm and not before else change

    with patch.object(forward, "sub_layer", sub_layer):
        yield


def shuffled(trace: Trace, random: Random) -> Trace:
    """The trace as if independent values had been recorded in another order."""
    return recorded_by(trace, lambda record: random.random())


def recorded_by(trace: Trace, rank: Callable[[Record], float]) -> Trace:
    """The trace, of the records that could be next always that of the lowest rank first."""
    own = {record.output for record in trace.records}
    waiting = {record.output: own.intersection(record.inputs) for record in trace.records}
    for before, record in pairwise(trace.records):
        if record.output.place.block and before.output.place.block:
            waiting[record.output].add(before.output)  # one block is worked after the other
    left, done = sorted(trace.records, key=rank), set[Value]()
    ordered: list[Record] = []
    while left:
        record = next(record for record in left if waiting[record.output] <= done)
        left.remove(record)
        done.add(record.output)
        ordered.append(record)
    return replace(trace, records=tuple(ordered))


# --- what lines of a picture lead to -------------------------------------------------------------

Cell = tuple[int, int]
"""Column and row, the highest row first."""

STEPS = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0)}
BACK = {"N": "S", "S": "N", "E": "W", "W": "E"}
SIDES = {
    **{"─": "EW", "│": "NS", "┌": "ES", "┐": "SW", "└": "EN", "┘": "NW", "├": "ENS", "┤": "NSW"},
    **{"┬": "ESW", "┴": "ENW", "┼": "ENSW"},
}


class Lines:
    """The lines of a picture, by the cells that they go through, and its boxes."""

    def __init__(self, sides: dict[Cell, set[str]], boxes: dict[Cell, str]) -> None:
        self.sides, self.boxes = sides, boxes

    def into(self, box: str) -> set[str]:
        """The boxes from whose tops a line leads to the bottom of a box, the highest so called."""
        column, row = min(
            (
                (column, row)
                for (column, row), name in self.boxes.items()
                if name == box and "N" in self.sides.get((column, row + 1), ())
            ),
            key=lambda cell: cell[1],
        )
        return self._from((column, row + 1))

    def around_to(self, box: str) -> set[str]:
        """The same of what leads to the right of a box, to the tip of an arrow."""
        row = min(row for (_, row), name in self.boxes.items() if name == box)
        last = max(column for (column, at), name in self.boxes.items() if at == row and name == box)
        start = min(c for c, at in self.sides if at == row and c > last)
        assert start <= last + 8  # LaTeX only says where the middle of a box is
        return self._from((start, row))

    def _from(self, start: Cell) -> set[str]:
        found, seen, ahead = set[str](), set[Cell](), [start]
        while ahead:
            cell = ahead.pop()
            seen.add(cell)
            for side in self.sides.get(cell, ()):
                near = (cell[0] + STEPS[side][0], cell[1] + STEPS[side][1])
                if near in self.boxes:
                    found |= {self.boxes[near]} if side == "S" else set()
                elif BACK[side] in self.sides.get(near, ()) and near not in seen:
                    ahead.append(near)
        return found


def in_characters(lines: list[str]) -> Lines:
    """Of the picture in characters; a box is named by its words without the shape."""
    sides: dict[Cell, set[str]] = {}
    boxes: dict[Cell, str] = {}
    for row, line in enumerate(lines):
        for column, sign in enumerate(line):
            if sign in SIDES:
                sides[column, row] = set(SIDES[sign])
        for words in re.finditer(r"[^\s─│┌┐└┘├┤┬┴┼◂▸┄]+( [^\s─│┌┐└┘├┤┬┴┼◂▸┄]+)*", line):
            for column in range(*words.span()):
                boxes[column, row] = _named(words[0])
    return Lines(sides, boxes)


def in_latex(latex: str) -> Lines:
    r"""Of the picture in LaTeX: a picture for each row, lines from \put(x,y) on."""
    rows = re.findall(r"^\\begin\{picture\}\(\d+,2\)\(-?\d+,0\)(.*)\\end\{picture\}", latex, re.M)
    boxes: dict[Cell, str] = {}
    segments = []
    for row, content in enumerate(rows):
        for x, words in re.findall(r"\\put\((-?[\d.]+),1\)\{\\makebox\(0,0\)\{(.*?)\}\}", content):
            if "triangle" not in words:
                boxes[int(float(x) // 1), row] = _named(words)
        thick = re.findall(
            r"\\thicklines\\put\((-?[\d.]+),(\d)\)\{\\line\((\d),\d\)\{([\d.]+)", content
        )
        for x, y, across, length in thick:
            column, size = float(x), float(length)
            if across == "1":
                segments.append(((column, row + 0.5), (column + size, row + 0.5)))
            else:
                top = row + 1 - (float(y) + size) / 2
                segments.append(((column, top), (column, top + size / 2)))
    return Lines(_sides(segments, boxes), boxes)


def _sides(
    segments: Iterable[tuple[tuple[float, float], tuple[float, float]]], boxes: dict[Cell, str]
) -> dict[Cell, set[str]]:
    """The sides to which lines leave each cell; cells are one wide and one high."""
    sides: dict[Cell, set[str]] = {}
    for start, end in segments:
        (x1, y1), (x2, y2) = sorted((start, end))
        across = y1 == y2
        first, last = (x1, x2) if across else (y1, y2)
        for half in range(round(2 * first), round(2 * last)):  # cells have two halves
            cell = (half // 2, int(y1 // 1)) if across else (int(x1 // 1), half // 2)
            side = ("EW" if across else "SN")[half % 2 == 0]
            if cell not in boxes:
                sides.setdefault(cell, set()).add(side)
    return sides


def _number(element: ElementTree.Element, name: str) -> float:
    return float(element.get(name) or 0)


def _named(words: str) -> str:
    """The words of a box without its shape."""
    return re.sub(r" ?\d+(×|\$\\times\$)\d+", "", words).strip()
