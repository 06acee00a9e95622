"""How other numbers of a text confirm a number: in its line, in a list, or printed again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product

import numpy as np

from tracer.check.draft.candidates import Candidate, Candidates
from tracer.check.draft.likeness import COUNTED, digits_of, likeness, most_digits
from tracer.check.draft.reading import Group, Row
from tracer.check.printed import Printed
from tracer.check.verdicts import operands_of
from tracer.decoder.value import Entry

SHORTEST_LIST, MOST_LIKE_IT = 3, 4
"""The numbers of the shortest list, and the most rows that may agree with it."""
LISTED, PARTLY_LISTED = 2.0, 1.0
"""What a list that agrees with a row, or mostly does, says of its numbers."""
TRIVIAL = (0, 1)
"""Operands that most lines show."""
MOST_IN_LINE = 50
"""So many numbers of a row are searched for their operands."""


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

    def again(self, key: object, entry: Entry, group: Group) -> bool:
        """Return whether a group shows again what another one does.

        If others show another entry, what the group seemed to show is as likely.
        """
        every = self.groups.get(key, {})
        if id(group) in every.get(entry, ()):
            return any(self.elsewhere(key, other, group) for other in every)
        return self.elsewhere(key, entry, group)


class Evidence:
    """What the numbers of a text say of each other."""

    def __init__(self, every: Sequence[Group], candidates: Candidates) -> None:
        self.candidates, self.followed = candidates, candidates.within.origins.followed
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
        self.listed: dict[int, dict[Entry, float]] = {}
        """What lists say of a group: its entry, and how surely."""
        for groups in _lists(every):
            self._read_list(groups)

    def _read_list(self, groups: Sequence[Group]) -> None:
        row = tuple(group.rows[0][0] for group in groups)
        table, most = self.candidates.rows.get(len(row)), most_digits((row,))
        if table is None or most < SHORTEST_LIST:
            return
        alike = likeness(row, table[0])
        best = np.flatnonzero(alike >= max(0.5 * most, float(alike.max()) - 0.1))
        for place in best if len(best) <= MOST_LIKE_IT else ():
            says = LISTED if alike[place] > most - 0.1 else PARTLY_LISTED
            for group, entry in zip(groups, self.entries(table[1][place]), strict=True):
                of_group = self.listed.setdefault(id(group), {})
                of_group[entry] = max(says, of_group.get(entry, 0.0))

    def note(self, group: Group, rows: Iterable[Row], candidate: Candidate) -> None:
        """Remember what a statement shows, and the operands with which it may begin."""
        if candidate.part != "value":
            return
        numbers = [number for row in rows for number in row]
        for place, entry in enumerate(self.entries(candidate)):
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

    def suggested(self, group: Group) -> Iterator[Candidate]:
        """Yield what a list or equal digits say of a single number, even if it is off."""
        known = self.known.groups.get(str(group.rows[0][0].value), ())
        for entry in {*known, *self.listed.get(id(group), ())}:
            yield Candidate(entry.value, entry.at)

    def by_list(self, group: Group, candidate: Candidate) -> float:
        """Return how a list of numbers confirms one of them: 0 if not at all."""
        of_group = self.listed.get(id(group)) if candidate.part == "value" else None
        return of_group.get(self.followed(candidate.first), 0.0) if of_group else 0.0

    def by_repetition(self, group: Group, candidate: Candidate, row: Row) -> float:
        """Return how other places with the same digits confirm a row or number: 0 if not at all."""
        if candidate.part != "value":
            return 0.0
        for number, entry in zip(row, self.entries(candidate), strict=True):
            if not self.known.again(str(number.value), entry, group):
                return 0.0
        return min(3.0, 0.7 * sum(digits_of(number) for number in row if number.value))

    def by_line(self, group: Group, candidate: Candidate) -> float:
        """Return how the other numbers of its statement confirm a number: 0 if not at all.

        Of a row, the first and the last number have to be confirmed.
        """
        if candidate.part != "value":
            return self._of_line(group, self.candidates.followed(candidate), is_value=False)
        entries = self.entries(candidate)
        return min(self._of_line(group, end, is_value=True) for end in {entries[0], entries[-1]})

    def _of_line(self, group: Group, entry: Entry, *, is_value: bool) -> float:
        score = 2.0 * (is_value and self.used.elsewhere(group.statement, entry, group))
        shares = [
            sum(self._shows(group, operand) for operand in operands) / len(operands)
            for every in self.operands_of(entry)
            if (operands := [each for each in every if each.value.computed[each.at] not in TRIVIAL])
        ]
        return score + 2.5 * max(shares, default=0.0)

    def _shows(self, group: Group, entry: Entry) -> bool:
        """Return whether another number of the statement is an entry, or may be, rounded."""
        if self.shown.elsewhere(group.statement, self.followed(entry), group):
            return True
        numbers, allowed = self.printed[group.statement]
        may_be = np.abs(numbers - float(entry.value.computed[entry.at])) <= allowed
        own = [self.place[id(n)] for row in group.rows for n in row if id(n) in self.place]
        may_be[own] = False
        return bool(may_be.any())


def _tolerance(number: Printed) -> float:
    """Return how far off a number of a line can be; one that counts something is exact."""
    digits = digits_of(number)
    if number.places <= 0 and digits <= 2:
        return COUNTED
    return (1.6 if digits > 2 else 0.6) * float(number.unit)


def _lists(every: Sequence[Group]) -> Iterator[Sequence[Group]]:
    """Yield the single numbers of a statement, and those at one place of lines below each other."""
    statements: dict[object, list[Group]] = {}
    lines: dict[int, list[Group]] = {}
    for group in every:
        if group.is_single:
            statements.setdefault(group.statement, []).append(group)
            lines.setdefault(group.line, []).append(group)
    blocks: list[list[list[Group]]] = []
    for line, groups in lines.items():
        before = blocks[-1][-1] if blocks else []
        if before and before[0].line == line - 1 and len(before) == len(groups):
            blocks[-1].append(groups)
        else:
            blocks.append([groups])
    columns = chain.from_iterable(zip(*block, strict=True) for block in blocks)
    yield from (
        found for found in chain(statements.values(), columns) if len(found) >= SHORTEST_LIST
    )
