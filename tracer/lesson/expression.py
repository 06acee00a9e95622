"""Arithmetic as a person writes it: what is printed, and what it comes to.

An expression holds numbers with just the digits that are printed, so its value is the value of
the printed line. Symbols, matrix products and brackets stand in formulas and have no value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact, Overflow, localcontext
from typing import Literal, NamedTuple, TypeAlias, assert_never

from tracer.decoder.normal import PI, normal
from tracer.decoder.value import Value
from tracer.node import Node
from tracer.scenario.rounding import CONTEXT, round_half_away

DOUBTFUL_DIGITS = 10
"""The last digits of a power that may be off."""


Index: TypeAlias = tuple[int, ...]

Function: TypeAlias = Literal["sin", "cos", "ln", "max", "Φ", "ReLU′"]
"""Functions of numbers."""

InSymbols: TypeAlias = Literal[
    "sum",
    "mean",
    "largest",
    "rotate",
    "rotate back",
    "sum over tokens",
    "sum by word",
    "FFN",
    "Attention",
]
"""Functions of matrices, which stand in formulas and have no value."""


class Entry(NamedTuple):
    """One number of a trace: a value at an index."""

    value: Value
    at: Index


@dataclass(eq=False, repr=False)
class Number(Node):
    """A number with its printed digits; -∞ is one too.

    One that is taken from the trace knows the value that it is taken from, and at which index.
    """

    value: Decimal
    origin: Value | None = None
    at: Index = ()

    @property
    def entry(self) -> Entry | None:
        """Its entry in the trace, if it is taken from there."""
        return None if self.origin is None else Entry(self.origin, self.at)

    def _parts(self) -> tuple[Decimal]:
        """Where it was taken from makes no difference."""
        return (self.value,)

    @staticmethod
    def of(number: int) -> Number:
        """A whole number that belongs to a formula."""
        return Number(Decimal(number))

    @property
    def places(self) -> int:
        """Decimals printed; negative for 1.07×10¹³."""
        exponent = self.value.as_tuple().exponent
        return -exponent if isinstance(exponent, int) else 0


@dataclass(eq=False, repr=False)
class Blank(Node):
    """A number that a worksheet leaves out: which of its blanks it is, and what belongs there.

    In the key it is filled.
    """

    number: int
    answer: Number
    filled: bool = False


@dataclass(eq=False, repr=False)
class Rest(Node):
    """The terms of a long sum that are not written out: how many, and what they come to."""

    terms: int
    total: Number
    hidden: Callable[[], list[Entry]] | None = None
    """The entries that they are made of."""

    def _parts(self) -> tuple[int, Number]:
        return (self.terms, self.total)


@dataclass(eq=False, repr=False)
class Pi(Node):
    """π, which has no end."""


@dataclass(eq=False, repr=False)
class Symbol(Node):
    """A name such as W_Q¹: a base with an index below and one above."""

    base: str
    below: str = ""
    above: str = ""


@dataclass(eq=False, repr=False)
class Sum(Node):
    """a + b + …"""

    terms: tuple[Expression, ...]


@dataclass(eq=False, repr=False)
class Difference(Node):
    """a - b."""

    left: Expression
    right: Expression


@dataclass(eq=False, repr=False)
class Product(Node):
    """a×b."""

    factors: tuple[Expression, ...]


@dataclass(eq=False, repr=False)
class Quotient(Node):
    """a / b."""

    over: Expression
    under: Expression


@dataclass(eq=False, repr=False)
class Power(Node):
    """a^b."""

    base: Expression
    exponent: Expression


@dataclass(eq=False, repr=False)
class Root(Node):
    """√a."""

    of: Expression


@dataclass(eq=False, repr=False)
class Exponential(Node):
    """e^a."""

    exponent: Expression


@dataclass(eq=False, repr=False)
class Call(Node):
    """A function by its name: sin(a), max(a, b)."""

    name: Function | InSymbols
    arguments: tuple[Expression, ...]


@dataclass(eq=False, repr=False)
class Negative(Node):
    """-a, of what is no plain number."""

    of: Expression


@dataclass(eq=False, repr=False)
class MatrixProduct(Node):
    """A · B, in formulas."""

    left: Expression
    right: Expression


@dataclass(eq=False, repr=False)
class Transposed(Node):
    """Aᵀ, in formulas."""

    of: Expression


@dataclass(eq=False, repr=False)
class Brackets(Node):
    """[a b …]: columns side by side, in formulas."""

    items: tuple[Expression, ...]


@dataclass(eq=False, repr=False)
class Sized(Node):
    """A (4 × 2), in formulas: a symbol with the shape of what it stands for."""

    of: Expression
    shape: tuple[int, ...]


LOSS: Symbol = Symbol("L")


@dataclass(eq=False, repr=False)
class Partial(Node):
    """∂L/∂A, in formulas; of the loss of one example of a batch, ∂L₂/∂A."""

    of: Expression
    over: Symbol = LOSS


Expression: TypeAlias = (
    Number
    | Blank
    | Rest
    | Pi
    | Symbol
    | Sum
    | Difference
    | Product
    | Quotient
    | Power
    | Root
    | Exponential
    | Call
    | Negative
    | MatrixProduct
    | Transposed
    | Brackets
    | Sized
    | Partial
)

Relation: TypeAlias = Literal["=", "≈"]


@dataclass(eq=False, repr=False)
class Chain(Node):
    """side = side ≈ side …: one relation fewer than sides."""

    sides: tuple[Expression, ...]
    relations: tuple[Relation, ...]


def total_of(terms: Iterable[Decimal]) -> Decimal:
    """A sum with more digits than are ever printed."""
    with localcontext(CONTEXT):
        return sum(terms, Decimal(0))


def value(expression: Expression) -> tuple[Decimal, bool]:
    """What an expression comes to, and whether that is exact rather than cut off somewhere.

    A number beyond all bounds is ∞, and nothing is left of what is divided by it.

    Raises:
        ValueError: it holds a symbol or a matrix.
    """
    with localcontext(CONTEXT) as context:
        context.clear_flags()
        context.traps[Overflow] = False
        result = _value(expression, context)
        return result, not context.flags[Inexact]


def _value(expression: Expression, context: Context) -> Decimal:
    match expression:
        case Number():
            return expression.value
        case Blank(_, answer):
            return answer.value
        case Product(factors):
            return math.prod([_value(factor, context) for factor in factors], start=Decimal(1))
        case Sum(terms):
            return sum([_value(term, context) for term in terms], Decimal(0))
        case Rest(_, total):
            return total.value
        case Pi():
            context.flags[Inexact] = True
            return PI
        case Difference(left, right):
            return _value(left, context) - _value(right, context)
        case Quotient(over, under):
            dividend = _value(over, context)
            # Nothing divided by anything is nothing, exactly: also by √2.
            return dividend / _value(under, context) if dividend else dividend
        case Power(base, Quotient(Number(p), Number(q))):
            return _root_of_power(_value(base, context), p, q)
        case Power(base, exponent):
            return _value(base, context) ** _value(exponent, context)
        case Root(of):
            return _value(of, context).sqrt()
        case Exponential(exponent):
            return _value(exponent, context).exp()
        case Negative(of):
            return -_value(of, context)
        case Call(name, arguments):
            return _called(name, [_value(argument, context) for argument in arguments], context)
        case Symbol() | MatrixProduct() | Transposed() | Brackets() | Sized() | Partial():
            raise ValueError(f"{expression} has no value")
        case _:
            assert_never(expression)


def _called(name: Function | InSymbols, of: list[Decimal], context: Context) -> Decimal:
    match name:
        case "max":
            return max(of)
        case "ln":
            return of[0].ln()
        case "sin" | "cos":
            return _wave(name, of[0], context)
        case "Φ":
            context.flags[Inexact] |= bool(of[0])
            return normal(of[0])
        case "ReLU′":
            return Decimal(1 if of[0] > 0 else 0)
        case "sum" | "mean" | "largest" | "rotate" | "rotate back" | "FFN" | "Attention":
            raise ValueError(f"{name} has no value")
        case "sum over tokens" | "sum by word":
            raise ValueError(f"{name} has no value")
        case _:
            assert_never(name)


def _root_of_power(base: Decimal, p: Decimal, q: Decimal) -> Decimal:
    """base^(p/q); 10000^(2/4) is 100 exactly, which a Decimal's power does not notice."""
    with localcontext(rounding=ROUND_HALF_EVEN) as inner:
        power = base ** (p / q)
        inner.prec -= DOUBTFUL_DIGITS
        short = +power
    with localcontext() as inner:
        inner.clear_flags()
        if short**q == base**p and not inner.flags[Inexact]:
            return short
    return base ** (p / q)


