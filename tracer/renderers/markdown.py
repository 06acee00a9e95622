"""Documents as GitHub-flavored Markdown: worked lines as text, or as mathematics."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import assert_never
from urllib.parse import quote

from tracer.formula.expression import Blank, Expression, Number, Sized
from tracer.lesson import document as doc
from tracer.names import name_text, visible
from tracer.renderers import HeadingLevel, bars, curve, figures, links
from tracer.renderers.figures import Drawn
from tracer.renderers.mathematics import PAGE
from tracer.renderers.picture.characters import in_characters
from tracer.renderers.rows import cells
from tracer.renderers.text import in_percent, number_text, one_line, sides, text
from tracer.renderers.wrapping import wrapped

WIDTH = 84
"""Characters in a line of fenced text: what a page shows without a scroll bar."""

LONGEST = 5000
"""The most characters that MathJax sets in one display."""

DEEPEST = 6
"""The levels of titles in Markdown."""

MARKUP = re.compile(
    r"^[!-/:-@^{-~]|[\\`*\[\]|<>$~@&#]|(?<![^\W_])_|_(?![^\W_])|:(?=\S)|\.(?=[\s)]|$)"
)
"""Markup of Markdown, HTML or tables, to be escaped; not inside words: W_Q, street-stall."""

MARKUP_IN_TEXT = re.compile(
    r"[`*~$]"
    r"|(?<![^\W_])_|_(?![^\W_])"
    r"|\\(?=[!-/:-@\[-`{-~]|$)"  # a backslash that would escape what follows it
    r"|\](?=[(\[])|\[(?=\^)"  # links and footnotes
    r"|<(?=[a-z/!?])|&(?=#?\w+;)"  # HTML
    r"|:(?=//|\w+:)|(?<=www)\.|@(?=\w)",  # addresses, which some readers turn into links
    re.IGNORECASE,
)
"""Markup of Markdown or HTML in titles and sentences, where all else is left as it is written."""

AT_THE_START = re.compile(r"^(\d{0,9})([.)](?=\s|$)|[-+=](?!\d)|>|#(?=#*(?:\s|$))|\[(?=[^\]]*\]:))")
"""The beginning of a paragraph that would be a list, a line, a quotation, a title or a link."""

AT_THE_END = re.compile(r"(?<!\S)#(?=#*$)")
"""The end of a title that would be left out."""

BRACKETS = re.compile(r"(?<!\\)[\[\]]")
"""Brackets inside of a link."""


def render(
    document: doc.Document,
    *,
    math: bool,
    heading: HeadingLevel = HeadingLevel.TWO,
    figures: str | None = None,
) -> str:
    """A document; with `math`, formulas and worked lines in $$ … $$.

    The document's title stands a level above `heading`, titles of steps in a part a level below it.
    `figures` is the path to the folder of its pictures, if they are to be shown.
    """
    level = None if heading is HeadingLevel.NONE else int(heading)
    if figures is None:
        document = doc.without_illustrations(document)
    page = _Page(document, links.Outline(document), math, level, figures)
    return "\n\n".join(page.blocks()) + "\n"


def escaped(name: str) -> str:
    """A token or label, with all markup escaped."""
    return MARKUP.sub(lambda found: f"&#{ord(found[0])};", name_text(name))


@dataclass(frozen=True)
class _Page:
    document: doc.Document
    outline: links.Outline
    math: bool
    level: int | None
    """Of the sections' titles; None leaves all titles out."""
    figures: str | None

    def blocks(self) -> Iterator[str]:
        document = self.document
        if document.whole:
            yield from self.title(AT_THE_END.sub(r"\\#", _words(name_text(document.title))), 0)
        yield from (self.block(block, -1) for block in document.introduction)
        if self.level is not None and self.outline.contents:
            yield self.contents()
        until = None
        for i, section in enumerate(document.sections):
            opening = self.outline.over[i]
            if fold := self.outline.folds.get(i):
                yield from (part for h in opening if h.opens_part for part in self.heading(h))
                opening = [heading for heading in opening if not heading.opens_part]
                until = fold.sections[-1]
                yield f"<details>\n<summary>{escape(fold.title)}</summary>"
            for heading in opening:
                yield from self.heading(heading)
            yield from (self.block(block, i) for block in section.blocks)
            if i == until:
                yield "</details>"

    def heading(self, heading: links.Heading) -> Iterator[str]:
        """The title of a part or a section, after its anchor."""
        if heading in self.anchors:
            yield f'<a id="{self.anchors[heading]}"></a>'
        yield from self.title(_words(heading.title), heading.level)

    def title(self, title: str, level: int) -> Iterator[str]:
        """A title: of the whole text (level 0), of a part (1), of a step in it (2)."""
        if self.level is not None:
            yield f"{'#' * min(max(1, self.level - 1 + level), DEEPEST)} {title}"

    @cached_property
    def anchors(self) -> dict[links.Heading, str]:
        """The anchor of each heading that is linked to; none without titles."""
        outline = self.outline
        return {
            heading: anchor
            for heading, anchor in outline.anchors.items()
            if self.level is not None and (outline.contents or self.is_referred_to(heading))
        }

    def is_referred_to(self, heading: links.Heading) -> bool:
        return heading.section in self.outline.referred_to and not heading.opens_part

    def contents(self) -> str:
        return "\n".join(
            f"{'    ' * (heading.level - 1)}- [{_linked(heading.title)}](#{self.anchors[heading]})"
            for heading in self.outline.contents
        )

    def reference(self, number: int, section: int) -> str:
        """A step, with a link if the text has it."""
        anchor = self.linked.get(self.outline.meant(section, number))
        return f"[step {number}](#{anchor})" if anchor else f"step {number}"

    @cached_property
    def linked(self) -> dict[int | None, str]:
        """The link of each section."""
        return links.of_sections(self.anchors)

    def block(self, block: doc.Block, section: int) -> str:
        match block:
            case doc.Paragraph(parts):
                return AT_THE_START.sub(r"\1\\\2", self._sentence(parts, section))
            case doc.Formula(chain):
                if self.math:
                    return _display(PAGE.formula(chain))
                return f"> {_words(one_line(chain))}"
            case doc.Working(lines):
                return _displays(block) if self.math else fenced(_written(lines))
            case doc.Matrix():
                return "\n\n".join([self._matrix(block), *self._figure(block)])
            case doc.Table(header, rows, marked):
                cells = [[self._cell(cell) for cell in row] for row in rows]
                return _table([name and escaped(name) for name in header], cells, marked, "---")
            case doc.Listing(lines):
                return fenced(lines, "python")
            case doc.Picture():
                return "".join(self._figure(block)) or fenced(in_characters(block, WIDTH))
            case doc.Curve():
                return "".join(self._figure(block)) or fenced(curve.in_characters(block, WIDTH))
            case doc.Bars():
                drawn = [row.plain for row in bars.in_characters(block, WIDTH)]
                return "".join(self._figure(block)) or fenced(drawn)
            case doc.Illustration():
                return "".join(self._figure(block))
            case _:
                assert_never(block)

    def _figure(self, block: Drawn) -> list[str]:
        if self.figures is None or block.figure is None:
            return []
        path = quote(os.fsencode(f"{self.figures}/{figures.file_name(block.figure)}"))
        return [f"![{escaped(figures.description(block))}]({path})"]

    def _matrix(self, matrix: doc.Matrix) -> str:
        header = [self._symbol(matrix.symbol), *(name and escaped(name) for name in matrix.columns)]
        cells = [
            [label and escaped(label), *map(self._number, numbers)]
            for label, numbers in zip(matrix.rows, matrix.cells, strict=True)
        ]
        return _table(header, cells, matrix.marked, "---:")

    def _sentence(self, parts: Sequence[doc.Inline], section: int) -> str:
        """The pieces of a sentence, the last one first: each may depend on what follows it."""
        written = ""
        for part in reversed(parts):
            written = self._inline(part, section, written[:1]) + written
        return written

    def _inline(self, part: doc.Inline, section: int, after: str) -> str:
        match part:
            case str():
                return _words(part)
            case doc.Plain(words):
                return _words(visible(words))
            case doc.Emphasis(parts, strong):
                return _emphasized(self._sentence(parts, section), strong, after)
            case doc.Name(name) | doc.Code(name):
                return _code(name)
            case doc.Percent():
                return f"{self._number(in_percent(part))} %"
            case Number():
                return number_text(part)
            case doc.Reference(number):
                return self.reference(number, section)
            case Sized(of, shape):
                return f"{self._symbol(of)} ({' × '.join(map(str, shape))})"
            case _:
                return self._symbol(part)

    def _number(self, number: Number | Blank) -> str:
        return number_text(number) if isinstance(number, Number) else self._symbol(number)

    def _cell(self, cell: doc.Cell) -> str:
        return escaped(cell.text) if isinstance(cell, doc.Name) else self._symbol(cell)

    def _symbol(self, expression: Expression) -> str:
        if self.math:
            return f"${PAGE.in_lines.write(expression)}$"
        return _words(text(expression)).replace("|", r"\|")


