"""Expressions as one line of plain text, (a×b + c×d) / √2, or with another format's signs.

A format overrides how numbers, symbols and operators look; parentheses are decided here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from enum import IntEnum
from typing import assert_never

from tracer.formula import expression as ex
from tracer.formula.numbers import PLAIN_ZEROS


class Binding(IntEnum):
    """How tightly an expression binds; inside a tighter one it gets parentheses."""

    SUM = 0
    PRODUCT = 1
    POWER = 2
    ATOM = 3


SUM, PRODUCT, POWER, ATOM = Binding


def is_scientific(value: Decimal) -> bool:
    """Whether a number is written with a power of ten: 2.1×10⁻⁵, 1.069×10¹³."""
    if not value or -PLAIN_ZEROS <= value.adjusted() <= 0:
        return False
    exponent = value.as_tuple().exponent
    return value.adjusted() < 0 or (isinstance(exponent, int) and exponent > 0)


def decimals(value: Decimal) -> int:
    """The number of digits after the point; in a power of ten, of its mantissa."""
    exponent = value.as_tuple().exponent
    behind = -exponent if isinstance(exponent, int) else 0
    return behind + value.adjusted() if is_scientific(value) else behind


def _number_binds(value: Decimal) -> Binding:
    if value.is_signed():
        return SUM
    return PRODUCT if value.is_finite() and is_scientific(value) else ATOM


SUPERSCRIPTS = str.maketrans("0123456789-+Ees()L", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᴱᵉˢ⁽⁾ᴸ")
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class Notation:
    """The signs of plain text: ×, √, ² and indices as characters. Other formats override them."""

    times, dot, pi, euler, infinity = "×", " · ", "π", "e", "∞"
    plus, minus = "+", "-"
    room = "_" * 5
    """A blank for a whole number."""
    before_point, digit = "_" * 3, "_"
    """The blanks before the decimal point and for each decimal."""
    power_of_ten = "10^__"

    def number(self, number: ex.Number) -> str:
        """A number with its digits, as a power of ten where it is very large or very small."""
        value = number.value
        plain = str(value)
        if "0.0000" not in plain and "E" not in plain and "y" not in plain:
            return plain  # most numbers, and quickly: no power of ten, and no Infinity
        sign = "-" if value < 0 else ""
        if value.is_infinite():
            return f"{sign}{self.infinity}"
        if not is_scientific(value):
            return format(value, "f")
        digits = "".join(map(str, value.as_tuple().digits))
        mantissa = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
        return f"{sign}{mantissa}{self.times}{self.ten_to(value.adjusted())}"

    def ten_to(self, exponent: int) -> str:
        """A power of ten in a number."""
        return f"10{str(exponent).translate(SUPERSCRIPTS)}"

    def blank(self, blank: ex.Blank) -> str:
        """Room for a number, or in the key the number, after the number of the blank."""
        inside = f" {self.number(blank.answer)}" if blank.filled else self.room_for(blank.answer)
        return f"[{blank.number}:{inside}]"

    def room_for(self, answer: ex.Number) -> str:
        """Room for a number, with its number of decimals."""
        behind = decimals(answer.value)
        room = f"{self.before_point}.{self.digit * behind}" if behind else self.room
        return f"{room}{self.times}{self.power_of_ten}" if is_scientific(answer.value) else room

    def symbol(self, symbol: ex.Symbol) -> str:
        """A base with an index below and one above."""
        below = symbol.below
        lower = below.translate(SUBSCRIPTS) if below.isdigit() else f"_{below}" if below else ""
        return symbol.base + lower + symbol.above.translate(SUPERSCRIPTS)

    def rest(self, rest: ex.Rest) -> str:
        """The terms of a sum that are not written out."""
        return f"[{rest.terms} more: {self.number(rest.total)}]"

    def quotient(self, quotient: ex.Quotient) -> tuple[str, Binding]:
        """a / b."""
        over, under = quotient.over, quotient.under
        # (a×b) / c: with the parentheses nobody asks whether c divides b alone.
        tight = POWER if isinstance(over, ex.Product | ex.Partial) else PRODUCT
        first = self.inside(over, tight, first=True)
        return f"{first} / {self.inside(under, POWER)}", PRODUCT

    def raised(self, base: str, exponent: ex.Expression) -> str:
        """A base, in parentheses where it needs them, to a power."""
        if isinstance(exponent, ex.Number) and str(exponent.value) in ("2", "3"):
            return base + ("²" if exponent.value == 2 else "³")
        return f"{base}^{self.inside(exponent, ATOM)}"

    def root(self, of: ex.Expression) -> str:
        """√a."""
        return f"√{self.inside(of, ATOM)}"

    def enclosed(self, inner: str) -> str:
        """Something in parentheses."""
        return f"({inner})"

    def call(self, name: str, arguments: Sequence[str]) -> str:
        """A function by its name."""
        return f"{name}({', '.join(arguments)})"

    def transposed(self, of: str) -> str:
        """Aᵀ."""
        return f"{of}ᵀ"

    def brackets(self, items: Sequence[str]) -> str:
        """Matrices side by side."""
        return f"[{' '.join(items)}]"

    def sized(self, of: str, shape: Sequence[int]) -> str:
        """A symbol with its shape."""
        return f"{of} ({' × '.join(map(str, shape))})"

    def partial(self, of: str, over: str) -> tuple[str, Binding]:
        """∂L/∂A."""
        return f"∂{over}/∂{of}", PRODUCT

    def write(self, expression: ex.Expression) -> str:
        """An expression as one line."""
        if isinstance(expression, ex.Number):  # as most are: nobody asks how tightly it binds
            return self.number(expression)
        return self.bound(expression)[0]

    def bound(self, expression: ex.Expression) -> tuple[str, Binding]:
        """The line, and how tightly it binds."""
        match expression:
            case ex.Product(factors):
                return self.times.join([self.inside(each, POWER) for each in factors]), PRODUCT
            case ex.Number():
                return self.number(expression), _number_binds(expression.value)
            case ex.Blank():
                return self.blank(expression), ATOM
            case ex.Rest():
                return self.rest(expression), ATOM
            case ex.Pi():
                return self.pi, ATOM
            case ex.Symbol():
                return self.symbol(expression), ATOM
            case ex.Sum(terms):
                return " ".join(self._summands(terms)), SUM
            case ex.Difference(left, right):
                first = self.inside(left, SUM, first=True)
                return f"{first} {self.minus} {self.inside(right, PRODUCT)}", SUM
            case ex.Quotient():
                return self.quotient(expression)
            case ex.Power(base, exponent):
                return self.raised(self._base(base), exponent), POWER
            case ex.Root(of):
                return self.root(of), POWER
            case ex.Exponential(exponent):
                return self.raised(self.euler, exponent), POWER
            case ex.Call(name, arguments):
                return self.call(name, [self.write(a) for a in arguments]), ATOM
            case ex.Negative(of):
                return f"{self.minus}{self.inside(of, PRODUCT)}", SUM
            case ex.MatrixProduct(left, right):
                binding = PRODUCT if isinstance(right, ex.Partial) else POWER
                first = self.inside(left, PRODUCT)
                return f"{first}{self.dot}{self.inside(right, binding)}", PRODUCT
            case ex.Transposed(of):
                return self.transposed(self.inside(of, ATOM)), POWER
            case ex.Brackets(items):
                return self.brackets([self.write(item) for item in items]), ATOM
            case ex.Sized(of, shape):
                binding = PRODUCT if isinstance(of, ex.Partial) else POWER
                return self.sized(self.inside(of, binding), shape), ATOM
            case ex.Partial(of, over):
                return self.partial(self.inside(of, ATOM), self.symbol(over))
            case ex.Operand() | ex.Part() | ex.Subtotal():
                raise TypeError(f"{expression} stands in a formula, for what is put in there")
            case _:
                assert_never(expression)

    def _base(self, base: ex.Expression) -> str:
        """A base; a symbol with an upper index gets parentheses, since that looks like a power."""
        inner = self.inside(base, ATOM)
        return self.enclosed(inner) if isinstance(base, ex.Symbol) and base.above else inner

    def inside(self, expression: ex.Expression, binding: Binding, *, first: bool = False) -> str:
        """An operand; a negative number that comes first needs no parentheses."""
        if isinstance(expression, ex.Number):  # as most are
            inner = self.number(expression)
            bare = first or _number_binds(expression.value) >= binding
        else:
            inner, binds = self.bound(expression)
            bare = binds >= binding
        return inner if bare else self.enclosed(inner)

    def _summands(self, terms: Sequence[ex.Expression]) -> list[str]:
        """a + b - c: only a long sum of plain numbers takes their signs as its own."""
        plain = all(isinstance(term, ex.Number) and term.value.is_finite() for term in terms)
        written = [self.inside(terms[0], PRODUCT, first=True)]
        for term in terms[1:]:
            if plain and isinstance(term, ex.Number) and term.value < 0 and len(terms) > 2:
                written += [self.minus, self.write(ex.Number(-term.value, term.entry))]
            else:
                written += [self.plus, self.inside(term, PRODUCT)]
        return written


OPEN, BETWEEN, CLOSE = "\ufdd0", "\ufdd1", "\ufdd2"
"""Characters that occur in no text."""


class Marking(Notation):
    """Plain text with marked numbers between special characters, for `pieces`."""

    def __init__(self, marks: Callable[[ex.Number | ex.Rest], Sequence[str]]) -> None:
        self.marks = marks

    def number(self, number: ex.Number) -> str:
        """Return a number with its marks."""
        return self._marked(super().number(number), number)

    def rest(self, rest: ex.Rest) -> str:
        """Return the rest of a sum with its marks."""
        return self._marked(super().rest(rest), rest)

    def _marked(self, written: str, of: ex.Number | ex.Rest) -> str:
        marks = self.marks(of)
        return f"{OPEN}{BETWEEN.join([written, *marks])}{CLOSE}" if marks else written


def pieces(marked: str) -> Iterator[tuple[str, list[str]]]:
    """The text in pieces, each with its marks."""
    for part in re.split(f"{OPEN}([^{CLOSE}]*){CLOSE}", marked):
        if part:
            words, *marks = part.split(BETWEEN)
            yield words, marks
