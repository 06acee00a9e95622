"""Worked lines: how each operation is written out, with as few digits as keep it true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import TypeAlias, assert_never

from tracer.decoder.arithmetic import Array
from tracer.decoder.operations import (
    Add,
    Computed,
    Cos,
    Cumulate,
    Divide,
    DivTerm,
    Dot,
    Exp,
    Mask,
    MatMul,
    Mean,
    MeanOf,
    Normalize,
    Outer,
    Relu,
    Share,
    Sin,
    Square,
    SquareRoot,
    Subtract,
    Surprise,
    Total,
)
from tracer.decoder.pencil import Pencil
from tracer.decoder.tape import Form, Record, Value
from tracer.lesson import entries
from tracer.lesson.document import Line
from tracer.lesson.expression import (
    Call,
    Chain,
    Difference,
    Exponential,
    Expression,
    Index,
    Negative,
    Number,
    Power,
    Product,
    Quotient,
    Relation,
    Rest,
    Root,
    Sum,
    holds,
    product,
    relation,
    replaced,
    total_of,
    value,
)
from tracer.names import distinct
from tracer.scenario.carry import Carry
from tracer.scenario.rounding import round_half_away, trimmed

Worked: TypeAlias = Computed | Mask
"""Operations that have worked lines."""

MOST_TERMS, TERMS_SHOWN = 16, 12
"""A longer sum shows its first terms, then what the rest comes to."""

EXACT_DIGITS_MORE = 2
"""33.207 / 6 = 5.5345 ≈ 5.535: an exact value this little longer is shown before it is rounded."""

MOST_GUARD_DIGITS = 45
"""No line needs more: values are computed to 50 digits."""


class Writer:
    """Writes out the records of one trace; each line is made when it is asked for."""

    def __init__(
        self,
        pencil: Pencil,
        symbols: Mapping[str, Expression],
        producers: Mapping[Value, Record],
        tokens: int,
    ) -> None:
        self.pencil, self.symbols, self.producers, self.tokens = pencil, symbols, producers, tokens

    def lines(self, record: Record, token: int) -> tuple[Line, ...]:
        """The worked lines of a record for a token (counted from 0); none where nothing happens."""
        operation, output = record.operation, record.output
        if not isinstance(operation, Worked):
            return ()
        indices = _indices(record, output.row(token, self.tokens) if output.per_token else None)
        if isinstance(operation, Share) and not record.inputs[1].numbers[indices[0][0]]:
            return ()  # a row that is masked as a whole: nothing is divided
        if len(output.axes) == 2 and output.per_token:
            labels = distinct(output.axes[1].labels)
            return tuple(Line(labels[i[1]], self.chain(record, i)) for i in indices)
        if len(output.axes) == 2:
            rows, columns = (distinct(axis.labels) for axis in output.axes)
            return tuple(
                Line(f"{rows[i]}, {columns[j]}", self.chain(record, (i, j))) for i, j in indices
            )
        if output.axes and not output.per_token:
            labels = distinct(output.axes[0].labels)
            return tuple(Line(labels[i[0]], self.chain(record, i)) for i in indices)
        return (Line(None, self.named(record, indices[0])),)

    def named(self, record: Record, index: Index) -> Chain:
        """The chain of an entry that needs no label, its symbol in front."""
        chain = self.chain(record, index)
        symbol = self.symbols[record.output.address]
        if symbol == chain.sides[0]:
            return chain
        first: tuple[Relation, ...] = ("=",)
        return Chain((symbol, *chain.sides), first + chain.relations)

    def chain(self, record: Record, index: Index) -> Chain:
        """One entry of a record's output: the line with the fewest digits that is true.

        First the operands and the parts get guard digits; a result in full precision gets more
        only where no number of them helps (a tie that float or Decimal noise has decided).
        """
        operation = record.operation
        assert isinstance(operation, Worked)
        write = _Sides(self, operation, record, index)
        fixed = record.output.form is Form.AS_THEY_ARE
        for more in range(1 if fixed else MOST_GUARD_DIGITS):
            result = self.number(record.output, index, more)
            for guard in range(more, MOST_GUARD_DIGITS):
                for only in _OPERANDS_APART if write.is_quotient and guard else _ALL_OPERANDS:
                    sides = _with_result(write(guard, result.places, only), result)
                    if _true(sides):
                        return _chain(sides)
        # What is left is noise that no digits resolve: the line says what it comes to.
        written = write(0, result.places)
        return _chain(_with_result(written, replaced(written[-1], result.places)))

    def is_given(self, value: Value, at: Index = ()) -> Chain:
        """That a number which is not computed is what it is: T = 1.5."""
        return Chain((self.symbols[value.address], self.number(value, at)), ("=",))

    def number(self, of: Value, index: Index, guard: int = 0) -> Number:
        """An entry as it is printed, with at most `guard` digits more."""
        return entries.number(self.pencil, of, index, guard)


def _indices(record: Record, row: int | None) -> list[Index]:
    """The entries that a record's lines are written for: the followed token's, or all."""
    operation, shape = record.operation, record.output.numbers.shape
    if isinstance(operation, Surprise):
        return [(i,) for i, column in enumerate(operation.columns) if column is not None]
    if isinstance(operation, Mask):
        assert row is not None
        hidden = record.output.numbers[row]
        return [(row, j) for j in range(shape[1]) if hidden[j] == -Decimal("Infinity")]
    firsts = range(shape[0]) if row is None and shape else [row or 0]
    rows: list[Index] = [(i,) for i in firsts] if shape else [()]
    return rows if len(shape) < 2 else [(*i, j) for i in rows for j in range(shape[1])]


_ALL_OPERANDS: tuple[tuple[int, ...], ...] = ((),)
_OPERANDS_APART: tuple[tuple[int, ...], ...] = ((0,), (1,), ())
"""Which operands of a quotient get guard digits, in the order in which it is tried."""


@dataclass(frozen=True)
class _Sides:
    """The sides of one entry's line, all but the result, with any number of guard digits."""

    writer: Writer
    operation: Worked
    record: Record
    index: Index

    def __call__(self, guard: int, places: int, only: tuple[int, ...] = ()) -> list[Expression]:
        """`places` are those of the result: totals on the way need only some more.

        The guard digits are for the operands at `only` these positions, or for all.
        """
        index, inputs = self.index, self.record.inputs
        limit = places + guard + EXACT_DIGITS_MORE

        def operand(position: int, *at: int) -> Number:
            guarded = not only or position in only
            return self.writer.number(inputs[position], at, guard if guarded else 0)

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
            case SquareRoot(epsilon):
                of = operand(0, *index)
                if not epsilon:
                    return [Root(of)]
                inside = Sum((of, Number(epsilon)))
                return [Root(inside), Root(_total(inside, limit))]
            case Exp():
                return [Exponential(operand(0, *index))]
            case Square():
                return [Power(operand(0, *index), Number.of(2))]
            case Relu():
                return [Call("max", (Number.of(0), operand(0, *index)))]
            case Total():
                return [self._row(0, index[0], guard)]
            case Mean():
                terms = self._row(0, index[0], guard)
                n = Number.of(inputs[0].numbers.shape[1])
                return [Quotient(terms, n), Quotient(_total(terms, limit), n)]
            case Normalize():
                return self._normalized(guard)
            case DivTerm(width):
                exponent = Quotient(Number.of(-2 * index[0]), Number.of(width))
                return [Power(Number.of(10000), exponent)]
            case Sin():
                return [Call("sin", (operand(0, *index),))]
            case Cos():
                return [Call("cos", (operand(0, *index),))]
            case Surprise(columns, _):
                column = columns[index[0]]
                assert column is not None
                return [Negative(Call("ln", (operand(0, index[0], column),)))]
            case MeanOf(counted):
                terms = _sum(_elided([operand(0, i) for i in counted]))
                n = Number.of(len(counted))
                return [Quotient(terms, n), Quotient(_total(terms, limit), n)]
            case Cumulate():
                row, column = index
                before = self.writer.number(self.record.output, (row, column - 1), guard)
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

        def factors(k: int) -> tuple[Number, Number]:
            at = (column, k) if transposed else (k, column)
            return self.writer.number(x, (row, k), guard), self.writer.number(w, at, guard)

        terms = x.numbers.shape[1]
        shown = TERMS_SHOWN if terms > MOST_TERMS else terms
        address = record.output.address
        pairs = [factors(k) for k in range(shown)]
        products: list[Expression] = [Product(pair) for pair in pairs]
        parts: list[Expression] = [self._part(product(pair), address, guard) for pair in pairs]
        last: list[Expression] = [self.writer.number(b, (column,), guard) for b in biases]
        if shown < terms:
            left = x.numbers[row, shown:]
            right = w.numbers[column, shown:] if transposed else w.numbers[shown:, column]
            last.insert(0, self._rest(left * right, address, guard))
        yield _sum([*products, *last])
        yield _sum([*parts, *last])

    def _rest(self, products: Array, address: str, guard: int) -> Rest:
        """What the products come to that are not written out."""
        pencil = self.writer.pencil
        if pencil.carry is Carry.LINE:
            exact = [x for x in products if isinstance(x, Decimal)]
            rounded = [pencil.printed(x, pencil.part_places(address, x)) for x in exact]
            return Rest(len(products), Number(total_of(rounded)))
        decimals = [x if isinstance(x, Decimal) else Decimal(repr(float(x))) for x in products]
        return Rest(len(products), self._part(total_of(decimals), address, guard))

    def _part(self, exact: Decimal, address: str, guard: int) -> Number:
        """The number that takes a part's place on the way to the value at `address`."""
        pencil = self.writer.pencil
        places = pencil.part_places(address, exact)
        if guard and pencil.carry is not Carry.LINE:
            places = max(places, min(places + guard, Number(trimmed(exact)).places))
        return Number(pencil.printed(exact, places))

    def _divides_dot_products(self) -> bool:
        producer = self.writer.producers.get(self.record.inputs[0])
        return producer is not None and isinstance(producer.operation, Dot)

    def _scaled(self, guard: int, limit: int) -> list[Expression]:
        """(a×b + c×d) / √d_k: the dot product is written out in the same line."""
        dot, scale = self.record.inputs
        producers, number = self.writer.producers, self.writer.number
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
        """√d_k as it is written; what was pinned in its place is no root."""
        operand = scale.inputs[0]
        if isinstance(scale.operation, SquareRoot):
            return Root(self.writer.number(operand, ()))
        return self.writer.number(scale.output, ())

    def _normalized(self, guard: int) -> list[Expression]:
        """d / σ × γ + β."""
        operation, address, number = self.operation, self.record.output.address, self.writer.number
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

    def _row(self, position: int, row: int, guard: int) -> Expression:
        of = self.record.inputs[position]
        numbers = [self.writer.number(of, (row, j), guard) for j in range(of.numbers.shape[1])]
        return _sum(_elided(numbers))


