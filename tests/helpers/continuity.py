"""An independent judge of continuity: where did the numbers stand before that a line puts in?

It reads the pages that `run`, `loss` and `generate --worked` print for a terminal without color.
What a line puts in are the numbers of its first numeric side. Each must have stood before, with
the very same digits, in a matrix or as the last side of a line; unless the operation
itself brings it: the 2 of the width in √2, the count that a mean is divided by, the 0 of max(0, x).
Numbers of sentences, and of columns of positions and ids, are no place to have stood.

`violations` asks that and no more. `misplaced` asks in addition that the place is one that the
line's formula names: what goes into `Q¹ = X′ · W_Q¹` must have stood in X′ or in W_Q¹.
`unprinted` asks that of the numbers of sentences.
`two_forms` holds the lines and the matrix of one value against each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, zip_longest
from typing import NamedTuple

from tests.helpers import terminal_page
from tests.helpers.truth import Node, Worked


class Violation(NamedTuple):
    line: int  # counted from 1
    text: str
    number: str


@dataclass(frozen=True)
class Operand:
    """A number that a line puts in."""

    line: int
    text: str  # of the whole line
    number: str
    stood: bool  # whether it stood before, or the operation itself brings it
    fits: bool  # whether it did so in a place that the formula names


def violations(text: str) -> list[Violation]:
    """The numbers put in that stood nowhere before, and the sums elided in two forms."""
    lost = [Violation(o.line, o.text, o.number) for o in operands(text) if not o.stood]
    return sorted(lost + _elided_in_two_forms(text))


def unprinted(text: str, typed: str) -> list[str]:
    """The sentences with a number that stands in no matrix, line or picture, and is not typed.

    What a sentence computes is recomputed by the judge of its form. Each paragraph of the text is
    a line, and a heading has a rule below it; a worked line ends in its result, without a point.
    Whole numbers count something.
    """
    prose = re.compile(r"^(?!.*[=≈] \S+$)[^ ▸═─\n].*(?!\n[═─])$", re.MULTILINE)
    shown = {*_FRACTION.findall(prose.sub("", text) + typed)}
    return [
        f"{number} is not printed: {paragraph}"
        for paragraph in prose.findall(text)
        for number in _FRACTION.findall(_COMPUTED.sub("", paragraph))
        if number not in shown
    ]


_FRACTION = re.compile(r"(?<![\w.])\d+\.\d+(?:×10⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?")
_COMPUTED = re.compile(
    r"“.*?”|\S+ %|\S+ bits per weight|E2M1 has the numbers .+? and 6|"
    r"(?:about|≈|at most|this model has the loss) \S+|"
    r"(?:istance|largest feature is) .+? at the output(?: \(\S+\))?"
)
"""A name, what a format of numbers has, and what a sentence computes.

That is a share in percent, a mean of bits, a difference, a distance, an output.
"""


def misplaced(text: str) -> list[Violation]:
    """The numbers put in that stood, if at all, in no place that the line's formula names."""
    return [
        Violation(o.line, o.text, o.number)
        for o in operands(text)
        # The sum of all squares of a matrix: that each was printed is held by `violations`.
        if not o.fits and not o.text.startswith(_SQUARES)
    ]


# --- what a line puts in -------------------------------------------------------------------------


def operands(text: str) -> list[Operand]:
    """Every number that every worked line puts in."""
    page = _Page()
    found: list[Operand] = []
    steps = terminal_page.split_steps(terminal_page.read_blocks(text))
    for number, step in enumerate(steps):
        page.enter(step, chain.from_iterable(steps[number:]))
        for block in step:
            if isinstance(block, terminal_page.Lines):
                for line in block.lines:
                    if not _is_typed(line):
                        found += page.operands(line, starts=line is block.lines[0])
                    page.stands(page.symbol(line), [_printed(line.sides[-1])])
            else:
                page.read(block)
    return found


