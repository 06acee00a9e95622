"""Worked lines: the sides of an entry, with as few digits as keep them true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from tracer.decoder import elementwise as el, operations as op
from tracer.decoder.results import DIVIDING_SCALE, LEAST_SCALED, SMALLEST_EXPONENT
from tracer.decoder.tape import Record
from tracer.decoder.value import Entry, Index, Value
from tracer.errors import InternalError
from tracer.formula import expression as ex
from tracer.formula.arithmetic import GUARD, PRECISION
from tracer.formula.evaluation import holds, jumps, relation, value
from tracer.formula.numbers import trimmed
from tracer.lesson import entries
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Line
from tracer.lesson.working.sums import Terms
from tracer.lesson.working.written import EXACT_DIGITS_MORE, LineSides, Worked
from tracer.names import distinct

OF_TRAINED = Terms(shown=4, most=6, largest=True)
"""The number of terms that are written out of a trained model's long sums."""

MOST_GUARD_DIGITS = PRECISION + GUARD
"""With this many extra digits, a line has all digits of the calculation."""


_ALL_OPERANDS: tuple[tuple[int, ...], ...] = ((),)
_OPERANDS_APART: tuple[tuple[int, ...], ...] = ((0,), (1,), ())
"""The operands of a quotient that get extra digits, in the order of the attempts."""


class Writer:
    """Writes out the records of one trace; each line is made when it is asked for."""

    def __init__(self, ctx: LessonContext, terms: Terms | None = None) -> None:
        self.ctx = ctx
        self.terms = terms or (OF_TRAINED if ctx.trace.scenario.on_demand else Terms())
        self.pencil, self.producers = ctx.trace.pencil, ctx.trace.producers
        self.symbols = ctx.symbols

    def lines(self, record: Record, token: int) -> tuple[Line, ...]:
        """The worked lines of a record for a token (counted from 0); none where nothing happens."""
        operation, output = record.operation, record.output
        if not isinstance(operation, Worked):
            return ()
        tokens = len(self.ctx.at(output.place).names)
        if output.per_token and not output.has_row(token, tokens):
            return ()
        row = output.row(token, tokens) if output.per_token else None
        shown = _indices(record, row, self.ctx.at(output.place).columns(output))
        indices = [index for index in shown if is_worked(record, index)]
        first = int(output.per_token)  # all lines are of one token, which needs no label
        names = [distinct(axis.labels) for axis in output.axes[first:]]
        alike = isinstance(operation, el.BroadcastDivide) and output.per_token
        if alike or not names:
            written = [Line(None, self.named(record, index)) for index in indices[:1]]
        else:
            labels = [
                ", ".join(of_axis[i] for of_axis, i in zip(names, index[first:], strict=True))
                for index in indices
            ]
            chains = [self.chain(record, index) for index in indices]
            written = list(map(Line, labels, chains))
        # The sum of a single number is that number.
        return tuple(line for line in written if line.chain.relations)

    def named(self, record: Record, index: Index) -> ex.Chain:
        """The chain of an entry that needs no label, its symbol in front."""
        chain = self.chain(record, index)
        symbol = self.symbols[record.output.address]
        if symbol == chain.sides[0]:
            return chain
        first: tuple[ex.Relation, ...] = ("=",)
        return ex.Chain((symbol, *chain.sides), first + chain.relations)

    def chain(self, record: Record, index: Index) -> ex.Chain:
        """Return the line of one entry; all texts about a trace share the lines.

        Raises:
            InternalError: line and matrix would contradict each other.
        """
        known, key = self.ctx.trace.lines, (record, index, self.terms)
        if key not in known:
            known[key] = self._chain(record, index)
        chain: ex.Chain = known[key]
        return chain

    def _chain(self, record: Record, index: Index) -> ex.Chain:
        """Return the line of one entry: with the fewest guard digits with which it is true."""
        write, result = self.sides(record, index), self.number(record.output, index)
        decimals = self.pencil.digits(record.output.base_address).places(Decimal(0))
        for guard in range(MOST_GUARD_DIGITS):
            for only in _OPERANDS_APART if write.is_quotient and guard else _ALL_OPERANDS:
                sides = _with_result(write(guard, result.places, only), result)
                if _true(sides, decimals):
                    return _chain(sides)
        comes_to = trimmed(value(write(MOST_GUARD_DIGITS, result.places)[-1])[0])
        found = f"its line comes to {comes_to}, its matrix shows {result.value}"
        raise InternalError(found, entries.name(Entry(record.output, index)))

    def first_side(self, record: Record, index: Index) -> ex.Expression:
        """The first side of an entry's line, also where it is the only one: a sum of one number."""
        return self.sides(record, index)(0, 0)[0]

    def sides(self, record: Record, index: Index) -> LineSides:
        """Return the writer of the sides of an entry's line."""
        operation = record.operation
        assert isinstance(operation, Worked)
        return LineSides(self.pencil, self.producers, operation, record, index, self.terms)

    def is_given(self, value: Value, at: Index = ()) -> ex.Chain:
        """Return the line of a given number: T = 1.5."""
        return ex.Chain((self.symbols[value.address], self.number(value, at)), ("=",))

    def number(self, of: Value, index: Index, guard: int = 0) -> ex.Number:
        """An entry as it is printed, with at most `guard` digits more."""
        return entries.number(self.pencil, of, index, guard)


