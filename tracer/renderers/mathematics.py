"""Expressions, formulas and worked lines in LaTeX's mathematics, for paper and for pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from tracer.formula import expression as ex
from tracer.lesson.document import Line, Working
from tracer.renderers.lettering import LETTERS, in_text, on_page, short, width
from tracer.renderers.notation import Binding, Notation
from tracer.renderers.rows import cells
from tracer.renderers.text import text
from tracer.renderers.wrapping import cut, rows

UNCUT = 1000
"""Room for any quotient, so that LaTeX is cut into the same pieces as plain text."""

FIRM = "\u00a0"
"""A space at which no line is broken."""

SPACE = r" \; "

APART_FROM_OTHERS = r"\rule[-1.2ex]{0pt}{4.2ex}"
"""A strut that keeps blanks below each other apart."""

FUNCTIONS = {
    **{
        "max": r"\max",
        "min": r"\min",
        "sin": r"\sin",
        "cos": r"\cos",
        "tanh": r"\tanh",
        "ln": r"\ln",
    },
    "Φ": r"\Phi",
    "log2": r"\mathrm{log2}",
    "E2M1": r"\mathrm{E2M1}",
}
END, KEPT, APART = " \\\\\n", " \\\\*\n", " \\\\[4pt]\n"
"""Between rows; where no page may end; below fractions, which would touch the next."""

RELATIONS = {"=": "=", "≈": r"\approx"}


class LatexNotation(Notation):
    r"""Commands; quotients as \frac, or with a slash where a line must be broken."""

    times, dot, pi, infinity = r" \times ", r" \cdot ", r"\pi", r"\infty"
    # KaTeX sets no more than 1000 macros together: these are none.
    room, before_point, digit = r"\kern3em ", r"\kern1.5em ", r"\kern.15em\rule{.5em}{.5pt}"
    power_of_ten = f"10^{{{digit * 2}}}"

    def __init__(self, named: Callable[[str], str], *, fractions: bool) -> None:
        self.named, self.fractions = named, fractions

    def ten_to(self, exponent: int) -> str:
        return f"10^{{{exponent}}}"

    def blank(self, blank: ex.Blank) -> str:
        answer = blank.answer
        inside = rf"\kern0.15em{{{self.number(answer)}}}" if blank.filled else self.room_for(answer)
        return rf"{APART_FROM_OTHERS}\boxed{{{{}}^{{{blank.number}}}{inside}}}"

    def symbol(self, symbol: ex.Symbol) -> str:
        base = symbol.base.removesuffix("′")
        prime = "'" if symbol.base.endswith("′") else ""
        below = symbol.below if len(symbol.below) < 2 else self.named(symbol.below)
        lower = f"_{{{below}}}" if below else ""
        if symbol.above:
            # A prime goes into the exponent, unless there is an index between them.
            return f"{self._word(base)}{lower}{prime}^{{{symbol.above}}}"
        return self._word(base) + prime + lower

    def rest(self, rest: ex.Rest) -> str:
        return rf"[\text{{{rest.terms} more: }} {self.number(rest.total)}]"

    def quotient(self, quotient: ex.Quotient) -> tuple[str, Binding]:
        if self.fractions:
            over, under = self.write(quotient.over), self.write(quotient.under)
            return rf"\frac{{{over}}}{{{under}}}", Binding.ATOM
        first = self.inside(quotient.over, Binding.POWER, first=True)
        return f"{first} / {self.inside(quotient.under, Binding.POWER)}", Binding.PRODUCT

    def raised(self, base: str, exponent: ex.Expression) -> str:
        return f"{base}^{{{LatexNotation(self.named, fractions=False).write(exponent)}}}"

    def root(self, of: ex.Expression) -> str:
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

    def partial(self, of: str, over: str) -> tuple[str, Binding]:
        return rf"\frac{{\partial {over}}}{{\partial {of}}}", Binding.POWER

    def _word(self, word: str) -> str:
        r"""A word or a variable, such as x and 2k; \operatorname is not known to every page."""
        if word in LETTERS:
            return LETTERS[word]
        if re.fullmatch("-?[0-9]*[A-Za-z]", word):
            return word
        return rf"\mathrm{{{word}}}" if word.isascii() and word.isalpha() else self.named(word)


class MeasureNotation(Notation):
    """Plain text about as wide as the mathematics; a fraction is as wide as its wider part."""

    times = " × "

    def __init__(self, *, fractions: bool) -> None:
        self.fractions = fractions

    def raised(self, base: str, exponent: ex.Expression) -> str:
        return base + super().raised("", exponent).replace(" ", FIRM)

    def root(self, of: ex.Expression) -> str:
        return super().root(of).replace(" ", FIRM)

    def blank(self, blank: ex.Blank) -> str:
        number = f"[{blank.number}]"
        return f"{number}{self.number(blank.answer)}" if blank.filled else super().blank(blank)

    def quotient(self, quotient: ex.Quotient) -> tuple[str, Binding]:
        if not self.fractions:
            return super().quotient(quotient)
        return max(self.write(quotient.over), self.write(quotient.under), key=cells), Binding.ATOM

    def sized(self, of: str, shape: Sequence[int]) -> str:
        return max(of, "×".join(map(str, shape)), key=cells)

    def partial(self, of: str, over: str) -> tuple[str, Binding]:
        return max(f"∂{of}", f"∂{over}", key=cells), Binding.ATOM


BROKEN, FRACTIONS = MeasureNotation(fractions=False), MeasureNotation(fractions=True)


class Mathematics:
    """Mathematics for one kind of reader."""

    def __init__(self, named: Callable[[str], str], letters: int, *, paper: bool) -> None:
        """`named` writes tokens and labels; a worked line holds `letters`.

        On `paper`, worked lines have no fractions, and no page ends inside a line.
        """
        self.in_formulas = LatexNotation(named, fractions=True)
        self.in_lines = LatexNotation(named, fractions=False)
        self.in_whole_sides = LatexNotation(named, fractions=not paper)
        self.measured = MeasureNotation(fractions=not paper)
        self.named, self.letters, self.paper = named, letters, paper

    def formula(self, chain: ex.Chain) -> str:
        """A chain in symbols in one line; a sum that is too long goes on below."""
        last = chain.sides[-1]
        if isinstance(last, ex.Sum) and self.width_of_formula(chain) > self.letters:
            return self._broken(chain, last)
        first, *rest = map(self.in_formulas.write, chain.sides)
        related = zip(chain.relations, rest, strict=True)
        return " ".join([first, *(f"{RELATIONS[relation]} {side}" for relation, side in related)])

    def _broken(self, chain: ex.Chain, last: ex.Sum) -> str:
        before = ex.Chain((*chain.sides[:-1], last.terms[0]), chain.relations)
        written, used = [self.formula(before)], self.width_of_formula(before)
        for term in last.terms[1:]:
            wide = cells(f" + {FRACTIONS.write(term)}")
            sign = "+" if used + wide <= self.letters else f"&&{END}& \\quad +"
            used = used + wide if sign == "+" else wide
            written += [sign, self.in_formulas.write(term)]
        return f"\\begin{{alignedat}}{{2}}\n& {' '.join(written)} &&\n\\end{{alignedat}}"

    def lines(self, working: Working) -> str:
        """Worked lines in three columns: label, sides, and the result in the last row."""
        labels, results = _margins(working)
        room = self.letters - labels
        written = (self._rows(line, room - results) for line in working.lines)
        shown = "".join(row for rows in written for row in rows)
        return shown.removesuffix(END).removesuffix(APART)

    def width(self, working: Working) -> int:
        """The width of unbroken worked lines, in characters of plain text."""
        written = (
            " ".join(relation + self.measured.write(side) for relation, side in _sides(line.chain))
            for line in working.lines
        )
        return sum(_margins(working)) + max(map(cells, written))

    def width_of_formula(self, chain: ex.Chain) -> int:
        """The width of a chain in symbols, in characters of plain text.

        On paper, where displays share a line, a capital is one and a half of them.
        """
        plain = " = ".join(map(FRACTIONS.write, chain.sides))
        return (cells(plain) + width(plain)) // 2 if self.paper else cells(plain)

    def _rows(self, line: Line, room: int) -> list[str]:
        """The rows of a line; a side that fits into one has its quotients as fractions."""
        chain = line.chain
        plain, latex = [], []
        for relation, side in _sides(chain):
            in_text, in_latex = self.measured.write(side), self.in_whole_sides.write(side)
            fits = cells(in_text) <= room - len("≈ ")
            if not fits:
                in_text, in_latex = BROKEN.write(side), self.in_lines.write(side)
            if relation:
                in_text, in_latex = f"{relation} {in_text}", f"{RELATIONS[relation]} {in_latex}"
            plain.append([in_text] if fits else cut(in_text, UNCUT))
            latex.append([in_latex] if fits else _cut(in_latex))
        bodies = []
        for row in rows(plain, 0, 0, room):
            inner = r"\quad " if row[0][1] else ""
            bodies.append(inner + _unary(" ".join(latex[side][piece] for side, piece in row)))
        *above, last = (f"& {body} &&" for body in bodies)
        if chain.relations:
            last += f" {RELATIONS[chain.relations[-1]]} {self.in_lines.write(chain.sides[-1])}"
        written = [
            *(row + _end(row, KEPT if self.paper else END) for row in above),
            last + _end(last),
        ]
        if label := _label(line):
            written[0] = f"{self.named(f'{label}:')}\\quad {written[0]}"
        return written


def _cut(latex: str) -> list[str]:
    """The pieces of a side, never cut inside a root or an exponent."""
    pieces: list[str] = []
    depth = 0
    for piece in cut(latex, UNCUT):
        if depth:
            pieces[-1] += f" {piece}"
        else:
            pieces.append(piece)
        depth += piece.count("{") - piece.count("}")
    return pieces


def _end(row: str, end: str = END) -> str:
    return APART if r"\frac" in row else end


def _label(line: Line) -> str:
    return "" if line.label is None else short(line.label)


def _sides(chain: ex.Chain) -> Iterator[tuple[str, ex.Expression]]:
    """The middle column: all sides but the result, each with its relation."""
    sides = chain.sides[:-1] if chain.relations else chain.sides
    return zip(["", *chain.relations], sides, strict=False)


def _margins(working: Working) -> tuple[int, int]:
    """The widths of labels and results, in characters of plain text."""
    labels = (width(_label(line)) for line in working.lines)
    chains = (line.chain for line in working.lines)
    results = (cells(f"≈ {text(chain.sides[-1])}") for chain in chains if chain.relations)
    return max(labels), max(results, default=0)


def _unary(row: str) -> str:
    """Mark a minus at the start of a row as a sign."""
    return re.sub(r"^-(?! )", "{-}", row)


PAPER = Mathematics(lambda name: rf"\text{{{in_text(name)}}}", 96, paper=True)
"""As LaTeX sets it on A4, where lines stand close."""

PAGE = Mathematics(on_page, 92, paper=False)
"""As KaTeX and MathJax set it on a page, without a $ inside."""
