"""Python expressions as text, with brackets where the precedence of operators needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum


class Binds(IntEnum):
    """How tightly the outermost operator of an expression binds."""

    SUM = 0
    PRODUCT = 1
    SIGN = 2
    POWER = 3
    ATOM = 4


@dataclass(frozen=True)
class Snippet:
    """An expression; `is_number` says that it is a Python number, not an array."""

    text: str
    binds: Binds = Binds.ATOM
    is_number: bool = False

    def within(self, least: Binds) -> str:
        """Return the text, in brackets if it binds less tightly."""
        return self.text if self.binds >= least else f"({self.text})"


def number(value: Decimal) -> Snippet:
    """Return a finite number as it is typed."""
    text = str(value if value else abs(value))
    return Snippet(text, Binds.SIGN if text.startswith("-") else Binds.ATOM, is_number=True)


def added(terms: Sequence[Snippet]) -> Snippet:
    """a + b + …"""
    if len(terms) == 1:
        return terms[0]
    text = " + ".join(term.within(Binds.SUM) for term in terms)
    return Snippet(text, Binds.SUM, all(term.is_number for term in terms))


def subtracted(left: Snippet, right: Snippet) -> Snippet:
    """a - b."""
    text = f"{left.within(Binds.SUM)} - {right.within(Binds.PRODUCT)}"
    return Snippet(text, Binds.SUM, left.is_number and right.is_number)


def multiplied(factors: Sequence[Snippet], operator: str = "*") -> Snippet:
    """a * b * …, or a @ b."""
    first, *rest = factors
    texts = [first.within(Binds.PRODUCT), *(factor.within(Binds.SIGN) for factor in rest)]
    is_number = all(factor.is_number for factor in factors)
    return Snippet(f" {operator} ".join(texts), Binds.PRODUCT, is_number)


def divided(over: Snippet, under: Snippet) -> Snippet:
    """a / b."""
    return multiplied([over, under], "/")


def raised(base: Snippet, exponent: Snippet) -> Snippet:
    """a**b, with spaces if one of them is more than a name or a number."""
    is_short = base.binds is Binds.ATOM and exponent.binds is Binds.ATOM
    operator = "**" if is_short else " ** "
    text = f"{base.within(Binds.ATOM)}{operator}{exponent.within(Binds.SIGN)}"
    return Snippet(text, Binds.POWER, base.is_number and exponent.is_number)


def negative(of: Snippet) -> Snippet:
    """-a."""
    return Snippet(f"-{of.within(Binds.SIGN)}", Binds.SIGN, of.is_number)


def called(function: str, *arguments: Snippet | str) -> Snippet:
    """f(a, b)."""
    texts = [each if isinstance(each, str) else each.text for each in arguments]
    is_number = all(isinstance(each, Snippet) and each.is_number for each in arguments)
    return Snippet(f"{function}({', '.join(texts)})", Binds.ATOM, is_number)


def method(of: Snippet, name: str, *arguments: str) -> Snippet:
    """a.f(b)."""
    return Snippet(f"{of.within(Binds.ATOM)}.{name}({', '.join(arguments)})")


def transposed(of: Snippet) -> Snippet:
    """a.T."""
    return Snippet(f"{of.within(Binds.ATOM)}.T")


def indexed(of: Snippet, places: str) -> Snippet:
    """a[…]."""
    return Snippet(f"{of.within(Binds.ATOM)}[{places}]")