def is_worked(record: Record, index: Index) -> bool:
    """Return whether an entry has a worked line."""
    match record.operation:
        case el.Mask():
            return bool(record.output.numbers[index] == -Decimal("Infinity"))
        case el.NegativeLogLikelihood(columns) | el.SoftmaxCrossEntropyGrad(columns):
            return columns[index[0]] is not None
        case op.ByWord(words):
            return index[0] in words
        case op.ByEntry(rows, column):
            return index[1] == column and index[0] in rows
        case op.ExpertDots(rows):
            return index[0] in rows[index[1]]
        case el.DivideByScale() | el.Dequantize():
            return bool(record.inputs[1].read(index) > DIVIDING_SCALE)  # no group of zeros
        case el.QuantizationError():
            return any(bool(each.read(index)) for each in record.inputs)
        case el.SharedExponent():
            return bool(record.inputs[0].read(index) >= LEAST_SCALED)
        case el.TwoToThe():
            return bool(record.inputs[0].read(index) > SMALLEST_EXPONENT)
        case op.TransposedMatMul() | op.ColumnTotal():
            return record.inputs[0].shape[0] > 0  # an expert may have no tokens
        case operation:
            return isinstance(operation, Worked) and not is_fully_masked(record, index)


def is_fully_masked(record: Record, index: Index) -> bool:
    """Return whether an entry belongs to a fully masked row of a softmax, which has no lines."""
    match record.operation:
        case el.DivideByRowSum():
            return not record.inputs[1].read(index[:1])  # and nothing is divided
        case op.Largest() | el.Subtract() | el.BelowMaximum():
            row = record.inputs[0].read(index[:1])
            return all(number == -Decimal("Infinity") for number in row)
        case el.MaximumChange():
            return bool(record.inputs[1].numbers[index] == -Decimal("Infinity"))
        case _:
            return False


def _indices(record: Record, row: int | None, columns: Sequence[int]) -> list[Index]:
    """The entries that a record's lines are written for: the followed token's, or all.

    Of a long row only the columns that are shown.
    """
    operation, shape = record.operation, record.output.shape
    if isinstance(operation, el.NegativeLogLikelihood):
        return [(i,) for i, column in enumerate(operation.columns) if column is not None]
    if isinstance(operation, op.ByWord):
        repeated = [row for row, times in Counter(operation.words).items() if times > 1]
        return [(row, column) for row in sorted(repeated) for column in columns]
    if isinstance(operation, el.Mask):
        assert row is not None
        return [(row, j) for j in range(shape[1])]
    if len(shape) == 2:
        rows = range(shape[0]) if row is None else [row]
        return [(i, j) for i in rows for j in columns]
    if row is None:
        return [(i,) for i in columns] if shape else [()]
    return [(row,)]


def _with_result(written: Sequence[ex.Expression], result: ex.Number) -> list[ex.Expression]:
    """The sides with the result, and before it what the last of them comes to, if that is short.

    Each side stands once. Where a number comes twice, it is written as the result is printed; but
    one that is put in keeps its digits.
    """
    exact, complete = value(written[-1])
    before: list[ex.Expression] = []
    if complete and exact.is_finite():
        number = ex.Number(trimmed(exact))
        if 0 < number.places - result.places <= EXACT_DIGITS_MORE:
            before = [number]
    kept: list[ex.Expression] = []
    for side in [*written, *before, result]:
        last = kept[-1] if kept else None
        if isinstance(side, ex.Number) and isinstance(last, ex.Number) and side.value == last.value:
            if last.entry is None or (side.entry and side.places == last.places):
                kept[-1] = side
            elif side.entry:
                kept.append(side)
            continue
        if last == side:
            continue
        kept.append(side)
    return kept


def _true(sides: Sequence[ex.Expression], decimals: int) -> bool:
    """Return whether each number that replaces a side or a dividend is that number, rounded.

    A 0 stands for numbers that are 0 with the usual decimals.
    """
    for pair in pairwise(sides):
        match pair:
            case (left, right) if not isinstance(right, ex.Number) and jumps(right):
                if value(left)[0] != value(right)[0]:
                    return False
            case (left, ex.Number() as right) | (
                ex.Quotient(left, _),
                ex.Quotient(ex.Number() as right, _),
            ):
                if not holds(left, right, decimals if not right.value else right.places):
                    return False
    return True


def _chain(sides: Sequence[ex.Expression]) -> ex.Chain:
    relations = tuple(relation(left, right) for left, right in pairwise(sides))
    return ex.Chain(tuple(sides), relations)
