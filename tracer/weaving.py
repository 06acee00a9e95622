"""Markdown with marked parts, each replaced by what its marker asks for.

The text is taken line by line, as Markdown's blocks are. A line ends with "\\n"; the "\\r" before it
belongs to the line, and so does everything else that Python calls a line break.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from tracer.errors import Problem, TracerError

_START = r"<!--[ \t]*decoder-trace:(?P<asked>(?:(?!-->).)*)-->"
_BROKEN_START = r"(?P<broken><!--[ \t]*decoder-trace:)"
_END = r"(?P<end><!--[ \t]*/decoder-trace[ \t]*-->)"
_OTHER_COMMENT = r"<!--.*?-->"
_CODE_SPAN = r"(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
_ESCAPED = r"\\."
_TOKEN = re.compile(
    "|".join((_ESCAPED, _CODE_SPAN, "`+", _START, _BROKEN_START, _END, _OTHER_COMMENT))
)
_START_ALONE = re.compile(rf" {{0,3}}{_START}[ \t]*\r?\Z")
_END_ALONE = re.compile(rf" {{0,3}}{_END}[ \t]*\r?\Z")
# A fence may be the first thing in a list item; its end is then as far in as the item's text.
_FENCE = re.compile(
    r" {0,3}(?P<item>(?:(?:[-+*]|[0-9]{1,9}[.)]) {1,4})*)(?P<bars>`{3,}(?=[^`]*\Z)|~{3,})"
)

_SHOWN_END = "<!-- /decoder-trace -->"
_NO_END_OF_BLOCK = f"no end, expected {_SHOWN_END} alone on a line before the next marker"
_NO_END_OF_INLINE = f"no end, expected {_SHOWN_END} on the same line (or the start alone on it)"


@dataclass(frozen=True)
class Directive:
    """What a marker asks for: `<!-- decoder-trace: step attention --token 4 -->`."""

    words: tuple[str, ...]
    """The command and its arguments, as a shell would split them."""
    line: int
    inline: bool
    """Whether it stands within a line, so that its output must be one."""


def weave(text: str, file: str, render: Callable[[Directive], str]) -> str:
    """The text with every marked part rendered anew, all else as it was.

    Raises:
        TracerError: markers that do not fit together, and whatever `render` could not do.
    """
    weaver = _Weaver(file, render)
    woven = weaver.lines(text.split("\n"))
    if weaver.problems:
        raise TracerError(*weaver.problems)
    return "\n".join(woven)


def difference(old: str, new: str, file: str) -> str:
    """What weaving would change, as a patch; empty if there is nothing."""
    old_lines, new_lines = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (old, new))
    patch = difflib.unified_diff(old_lines, new_lines, file, file)
    no_newline = "\n\\ No newline at end of file\n"
    return "".join(line if line.endswith("\n") else line + no_newline for line in patch)


class _Weaver:
    """Weaves one file; goes on after a problem, to find them all, and then the text is void."""

    def __init__(self, file: str, render: Callable[[Directive], str]) -> None:
        self.problems: list[Problem] = []
        self._file = file
        self._render = render

    def lines(self, lines: Sequence[str]) -> list[str]:
        woven: list[str] = []
        fence = None
        number = 0
        while number < len(lines):
            line = lines[number]
            number += 1
            outer, fence = fence, _fence_after(fence, line)
            if outer or fence:
                woven.append(line)
            elif start := _START_ALONE.match(line):
                woven.append(line)
                end = _end_of_block(lines, number)
                if end is None:
                    self._tell(number, _NO_END_OF_BLOCK)
                else:
                    woven += [*self._block(start["asked"], number, line), lines[end]]
                    number = end + 1
            else:
                woven.append(self._inline(line, number))
        return woven

    def _block(self, asked: str, number: int, start: str) -> list[str]:
        """The lines between the markers; blank ones around the output keep it Markdown."""
        output = self._rendered(asked, number, inline=False).strip("\r\n")
        end_of_line = "\r" if start.endswith("\r") else ""
        block = [line + end_of_line for line in ("", *re.split(r"\r*\n", output), "")]
        if reduce(_fence_after, block, None):
            self._tell(number, "the output leaves a code fence open")
        elif _end_of_block([*block, _SHOWN_END], 0) != len(block):
            self._tell(number, "the output holds a marker")
        return block

    def _inline(self, line: str, number: int) -> str:
        parts, complaints = _inline_parts(line)
        for complaint in complaints:
            self._tell(number, complaint)
        outputs = [self._rendered(part.asked, number, inline=True).strip("\r\n") for part in parts]
        if any("\n" in output for output in outputs):
            self._tell(number, "the output has several lines, which need a start alone on its line")
            return line
        woven, at = "", 0
        for part, output in zip(parts, outputs, strict=True):
            woven += line[at : part.start] + output
            at = part.end
        woven += line[at:]
        if outputs and not complaints and _contents(woven) != outputs:
            self._tell(number, "the output would change what is a marker in this line")
        return woven

    def _rendered(self, asked: str, number: int, *, inline: bool) -> str:
        try:
            words = tuple(shlex.split(asked))
            if words:
                return self._render(Directive(words, number, inline))
            self._tell(number, "the marker names no command")
        except ValueError as error:
            self._tell(number, f"{asked.strip()}: {str(error).lower()}")
        except TracerError as error:
            self.problems += [self._here(problem, number) for problem in error.problems]
        return ""

    def _here(self, problem: Problem, number: int) -> Problem:
        """The problem at the marker's line; a place that it has already is told behind it."""
        if problem.file or problem.line:
            return Problem(str(problem), self._file, number)
        return replace(problem, file=self._file, line=number)

    def _tell(self, number: int, message: str) -> None:
        self.problems.append(Problem(message, self._file, number))


