"""Documents as GitHub-flavoured Markdown: worked lines as text, or as mathematics."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never
from urllib.parse import quote

from tracer.lesson.document import (
    Block,
    Document,
    Formula,
    Inline,
    Line,
    Matrix,
    Name,
    Paragraph,
    Percent,
    Picture,
    Reference,
    Section,
    Table,
    Working,
)
from tracer.lesson.expression import Chain, Number
from tracer.renderers import Heading, figures, latex
from tracer.renderers.picture.characters import in_characters
from tracer.renderers.rows import cells
from tracer.renderers.text import name_text, number_text, text
from tracer.renderers.wrapping import wrapped
from tracer.scenario.rounding import trimmed

WIDTH = 84
"""Characters in a line of fenced text: what a page shows without a scroll bar."""

MARKUP = re.compile(r"^[^\w\s]|[\\`*\[\]|<>$~@&#]|(?<![^\W_])_|_(?![^\W_])|:(?=\S)|\.(?=[\s)]|$)")
"""What may mean something in Markdown, HTML or a table; as an entity it does not.

W_Q and street-stall stay as they are: inside a word these signs mean nothing.
"""


MARKUP_IN_WORDS = re.compile(r"[*_<>|`]")
"""The project's own words hold no more markup than this: W_O, e^(-∞)."""


def render(
    document: Document, *, math: bool, heading: Heading = Heading.TWO, figures: str | None = None
) -> str:
    """A document; with `math`, formulas and worked lines in $$ … $$.

    The title stands a level above those of the sections, where there is one. `figures` is the way
    to the folder of its pictures, if they are to be shown.
    """
    page = _Page(math, None if heading is Heading.NONE else int(heading), figures)
    parts = page.title(escaped(document.title), above=1) if document.whole else []
    parts += map(page.block, document.introduction)
    for section in document.sections:
        parts += page.section(section)
    return "\n\n".join(parts) + "\n"


def escaped(name: str) -> str:
    """A token or label as it is, whatever is in it."""
    return MARKUP.sub(lambda found: f"&#{ord(found[0])};", name_text(name))


@dataclass(frozen=True)
class _Page:
    math: bool
    level: int | None
    """Of the sections' titles; None leaves all titles out."""
    figures: str | None

    def title(self, title: str, *, above: int = 0) -> list[str]:
        """A title that stands so many levels above those of the sections."""
        if self.level is None:
            return []
        return [f"{'#' * max(1, self.level - above)} {title}"]

    def section(self, section: Section) -> list[str]:
        number = "" if section.number is None else f"{section.number}. "
        title = MARKUP_IN_WORDS.sub(_backslashed, section.title)
        return [*self.title(f"{number}{title}"), *map(self.block, section.blocks)]

    def block(self, block: Block) -> str:
        match block:
            case Paragraph(parts):
                return "".join(map(self._inline, parts))
            case Formula(chain):
                return _display(latex.formula(chain)) if self.math else fenced([_line(chain)])
            case Working(lines):
                return _display(latex.aligned(block)) if self.math else fenced(_written(lines))
            case Matrix():
                shown = map(_display, latex.matrices(block)) if self.math else [_matrix(block)]
                return "\n\n".join([*shown, *self._figure(block)])
            case Table(header, rows, marked):
                cells = [[escaped(cell.text) for cell in row] for row in rows]
                return _table(list(header), cells, marked, "---")
            case Picture():
                return "".join(self._figure(block)) or fenced(in_characters(block, WIDTH))
            case _:
                assert_never(block)

    def _figure(self, block: Matrix | Picture) -> list[str]:
        if self.figures is None or block.figure is None:
            return []
        path = quote(f"{self.figures}/{figures.file_name(block.figure)}")
        return [f"![{escaped(figures.description(block))}]({path})"]

    def _inline(self, part: Inline) -> str:
        match part:
            case str():
                return MARKUP_IN_WORDS.sub(_backslashed, part)
            case Name(name):
                return _code(name)
            case Percent(number):
                return f"{number_text(Number(trimmed(number.value * 100)))} %"
            case Reference(number):
                return f"step {number}"
            case _ if self.math:
                return f"${_for_katex(latex.IN_FORMULAS.write(part))}$"
            case _:
                return escaped(text(part))


def _code(name: str) -> str:
    """A token or label in a sentence, as code: the marks are longer than any run of them in it."""
    whole = name_text(name)
    marks = "`" * (_longest_run([whole]) + 1)
    room = " " * (whole[0] == "`" or whole[-1] == "`")
    return f"{marks}{room}{whole}{room}{marks}"


def _longest_run(lines: Sequence[str]) -> int:
    """The most backticks that stand together."""
    return max((len(run) for line in lines for run in re.findall("`+", line)), default=0)


def _backslashed(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def _display(mathematics: str) -> str:
    return f"$$\n{_for_katex(mathematics)}\n$$"


def _for_katex(mathematics: str) -> str:
    """What fonts of LaTeX lack, a page has: characters as they are."""
    for command, sign in ((r"\textasciigrave{}", "`"), (r"\textvisiblespace{}", "␣")):
        mathematics = mathematics.replace(command, sign)
    return re.sub(r"\\texttt\{U\+([0-9A-F]+)\}", _sign_for_katex, mathematics)


def _sign_for_katex(code_point: re.Match[str]) -> str:
    """KaTeX does not know every accent."""
    sign = chr(int(code_point[1], 16))
    return code_point[0] if unicodedata.combining(sign) else sign


def fenced(lines: Sequence[str]) -> str:
    """Lines as they are; the fence is longer than any run of backticks in them."""
    fence = "`" * max(3, _longest_run(lines) + 1)
    return "\n".join([f"{fence}text", *lines, fence])


def _sides(chain: Chain) -> list[str]:
    first, *rest = map(text, chain.sides)
    return [first, *(f"{r} {side}" for r, side in zip(chain.relations, rest, strict=True))]


def _line(chain: Chain) -> str:
    return " ".join(_sides(chain))


def _written(lines: Sequence[Line]) -> list[str]:
    """Worked lines, their labels padded to the same width."""
    labels = ["" if line.label is None else f"{name_text(line.label)}: " for line in lines]
    longest = max(map(cells, labels))
    return [
        row
        for label, line in zip(labels, lines, strict=True)
        for row in wrapped(_sides(line.chain), label + " " * (longest - cells(label)), WIDTH)
    ]


def _matrix(matrix: Matrix) -> str:
    header = [escaped(text(matrix.symbol)), *map(escaped, matrix.columns)]
    cells = [
        [escaped(label), *map(number_text, numbers)]
        for label, numbers in zip(matrix.rows, matrix.cells, strict=True)
    ]
    return _table(header, cells, matrix.marked, "---:")


def _table(header: list[str], rows: list[list[str]], marked: int | None, rule: str) -> str:
    """A table; the first column is aligned to the left."""
    lines = [header, ["---", *[rule] * (len(header) - 1)]]
    for i, row in enumerate(rows):
        lines.append([f"**{cell}**" if i == marked and cell else cell for cell in row])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
