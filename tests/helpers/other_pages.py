"""Reads Markdown, LaTeX and pages for a browser as the blocks that `terminal_page` reads.

Symbols and labels lose what only one format needs (braces, signs for subscripts and superscripts),
so that those of a formula, a line and a matrix can be compared; numbers keep every digit.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

from tests.helpers import terminal_page
from tests.helpers.latex_truth import DISPLAY, display_lines, fenced_lines, plain
from tests.helpers.truth import worked

_LEVELS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹⁻'", "01234567890123456789-′")


def bare(text: str) -> str:
    """A symbol or a label without the signs that only some formats need."""
    text = unicodedata.normalize("NFC", unescape(text)).translate(_LEVELS)
    text = re.sub(r"\\?\bomega(?=_)", "ω", text)
    text = text.replace("…", "\0").replace(r"\dots", "\0")
    text = re.sub(r"\\(?:text|mathrm|mathbf|textbf)(?=\{)", "", text)
    return re.sub(r"[\\{}$_^()/*`\s]", "", text).replace("\0", "…")


def bared(blocks: list[terminal_page.Block]) -> list[terminal_page.Block]:
    """The blocks with bare symbols and labels, and columns that go on below put together."""
    found: list[terminal_page.Block] = []
    for block in blocks:
        new = _bared(block)
        if (
            isinstance(new, terminal_page.Table)
            and found
            and (whole := terminal_page.unfolded(found[-1], new))
        ):
            found[-1] = whole
        elif (
            isinstance(new, terminal_page.Lines)
            and found
            and isinstance(before := found[-1], terminal_page.Lines)
        ):
            found[-1] = terminal_page.Lines(before.lines + new.lines)  # side by side in LaTeX
        else:
            found.append(new)
    return found


def _bared(block: terminal_page.Block) -> terminal_page.Block:
    match block:
        case terminal_page.Heading(text, formula):
            return terminal_page.Heading(
                text, terminal_page.Formula(bare(formula.left), formula.right) if formula else None
            )
        case terminal_page.Formula(left, right):
            return terminal_page.Formula(bare(left), right)
        case terminal_page.Table(symbol, columns, rows, followed):
            labeled = tuple((bare(label), row) for label, row in rows)
            return terminal_page.Table(bare(symbol), tuple(map(bare, columns)), labeled, followed)
        case terminal_page.Lines(lines):
            return terminal_page.Lines(
                tuple(
                    replace(line, label=bare(line.label), names=tuple(map(bare, line.names)))
                    for line in lines
                )
            )
        case terminal_page.Prose():
            return block


# --- Markdown ------------------------------------------------------------------------------------


def from_markdown(text: str) -> list[terminal_page.Block]:
    """The blocks of Markdown, whether its mathematics stands in fences or between $$ and $$."""
    return bared([block for part in _markdown_parts(text) for block in _of_markdown(part)])


def _markdown_parts(text: str) -> Iterator[list[str]]:
    """Paragraphs; what stands in a fence or between $$ is one."""
    part: list[str] = []
    end = ""
    for line in [*text.split("\n"), ""]:
        if end:
            part.append(line)
            end = "" if line == end else end
        elif line.strip():
            if not part and (line == "$$" or re.fullmatch("`{3,}text", line)):
                end = line.removesuffix("text")
            part.append(line)
        if part and not end and not line.strip():
            yield part
            part = []


def _of_markdown(part: list[str]) -> Iterator[terminal_page.Block]:
    first = part[0]
    if first.startswith("#"):
        yield terminal_page.Heading(first.lstrip("# "))
    elif first == "$$":
        inner = "\n".join(part[1:-1])
        for sign, name in {"<": "lt", ">": "gt", "[": "lbrack", "]": "rbrack"}.items():
            inner = inner.replace(f"{{\\{name}}}", f"\\text{{{sign}}}")
        yield from _of_mathematics(inner)
    elif first.startswith("```"):
        yield from _of_lines(fenced_lines(part[1:-1]))
    elif first.startswith("> "):
        yield terminal_page.read_formula(
            re.sub(r"\\(.)", r"\1", " ".join(line.removeprefix("> ") for line in part))
        )
    elif first.startswith("|") and len(part) > 1:
        table = _markdown_table([_markdown_cells(line) for line in part])
        if table:
            yield table
    else:
        yield terminal_page.Prose(" ".join(part))


def _markdown_cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def _markdown_table(lines: list[list[str]]) -> terminal_page.Table | None:
    header, _, *rows = lines
    marked = [i for i, row in enumerate(rows) if any(cell.startswith("**") for cell in row)]
    symbol = header[0]
    if not symbol and len(rows) == 1:
        symbol = rows[0][0].strip("*")  # a row without a name has the symbol for one
    if symbol.startswith("$"):
        symbol = plain(symbol.strip("$"))
    return _table(symbol, header[1:], [[_unmarked(c) for c in row] for row in rows], marked)


def _unmarked(cell: str) -> str:
    return re.sub(r"\\(?=[^A-Za-z])", "", cell.removeprefix("**").removesuffix("**"))


def _table(
    symbol: str, columns: list[str], rows: list[list[str]], marked: list[int]
) -> terminal_page.Table | None:
    """A matrix; None for a table of words."""
    if re.fullmatch("[a-z]{2,}", symbol):
        return None
    read = tuple((row[0], terminal_page.as_numbers(row[1:])) for row in rows)
    return terminal_page.Table(symbol, tuple(columns), read, marked[0] if marked else None)


def _of_lines(lines: list[str]) -> Iterator[terminal_page.Block]:
    """Worked lines, if they are any: `    label: chain`."""
    if read := worked("\n".join(lines)):
        yield terminal_page.Lines(tuple(read))


# --- LaTeX ---------------------------------------------------------------------------------------

_ARRAY = re.compile(
    r"\\begin\{array\}\{l\|?r*\}\n(?P<header>.*?) \\\\ \\hline\n(?P<rows>.*)\n\\end\{array\}",
    re.DOTALL,
)
_ALIGNED = re.compile(r"\\(?:begin|end)\{(?:aligned|alignedat|alignat\*)\}(?:\[t\])?(?:\{2\})?\n?")


def from_latex(text: str) -> list[terminal_page.Block]:
    """The blocks of a LaTeX document or fragment."""
    found: list[terminal_page.Block] = []
    end = 0
    for display in [*DISPLAY.finditer(text), None]:
        between = text[end : display.start() if display else len(text)]
        for heading in re.split(r"\n\n|(?=\\sub)", between):
            if title := re.match(r"\\(?:sub)*section\*?\{(.*?)\}(?:\\add|$)", heading.strip()):
                found.append(terminal_page.Heading(title[1]))
            elif re.search("[A-Za-z]{3}", re.sub(r"\\[A-Za-z]+(?:=\d+)?|\{\}", "", heading)):
                found.append(terminal_page.Prose(heading))
        if display:
            inner = display[0].removeprefix(r"\[ ").removesuffix(r" \]")
            for piece in inner.split("\n\\qquad "):
                found += _of_mathematics(piece)
            end = display.end()
    return bared(found)


def _of_mathematics(piece: str) -> Iterator[terminal_page.Block]:
    """A matrix, worked lines or a formula that is displayed."""
    if array := _ARRAY.fullmatch(piece):
        header, *rows = [
            re.split(r"(?<!\\)&", row)
            for row in [array["header"], *re.split(r" \\\\\n", array["rows"])]
        ]
        marked = [i for i, row in enumerate(rows) if any("\\mathbf" in cell for cell in row)]
        symbol = plain(header[0].strip() or rows[0][0])
        cells = [[row[0], *map(_number, row[1:])] for row in rows]
        table = _table(symbol, header[1:], cells, marked)
        if table:
            yield table
    elif lines := display_lines(piece):
        yield from _of_lines(lines)
    elif "\\begin{array}" not in piece:
        one_row = re.sub(r"\\\\(?:\[4pt\]|\*)?\n|[&\n]", " ", _ALIGNED.sub("", piece))
        yield terminal_page.read_formula(plain(one_row))


def _number(cell: str) -> str:
    """The number of a cell, without its color and its weight."""
    inner = re.sub(r"^\\cellcolor\{.*?\}", "", cell.strip())
    return plain(re.sub(r"^\\mathbf\{(.*)\}$", r"\1", inner))


# --- pages for a browser -------------------------------------------------------------------------


def from_html(html: str) -> list[terminal_page.Block]:
    """The blocks of a page as it opens: what is hidden at first is left out."""
    reader = _Page()
    reader.feed(html)
    return bared(reader.blocks)


class _Page(HTMLParser):
    VOID = ("br", "meta", "link", "input", "img", "hr", "source", "col")

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[terminal_page.Block] = []
        self.open: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.lines: list[str] = []
        self.rows: list[list[str]] = []
        self.headed = False  # whether the first row names the columns
        self.shape = 0  # the depth of a shape that stands below a symbol
        self.under: list[int] = []  # how many children each open `munder` has had
        self.token = 0  # the followed one

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if self.open and self.open[-1][0] == "munder":
            self.under[-1] += 1
            if self.under[-1] == 2 and not self.shape:
                self.shape = len(self.open) + 1
        if tag in self.VOID:
            return
        self.open.append((tag, given))
        if tag == "munder":
            self.under.append(0)
        if tag in ("h1", "h2", "h3", "p", "li", "td", "th", "caption") or self._is_formula():
            self.text = ""
        if tag == "tr":
            self.rows.append([])
        if tag == "table":
            self.rows, self.headed = [], False
        if tag == "thead":
            self.headed = True
        if tag == "ol":
            self.lines = []
        if "data-for" in given and "hidden" not in given and given["data-for"].isdigit():
            self.token = int(given["data-for"])

    def handle_data(self, data: str) -> None:
        if not self.shape:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open[-1][0] != tag:
            self.open.pop()
        if not self.open:
            return
        formula_ends = self._is_formula()
        hidden = any("hidden" in given for _, given in self.open)
        if self.shape == len(self.open):
            self.shape = 0
        _, given = self.open.pop()
        if tag == "munder":
            self.under.pop()
        if tag in ("th", "td") and self.rows:
            self.rows[-1].append(self.text.strip())
        if hidden:
            return
        if tag in ("h1", "h2", "h3"):
            self.blocks.append(terminal_page.Heading(self.text))
        elif tag == "p":
            self.blocks.append(terminal_page.Prose(self.text))
        elif tag == "li":
            self.lines.append(f"    {re.sub(' +', ' ', self.text.strip())}")
        elif tag == "ol" and given.get("class") == "working":
            self.blocks += _of_lines(self.lines)
        elif tag == "table" and given.get("class", "").startswith("matrix"):
            self._matrix(given)
        elif formula_ends:
            left, _, right = self.text.partition("=")
            self.blocks.append(terminal_page.Formula(left, right or left))

    def _is_formula(self) -> bool:
        return self.open[-1] == ("math", {"display": "block"})

    def _matrix(self, given: dict[str, str]) -> None:
        header, rows = [""], self.rows
        if self.headed:  # a vector has no names of columns
            header, *rows = rows
        symbol = given["aria-label"].split(", ")[0]
        marked = []
        if "data-first-token" in given:
            marked = [self.token - int(given["data-first-token"])]
        table = _table(symbol, header[1:], rows, marked)
        if table:
            self.blocks.append(table)
