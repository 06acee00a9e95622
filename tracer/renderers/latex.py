"""Documents as LaTeX, a fragment or a whole file; and mathematics for whoever writes any."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import assert_never

from tracer.lesson.document import (
    Block,
    Document,
    Formula,
    Inline,
    Matrix,
    Name,
    Paragraph,
    Percent,
    Picture,
    Reference,
    Table,
    Working,
)
from tracer.lesson.expression import Chain, Expression, Number, Quotient, Rest, Symbol
from tracer.renderers.notation import Binding, Notation, is_scientific
from tracer.renderers.picture.in_latex import in_latex
from tracer.renderers.text import name_text, number_text, text
from tracer.renderers.wrapping import cut, rows
from tracer.scenario.rounding import trimmed

LINE = 66
"""What fits beside a label on a line of A4, counted in characters of plain text."""

UNCUT = 1000
"""Room enough that no quotient is cut: the pieces are those of the plain text, one for one."""

LONGEST_NAME = 24

SPACE = r" \; "

PREAMBLE = r"""\documentclass[a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage[margin=2cm]{geometry}
\usepackage{amsmath,amssymb,longtable}
\setcounter{MaxMatrixCols}{30}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt}
\allowdisplaybreaks
\begin{document}
"""

GREEK = {
    "ω": r"\omega",
    "θ": r"\theta",
    "μ": r"\mu",
    "σ": r"\sigma",
    "γ": r"\gamma",
    "β": r"\beta",
    "Σ": r"\Sigma",
    "ℓ": r"\ell",
}

ESCAPES = {
    "\\": r"\textbackslash{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "…": r"\dots{}",
    "“": "``",
    "”": "''",
    "—": "---",
    "–": "--",
    "ᵀ": r"$^{\top}$",
    "·": r"$\cdot$",
    "′": r"$'$",
    "␣": r"\textvisiblespace{}",
    "−": r"$-$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "×": r"$\times$",
    "≈": r"$\approx$",
    "✓": r"$\checkmark$",
    "✗": r"$\times$",
    **{c: f"${command}$" for c, command in GREEK.items()},
}
"""What means something else in LaTeX, or is no letter of its text fonts."""

T1_LETTERS = frozenset("ĂăĄąĆćČčĎďĐđĘęĚěĞğİıĹĺĽľŁłŃńŇňŊŋŐőŒœŔŕŘřŚśŞşŠšŢţŤťŮůŰűŸŹźŻżŽž")
"""What the text fonts have beyond Latin-1."""

SUBSCRIPTS, SUPERSCRIPTS = "₀₁₂₃₄₅₆₇₈₉", "⁰¹²³⁴⁵⁶⁷⁸⁹"
INDICES = re.compile(f"([{SUBSCRIPTS}]+|[{SUPERSCRIPTS}]+)")
DIGITS = str.maketrans(SUBSCRIPTS + SUPERSCRIPTS, "0123456789" * 2)

FUNCTIONS = {"max": r"\max", "sin": r"\sin", "cos": r"\cos", "ln": r"\ln"}


class LatexNotation(Notation):
    r"""Commands; quotients as \frac in formulas, with a slash where a line must be broken."""

    times, dot, square = r" \times ", r" \cdot ", "^{2}"

    def __init__(self, *, fractions: bool) -> None:
        self.fractions = fractions

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
        plain = GREEK.get(base) or (base if len(base) == 1 else _word(base))
        prime = "'" if symbol.base.endswith("′") else ""
        below = symbol.below if len(symbol.below) < 2 else rf"\text{{{name_latex(symbol.below)}}}"
        lower = f"_{{{below}}}" if below else ""
        upper = f"^{{{symbol.above}}}" if symbol.above else ""
        return plain + prime + lower + upper

    def rest(self, rest: Rest) -> str:
        return rf"[\text{{{rest.terms} more: }} {self.number(rest.total)}]"

    def quotient(self, quotient: Quotient) -> tuple[str, Binding]:
        if self.fractions:
            over, under = self.write(quotient.over), self.write(quotient.under)
            return rf"\frac{{{over}}}{{{under}}}", Binding.ATOM
        first = self.inside(quotient.over, Binding.POWER, first=True)
        return f"{first} / {self.inside(quotient.under, Binding.POWER)}", Binding.PRODUCT

    def raised(self, base: str, exponent: Expression) -> str:
        return f"{base}^{{{LatexNotation(fractions=False).write(exponent)}}}"

    def root(self, of: Expression) -> str:
        return rf"\sqrt{{{self.write(of)}}}"

    def call(self, name: str, arguments: Sequence[str]) -> str:
        return f"{FUNCTIONS.get(name) or _word(name)}({', '.join(arguments)})"

    def transposed(self, of: str) -> str:
        return rf"{{{of}}}^{{\top}}"

    def brackets(self, items: Sequence[str]) -> str:
        return f"[{SPACE.join(items)}]"

    def sized(self, of: str, shape: Sequence[int]) -> str:
        times = r" \times ".join(map(str, shape))
        return rf"\underset{{{times}}}{{{of}}}"


IN_FORMULAS, IN_LINES = LatexNotation(fractions=True), LatexNotation(fractions=False)


def render(document: Document, *, standalone: bool) -> str:
    """A document as a fragment to be included, or with all that pdflatex needs."""
    title = [rf"\section*{{{_breakable(document.title)}}}"] if document.whole else []
    blocks = [*title, *map(_block, document.introduction)]
    for section in document.sections:
        number = "" if section.number is None else f"{section.number}. "
        blocks.append(rf"\subsection*{{{number}{_words(section.title)}}}")
        blocks += map(_block, section.blocks)
    body = "\n\n".join(blocks) + "\n"
    return f"{PREAMBLE}\n{body}\n\\end{{document}}\n" if standalone else body


def formula(chain: Chain) -> str:
    """A chain in symbols, in one line."""
    first, *rest = map(IN_FORMULAS.write, chain.sides)
    related = zip(chain.relations, rest, strict=True)
    return " ".join([first, *(_relation(f"{relation} ") + side for relation, side in related)])


def aligned(working: Working) -> str:
    """Worked lines below each other, each chain broken as on a terminal."""
    return f"\\begin{{aligned}}\n{_rows(working)}\n\\end{{aligned}}"


def matrices(matrix: Matrix) -> list[str]:
    """A matrix with labels for rows and columns; in several where it is too wide for a line."""
    widths = [
        max(_width(_short(column)), *(len(number_text(row[j])) for row in matrix.cells)) + 2
        for j, column in enumerate(matrix.columns)
    ]
    stub = max(_width(_short(row)) for row in matrix.rows) + 2
    return [_bmatrix(matrix, range(first, last)) for first, last in _fitting(widths, LINE - stub)]


def name_latex(name: str) -> str:
    """A token or label in text; what T1 fonts do not have is named by its code point."""
    written = "".join(_character_or_index(part) for part in INDICES.split(name_text(name)))
    # Two pieces of mathematics side by side are one: $$ would begin a display.
    return re.sub(r"(?<!\\)\$\$", "", written)


def _character_or_index(part: str) -> str:
    """A run of raised or lowered digits, or any other characters."""
    if INDICES.fullmatch(part):
        sign = "_" if part[0] in SUBSCRIPTS else "^"
        return f"${sign}{{{part.translate(DIGITS)}}}$"
    return "".join(
        ESCAPES.get(c) or (c if _in_font(c) else rf"\texttt{{U+{ord(c):04X}}}") for c in part
    )


def _in_font(c: str) -> bool:
    return ord(c) < 0x100 or c in T1_LETTERS


def _width(name: str) -> int:
    """About how many letters wide a name is; a code point takes seven, a wide one two."""
    known = (c in ESCAPES or _in_font(c) or bool(INDICES.match(c)) for c in name)
    sizes = (2 if c.isupper() or c in "mw" else 1 for c in name)
    return sum(size if k else 7 for size, k in zip(sizes, known, strict=True))


def short_latex(name: str) -> str:
    """A name that leaves room for numbers."""
    return name_latex(_short(name))


def _short(name: str) -> str:
    whole = name_text(name)
    if _width(whole) <= LONGEST_NAME:
        return whole
    half = max(1, LONGEST_NAME // 2 * len(whole) // _width(whole))
    return f"{whole[:half]}…{whole[-half:]}"


def _block(block: Block) -> str:
    match block:
        case Paragraph(parts):
            return "".join(map(_inline, parts))
        case Formula(chain):
            return f"\\[ {formula(chain)} \\]"
        case Working():
            # Unlike aligned, this may go on on the next page.
            return f"\\begin{{align*}}\n{_rows(block)}\n\\end{{align*}}"
        case Matrix():
            return "\n".join(f"\\[ {bmatrix} \\]" for bmatrix in matrices(block))
        case Table():
            return _table(block)
        case Picture():
            return in_latex(block, name_latex)
        case _:
            assert_never(block)


def _inline(part: Inline) -> str:
    match part:
        case str():
            return _words(part)
        case Name(name):
            return rf"\texttt{{{_breakable(name)}}}"
        case Percent(number):
            return rf"${IN_LINES.number(Number(trimmed(number.value * 100)))}$\,\%"
        case Reference(number):
            return f"step~{number}"
        case _:
            return f"${IN_FORMULAS.write(part)}$"


def _words(words: str) -> str:
    """The project's own words, spaces at their ends kept."""
    inner = words.strip(" ")
    before, after = words.partition(inner)[::2] if inner else (words, "")
    return before + (name_latex(inner) if inner else "") + after


