"""The marks of a LaTeX file: comments that are alone on their lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate

from tracer.weave.below import MATH, between_signs
from tracer.weave.marks import Complaint, Mark, Place, mark_above

LATEX = "latex"
"""The language of a mark between lines of a LaTeX file."""
ENDINGS = (".tex", ".ltx", ".latex")

_TAG = re.compile(r"[ \t]*%+[ \t]*(?:decoder-trace:(?P<asked>.*)|/decoder-trace[ \t]*\r?$)")
_NOT_ALONE = re.compile(r"(?<!\\)%+[ \t]*/?decoder-trace:?|<!--[ \t]*/?decoder-trace:?")
_CODE = re.compile(
    r"\\(begin|end)\{((?:verbatim|Verbatim|lstlisting|minted|comment|filecontents)\*?)\}"
)
_INLINE_CODE = re.compile(r"\\(?:verb|lstinline|mintinline|texttt)\b")

_WRONG_SIGN = "no mark of LaTeX, expected % decoder-trace: … alone on its line"
_IN_CODE = "a mark in code, where nothing is woven: place it above the code"
_NO_END = (
    "no end, expected % /decoder-trace on a line before the next mark; or code or a formula below "
    "the start"
)


@dataclass(frozen=True)
class _Tag:
    """The line of a start or an end; `asked` is None for an end."""

    line: int
    column: int
    asked: str | None


def find(text: str) -> tuple[list[Mark], list[Complaint]]:
    """Return the marks of a LaTeX file and the problems with them, both in text order."""
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    tags, complaints = _tags(lines)
    marks: list[Mark] = []
    of_start: _Tag | None = None
    for number, tag in enumerate(tags):
        following = tags[number + 1] if number + 1 < len(tags) else None
        if tag.asked is None:
            if of_start is None:
                complaints.append(Complaint("an end without a start", tag.line + 1, tag.column))
            of_start = None
            continue
        asked, place = tag.asked.rstrip("\r"), (tag.line + 1, tag.column)
        begin = starts[tag.line + 1]
        if following and following.asked is None:
            of_start = tag
            prefix = lines[tag.line][: tag.column - 1]
            content = slice(begin, starts[following.line])
            marks.append(Mark(asked, *place, prefix, content, True, Place.LINES, LATEX))
            continue
        end = starts[following.line] if following else len(text)
        at = begin + len(text[begin:end]) - len(text[begin:end].lstrip())
        below = between_signs(text, at, end, (MATH, "text"))
        try:
            if below is None:
                raise ValueError(_NO_END)
            marks.append(mark_above(text, asked, place, below))
        except ValueError as error:
            complaints.append(Complaint(str(error), *place))
    complaints.sort(key=lambda complaint: (complaint.line, complaint.column))
    return marks, complaints


def _tags(lines: list[str]) -> tuple[list[_Tag], list[Complaint]]:
    """Return the starts and ends that are alone on their lines, and complain of others."""
    tags, complaints = list[_Tag](), list[Complaint]()
    code: str | None = None
    for number, line in enumerate(lines):
        for kind, name in _CODE.findall(line.partition("%")[0]):
            code = name if kind == "begin" and code is None else None if name == code else code
        tag, found = _TAG.match(line), _NOT_ALONE.search(line)
        if tag and code is None:
            tags.append(_Tag(number, line.index("%") + 1, tag["asked"]))
        elif found and not _INLINE_CODE.search(line, 0, found.start()):
            message = _IN_CODE if code else _WRONG_SIGN
            complaints.append(Complaint(message, number + 1, found.start() + 1))
    return tags, complaints
