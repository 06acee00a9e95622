"""What a report needs of a file, without the file's text: many files need little memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum

from tracer.audit.judging.chains import Chain
from tracer.audit.judging.finding import CODES, MOST_DIGITS, Finding
from tracer.audit.judging.findings import Audit
from tracer.audit.judging.judgement import Verdict
from tracer.audit.reading.notebooks import lines_in_file
from tracer.audit.reading.texts import Text
from tracer.audit.reading.tokens import MOST
from tracer.errors import EXCERPT, Problem, cut, excerpt

SEVERE = ("A01", "A03")
ONLY_UNROUNDED = "A08"

MEANT = {
    "A05": "this value was {} before",
    "A06": "the probabilities sum to {}",
    "A07": "LayerNorm gives mean 0 and standard deviation 1; here the mean is {}",
    "A09": f"this passage has more than {MOST:,} tokens; the rest is not read",
}
"""The messages for rows of numbers and for text that was not read to its end."""


def message(finding: Finding) -> str:
    """Return what is wrong, in a sentence: `false: computed 7.06, printed 7.6; …`."""
    if finding.computed is not None and finding.printed is not None:
        sides = _as_power(finding.computed), _shortened(finding.printed)
        difference = f"computed {sides[0]}, printed {sides[1]}"
    elif finding.code in MEANT:
        difference = MEANT[finding.code].format(finding.computed)
    elif finding.computed is not None:
        sides = _as_power(finding.computed), _as_power(finding.right or "")
        difference = f"the left side is {sides[0]}, the right side {sides[1]}"
    else:
        difference = "the two sides differ"
    why = finding.cause or (finding.certain if finding.code in SEVERE else None)
    if finding.code == ONLY_UNROUNDED:
        why = "holds only if the numbers in it were rounded before they were printed"
    return f"{finding.verdict}: {difference}" + (f"; {why}" if why else "")


def _as_power(number: str) -> str:
    """Write 1.97e+50 as ≈ 1.97×10⁵⁰."""
    digits, _, exponent = number.partition("e")
    return f"≈ {digits}×10{str(int(exponent)).translate(_RAISED)}" if exponent else number


_RAISED = {ord(plain): raised for raised, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True)}


def _shortened(number: str) -> str:
    """Return a printed number, the digits after the first few as an ellipsis."""
    digits = [i for i, sign in enumerate(number) if sign.isdigit()]
    return number if len(digits) <= MOST_DIGITS else f"{number[: digits[MOST_DIGITS]]}…"


@dataclass(frozen=True)
class Place:
    """Where something stands; lines and columns are those of the cell in a notebook."""

    file: str
    cell: int | None
    line: int
    column: int
    end_line: int
    end_column: int
    lines_in_file: tuple[int, int]
    """The first and the last line in the file."""

    @property
    def text(self) -> str:
        """The name of the text: `a.md`, or `a.ipynb:cell 3`."""
        return self.file if self.cell is None else f"{self.file}:cell {self.cell}"

    def __str__(self) -> str:
        return f"{self.text}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Reported:
    """A finding to report."""

    place: Place
    code: str
    verdict: str
    level: str
    message: str
    equation: str
    shown: tuple[str, str]
    """The line of the text, and a caret under each wrong character."""
    printed: str | None
    computed: str | None
    cause: str | None
    follows_from: Place | None


class Kind(StrEnum):
    """A kind of things that are listed on request."""

    READ = "read"
    DOUBTFUL = "doubtful"
    UNREAD = "not read"


@dataclass(frozen=True)
class Listed:
    """An equation that was read, or is doubtful, or a sign that was not read."""

    place: Place
    kind: Kind
    shown: str
    """The equation, or the text around the sign."""
    why: str = ""
    """The verdict, or the reason for the doubt."""


@dataclass(frozen=True)
class Result:
    """What was read of a file, and what is wrong in it."""

    file: str
    read: int = 0
    hold: int = 0
    hold_unrounded: int = 0
    doubtful: int = 0
    unread: int = 0
    ignored: int = 0
    """The findings that are not reported because of their codes or of remarks in the text."""
    known: int = 0
    """The findings that are not reported because they are in the baseline."""
    is_binary: bool = False
    findings: tuple[Reported, ...] = ()
    listed: tuple[Listed, ...] = ()
    problems: tuple[Problem, ...] = ()
    """Why the file could not be read."""
    warnings: tuple[Problem, ...] = ()
    """What is wrong with remarks in the text."""


def result(
    file: str, content: str, audits: Sequence[tuple[Text, Audit]], kinds: Sequence[Kind]
) -> Result:
    """Return the result of a file, from the audits of its texts, with lists of these kinds."""
    places = _Places(file, content)
    found = [audit for _, audit in audits]
    return Result(
        file,
        read=sum(audit.read for audit in found),
        hold=sum(audit.hold for audit in found),
        hold_unrounded=sum(audit.hold_unrounded for audit in found),
        doubtful=sum(len(audit.doubtful) for audit in found),
        unread=sum(len(audit.unread) for audit in found),
        findings=tuple(places.reported(each) for audit in found for each in audit.findings),
        listed=tuple(
            each
            for text, audit in audits
            for kind in kinds
            for each in _LISTS[kind](text, audit, places)
        ),
    )


def without(result: Result, dropped: Set[Reported]) -> Result:
    """Return the result without some findings; what follows from them stands for itself."""
    if not dropped:
        return result
    gone = {finding.place for finding in dropped}
    kept = [finding for finding in result.findings if finding not in dropped]
    findings = (
        replace(finding, follows_from=None) if finding.follows_from in gone else finding
        for finding in kept
    )
    return replace(result, findings=tuple(findings))


class _Places:
    """Places in a file; the lines of a notebook's file are found when they are needed."""

    def __init__(self, file: str, content: str) -> None:
        self.file, self.content = file, content
        self.lines: list[list[int]] | None = None

    def of(self, text: Text, start: int, end: int) -> Place:
        """Return the place of a stretch of a text."""
        (line, column), (end_line, end_column) = text.place(start), text.place(end)
        lines = self._in_file(text.cell, line), self._in_file(text.cell, end_line)
        return Place(self.file, text.cell, line, column, end_line, end_column, lines)

    def _in_file(self, cell: int | None, line: int) -> int:
        if cell is None:
            return line
        if self.lines is None:
            self.lines = lines_in_file(self.file, self.content)
        known = self.lines[cell - 1]
        return known[min(line, len(known)) - 1] if known else 1

    def reported(self, finding: Finding) -> Reported:
        """Return a finding without its text."""
        text, (start, end) = finding.text, finding.marks
        line, column = text.place(start)
        root = finding.follows_from
        return Reported(
            self.of(text, finding.start, finding.end),
            *(finding.code, finding.verdict, finding.level),
            message(finding),
            finding.equation,
            excerpt(text.line(line), line, column, end - start),
            *(finding.printed, finding.computed, finding.cause),
            None if root is None else self.of(root.text, root.start, root.end),
        )


def _equations(text: Text, audit: Audit, places: _Places) -> Iterator[Listed]:
    for chain in audit.chains:
        shown = " ".join(text.content[chain.start : chain.end].split())
        place = places.of(text, chain.start, chain.end)
        yield Listed(place, Kind.READ, shown, _verdict(chain))


def _verdict(chain: Chain) -> str:
    if chain.verdict.holds:
        return "holds unrounded" if chain.verdict is Verdict.CONSISTENT else "holds"
    return CODES[chain.verdict][1]


def _doubtful(text: Text, audit: Audit, places: _Places) -> Iterator[Listed]:
    for each in audit.doubtful:
        place = places.of(text, each.start, each.end)
        yield Listed(place, Kind.DOUBTFUL, each.equation, str(each.reason))


def _unread(text: Text, audit: Audit, places: _Places) -> Iterator[Listed]:
    for _, at in audit.unread:
        number, column = text.place(at)
        begin = max(0, column - 1 - EXCERPT // 2)
        around = cut(text.line(number).replace("\t", " "), begin).strip()
        yield Listed(places.of(text, at, at), Kind.UNREAD, around)


_LISTS = {Kind.READ: _equations, Kind.DOUBTFUL: _doubtful, Kind.UNREAD: _unread}
