"""Check rows of numbers: shares that do not add up to 1, softmax, norms, repeated definitions.

A row of shares whose sum is too small may be a part of a longer one. It is reported if scores of
its length precede it, or if another row of its matrix adds up to 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TypeAlias

from tracer.audit.judging.evaluation import USUAL, StandsFor, as_input, evaluate, face, window
from tracer.audit.judging.finding import CODES, Finding
from tracer.audit.judging.intervals import Interval, point, to_the_power
from tracer.audit.judging.judgement import flat
from tracer.audit.reading import expression as ex
from tracer.audit.reading.equations import Named
from tracer.audit.reading.operands import printed_number
from tracer.audit.reading.texts import Markup, Text

Row: TypeAlias = Sequence[ex.Number]
Grid: TypeAlias = tuple[Sequence[Row], int, int]
"""The rows of a vector or a matrix in brackets, and its start and end."""

FEWEST = 3
"""A row is compared with an earlier one if it has this many numbers of this many digits."""

ALIKE = Decimal("0.05")
"""Rows that differ by more than this part of their largest number are different quantities."""

LEAST, MOST, JUST_ABOVE = Decimal("0.5"), Decimal("1.5"), Decimal("1.05")
"""The sums of wrong shares. Without evidence, larger ones than the last are independent shares."""

NEAR = 400  # characters between scores and their softmax

_NUMBER = r"-?(?:\d{1,12}(?:\.\d{0,20})?|\.\d{1,20})"
_ONE = re.compile(_NUMBER)
_ROW = re.compile(rf"\[[ \t]*{_NUMBER}(?:(?:[ \t]*,[ \t]*|[ \t]+){_NUMBER}){{1,99}}[ \t,]*\]")
_NEXT_ROW = re.compile(r",?[ \t]*\n[ \t#>%*/]*\Z")
_OPENS = re.compile(r"(?:\[|(?:torch\.)?tensor\(|(?:np\.)?array\(|[\s#>%`*\"])*\Z")

_SIGN = r"\s*(?:=|≈|:|→|->|=>|\\approx|\\rightarrow|\\to)\s*\Z"
_SHARES = re.compile(
    r"(?i)(?:softmax(?:\}?\([^()]*(?:\([^()]*\)[^()]*)*\)?)?|attention[ _-]weights?|attn_weights?"
    rf"|\bprobabilit(?:y|ies)|\bprobs?)[*_`]*(?:\s*\([^()]*\))?[*_`]*{_SIGN}"
)
_OTHER = re.compile(r"(?i)sigmoid|dropout|\btop[-_ ]?[kp\d]?\b|\bfirst\b|n.t sum|before soft")
_FALSE = re.compile(r"wrong|incorrect|mistake|should be|[错誤误]|≠|不对", re.IGNORECASE)
_CALL = re.compile(r"softmax\}?\s*\(\s*\Z", re.IGNORECASE)
_CLOSED = re.compile(rf"\s*(?:,\s*(?:dim|axis)\s*=\s*-?\d\s*)?\){_SIGN}")
_MAPPED = re.compile(rf"\s*(?:→|->|=>)\s*(?:softmax|probs?|probabilities)(?:{_SIGN}|\s*\Z)", re.I)
_HOT = re.compile(r"[Tt]emp|温度|溫度|\bT\b|τ|\\tau")

_TABLE = re.compile(r"^\|(.*)\|[ \t]*\n\|[ :|-]+\|[ \t]*\n((?:\|.*\|[ \t]*(?:\n|\Z))+)", re.M)
_CELL = re.compile(rf"(?<=\|)(?:[*$`\\ ]*({_NUMBER})[*$` ]*|[^|\n]+)(?=\|)")
_TOTAL = re.compile(r"sum|total|rounded|合计|总和", re.IGNORECASE)
_SOFTMAX = re.compile(r"[*$` ]*softmax(?:\([^()]*\)| \w+put| outcome|值|后| 输出)?[\w*$` ]*", re.I)
_SCORES = re.compile(r"\b(?:logits?|scores?|inputs?|z|x)\b|z_i|x_i", re.IGNORECASE)

_NAMED_SHARES = re.compile(
    r"softmax\}?\\?(?:left)?[(\[]|probabilit(?:y|ies)$|attention[_-]?weights?(?:\([^()]*\))?$",
    re.IGNORECASE,
)
_NORMED = re.compile(r"layer_?norm\}?\\?(?:left)?[(\[]", re.IGNORECASE)
_INDEXED = re.compile(r"[\w'′]+(?:_\{?.*|[₀-₉].*)")


def is_rounded_row(left: ex.Expression, right: ex.Expression) -> bool:
    """Return whether the right side is the left one with fewer decimals: [0.401, …] ≈ [0.40, …].

    At least half of the numbers must agree, or they are different rows.
    """
    if not all(isinstance(side, ex.Vector) and ex.is_printed(side) for side in (left, right)):
        return False
    pairs = list(zip(ex.numbers(left), ex.numbers(right), strict=False))
    if len(ex.numbers(left)) != len(ex.numbers(right)) or any(b.unit <= a.unit for a, b in pairs):
        return False
    return sum(face(a).meets(window(b)) for a, b in pairs) * 2 >= len(pairs)


def wrong_row(
    text: Text, named: Named, earlier: dict[str, Named], *, gains: bool
) -> Iterator[Finding]:
    """Yield what is wrong with a row, by its name.

    `earlier` holds the first row of each name. With `gains`, a norm may have any mean and scale.
    """
    shares, normed = _NAMED_SHARES.search(named.name), not gains and _NORMED.search(named.name)
    again, row = _INDEXED.fullmatch(named.name), named.row.expression
    if not (shares or normed or again) or any(isinstance(x, ex.Vector) for x in ex.parts(row)):
        return
    printed, place = ex.numbers(row), (named.row.start, named.row.end)
    values, windows = _values(row, face), _values(row, window)
    total = sum((x.low for x in values), Decimal(0))
    are_shares = len(values) > 1 and all(0 <= x.low <= 1 for x in values)
    kind, computed = "", ""
    if shares and are_shares and not _fits(printed):
        kind, computed = "sum", f"{total}"
    elif normed and len(values) >= FEWEST and not _may_be_normed(windows):
        kind, computed = "norm", f"{total / len(values):.4f}"
    elif again and sum(not x.is_whole and x.digits >= FEWEST for x in printed) >= FEWEST:
        before = _values(earlier.setdefault(named.name, named).row.expression, window)
        if _differ(before, windows):
            computed = f"[{', '.join(f'{x.middle.normalize():f}' for x in before)}]"
            kind = "two values"
    if kind:
        yield Finding(text, *CODES[kind], *place, place, None, computed)


def _values(row: ex.Expression, stands_for: StandsFor) -> list[Interval]:
    return list(flat(evaluate(row, stands_for, USUAL)))


def _may_be_normed(windows: Sequence[Interval]) -> bool:
    """Return whether the mean may be 0 and the sum of squares may equal the number of entries."""
    if not sum(x.low for x in windows) <= 0 <= sum(x.high for x in windows):
        return False
    squares = [to_the_power(x, point(Decimal(2))) for x in windows]
    least, most = sum(x.low for x in squares), sum(x.high for x in squares)
    # The variance divides by n or by n - 1; ε makes the squares a little smaller.
    return least <= len(windows) and most >= (len(windows) - 1) * (1 - ALIKE)


def _differ(before: Sequence[Interval], windows: Sequence[Interval]) -> bool:
    """Return whether two rows are close to each other and rounding cannot explain the gap."""
    pairs = list(zip(before, windows, strict=False))
    if len(before) != len(windows) or all(a.meets(b) for a, b in pairs):
        return False
    largest = max(abs(x.middle) for x in before)
    return max(abs(a.middle - b.middle) for a, b in pairs) <= largest * ALIKE


def wrong_shares(text: Text, known: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the rows and columns that cannot be shares of 1, except where an error is known."""
    if not re.search("softmax|attention|attn|prob", text.content, re.IGNORECASE):
        return
    columns = _in_columns(text) if text.markup is Markup.MARKDOWN else ()
    for each in [*_in_brackets(text), *columns]:
        is_known = any(other.start < each.end and each.start < other.end for other in known)
        near = max(0, each.start - 120), each.end + 40
        if not (is_known or _FALSE.search(text.content, *near)):
            yield each


