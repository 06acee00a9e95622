"""Markdown with marked parts, each replaced by what its marker asks for.

A line ends with "\\n" alone; all else that Python calls a line break is a character of the line.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from tracer.errors import Problem, TracerError

_START = r"<!--[ \t]*decoder-trace:(?P<asked>(?:(?!-->).)*)-->"
_BROKEN = r"(?P<broken><!--[ \t]*decoder-trace:)"
_END = r"(?P<end><!--[ \t]*/decoder-trace[ \t]*-->)"
_CODE_SPAN = r"(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
_TOKEN = re.compile(rf"\\.|{_CODE_SPAN}|`+|{_START}|{_BROKEN}|{_END}|<!--.*?-->")
_START_ALONE = re.compile(rf" {{0,3}}{_START}[ \t]*\r?\Z")
_END_ALONE = re.compile(rf" {{0,3}}{_END}[ \t]*\r?\Z")
# A fence may be the first thing in a list item; its end is then as far in as the item's text.
_FENCE = re.compile(
    r" {0,3}(?P<item>(?:(?:[-+*]|[0-9]{1,9}[.)]) {1,4})*)(?P<bars>`{3,}(?=[^`]*\Z)|~{3,})"
)

_NO_END = "no end, expected <!-- /decoder-trace -->"


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
    ended = (x if x.endswith("\n") else f"{x}\n\\ No newline at end of file\n" for x in patch)
    return "".join(ended)


@dataclass
class _Weaver:
    """Weaves one file; goes on after a problem, to find them all, and then the text is void."""

    file: str
    render: Callable[[Directive], str]
    problems: list[Problem] = field(default_factory=list)

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
            elif not (start := _START_ALONE.match(line)):
                woven.append(self._inline(line, number))
            elif (end := _end_of_block(lines, number)) is None:
                self._tell(number, f"{_NO_END} alone on a line before the next marker")
            else:
                woven += [line, *self._block(start["asked"], number, line), lines[end]]
                number = end + 1
        return woven

    def _block(self, asked: str, number: int, start: str) -> list[str]:
        """The lines between the markers; blank ones around the output keep it Markdown."""
        output = self._rendered(asked, number, inline=False).strip("\r\n")
        lines = ("", *re.split(r"\r*\n", output), "")
        block = [line + "\r" * start.endswith("\r") for line in lines]
        if reduce(_fence_after, block, None):
            self._tell(number, "the output leaves a code fence open")
        elif _end_of_block([*block, "<!-- /decoder-trace -->"], 0) != len(block):
            self._tell(number, "the output holds a marker")
        return block

    def _inline(self, line: str, number: int) -> str:
        pieces, asked, complaints = _split(line)
        for complaint in complaints:
            self._tell(number, complaint)
        outputs = [self._rendered(each, number, inline=True).strip("\r\n") for each in asked]
        pieces[1::2] = outputs
        woven = "".join(pieces)
        if any("\n" in output for output in outputs):
            self._tell(number, "the output has several lines, which need a start alone on its line")
        elif not complaints and (_split(woven) != (pieces, asked, []) or _fence_after(None, woven)):
            self._tell(number, "the output would change what is a marker in this line")
        return woven

    def _rendered(self, asked: str, number: int, *, inline: bool) -> str:
        try:
            return self.render(Directive(_words(asked), number, inline))
        except TracerError as error:
            self.problems += [self._here(problem, number) for problem in error.problems]
            return ""

    def _here(self, problem: Problem, number: int) -> Problem:
        """The problem at the marker's line; a place that it has already is told behind it."""
        if problem.file or problem.line:
            return Problem(str(problem), self.file, number)
        return replace(problem, file=self.file, line=number)

    def _tell(self, number: int, message: str) -> None:
        self.problems.append(Problem(message, self.file, number))


def _words(asked: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(asked))
    except ValueError as error:
        raise TracerError(Problem(f"{asked.strip()}: {str(error).lower()}")) from None
    if not words:
        raise TracerError(Problem("the marker names no command"))
    return words


def _split(line: str) -> tuple[list[str], list[str], list[str]]:
    """A line as text, content, text …, text; what each content's marker asks for; complaints."""
    pieces, asked, complaints = list[str](), list[str](), list[str]()
    at, start = 0, None
    for marker in _markers(line):
        if marker["broken"]:
            complaints.append("the marker has no --> on its line")
        elif marker["end"] and start is None:
            complaints.append("an end without a start")
        elif start is None:
            start = marker
        elif marker["end"]:
            pieces += [line[at : start.end()], line[start.end() : marker.start()]]
            asked.append(start["asked"])
            at, start = marker.start(), None
        else:
            complaints.append("a start inside a marked part")
    if start is not None:
        complaints.append(f"{_NO_END} on the same line (or the start alone on it)")
    return [*pieces, line[at:]], asked, complaints


def _markers(line: str) -> list[re.Match[str]]:
    """The markers of a line that are not in a code span, another comment or escaped."""
    tokens = _TOKEN.finditer(line) if "decoder-trace" in line else ()
    return [token for token in tokens if token.lastgroup in ("asked", "broken", "end")]


def _fence_after(fence: re.Pattern[str] | None, line: str) -> re.Pattern[str] | None:
    """The code fence that is open after a line, as the pattern of the line that closes it."""
    if fence:
        return None if fence.match(line) else fence
    if not (opening := _FENCE.match(line)):
        return None
    bars = opening["bars"]
    indentation = 3 + (opening.start("bars") if opening["item"] else 0)
    return re.compile(rf" {{0,{indentation}}}{bars[0]}{{{len(bars)},}}[ \t]*\r?\Z")


def _end_of_block(lines: Sequence[str], begin: int) -> int | None:
    """The index of the line that ends a block: the first end marker that no fence in it hides.

    A fence that nothing closes hides none. No other marker may come before the end, not even in a
    fence: a block whose end is missing must not reach into what the author wrote.
    """
    fence: re.Pattern[str] | None = None
    hidden = None
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
