"""Each operation written with the numbers of one entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias, assert_never

import numpy as np

from tracer.decoder import elementwise as el, operations as op
from tracer.decoder.contract import Contract
from tracer.decoder.pencil import Pencil
from tracer.decoder.roles import SCALE
from tracer.decoder.tape import Record
from tracer.decoder.value import Entry, Form, Index, Value
from tracer.formula import expression as ex
from tracer.formula.arithmetic import LONGEST_FLOAT_TIE
from tracer.formula.evaluation import product, value
from tracer.formula.expression import Expression, Number
from tracer.formula.numbers import SCIENTIFIC_FROM, round_half_away, trimmed
from tracer.formula.steps import SETTLED
from tracer.lesson import entries
from tracer.lesson.working.formulas import slope
from tracer.lesson.working.sums import Sums, Terms
from tracer.node import nodes_in

Worked: TypeAlias = op.Computed | el.Mask | op.Largest | op.LargestSoFar | op.Trained
"""Operations that have worked lines."""

MOST_OF_GROUP, SHOWN_OF_GROUP = 8, 4
"""A group of at most so many weights is written out; of a larger one, the largest ones."""

HALF = Decimal("0.5")

EXACT_DIGITS_MORE = 2
"""33.207 / 6 = 5.5345 ≈ 5.535: an exact value this little longer is shown before it is rounded."""


@dataclass(frozen=True)
class LineSides:
    """The sides of one entry's line, all but the result, with any number of guard digits."""

    pencil: Pencil
    producers: Mapping[Value, Record]
    operation: Worked
    record: Record
    index: Index
    terms: Terms

    def __call__(self, guard: int, places: int, only: tuple[int, ...] = ()) -> list[Expression]:
        """Return the sides; `places` are those of the result, which subtotals exceed by a few.

        The guard digits are for the operands at `only` these positions, or for all.
        """
        index, inputs, sums = self.index, self.record.inputs, self._sums(guard)
        limit = places + guard + EXACT_DIGITS_MORE
        match self.operation:
            case Contract():
                return self._contracted(self.operation, guard, limit)
            case el.Divide() if self._divides_dot_products():
                return self._scaled(guard, limit)
            case el.Divide() if inputs[1].role is SCALE:
                over = self.number(inputs[0], index, guard)
                return [ex.Quotient(over, under) for under in self._scales(inputs[1])]
            case el.Elementwise():
                return self._elementwise(self.operation, guard, limit, only)
            case op.Rotate(layout) | op.RotateBack(layout):
                return self._rotated(op.Rotate(layout), guard)
            case op.Largest():
                return [ex.Call("max", self._candidates(index[0], guard))]
            case op.LargestSoFar():
                so_far = [self.number(each, index, guard) for each in inputs[1:]]
                return [ex.Call("max", (*so_far, *self._candidates(index[0], guard)))]
            case op.GroupExtreme():
                return [self._extreme(self.operation, guard)]
            case op.DivTerm(width, base, factors):
                exponent = ex.Quotient(Number.of(-2 * index[0]), Number.of(width))
                of = self.number(inputs[0], (), guard) if base is None else Number(base)
                power = ex.Power(of, exponent)
                return [ex.Quotient(power, Number(factors[index[0]])) if factors else power]
            case op.PowerOfTwo():
                return [slope(self.operation)]
            case op.MixExperts():
                row, column = index
                weights, *outputs = inputs
                own = self.operation.experts_of(row)
                return sums.of_factors(
                    [(Entry(weights, (row, e)), Entry(outputs[e], (i, column))) for e, i in own]
                )
            case op.ExpertDots(tokens):
                row, expert = index
                g, y = inputs[0], inputs[1 + expert]
                at = tokens[expert].index(row)
                return sums.of_factors(
                    [(Entry(g, (row, j)), Entry(y, (at, j))) for j in range(g.shape[1])]
                )
            case op.Cumulate():
                row, column = index
                before = self.number(self.record.output, (row, column - 1), guard)
                added = self.number(inputs[0], index, guard)
                return [ex.Sum((before if column else Number.of(0), added))]
            case op.AccumulateGradients():
                return [ex.Sum(tuple(self.number(x, index, guard) for x in inputs))]
            case op.ByWord(words, _):
                same = [i for i, word in enumerate(words) if word == index[0]]
                return [sums.of_entries(inputs[0], [(i, index[1]) for i in same])]
            case op.ByEntry():
                looked_up = self.operation.entries(index, inputs[0].shape[1])
                return [sums.of_entries(inputs[0], looked_up)]
            case op.SumOfSquares():
                return sums.of_squares(inputs[0])
            case _:
                assert_never(self.operation)

    @property
    def is_quotient(self) -> bool:
        """Return whether extra digits of one operand may be enough."""
        divides = isinstance(self.operation, el.Divide) and not self._divides_dot_products()
        return divides or isinstance(self.operation, el.DivideByRowSum)

    def number(self, of: Value, index: Index, guard: int = 0) -> Number:
        """Return an entry of an operand as it is printed, with at most `guard` digits more."""
        return entries.number(self.pencil, of, index, guard)

    def part(self, of: Expression, guard: int) -> Number:
        """Return the number that takes a part's place on the way to the result."""
        return self._sums(guard).part(value(of)[0])

    def _sums(self, guard: int, to: Value | None = None) -> Sums:
        """Return the writer of sums inside the line of a value, by default the result."""
        return Sums(self.pencil, (to or self.record.output).address, self.terms, guard)

    def _elementwise(
        self, operation: el.Elementwise, guard: int, limit: int, only: tuple[int, ...]
    ) -> list[Expression]:
        """The formula with the operands of this entry put in."""

        def operand(of: ex.Operand) -> Expression:
            if isinstance(operation, el.SoftmaxCrossEntropyGrad) and of.position:
                return Number.of(int(operation.columns[self.index[0]] == self.index[1]))
            guarded = not only or of.position in only
            if isinstance(operation, el.DivideByScale) and of.position == 1 and self._is_tie():
                return self._scale(guard)
            at = _place(operation, of, self.index)
            return self.number(self.record.inputs[of.position], at, guard if guarded else 0)

        parts: list[Number] = []

        def part(of: Expression) -> Number:
            parts.append(self.part(of, guard))
            return parts[-1]

        def subtotal(of: Expression) -> Number:
            exact, _ = value(of)  # 1 + e^-x may be as small as 1, and larger than anybody reads
            large = exact.adjusted() >= SCIENTIFIC_FROM
            return part(of) if large else _total(of, max(limit, *self._used(of, parts), 0))

        return operation.formula.sides(operand, part, subtotal)

    def _used(self, of: Expression, parts: Sequence[Number]) -> list[int]:
        """The decimals of the terms of a sum that is used as printed; none if it has a part."""
        if not (self.pencil.rounds and isinstance(of, ex.Sum | ex.Difference)):
            return []
        terms = [term for term in nodes_in(of) if isinstance(term, Number)]
        if any(term is part for term in terms for part in parts):
            return []
        return [term.places for term in terms if term.places <= SCIENTIFIC_FROM]

    def _is_tie(self) -> bool:
        """Whether a ratio is halfway between two integers, but not with its scale as printed."""
        w, s = (entries.exact(value, self.index) for value in self.record.inputs[:2])
        precision = SETTLED if self.pencil.decimal else LONGEST_FLOAT_TIE
        return not self.pencil.rounds and precision.plus(w / s) % 1 in (HALF, -HALF)

    def _scale(self, guard: int) -> Expression:
        """The scale of an entry as it is computed: 0.5 / (1 / 127) is 63.5 exactly."""
        producer, index = self.producers[self.record.inputs[1]], self.index
        if isinstance(producer.operation, op.SpreadGroups):
            index = producer.operation.group_of(index)
            producer = self.producers[producer.inputs[0]]
        if not isinstance(producer.operation, el.DivideBy | el.RangeScale):
            return self.number(producer.output, index, guard)
        write = LineSides(
            self.pencil, self.producers, producer.operation, producer, index, self.terms
        )
        return write(guard, 0)[0]

    def _contracted(self, operation: Contract, guard: int, limit: int) -> list[Expression]:
        """A sum of products, or of the entries of one operand, which may be divided."""
        sums, (x, *others) = self._sums(guard), self.record.inputs
        if others:
            sides = sums.of_products(self.record, operation, self.index)
        else:
            terms = operation.entries(self.index, x.shape)
            in_order = isinstance(operation, op.SumInOrder)
            sides = [sums.of_entries(x, terms, in_order=in_order)]
            if divisor := operation.divisor(len(terms)):
                sides = _mean(sides[0], divisor, limit)
        return [_negative(side) for side in sides] if operation.negative else sides

    def _divides_dot_products(self) -> bool:
        producer = self.producers.get(self.record.inputs[0])
        return producer is not None and isinstance(producer.operation, op.Dot)

    def _scaled(self, guard: int, limit: int) -> list[Expression]:
        """(a×b + c×d) / √d_k: the dot product is written out in the same line."""
        dot, scale = self.record.inputs
        record = self.producers[dot]
        assert isinstance(record.operation, Contract)
        products, parts = self._sums(guard, dot).of_products(record, record.operation, self.index)
        root, under = self._scales(scale)
        totals = [_total(parts, limit)]
        if dot.form is Form.AS_THEY_ARE:
            totals.append(self.number(dot, self.index))  # and so is the printed sum
        return [
            ex.Quotient(products, root),
            ex.Quotient(parts, under),
            *(ex.Quotient(total, under) for total in totals),
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
        if isinstance(scale.operation, el.SquareRoot):
            return ex.Root(self.number(scale.inputs[0], ()))
        return self.number(scale.output, ())

    def _rotated(self, turn: op.Rotate, guard: int) -> list[Expression]:
        """a cos - b sin, a sin + b cos; turned back a cos + b sin, b cos - a sin."""
        row, column = self.index
        x, cos, sin = self.record.inputs
        rotated = 2 * cos.shape[1]
        if column >= rotated:
            return [self.number(x, self.index, guard)]
        pair, first, second = turn.pair_of(column, rotated)
        is_first, is_back = column == first, isinstance(self.operation, op.RotateBack)
        by = (cos, sin) if is_first else (sin, cos)
        columns = (first, second)
        if is_back and not is_first:
            by, columns = (cos, sin), (second, first)
        factors = [
            (self.number(x, (row, at), guard), self.number(wave, (row, pair), guard))
            for at, wave in zip(columns, by, strict=True)
        ]
        parts = [self._sums(guard).part(product(pair_of)) for pair_of in factors]
        products = [ex.Product(pair_of) for pair_of in factors]
        if is_first != is_back:
            return [ex.Difference(*products), ex.Difference(*parts)]
        return [ex.Sum(tuple(products)), ex.Sum(tuple(parts))]

    def _extreme(self, operation: op.GroupExtreme, guard: int) -> Expression:
        """The numbers of a group, of which the largest |w| is taken; of many the largest ones."""
        of = self.record.inputs[0]
        places = operation.entries(self.index)
        numbers = np.array([of.read(at) for at in places])
        sizes = {"magnitude": abs(numbers), "largest": numbers, "smallest": -numbers}
        order = sorted(range(len(places)), key=lambda i: (-sizes[operation.of][i], i))
        most = len(places) if len(places) <= MOST_OF_GROUP else SHOWN_OF_GROUP
        name: ex.Function = "min" if operation.of == "smallest" else "max"

        def written(i: int) -> Expression:
            number = self.number(of, places[i], guard)
            return ex.Call("abs", (number,)) if operation.of == "magnitude" else number

        first: tuple[Expression, ...] = tuple(written(i) for i in sorted(order[:most]))
        if most < len(places):
            next_one = self.number(of, places[order[most]], guard)
            size = abs(next_one.value) if operation.of == "magnitude" else next_one.value
            hidden = [Entry(of, places[i]) for i in sorted(order[most:])]
            first = (*first, ex.Rest(len(hidden), Number(size), lambda: hidden))
        return ex.Call(name, first if operation.of == "magnitude" else (Number.of(0), *first))

    def _candidates(self, row: int, guard: int) -> tuple[Expression, ...]:
        """The numbers of a row, of which the largest is taken; of many the largest of the rest."""
        of = self.record.inputs[0]
        numbers = of.read((row,))
        shown = self.terms.of_row(numbers)
        written = [self.number(of, (row, j), guard) for j in shown]
        if len(shown) == len(numbers):
            return tuple(written)
        left = sorted(set(range(len(numbers))) - set(shown))
        largest = self.number(of, (row, left[int(numbers[left].argmax())]), guard)
        rest = ex.Rest(
            len(left), Number(largest.value), lambda: [Entry(of, (row, j)) for j in left]
        )
        return (*written, rest)


def _place(operation: el.Elementwise, operand: ex.Operand, index: Index) -> Index:
    """Return the index of the operand's number that an entry uses."""
    if isinstance(operation, el.NegativeLogLikelihood):
        column = operation.columns[index[0]]
        assert column is not None
        return (index[0], column)
    if isinstance(operation, el.TimesExpertWeight):
        row = operation.rows[index[0]]
        return (row, operation.expert if operand.position else index[1])
    match operand.along:
        case "entry":
            return index
        case "row":
            return index[:1]
        case "column":
            return index[-1:]
        case "one":
            return ()


def _mean(terms: Expression, number: int, limit: int) -> list[Expression]:
    n = Number.of(number)
    return [ex.Quotient(terms, n), ex.Quotient(_total(terms, limit), n)]


def _total(terms: Expression, limit: int) -> Number:
    """Return the total of terms, exact unless it has too many digits."""
    exact, _ = value(terms)
    number = Number(exact)
    return number if number.places <= limit else Number(trimmed(round_half_away(exact, limit)))


def _negative(of: Expression) -> Expression:
    """-(a + b); of a single number that number with its other sign, and 0 of 0."""
    if isinstance(of, Number):
        return Number(-of.value or of.value, of.entry)
    return ex.Negative(of)