def _in_brackets(text: Text) -> Iterator[Finding]:
    before, content = list[Grid](), text.content
    for grid in _grids(content):
        rows, start, end = grid
        around = max(0, start - NEAR), end + NEAR // 4
        line = content.rfind("\n", around[0], start) + 1 or around[0]
        near = [other for other in before[-8:] if start - other[2] < NEAR]
        if near and (scores := _scores(content, near[-1], grid)):
            without = [*_without_sum(text, rows, is_whole=True)]
            yield from without or _unlike(text, rows[0], scores, as_input)
        elif _SHARES.search(content, line, start) and not _OTHER.search(content, *around):
            others = [row for other, *_ in near for row in other if len(row) == len(rows[0])]
            yield from _without_sum(text, rows, is_whole=not all(map(_are_shares, others)))
        before.append(grid)


def _grids(content: str) -> Iterator[Grid]:
    """Yield the rows in brackets, those of a matrix together."""
    spans: list[tuple[int, int]] = []
    for span in [*(found.span() for found in _ROW.finditer(content)), None]:
        if spans and not (span and _NEXT_ROW.match(content, spans[-1][1], span[0])):
            opens = _OPENS.search(content, max(0, spans[0][0] - 100), spans[0][0])
            rows = [[_number(one) for one in _ONE.finditer(content, *each)] for each in spans]
            yield rows, opens.start() if opens else spans[0][0], spans[-1][1]
            spans = []
        spans += [span] if span else []


