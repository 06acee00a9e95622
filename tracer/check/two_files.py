"""Compare the arrays of two files: of two programs, or of one before and after a change.

Nothing is known of how they are computed: they are compared in the order in which the first file
has them, which is that of computation if its program has written them as it went.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from tracer.check.against import TOLERANCES, LargestDifference, largest_difference, scales
from tracer.check.recomputation import ROUNDING
from tracer.check.wording import agreeing, how_many, shortlist, sizes, written_float
from tracer.decoder.comparison import Floats, differences
from tracer.errors import Problem, TracerError
from tracer.files.reading import read_file
from tracer.lesson import document as doc
from tracer.names import closest, count, shape_text
from tracer.scenario.activations import DumpedArray, read_arrays
from tracer.scenario.reader import read

EXPECTED = "expected pairs such as blocks.*.attn: layers.*.attention, with as many * on both sides"
LAST_ROWS = (
    "Where one file has fewer rows, as a pass with a cache has, they are compared with the last "
    "rows of the other."
)
JUMP = 30
"""Rounding alone seldom makes the differences so many times as large as all before them."""


@dataclass(frozen=True, eq=False)
class ComparedArrays(LargestDifference):
    """An array of the first file beside one of the second.

    `last` is the number of rows if one file has only the last rows of the other.
    """

    first: DumpedArray
    second: DumpedArray
    last: int | None = None
    jumps: float | None = None
    """How many times as large as all before are its differences, if they are much larger."""

    @property
    def differs(self) -> bool:
        """Whether the difference exceeds the allowed one."""
        return self.at is None or self.exceeds


@dataclass(frozen=True, eq=False)
class TwoFiles:
    """The compared arrays, in the order of the first file, and the names that only one file has."""

    files: tuple[str, str]
    compared: tuple[ComparedArrays, ...]
    alone: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return self.first is None

    @cached_property
    def first(self) -> ComparedArrays | None:
        """The first array that differs."""
        return next((each for each in self.compared if each.differs), None)

    def document(self) -> doc.Document:
        """Return the report as a text."""
        title = f"{self.files[0]} and {self.files[1]}"
        sections = (*self._first(), doc.Section(None, "Array by array", (self._table(),)))
        return doc.Document("check", title, doc.paragraphs(*self._introduction()), sections)

    def _introduction(self) -> Iterator[doc.Sentence]:
        differ = sum(each.differs for each in self.compared)
        yield (
            f"{count(len(self.compared), 'array')} of ",
            *(doc.Name(self.files[0]), " compared with ", doc.Name(self.files[1])),
            f": {how_many(differ, len(self.compared))}.",
        )
        for file, names in zip(self.files, self.alone, strict=True):
            if names:
                yield ("Only in ", doc.Name(file), ": ", *shortlist(names), ".")
        jumps = [each for each in self.compared if each.jumps and not each.differs]
        if jumps:
            yield (
                "The differences grow at once, but stay below what is allowed, in ",
                *(*shortlist([each.first.name for each in jumps]), "."),
            )

        if any(each.last for each in self.compared):
            yield (LAST_ROWS,)

    def _first(self) -> Iterator[doc.Section]:
        first = self.first
        if first is None:
            return
        name, (one, other) = first.first.name, self.files
        if first.at is None:
            shapes = [shape_text(each.numbers.shape) for each in (first.first, first.second)]
            said: doc.Sentence = (
                *(doc.Name(name), f" is {shapes[0]} in ", doc.Name(one)),
                *(f" and {shapes[1]} in ", doc.Name(other), "."),
            )
        else:
            place = f"[{','.join(str(i + 1) for i in first.at)}]" if first.at else ""
            here, there = written_float(first.here), written_float(first.there)
            said = (
                *(doc.Name(name + place), f" is {here} in ", doc.Name(one), f" and {there} in "),
                *(doc.Name(other), f", {written_float(first.difference, 2)} apart."),
            )
        earlier = self.compared[: self.compared.index(first)]
        agree = agreeing([each.first.name for each in earlier], "array")
        yield doc.Section(None, f"First difference: {name}", doc.paragraphs(said, agree))

    def _table(self) -> doc.Table:
        rows = []
        for each in self.compared:
            found = "differs" if each.differs else "jumps" if each.jumps else "agrees"
            rows.append((*sizes(each), found, each.first.name))
        marked = self.compared.index(self.first) if self.first else None
        return doc.Table.of(("difference", "relative", "", "array"), rows, marked)


def compare_files(
    first: Path, second: Path, names: Path | None, tolerance: float | None
) -> TwoFiles:
    """Compare the arrays of two .npz or .safetensors files that have the same names.

    `names` is a YAML file with `name in the first: name in the second`; a `*` stands for the same
    text in both.

    Raises:
        TracerError: a file cannot be read, or no name is in both.
    """
    ours, theirs = ({each.name: each for each in read_arrays(path)} for path in (first, second))
    pairs = dict(_pairs(ours, theirs, names))
    if not pairs:
        message = "no array has the name of one in the other file; name pairs with --names"
        raise TracerError(Problem(message, f"{first}, {second}"))
    found: list[ComparedArrays] = []
    before = 0.0
    for name, other in pairs.items():
        compared = _compared(ours[name], theirs[other], tolerance, before)
        before = max(before, compared.relative)
        found.append(compared)
    alone = (
        tuple(n for n in ours if n not in pairs),
        tuple(n for n in theirs if n not in pairs.values()),
    )
    return TwoFiles((first.name, second.name), tuple(found), alone)


def _pairs(
    ours: Mapping[str, DumpedArray], theirs: Mapping[str, DumpedArray], names: Path | None
) -> Iterator[tuple[str, str]]:
    """Yield each name in the first file that has a partner in the second, and the partner.

    Raises:
        TracerError: the file of names has another form, or a name in it is in neither file.
    """
    listed_names = _read_names(names) if names else {}
    partners: dict[str, str] = {}
    problems: list[Problem] = []
    for left, right in listed_names.items():
        pattern = re.compile("(.*)".join(map(re.escape, left.split("*"))))
        matches = [match for name in ours if (match := pattern.fullmatch(name))]
        if not matches:
            message = f"no such array in the first file{closest(left, ours)}"
            problems.append(Problem(message, str(names), address=left))
        for match in matches:
            partner = right
            for text in match.groups():
                partner = partner.replace("*", text, 1)
            partners[match[0]] = partner
            if partner not in theirs:
                message = f"no such array in the second file{closest(partner, theirs)}"
                problems.append(Problem(message, str(names), address=partner))
    if problems:
        raise TracerError(*problems)
    for name in ours:
        if (partner := partners.get(name, name)) in theirs:
            yield name, partner


def _read_names(path: Path) -> dict[str, str]:
    """Return the pairs of names of a YAML file.

    Raises:
        TracerError: it is no mapping of names, or two names of a pair do not have as many `*`.
    """
    source = read(read_file(path), str(path), "names of arrays")
    if not isinstance(source.data, dict):
        raise TracerError(source.problem((), EXPECTED))
    problems = [
        source.problem((left,), EXPECTED, left)
        for left, right in source.data.items()
        if not isinstance(right, str) or left.count("*") != right.count("*")
    ]
    if problems:
        raise TracerError(*problems)
    return {left: str(right) for left, right in source.data.items()}


def _compared(
    first: DumpedArray, second: DumpedArray, tolerance: float | None, before: float
) -> ComparedArrays:
    """Compare two arrays; `before` is the largest relative difference of those before them."""
    kinds = first.kind, second.kind
    coarsest = max(kinds, key=lambda kind: TOLERANCES.get(kind, 0.0))
    allowed = TOLERANCES.get(coarsest, TOLERANCES["float64"]) if tolerance is None else tolerance
    ours, theirs, last = _of_one_shape(first.numbers, second.numbers)
    if ours.shape != theirs.shape:
        return ComparedArrays(first, second, allowed=allowed)
    is_square = ours.ndim > 1 and ours.shape[-1] == ours.shape[-2]  # as attention weights are
    relative_to = scales(ours, range(ours.ndim - is_square))
    found = largest_difference(ours, theirs, differences(ours, theirs), relative_to)
    usual = max(before, ROUNDING.get(coarsest, ROUNDING["float64"]))
    times = found.get("relative", 0.0) / usual
    jumps = times if before and times > JUMP else None
    return ComparedArrays(first, second, last, jumps, allowed=allowed, **found)


def _of_one_shape(ours: Floats, theirs: Floats) -> tuple[Floats, Floats, int | None]:
    """Return two arrays without batches of one in front, and the number of rows if it was cut.

    A pass with a cache has only the rows of its last tokens, which are the last of the other's.
    """
    while ours.ndim != theirs.ndim and max(ours, theirs, key=np.ndim).shape[:1] == (1,):
        ours, theirs = (a[0] if a.ndim > b.ndim else a for a, b in ((ours, theirs), (theirs, ours)))
    rows = [each.shape[-2:-1] for each in (ours, theirs)]
    if ours.ndim != theirs.ndim or rows[0] == rows[1] or ours.ndim < 2:
        return ours, theirs, None
    fewer = min(ours.shape[-2], theirs.shape[-2])
    return ours[..., -fewer:, :], theirs[..., -fewer:, :], fewer
