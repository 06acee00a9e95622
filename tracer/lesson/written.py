"""How each operation is written with the numbers of one entry put in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np

from tracer.decoder.arithmetic import Array
from tracer.decoder.operations import (
    Activate,
    Add,
    Computed,
    Cos,
    Cumulate,
    Divide,
    DivTerm,
    Dot,
    Exp,
    Largest,
    Mask,
    MatMul,
    Mean,
    MeanOf,
    Multiply,
    Normalize,
    Operation,
    Outer,
    Rotate,
    Share,
    Sin,
    Square,
    SquareRoot,
    Subtract,
    Surprise,
    Total,
)
from tracer.decoder.pencil import Pencil
from tracer.decoder.roles import SCALE
from tracer.decoder.tape import Record
from tracer.decoder.training_operations import ColumnDot, RowDot, Trained, TransposedMatMul
from tracer.decoder.value import Form, Value
from tracer.frozen import frozen
from tracer.lesson import activations, entries, written_training
from tracer.lesson.evaluation import product, total_of, value
from tracer.lesson.expression import (
    Call,
    Difference,
    Entry,
    Exponential,
    Expression,
    Index,
    Negative,
    Number,
    Power,
    Product,
    Quotient,
    Rest,
    Root,
    Sum,
)
from tracer.lesson.terms import Terms
from tracer.scenario.carry import Carry
from tracer.scenario.rounding import SCIENTIFIC_FROM, round_half_away, trimmed

Worked: TypeAlias = Computed | Mask | Largest | Trained
"""Operations that have worked lines."""

EXACT_DIGITS_MORE = 2
"""33.207 / 6 = 5.5345 ≈ 5.535: an exact value this little longer is shown before it is rounded."""


@frozen
class Sides:
    """The sides of one entry's line, all but the result, with any number of guard digits."""

    pencil: Pencil
    producers: Mapping[Value, Record]
    operation: Worked
    record: Record
    index: Index
    terms: Terms

    def __call__(self, guard: int, places: int, only: tuple[int, ...] = ()) -> list[Expression]:
        """`places` are those of the result: totals on the way need only some more.

        The guard digits are for the operands at `only` these positions, or for all.
        """
        index, inputs, address = self.index, self.record.inputs, self.record.output.address
        limit = places + guard + EXACT_DIGITS_MORE

        def operand(position: int, *at: int) -> Number:
            guarded = not only or position in only
            return self.number(inputs[position], at, guard if guarded else 0)

        match self.operation:
            case MatMul() | Dot():
                return list(self.sums(self.record, index, guard))
            case Divide() if self._divides_dot_products():
                return self._scaled(guard, limit)
            case Divide() if inputs[1].role is SCALE:
                over = operand(0, *index)
                return [Quotient(over, under) for under in self._scales(inputs[1])]
            case Divide():
                return [Quotient(operand(0, *index), operand(1))]
            case Share():
                return [Quotient(operand(0, *index), operand(1, index[0]))]
            case Add() | Mask():
                return [Sum((operand(0, *index), operand(1, *index)))]
            case Subtract():
                return [Difference(operand(0, *index), operand(1, index[0]))]
            case Outer():
                return [Product((operand(0, index[0]), operand(1, index[1])))]
            case Multiply():
                return [Product((operand(0, *index), operand(1, *index)))]
            case Rotate():
                return self._rotated(self.operation, guard)
            case SquareRoot(epsilon, outside):
                of = operand(0, *index)
                if not epsilon:
                    return [Root(of)]
                if outside:
                    root = self.part(value(Root(of))[0], address, guard)
                    return [Sum((Root(of), Number(epsilon))), Sum((root, Number(epsilon)))]
                inside = Sum((of, Number(epsilon)))
                return [Root(inside), Root(_total(inside, limit))]
            case Exp():
                return [Exponential(operand(0, *index))]
            case Square():
                return [Power(operand(0, *index), Number.of(2))]
            case Activate(function):
                return activations.worked(
                    function,
                    operand(0, *index),
                    lambda of: self.part(value(of)[0], address, guard),
                    lambda of: self._divisor(of, address, guard, limit),
                )
            case Total():
                return [self.row(0, index[0], guard)]
            case Largest():
                return [Call("max", self._candidates(index[0]))]
            case Mean(sample):
                terms = self.row(0, index[0], guard)
                n = Number.of(inputs[0].shape[1] - sample)
                return [Quotient(terms, n), Quotient(_total(terms, limit), n)]
            case Normalize():
                return self._normalized(guard)
            case DivTerm(width, base, factors):
                exponent = Quotient(Number.of(-2 * index[0]), Number.of(width))
                power = Power(Number(base), exponent)
                return [Quotient(power, Number(factors[index[0]])) if factors else power]
            case Sin():
                return [Call("sin", (operand(0, *index),))]
            case Cos():
                return [Call("cos", (operand(0, *index),))]
            case Surprise(columns, _):
                column = columns[index[0]]
                assert column is not None
                return [Negative(Call("ln", (operand(0, index[0], column),)))]
            case MeanOf(counted):
                terms = self.terms_of(inputs[0], [(i,) for i in counted], guard)
                if len(counted) == 1:
                    return [terms]
                n = Number.of(len(counted))
                return [Quotient(terms, n), Quotient(_total(terms, limit), n)]
            case Cumulate():
                row, column = index
                before = self.number(self.record.output, (row, column - 1), guard)
                return [Sum((before if column else Number.of(0), operand(0, row, column)))]
            case _:
                return written_training.sides(self, self.operation, guard)

    @property
    def is_quotient(self) -> bool:
        """Whether more digits of one of two operands may do."""
        divides = isinstance(self.operation, Divide) and not self._divides_dot_products()
        return divides or isinstance(self.operation, Share)

    def sums(self, record: Record, index: Index, guard: int) -> Iterable[Expression]:
        """a×b + c×d + bias, then the products, of an operation that adds up products."""
        x, w, *biases = record.inputs
        of_x, of_w = _multiplied(record.operation, index)
        every = x.numbers[of_x] * w.numbers[of_w]

        def factors_at(k: int) -> tuple[Entry, Entry]:
            return Entry(x, _at(of_x, k)), Entry(w, _at(of_w, k))

        shown = self.terms.of(every)
        address = record.output.address
        numbers = [[self.number(*entry, guard) for entry in factors_at(k)] for k in shown]
        pairs = [(a, b) for a, b in numbers]
        products: list[Expression] = [Product(pair) for pair in pairs]
        parts: list[Expression] = [self.part(product(pair), address, guard) for pair in pairs]
        last: list[Expression] = [self.number(b, index[1:], guard) for b in biases]
        if len(shown) < len(every):
            left = _others(shown, len(every))
            rest = self._rest(every[left], address, guard)
            rest.hidden = lambda: [entry for k in left for entry in factors_at(k)]
            last.insert(0, rest)
        yield _sum([*products, *last])
        yield _sum([*parts, *last])

    def squares(self, guard: int) -> Iterable[Expression]:
        """a² + b² + … of all entries, then what each comes to."""
        of, address = self.record.inputs[0], self.record.output.address
        every = (of.numbers * of.numbers).ravel()
        shown = self.terms.of(every)
        at = list(np.ndindex(of.shape))
        powers = [Power(self.number(of, at[k], guard), Number.of(2)) for k in shown]
        parts: list[Expression] = [self.part(value(p)[0], address, guard) for p in powers]
        last: list[Expression] = []
        if len(shown) < len(every):
            left = _others(shown, len(every))
            rest = self._rest(every[left], address, guard)
            rest.hidden = lambda: [Entry(of, at[k]) for k in left]
            last.append(rest)
        yield _sum([*powers, *last])
        yield _sum([*parts, *last])

    def _rest(self, products: Array, address: str, guard: int) -> Rest:
        """What the products come to that are not written out."""
        pencil = self.pencil
        if pencil.carry is Carry.LINE:
            exact = [x for x in products if isinstance(x, Decimal)]
            rounded = [pencil.printed(x, pencil.part_places(address, x)) for x in exact]
            return Rest(len(products), Number(total_of(rounded)))
        exactly = total_of([_exact(product) for product in products])
        return Rest(len(products), self.part(exactly, address, guard))

    def part(self, exact: Decimal, address: str, guard: int) -> Number:
        """The number that takes a part's place on the way to the value at `address`."""
        pencil = self.pencil
        places = pencil.part_places(address, exact)
        if guard and pencil.carry is not Carry.LINE:
            places = max(places, min(places + guard, Number(trimmed(exact)).places))
        return Number(pencil.printed(exact, places))

    def _divisor(self, of: Expression, address: str, guard: int, limit: int) -> Number:
        """What 1 + e^-x comes to: it may be as small as 1, and larger than anybody reads."""
        exact, _ = value(of)
        if exact.adjusted() >= SCIENTIFIC_FROM:
            return self.part(exact, address, guard)
        return _total(of, max(limit, 0))

    def _divides_dot_products(self) -> bool:
        producer = self.producers.get(self.record.inputs[0])
        return producer is not None and isinstance(producer.operation, Dot)

    def _scaled(self, guard: int, limit: int) -> list[Expression]:
        """(a×b + c×d) / √d_k: the dot product is written out in the same line."""
        dot, scale = self.record.inputs
        producers, number = self.producers, self.number
        products, parts = self.sums(producers[dot], self.index, guard)
        root, under = self._scales(scale)
        totals = [_total(parts, limit)]
        if dot.form is Form.AS_THEY_ARE:
            totals.append(number(dot, self.index))  # and so is the printed sum
        return [
            Quotient(products, root),
            Quotient(parts, under),
            *(Quotient(total, under) for total in totals),
        ]

    def _scales(self, scale: Value) -> tuple[Expression, Expression]:
        """√d_k as it is written, and as it is used."""
        root = self._root(self.producers[scale])
        exact_root, comes_out = value(root)
        if scale.form is Form.AS_THEY_ARE:
            return root, self.number(scale, ())  # the printed root is the one used
        return root, Number(trimmed(exact_root)) if comes_out else root

    def _root(self, scale: Record) -> Expression:
        """√d_k as it is written; what was set or pinned in its place is no root."""
        if isinstance(scale.operation, SquareRoot):
            return Root(self.number(scale.inputs[0], ()))
        return self.number(scale.output, ())

    def _normalized(self, guard: int) -> list[Expression]:
        """d / σ × γ + β."""
        operation, address, number = self.operation, self.record.output.address, self.number
        assert isinstance(operation, Normalize)
        deviation, std, *parameters = self.record.inputs
        row, column = self.index
        sides: list[Expression] = [
            Quotient(number(deviation, (row, column), guard), number(std, (row,), guard))
        ]
        rest = [number(parameter, (column,), guard) for parameter in parameters]
        if operation.gain:
            gain = rest.pop(0)
            part = self.part(value(sides[-1])[0], address, guard)
            sides = [*(Product((side, gain)) for side in sides), Product((part, gain))]
        if operation.shift:
            shift = rest.pop(0)
            part = self.part(value(sides[-1])[0], address, guard)
            sides = [*(Sum((side, shift)) for side in sides), Sum((part, shift))]
        return sides

    def _rotated(self, turn: Rotate, guard: int) -> list[Expression]:
        """a cos - b sin of the first column of a pair, a sin + b cos of the second."""
        row, column = self.index
        x, cos, sin = self.record.inputs
        pair, first, second = turn.pair_of(column, x.shape[1])
        by = (cos, sin) if column == first else (sin, cos)
        address = self.record.output.address
        factors = [
            (self.number(x, (row, at), guard), self.number(wave, (row, pair), guard))
            for at, wave in zip((first, second), by, strict=True)
        ]
        together = Difference if column == first else lambda a, b: Sum((a, b))
        return [
            together(*map(Product, factors)),
            together(*(self.part(product(pair), address, guard) for pair in factors)),
        ]

    def _candidates(self, row: int) -> tuple[Expression, ...]:
        """The numbers of a row, of which the largest is taken; of many the largest of the rest."""
        of = self.record.inputs[0]
        numbers = of.numbers[row]
        shown = self.terms.of_row(numbers)
        written = [self.number(of, (row, j)) for j in shown]
        if len(shown) == len(numbers):
            return tuple(written)
        left = _others(shown, len(numbers))
        largest = self.number(of, (row, left[int(numbers[left].argmax())]))
        rest = Rest(len(left), Number(largest.value), lambda: [Entry(of, (row, j)) for j in left])
        return (*written, rest)

    def row(self, position: int, row: int, guard: int) -> Expression:
        """The sum of a row of an operand."""
        of = self.record.inputs[position]
        return self.terms_of(of, [(row, j) for j in range(of.shape[1])], guard)

    def terms_of(self, of: Value, at: Sequence[Index], guard: int) -> Expression:
        """A sum of entries, of many only some and what the rest comes to."""
        numbers = np.array([of.numbers[index] for index in at])
        shown = self.terms.of_row(numbers)
        written: list[Expression] = [self.number(of, at[k], guard) for k in shown]
        if len(shown) < len(at):
            left = _others(shown, len(at))
            rest = self._rest_of(of, [at[k] for k in left], numbers[left], guard)
            written.append(rest)
        return _sum(written)

    def _rest_of(self, of: Value, at: Sequence[Index], numbers: Array, guard: int) -> Rest:
        """What entries come to: as they are printed, where printed numbers are worked with."""
        if self.pencil.rounds:
            total = Number(total_of([self.number(of, index, guard).value for index in at]))
        else:
            exact = total_of([_exact(number) for number in numbers])
            total = self.part(exact, self.record.output.address, guard)
        return Rest(len(at), total, lambda: [Entry(of, index) for index in at])

    def number(self, of: Value, index: Index, guard: int = 0) -> Number:
        """An entry of an operand as it is printed, with at most `guard` digits more."""
        return entries.number(self.pencil, of, index, guard)