def _number(found: re.Match[str], group: int = 0) -> ex.Number:
    return printed_number(found[group].rstrip("."), *found.span(group))


def _scores(content: str, before: Grid, grid: Grid) -> Row | None:
    """Return the scores of which a row is said to be the softmax, if they are printed."""
    ([scores, *others], start, end), ([row, *more], begin, _) = before, grid
    if others or more or len(scores) != len(row):
        return None
    if _CALL.search(content, max(0, start - 30), start):
        return scores if _CLOSED.match(content, end, begin) else None
    line = max(0, start - NEAR // 2), begin
    is_other = _HOT.search(content, *line) or _OTHER.search(content, *line)
    return scores if _MAPPED.match(content, end, begin) and not is_other else None


def _are_shares(row: Row) -> bool:
    return all(0 <= cell.value <= 1 for cell in row)


def _unit(row: Row) -> Decimal:
    return max((cell.unit for cell in row if not cell.is_whole), default=Decimal(1))


def _fits(row: Row) -> bool:
    """Return whether the numbers may add up to 1, rounded or cut."""
    total, error = sum(cell.value for cell in row), len(row) * _unit(row)
    return total - error / 2 <= 1 <= total + error


def _without_sum(text: Text, rows: Sequence[Row], *, is_whole: bool) -> Iterator[Finding]:
    """Yield the rows of shares that do not add up to 1."""
    is_matrix = len(rows) > 1
    if not all(map(_are_shares, rows)) or (is_matrix and all(map(_fits, zip(*rows, strict=False)))):
        return
    is_sure = any(map(_fits, rows)) if is_matrix else is_whole
    low, high = (LEAST, MOST) if is_sure else (1, 1 if is_matrix else JUST_ABOVE)
    for row in rows:
        total, place = sum(cell.value for cell in row), (row[0].start, row[-1].end)
        if low <= total <= high and not _fits(row):
            yield Finding(text, *CODES["sum"], *place, place, None, f"{total}")


def _unlike(text: Text, row: Row, scores: Row, stands_for: StandsFor) -> Iterator[Finding]:
    """Yield the first number in a row of shares that is not the softmax of the scores."""
    softmax, unit = ex.Call("softmax", (ex.Vector(tuple(scores)),)), _unit(row)
    try:
        bounds, exact = (flat(evaluate(softmax, of, USUAL)) for of in (stands_for, face))
    except ArithmeticError:  # a score is too large
        return
    for cell, bound, share in zip(row, bounds, exact, strict=True):
        near = Interval(cell.value - unit, cell.value + unit)
        if not bound.meets(near) and _are_shares(row):
            marks, computed = (cell.start, cell.end), f"{share.middle.quantize(cell.unit / 10)}"
            place, printed = (row[0].start, row[-1].end), text.content[cell.start : cell.end]
            yield Finding(text, *CODES["softmax"], *place, marks, printed, computed)
            return


def _in_columns(text: Text) -> Iterator[Finding]:
    """Yield what is wrong in columns of softmax beside their scores."""
    for table in _TABLE.finditer(text.content):
        if "softmax" not in table[1].lower():
            continue
        heads, begin = table[1].split("|"), table.start(2)
        spans = [(begin + line.start(), begin + line.end()) for line in re.finditer(".+", table[2])]
        lines = [list(_CELL.finditer(text.content, *span)) for span in spans]
        lines = [x for x in lines if len(x) == len(heads) and not _TOTAL.search(x[0][0])]
        columns = zip(heads, zip(*lines, strict=True), strict=False)
        rows = [(head, row) for head, row in columns if all(cell[1] for cell in row)]
        read = [(head, [_number(cell, 1) for cell in row]) for head, row in rows]
        scores = [row for head, row in read if _SCORES.search(head)]
        is_hot = _HOT.search(text.content, max(0, table.start() - NEAR // 2), table.end(1))
        shares = [row for head, row in read if _SOFTMAX.fullmatch(head)]
        for row in shares if scores and not is_hot else ():
            yield from _unlike(text, row, scores[0], window)