def _is_typed(line: Worked) -> bool:
    """Whether it only says what is typed and stands in no matrix: T = 1.5.

    Or a token's own number of those of all tokens, α₂ = 0.5; or what the squares of gradients
    come to that are not written out.
    """
    squares = line.names[:1] and line.names[0].startswith(_SQUARES)
    gates = line.names[:1] and re.fullmatch("[αβγ][₀-₉]+[⁰¹²³⁴⁵⁶⁷⁸⁹]*", line.names[0])
    return bool(line.names in _TYPED or squares or gates) and len(line.sides) == 1


_SQUARES = "sum((∂L/∂"
_TYPED = (
    ("c",),
    ("cᴱ",),
    ("√d_k",),
    ("√d_kᴱ",),
    ("√d_model",),
    ("√d_modelᴱ",),
    ("s",),
    ("sᴱ",),
    ("T",),
    ("u",),
    ("α",),
    ("β",),
)
"""What scores are divided by, also where it is given; the temperature, a random number; gates."""


_QUERIES = r"(Q|A[₀-₉])\S*|\[Q\S* \S+\]"
"""Queries, with a rotary part or not, or the parts of one."""


def _query(blocks: Iterable[terminal_page.Block]) -> terminal_page.Table | None:
    """The first matrix of queries."""
    tables = (block for block in blocks if isinstance(block, terminal_page.Table))
    return next(
        (table for table in tables if re.fullmatch("(∂L/∂)?Qᴱ?[′¹²³⁴⁵⁶⁷⁸⁹⁰]*", table.symbol)), None
    )


