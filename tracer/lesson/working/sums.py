"""Sums as a worked line writes them: of a long one only some terms, and what the rest comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

import numpy as np

from tracer.decoder.contract import Along, Contract
from tracer.decoder.pencil import Pencil
from tracer.decoder.tape import Record
from tracer.decoder.value import Entry, Index, Value
from tracer.formula import expression as ex
from tracer.formula.arithmetic import Array
from tracer.formula.evaluation import product, total_of, value
from tracer.formula.expression import Expression, Number
from tracer.formula.numbers import guarded
from tracer.lesson import entries
from tracer.scenario.carry import Carry


@dataclass(frozen=True)
class Terms:
    """The terms of a long sum that are written out, followed by the total of the rest.

    A sum of at most so many is written out whole.
    """

    shown: int = 12
    most: int = 16
    largest: bool = False
    """Whether they are the largest terms, by size, instead of the first."""

    def of(self, terms: Array) -> list[int]:
        """Return their indices."""
        if len(terms) <= self.most:
            return list(range(len(terms)))
        order = np.argsort(-abs(terms), kind="stable") if self.largest else range(len(terms))
        return [int(at) for at in order[: self.shown]]

    def of_row(self, terms: Array) -> list[int]:
        """Return the indices for a row of a table, which can show only the largest."""
        if len(terms) <= self.most or isinstance(terms.flat[0], Decimal):
            return self.of(terms)
        return [int(at) for at in np.argsort(-terms, kind="stable")[: self.shown]]


@dataclass(frozen=True)
class Sums:
    """Writes sums on the way to the value at an address, with some guard digits."""

    pencil: Pencil
    address: str
    terms: Terms
    guard: int

    def of_products(self, record: Record, operation: Contract, index: Index) -> list[Expression]:
        """Return a×b + c×d + bias, and the same with each product worked out."""
        x, w, *biases = record.inputs
        both = zip((x, w), operation.along(index), strict=True)
        of_x, of_w = [along[-len(value.shape) :] for value, along in both]  # a vector has no rows
        last: list[Expression] = [self._number(b, index[1:]) for b in biases]

        def factors_at(k: int) -> tuple[Entry, Entry]:
            return Entry(x, _at(of_x, k)), Entry(w, _at(of_w, k))

        return self._products(x.numbers[of_x] * w.read(of_w), factors_at, last)

    def of_factors(self, factors: Sequence[tuple[Entry, Entry]]) -> list[Expression]:
        """Return the sum of the products of these pairs, and the same with each worked out."""
        products = np.array([a.value.numbers[a.at] * b.value.numbers[b.at] for a, b in factors])
        return self._products(products, factors.__getitem__, [])

    def _products(
        self,
        terms: Array,
        factors_at: Callable[[int], tuple[Entry, Entry]],
        last: list[Expression],
    ) -> list[Expression]:
        def written(k: int) -> tuple[Expression, Number]:
            a, b = factors_at(k)
            factors = self._number(*a), self._number(*b)
            return ex.Product(factors), self.part(product(factors))

        return self._worked(terms, written, factors_at, last)

    def of_squares(self, of: Value) -> list[Expression]:
        """Return a² + b² + … of all entries, and the same with each square worked out."""
        at = list(np.ndindex(of.shape))

        def written(k: int) -> tuple[Expression, Number]:
            power = ex.Power(self._number(of, at[k]), Number.of(2))
            return power, self.part(value(power)[0])

        squares = (of.numbers * of.numbers).ravel()
        return self._worked(squares, written, lambda k: (Entry(of, at[k]),), [])

    def of_entries(self, of: Value, at: Sequence[Index], *, in_order: bool = False) -> Expression:
        """Return the sum of some entries; of many, the first are written if they are `in_order`."""
        numbers = np.array([of.read(index) for index in at])
        shown = self.terms.of(numbers) if in_order else self.terms.of_row(numbers)
        written: list[Expression] = [self._number(of, at[k]) for k in shown]
        if left := _others(shown, len(at)):
            rest = self._rest_of(of, [at[k] for k in left], numbers[left])
            written.append(rest)
        return _sum(written)

    def part(self, exact: Decimal) -> Number:
        """Return the number that takes a part's place."""
        pencil = self.pencil
        places = pencil.part_places(self.address, exact)
        if self.guard and pencil.carry is not Carry.LINE:
            places = guarded(exact, places, self.guard)
        return Number(pencil.printed(exact, places))

    def _worked(
        self,
        terms: Array,
        written: Callable[[int], tuple[Expression, Number]],
        entries_at: Callable[[int], Sequence[Entry]],
        last: list[Expression],
    ) -> list[Expression]:
        """The sum of the terms as they are written, and of what they come to."""
        shown = self.terms.of(terms)
        both = [written(k) for k in shown]
        if left := _others(shown, len(terms)):
            rest = self._rest(terms[left])
            hidden = replace(rest, hidden=lambda: [e for k in left for e in entries_at(k)])
            last.insert(0, hidden)
        return [_sum([term for term, _ in both] + last), _sum([part for _, part in both] + last)]

    def _rest(self, terms: Array) -> ex.Rest:
        """Return the total of the terms that are not written out."""
        pencil = self.pencil
        if pencil.carry is Carry.LINE:
            parts = terms.tolist()
            rounded = [pencil.printed(x, pencil.part_places(self.address, x)) for x in parts]
            return ex.Rest(len(terms), Number(total_of(rounded)))
        return ex.Rest(len(terms), self.part(_exact_total(terms)))

    def _rest_of(self, of: Value, at: Sequence[Index], numbers: Array) -> ex.Rest:
        """Return the total of entries, as printed if calculations use printed numbers."""
        if self.pencil.rounds:
            total = Number(total_of([self._number(of, index).value for index in at]))
        else:
            total = self.part(_exact_total(numbers))
        return ex.Rest(len(at), total, lambda: [Entry(of, index) for index in at])

    def _number(self, of: Value, index: Index) -> Number:
        return entries.number(self.pencil, of, index, self.guard)


def _at(along: Along, k: int) -> Index:
    """The k-th entry of a row or a column, or of a part of one."""
    return tuple(
        (each.start or 0) + k * (each.step or 1) if isinstance(each, slice) else each
        for each in along
    )


def _sum(terms: Sequence[Expression]) -> Expression:
    return terms[0] if len(terms) == 1 else ex.Sum(tuple(terms))


def _others(shown: Sequence[int], of: int) -> list[int]:
    """The places that are not shown."""
    return sorted(set(range(of)) - set(shown))


def _exact_total(numbers: Array) -> Decimal:
    """Return the sum of numbers; of floats, that of their shortest decimals."""
    if numbers.dtype == object:
        return total_of(numbers.tolist())
    return _total_of_floats(numbers.tobytes())


@lru_cache(maxsize=1)
def _total_of_floats(stored: bytes) -> Decimal:
    """Return the sum of floats; it is kept, since a line is tried with more and more digits."""
    return total_of(Decimal(repr(number)) for number in np.frombuffer(stored).tolist())
