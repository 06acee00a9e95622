"""Documents as LaTeX: a fragment to be included, or a whole file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import assert_never

from tracer.formula.expression import MatrixProduct, Sized, Sum
from tracer.lesson import document as doc
from tracer.renderers import HeadingLevel, links
from tracer.renderers.displays import Displayed, displayed
from tracer.renderers.lettering import LONGEST_NAME, breakable, in_text, width
from tracer.renderers.mathematics import PAPER
from tracer.renderers.picture.in_latex import in_latex
from tracer.renderers.plots import in_latex as plots
from tracer.renderers.plots.illustrations import on_paper
from tracer.renderers.text import cell_text, in_percent

LINE = 72
"""Characters of plain text that always fit into a line of a table."""

PAGE, SEPARATION = 104, 0.026
"""Characters on a whole line; the part of it between two columns of a table."""

COLUMN = r">{{\raggedright\arraybackslash}}p{{{:.3f}\textwidth}}"
"""A column whose lines are broken, with its part of the width."""

NARROW = 16
"""A column of a table that is no wider is not broken."""

PACKAGES = r"""\usepackage{amsmath,amssymb,longtable,multicol}
\usepackage[table]{xcolor}
\usepackage{graphicx}
\usepackage[hidelinks]{hyperref}
"""

PREAMBLE = rf"""\documentclass[a4paper]{{article}}
\usepackage[hmargin=2cm,vmargin=1.7cm,footskip=0.8cm]{{geometry}}
\usepackage{{iftex}}
\ifPDFTeX
  \usepackage[utf8]{{inputenc}}
  \usepackage[T1]{{fontenc}}
  \IfFileExists{{lmodern.sty}}{{\usepackage{{lmodern}}}}{{}} % letters without steps, at any size
\else
  \usepackage{{fontspec}}
\fi
{PACKAGES}"""

LAYOUT = r"""\setlength{\parindent}{0pt}
\setlength{\parskip}{3pt}
\setlength{\emergencystretch}{5em}
\setlength{\jot}{1pt}
\setlength{\LTpre}{2pt}
\setlength{\LTpost}{2pt}
\renewcommand{\arraystretch}{1.05}
\makeatletter
\renewcommand{\subsection}{\@startsection{subsection}{2}{0pt}%
  {10pt plus 3pt}{3pt}{\normalfont\large\bfseries}}
\renewcommand{\subsubsection}{\@startsection{subsubsection}{3}{0pt}%
  {8pt plus 3pt}{2pt}{\normalfont\bfseries}}
