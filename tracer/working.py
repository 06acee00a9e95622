"""Step → worked lines: how each operation is written out, with as few digits as keep it true."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import TypeAlias, assert_never

from tracer.carry import Carry
from tracer.errors import Problem, TracerError
from tracer.expression import (
    Call,
    Chain,
    Difference,
    Exponential,
    Expression,
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
    relation,
    replaced,
    value,
)
from tracer.names import distinct
from tracer.operations import (
    Add,
    Append,
    ArgMax,
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
    MatMul,
    Mean,
    MeanOf,
    Normalize,
    Outer,
    Pick,
    Relu,
    Select,
    Share,
    Sin,
    Square,
    SquareRoot,
    Subtract,
    Surprise,
    Total,
)
from tracer.rounding import Rounding, trimmed
from tracer.tape import Step, Value

Index: TypeAlias = tuple[int, ...]

Unworked: TypeAlias = Given | Concat | Copy | ArgMax | Interleave | Append | Select | Pick
"""Operations that compute nothing: their numbers stood somewhere before."""

MOST_TERMS, TERMS_SHOWN = 16, 12
"""A longer sum shows its first terms, then what the rest comes to."""

EXACT_DIGITS_MORE = 2
"""33.207 / 6 = 5.5345 ≈ 5.535: an exact value this little longer is shown before it is rounded."""

MOST_GUARD_DIGITS = 45
"""No line needs more: values are computed to 50 digits."""


@dataclass(frozen=True)
class Line:
    """A worked line: what it is for, where that is not said by its symbol, and its equations."""

    label: str | None
    chain: Chain


@dataclass(frozen=True)
class Writer:
    """Writes out the steps of one tape."""

    rounding: Rounding
    symbols: dict[str, Expression]
    tokens: int
    producers: dict[str, Step] = field(repr=False)

    def lines(self, step: Step, token: int) -> tuple[Line, ...]:
        """The worked lines of a step for a token (counted from 0); none where nothing happens."""
        output = step.output
        if isinstance(step.operation, Unworked):
            return ()
        if output.per_token:
            token = output.row(token, self.tokens)
        if isinstance(step.operation, Share) and not step.inputs[1].array[token]:
            return ()  # a row that is masked as a whole: nothing is divided
        if isinstance(step.operation, Surprise):
            return self._surprises(step)
        if output.array.ndim == 2 and not output.per_token:
            rows, columns = (distinct(axis.labels) for axis in output.axes)
            return tuple(
                Line(f"{row}, {column}", self.chain(step, (i, j)))
                for i, row in enumerate(rows)
                for j, column in enumerate(columns)
            )
        if output.array.ndim == 2:
            labels = distinct(output.axes[1].labels)
            return tuple(
                Line(label, self.chain(step, (token, column)))
                for column, label in enumerate(labels)
            )
        if output.per_token or not output.axes:
            chain = self.chain(step, (token,) if output.axes else ())
            symbol = self.symbols[output.address]
            first: tuple[Relation, ...] = ("=",)
            if symbol == chain.sides[0]:
                return (Line(None, chain),)
            return (Line(None, Chain((symbol, *chain.sides), first + chain.relations)),)
        labels = output.axes[0].labels
        return tuple(Line(label, self.chain(step, (i,))) for i, label in enumerate(labels))

    def _surprises(self, step: Step) -> tuple[Line, ...]:
        """A line for each token whose next word is known."""
        operation = step.operation
        assert isinstance(operation, Surprise)
        labels = distinct(step.output.axes[0].labels)
        return tuple(
            Line(labels[i], self.chain(step, (i,)))
            for i, column in enumerate(operation.columns)
            if column is not None
        )

    def chain(self, step: Step, index: Index) -> Chain:
        """One entry of a step's output: the line with the fewest digits that is true.

        First the operands get guard digits; the result gets more only where no number of them
        helps (a tie that the rounding before has already decided otherwise).
        """
        for more in range(MOST_GUARD_DIGITS):
            result = self.number(step.output, index, more)
            for guard in range(more, MOST_GUARD_DIGITS):
                written = self.sides(step, index, guard)
                sides = _without_repetition(
                    [*written, *_before_rounding(written[-1], result), result]
                )
                chain = Chain(
                    tuple(sides), tuple(relation(left, right) for left, right in pairwise(sides))
                )
                if all(
                    holds(left, right)
                    for left, right in pairwise(sides)
                    if isinstance(right, Number)
                ):
                    return chain
        message = "no line with so few digits that a person would read them is true"
        raise TracerError(Problem(message, address=step.output.address))

    def number(self, of: Value, index: Index, guard: int = 0) -> Number:
        """An entry as it is printed: as typed, or rounded to its digits and `guard` more."""
        exact: Decimal = of.array[index]
        if of.given or not exact.is_finite():
            return Number(exact)
        # A number that was rounded keeps its digits: rounded again, 0.050 would become 0.1.
        digits = self.rounding.digits_for(of.address)
        places = Number(exact).places if of.rounded else digits.places(exact)
        if guard:
            # No digits beyond those that the number has.
            places = max(places, min(places + guard, Number(trimmed(exact)).places))
        return Number(self.rounding.printed(exact, places))

    def sides(self, step: Step, index: Index, guard: int) -> list[Expression]:
        """The sides of an entry's line, all but the result."""

        def operand(position: int, *at: int) -> Number:
            return self.number(step.inputs[position], at, guard)

        match step.operation:
            case MatMul():
                return list(self._sums(step, index, guard))
            case Dot():
                return list(self._sums(step, index, guard))
            case Divide() if self._divides_dot_products(step):
                return self._scaled(step, index, guard)
            case Divide():
                return [Quotient(operand(0, *index), operand(1))]
            case Share():
                return [Quotient(operand(0, *index), operand(1, index[0]))]
            case Add():
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
                return [Root(inside), Root(Number(value(inside)[0]))]
            case Exp():
                return [Exponential(operand(0, *index))]
            case Square():
                return [Power(operand(0, *index), Number.of(2))]
            case Relu():
                return [Call("max", (Number.of(0), operand(0, *index)))]
            case Total():
                return [self._row(step.inputs[0], index[0], guard)]
            case Mean():
                terms = self._row(step.inputs[0], index[0], guard)
                n = Number.of(step.inputs[0].array.shape[1])
                return [Quotient(terms, n), _over(terms, n)]
            case Normalize():
                return self._normalized(step, index, guard)
            case DivTerm(width):
                exponent = Quotient(Number.of(-2 * index[0]), Number.of(width))
                return [Power(Number.of(10000), exponent)]
            case Sin() | Cos():
                return [Call(step.operation.name, (operand(0, *index),))]
            case Surprise(columns, _):
                column = columns[index[0]]
                assert column is not None
                return [Negative(Call("ln", (operand(0, index[0], column),)))]
            case MeanOf(counted):
                terms = _sum(_elided(*[[operand(0, i) for i in counted]] * 2))
                return [Quotient(terms, n := Number.of(len(counted))), _over(terms, n)]
            case Cumulate():
                row, column = index
                this = operand(0, row, column)
                before = self.number(step.output, (row, column - 1), guard)
                return [Sum((before if column else Number.of(0), this))]
            case (
                Given() | Concat() | Copy() | ArgMax() | Interleave() | Append() | Select() | Pick()
            ):
                return []
            case _:
                assert_never(step.operation)

    def _sums(self, step: Step, index: Index, guard: int) -> Iterable[Expression]:
        """a×b + c×d + bias, then the products, for MatMul and Dot."""
        x, w, *biases = step.inputs
        row, column = index
        transposed = isinstance(step.operation, Dot)
        products: list[Expression] = [
            Product(
                (
                    self.number(x, (row, k), guard),
                    self.number(w, (column, k) if transposed else (k, column), guard),
                )
            )
            for k in range(x.array.shape[1])
        ]
        parts: list[Expression] = [self._part(p, step.output.address, guard) for p in products]
        last = [self.number(b, (column,), guard) for b in biases]
        yield _sum([*_elided(products, parts), *last])
        yield _sum([*_elided(parts, parts), *last])

    def _part(self, expression: Expression, address: str, guard: int) -> Number:
        """The number that takes a part's place on the way to the value at `address`."""
        exact, _ = value(expression)
        places = self.rounding.digits_within(address).places(exact)
        if guard:
            places = max(places, min(places + guard, Number(trimmed(exact)).places))
        return Number(self.rounding.printed(replaced(expression, places).value, places))

    def _divides_dot_products(self, step: Step) -> bool:
        producer = self.producers.get(step.inputs[0].address)
        return producer is not None and isinstance(producer.operation, Dot)

    def _scaled(self, step: Step, index: Index, guard: int) -> list[Expression]:
        """(a×b + c×d) / √d_k: the dot product is written out in the same line."""
        dot, scale = step.inputs
        on_the_line = self.rounding.carry is Carry.LINE
        root: Expression = self.number(scale, ())
        if not scale.given:
            root = Root(self.number(self.producers[scale.address].inputs[0], ()))
        products, parts = self._sums(self.producers[dot.address], index, guard)
        total = self.number(dot, index) if on_the_line else Number(value(parts)[0])
        exact_root, exact = value(root)
        # A root that does not come out stays a root, unless its printed digits are the ones used.
        under = (
            self.number(scale, ())
            if on_the_line
            else Number(trimmed(exact_root))
            if exact
            else root
        )
        return [Quotient(products, root), Quotient(parts, under), Quotient(total, under)]

    def _normalized(self, step: Step, index: Index, guard: int) -> list[Expression]:
        """d / σ × γ + β."""
        operation, address = step.operation, step.output.address
        assert isinstance(operation, Normalize)
        deviation, std, *parameters = step.inputs
        written: Expression = Quotient(
            self.number(deviation, index, guard), self.number(std, index[:1], guard)
        )
        sides = [written]
        rest = [Number(parameter.array[index[1]]) for parameter in parameters]
        if operation.gain:
            gain = rest.pop(0)
            part = self._part(sides[-1], address, guard)
            sides = [*(Product((side, gain)) for side in sides), Product((part, gain))]
        if operation.shift:
            shift = rest.pop(0)
            part = self._part(sides[-1], address, guard)
            sides = [*(Sum((side, shift)) for side in sides), Sum((part, shift))]
        return sides

    def _row(self, of: Value, row: int, guard: int) -> Expression:
        numbers: list[Expression] = [
            self.number(of, (row, column), guard) for column in range(of.array.shape[1])
        ]
        return _sum(_elided(numbers, numbers))


