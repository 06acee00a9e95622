"""Expressions, formulas and worked lines in LaTeX's mathematics, for paper and for pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tracer.lesson.document import Line, Working
from tracer.lesson.expression import Chain, Expression, Number, Quotient, Rest, Symbol
from tracer.renderers.lettering import GREEK, in_text, on_page, short, width
from tracer.renderers.notation import Binding, Notation, is_scientific
from tracer.renderers.rows import cells
from tracer.renderers.text import TextNotation, number_text, text
from tracer.renderers.wrapping import cut, rows

UNCUT = 1000
"""Room enough that no quotient is cut: the pieces are those of the plain text, one for one."""

SPACE = r" \; "

FUNCTIONS = {"max": r"\max", "sin": r"\sin", "cos": r"\cos", "ln": r"\ln", "Φ": r"\Phi"}
END, APART = " \\\\\n", " \\\\[4pt]\n"
"""Between rows, and below fractions, which would touch the next."""

RELATIONS = {"=": "=", "≈": r"\approx"}


class LatexNotation(Notation):
    r"""Commands; quotients as \frac, or with a slash where a line must be broken."""

    times, dot, square, cube, pi = r" \times ", r" \cdot ", "^{2}", "^{3}", r"\pi"

    def __init__(self, named: Callable[[str], str], *, fractions: bool) -> None:
        self.named, self.fractions = named, fractions

    def number(self, number: Number) -> str:
        value = number.value
        if value.is_infinite():
            return r"-\infty" if value < 0 else r"\infty"
        if not is_scientific(value):
            return format(value, "f")
        mantissa = number_text(number).partition("×")[0]
        return rf"{mantissa} \times 10^{{{value.adjusted()}}}"

    def symbol(self, symbol: Symbol) -> str:
        base = symbol.base.removesuffix("′")
        prime = "'" if symbol.base.endswith("′") else ""
        below = symbol.below if len(symbol.below) < 2 else self.named(symbol.below)
        lower = f"_{{{below}}}" if below else ""
        upper = f"^{{{symbol.above}}}" if symbol.above else ""
        return self._word(base) + prime + lower + upper

    def rest(self, rest: Rest) -> str:
        return rf"[\text{{{rest.terms} more: }} {self.number(rest.total)}]"

    def quotient(self, quotient: Quotient) -> tuple[str, Binding]:
        if self.fractions:
            over, under = self.write(quotient.over), self.write(quotient.under)
            return rf"\frac{{{over}}}{{{under}}}", Binding.ATOM
        first = self.inside(quotient.over, Binding.POWER, first=True)
        return f"{first} / {self.inside(quotient.under, Binding.POWER)}", Binding.PRODUCT

    def raised(self, base: str, exponent: Expression) -> str:
        return f"{base}^{{{LatexNotation(self.named, fractions=False).write(exponent)}}}"

    def root(self, of: Expression) -> str:
        return rf"\sqrt{{{self.write(of)}}}"

    def call(self, name: str, arguments: Sequence[str]) -> str:
        return f"{FUNCTIONS.get(name) or self._word(name)}({', '.join(arguments)})"

    def transposed(self, of: str) -> str:
        return rf"{{{of}}}^{{\top}}"

    def brackets(self, items: Sequence[str]) -> str:
        return f"[{SPACE.join(items)}]"

    def sized(self, of: str, shape: Sequence[int]) -> str:
        times = r" \times ".join(map(str, shape))
        return rf"\underset{{{times}}}{{{of}}}"

    def _word(self, word: str) -> str:
        r"""x and 2k lean, as variables do; \operatorname is not for every page."""
        if word in GREEK:
            return GREEK[word]
        if re.fullmatch("-?[0-9]*[A-Za-z]", word):
            return word
        return rf"\mathrm{{{word}}}" if word.isascii() and word.isalpha() else self.named(word)


class MeasureNotation(TextNotation):
    """Plain text about as wide as the mathematics; a fraction is as wide as its wider part."""

    times = " × "

    def __init__(self, *, fractions: bool) -> None:
        self.fractions = fractions

    def quotient(self, quotient: Quotient) -> tuple[str, Binding]:
        if not self.fractions:
            return super().quotient(quotient)
        return max(self.write(quotient.over), self.write(quotient.under), key=cells), Binding.ATOM


BROKEN = MeasureNotation(fractions=False)


class Mathematics:
    """Mathematics for one kind of reader."""

    def __init__(self, named: Callable[[str], str], letters: int, *, fractions: bool) -> None:
        """`named` writes tokens and labels; a worked line has so many `letters`.

        With `fractions`, quotients in worked lines are fractions where there is room for them.
        """
        self.in_formulas = LatexNotation(named, fractions=True)
        self.in_lines = LatexNotation(named, fractions=False)
        self.in_whole_sides = LatexNotation(named, fractions=fractions)
        self.measured = MeasureNotation(fractions=fractions)
        self.named, self.letters = named, letters

    def formula(self, chain: Chain) -> str:
        """A chain in symbols, in one line."""
        first, *rest = map(self.in_formulas.write, chain.sides)
        related = zip(chain.relations, rest, strict=True)
        return " ".join([first, *(f"{RELATIONS[relation]} {side}" for relation, side in related)])

    def lines(self, working: Working) -> str:
        """Worked lines below each other, in three columns: label, sides, result.

        A chain is broken as on a terminal; its result stands in its last row.
        """
        lines = working.lines
        labels = ["" if line.label is None else short(line.label) for line in lines]
        beside = max(map(width, labels)) + max(len(_result(line.chain)) for line in lines)
        room = self.letters - beside
        pairs = zip(labels, lines, strict=True)
        *above, last = [row for pair in pairs for row in self._rows(*pair, room)]
        return "".join(row + (APART if r"\frac" in row else END) for row in above) + last

    def _rows(self, label: str, line: Line, room: int) -> list[str]:
        """The rows of a line; a side that fits into one has its quotients as fractions."""
        chain = line.chain
        sides = chain.sides[:-1] if chain.relations else chain.sides
        plain, latex = [], []
        for relation, side in zip(["", *chain.relations], sides, strict=False):
            in_text, in_latex = self.measured.write(side), self.in_whole_sides.write(side)
            fits = cells(in_text) <= room - len("≈ ")
            if not fits:
                in_text, in_latex = BROKEN.write(side), self.in_lines.write(side)
            if relation:
                in_text, in_latex = f"{relation} {in_text}", f"{RELATIONS[relation]} {in_latex}"
            plain.append([in_text] if fits else cut(in_text, UNCUT))
            latex.append([in_latex] if fits else cut(in_latex, UNCUT))
        head = f"{self.named(f'{label}:')}\\quad " if label else ""
        written: list[str] = []
        for row in rows(plain, 0, 0, room):
            inner = r"\quad " if row[0][1] else ""
            body = _unary(" ".join(latex[side][piece] for side, piece in row))
            written.append(f"{head if not written else ''}& {inner}{body} &&")
        if chain.relations:
            relation, result = RELATIONS[chain.relations[-1]], chain.sides[-1]
            written[-1] += f" {relation} {self.in_lines.write(result)}"
        return written


def _result(chain: Chain) -> str:
    """What stands in the last column, as plain text."""
    return f"{chain.relations[-1]} {text(chain.sides[-1])}" if chain.relations else ""


def _unary(row: str) -> str:
    """A minus that begins a row belongs to its number: it is no difference."""
    return re.sub(r"^-(?! )", "{-}", row)


PAPER = Mathematics(lambda name: rf"\text{{{in_text(name)}}}", 96, fractions=False)
"""As LaTeX sets it on A4, where lines stand close."""

PAGE = Mathematics(on_page, 92, fractions=True)
"""As KaTeX and MathJax set it on a page, without a $ inside."""
