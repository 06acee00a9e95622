"""Printed numbers and candidates: which value a group of numbers shows.

The numbers decide first: those with many digits, and those of a whole row or matrix, are hardly
ever the same by chance. Symbols, headings and labels decide between equal ones, and the line of a
number between its operands.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import NamedTuple

import numpy as np

from tracer.check.draft.candidates import Candidate, Candidates
from tracer.check.draft.likeness import (
    COUNTED,
    closeness,
    digits_of,
    likeness,
    says_enough,
)
from tracer.check.draft.naming import Naming, is_labelled
from tracer.check.draft.reading import Group, Kind, Row
from tracer.check.printed import Printed
from tracer.check.verdicts import operands_of
from tracer.decoder.value import Entry

ENOUGH, ENOUGH_ALONE, ENOUGH_OF_A_DIGIT = 3.0, 4.0, 6.0
"""The least score of a row or a matrix, of a single number, and of one with a single digit."""
ENOUGH_INFINITE = 2.0
"""Only scores and masks have −∞."""
APART = 1.5
"""Another value with nearly this score is as likely."""
MOST_COMPARED = 40
"""So many candidates with the best numbers are compared by their names."""
MOST_IN_LINE = 50
"""So many numbers of a row are searched for their operands."""
ENOUGH_AGAIN = 3
"""A number with so many digits that is printed again is the same one."""


@dataclass(frozen=True)
class Match:
    """Numbers of a text, and the candidate that they most likely show.

    `others` are as likely; `alternatives` have the same numbers, but the words speak against them.
    """

    group: Group
    rows: tuple[Row, ...]
    line: int
    candidate: Candidate
    example: int | None
    others: tuple[Candidate, ...]
    alternatives: tuple[Candidate, ...]


def matched(every: Sequence[Group], candidates: Candidates) -> list[Match]:
    """Return the numbers that a value is found for, in the order of the text."""
    matcher = _Matcher(every, candidates)
    in_order = [match for alone in (False, True) for match in matcher.of(every, (alone,))]
    matcher.note(in_order)
    # The second time, the results are known whose lines numbers stand in, and their repetitions.
    return sorted(matcher.of(every, (False, True)), key=lambda each: (each.line, each.group.column))


class Scored(NamedTuple):
    """A candidate, how well its numbers agree, and the score together with its names."""

    likeness: float
    score: float
    candidate: Candidate


class _Places:
    """The groups that show entries, by a statement or by digits."""

    def __init__(self) -> None:
        self.groups: dict[object, dict[Entry, set[int]]] = {}

    def add(self, key: object, entry: Entry, group: Group) -> None:
        """Note a group that shows an entry."""
        self.groups.setdefault(key, {}).setdefault(entry, set()).add(id(group))

    def elsewhere(self, key: object, entry: Entry, group: Group) -> bool:
        """Return whether another group shows an entry."""
        return bool(self.groups.get(key, {}).get(entry, set()) - {id(group)})


class _Matcher:
    """Finds the candidates of groups, in the order of the text."""

    def __init__(self, every: Sequence[Group], candidates: Candidates) -> None:
        self.candidates, self.naming = candidates, Naming(candidates)
        self.followed = candidates.within.origins.followed
        printed: dict[object, list[Printed]] = {}
        for group in every:
            numbers = [n for row in group.rows for n in row if n.value.is_finite()]
            printed.setdefault(group.statement, []).extend(numbers)
        self.printed = {
            statement: (
                np.array([float(number.value) for number in numbers]),
                np.array([_tolerance(number) for number in numbers]),
            )
            for statement, numbers in printed.items()
        }
        """The numbers of a statement, which can be a long line, and how far off each can be."""
        self.place = {id(n): place for of in printed.values() for place, n in enumerate(of)}
        """The place of a number in its statement."""
        self.operands: dict[Entry, list[list[Entry]]] = {}
        self.shown, self.used, self.known = _Places(), _Places(), _Places()
        """The entries that a statement shows, the operands of its results, and those that digits
        show."""

    def of(self, every: Sequence[Group], alone: Container[bool]) -> Iterator[Match]:
        """Yield the matches of single numbers, of others, or of both."""
        for group in every:
            if group.is_single in alone:
                yield from self.of_number(group) if group.is_single else self.of_rows(group)

    def note(self, found: Sequence[Match]) -> None:
        """Remember what statements show, and the operands with which they may begin."""
        for match in found:
            if match.candidate.part != "value":
                continue
            group, numbers = match.group, [n for row in match.rows for n in row]
            for place, entry in enumerate(self.entries(match.candidate)):
                self.shown.add(group.statement, entry, group)
                self.known.add(str(numbers[place].value), entry, group)
                if place < MOST_IN_LINE:
                    for operand in chain(*self.operands_of(entry)):
                        self.used.add(group.statement, operand, group)

    def entries(self, candidate: Candidate) -> list[Entry]:
        """Return the entries of a candidate, each where it was computed."""
        value, at = candidate.value, candidate.at
        every = (range(n) if i is None else [i] for i, n in zip(at, value.shape, strict=True))
        return [self.followed(Entry(value, place)) for place in product(*every)]

    def operands_of(self, entry: Entry) -> list[list[Entry]]:
        """Return the operands in the line of a number; of a score also those of its product."""
        if entry not in self.operands:
            within = self.candidates.within
            found = operands_of(within, entry), within.origins.inputs_of(entry)
            self.operands[entry] = [each for each in found if each]
        return self.operands[entry]

    # --- rows and matrices -----------------------------------------------------------------------

    def of_rows(self, group: Group) -> Iterator[Match]:
        """Yield the match of a matrix, or those of its rows."""
        if len(group.rows) > 1 and len(group.rows[0]) > 1:
            scored = list(self._as_matrix(group))
            if match := self._best(group, group.rows, group.line, scored, ENOUGH):
                yield match
                return
        rows = group.rows
        if len(rows) > 1 and len(rows[0]) == 1:
            rows = (tuple(number for row in rows for number in row),)  # a column
        for i, row in enumerate(rows):
            scored = list(self._as_row(group, row, i))
            line = group.lines[i] if len(rows) > 1 else group.line
            if match := self._best(group, (row,), line, scored, ENOUGH):
                yield match

    def _as_matrix(self, group: Group) -> Iterator[Scored]:
        shape = len(group.rows), len(group.rows[0])
        flat = tuple(number for row in group.rows for number in row)
        for value, array in self.candidates.arrays.items():
            if array.shape == shape:
                parts = [likeness(row, array[i : i + 1])[0] for i, row in enumerate(group.rows)]
                like = sum(max(part, -1.0) for part in parts) if max(parts) > 0 else 0.0
                like = max(float(like), float(closeness(flat, array.reshape(1, -1))[0]))
                candidate = Candidate(value, (None, None))
                if (like > 0 and says_enough(like, group.rows)) or is_labelled(group, value):
                    yield self._scored(group, candidate, max(like, 0.0))

    def _as_row(self, group: Group, row: Row, i: int) -> Iterator[Scored]:
        tables = [self.candidates.rows.get(len(row))]
        if group.kind is Kind.TERMS:
            tables.append(self.candidates.products.get(len(row)))
        for table in filter(None, tables):
            alike = np.maximum(likeness(row, table[0]), closeness(row, table[0]))
            for place in np.argsort(-alike, kind="stable")[:MOST_COMPARED]:
                like, candidate = float(alike[place]), table[1][place]
                if like > 0 and says_enough(like, (row,)):
                    yield self._scored(group, candidate, like, row, i)

    def _scored(
        self, group: Group, candidate: Candidate, like: float, row: Row = (), i: int = 0
    ) -> Scored:
        """Return the score of a matrix, or of a row: with its names, its line and repetitions."""
        score = like + self.naming.of(group, candidate, i)
        if row and candidate.part == "value":
            score += self._by_line(group, candidate) + self._by_repetition(group, candidate, row)
        return Scored(like, score, candidate)

    # --- single numbers --------------------------------------------------------------------------

    def of_number(self, group: Group) -> Iterator[Match]:
        """Yield the match of a single number, if its name or its line confirms it."""
        (numbers, candidates), row = self.candidates.numbers, group.rows[0]
        alike, digits = likeness(row, numbers[:, None]), digits_of(row[0])
        best = np.argsort(-alike, kind="stable")[: 4 * MOST_COMPARED]
        found = {candidates[place]: float(alike[place]) for place in best if alike[place] > 0}
        if digits >= ENOUGH_AGAIN:
            for entry in self.known.groups.get(str(row[0].value), ()):
                found.setdefault(Candidate(entry.value, entry.at), 0.0)
        scored = list[Scored]()
        for candidate, like in found.items():
            in_line = self._by_line(group, candidate)
            again = self._by_repetition(group, candidate, row)
            if like < digits and in_line < 1 and not (again and digits >= ENOUGH_AGAIN):
                continue  # only its line, or an earlier one, can say that a number is wrong
            named = self.naming.of(group, candidate, 0)
            scored.append(Scored(like, like + named + in_line + again, candidate))
        enough = ENOUGH_ALONE if digits > 1 else ENOUGH_OF_A_DIGIT
        enough = enough if row[0].value.is_finite() else ENOUGH_INFINITE
        if match := self._best(group, group.rows, group.line, scored, enough):
            yield match

    def _by_repetition(self, group: Group, candidate: Candidate, row: Row) -> float:
        """Return how other places with the same digits confirm a row or number: 0 if not at all."""
        if candidate.part != "value":
            return 0.0
        for number, entry in zip(row, self.entries(candidate), strict=True):
            if not self.known.elsewhere(str(number.value), entry, group):
                return 0.0
        return min(2.0, 0.7 * sum(digits_of(number) for number in row if number.value))

    def _by_line(self, group: Group, candidate: Candidate) -> float:
        """Return how the other numbers of its statement confirm a number: 0 if not at all.

        Of a row, the first and the last number have to be confirmed.
        """
        if candidate.part != "value":
            ends = [self.candidates.followed(candidate)]
        else:
            entries = self.entries(candidate)
            ends = [entries[0], entries[-1]] if len(entries) > 1 else entries
        return min(self._of_line(group, end, candidate.part) for end in ends)

    def _of_line(self, group: Group, entry: Entry, part: str) -> float:
        score = 0.0
        if part == "value" and self.used.elsewhere(group.statement, entry, group):
            score += 2.0
        shares = [
            sum(self._shows(group, operand) for operand in operands) / len(operands)
            for operands in self.operands_of(entry)
        ]
        return score + 2.5 * max(shares, default=0.0)

    def _shows(self, group: Group, entry: Entry) -> bool:
        """Return whether another number of the statement is an entry, or may be, rounded."""
        if self.shown.elsewhere(group.statement, self.followed(entry), group):
            return True
        numbers, allowed = self.printed[group.statement]
        may_be = np.abs(numbers - float(entry.value.computed[entry.at])) <= allowed
        may_be[[self.place[id(n)] for row in group.rows for n in row if id(n) in self.place]] = (
            False
        )
        return bool(may_be.any())

    def _best(
        self,
        group: Group,
        rows: tuple[Row, ...],
        line: int,
        scored: Sequence[Scored],
        enough: float,
    ) -> Match | None:
        """Return the best candidate, if its score is enough."""
        order = self.candidates.places
        ordered = sorted(scored, key=lambda each: (-each.score, order[each.candidate.value]))
        if not ordered or ordered[0].score < enough:
            return None
        best, *rest = ordered
        self.naming.note(best.candidate)
        seen = {self.candidates.origin(best.candidate)}  # a copy is no other candidate
        others, alternatives = list[Candidate](), list[Candidate]()
        for each in rest:
            origin = self.candidates.origin(each.candidate)
            if origin not in seen and each.score > best.score - APART:
                others.append(each.candidate)
            elif origin not in seen and each.likeness >= best.likeness:
                alternatives.append(each.candidate)
            seen.add(origin)
        example, doubts = self.candidates.example, (tuple(others), tuple(alternatives))
        return Match(group, rows, line, best.candidate, example, *doubts)


def _tolerance(number: Printed) -> float:
    """Return how far off a number of a line can be; one that counts something is exact."""
    digits = digits_of(number)
    if number.places <= 0 and digits <= 2:
        return COUNTED
    return (1.6 if digits > 2 else 0.6) * float(number.unit)
