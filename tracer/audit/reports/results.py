"""What is reported of a file: findings with their messages, counts and lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum

from tracer.audit.judging.finding import CODES, MOST_DIGITS, Finding
from tracer.audit.judging.findings import Audit
from tracer.audit.judging.judgement import Verdict
from tracer.audit.reading.texts import Place, Text
from tracer.audit.reading.tokens import MOST
from tracer.errors import EXCERPT, Problem, cut

SEVERE = ("A01", "A03")
UNROUNDED = "A08"
"""Reported only with `strict`, or if this very code is selected."""

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
    if finding.code == UNROUNDED:
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
    findings: tuple[Finding, ...] = ()
    listed: tuple[Listed, ...] = ()
    problems: tuple[Problem, ...] = ()
    """Why the file could not be read."""
    warnings: tuple[Problem, ...] = ()
    """What is wrong with remarks in the text."""


def result(name: str, audits: Sequence[tuple[Text, Audit]], kinds: Sequence[Kind]) -> Result:
    """Return the result of a file, from the audits of its texts, with lists of these kinds."""
    found = [audit for _, audit in audits]
    return Result(
        name,
        read=sum(audit.read for audit in found),
        hold=sum(audit.hold for audit in found),
        hold_unrounded=sum(audit.hold_unrounded for audit in found),
        doubtful=sum(len(audit.doubtful) for audit in found),
        unread=sum(len(audit.unread) for audit in found),
        findings=tuple(finding for audit in found for finding in audit.findings),
        listed=tuple(
            each for text, audit in audits for kind in kinds for each in _LISTS[kind](text, audit)
        ),
    )


def without(result: Result, dropped: Set[Finding]) -> Result:
    """Return the result without some findings; what follows from them stands for itself."""
    findings = (
        replace(finding, follows_from=None) if finding.follows_from in dropped else finding
        for finding in result.findings
        if finding not in dropped
    )
    return replace(result, findings=tuple(findings)) if dropped else result


def _equations(text: Text, audit: Audit) -> Iterator[Listed]:
    for chain in audit.chains:
        shown = text.on_one_line(chain.start, chain.end)
        why = "holds unrounded" if chain.verdict is Verdict.CONSISTENT else "holds"
        why = why if chain.verdict.holds else CODES[chain.verdict][1]
        yield Listed(text.span(chain.start, chain.end), Kind.READ, shown, why)


def _doubtful(text: Text, audit: Audit) -> Iterator[Listed]:
    for each in audit.doubtful:
        place = text.span(each.start, each.end)
        yield Listed(place, Kind.DOUBTFUL, each.equation, str(each.reason))


def _unread(text: Text, audit: Audit) -> Iterator[Listed]:
    for _, at in audit.unread:
        number, column = text.place(at)
        begin = max(0, column - 1 - EXCERPT // 2)
        around = cut(text.line(number).replace("\t", " "), begin).strip()
        yield Listed(text.span(at, at), Kind.UNREAD, around)


_LISTS = {Kind.READ: _equations, Kind.DOUBTFUL: _doubtful, Kind.UNREAD: _unread}
