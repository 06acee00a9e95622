"""Count rows, columns and entries of a scenario's parts, and report those that do not fit.

It works on the plain data, so a wrong part does not prevent the check of the others. A part
that is missing or of another kind has no size, and nothing is reported that depends on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from pydantic import TypeAdapter

from tracer.errors import Problem
from tracer.names import count
from tracer.scenario.expected import Expected, Size, typed_size
from tracer.scenario.fields import Positive
from tracer.scenario.parts import address
from tracer.scenario.reader import Data, ScenarioSource, YamlPath

LARGEST_FORM = 250_000
"""The most numbers of a short form, so that a short file cannot fill the memory."""


def words_of(data: Data | None) -> list[Data] | None:
    """Return the words of a list or a sentence."""
    if isinstance(data, str):
        return list(data.split())
    return data if isinstance(data, list) else None


def data_at(data: Data | None, place: YamlPath) -> Data | None:
    """Return the data at a place; None if there is none."""
    for step in place:
        match data, step:
            case dict(), str() if step in data:
                data = data[step]
            case list(), int() if step < len(data):
                data = data[step]
            case _:
                return None
    return data


def is_tied(data: Data | None) -> bool:
    """Return whether the embeddings are the unembedding, too."""
    return "tied" in (data_at(data, ("unembedding",)), data_at(data, ("unembedding", "W_U")))


@dataclass(eq=False)
class SizeChecker:
    """Counts the parts of a scenario and reports what does not fit."""

    source: ScenarioSource
    problems: list[Problem] = field(default_factory=list)
    wanted: dict[YamlPath, tuple[int, int]] = field(default_factory=dict)
    """The rows and columns for each `identity` and `random`."""

    def matrix(self, place: YamlPath, rows: Expected, columns: Expected, guess: Size) -> Size:
        """Return the columns of a matrix; `guess` is the default for a random one."""
        match self.part(*place):
            case "identity":
                if rows.size is not None and columns.size not in (None, rows.size):
                    found = f"identity has {count(rows.size, 'column')} here"
                    self.report(place, f"{found}, expected {columns}")
                return self.want(place, rows.size, rows.size)
            case {"random": dict() as form}:
                stated = typed_size(form.get("columns"))
                if stated and columns.size not in (None, stated):
                    message = f"{stated}, expected {columns}"
                    self.report((*place, "random", "columns"), message)
                return self.want(place, rows.size, columns.size or stated or guess)
            case {"transposed": list() as turned}:
                return self.rectangle((*place, "transposed"), turned, columns, rows)[0]
            case list() as typed:
                return self.rectangle(place, typed, rows, columns)[1]
            case _:
                return columns.size

    def want(self, place: YamlPath, rows: Size, columns: Size) -> Size:
        """Note the size of a matrix to expand."""
        if rows is None or columns is None:
            return columns
        if rows * columns > LARGEST_FORM:
            message = f"{rows} × {columns} numbers, expected at most {LARGEST_FORM} in a short form"
            self.report(place, message)
        else:
            self.wanted[place] = (rows, columns)
        return columns

    def rectangle(
        self, place: YamlPath, typed: list[Data], rows: Expected, columns: Expected
    ) -> tuple[Size, Size]:
        """Return the size of typed rows; report rows of other lengths."""
        most = usual_length(typed)
        if not typed or most is None:
            return rows.size, columns.size
        if rows.size not in (None, len(typed)):
            self.report(place, f"{count(len(typed), 'row')}, expected {rows}")
        if most == 0:
            self.report((*place, 0), "an empty row")
            return rows.size, columns.size
        each = columns if columns.size else Expected(most)
        lengths = {len(row) for row in typed if isinstance(row, list)}
        if len(typed) > 1 and lengths == {most} and most != each.size:
            self.report(place, f"{count(most, 'column')}, expected {each}")
        else:
            for index, row in enumerate(typed):
                if isinstance(row, list) and len(row) != each.size:
                    found = count(len(row), "column")
                    self.report((*place, index), f"{found}, expected {each}")
        return rows.size or len(typed), each.size

    def length(self, place: YamlPath, expected: Size, meaning: str, noun: str = "entry") -> None:
        """Report a list that does not have the expected length."""
        found = self.size(*place)
        if found is not None and expected is not None and found != expected:
            self.report(place, f"{count(found, noun)}, expected {expected} ({meaning})")

    # --- the data --------------------------------------------------------------------------------

    def part(self, *place: int | str) -> Data | None:
        """Return the data at a place; None if there is none."""
        return data_at(self.source.data, place)

    def has(self, *place: int | str) -> bool:
        """Return whether there is data at a place."""
        return self.part(*place) is not None

    def positive(self, *place: int | str) -> Decimal | None:
        """Return a typed positive number; None for anything else."""
        try:
            number: Decimal = TypeAdapter(Positive).validate_python(self.part(*place))
        except ValueError:
            return None
        return number

    def entries(self, *place: int | str) -> Sequence[Data]:
        """Return the entries of a list; none of other data."""
        found = self.part(*place)
        return found if isinstance(found, list) else ()

    def words(self, *place: int | str) -> list[Data] | None:
        """Return the words of a list or a sentence."""
        return words_of(self.part(*place))

    def size(self, *place: int | str) -> Size:
        """Return the number of entries of a list, or of words of a sentence."""
        words = self.words(*place)
        return None if words is None else len(words)

    def report(self, place: YamlPath, message: str) -> None:
        """Report a problem at a place."""
        self.problems.append(self.source.problem(place, message, address(place)))


def usual_length(rows: Iterable[Data]) -> Size:
    """Return the most frequent length of the rows, the first of several; None without rows."""
    lengths = Counter(len(row) for row in rows if isinstance(row, list))
    return max(lengths, key=lengths.__getitem__) if lengths else None