def _wave(name: str, angle: Decimal, context: Context) -> Decimal:
    if not angle:
        return Decimal(0 if name == "sin" else 1)
    # Decimals have no sine; that of the nearest float is right to far more digits than are printed.
    context.flags[Inexact] = True
    return Decimal(repr(math.sin(angle) if name == "sin" else math.cos(angle)))


def entries_in(expression: Expression) -> Iterator[Entry]:
    """The entries that an expression puts in, from left to right, also those not written out."""
    match expression:
        case Number():
            if expression.entry:
                yield expression.entry
        case Blank(_, answer):
            yield from entries_in(answer)
        case Rest():
            yield from expression.hidden() if expression.hidden else ()
        case Sum(parts) | Product(parts) | Call(_, parts) | Brackets(parts):
            for part in parts:
                yield from entries_in(part)
        case Difference(a, b) | Quotient(a, b) | Power(a, b) | MatrixProduct(a, b):
            yield from entries_in(a)
            yield from entries_in(b)
        case Root(of) | Exponential(of) | Negative(of) | Transposed(of) | Sized(of) | Partial(of):
            yield from entries_in(of)
        case Symbol() | Pi():
            return
        case _:
            assert_never(expression)


def product(factors: tuple[Number, Number]) -> Decimal:
    """What a product comes to."""
    return CONTEXT.multiply(factors[0].value, factors[1].value)


def relation(left: Expression, right: Expression) -> Relation:
    """`=` where each part of `left` is the same in `right` or replaced by its exact value."""
    return "=" if _same(left, right) else "≈"


def _same(left: Expression, right: Expression) -> bool:
    if left == right or isinstance(left, Symbol):
        return True
    match left, right:
        case _, Number(number):
            result, exact = value(left)
            return exact and result == number
        case (Sum(a), Sum(b)) | (Product(a), Product(b)) | (Call(_, a), Call(_, b)):
            return len(a) == len(b) and all(map(_same, a, b))
        case (
            (Quotient(a, b), Quotient(c, d))
            | (Difference(a, b), Difference(c, d))
            | (Power(a, b), Power(c, d))
        ):
            return _same(a, c) and _same(b, d)
        case (Negative(a), Negative(b)) | (Root(a), Root(b)) | (Exponential(a), Exponential(b)):
            return _same(a, b)
        case Rest(_, a), Rest(_, b):
            return a.value == b.value
        case _:
            return False


def holds(left: Expression, right: Number) -> bool:
    """Whether `right` is `left`, correctly rounded to the digits it shows."""
    return round_half_away(value(left)[0], right.places) == right.value