def _rows(working: Working) -> str:
    lines = [line for worked in working.lines for line in _lines(worked.label, worked.chain)]
    return " \\\\\n".join(lines)


def _lines(label: str | None, chain: Chain) -> list[str]:
    """The lines of a chain, with & where they are aligned."""
    relations = ["", *(f"{relation} " for relation in chain.relations)]
    sides = list(zip(relations, chain.sides, strict=True))
    plain = [cut(relation + text(side), UNCUT) for relation, side in sides]
    latex = [cut(_relation(relation) + IN_LINES.write(side), UNCUT) for relation, side in sides]
    start = 0 if label is None else _width(_short(label)) + 2
    head = "" if label is None else rf"\text{{{short_latex(label)}:}}\quad "
    written = []
    for number, row in enumerate(rows(plain, start, 4, LINE + start)):
        line = " ".join(latex[side][piece] for side, piece in row)
        inner = r"\quad " if row[0][1] else ""
        written.append(f"{head if number == 0 else ''}& {inner}{line}")
    return written


def _relation(relation: str) -> str:
    return {"": "", "= ": "= ", "≈ ": r"\approx "}[relation]


def _word(word: str) -> str:
    return (
        rf"\operatorname{{{word}}}"
        if word.isascii() and word.isalpha()
        else (rf"\text{{{name_latex(word)}}}")
    )


