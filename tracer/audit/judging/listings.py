"""Equations in lists: the options of a quiz, numbered lines, formulas of a spreadsheet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tracer.audit.judging import readings
from tracer.audit.judging.pairs import Pair
from tracer.audit.judging.readings import Sides
from tracer.audit.judging.wording import NEAR
from tracer.audit.reading import expression as ex

_ITEM = re.compile(
    r"[\s>|]*(?P<marker>[(\[]?(?:\d{1,2}|[A-Za-z])[)\].:]|[-*+]\s|\\(?:item|choice)\b"
    r"|<(?:li|option|label)\b[^>]*>)[\s*_`$\\(]*"
)
_CAPITAL = re.compile(r"[(\[]?[A-F][)\].:]")
_QUIZ = re.compile(
    r"\bquiz|\bshow answer|\b(?:correct|right|wrong) (?:answer|option|choice)|\bmultiple[- ]choice"
    r"|\bwhich of|\bchoose\b|\bselect\b|\bMCQ|\bkreuze|\bwelche der|\brichtige antwort"
    r"|\bbonne réponse|\blaquelle|\bcuál de|\bquale delle|答案|选项|選択|选择|정답|보기",
    re.IGNORECASE,
)
_SAME = 4
"""Options that begin alike share at least this many characters."""


_LINE = 300
"""A line with columns is seldom longer."""
_COLUMNS = re.compile(r"=[^=\n]*\S {2,}[^=\n]*=[^=\n]*\Z")
_CELLS = re.compile(r"=[^=&]*&\s*(?:&|[^\s=&])[^=]*=")
_ROW_END = re.compile(r"\\\\(?:\[[^\]\n]*\])?[\s&]*\Z")
_ROW_START = re.compile(r"\\\\|\\begin\{")


def continues_columns(pair: Pair) -> bool:
    """Return whether the sign begins a line or row below two columns, each with an equation."""
    text = pair.before + pair.sources[0]
    if end := _ROW_END.search(text):
        return _CELLS.search(_ROW_START.split(text[: end.start()])[-1]) is not None
    line, _, rest = text.rpartition("\n")
    return (
        not rest.strip() and "\n" in pair.sources[0] and _COLUMNS.search(line[-_LINE:]) is not None
    )


def is_an_option(pair: Pair) -> bool:
    """Return whether it is one of the answers of a quiz, of which all but one are wrong.

    Options are alike, and have capital letters, or words of a quiz near them.
    """
    content = pair.text.content
    line = content[content.rfind("\n", 0, pair.start) + 1 : pair.end].partition("\n")[0]
    item = _ITEM.match(line)
    if item is None:
        return False
    option = line[item.end() :]
    alike = [other for other in _siblings(pair, item["marker"]) if _are_alike(option, other)]
    if _CAPITAL.fullmatch(item["marker"]):
        return bool(alike)
    near = content[max(0, pair.start - NEAR) : pair.end + NEAR]
    return len(alike) > 1 and bool(_QUIZ.search(near))


def _are_alike(one: str, other: str) -> bool:
    """Return whether two options have the same beginning, or most numbers in common."""
    if one[:_SAME] == other[:_SAME]:
        return True
    numbers, others = Counter(_NUMBER.findall(one)), Counter(_NUMBER.findall(other))
    return (numbers & others).total() * 2 > numbers.total()


_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def _siblings(pair: Pair, marker: str) -> list[str]:
    """Return the items of the same list near an equation, without their markers."""
    content = pair.text.content
    first = content.rfind("\n", 0, pair.start) + 1
    last = content.find("\n", pair.end)
    above = reversed(content[max(0, first - NEAR) : first].split("\n"))
    below = content[last + 1 : last + NEAR].split("\n") if last >= 0 else []
    found = []
    for lines in (above, below):
        for line in filter(str.strip, lines):
            other = _ITEM.match(line)
            if other is None or _kind(other["marker"]) != _kind(marker):
                break
            found.append(line[other.end() :])
    return found


def _kind(marker: str) -> str:
    """Return what the markers of a list have in common."""
    return "<" if marker.startswith("<") else re.sub(r"\d+", "1", re.sub(r"[A-Z]", "A", marker))


def is_a_numbered_line(pair: Pair) -> bool:
    """Return whether its first number is its line's: 190 + - 3 + 3 = 6, below line 189."""
    first = next(iter(pair.numbers), None)
    content = pair.text.content
    start = content.rfind("\n", 0, pair.start) + 1
    if first is None or not first.is_whole or _TAGS.sub("", content[start : first.start]).strip():
        return False
    above = content[max(0, start - NEAR) : max(0, start - 1)].rpartition("\n")[2]
    following = content.find("\n", pair.end) + 1
    below = content[following : following + NEAR]
    is_counted = re.match(rf"\s*{first.value - 1}\b", _TAGS.sub("", above)) or re.match(
        rf"\s*{first.value + 1}\b", _TAGS.sub("", below)
    )
    return bool(is_counted) and pair.holds_as(_without_line_number)


_TAGS = re.compile(r"<[^<>\n]*>")