class _Page:
    """What has stood on the page so far."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.places: dict[str, set[str]] = {}  # numbers by the symbol under which they stood
        self.width = 0  # of the last query; on the way back, of the next
        self.widths: dict[str, int] = {}  # of queries, by symbol: those of several heads may wait
        self.features = 0  # of the embeddings
        self.targets = 0  # of each position, if the loss is of numbers
        self.fresh: set[str] = set()  # the symbols that have been written in this step
        self.expressions: list[str] = []  # of this step, those that come later too
        self.formula: terminal_page.Formula | None = None  # the last one read in this step
        self.own = False  # whether it stands right over the lines, with no sentence between
        self.headed = False  # whether it stands in the heading, over all lines
        self.number = ""  # of this step
        self.earlier: dict[str, set[str]] = {}  # all numbers that ever stood under a symbol
        self.recalls = False  # whether the section is about a step of an earlier layer
        self.masks: dict[str, terminal_page.Table] = {}  # by the number of the step that has it

    def enter(
        self, step: list[terminal_page.Block], following: Iterable[terminal_page.Block]
    ) -> None:
        """A new step: results without a name are forgotten, those with a name can be replaced."""
        self.fresh, self.expressions, self.formula, self.own = set(), [], None, False
        self.recalls = False
        self.number = terminal_page.title_of(step).partition(" ")[0]
        self.places.pop("", None)
        for block in step:
            if isinstance(block, terminal_page.Heading) and block.formula:
                self.formula, self.own = block.formula, True
                self.expressions += [block.formula.left, block.formula.right]
            elif isinstance(block, terminal_page.Formula):
                self.expressions += [block.left, block.right]
                if reads := re.match(_QUERIES, block.right):  # √d_k can stand before it
                    self.width = self.widths.get(reads[0], self.width)
            elif isinstance(block, terminal_page.Table):
                self.expressions.append(block.symbol)
        if (query := _query(following)) and "Gradient" in terminal_page.title_of(step):
            self.width = len(query.columns)
        self.headed = self.own

    def read(self, block: terminal_page.Block) -> None:
        match block:
            case terminal_page.Heading(formula=terminal_page.Formula() as formula):
                self.stands(formula.left, self.places.get(formula.right, ()))
            case terminal_page.Prose(text=text):
                self.own = self.headed
                self.recalls |= text.startswith("This section follows the token")
                earlier = re.match(r"(?:As|.* is computed as) in step (\d+)[.,]", text)
                if earlier and (mask := self.masks.get(earlier[1])):
                    self.read(mask)  # layers in between can have another one
            case terminal_page.Formula():
                self.formula, self.own = block, True
                if block.left != block.right:
                    self.stands(block.left, self.places.get(block.right, ()))  # y = x₂
                if block.right in ("sum(e)", "mean(e)") and self.targets == 1:
                    self.stands(block.left, self.places["e"])  # of one number each
                if both := re.fullmatch(r"append\((.+), (.+)\)", block.right):
                    places = self.earlier if self.recalls else self.places
                    for part in both.groups():
                        self.stands(block.left, places.get(part, ()))
            case terminal_page.Table(symbol=symbol, columns=columns, rows=rows):
                self.stands(symbol, chain.from_iterable(numbers for _, numbers in rows))
                if symbol == "t":
                    self.targets = len(columns)
                if symbol in ("M", "Mᴱ"):
                    self.masks[self.number] = block
                if re.match(_QUERIES, symbol):
                    self.width = self.widths[symbol] = len(columns)
                if re.fullmatch("(∂L/∂)?X[′ᴱ]*", symbol):
                    self.features = len(columns)

    def stands(self, symbol: str, numbers: Iterable[str]) -> None:
        """The numbers stand here; what the symbol meant in an earlier step, it means no more."""
        if symbol not in self.fresh:
            self.fresh.add(symbol)
            self.places[symbol] = set()
        new = {number for number in numbers if number}
        self.places[symbol] |= new
        self.earlier.setdefault(symbol, set()).update(new)
        self.seen |= new

    def symbol(self, line: Worked) -> str:
        """What the line works out; nothing, if no name is given to it."""
        if line.names:
            return line.names[0]
        return self.formula.left if self.formula and self.own else ""

    def operands(self, line: Worked, *, starts: bool) -> Iterator[Operand]:
        mask = any(_names(e, m) for e in self.expressions for m in ("M", "Mᴱ"))
        query = re.match(_QUERIES, self.formula.right) if self.formula else None
        width = self.widths.get(query[0], self.width) if query else self.width
        reading = _Reading(line, self.formula, width, self.features, mask, starts)
        named = self.named() | (self.squares() if "Σ_squares" in line.names else set())
        for part in reading.parts(line.sides[0]):
            minus = part.subtracted or reading.said("-sum(")
            forms = {part.number} | ({_negated(part.number)} if minus else set())
            stood = part.brought or bool(forms & self.seen)
            fits = part.brought or bool(forms & named)
            yield Operand(line.line, line.text, part.number, stood, fits)

    def squares(self) -> set[str]:
        """What the squares of each parameter's gradients come to."""
        places = [self.places[symbol] for symbol in self.places if symbol.startswith(_SQUARES)]
        return set(chain.from_iterable(places))

    def named(self) -> set[str]:
        """The numbers of the places that the formula over the lines names, and of nameless ones.

        Lines without a formula of their own may use whatever is named anywhere in their step.
        """
        said = [self.formula.right] if self.formula and self.own else self.expressions
        places = self.earlier if self.recalls else self.places
        return {
            number
            for symbol, numbers in places.items()
            if not symbol or any(_brings(expression, symbol) for expression in said)
            for number in numbers
        }


@cache
def _brings(expression: str, symbol: str) -> bool:
    """Whether the symbol's numbers are put in: it is named, its square, its angle or its column."""
    wave = re.fullmatch("(?:m[₂-₉]*ᴱ?×)?(?:sin|cos)[(](θ[₂-₉]*ᴱ?)[)]", symbol)
    turned = wave and re.search(rf"rotate(?: back)?\(.*, {wave[1]}\)", expression)
    squared = symbol in ("g", "g′") and _names(expression, f"{symbol}²")
    column = symbol.startswith("G") and re.search(rf"\bG[₁-₉]+{symbol[1:]}(?!ᴱ)", expression)
    return bool(turned or squared or column) or _names(expression, symbol)


def _names(expression: str, symbol: str) -> bool:
    """Whether the symbol is part of the expression; the tick of a transpose does not count."""
    return bool(re.search(rf"(?<![\w′]){re.escape(symbol)}(?=ᵀ|(?![\w′]))", expression))


