"""Find what is wrong in a text: judge its equations and group errors that share a cause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from decimal import localcontext
from itertools import pairwise, starmap
from typing import NamedTuple

from tracer.audit.judging import figures
from tracer.audit.judging.causes import cause
from tracer.audit.judging.doubts import doubt
from tracer.audit.judging.intervals import CONTEXT
from tracer.audit.judging.judgement import Judgement, Verdict, judge
from tracer.audit.judging.pairs import Pair
from tracer.audit.judging.quantities import is_rounded_row, wrong_row
from tracer.audit.judging.systems import Systems
from tracer.audit.reading import expression as ex
from tracer.audit.reading.equations import Equation, Named, Side, equations
from tracer.audit.reading.passages import passages
from tracer.audit.reading.texts import Text
from tracer.audit.reasons import Doubt
from tracer.dataclass import frozen, mutable

ENOUGH = 10
"""This many equations in which rounding could hide an error show how a text computes."""

EXCEPTIONS = 10
"""One equation in this many may be an exception."""

FURTHEST = 5
"""An unrounded number may come from up to this many sides earlier in a chain."""

SAME = 3
"""A figure with at least this many digits is recognized when it appears again."""


@frozen
class Finding:
    """An error and its location."""

    text: Text
    code: str
    verdict: str
    level: str
    start: int
    end: int
    marks: tuple[int, int]
    """The start and end of the wrong figure, or of the right side if no single figure is wrong."""
    printed: str | None = None
    computed: str | None = None
    cause: str | None = None
    certain: str | None = None
    """Why rounding cannot explain it, where that is not obvious."""
    right: str | None = None
    """The value of the right side, if it is an expression to compute, too."""
    follows_from: Finding | None = None

    @property
    def region(self) -> tuple[int, int, int, int]:
        """The first line and column, the last line, and the column after the end."""
        return *self.text.place(self.start), *self.text.place(self.end)

    @property
    def equation(self) -> str:
        """The equation as printed, on one line."""
        return _on_one_line(self.text, self.start, self.end)


def _on_one_line(text: Text, start: int, end: int) -> str:
    return " ".join(text.content[start:end].split())


class Weighed(NamedTuple):
    """Two sides that do not agree with the digits as printed."""

    verdict: Verdict
    decides: bool
    """Whether rounding could hide an error in them."""
    finding: Finding
    """The finding to report, unless it follows from another or rounding explains it."""
    put_in: tuple[str, ...]
    """The figures of the left side, by which an error can be traced to an earlier finding."""


class Chain(NamedTuple):
    """A judged equation, its start and its end.

    Sides that agree with the digits as printed are only counted, so that a long text needs little
    memory.
    """

    start: int
    end: int
    decides: int
    """The number of agreeing pairs of sides in which rounding could have hidden an error."""
    pairs: tuple[Weighed, ...]
    """The pairs of sides that do not agree with the digits as printed."""

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all pairs of sides."""
        return max((pair.verdict for pair in self.pairs), default=Verdict.ROUNDED)


class Doubtful(NamedTuple):
    """Two sides that do not agree, with the reason for which they are not reported."""

    text: Text
    start: int
    end: int
    reason: Doubt

    @property
    def equation(self) -> str:
        """The equation as printed, on one line."""
        return _on_one_line(self.text, self.start, self.end)


@mutable
class Audit:
    """What was read of a text, and the errors in it."""

    chains: list[Chain] = field(default_factory=list)
    """The equations that could be judged."""
    unread: list[tuple[Text, int]] = field(default_factory=list)
    """The relation signs that were not read."""
    doubtful: list[Doubtful] = field(default_factory=list)
    """The pairs of sides that do not agree, but need not be wrong."""
    findings: list[Finding] = field(default_factory=list)

    @property
    def read(self) -> int:
        """The number of equations read."""
        return len(self.chains)

    @property
    def hold(self) -> int:
        """The number of equations without an error."""
        return sum(chain.verdict.holds for chain in self.chains)

    @property
    def hold_unrounded(self) -> int:
        """The number of equations that hold only if the printed inputs were rounded."""
        return sum(chain.verdict is Verdict.CONSISTENT for chain in self.chains)


