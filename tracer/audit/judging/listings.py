"""Equations in lists: the options of a quiz, numbered lines, formulas of a spreadsheet."""

from __future__ import annotations

import re
from collections import Counter

from tracer.audit.judging.pairs import Pair
from tracer.audit.judging.wording import NEAR

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