def _bmatrix(matrix: Matrix, columns: range) -> str:
    def row(label: str, cells: Iterable[str]) -> str:
        return " & ".join([rf"\text{{{short_latex(label)}}}" if label else "", *cells])

    head = row("", (rf"\text{{{short_latex(matrix.columns[j])}}}" for j in columns))
    body = (
        row(label, (IN_LINES.number(cells[j]) for j in columns))
        for label, cells in zip(matrix.rows, matrix.cells, strict=True)
    )
    lines = " \\\\\n".join([head, *body])
    return f"{IN_FORMULAS.write(matrix.symbol)} = \\begin{{bmatrix}}\n{lines}\n\\end{{bmatrix}}"


def _fitting(widths: Sequence[int], room: int) -> list[tuple[int, int]]:
    ranges, first, used = [], 0, 0
    for column, width in enumerate(widths):
        if used + width > room and column > first:
            ranges.append((first, column))
            first, used = column, 0
        used += width
    return [*ranges, (first, len(widths))]


def _broken(lines: Iterable[str]) -> str:
    """Lines with a break between them; a [ or a * at their start is not the break's option."""
    guarded = ("{}" + line if line.startswith(("[", "*")) else line for line in lines)
    return " \\\\\n".join(guarded)


def _breakable(name: str) -> str:
    """A name that may be broken anywhere, if it is one long word."""
    whole = name_text(name)
    if max(map(_width, whole.split(" "))) <= LONGEST_NAME:
        return name_latex(name)
    return r"\allowbreak{}".join(map(name_latex, whole))


def _table(table: Table) -> str:
    """A table across pages; columns that together are too wide share the width of the page."""
    columns = list(zip(*[map(Name, table.header), *table.rows], strict=True))
    widths = [max(_width(name_text(cell.text)) for cell in column) for column in columns]
    capped = [min(width, LINE) for width in widths]
    shares = (max(0.12, 0.85 * width / sum(capped)) for width in capped)
    wide = "".join(rf"p{{{share:.3f}\textwidth}}" for share in shares)
    form = "l" * len(widths) if sum(widths) < LINE else wide
    head = " & ".join(rf"\textit{{{_words(name)}}}" for name in table.header)
    lines = []
    for i, row in enumerate(table.rows):
        cells = [_breakable(cell.text) for cell in row]
        marked = [rf"\textbf{{{cell}}}" for cell in cells] if i == table.marked else cells
        lines.append(" & ".join(marked))
    body = _broken([head, *lines])
    return f"\\begin{{longtable}}[l]{{{form}}}\n{body}\n\\end{{longtable}}"