CODES: dict[Verdict | str, tuple[str, str, str]] = {
    Verdict.FALSE: ("A01", "false", "error"),
    Verdict.LAST_DIGIT: ("A02", "last digit", "warning"),
    Verdict.SCALE: ("A03", "unit or scale", "warning"),
    Verdict.CUT: ("A04", "truncated", "note"),
    Verdict.CONSISTENT: ("A08", "unrounded", "note"),
    "two values": ("A05", "two values", "warning"),
    "sum": ("A06", "sum is not 1", "warning"),
    "norm": ("A07", "not normalized", "warning"),
    "rest": ("A09", "not read to the end", "warning"),
}


def audit(text: Text, *, strict: bool = False) -> Audit:
    """Judge every readable equation of a text.

    With `strict`, also report equations that do not hold with the digits as printed, but hold if
    the printed inputs were rounded.
    """
    found = Audit()
    systems = Systems(text)
    gains = bool(_GAINS.search(text.content))
    named: dict[str, Named] = {}
    with localcontext(CONTEXT):
        for passage in passages(text):
            read = equations(passage)
            for equation in read.equations:
                chain = _weighed(equation, systems, found)
                found.chains += [chain] if chain else []
            found.unread += [(text, at) for at in read.unread]
            if read.rest:
                place = read.rest.start, read.rest.end
                found.findings.append(Finding(text, *CODES["rest"], *place, place))
            for row in read.named:
                if wrong := wrong_row(row, named, gains=gains):
                    kind, computed = wrong
                    place = row.row.start, row.row.end
                    found.findings.append(
                        Finding(text, *CODES[kind], *place, place, None, computed)
                    )
        if _computes_with_printed(found.chains):
            found.chains = list(map(_as_printed, found.chains))
        roots = _Roots()
        for chain in found.chains:
            found.findings += _findings(chain.pairs, roots)
            only = [pair.finding for pair in chain.pairs if pair.verdict is Verdict.CONSISTENT]
            found.findings += only if strict else []
    found.findings.sort(key=lambda finding: finding.start)
    found.unread.sort(key=lambda place: place[1])
    return found


_GAINS = re.compile(r"γ|β|\\gamma|\\beta|\bgamma\b|\bbeta\b|\bgain\b|\bshift\b")


def _weighed(equation: Equation, systems: Systems, into: Audit) -> Chain | None:
    """Return the chain, None if no two sides can be judged; other signs go into the audit."""
    pairs, unread, decides = list[Weighed](), list[int](), 0
    text = systems.text
    sides = [side.expression for side in equation.sides]
    computes = any(map(_computes, sides)) or any(starmap(is_rounded_row, pairwise(sides)))
    for i, sign in enumerate(equation.signs):
        left, right = equation.sides[i : i + 2]
        found = _judged(equation, i, text) if computes else None
        if found is None:
            into.unread.append((text, sign))
            unread.append(sign)
        elif reason := None if found.verdict.holds else _doubt(equation, i, found, systems):
            into.doubtful.append(Doubtful(text, left.start, right.end, reason))
            unread.append(sign)
        elif found.verdict.at_face:
            decides += found.decides
        else:
            put_in = [n.printed for n in ex.numbers(left.expression) if n.digits >= SAME]
            finding = _finding(left, right, found, text)
            pairs.append(Weighed(found.verdict, found.decides, finding, tuple(put_in)))
    if len(unread) == len(equation.signs):
        return None
    return Chain(equation.sides[0].start, equation.sides[-1].end, decides, tuple(pairs))


def _computes(expression: ex.Expression) -> bool:
    """Return whether there is something to compute."""
    has_numbers = any(isinstance(part, ex.Number | ex.Call) for part in ex.every(expression))
    return has_numbers and not ex.is_printed(expression)


def _doubt(equation: Equation, i: int, found: Judgement, systems: Systems) -> Doubt | None:
    """Return why two sides that do not agree may be right, or not meant to be equal."""
    left, right = equation.sides[i : i + 2]
    if left.doubt or right.doubt:
        return left.doubt or right.doubt
    previous = equation.sides[i - 1].expression if i else None
    following = equation.sides[i + 2].expression if i + 2 < len(equation.sides) else None
    place = left.start, right.end, equation.signs[i], previous, following
    return doubt(Pair(left.expression, right.expression, found, systems.text, systems, *place))


