"""Documents as LaTeX: a fragment to be included, or a whole file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from tracer.lesson.document import (
    Block,
    Cell,
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
from tracer.lesson.expression import Number, Sized
from tracer.renderers import links
from tracer.renderers.lettering import breakable, in_text, short, width
from tracer.renderers.mathematics import PAPER
from tracer.renderers.picture.in_latex import in_latex
from tracer.renderers.text import cell_text, number_text
from tracer.scenario.rounding import trimmed

LINE = 66
"""What fits beside a label on a line of A4, counted in characters of plain text."""

DEEPEST = 40
"""The colour of a share of 1, in hundredths: black digits are still easy to read on it."""

PACKAGES = r"""\usepackage{amsmath,amssymb,longtable,multicol}
\usepackage[table]{xcolor}
\usepackage[hidelinks]{hyperref}
"""

PREAMBLE = rf"""\documentclass[a4paper]{{article}}
\usepackage[hmargin=2cm,vmargin=1.7cm,footskip=0.8cm]{{geometry}}
\usepackage{{iftex}}
\ifPDFTeX
  \usepackage[utf8]{{inputenc}}
  \usepackage[T1]{{fontenc}}
\else
  \usepackage{{fontspec}}
\fi
{PACKAGES}"""

LAYOUT = r"""\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\setlength{\jot}{1pt}
\setlength{\LTpre}{2pt}
\setlength{\LTpost}{2pt}
\renewcommand{\arraystretch}{1.05}
\AtBeginDocument{%
  \setlength{\abovedisplayskip}{4pt}\setlength{\abovedisplayshortskip}{2pt}%
  \setlength{\belowdisplayskip}{4pt}\setlength{\belowdisplayshortskip}{4pt}%
}
\allowdisplaybreaks
"""

CODE_POINT = r"\providecommand{\letter}[1]{\texttt{U+#1}}"
"""A letter that the text fonts of LaTeX may lack, by its code point."""

LETTER = rf"""\ifPDFTeX\else
  % From the main font, or from the first of these that is installed and has it.
  \newcommand{{\letterof}}[3]{{\IfFontExistsTF{{#2}}%
    {{{{\fontspec{{#2}}\iffontchar\font"#1 \symbol{{"#1}}\else#3\fi}}}}{{#3}}}}
  \newcommand{{\letter}}[1]{{\iffontchar\font"#1 \symbol{{"#1}}\else
    \letterof{{#1}}{{Noto Serif CJK SC}}{{\letterof{{#1}}{{DejaVu Sans}}{{\texttt{{U+#1}}}}}}\fi}}
\fi
{CODE_POINT}
"""


def render(document: Document, *, standalone: bool) -> str:
    """A document as a fragment to be included, or with all that pdflatex or lualatex needs."""
    page = _Page(document, contents=standalone)
    body = "\n\n".join(page.paragraphs()) + "\n"
    lacks = r"\letter{" in body
    if not standalone:
        packages = "".join(f"% {line}\n" for line in PACKAGES.splitlines())
        needs = f"% A document that includes this needs:\n{packages}"
        return needs + (f"{CODE_POINT}\n" if lacks else "") + f"\n{body}"
    preamble = PREAMBLE + (LETTER if lacks else "") + LAYOUT
    return f"{preamble}\\begin{{document}}\n\n{body}\n\\end{{document}}\n"


HEADINGS = ("section", "subsection", "subsubsection")
"""Of the whole text, of its parts, of the steps in them."""


@dataclass(frozen=True)
class _Page:
    document: Document
    contents: bool

    def paragraphs(self) -> Iterator[str]:
        """Title, introduction, contents, sections."""
        document = self.document
        if document.whole:
            yield rf"\{HEADINGS[0]}*{{\raggedright {breakable(document.title)}}}"
        yield from self.together(document.introduction, -1)
        headings = list(links.headings(document))
        if self.contents and document.whole and len(headings) >= links.WORTH_CONTENTS:
            yield "\\begin{multicols}{2}\\small\n\\tableofcontents\n\\end{multicols}"
        for i, section in enumerate(document.sections):
            yield "\n".join(self.heading(heading) for heading in headings if heading.section == i)
            yield from self.together(section.blocks, i)

    def heading(self, heading: links.Heading) -> str:
        kind, title = HEADINGS[heading.level], _words(heading.title)
        label = None if heading.opens_part else self.labels.get(heading.section)
        linked = rf"\label{{{label}}}" if label else ""
        return f"\\{kind}*{{{title}}}\\addcontentsline{{toc}}{{{kind}}}{{{title}}}{linked}"

    @cached_property
    def labels(self) -> dict[int, str]:
        """The labels of the sections that are referred to."""
        return {i: f"step-{i + 1}" for i in links.referred_to(self.document)}

    def together(self, blocks: Sequence[Block], section: int) -> Iterator[str]:
        """Paragraphs; what is displayed goes on with the one in front of it."""
        written: list[str] = []
        for block in blocks:
            if written and not isinstance(block, Formula | Working | Matrix):
                yield "\n".join(written)
                written = []
            written.append(self.block(block, section))
        if written:
            yield "\n".join(written)

    def block(self, block: Block, section: int) -> str:
        match block:
            case Paragraph(parts):
                return "".join(self.inline(part, section) for part in parts)
            case Formula(chain):
                # What it gives stands on the same page.
                return (
                    f"{{\\postdisplaypenalty=10000\n\\[ {PAPER.formula(chain)} \\]}}\\ignorespaces"
                )
            case Working():
                # Unlike aligned, this may go on on the next page.
                return f"\\begin{{alignat*}}{{2}}\n{PAPER.lines(block)}\n\\end{{alignat*}}"
            case Matrix():
                return "\n".join(f"\\[ {array} \\]" for array in _arrays(block))
            case Table():
                return _table(block)
            case Picture():
                return in_latex(block, in_text)
            case _:
                assert_never(block)

    def inline(self, part: Inline, section: int) -> str:
        match part:
            case str():
                return _words(part)
            case Name(name):
                return rf"\texttt{{{breakable(name)}}}"
            case Percent(number):
                return rf"${PAPER.in_lines.number(Number(trimmed(number.value * 100)))}$\,\%"
            case Reference(number):
                to = links.meant(self.document, section, number)
                step = f"step~{number}"
                return step if to is None else rf"\hyperref[{self.labels[to]}]{{{step}}}"
            case Sized(of, shape):
                size = r" \times ".join(map(str, shape))
                return f"${PAPER.in_lines.write(of)}$ (${size}$)"
            case _:
                return f"${PAPER.in_lines.write(part)}$"


def _words(words: str) -> str:
    """The project's own words, spaces at their ends kept."""
    inner = words.strip(" ")
    before, after = words.partition(inner)[::2] if inner else (words, "")
    return before + (in_text(inner) if inner else "") + after


def _arrays(matrix: Matrix) -> list[str]:
    """A matrix with labels for rows and columns; in several where it is too wide for a line."""
    widths = [
        max(width(short(column)), *(len(number_text(row[j])) for row in matrix.cells)) + 2
        for j, column in enumerate(matrix.columns)
    ]
    stub = max(width(short(row)) for row in matrix.rows) + 2
    return [_array(matrix, range(*columns)) for columns in _fitting(widths, LINE - stub)]


def _array(matrix: Matrix, columns: range) -> str:
    """The columns in a range; the row of the followed token is bold."""
    head = [PAPER.in_formulas.write(matrix.symbol), *(_label(matrix.columns[j]) for j in columns)]
    body = []
    for i, (name, numbers) in enumerate(zip(matrix.rows, matrix.cells, strict=True)):
        bold = i == matrix.marked
        shades = [_shade(numbers[j]) if matrix.figure else "" for j in columns]
        written = [PAPER.in_lines.number(numbers[j]) for j in columns]
        cells = [rf"\mathbf{{{number}}}" if bold else number for number in written]
        shown = [_label(name, bold=bold), *map("".join, zip(shades, cells, strict=True))]
        body.append(" & ".join(shown))
    rows = " \\\\\n".join(body)
    form = f"l|{'r' * len(columns)}"
    return f"\\begin{{array}}{{{form}}}\n{' & '.join(head)} \\\\ \\hline\n{rows}\n\\end{{array}}"


def _label(name: str, *, bold: bool = False) -> str:
    command = "textbf" if bold else "text"
    return rf"\{command}{{{in_text(short(name))}}}" if name else ""


def _shade(share: Number) -> str:
    """The colour of a heat map's cell: the larger the share, the fuller."""
    depth = round(DEEPEST * min(max(float(share.value), 0), 1))
    return rf"\cellcolor{{blue!{depth}}}" if depth else ""


def _fitting(widths: Sequence[int], room: int) -> list[tuple[int, int]]:
    ranges, first, used = [], 0, 0
    for column, wide in enumerate(widths):
        if used + wide > room and column > first:
            ranges.append((first, column))
            first, used = column, 0
        used += wide
    return [*ranges, (first, len(widths))]


def _broken(lines: Iterable[str]) -> str:
    """Lines with a break between them; a [ or a * at their start is not the break's option."""
    guarded = ("{}" + line if line.startswith(("[", "*")) else line for line in lines)
    return " \\\\\n".join(guarded)


def _cell(cell: Cell) -> str:
    """What stands in a table: text, or a symbol."""
    if isinstance(cell, Name):
        return breakable(cell.text)
    return f"${PAPER.in_lines.write(cell)}$"


def _table(table: Table) -> str:
    """A table across pages; columns that together are too wide share the width of the page."""
    columns = list(zip(*[map(Name, table.header), *table.rows], strict=True))
    widths = [max(width(cell_text(cell)) for cell in column) for column in columns]
    capped = [min(wide, LINE) for wide in widths]
    shares = (max(0.12, 0.78 * wide / sum(capped)) for wide in capped)
    wide = "".join(rf"p{{{share:.3f}\textwidth}}" for share in shares)
    form = "l" * len(widths) if sum(widths) < LINE else wide
    head = " & ".join(rf"\textit{{{_words(name)}}}" for name in table.header)
    lines = []
    for i, row in enumerate(table.rows):
        cells = list(map(_cell, row))
        marked = [rf"\textbf{{{cell}}}" for cell in cells] if i == table.marked else cells
        lines.append(" & ".join(marked))
    body = _broken([head, *lines])
    return f"\\begin{{longtable}}[l]{{{form}}}\n{body}\n\\end{{longtable}}"
