"""How each operation is written: in symbols, and with the numbers of one entry put in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias, assert_never

import numpy as np

from tracer.decoder.arithmetic import Array
from tracer.decoder.operations import (
    Activate,
    Add,
    Append,
    ArgMax,
    Computed,
    Concat,
    Copy,
    Cos,
    Cumulate,
    Divide,
    DivTerm,
    Dot,
    Exp,
    Given,
    Interleave,
    Largest,
    Mask,
    MatMul,
    Mean,
    MeanOf,
    Multiply,
    Normalize,
    Outer,
    Pick,
    Pinned,
    Reused,
    Rotate,
    Select,
    Share,
    Sin,
    Square,
    SquareRoot,
    Subtract,
    Surprise,
    Total,
)
from tracer.decoder.pencil import Pencil
from tracer.decoder.tape import Record
from tracer.decoder.value import Form, Value
from tracer.lesson import activations, entries
from tracer.lesson.expression import (
    Call,
    Chain,
    Difference,
    Entry,
    Exponential,
    Expression,
    Index,
    MatrixProduct,
    Negative,
    Number,
    Power,
    Product,
    Quotient,
    Rest,
    Root,
    Sum,
    Symbol,
    Transposed,
    product,
    total_of,
    value,
)
from tracer.scenario.carry import Carry
from tracer.scenario.rounding import SCIENTIFIC_FROM, round_half_away, trimmed

Worked: TypeAlias = Computed | Mask | Largest
"""Operations that have worked lines."""

EXACT_DIGITS_MORE = 2
"""33.207 / 6 = 5.5345 ≈ 5.535: an exact value this little longer is shown before it is rounded."""


@dataclass(frozen=True)
class Terms:
    """Which terms of a long sum are written out; what the rest comes to stands behind them.

    A sum of at most so many is written out whole.
    """

    shown: int = 12
    most: int = 16
    largest: bool = False
    """Whether they are the largest, in the order of their size, rather than the first."""

    def of(self, terms: Array) -> list[int]:
        """Where they stand, counted from 0."""
        if len(terms) <= self.most:
            return list(range(len(terms)))
        order = np.argsort(-abs(terms), kind="stable") if self.largest else range(len(terms))
        return [int(at) for at in order[: self.shown]]

    def of_row(self, terms: Array) -> list[int]:
        """The same of a row that stands in a table, of which only the largest may be shown."""
        if len(terms) <= self.most or isinstance(terms.flat[0], Decimal):
            return self.of(terms)
        return [int(at) for at in np.argsort(-terms, kind="stable")[: self.shown]]


def formula(record: Record, symbols: Mapping[str, Expression]) -> Chain | None:
    """Symbol = formula; nothing where the symbol says it already."""
    left = symbols[record.output.address]
    # Values of an earlier trace are only taken over: no formula names them.
    right = _in_symbols(record, [symbols[v.address] for v in record.inputs if v.address in symbols])
    return None if right is None or left == right else Chain((left, right), ("=",))


def _in_symbols(record: Record, of: list[Expression]) -> Expression | None:
    match record.operation:
        case MatMul():
            product = MatrixProduct(of[0], of[1])
            return Sum((product, *of[2:])) if of[2:] else product
        case Dot():
            return MatrixProduct(of[0], Transposed(of[1]))
        case Outer() | Multiply():
            return Product((of[0], of[1]))
        case Rotate():
            return Call("rotate", (of[0], Symbol("θ")))
        case Divide():
            return Quotient(of[0], of[1])
        case Add() | Mask():
            return Sum((of[0], of[1]))
        case Subtract():
            return Difference(of[0], of[1])
        case SquareRoot(epsilon, outside):
            if outside and epsilon:
                return Sum((Root(of[0]), Number(epsilon)))
            return Root(Sum((of[0], Number(epsilon))) if epsilon else of[0])
        case Exp():
            return Exponential(of[0])
        case Square():
            return Power(of[0], Number.of(2))
        case Activate(function):
            return activations.written(function, of[0])
        case Total():
            return Call("sum", (of[0],))
        case Mean(sample):
            if sample:
                one_less = record.inputs[0].shape[1] - 1
                return Quotient(Call("sum", (of[0],)), Number.of(one_less))
            return Call("mean", (of[0],))
        case Largest():
            return Call("largest", (of[0],))
        case Normalize(gain, shift):
            whole: Expression = Quotient(of[0], of[1])
            rest = of[2:]
            if gain:
                whole = Product((whole, rest.pop(0)))
            return Sum((whole, rest.pop(0))) if shift else whole
        case DivTerm(width, base, factors):
            power = Power(Number(base), Quotient(Symbol("-2k"), Number.of(width)))
            return Quotient(power, Symbol("f", "k")) if factors else power
        case Share():
            return Quotient(of[0], of[1])
        case Sin():
            return Call("sin", (of[0],))
        case Cos():
            return Call("cos", (of[0],))
        case Surprise():
            return Negative(Call("ln", (of[0],)))
        case MeanOf():
            return Call("mean", (of[0],))
        case Copy() | Reused() | Append() | Concat() | Interleave() | Select():
            return None
        case Cumulate() | ArgMax() | Pick() | Given() | Pinned():
            return None
        case _:
            assert_never(record.operation)


@dataclass(frozen=True)
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
            return self._number(inputs[position], at, guard if guarded else 0)

        match self.operation:
            case MatMul() | Dot():
                return list(self._sums(self.record, index, guard))
            case Divide() if self._divides_dot_products():
                return self._scaled(guard, limit)
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
                    root = self._part(value(Root(of))[0], address, guard)
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
                    lambda of: self._part(value(of)[0], address, guard),
                    lambda of: self._divisor(of, address, guard, limit),
                )
            case Total():
                return [self._row(0, index[0], guard)]
            case Largest():
                return [Call("max", self._candidates(index[0]))]
            case Mean(sample):
                terms = self._row(0, index[0], guard)
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
                terms = self._terms(inputs[0], [(i,) for i in counted], guard)
                n = Number.of(len(counted))
                return [Quotient(terms, n), Quotient(_total(terms, limit), n)]
            case Cumulate():
                row, column = index
                before = self._number(self.record.output, (row, column - 1), guard)
                return [Sum((before if column else Number.of(0), operand(0, row, column)))]
            case _:
                assert_never(self.operation)

    @property
    def is_quotient(self) -> bool:
        """Whether more digits of one of two operands may do."""
        divides = isinstance(self.operation, Divide) and not self._divides_dot_products()
        return divides or isinstance(self.operation, Share)

    def _sums(self, record: Record, index: Index, guard: int) -> Iterable[Expression]:
        """a×b + c×d + bias, then the products, for MatMul and Dot."""
        x, w, *biases = record.inputs
        row, column = index
        transposed = isinstance(record.operation, Dot)

        def factors_at(k: int) -> tuple[Entry, Entry]:
            return Entry(x, (row, k)), Entry(w, (column, k) if transposed else (k, column))

        def factors(k: int) -> tuple[Number, Number]:
            a, b = factors_at(k)
            return self._number(*a, guard), self._number(*b, guard)

        column_of_w = w.numbers[column] if transposed else w.numbers[:, column]
        every = x.numbers[row] * column_of_w
        shown = self.terms.of(every)
        address = record.output.address
        pairs = [factors(k) for k in shown]
        products: list[Expression] = [Product(pair) for pair in pairs]
        parts: list[Expression] = [self._part(product(pair), address, guard) for pair in pairs]
        last: list[Expression] = [self._number(b, (column,), guard) for b in biases]
        if len(shown) < len(every):
            left = _others(shown, len(every))
            rest = self._rest(every[left], address, guard)
            rest.hidden = lambda: [e for k in left for e in factors_at(k)]
            last.insert(0, rest)
        yield _sum([*products, *last])
        yield _sum([*parts, *last])

    def _rest(self, products: Array, address: str, guard: int) -> Rest:
        """What the products come to that are not written out."""
        pencil = self.pencil
        if pencil.carry is Carry.LINE:
            exact = [x for x in products if isinstance(x, Decimal)]
            rounded = [pencil.printed(x, pencil.part_places(address, x)) for x in exact]
            return Rest(len(products), Number(total_of(rounded)))
        exactly = total_of([_exact(product) for product in products])
        return Rest(len(products), self._part(exactly, address, guard))

    def _part(self, exact: Decimal, address: str, guard: int) -> Number:
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
            return self._part(exact, address, guard)
        return _total(of, max(limit, 0))

    def _divides_dot_products(self) -> bool:
        producer = self.producers.get(self.record.inputs[0])
        return producer is not None and isinstance(producer.operation, Dot)

    def _scaled(self, guard: int, limit: int) -> list[Expression]:
        """(a×b + c×d) / √d_k: the dot product is written out in the same line."""
        dot, scale = self.record.inputs
        producers, number = self.producers, self._number
        products, parts = self._sums(producers[dot], self.index, guard)
        root = self._root(producers[scale])
        exact_root, comes_out = value(root)
        under: Expression = Number(trimmed(exact_root)) if comes_out else root
        if scale.form is Form.AS_THEY_ARE:
            under = number(scale, ())  # the printed root is the one used
        totals = [_total(parts, limit)]
        if dot.form is Form.AS_THEY_ARE:
            totals.append(number(dot, self.index))  # and so is the printed sum
        return [
            Quotient(products, root),
            Quotient(parts, under),
            *(Quotient(total, under) for total in totals),
        ]

    def _root(self, scale: Record) -> Expression:
        """√d_k as it is written; what was set or pinned in its place is no root."""
        if isinstance(scale.operation, SquareRoot):
            return Root(self._number(scale.inputs[0], ()))
        return self._number(scale.output, ())

    def _normalized(self, guard: int) -> list[Expression]:
        """d / σ × γ + β."""
        operation, address, number = self.operation, self.record.output.address, self._number
        assert isinstance(operation, Normalize)
        deviation, std, *parameters = self.record.inputs
        row, column = self.index
        sides: list[Expression] = [
            Quotient(number(deviation, (row, column), guard), number(std, (row,), guard))
        ]
        rest = [number(parameter, (column,), guard) for parameter in parameters]
        if operation.gain:
            gain = rest.pop(0)
            part = self._part(value(sides[-1])[0], address, guard)
            sides = [*(Product((side, gain)) for side in sides), Product((part, gain))]
        if operation.shift:
            shift = rest.pop(0)
            part = self._part(value(sides[-1])[0], address, guard)
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
            (self._number(x, (row, at), guard), self._number(wave, (row, pair), guard))
            for at, wave in zip((first, second), by, strict=True)
        ]
        together = Difference if column == first else lambda a, b: Sum((a, b))
        return [
            together(*map(Product, factors)),
            together(*(self._part(product(pair), address, guard) for pair in factors)),
        ]

    def _candidates(self, row: int) -> tuple[Expression, ...]:
        """The numbers of a row, of which the largest is taken; of many the largest of the rest."""
        of = self.record.inputs[0]
        numbers = of.numbers[row]
        shown = self.terms.of_row(numbers)
        written = [self._number(of, (row, j)) for j in shown]
        if len(shown) == len(numbers):
            return tuple(written)
        left = _others(shown, len(numbers))
        largest = self._number(of, (row, left[int(numbers[left].argmax())]))
        rest = Rest(len(left), Number(largest.value), lambda: [Entry(of, (row, j)) for j in left])
        return (*written, rest)

    def _row(self, position: int, row: int, guard: int) -> Expression:
        of = self.record.inputs[position]
        return self._terms(of, [(row, j) for j in range(of.shape[1])], guard)

    def _terms(self, of: Value, at: Sequence[Index], guard: int) -> Expression:
        """A sum of entries, of many only some and what the rest comes to."""
        numbers = np.array([of.numbers[index] for index in at])
        shown = self.terms.of_row(numbers)
        written: list[Expression] = [self._number(of, at[k], guard) for k in shown]
        if len(shown) < len(at):
            left = _others(shown, len(at))
            rest = self._rest_of(of, [at[k] for k in left], numbers[left], guard)
            written.append(rest)
        return _sum(written)

    def _rest_of(self, of: Value, at: Sequence[Index], numbers: Array, guard: int) -> Rest:
        """What entries come to: as they are printed, where printed numbers are worked with."""
        if self.pencil.rounds:
            total = Number(total_of([self._number(of, index, guard).value for index in at]))
        else:
            exact = total_of([_exact(number) for number in numbers])
            total = self._part(exact, self.record.output.address, guard)
        return Rest(len(at), total, lambda: [Entry(of, index) for index in at])

    def _number(self, of: Value, index: Index, guard: int = 0) -> Number:
        return entries.number(self.pencil, of, index, guard)


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