class _Part(NamedTuple):
    number: str
    subtracted: bool = False  # a minus stands before it: - 1.750 may have stood as -1.750
    brought: bool = False  # by the operation itself


@dataclass(frozen=True)
class _Reading:
    """Takes the first side of a line apart, and tells what the operation itself brings."""

    line: Worked
    formula: terminal_page.Formula | None
    width: int  # of the last query
    features: int  # of the embeddings
    mask: bool  # whether its step is about the mask
    starts: bool  # whether the line is the first of those that stand together

    def parts(self, node: Node, subtracted: bool = False) -> Iterator[_Part]:
        match node.kind, node.parts:
            case "number", _:
                number = _printed(node)
                brought = bool(node.more) or number in self.constants
                if number.startswith("-"):
                    brought |= any(self.said(f"({number}{end}") for end in (",", "×", ")"))
                yield _Part(number, subtracted, brought)
            case "sum", [probability, target] if self.is_missed(target):
                yield from self.parts(probability)
                yield _Part(_printed(target), brought=True)
            case "sum", [zero, added] if self.starts_a_running_sum(zero, added):
                yield _Part("0", brought=True)
                yield from self.parts(added)
            case "sum", [pair, start] if self.said("(k - "):  # k counts the pairs
                yield _Part(_printed(pair), brought=True)
                yield from self.parts(start)
            case "sum", terms:
                for sign, term in zip(node.signs, terms, strict=True):
                    if self.mask and _printed(term) == "-∞":
                        yield _Part(_printed(term), brought=True)
                    else:
                        yield from self.parts(term, sign < 0)
            case "/", [over, under]:
                yield from self.parts(over, subtracted)
                if self.is_count(over, under) or self.is_root_of_width(under, _terms(over)):
                    yield _Part(under.text.removeprefix("√"), brought=True)
                else:
                    yield from self.parts(under)
            case "e^", [power] if power.kind == "number" and self.said("e^(-"):
                yield _Part(_negated(_printed(power)))  # the minus is the formula's
            case "√", [width] if self.is_root_of_width(node):
                yield _Part(_printed(width), brought=True)
            case "^", [base, exponent]:
                yield from self.parts(base)
                yield from self.exponent(exponent)
            case "×", [position, frequency] if self.is_position(position):
                yield _Part(_printed(position), brought=True)
                yield from self.parts(frequency)
            case "×", [left, right]:
                yield from self.parts(left, subtracted)
                yield from self.parts(right)
            case _, inner:
                for part in inner:
                    yield from self.parts(part)

    @property
    def constants(self) -> set[str]:
        return self.formula.constants if self.formula else set()

    def said(self, piece: str) -> bool:
        """Whether the piece is part of the formula, of the decoder's or of the encoder's."""
        return self.formula is not None and piece in self.formula.right.replace(
            terminal_page.OF_ENCODER, ""
        )

    def is_count(self, over: Node, under: Node) -> bool:
        return self.said("mean(") and _printed(under) == str(_terms(over))

    def is_root_of_width(self, node: Node, terms: int = 0) -> bool:
        """Whether it is √d_k, under a dot product of so many terms or stated alone."""
        if node.kind != "√":
            return False
        if terms > 1:
            return self.said("√d_k") and _printed(node.parts[0]) == str(terms)
        names = [name.replace(terminal_page.OF_ENCODER, "") for name in self.line.names]
        if "√d_model" in names:
            return _printed(node.parts[0]) == str(self.features)
        alone = "√d_k" in names or self.said("√d_k")
        return alone and _printed(node.parts[0]) == str(self.width)

    def is_missed(self, target: Node) -> bool:
        """Whether it is t of p - t: 1 for the right word, else 0."""
        return self.said("p - t") and _printed(target) in ("0", "1")

    def is_position(self, node: Node) -> bool:
        return self.said("pos×") and re.fullmatch("[0-9]+", _printed(node)) is not None

    def starts_a_running_sum(self, zero: Node, added: Node) -> bool:
        last = _printed(self.line.sides[-1])
        return (
            self.starts
            and not self.mask
            and _printed(zero) == "0"
            and _printed(added) == last != ""
        )

    def exponent(self, node: Node) -> Iterator[_Part]:
        """-2k / d: k is that of the frequency, which is the label of the line."""
        index = re.search("[₀₁₂₃₄₅₆₇₈₉]+$", self.line.label)
        twice = str(-2 * int(index[0].translate(_SUBSCRIPTS))) if index else ""
        if node.kind == "/" and self.said("-2k") and _printed(node.parts[0]) == twice:
            yield _Part(twice, brought=True)
            yield from self.parts(node.parts[1])
        else:
            yield from self.parts(node)


