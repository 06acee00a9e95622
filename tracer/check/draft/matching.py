"""Printed numbers and candidates: which value a group of numbers shows.

The numbers decide first: those with many digits, and those of a whole row or matrix, are hardly
ever the same by chance. Symbols, headings and labels decide between equal ones, and the line of a
number between its operands.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracer.check.draft.candidates import Candidate, Candidates
from tracer.check.draft.evidence import Evidence
from tracer.check.draft.likeness import (
    closeness,
    digits_of,
    likeness,
    says_enough,
)
from tracer.check.draft.naming import Naming, is_labelled
from tracer.check.draft.reading import Group, Kind, Row

ENOUGH, ENOUGH_ALONE, ENOUGH_OF_A_DIGIT = 3.0, 4.5, 6.0
"""The least score of a row or a matrix, of a single number, and of one with a single digit."""
ENOUGH_NAMED = 6.0
"""What the words and the line say of a row with numbers that hardly agree."""
ENOUGH_INFINITE = 2.0
"""Only scores and masks have −∞."""
APART = 1.5
"""Another value with nearly this score is as likely."""
MOST_COMPARED = 40
"""So many candidates with the best numbers are compared by their names."""
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
    for match in in_order:
        matcher.evidence.note(match.group, match.rows, match.candidate)
    # The second time, the results are known whose lines numbers stand in, and their repetitions.
    return sorted(matcher.of(every, (False, True)), key=lambda each: (each.line, each.group.column))


class Scored(NamedTuple):
    """A candidate, how well its numbers agree, and the score together with its names."""

    likeness: float
    score: float
    candidate: Candidate


class _Matcher:
    """Finds the candidates of groups, in the order of the text."""

    def __init__(self, every: Sequence[Group], candidates: Candidates) -> None:
        self.candidates, self.naming = candidates, Naming(candidates)
        self.evidence = Evidence(every, candidates)

    def of(self, every: Sequence[Group], alone: Container[bool]) -> Iterator[Match]:
        """Yield the matches of single numbers, of others, or of both."""
        for group in every:
            if group.is_single in alone:
                yield from self.of_number(group) if group.is_single else self.of_rows(group)

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
                if like > 0:
                    scored = self._scored(group, candidate, like, row, i)
                    if says_enough(like, (row,)) or scored.score - like >= ENOUGH_NAMED:
                        yield scored

    def _scored(
        self, group: Group, candidate: Candidate, like: float, row: Row = (), i: int = 0
    ) -> Scored:
        """Return the score of a matrix, or of a row: with its names, its line and repetitions."""
        score = like + self.naming.of(group, candidate, i)
        if row and candidate.part == "value":
            score += self.evidence.by_line(group, candidate)
            score += self.evidence.by_repetition(group, candidate, row)
        return Scored(like, score, candidate)

    # --- single numbers --------------------------------------------------------------------------

    def of_number(self, group: Group) -> Iterator[Match]:
        """Yield the match of a single number, if its name or its line confirms it."""
        (numbers, candidates), row = self.candidates.numbers, group.rows[0]
        alike, digits = likeness(row, numbers[:, None]), digits_of(row[0])
        best = np.argsort(-alike, kind="stable")[: 4 * MOST_COMPARED]
        found = {candidates[place]: float(alike[place]) for place in best if alike[place] > 0}
        for candidate in self.evidence.suggested(group):
            found.setdefault(candidate, 0.0)
        scored = list[Scored]()
        for candidate, like in found.items():
            in_line = self.evidence.by_line(group, candidate)
            again = self.evidence.by_repetition(group, candidate, row)
            in_list = self.evidence.by_list(group, candidate)
            is_off = like < digits and in_line < 1 and not in_list
            if is_off and not (again and digits >= ENOUGH_AGAIN):
                continue  # only its line, a list or an equal one can say that a number is wrong
            named = self.naming.of(group, candidate, 0)
            scored.append(Scored(like, like + named + in_line + again + in_list, candidate))
        enough = ENOUGH_ALONE if digits > 1 else ENOUGH_OF_A_DIGIT
        enough = enough if row[0].value.is_finite() else ENOUGH_INFINITE
        if match := self._best(group, group.rows, group.line, scored, enough):
            yield match

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