\makeatother
\AtBeginDocument{%
  \setlength{\abovedisplayskip}{3pt}\setlength{\abovedisplayshortskip}{2pt}%
  \setlength{\belowdisplayskip}{3pt}\setlength{\belowdisplayshortskip}{3pt}%
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


def render(
    document: doc.Document, *, standalone: bool, heading: HeadingLevel = HeadingLevel.TWO
) -> str:
    """A document as a fragment to be included, or as a whole file for pdflatex or lualatex.

    `heading` is the level of the steps' titles: 1 is a section, 2 a subsection.
    """
    level = None if heading is HeadingLevel.NONE else int(heading)
    page = _Page(document, links.Outline(document), standalone, level)
    body = "\n\n".join(page.paragraphs()) + "\n"
    lacks = r"\letter{" in body
    if not standalone:
        packages = "".join(f"% {line}\n" for line in PACKAGES.splitlines())
        needs = f"% A document that includes this needs:\n{packages}"
        return needs + (f"{CODE_POINT}\n" if lacks else "") + f"\n{body}"
    preamble = PREAMBLE + (LETTER if lacks else "") + LAYOUT
    return f"{preamble}\\begin{{document}}\n\n{body}\n\\end{{document}}\n"


APPENDIX = "Appendix: steps like earlier ones"

HEADINGS = ("section", "subsection", "subsubsection", "paragraph", "subparagraph")
"""The levels of titles, from 1."""


@dataclass(frozen=True)
class _Page:
    document: doc.Document
    outline: links.Outline
    contents: bool
    level: int | None
    """Of the sections' titles; None leaves all titles out."""

    def paragraphs(self) -> Iterator[str]:
        document = self.document
        if document.whole and self.level is not None:
            yield rf"\{self.kind(0)}*{{\raggedright {breakable(document.title)}}}"
        yield from self.together(document.introduction, -1)
        if self.contents and self.outline.contents:
            yield "\\begin{multicols}{2}\\small\n\\tableofcontents\n\\end{multicols}"
        for i, section in enumerate(document.sections):
            if fold := self.outline.folds.get(i):
                yield from self.headings(h for h in self.outline.over[i] if h.opens_part)
                yield rf"{_words(fold.title)}; see the \hyperref[{self.appendix}]{{appendix}}."
            if not section.folded:
                yield from self.headings(self.outline.over[i])
                yield from self.section(i)
        for first, fold in self.outline.folds.items():
            if first == next(iter(self.outline.folds)):
                yield self.heading(links.Heading(APPENDIX, 1, -1)) + rf"\label{{{self.appendix}}}"
            yield rf"\paragraph{{{_words(self.document.sections[first].part or fold.title)}}}"
            for i in fold.sections:
                yield from self.headings(h for h in self.outline.over[i] if not h.opens_part)
                yield from self.section(i)

    def section(self, i: int) -> Iterator[str]:
        """What stands under the titles of a section."""
        blocks = self.document.sections[i].blocks
        written = list(self.together(blocks, i))
        if blocks[1:] and isinstance(blocks[1], doc.Paragraph):
            # A title and its first sentence do not stand at the end of a page alone.
            written[0] += "\\par\\nopagebreak"
        yield from written

    def headings(self, headings: Iterable[links.Heading]) -> Iterator[str]:
        """The titles over a section, if there are titles."""
        if self.level is not None and (lines := "\n".join(map(self.heading, headings))):
            yield lines

    def kind(self, level: int) -> str:
        """The command for a title: of the whole text (level 0), of a part (1), of a step in it."""
        assert self.level is not None
        return HEADINGS[min(max(0, self.level - 2 + level), len(HEADINGS) - 1)]

    def heading(self, heading: links.Heading) -> str:
        kind, title = self.kind(heading.level), _words(heading.title)
        label = None if heading.opens_part else self.labels.get(heading.section)
        linked = rf"\label{{{label}}}" if label else ""
        return f"\\{kind}*{{{title}}}\\addcontentsline{{toc}}{{{kind}}}{{{title}}}{linked}"

    @property
    def appendix(self) -> str:
        """The label of the steps that repeat earlier ones."""
        first = next(iter(self.outline.folds))
        return f"{links.of_sections(self.outline.anchors)[first]}.appendix"

    @cached_property
    def labels(self) -> dict[int | None, str]:
        """The labels of the sections that are referred to; none without titles."""
        if self.level is None:
            return {}
        linked = links.of_sections(self.outline.anchors)
        return {section: linked[section] for section in self.outline.referred_to}

    def together(self, blocks: Sequence[doc.Block], section: int) -> Iterator[str]:
        """Paragraphs; displays go on the same paragraph as the text before them."""
        written: list[str] = []
        for _, following in groupby(blocks, lambda block: isinstance(block, Displayed)):
            together = list(following)
            if displays := [block for block in together if isinstance(block, Displayed)]:
                written[-1:] = ["\n".join([*written[-1:], displayed(displays)])]
            else:
                written += [self.block(block, section) for block in together]
        yield from written

    def block(self, block: doc.Block, section: int) -> str:
        match block:
            case doc.Paragraph(parts):
                return "".join(self.inline(part, section) for part in parts)
            case doc.Formula() | doc.Working() | doc.Matrix():
                return displayed([block])
            case doc.Table():
                return _table(block)
            case doc.Listing(lines):
                return _listing(lines)
            case doc.Picture():
                return in_latex(block, in_text)
            case doc.Curve() | doc.Bars() | doc.Illustration():
                return "\n".join(map(plots.in_latex, on_paper(block)))
            case _:
                assert_never(block)

    def inline(self, part: doc.Inline, section: int) -> str:
        match part:
            case str():
                return _words(part)
            case doc.Plain(words):
                return _words(words, breakable)
            case doc.Emphasis(parts, strong):
                inner = "".join(self.inline(each, section) for each in parts)
                return rf"\{'textbf' if strong else 'emph'}{{{inner}}}"
            case doc.Name(name) | doc.Code(name):
                return rf"\texttt{{{breakable(name)}}}"
            case doc.Percent():
                return rf"${PAPER.in_lines.write(in_percent(part))}$\,\%"
            case doc.Reference(number):
                label = self.labels.get(self.outline.meant(section, number))
                step = f"step~{number}"
                return rf"\hyperref[{label}]{{{step}}}" if label else step
            case Sized(of, shape):
                size = r" \times ".join(map(str, shape))
                return f"${PAPER.in_lines.write(of)}$ (${size}$)"
            case _:
                return f"${PAPER.in_lines.write(part)}$"


def _words(words: str, write: Callable[[str], str] = in_text) -> str:
    """Words of a sentence, with spaces at their ends kept."""
    inner = words.strip(" ")
    before, after = words.partition(inner)[::2] if inner else (words, "")
    return before + (write(inner) if inner else "") + after


def _broken(lines: Iterable[str]) -> str:
    """Lines with breaks; {} keeps a [ or * at the start of a line from being their option."""
    guarded = ("{}" + line if line.startswith(("[", "*")) else line for line in lines)
    return " \\\\\n".join(guarded)


def _form(columns: Sequence[Sequence[doc.Cell]]) -> str:
    """The columns of a table; if too wide together, wide ones share what narrow ones leave.

    Each has room for what cannot be broken in it, and its part of the rest.
    """
    widths = [max(width(cell_text(cell)) for cell in column) for column in columns]
    wide = {i: min(each, LINE) for i, each in enumerate(widths) if each > NARROW}
    if sum(widths) < LINE or not wide:
        return "l" * len(widths)
    narrow = sum(each for each in widths if each <= NARROW)
    room = 1 - SEPARATION * len(widths) - narrow / PAGE
    shares = {i: max(map(_unbroken, columns[i])) / PAGE for i in wide}
    spare = room - sum(shares.values())
    for i, each in wide.items():
        shares[i] += spare * each / sum(wide.values())
    return "".join(COLUMN.format(shares[i]) if i in wide else "l" for i in range(len(widths)))


def _unbroken(cell: doc.Cell) -> int:
    """The width of the longest piece of a cell between two places where LaTeX may break it."""
    match cell:
        case doc.Name(name):
            return min(max(map(width, name.split(" "))), LONGEST_NAME)
        case Sum(terms):
            return max(map(_unbroken, terms)) + len(" +")
        case MatrixProduct(left, right):
            return max(_unbroken(left), _unbroken(right)) + len(" ·")
        case _:
            return width(cell_text(cell))


def _listing(lines: Sequence[str]) -> str:
    """Lines of code as they are typed."""
    return "\n".join(
        [r"\begin{quote}\small", r"\begin{verbatim}", *lines, r"\end{verbatim}", r"\end{quote}"]
    )


def _cell(cell: doc.Cell) -> str:
    if isinstance(cell, doc.Name):
        return breakable(cell.text)
    return f"${PAPER.in_lines.write(cell)}$"


def _table(table: doc.Table) -> str:
    """A table across pages."""
    columns = list(zip(*[map(doc.Name, table.header), *table.rows], strict=True))
    form = _form(columns)
    head = " & ".join(rf"\textit{{{_words(name)}}}" for name in table.header)
    lines = []
    for i, row in enumerate(table.rows):
        cells = list(map(_cell, row))
        marked = [rf"\textbf{{{cell}}}" for cell in cells] if i == table.marked else cells
        lines.append(" & ".join(marked))
    body = _broken([head, *lines])
    return f"{{\\small\n\\begin{{longtable}}[l]{{{form}}}\n{body}\n\\end{{longtable}}}}"