EVERY = slice(None)

Along: TypeAlias = tuple[int | slice, ...]
"""The index of a row or a column of a matrix."""


def _multiplied(operation: Operation, index: Index) -> tuple[Along, Along]:
    """Which row or column of each factor is multiplied, number by number, to be added up."""
    first, last = index[0], index[-1]
    match operation:
        case MatMul():
            return (first, EVERY), (EVERY, last)
        case Dot():
            return (first, EVERY), (last, EVERY)
        case TransposedMatMul():
            return (EVERY, first), (EVERY, last)
        case RowDot():
            return (first, EVERY), (first, EVERY)
        case ColumnDot():
            return (EVERY, first), (EVERY, first)
        case _:
            raise TypeError(f"{operation} adds up no products")


def _at(along: Along, k: int) -> Index:
    """The k-th entry of a row or a column."""
    return tuple([k if isinstance(at, slice) else at for at in along])


def _total(terms: Expression, limit: int) -> Number:
    """What terms come to: exactly, unless that has digits that nobody reads."""
    exact, _ = value(terms)
    number = Number(exact)
    return number if number.places <= limit else Number(trimmed(round_half_away(exact, limit)))


def _sum(terms: Sequence[Expression]) -> Expression:
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def _others(shown: Sequence[int], of: int) -> list[int]:
    """The places that are not shown."""
    return sorted(set(range(of)) - set(shown))


def _exact(number: Any) -> Decimal:
    return number if isinstance(number, Decimal) else Decimal(repr(float(number)))