_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def _printed(node: Node) -> str:
    """The number as it is printed; nothing, if it is no single number."""
    return node.text if node.kind == "number" else ""


def _negated(number: str) -> str:
    if number == "0":
        return number
    return number.removeprefix("-") if number.startswith("-") else f"-{number}"


def _terms(node: Node) -> int:
    """How many terms the sum has, those that are not written out counted."""
    if node.kind != "sum":
        return int(node.more or 1)
    return sum(_terms(part) for part in node.parts)


def _elided_in_two_forms(text: str) -> list[Violation]:
    """Sums like `[12 more: 1.234]` that another side of the same line states otherwise."""
    found = []
    for line in terminal_page.worked_lines(text):
        first, *others = dict.fromkeys(chain.from_iterable(map(_elided, line.sides))) or [""]
        found += [Violation(line.line, line.text, other) for other in others if first]
    return found


def _elided(node: Node) -> list[str]:
    if node.more:
        return [node.text]
    return [text for part in node.parts for text in _elided(part)]


# --- one value, one form -------------------------------------------------------------------------


def two_forms(text: str) -> list[str]:
    """Where no row of a matrix has the numbers of its lines; for `line` and `step`."""
    found: list[str] = []
    for step in terminal_page.split_steps(terminal_page.read_blocks(text)):
        found += [
            f"{terminal_page.title_of(step)}: no row of {block.symbol} has the numbers of its lines"
            for block in step
            if isinstance(block, terminal_page.Table)
            and not _is_a_row(_results(block.symbol, step), block)
        ]
    return found


def _is_a_row(results: list[tuple[str, str]], table: terminal_page.Table) -> bool:
    rows = [dict(zip(table.columns, numbers, strict=False)) for _, numbers in table.rows]
    if (
        table.symbol.removesuffix(terminal_page.OF_ENCODER) == "P"
    ):  # of an odd width: there is no column for the last cosine
        row = tuple(number for _, number in results)[: len(table.columns)]
        return not row or row in [numbers for _, numbers in table.rows]
    mine = [(label, number) for label, number in results if label in table.columns]
    return not mine or any(set(mine) <= set(row.items()) for row in rows)


def _results(symbol: str, blocks: list[terminal_page.Block]) -> list[tuple[str, str]]:
    """Label and last side of each line that works the symbol out: those under its formula.

    The positions have none: there, sines and cosines come in turn.
    """
    formula: terminal_page.Formula | None = None
    in_heading: terminal_page.Formula | None = None
    nameless: list[list[tuple[str, str]]] = []
    for block in blocks:
        match block:
            case terminal_page.Heading():
                formula = in_heading = block.formula
            case terminal_page.Formula():
                formula = block
            case terminal_page.Prose():
                formula = in_heading
            case terminal_page.Lines(lines=lines) if in_heading and any(
                line.names for line in lines
            ):
                continue  # √d_k = √2: it works out something of its own
            case terminal_page.Lines(lines=lines):
                results = [(line.label, _printed(line.sides[-1])) for line in lines]
                if formula and formula.left == symbol:
                    return results
                if formula is None:
                    nameless.append(results)
    waves = nameless[-2:] if symbol.removesuffix(terminal_page.OF_ENCODER) == "P" else []
    return [each for pair in zip_longest(*waves) for each in pair if each]