@dataclass(frozen=True)
class _Part:
    """A marked part of a line: what it asks for, and where its content starts and ends."""

    asked: str
    start: int
    end: int


def _inline_parts(line: str) -> tuple[list[_Part], list[str]]:
    """The marked parts of a line, and what is wrong with its markers."""
    parts: list[_Part] = []
    complaints: list[str] = []
    start = None
    for marker in _markers(line):
        if marker["broken"]:
            complaints.append("the marker has no --> on its line")
        elif marker["end"] and start is None:
            complaints.append("an end without a start")
        elif start is None:
            start = marker
        elif marker["end"]:
            parts.append(_Part(start["asked"], start.end(), marker.start()))
            start = None
        else:
            complaints.append("a start inside a marked part")
    if start is not None:
        complaints.append(_NO_END_OF_INLINE)
    return parts, complaints


def _contents(line: str) -> list[str] | None:
    """What stands in the marked parts of a line; nothing if the line is no longer one of text."""
    parts, complaints = _inline_parts(line)
    if complaints or _fence_after(None, line):
        return None
    return [line[part.start : part.end] for part in parts]


def _markers(line: str) -> list[re.Match[str]]:
    """The markers of a line that are not in a code span, another comment or escaped."""
    tokens = _TOKEN.finditer(line) if "decoder-trace" in line else ()
    return [token for token in tokens if token.lastgroup in ("asked", "broken", "end")]


def _fence_after(fence: re.Pattern[str] | None, line: str) -> re.Pattern[str] | None:
    """The code fence that is open after a line, as the pattern of the line that closes it."""
    if fence:
        return None if fence.match(line) else fence
    opening = _FENCE.match(line)
    if not opening:
        return None
    bars = opening["bars"]
    indentation = 3 + (opening.start("bars") if opening["item"] else 0)
    return re.compile(rf" {{0,{indentation}}}{bars[0]}{{{len(bars)},}}[ \t]*\r?\Z")


def _end_of_block(lines: Sequence[str], begin: int) -> int | None:
    """The index of the line that ends a block: the first end marker that no fence in it hides.

    A fence that nothing closes hides none. No other marker may come before the end, not even in a
    fence: a block whose end is missing must not reach into what the author wrote.
    """
    fence = hidden = None
    for index in range(begin, len(lines)):
        outer, fence = fence, _fence_after(fence, lines[index])
        if outer and not fence:
            hidden = None
        elif _END_ALONE.match(lines[index]):
            if not fence:
                return index
            hidden = index if hidden is None else hidden
        elif _markers(lines[index]):
            break
    return hidden
