"""Printed numbers and candidates: which value a group of numbers shows.

The numbers decide first: those with many digits, and those of a whole row or matrix, are hardly
ever the same by chance. Symbols, headings and labels decide between equal ones, and the line of a
number between its operands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracer.check.draft.candidates import Candidate, Candidates, words, words_of_labels
from tracer.check.draft.reading import Group, Kind, Row
from tracer.check.printed import Printed
from tracer.check.verdicts import operands_of
from tracer.decoder.comparison import Floats
from tracer.decoder.value import Entry, Value

ENOUGH, ENOUGH_ALONE, ENOUGH_OF_A_DIGIT = 3.0, 4.0, 6.0
"""The least score of a row or a matrix, of a single number, and of one with a single digit."""
ENOUGH_DIGITS = 4.0
"""A row or matrix with fewer digits has to agree in all its numbers."""
ROUGH = 0.02
"""A number that is so near, relative to its size, may be the same one computed otherwise."""
APART = 1.5
"""Another value with nearly this score is as likely."""
COUNTED = 1e-9
"""Whole numbers differ by more."""
MOST_DIGITS = 5
"""Further digits of a number say no more."""
MOST_COMPARED = 40
"""So many candidates with the best numbers are compared by their names."""
NEAR = (3.0, 1.5, 0.8, 0.5)
"""The weights of words: before the group in its line, in the lines above it, in the heading."""


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
    found = [match for group in every if not group.is_single for match in matcher.of_rows(group)]
    matcher.note(found)
    alone = [group for group in every if group.is_single]
    # The second time, the results are known whose lines these numbers stand in.
    first = [match for group in alone for match in matcher.of_number(group)]
    matcher.note(first)
    found += [match for group in alone for match in matcher.of_number(group)]
    return sorted(found, key=lambda match: (match.line, match.group.column))


class Scored(NamedTuple):
    """A candidate, how well its numbers agree, and the score together with its names."""

    likeness: float
    score: float
    candidate: Candidate


class _Matcher:
    """Finds the candidates of groups, in the order of the text."""

    def __init__(self, every: Sequence[Group], candidates: Candidates) -> None:
        self.candidates = candidates
        self.before: Value | None = None
        self.printed: dict[object, list[Printed]] = {}
        for group in every:
            numbers = [number for row in group.rows for number in row]
            self.printed.setdefault(group.statement, []).extend(numbers)
        self.results: dict[object, set[Entry]] = {}
        """The operands of the results that a statement has."""
        self.operands: dict[Candidate, list[list[Entry]]] = {}

    def note(self, found: Sequence[Match]) -> None:
        """Remember the operands of single numbers, with which their statements may begin."""
        for match in found:
            if None not in match.candidate.at and match.candidate.part == "value":
                operands = self.results.setdefault(match.group.statement, set())
                operands.update(*self.operands_of(match.candidate))

    def operands_of(self, candidate: Candidate) -> list[list[Entry]]:
        """Return the operands in the line of a number; of a score also those of its product."""
        if candidate not in self.operands:
            entry, within = self.candidates.followed(candidate), self.candidates.within
            found = operands_of(within, entry), within.origins.inputs_of(entry)
            self.operands[candidate] = [each for each in found if each]
        return self.operands[candidate]

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
        for value, array in self.candidates.arrays.items():
            if array.shape == shape:
                parts = [_likeness(row, array[i : i + 1])[0] for i, row in enumerate(group.rows)]
                score = sum(max(part, -1.0) for part in parts)
                if max(parts) > 0 and _says_enough(score, group.rows):
                    candidate = Candidate(value, (None, None))
                    yield Scored(score, score + self._by_name(group, candidate, 0), candidate)

    def _as_row(self, group: Group, row: Row, i: int) -> Iterator[Scored]:
        tables = [self.candidates.rows.get(len(row))]
        if group.kind is Kind.TERMS:
            tables.append(self.candidates.products.get(len(row)))
        for table in filter(None, tables):
            likeness = _likeness(row, table[0])
            for place in np.argsort(-likeness, kind="stable")[:MOST_COMPARED]:
                like, candidate = float(likeness[place]), table[1][place]
                if like > 0 and _says_enough(like, (row,)):
                    yield Scored(like, like + self._by_name(group, candidate, i), candidate)

    # --- single numbers --------------------------------------------------------------------------

    def of_number(self, group: Group) -> Iterator[Match]:
        """Yield the match of a single number, if its name or its line confirms it."""
        numbers, candidates = self.candidates.numbers
        row = group.rows[0]
        likeness = _likeness(row, numbers[:, None])
        scored = list[Scored]()
        for place in np.argsort(-likeness, kind="stable")[: 4 * MOST_COMPARED]:
            if likeness[place] > 0:
                candidate = candidates[place]
                like, in_line = float(likeness[place]), self._by_line(group, candidate)
                if like < _digits(row[0]) and in_line < 1:
                    continue  # only its line can say that a number is wrong
                named = self._by_name(group, candidate, 0)
                scored.append(Scored(like, like + named + in_line, candidate))
        enough = ENOUGH_ALONE if _digits(row[0]) > 1 else ENOUGH_OF_A_DIGIT
        if match := self._best(group, group.rows, group.line, scored, enough):
            yield match

    def _by_line(self, group: Group, candidate: Candidate) -> float:
        """Return how the other numbers of its statement confirm a number: 0 if not at all."""
        score = 0.0
        origin = self.candidates.followed(candidate)
        if origin in self.results.get(group.statement, ()) and candidate.part == "value":
            score += 2.0
        others = [n for n in self.printed[group.statement] if n is not group.rows[0][0]]
        shares = [
            sum(any(_shows(n, float(value.computed[at])) for n in others) for value, at in operands)
            / len(operands)
            for operands in self.operands_of(candidate)
        ]
        return score + 2.5 * max(shares, default=0.0)

    # --- names -----------------------------------------------------------------------------------

    def _by_name(self, group: Group, candidate: Candidate, row: int) -> float:
        """Return how the words around a group confirm a candidate; negative if they name others."""
        symbol, called, of_step = self.candidates.names[candidate.value]
        own = group.labels[row] if row < len(group.labels) else ""
        around = (f"{group.subject} {group.label} {own}", *group.near)
        score = 0.0
        for weight, text in zip(NEAR, around, strict=False):
            here = words(text)
            if symbol.lower() in here:
                score += weight * (1.0 if len(symbol) > 1 else 0.7)
            elif called & here:
                score += weight * 0.6
            score += weight * min(0.3, 0.1 * len(of_step & here))
        score += self._by_place(candidate, " ".join(around), f"{around[0]} {own}")
        if self.before is candidate.value:
            score += 0.5
        if candidate.value.role.parameter:  # x W, with the columns of W on the right
            is_row = candidate.at[:1] not in ((), (None,))
            score -= 3.0 * (group.kind is Kind.LEFT) + 1.0 * (group.kind is Kind.RIGHT and is_row)
        return score

    def _by_place(self, candidate: Candidate, around: str, label: str) -> float:
        """Return how head, layer, row and column fit the words."""
        score, place = 0.0, candidate.value.place
        for noun, number in (("head", place.head), ("layer", place.layer)):
            named = re.findall(rf"{noun}\s*(\d+)", around.lower())
            if named and number:
                score += 1.0 if str(number) == named[0] else -1.0
        here, far = words(label), words(around)
        for axis, index in zip(candidate.value.axes, candidate.at, strict=True):
            if index is None:
                continue
            names = words_of_labels(axis.labels)
            if names[index] and names[index] <= here:
                score += 1.5
            elif any(name and name <= here for name in names):
                score -= 0.5
            elif names[index] and names[index] <= far:
                score += 0.5
        return score

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
        self.before = best.candidate.value
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


def _likeness(row: Row, table: Floats) -> Floats:
    """Return how well a printed row agrees with each row of a table: the digits that agree."""
    score = np.zeros(len(table))
    for column, number in enumerate(row):
        there = table[:, column]
        if not number.value.is_finite():
            score += np.where(there == float(number.value), 0.3, -1.0)
            continue
        unit = float(number.unit)
        off = np.abs(there - float(number.value))
        exact = off <= 0.5 * unit * (1 + 1e-9) + 1e-12
        digits = _digits(number)
        agrees = np.full(len(table), -1.0)
        if digits > 2:
            agrees[(off <= ROUGH * np.abs(there)) & np.isfinite(there)] = 0.35 * digits
            agrees[off <= 1.5 * unit] = 0.7 * digits
        # A whole number of one or two digits is hardly ever a rounded one; it counts something.
        counts = digits <= 2 and number.places <= 0
        agrees[off < COUNTED if counts else exact] = digits
        score += agrees
    return score


def _says_enough(likeness: float, rows: Sequence[Row]) -> bool:
    """Return whether numbers of few digits all agree; of others, some may be wrong."""
    most = sum(_digits(number) for row in rows for number in row)
    return most > ENOUGH_DIGITS or likeness > most - 0.1


def _digits(number: Printed) -> float:
    """Return what a printed number says: its significant digits, little for one digit."""
    if not number.value:
        return 0.2
    digits = len(number.value.normalize().as_tuple().digits)
    if not number.value.is_finite() or digits > MOST_DIGITS:
        return float(MOST_DIGITS)
    return 0.5 if digits == 1 else float(digits)


def _shows(number: Printed, value: float) -> bool:
    """Return whether a printed number may be a value, rounded, with more than one digit."""
    off = abs(float(number.value) - value)
    return number.value.is_finite() and off <= 0.6 * float(number.unit)
