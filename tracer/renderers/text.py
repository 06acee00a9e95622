"""Expressions and names as one line of plain text: (a×b + c×d) / √2."""

from __future__ import annotations

from decimal import Decimal
from typing import assert_never

from tracer.expression import (
    Brackets,
    Call,
    Difference,
    Exponential,
    Expression,
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
)

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

SUM, PRODUCT, POWER, ATOM = range(4)
"""How tightly an expression binds; a looser one inside a tighter one is put in parentheses."""


def text(expression: Expression) -> str:
    """An expression as text."""
    return _text(expression)[0]


def number_text(number: Number) -> str:
    """A number with its digits, as a power of ten where it is very large or very small."""
    value = number.value
    if value.is_infinite():
        return "-∞" if value < 0 else "∞"
    if not is_scientific(value):
        return format(value, "f")
    digits = "".join(map(str, value.as_tuple().digits))
    mantissa = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
    sign = "-" if value < 0 else ""
    return f"{sign}{mantissa}×10{str(value.adjusted()).translate(SUPERSCRIPTS)}"


def is_scientific(value: Decimal) -> bool:
    """Whether a number is written with a power of ten: 2.1×10⁻⁵, 1.069×10¹³."""
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return bool(value) and (exponent > 0 or value.adjusted() < -4)


def name_text(name: str) -> str:
    """A token or label in one line: nothing is lost, and nothing acts on the terminal.

    What cannot be printed is written as an escape, a space at either end as ␣.
    """
    inner = name.strip(" ")
    before = len(name) - len(name.lstrip(" ")) if inner else len(name)
    after = len(name) - before - len(inner)
    visible = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in inner
    )
    return "␣" * before + visible + "␣" * after or '""'


def _text(expression: Expression) -> tuple[str, int]:
    """The text, and how tightly it binds."""
    match expression:
        case Number(value):
            loose = value.is_signed() or (value.is_finite() and is_scientific(value))
            return number_text(expression), SUM if loose else ATOM
        case Rest(terms, total):
            return f"[{terms} more: {number_text(total)}]", ATOM
        case Symbol(base, below, above):
            return _symbol(base, below, above), ATOM
        case Sum(terms):
            return " ".join(_summands(terms)), SUM
        case Difference(left, right):
            return f"{_in(left, SUM, first=True)} - {_in(right, PRODUCT)}", SUM
        case Product(factors):
            return "×".join(_in(factor, POWER) for factor in factors), PRODUCT
        case Quotient(over, under):
            return f"{_in(over, PRODUCT, first=True)} / {_in(under, POWER)}", PRODUCT
        case Power(base, Number(two)) if two == 2:
            return f"{_in(base, ATOM)}²", POWER
        case Power(base, exponent):
            return f"{_in(base, ATOM)}^{_in(exponent, ATOM)}", POWER
        case Root(of):
            return f"√{_in(of, ATOM)}", POWER
        case Exponential(exponent):
            return f"e^{_in(exponent, ATOM)}", POWER
        case Call(name, arguments):
            return f"{name}({', '.join(map(text, arguments))})", ATOM
        case Negative(of):
            return f"-{_in(of, PRODUCT)}", SUM
        case MatrixProduct(left, right):
            return f"{_in(left, PRODUCT)} · {_in(right, POWER)}", PRODUCT
        case Transposed(of):
            return f"{_in(of, ATOM)}ᵀ", POWER
        case Brackets(items):
            return f"[{' '.join(map(text, items))}]", ATOM
        case _:
            assert_never(expression)


def _in(expression: Expression, tightness: int, *, first: bool = False) -> str:
    """An operand; a negative number that comes first needs no parentheses."""
    inner, binds = _text(expression)
    bare = binds >= tightness or (first and isinstance(expression, Number))
    return inner if bare else f"({inner})"


def _summands(terms: tuple[Expression, ...]) -> list[str]:
    """a + b - c: a sum of plain numbers takes their signs as its own."""
    plain = all(isinstance(term, Number) and term.value.is_finite() for term in terms)
    written = [_in(terms[0], PRODUCT, first=True)]
    for term in terms[1:]:
        if plain and isinstance(term, Number) and term.value < 0 and len(terms) > 2:
            written += ["-", text(Number(-term.value))]
        else:
            written += ["+", _in(term, PRODUCT)]
    return written


def _symbol(base: str, below: str, above: str) -> str:
    lower = below.translate(SUBSCRIPTS) if below.isdigit() else f"_{below}" if below else ""
    return base + lower + above.translate(SUPERSCRIPTS)
