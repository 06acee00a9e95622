"""Weave a text: replace its marked parts and keep all else byte for byte."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tracer.errors import Problem, TracerError
from tracer.requests.cost import LimitError
from tracer.weave import latex, marks as markdown
from tracer.weave.limits import LONGEST_MARK, MOST_MARKS
from tracer.weave.marks import Complaint, Mark, Place

Renderer: TypeAlias = Callable[[tuple[str, ...], str | None], str]
"""Returns the output for the words of a mark, and the language of its content."""

BYTE_ORDER_MARK = "\ufeff"
_AROUND = " \t\r\n>"
"""What stands around the lines in a formula that was empty."""
DISPLAY = re.compile(r"\$\$\n([^$]*)\n\$\$")
"""A formula on lines of its own, which becomes one within the line of a mark."""


@dataclass(frozen=True)
class Woven:
    """A text after weaving, and its number of marks."""

    text: str
    marks: int


def weave(text: str, file: str, render: Renderer) -> Woven:
    """Return the text with every mark rendered anew.

    Words are split as in a shell.

    Raises:
        TracerError: the marks do not fit together, or `render` fails.
    """
    body = text.removeprefix(BYTE_ORDER_MARK)
    find = latex.find if file.lower().endswith(latex.ENDINGS) else markdown.find
    marks, complaints = find(body)
    if len(marks) > MOST_MARKS:
        message = f"{len(marks):,} marks, expected at most {MOST_MARKS:,} in a file"
        raise TracerError(Problem(message, file))
    problems = [Problem(each.message, file, each.line, each.column) for each in complaints]
    contents = []
    for mark in marks:
        try:
            contents.append(_content(mark, body, render(_words(mark.asked), mark.language)))
        except TracerError as error:
            problems += [_here(problem, file, mark) for problem in error.problems]
            if isinstance(error, LimitError):
                break
    if problems:
        raise TracerError(*sorted(problems, key=lambda p: (p.line or 0, p.column or 0)))
    woven = _replaced(body, marks, contents)
    again, complaints = find(woven)
    if wrong := _first_lost(marks, contents, again, woven) or _last_before(
        complaints, marks, again
    ):
        ends = "as the end of the code" if wrong.place is Place.LINES else "as a mark"
        message = f"the output contains text that would be read {ends}"
        raise TracerError(Problem(message, file, wrong.line, wrong.column))
    return Woven(text[: len(text) - len(body)] + woven, len(marks))


def _words(asked: str) -> tuple[str, ...]:
    if len(asked) > LONGEST_MARK:
        message = f"a mark of {len(asked):,} characters, expected at most {LONGEST_MARK:,}"
        raise TracerError(Problem(message))
    try:
        words = tuple(shlex.split(asked))
    except ValueError as error:
        raise TracerError(Problem(f"{asked.strip()}: {str(error).lower()}")) from None
    if not words:
        raise TracerError(Problem("the mark has no command"))
    return words


def _content(mark: Mark, text: str, output: str) -> str:
    """Return the output as it is written to the file: inline, or between blank lines."""
    output = output.strip("\r\n")
    begin = text.rfind("\n", 0, mark.content.start) + 1
    line_end = "\r\n" if text.endswith("\r\n", 0, begin) else "\n"
    if mark.place is Place.PART:
        between = " " if mark.prefix is None else line_end + mark.prefix
        return between.join(re.split(r"\r*\n", output))
    if mark.prefix is None:
        if display := DISPLAY.fullmatch(output):
            output = f"${' '.join(display[1].split())}$"
        if "\n" in output:
            message = "the output has several lines; put the start of the mark alone on its line"
            raise TracerError(Problem(message))
        return output
    blank = mark.prefix.rstrip(" \t")
    # A space directly after `>` belongs to the quote marker, so a line needs a second one.
    prefix = f"{mark.prefix} " if mark.prefix.endswith(">") else mark.prefix
    lines = re.split(r"\r*\n", output)
    if mark.place is Place.TEXT:
        lines = ["", *lines, ""]
    return "".join(f"{prefix + line if line else blank}{line_end}" for line in lines)


def _here(problem: Problem, file: str, mark: Mark) -> Problem:
    """Return the problem at its mark; an earlier position becomes part of the message."""
    if problem.file or problem.line:
        return Problem(str(problem), file, mark.line, mark.column)
    return replace(problem, file=file, line=mark.line, column=mark.column)


def _replaced(text: str, marks: Sequence[Mark], contents: Sequence[str]) -> str:
    pieces, at = list[str](), 0
    for mark, content in zip(marks, contents, strict=True):
        pieces += [text[at : mark.content.start], content]
        at = mark.content.stop
    return "".join([*pieces, text[at:]])


def _first_lost(
    marks: Sequence[Mark], contents: Sequence[str], again: Sequence[Mark], woven: str
) -> Mark | None:
    """Return the first mark that is not found again with its content in the woven text."""
    for mark, content, found in zip(marks, contents, again, strict=False):
        written = woven[found.content].strip(_AROUND)
        same = (found.asked, found.prefix, written, found.is_whole)
        if same != (mark.asked, mark.prefix, content.strip(_AROUND), True):
            return mark
    if len(again) == len(marks):
        return None
    return marks[len(again)] if len(again) < len(marks) else marks[-1]


def _last_before(
    complaints: Sequence[Complaint], marks: Sequence[Mark], again: Sequence[Mark]
) -> Mark | None:
    """Return the mark whose output caused the first complaint, if there is one."""
    if not complaints:
        return None
    place = (complaints[0].line, complaints[0].column)
    before = sum((mark.line, mark.column) < place for mark in again)
    return marks[before - 1]
