"""The expression of each operation: one interpretation more of what the tape records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias, assert_never

import numpy as np

from tracer.decoder import elementwise as el, operations as op
from tracer.decoder.contract import Contract
from tracer.decoder.gather import EVERYWHERE, Gather, Places, Where
from tracer.decoder.results import LEAST_SCALED
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula import expression as ex
from tracer.lesson.code.autograd import Grad
from tracer.lesson.code.library import Words
from tracer.lesson.code.rounding import Rounded
from tracer.lesson.code.snippet import (
    Binds,
    Snippet,
    added,
    called,
    divided,
    indexed,
    method,
    multiplied,
    negative,
    number,
    raised,
    subtracted,
    transposed,
)
from tracer.node import found

NEARLY_NOTHING = Decimal("1e-300")
"""What a sum of 0 is replaced by, so that the shares of a row that is masked as a whole are 0."""

VERY_LOW = Decimal("-1e300")
"""What -∞ is replaced by as the largest score of such a row."""


@dataclass(frozen=True)
class Statements:
    """Lines that compute a value in several statements; `{}` is its name."""

    lines: tuple[str, ...]


Written: TypeAlias = Snippet | Statements


def is_column(record: Record) -> bool:
    """Whether code has a number for each row as a column (n, 1), as `keepdims` gives it."""
    match record.operation:
        case op.Largest() | op.LargestSoFar():
            return True
        case Contract():
            return record.operation.kept == ("n",)
        case _:
            return False


def uses(operation: op.Operation, position: int) -> int:
    """How often the expression of an operation contains an operand."""
    match operation:
        case el.SoftmaxCrossEntropyGrad() | el.TimesExpertWeight():
            return 2
        case el.Elementwise():
            operands = found(operation.expression(), ex.Operand)
            return sum(each.position == position for each in operands)
        case op.Rotate() | op.RotateBack() | op.Keep() | op.MixExperts() | op.ExpertDots():
            return 2
        case op.ByWord() | op.ByEntry() | op.SumOfSquares():
            return 2
        case op.Stack() | op.Pick() | op.AppendColumn() | op.Convolve() | op.ConvolveBack():
            return 2
        case _:
            return 1


@dataclass(frozen=True)
class Expressions:
    """Writes operations as expressions of one library.

    `operand` is the expression of a value, `columns` are the values that are columns (n, 1).
    `part` rounds intermediate numbers, if the program rounds them.
    """

    words: Words
    operand: Callable[[Value], Snippet]
    columns: set[Value]
    part: Rounded | None = None
    reads_numbers: bool = True
    """Whether the numbers of the pass are there; those of a trained model are not looked at."""

    def written(self, record: Record, operation: op.Recorded) -> Written:
        """Return what computes the result of a record's operation."""
        inputs, output = record.inputs, record.output
        match operation:
            case Contract() | op.PlaceRows() if any(0 in value.shape for value in inputs):
                return Snippet(self.zeros(output.shape))  # of an expert without tokens
            case op.Convolve() | op.ConvolveBack():
                return self.convolved(operation, inputs)
            case Contract():
                return self.contracted(operation, inputs)
            case el.Elementwise():
                return self.elementwise(operation, inputs, output)
            case op.Largest():
                largest = self.reduced(self.operand(inputs[0]), self.words.largest)
                return self.at_least(largest) if self.has_hidden_row(inputs[0]) else largest
            case op.LargestSoFar():
                largest = self.reduced(self.operand(inputs[0]), self.words.largest)
                before = [self.column(value) for value in inputs[1:]]
                return called(self.function("maximum"), *before, largest) if before else largest
            case op.Rotate() | op.RotateBack():
                return self.rotated(operation, inputs)
            case op.DivTerm():
                return self.frequencies(operation, inputs)
            case op.PowerOfTwo(over, under):
                exponent = divided(number(Decimal(over)), number(Decimal(under)))
                return raised(number(Decimal(2)), exponent)
            case op.Cumulate():
                return called(self.function("cumsum"), self.operand(inputs[0]), self.axis(1))
            case op.GroupExtreme():
                return self.extreme(operation, inputs[0])
            case op.MixExperts(rows):
                return self.mixed(rows, inputs, output)
            case op.ArgMax():
                return self.words_of(method(self.operand(inputs[1]), "argmax", self.axis(1)))
            case op.Pick():
                cumulative, draw = self.operand(inputs[0]), self.operand(inputs[1])
                below = f"({cumulative.text}[-1] <= {draw.text}).sum()"
                return self.words_of(Snippet(f"[min({below}, {inputs[0].shape[1] - 1})]"))
            case Grad():
                return Snippet(f"{self.operand(inputs[0]).text}.grad")
            case Gather():
                return self.gathered(operation, inputs, output)
            case op.AccumulateGradients():
                return added([self.vector(value) for value in inputs])
            case op.ByWord(words, table):
                zeros = self.zeros((table, inputs[0].shape[1]))
                pairs = f"zip({list(words)}, {self.operand(inputs[0]).text})"
                loop = f"for word, row in {pairs}:"
                return Statements((f"{{}} = {zeros}", loop, "    {}[word] += row"))
            case op.ByEntry(rows, column, table, columns):
                entries = method(self.operand(inputs[0]), "reshape", "-1").text
                loop = f"for row, entry in zip({list(rows)}, {entries}):"
                zeros = self.zeros((table, columns))
                return Statements((f"{{}} = {zeros}", loop, f"    {{}}[row, {column}] += entry"))
            case op.ExpertDots(rows):
                return self.expert_dots(rows, inputs, output)
            case op.SumOfSquares():
                square = raised(self.operand(inputs[0]), number(Decimal(2)))
                return method(self.rounded_part(square), "sum")
            case _:
                assert_never(operation)

    # --- words of the library --------------------------------------------------------------------

    def function(self, name: str) -> str:
        """The name of a function of arrays."""
        return self.words.functions.get(name, f"{self.words.module}.{name}")

    def axis(self, axis: int) -> str:
        """`axis=1`, `dim=1`."""
        return f"{self.words.axis}={axis}"

    def zeros(self, shape: Sequence[int]) -> str:
        """An array of zeros."""
        return f"{self.words.module}.zeros({tuple(shape)})"

    def reduced(self, of: Snippet, how: str) -> Snippet:
        """A number for each row, as a column."""
        return method(of, how, self.axis(1), f"{self.words.keep}=True")

    def joined(self, parts: Sequence[Snippet], axis: int) -> Snippet:
        """Arrays one after the other."""
        together = f"[{', '.join(part.text for part in parts)}]"
        return called(self.words.concatenate, together, self.axis(axis))

    def words_of(self, positions: Snippet) -> Snippet:
        """The words of the vocabulary at some positions."""
        return Snippet(f"[vocabulary[i] for i in {positions.text}]")

    def at_least(self, of: Snippet, least: Decimal = VERY_LOW) -> Snippet:
        """The larger one of each entry and a number."""
        return method(of, "clip", f"min={number(least).text}")

    def rounded_part(self, of: Snippet) -> Snippet:
        """An intermediate number, rounded if a program rounds it."""
        return self.part.around(of) if self.part else of

    # --- operands --------------------------------------------------------------------------------

    def column(self, value: Value) -> Snippet:
        """A number for each row as a column (n, 1)."""
        own = self.operand(value)
        return own if value in self.columns or own.is_number else indexed(own, ":, None")

    def vector(self, value: Value) -> Snippet:
        """The same as a vector (n,); a matrix as it is."""
        own = self.operand(value)
        return indexed(own, ":, 0") if value in self.columns else own

    def has_hidden_row(self, scores: Value) -> bool:
        """Whether a row is masked as a whole."""
        if not self.reads_numbers or not scores.role.hides:
            return False
        return bool(np.isneginf(scores.array).all(axis=-1).any())

    # --- elementwise -----------------------------------------------------------------------------

    def elementwise(
        self, operation: el.Elementwise, inputs: tuple[Value, ...], output: Value
    ) -> Written:
        """The formula with the operands put in."""
        entry = operation.expression()
        match operation:
            case el.Mask() | el.Add():
                return added([self.operand(value) for value in inputs])
            case el.Outer():
                return called(self.function("outer"), *map(self.vector, inputs))
            case el.DivideByRowSum() if self.reads_numbers and not inputs[1].numbers.all():
                total = self.at_least(self.column(inputs[1]), NEARLY_NOTHING)
                return divided(self.operand(inputs[0]), total)
            case el.BelowMaximum() | el.MaximumChange() if self.has_hidden_entry(inputs[1]):
                largest = self.at_least(self.column(inputs[1]))
                return subtracted(self.operand(inputs[0]), largest)
            case el.DivideByScale() if self.reads_numbers and not inputs[1].numbers.all():
                of = [self.operand(value) for value in inputs]
                module, scale = self.words.module, of[1].text
                of[1] = Snippet(f"{module}.where({scale} == 0, 1, {scale})")
                return self.formula(entry, lambda operand: of[operand.position])
            case el.SharedExponent() if self.has_tiny(inputs[0]):
                least = self.at_least(self.operand(inputs[0]), LEAST_SCALED)
                return self.formula(entry, lambda operand: least)
            case el.NegativeLogLikelihood(columns):
                rows = [row for row, column in enumerate(columns) if column is not None]
                correct = [column for column in columns if column is not None]
                right = indexed(self.operand(inputs[0]), f"{rows}, {correct}")
                losses = self.formula(entry, lambda operand: right)
                if len(rows) == len(columns):
                    return losses
                zeros = self.zeros((len(columns),))
                return Statements((f"{{}} = {zeros}", f"{{}}[{rows}] = {losses.text}"))
            case el.SoftmaxCrossEntropyGrad(columns):
                rows = [row for row, column in enumerate(columns) if column is not None]
                correct = [column for column in columns if column is not None]
                zeros, p = self.zeros(output.shape), self.operand(inputs[0])
                of = [indexed(p, str(rows)), Snippet(f"t[{rows}]")]
                missed = self.formula(entry, lambda operand: of[operand.position])
                return Statements(
                    (
                        f"t, {{}} = {zeros}, {zeros}",
                        f"t[{rows}, {correct}] = 1",
                        f"{{}}[{rows}] = {missed.text}",
                    )
                )
            case el.TimesExpertWeight(rows, expert):
                weights = indexed(self.operand(inputs[1]), f"{list(rows)}, [{expert}]")
                of = [indexed(self.operand(inputs[0]), str(list(rows))), column_of(weights)]
                return self.formula(entry, lambda operand: of[operand.position])
            case el.BroadcastDivide(_, columns_of_result):
                shares = self.formula(entry, lambda operand: self.column(inputs[0]))
                ones = Snippet(f"{self.words.module}.ones((1, {columns_of_result}))")
                return multiplied([shares, ones])
        of_rows = [value for value in inputs if len(value.shape) == 1]
        are_columns = output in self.columns and all(value in self.columns for value in of_rows)

        def put_in(operand: ex.Operand) -> Snippet:
            value = inputs[operand.position]
            if operand.along == "row":
                return self.column(value)
            if operand.along == "entry" and not are_columns:
                return self.vector(value)
            return self.operand(value)

        return self.formula(entry, put_in)

    def has_tiny(self, largest: Value) -> bool:
        """Whether a group has only weights that are too small for the scales of MXFP4."""
        return self.reads_numbers and bool((largest.numbers < LEAST_SCALED).any())

    def has_hidden_entry(self, value: Value) -> bool:
        """Whether a number is -∞."""
        return self.reads_numbers and bool(np.isneginf(value.array).any())

    def formula(self, e: ex.Expression, operand: Callable[[ex.Operand], Snippet]) -> Snippet:
        """An elementwise formula."""

        def of(part: ex.Expression) -> Snippet:
            return self.formula(part, operand)

        match e:
            case ex.Operand():
                return operand(e)
            case ex.Part(inner):
                return self.rounded_part(of(inner))
            case ex.Subtotal(inner):
                return of(inner)
            case ex.Number(value):
                return number(value)
            case ex.Pi():
                return Snippet(f"{self.words.scalars}.pi", is_number=True)
            case ex.Sum(terms):
                return added([of(term) for term in terms])
            case ex.Difference(left, right):
                return subtracted(of(left), of(right))
            case ex.Product(factors):
                return multiplied([of(factor) for factor in factors])
            case ex.Quotient(over, under):
                return divided(of(over), of(under))
            case ex.Power(base, exponent):
                return raised(of(base), of(exponent))
            case ex.Root(inner):
                return self.called("sqrt", [of(inner)])
            case ex.Exponential(inner):
                return self.called("exp", [of(inner)])
            case ex.Negative(inner):
                return negative(of(inner))
            case ex.Call(name, arguments):
                return self.called(name, [of(argument) for argument in arguments])
            case _:
                raise TypeError(f"{e} is not part of an elementwise formula")

    def called(self, name: str, of: list[Snippet]) -> Snippet:
        """A function of each entry, or of a Python number."""
        if name in ("max", "min"):
            limit, x = of
            return self.limited(name, limit, x)
        if name == "round":  # without the rounding error of the quotient, which may be a tie
            settled = called(self.function(name), of[0], self.words.nine_decimals)
            return called(self.function(name), settled)
        if name == "ReLU′":
            return multiplied([number(Decimal(1)), Snippet(f"({of[0].text} > 0)")])
        if all(each.is_number for each in of):
            plain = {"ln": "log"}.get(name, name)
            return called(f"{self.words.scalars}.{plain}", *of)
        return called(self.function(name), *of)

    def limited(self, name: str, limit: Snippet, x: Snippet) -> Snippet:
        """max(c, x) or min(c, x)."""
        if self.words.module == "torch":
            bound = "min" if name == "max" else "max"
            return called("torch.clamp", x, f"{bound}={limit.text}")
        return called(f"np.{name}imum", limit, x)

    # --- sums and moves --------------------------------------------------------------------------

    def contracted(self, operation: Contract, inputs: tuple[Value, ...]) -> Snippet:
        """A matrix product, or a sum along an axis."""
        a, *others = inputs
        along = operation.factors[0].index(operation.summed)
        if operation.is_matrix_product:
            b, *bias = others
            left, right = self.operand(a), self.operand(b)
            left = left if along else transposed(left)
            right = transposed(right) if operation.factors[1].index(operation.summed) else right
            product = multiplied([left, right], "@")
            if self.part:  # each product is rounded
                product = called("matmul", left, right, *self.part.arguments)
            return added([product, *map(self.operand, bias)])
        of = self.operand(a)
        if others:
            of = self.rounded_part(multiplied([self.vector(a), self.vector(others[0])]))
        elif isinstance(operation, op.Counted) and len(operation.counted) == a.shape[0]:
            of = self.vector(a)
        elif operation.of():
            of = indexed(self.vector(a), places(operation.of()))
        terms = self.terms(operation, a)
        divisor = operation.divisor(terms)
        is_mean = divisor == terms
        how = "mean" if is_mean else "sum"
        if operation.kept == ("n",):
            total = self.reduced(of, how)
        elif operation.kept:
            total = method(of, how, self.axis(0))
        else:
            total = method(of, how)
        if divisor and not is_mean:
            total = divided(total, number(Decimal(divisor)))
        return negative(total) if operation.negative else total

    def convolved(
        self, operation: op.Convolve | op.ConvolveBack, inputs: tuple[Value, ...]
    ) -> Snippet:
        """A sum over the rows of a filter, each times rows of the same number."""
        a, b = (self.operand(each).within(Binds.ATOM) for each in inputs)
        k = inputs[1].shape[0]
        if isinstance(operation, op.Convolve):
            n = inputs[0].shape[0] - k + 1
            term = self.rounded_part(multiplied([Snippet(f"{a}[j:j + {n}]"), Snippet(f"{b}[j]")]))
        else:
            product = self.rounded_part(multiplied([Snippet(a), Snippet(f"{b}[j]")])).text
            after = f"{k - 1} - j"
            if self.words.module == "torch":
                term = Snippet(f"torch.nn.functional.pad({product}, (0, 0, j, {after}))")
            else:
                term = Snippet(f"np.pad({product}, ((j, {after}), (0, 0)))")
        return called("sum", Snippet(f"{term.text} for j in range({k})"))

    def terms(self, operation: Contract, a: Value) -> int:
        """How many numbers are summed for an entry."""
        if isinstance(operation, op.Counted):
            return len(operation.counted)
        return a.shape[operation.factors[0].index(operation.summed)]

    def rotated(self, turn: op.Rotate | op.RotateBack, inputs: tuple[Value, ...]) -> Snippet:
        """Pairs of columns, rotated by the angles of their rows."""
        x, cos, sin = map(self.operand, inputs)
        n, width = inputs[0].shape
        rotated = 2 * inputs[1].shape[1]
        firsts, seconds = op.Rotate(turn.layout).columns(rotated)
        a, b = (indexed(x, places((slice(None), each))) for each in (firsts, seconds))

        def product(of: Snippet, by: Snippet) -> Snippet:
            return self.rounded_part(multiplied([of, by]))

        if isinstance(turn, op.RotateBack):
            pair = [
                added([product(a, cos), product(b, sin)]),
                subtracted(product(b, cos), product(a, sin)),
            ]
        else:
            pair = [
                subtracted(product(a, cos), product(b, sin)),
                added([product(a, sin), product(b, cos)]),
            ]
        rest = [indexed(x, places((slice(None), slice(rotated, width))))]
        rest = rest if rotated < width else []
        if turn.layout == "halves":
            return self.joined([*pair, *rest], 1)
        together = f"[{pair[0].text}, {pair[1].text}]"
        stacked = called(self.function("stack"), together, self.axis(2))
        whole = method(stacked, "reshape", str(n), str(rotated))
        return self.joined([whole, *rest], 1) if rest else whole

    def frequencies(self, operation: op.DivTerm, inputs: tuple[Value, ...]) -> Snippet:
        """base^(-2k/d) for each pair k, divided by its factor, if any."""
        base = self.operand(inputs[0]) if operation.base is None else number(operation.base)
        doubled = Snippet(f"{self.words.module}.arange(0, {operation.width}, 2)")
        powers = raised(base, divided(negative(doubled), number(Decimal(operation.width))))
        if not operation.factors:
            return powers
        factors = ", ".join(number(factor).text for factor in operation.factors)
        return divided(powers, Snippet(f"{self.words.array}([{factors}])"))

    def extreme(self, operation: op.GroupExtreme, of: Value) -> Snippet:
        """The largest |w| of each group, or the largest or smallest number and 0."""
        (m, n), (height, width) = of.shape, (operation.height, operation.width)
        x = self.operand(of)
        if operation.of == "magnitude":
            x = called(self.function("abs"), x)
        how, axis = self.words.largest, self.words.axis
        if operation.of == "smallest":
            how = how.replace("max", "min")
        if along := {(m, 1): "0", (1, n): "1", (m, n): "(0, 1)"}.get((height, width)):
            found = method(x, how, f"{axis}={along}", f"{self.words.keep}=True")
        else:
            shape = [str(each) for each in (m // height, height, n // width, width)]
            found = method(method(x, "reshape", *shape), how, f"{axis}=(1, 3)")
        if operation.of == "magnitude":
            return found
        return self.limited("min" if operation.of == "smallest" else "max", Snippet("0"), found)

    def mixed(
        self, rows: tuple[tuple[int, ...], ...], inputs: tuple[Value, ...], output: Value
    ) -> Written:
        """The experts' outputs, each row times its token's weight."""
        weights, *outputs = inputs
        if rows == (tuple(range(output.shape[0])),):
            return self.rounded_part(multiplied([self.operand(weights), self.operand(outputs[0])]))
        experts = ", ".join(
            f"({e}, {list(own)}, {self.operand(y).text})"
            for e, (own, y) in enumerate(zip(rows, outputs, strict=True))
            if own
        )
        weight = indexed(self.operand(weights), "rows, e, None")
        term = self.rounded_part(multiplied([weight, Snippet("out")]))
        return Statements(
            (
                f"{{}} = {self.zeros(output.shape)}",
                f"for e, rows, out in [{experts}]:",
                f"    {{}}[rows] += {term.text}",
            )
        )

    def expert_dots(
        self, rows: tuple[tuple[int, ...], ...], inputs: tuple[Value, ...], output: Value
    ) -> Statements:
        """g · y of each token and each of its experts."""
        g, *outputs = inputs
        experts = ", ".join(
            f"({e}, {list(own)}, {self.operand(y).text})"
            for e, (own, y) in enumerate(zip(rows, outputs, strict=True))
            if own
        )
        product = self.rounded_part(multiplied([indexed(self.operand(g), "rows"), Snippet("out")]))
        return Statements(
            (
                f"{{}} = {self.zeros(output.shape)}",
                f"for e, rows, out in [{experts}]:",
                f"    {{}}[rows, e] = {method(product, 'sum', self.axis(1)).text}",
            )
        )

    def gathered(self, operation: Gather, inputs: tuple[Value, ...], output: Value) -> Written:
        """Moved entries."""
        match operation:
            case op.Adjacent():
                parts = [self.vector(value) for value in inputs]
                return self.joined(parts, operation.axis) if len(parts) > 1 else parts[0]
            case op.AppendColumn():
                column = multiplied(
                    [
                        self.operand(inputs[1]),
                        Snippet(f"{self.words.module}.ones(({inputs[0].shape[0]}, 1))"),
                    ]
                )
                return self.joined([self.operand(inputs[0]), column], 1)
            case op.Interleave(features):
                waves = f"[{', '.join(self.operand(value).text for value in inputs)}]"
                stacked = called(self.function("stack"), waves, self.axis(2))
                whole = method(stacked, "reshape", str(output.shape[0]), "-1")
                width = len(features)
                return indexed(whole, f":, :{width}") if width % 2 else whole
            case op.SpreadGroups(height, width):
                return self.spread(height, width, inputs[0])
            case op.Keep(columns, others):
                return self.kept(columns, others, inputs[0])
            case op.LookUp(_, column, queries):
                chosen = [list(operation.rows_of(query)) for query in range(queries)]
                return indexed(self.operand(inputs[0]), f"{chosen}, {column}")
            case op.Stack():
                rows = [
                    self.operand(v) if len(v.shape) > 1 else indexed(self.vector(v), "None")
                    for v in inputs
                ]
                return self.joined(rows, 0)
        moves = list(operation.moves(*[value.shape for value in inputs]))
        if moves and moves[0].to == EVERYWHERE:
            own, of = inputs[moves[0].operand], moves[0].of
            return indexed(self.vector(own), places(of)) if of else self.operand(own)
        lines = [f"{{}} = {self.zeros(output.shape)}"]
        for operand, of, to in moves:
            moved = self.vector(inputs[operand])
            moved = indexed(moved, places(of)) if of else moved
            lines.append(f"{{}}[{places(to)}] = {moved.text}")
        return Statements(tuple(lines))

    def spread(self, height: int, width: int, groups: Value) -> Snippet:
        """The number of each group for its entries; of one row or column, the library does it."""
        found, repeat = self.operand(groups), self.words.repeat
        for axis, (size, times) in enumerate(zip(groups.shape, (height, width), strict=True)):
            if size > 1 and times > 1:
                found = method(found, repeat, str(times), self.axis(axis))
        return found

    def kept(self, columns: tuple[tuple[int, ...], ...], others: Decimal, of: Value) -> Snippet:
        """The chosen columns of each row: the largest ones, if no number is as large as them."""
        x, module = self.operand(of), self.words.module
        other = f"-{module}.inf" if others.is_infinite() else number(others).text
        (top, *_) = counts = {len(own) for own in columns}
        if not self.reads_numbers or (len(counts) == 1 and _are_largest(columns, of)):
            if module == "torch":
                least = f"{x.text}.topk({top}, dim=1).values[:, [-1]]"
            else:
                least = f"np.sort({x.text}, axis=1)[:, [-{top}]]"
            chosen = f"{x.text} >= {least}"
        else:
            width = of.shape[1]
            listed = [[column in own for column in range(width)] for own in columns]
            chosen = f"{self.words.array}({listed})"
        return Snippet(f"{module}.where({chosen}, {x.text}, {other})")


def _are_largest(columns: tuple[tuple[int, ...], ...], of: Value) -> bool:
    """Whether the chosen entries of each row are those that are as large as the least of them."""
    return all(
        set(own) == {j for j, entry in enumerate(row) if entry >= min(row[list(own)])}
        for own, row in zip(columns, of.numbers, strict=True)
    )


def places(where: Where) -> str:
    """A NumPy index as it is typed."""
    return ", ".join(map(_place, where))


def _place(at: Places) -> str:
    if isinstance(at, tuple):
        return str(list(at))
    if isinstance(at, int):
        return str(at)
    start, stop = ("" if end is None else str(end) for end in (at.start, at.stop))
    step = "" if at.step is None else f":{at.step}"
    return f"{'' if start == '0' else start}:{stop}{step}"


def column_of(vector: Snippet) -> Snippet:
    """A vector as a column."""
    return indexed(vector, ":, None")