def _emphasized(inner: str, strong: bool, after: str) -> str:
    """Between asterisks where these are read as emphasis, whatever follows; else between tags."""
    closes = inner[-1:].isalnum() or (after in ("", " ") and not inner[-1:].isspace())
    if inner[:1].isalnum() and closes and after not in ("*", "<") and "*" not in inner:
        marks = "**" if strong else "*"
        return f"{marks}{inner}{marks}"
    tag = "strong" if strong else "em"
    return f"<{tag}>{inner}</{tag}>"


def _words(words: str) -> str:
    return MARKUP_IN_TEXT.sub(r"\\\g<0>", words)


def _linked(words: str) -> str:
    return BRACKETS.sub(r"\\\g<0>", _words(words))


def _code(name: str) -> str:
    """A token or label as code, between more backticks than it holds together."""
    whole = name_text(name)
    marks = "`" * (_longest_run([whole]) + 1)
    room = " " * (whole[0] == "`" or whole[-1] == "`")
    return f"{marks}{room}{whole}{room}{marks}"


def _longest_run(lines: Sequence[str]) -> int:
    """The most backticks in a row."""
    return max((len(run) for line in lines for run in re.findall("`+", line)), default=0)


def _display(mathematics: str) -> str:
    return f"$$\n{mathematics}\n$$"