def _total(terms: Expression, limit: int) -> Number:
    """What terms come to: exactly, unless that has digits that nobody reads."""
    exact, _ = value(terms)
    number = Number(exact)
    return number if number.places <= limit else Number(trimmed(round_half_away(exact, limit)))


def _sum(terms: Sequence[Expression]) -> Expression:
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def _elided(terms: Sequence[Number]) -> list[Expression]:
    """The first terms of a long sum, and the total of the rest."""
    if len(terms) <= MOST_TERMS:
        return list(terms)
    rest = terms[TERMS_SHOWN:]
    return [*terms[:TERMS_SHOWN], Rest(len(rest), Number(total_of([x.value for x in rest])))]


def _with_result(written: Sequence[Expression], result: Number) -> list[Expression]:
    """The sides with the result, and before it what the last of them comes to, if that is short.

    Each side stands once. Where a number comes twice, it is written as the result is printed; but
    one that is put in keeps its digits.
    """
    exact, complete = value(written[-1])
    before: list[Expression] = []
    if complete and exact.is_finite():
        number = Number(trimmed(exact))
        if 0 < number.places - result.places <= EXACT_DIGITS_MORE:
            before = [number]
    kept: list[Expression] = []
    for side in [*written, *before, result]:
        last = kept[-1] if kept else None
        if isinstance(side, Number) and isinstance(last, Number) and side.value == last.value:
            if last.entry is None or (side.entry and side.places == last.places):
                kept[-1] = side
            elif side.entry:
                kept.append(side)
            continue
        if last == side:
            continue
        kept.append(side)
    return kept


def _true(sides: Sequence[Expression]) -> bool:
    """Whether each number that takes the place of a side, or of a dividend, is it rounded."""
    for pair in pairwise(sides):
        match pair:
            case (left, Number() as right) | (Quotient(left, _), Quotient(Number() as right, _)):
                if not holds(left, right):
                    return False
    return True


def _chain(sides: Sequence[Expression]) -> Chain:
    relations = tuple(relation(left, right) for left, right in pairwise(sides))
    return Chain(tuple(sides), relations)