def _judged(equation: Equation, i: int, text: Text) -> Judgement | None:
    """Judge two neighboring sides; an earlier side of the chain may explain the right one, too."""
    sides = equation.sides
    found = judge(sides[i].expression, sides[i + 1].expression)
    if not found or found.verdict.holds:
        return found
    before = sides[max(0, i - FURTHEST) : i]
    others = [side.expression for side in before if not ex.is_printed(side.expression)]
    start = sides[i].start
    if _BULLET.search(text.content, max(0, start - 6), start):
        others.append(_negated(sides[i].expression))
    for other in others:
        instead = judge(other, sides[i + 1].expression)
        if instead and instead.verdict.holds:
            return instead._replace(verdict=Verdict.CONSISTENT)
    return found


_BULLET = re.compile(r"[-−–]\s+\Z")


def _negated(expression: ex.Expression) -> ex.Expression:
    """Return the expression with a minus in front."""
    match expression:
        case ex.Sum((first, *others)):
            return ex.Sum((_negated(first), *others))
        case ex.Product(((sign, first), *others)):
            return ex.Product(((sign, ex.Negative(first)), *others))
    return ex.Negative(expression)


def _computes_with_printed(chains: Sequence[Chain]) -> bool:
    """Return whether a text computes with the numbers it prints, not with unrounded ones.

    If so, nearly all of its equations hold with the digits as printed, even those in which
    unrounded numbers would change the last digit.
    """
    at_face = sum(chain.decides for chain in chains)
    unrounded = sum(_may_be_unrounded(pair) for chain in chains for pair in chain.pairs)
    return at_face >= ENOUGH and at_face >= EXCEPTIONS * unrounded


def _may_be_unrounded(pair: Weighed) -> bool:
    """Return whether a pair holds only for unrounded numbers, in a case where that matters."""
    return pair.verdict is Verdict.CONSISTENT and pair.decides


def _as_printed(chain: Chain) -> Chain:
    """Report a last-digit error for each pair that holds only for unrounded numbers."""
    code, verdict, level = CODES[Verdict.LAST_DIGIT]
    pairs = tuple(
        pair._replace(
            verdict=Verdict.LAST_DIGIT,
            finding=replace(pair.finding, code=code, verdict=verdict, level=level),
        )
        if _may_be_unrounded(pair)
        else pair
        for pair in chain.pairs
    )
    return chain._replace(pairs=pairs)


class _Roots:
    """The findings so far that follow from no other finding, by their figures."""

    def __init__(self) -> None:
        self.found: list[Finding] = []
        self.places: dict[object, int] = {}

    def add(self, finding: Finding) -> None:
        """Remember a finding; of several with the same figure, the first counts."""
        if finding.level == "note":
            return
        for figure in (finding.printed, (finding.printed, finding.computed)):
            self.places.setdefault(figure, len(self.found))
        self.found.append(finding)

    def of(self, pair: Weighed) -> Finding | None:
        """Return the first finding with the same figure, or whose wrong figure is used here."""
        figures: list[object] = [*pair.put_in]
        if pair.finding.computed is not None:
            figures.append((pair.finding.printed, pair.finding.computed))
        places = [self.places[figure] for figure in figures if figure in self.places]
        return self.found[min(places)] if places else None


def _findings(pairs: Sequence[Weighed], roots: _Roots) -> Iterator[Finding]:
    """Yield the errors of a chain; each one after the first follows from the first."""
    root: Finding | None = None
    for pair in pairs:
        if not pair.verdict.holds:
            root = root or roots.of(pair)
            yield replace(pair.finding, follows_from=root) if root else pair.finding
            if root is None:
                root = pair.finding
                roots.add(root)


def _finding(left: Side, right: Side, found: Judgement, text: Text) -> Finding:
    start, end = left.start, right.end
    if ex.is_printed(left.expression) and not ex.is_printed(right.expression):
        left, right = right, left
    figure = figures.wrong(right.expression, found.place)
    scale = 100 if ex.is_percent(right.expression) else 1  # 14 % stands for 0.14
    computed, other = figures.written(found, scale)
    return Finding(
        text,
        *CODES[found.verdict],
        start=start,
        end=end,
        marks=(figure.start, figure.end) if figure else (right.start, right.end),
        printed=figures.source(figure, text) if figure else None,
        computed=computed,
        cause=cause(left.expression, found),
        certain=figures.between(found, scale),
        right=None if figure else other,
    )