def _without_line_number(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read 190 + -3 + 3 as -3 + 3, and as 3 + 3 behind a bullet; and 46 * 2 / 3 as 2 / 3."""
    match left:
        case ex.Product((_, ("*", second), *others)):
            yield ex.Product((("*", second), *others)), right
        case ex.Sum((_, second, *others)):
            rest = ex.Sum((second, *others)) if others else second
            yield rest, right
            yield from readings.unsigned(rest, right)
            for unsigned, _ in readings.unsigned(second, right):
                yield ex.Sum((unsigned, *others)), right


def begins_a_column(pair: Pair) -> bool:
    """Return whether the sign begins the second equation of a row: a &= 1 + 2 & b &= 4."""
    content = pair.text.content
    return _COLUMN.search(content[max(0, pair.sign - _MARGIN) : pair.sign]) is not None


_MARGIN = 20
"""The && before a sign are among so many characters."""

_COLUMN = re.compile(r"&(?:[\s~]|\\q?quad|\\[,;:! ])*&\s*\Z")

_FORMULA = re.compile(r"=[ ]?[A-Z]{2,}\(|=\$?[A-Z]{1,2}\$?\d")


def is_of_a_spreadsheet(pair: Pair) -> bool:
    """Return whether the sign begins another formula of a spreadsheet: =2^2=4 =2^3=8."""
    content = pair.text.content
    begins = content[pair.sign - 1].isspace() and not content[pair.sign + 1].isspace()
    is_joined = pair.before.rstrip(" ").endswith("&") or pair.after.lstrip(" ").startswith("&")
    near = content[max(0, pair.start - NEAR) : pair.end + NEAR]
    is_other = is_joined or not ex.is_printed(pair.right)
    return begins and is_other and bool(_FORMULA.search(near))


_NEXT_LINE = re.compile(r"[ \t]*\n[^=\n]+")
_OPEN_END = re.compile(r"[ \t]*=[ \t]*(?:\n|\Z)")


def is_an_exercise(pair: Pair) -> bool:
    """Return whether two lines leave their results to the reader: 19/43=, and below it 53/38=."""
    return bool(_NEXT_LINE.fullmatch(pair.sources[1]) and _OPEN_END.match(pair.after))


_STATEMENT = re.compile(r"\s*;|\s+\}")


def is_an_assignment(pair: Pair) -> bool:
    """Return whether it is a statement of a program: { $6 = $3 * 1.1; print }."""
    is_number = isinstance(pair.left, ex.Number) and not ex.is_printed(pair.right)
    return is_number and pair.before.endswith("$") and bool(_STATEMENT.match(pair.after))


def _apart(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
    """Read 8×128 = 1,024 · 9×256 = 2,304 as two equations, between which is a dot."""
    for one in (left, _without_first(left)):
        for other in (right, _first(right)):
            yield one, other


def has_dots_between(pair: Pair) -> bool:
    """Return whether a dot with space around it may stand between two equations."""
    source = "\n".join(pair.sources)
    has_dot = re.search(r"\s[·•⋅]\s", source) is not None
    return has_dot and bool(re.search(r"[×+*/]|\\times", source)) and pair.holds_as(_apart)


_NUMBERED = re.compile(r"\b(\d{1,2})\s?=[^=·•⋅\n]{1,20}\s[·•⋅]\s(?=(\d{1,2})\s?=)")


def is_an_item(pair: Pair) -> bool:
    """Return whether it is of a numbered list with dots between items: 1=90% · 2=99% · 3=99.9%."""
    if not re.search(r"\s[·•⋅]\s", "=".join(pair.sources)):
        return False
    line = pair.before.rpartition("\n")[2] + "=".join(pair.sources) + pair.after.partition("\n")[0]
    return any(int(other) == int(one) + 1 for one, other in _NUMBERED.findall(line))


def has_commas_between(pair: Pair) -> bool:
    """Return whether commas may stand between equations: 2·2=4,4·2=8,8·2=16."""

    line = pair.before.rpartition("\n")[2] + "=".join(pair.sources) + pair.after.partition("\n")[0]
    if len(_LISTED.findall(line)) > 1:
        return True

    def apart(left: ex.Expression, right: ex.Expression) -> Iterator[Sides]:
        begins, ends = next(iter(ex.numbers(left)), None), next(iter(ex.numbers(right)), None)
        if begins and (comma := _COMMA.fullmatch(pair.source(begins))):
            left = readings.replaced(left, begins, readings.whole(int(comma[2]), begins))
        if ends and (comma := _COMMA.fullmatch(pair.source(ends))):
            right = readings.whole(int(comma[1]), ends)
        yield left, right

    return any(not number.is_whole for number in pair.numbers) and pair.holds_as(apart)


_COMMA = re.compile(r"(\d+),(\d\d?)")
_LISTED = re.compile(r"(?==\s*\d+,\d+(?:\^|\s?\\cdot|\s?\\times)[^=,\n]{1,12}=)")


def _first(side: ex.Expression) -> ex.Expression:
    return side.factors[0][1] if isinstance(side, ex.Product) else side


def _without_first(side: ex.Expression) -> ex.Expression:
    match side:
        case ex.Product((_, ("*", other))):
            return other
        case ex.Product((_, ("*", _), *_)):
            return ex.Product(side.factors[1:])
    return side