def _displays(working: doc.Working) -> str:
    """Worked lines below each other, in several displays where one would be too long."""
    lines = working.lines
    aligned = f"\\begin{{aligned}}\n{PAGE.lines(working)}\n\\end{{aligned}}"
    if len(aligned) <= LONGEST or len(lines) == 1:
        return _display(aligned)
    half = len(lines) // 2
    return "\n\n".join(map(_displays, (doc.Working(lines[:half]), doc.Working(lines[half:]))))


def fenced(lines: Sequence[str], language: str = "text") -> str:
    """Lines in a fence that is longer than any run of backticks in them."""
    fence = "`" * max(3, _longest_run(lines) + 1)
    return "\n".join([f"{fence}{language}", *lines, fence])


def _written(lines: Sequence[doc.Line]) -> list[str]:
    """Worked lines behind labels of the same width."""
    labels = ["" if line.label is None else f"{name_text(line.label)}: " for line in lines]
    longest = max(map(cells, labels))
    return [
        row
        for label, line in zip(labels, lines, strict=True)
        for row in wrapped(sides(line.chain), label + " " * (longest - cells(label)), WIDTH)
    ]


def _table(header: list[str], rows: list[list[str]], marked: int | None, rule: str) -> str:
    """A table with its first column aligned to the left."""
    lines = [header, ["---", *[rule] * (len(header) - 1)]]
    for i, row in enumerate(rows):
        lines.append([f"**{cell}**" if i == marked and cell else cell for cell in row])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