def _over(terms: Expression, n: Number) -> Quotient:
    """A sum over its number of terms, the sum worked out."""
    return Quotient(Number(value(terms)[0]), n)


def _sum(terms: Sequence[Expression]) -> Expression:
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def _elided(terms: Sequence[Expression], parts: Sequence[Expression]) -> list[Expression]:
    """The first terms of a long sum, and the total of the parts that stand for the rest."""
    if len(terms) <= MOST_TERMS:
        return list(terms)
    total, _ = value(Sum(tuple(parts[TERMS_SHOWN:])))
    rest = Rest(len(terms) - TERMS_SHOWN, Number(total))
    return [*terms[:TERMS_SHOWN], rest]


def _before_rounding(last: Expression, result: Number) -> list[Expression]:
    """What a side comes to exactly, where that is only a digit or two longer than the result."""
    exact, complete = value(last)
    number = Number(trimmed(exact)) if exact.is_finite() else result
    longer = number.places - result.places
    return [number] if complete and 0 < longer <= EXACT_DIGITS_MORE else []


def _without_repetition(sides: Iterable[Expression]) -> list[Expression]:
    """Each side once; where the last number comes twice, as the result is printed."""
    kept: list[Expression] = []
    for side in sides:
        if kept and isinstance(side, Number) and isinstance(kept[-1], Number):
            if side.value == kept[-1].value:
                kept[-1] = side
                continue
        elif kept and kept[-1] == side:
            continue
        kept.append(side)
    return kept
