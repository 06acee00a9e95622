"""Expressions and names as one line of plain text: (a×b + c×d) / √2."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tracer.formula.expression import (
    Blank,
    Expression,
    Number,
    Partial,
    Product,
    Quotient,
    Rest,
    Symbol,
)
from tracer.formula.numbers import trimmed
from tracer.lesson.document import Cell, Name, Percent
from tracer.renderers.notation import Binding, Notation, decimals, is_scientific

SUPERSCRIPTS = str.maketrans("0123456789-+E", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᴱ")
PICTURE = "[\u2600-\u27bf\U0001f000-\U0001faff]"
JOINED = re.compile(f"{PICTURE}\ufe0f?\u200d(?={PICTURE})")
"""A picture with the sign behind it that joins it to the next."""
CLUSTERS = re.compile(
    "(?:[\U0001f1e6-\U0001f1ff]){2}|.[\u0300-\u036f\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]*"
    "(?:\u200d.[\ufe0f\U0001f3fb-\U0001f3ff]*)*"
)
"""What is one picture to the reader: a letter with its accents, a flag, a family."""

ROOM, BEFORE_POINT = "_" * 5, "_" * 3
"""For a whole number, where one is left out; for what stands before decimals."""

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class TextNotation(Notation):
    """×, √, ² and indices as characters."""

    times, dot, pi = "×", " · ", "π"

    def number(self, number: Number) -> str:
        value = number.value
        plain = str(value)
        if "0.0000" not in plain and "E" not in plain and "y" not in plain:
            return plain  # most numbers, and quickly: no power of ten, and no Infinity
        if value.is_infinite():
            return "-∞" if value < 0 else "∞"
        if not is_scientific(value):
            return format(value, "f")
        digits = "".join(map(str, value.as_tuple().digits))
        mantissa = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
        sign = "-" if value < 0 else ""
        return f"{sign}{mantissa}×10{str(value.adjusted()).translate(SUPERSCRIPTS)}"

    def blank(self, blank: Blank) -> str:
        answer = blank.answer
        inside = f" {self.number(answer)}" if blank.filled else self._room(answer)
        return f"[{blank.number}:{inside}]"

    def _room(self, answer: Number) -> str:
        value, behind = answer.value, decimals(answer.value)
        room = f"{BEFORE_POINT}.{'_' * behind}" if behind else ROOM
        return f"{room}{self.times}10^__" if is_scientific(value) else room

    def symbol(self, symbol: Symbol) -> str:
        below = symbol.below
        lower = below.translate(SUBSCRIPTS) if below.isdigit() else f"_{below}" if below else ""
        return symbol.base + lower + symbol.above.translate(SUPERSCRIPTS)

    def rest(self, rest: Rest) -> str:
        return f"[{rest.terms} more: {self.number(rest.total)}]"

    def quotient(self, quotient: Quotient) -> tuple[str, Binding]:
        over, under = quotient.over, quotient.under
        # (a×b) / c: with the parentheses nobody asks whether c divides b alone.
        tight = Binding.POWER if isinstance(over, Product | Partial) else Binding.PRODUCT
        first = self.inside(over, tight, first=True)
        return f"{first} / {self.inside(under, Binding.POWER)}", Binding.PRODUCT

    def raised(self, base: str, exponent: Expression) -> str:
        if isinstance(exponent, Number) and str(exponent.value) in ("2", "3"):
            return base + ("²" if exponent.value == 2 else "³")
        return f"{base}^{self.inside(exponent, Binding.ATOM)}"

    def root(self, of: Expression) -> str:
        return f"√{self.inside(of, Binding.ATOM)}"

    def call(self, name: str, arguments: Sequence[str]) -> str:
        return f"{name}({', '.join(arguments)})"

    def transposed(self, of: str) -> str:
        return f"{of}ᵀ"

    def brackets(self, items: Sequence[str]) -> str:
        return f"[{' '.join(items)}]"

    def sized(self, of: str, shape: Sequence[int]) -> str:
        return f"{of} ({' × '.join(map(str, shape))})"

    def partial(self, of: str, over: str) -> tuple[str, Binding]:
        return f"∂{over}/∂{of}", Binding.PRODUCT


_TEXT = TextNotation()

text = _TEXT.write
"""An expression as text."""

number_text = _TEXT.number
"""A number with its digits, as a power of ten where it is very large or very small."""


def in_percent(share: Percent) -> Number | Blank:
    """What stands before the sign %: of a blank too it is a hundred times the share."""
    match share.number:
        case Blank(number, answer):
            return Blank(number, _hundredfold(answer))
        case number:
            return _hundredfold(number)


def _hundredfold(number: Number) -> Number:
    return Number(trimmed(number.value * 100))


def cell_text(cell: Cell) -> str:
    """What stands in a table, in one line."""
    return name_text(cell.text) if isinstance(cell, Name) else text(cell)


def name_text(name: str) -> str:
    """A token or label in one line: nothing is lost, and nothing acts on the terminal.

    What cannot be printed is written as an escape, a space at either end as ␣. Signs that are
    joined into one picture (👩‍👧) stay so.
    """
    inner = name.strip(" ")
    if inner == name and name.isprintable() and name:
        return name  # most names
    before = len(name) - len(name.lstrip(" ")) if inner else len(name)
    after = len(name) - before - len(inner)
    joined = {match.end() - 1 for match in JOINED.finditer(inner)}
    visible = "".join(
        c if c.isprintable() or i in joined else c.encode("unicode_escape").decode("ascii")
        for i, c in enumerate(inner)
    )
    return "␣" * before + visible + "␣" * after or '""'
