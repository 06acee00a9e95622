"""Formulas and symbols as MathML, which browsers set by themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from operator import add

from tracer.formula import expression as ex
from tracer.renderers.notation import Binding, Notation
from tracer.renderers.text import text


def _sign(sign: str) -> str:
    return f"<mo>{sign}</mo>"


def _row(inner: str) -> str:
    return f"<mrow>{inner}</mrow>"


class MathmlNotation(Notation):
    """Elements; quotients as fractions."""

    times, dot, plus, minus = map(_sign, "×·+−")
    pi, euler = "<mi>π</mi>", "<mi>e</mi>"

    def number(self, number: ex.Number) -> str:
        value = number.value
        sign, size = (self.minus, -value) if value.is_signed() else ("", value)
        mantissa, times, power = super().number(ex.Number(size)).partition(self.times)
        return f"{sign}<mn>{mantissa}</mn>{times}{power}"

    def ten_to(self, exponent: int) -> str:
        return f"<msup><mn>10</mn>{_row(f'<mn>{exponent}</mn>')}</msup>"

    def blank(self, blank: ex.Blank) -> str:
        return f"<mtext>{text(blank)}</mtext>"

    def symbol(self, symbol: ex.Symbol) -> str:
        base = _word(symbol.base)
        below, above = _word(symbol.below), _word(symbol.above)
        if symbol.below and symbol.above:
            return f"<msubsup>{base}{below}{above}</msubsup>"
        if symbol.below:
            return f"<msub>{base}{below}</msub>"
        return f"<msup>{base}{above}</msup>" if symbol.above else base

    def rest(self, rest: ex.Rest) -> str:
        return f"<mtext>[{rest.terms} more: </mtext>{self.number(rest.total)}<mtext>]</mtext>"

    def quotient(self, quotient: ex.Quotient) -> tuple[str, Binding]:
        over, under = self.write(quotient.over), self.write(quotient.under)
        return f"<mfrac>{_row(over)}{_row(under)}</mfrac>", Binding.ATOM

    def raised(self, base: str, exponent: ex.Expression) -> str:
        return f"<msup>{_row(base)}{_row(self.write(exponent))}</msup>"

    def root(self, of: ex.Expression) -> str:
        return f"<msqrt>{self.write(of)}</msqrt>"

    def enclosed(self, inner: str) -> str:
        grows = "" if "<mfrac>" in inner else ' stretchy="false"'  # an index is no reason to grow
        return f"<mo{grows}>(</mo>{inner}<mo{grows}>)</mo>"

    def call(self, name: str, arguments: Sequence[str]) -> str:
        return _word(name) + self.enclosed(_sign(",").join(arguments))

    def transposed(self, of: str) -> str:
        return f"<msup>{_row(of)}<mi>⊤</mi></msup>"

    def brackets(self, items: Sequence[str]) -> str:
        inner = '<mspace width="0.4em"/>'.join(items)
        return f"{_sign('[')}{inner}{_sign(']')}"

    def sized(self, of: str, shape: Sequence[int]) -> str:
        size = self.times.join(f"<mn>{n}</mn>" for n in shape)
        return f"<munder>{_row(of)}{_row(size)}</munder>"

    def partial(self, of: str, over: str) -> tuple[str, Binding]:
        parts = (_row(f"<mo>∂</mo>{part}") for part in (over, of))
        return f"<mfrac>{''.join(parts)}</mfrac>", Binding.POWER


def _word(word: str) -> str:
    """A name or a number; X′ is a letter, and so set like one."""
    if re.fullmatch("[A-Za-z]′+", word):
        return _row(f"<mi>{word[0]}</mi>{_sign(word[1:])}")
    return f"<mn>{word}</mn>" if re.fullmatch("[0-9]+", word) else f"<mi>{escape(word)}</mi>"


_MATHML = MathmlNotation()


def symbol(expression: ex.Expression) -> str:
    """An expression in a sentence or a table."""
    return f"<math>{_MATHML.write(expression)}</math>"


def formula(chain: ex.Chain) -> str:
    """A chain in symbols, as a display."""
    relations = ["", *map(_sign, chain.relations)]
    written = map(_MATHML.write, chain.sides)
    return f'<math display="block">{"".join(map(add, relations, written))}</math>'
