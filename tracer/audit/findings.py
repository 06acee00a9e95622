"""A text → what is wrong in it: its equations weighed, what follows from what put together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext

from tracer.audit import expression as ex
from tracer.audit.causes import cause
from tracer.audit.equations import Equation, Named, Side, equations
from tracer.audit.intervals import CONTEXT
from tracer.audit.judgement import Judgement, Verdict, judge
from tracer.audit.passages import passages
from tracer.audit.quantities import doubts
from tracer.audit.texts import Text
from tracer.frozen import frozen

ENOUGH = 10
"""So many equations, in which rounding could hide an error, show how a text computes."""

EXCEPTIONS = 10
"""One in so many may be otherwise."""

FURTHEST = 5
"""So many sides back, an unrounded number may go on."""

SAME = 3
"""A figure with so many digits is known again."""


@frozen
class Finding:
    """Something that is wrong, and where."""

    text: Text
    code: str
    verdict: str
    level: str
    start: int
    end: int
    marks: tuple[int, int]
    """From where to where the figures stand that are at fault, or the other side is."""
    printed: str | None = None
    computed: str | None = None
    cause: str | None = None
    right: str | None = None
    """What the right side comes to, where that is to be worked out, too."""
    follows_from: Finding | None = None

    @property
    def region(self) -> tuple[int, int, int, int]:
        """Its first line and column, its last line, and the column behind its end."""
        return *self.text.place(self.start), *self.text.place(self.end)

    @property
    def equation(self) -> str:
        """The equation as it is printed, in one line."""
        return " ".join(self.text.content[self.start : self.end].split())


@frozen
class Weighed:
    """Two sides of an equation, and how they agree."""

    left: Side
    right: Side
    judgement: Judgement


@dataclass
class Audit:
    """What was read of a text, and what was found."""

    weighed: list[list[Weighed]] = field(default_factory=list)
    """Of each equation, the pairs of sides that could be judged."""
    unread: list[tuple[Text, int]] = field(default_factory=list)
    """The signs that were not read."""
    findings: list[Finding] = field(default_factory=list)

    @property
    def read(self) -> int:
        """How many equations were read."""
        return len(self.weighed)

    @property
    def hold(self) -> int:
        """In how many of them nothing is wrong."""
        return sum(_worst(pairs).holds for pairs in self.weighed)

    @property
    def hold_unrounded(self) -> int:
        """In how many nothing is wrong only because the numbers put in may have been rounded."""
        return sum(_worst(pairs) is Verdict.CONSISTENT for pairs in self.weighed)


def _worst(pairs: Sequence[Weighed]) -> Verdict:
    return max(pair.judgement.verdict for pair in pairs)


CODES: dict[Verdict | str, tuple[str, str, str]] = {
    Verdict.FALSE: ("A01", "false", "error"),
    Verdict.LAST_DIGIT: ("A02", "last digit", "warning"),
    Verdict.SCALE: ("A03", "unit or scale", "warning"),
    Verdict.CUT: ("A04", "cut", "note"),
    Verdict.CONSISTENT: ("A08", "unrounded", "note"),
    "two values": ("A05", "two values", "warning"),
    "sum": ("A06", "not 1 in sum", "warning"),
    "norm": ("A07", "not normed", "warning"),
}


def audit(text: Text, *, strict: bool = False) -> Audit:
    """Weigh every equation of a text that can be read.

    Where it is `strict`, also those are noted that do not hold with the digits as they stand, and
    do only if the numbers put in had more.
    """
    found = Audit()
    with localcontext(CONTEXT):
        named: list[Named] = []
        for passage in passages(text):
            read, unread, rows = equations(passage)
            named += rows
            for equation in read:
                pairs, others = _weighed(equation, text)
                unread += others
                found.weighed += [pairs] if pairs else []
            found.unread += [(text, at) for at in unread]
        if _computes_with_printed(found.weighed):
            found.weighed = [[_as_printed(pair) for pair in pairs] for pairs in found.weighed]
        for pairs in found.weighed:
            found.findings += list(_findings(pairs, text, found.findings))
            only = [pair for pair in pairs if pair.judgement.verdict is Verdict.CONSISTENT]
            found.findings += [_finding(pair, text) for pair in only if strict]
        gains = bool(_GAINS.search(text.content))
        for kind, row, computed in doubts(named, gains=gains):
            place = row.start, row.end
            found.findings.append(Finding(text, *CODES[kind], *place, place, None, computed))
    found.findings.sort(key=lambda finding: finding.start)
    found.unread.sort(key=lambda place: place[1])
    found.findings = [each for each in found.findings if not _is_silenced(each)]
    return found


_GAINS = re.compile(r"γ|β|\\gamma|\\beta|\bgamma\b|\bbeta\b|\bgain\b|\bshift\b")


def _is_silenced(finding: Finding) -> bool:
    first, _, last, _ = finding.region
    return not finding.text.silenced.isdisjoint(range(first, last + 1))


def _weighed(equation: Equation, text: Text) -> tuple[list[Weighed], list[int]]:
    """The pairs of a chain that can be judged, and the signs between the others."""
    pairs, unread = [], []
    computes = any(_computes(side.expression) for side in equation.sides)
    for i, sign in enumerate(equation.signs):
        left, right = equation.sides[i : i + 2]
        found = _judged(equation, i, text) if computes else None
        if found is None or not (found.verdict.holds or _is_meant(left, right, found)):
            unread.append(sign)
        else:
            pairs.append(Weighed(left, right, found))
    return pairs, unread


def _computes(expression: ex.Expression) -> bool:
    """Whether there is something to compute."""
    return not (ex.is_printed(expression) or isinstance(expression, ex.Constant))


def _is_meant(left: Side, right: Side, found: Judgement) -> bool:
    """Whether two sides that do not agree are certainly meant to be equal."""
    one, other = left.expression, right.expression
    if left.is_doubtful or right.is_doubtful:
        return False
    if _is_angle(one):
        return not all(number.is_whole for number in ex.numbers(other))  # 2π = 360
    return _computes(one) or _computes(other) or _are_one(one, other, found)


def _is_angle(expression: ex.Expression) -> bool:
    """Whether π stands in it, but in no function: 2π may be 360 degrees."""
    if isinstance(expression, ex.Constant):
        return expression.name == "π"
    return not isinstance(expression, ex.Call) and any(map(_is_angle, ex.parts(expression)))


def _judged(equation: Equation, i: int, text: Text) -> Judgement | None:
    """Two sides that meet; what comes out of an earlier side of the chain is no error either."""
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
            return replace(instead, verdict=Verdict.CONSISTENT)
    return found


_BULLET = re.compile(r"[-−–]\s+\Z")


def _negated(expression: ex.Expression) -> ex.Expression:
    """The same with a minus at its beginning."""
    match expression:
        case ex.Sum((first, *others)):
            return ex.Sum((_negated(first), *others))
        case ex.Product(((sign, first), *others)):
            return ex.Product(((sign, ex.Negative(first)), *others))
    return ex.Negative(expression)


def _are_one(left: ex.Expression, right: ex.Expression, found: Judgement) -> bool:
    """Whether two printed numbers are the same one, to be rounded: decimals, or nearly equal."""
    if not any(number.is_whole for number in (*ex.numbers(left), *ex.numbers(right))):
        return True
    if found.computed is None:
        return False
    return abs(found.computed - found.printed) * 10 <= abs(found.computed)


def _computes_with_printed(weighed: Sequence[Sequence[Weighed]]) -> bool:
    """Whether a text goes on with the numbers that it prints, rather than with unrounded ones.

    Then nearly all of its equations hold with the digits as they stand, even those in which
    unrounded numbers would give another last digit.
    """
    deciding = [pair.judgement for pairs in weighed for pair in pairs if pair.judgement.decides]
    counts = Counter(judgement.verdict for judgement in deciding)
    at_face = counts[Verdict.EXACT] + counts[Verdict.ROUNDED]
    return at_face >= ENOUGH and at_face >= EXCEPTIONS * counts[Verdict.CONSISTENT]


def _as_printed(pair: Weighed) -> Weighed:
    """In such a text, what only unrounded numbers give is another last digit."""
    found = pair.judgement
    if found.verdict is Verdict.CONSISTENT and found.decides:
        return replace(pair, judgement=replace(found, verdict=Verdict.LAST_DIGIT))
    return pair


def _findings(
    pairs: Sequence[Weighed], text: Text, earlier: Sequence[Finding]
) -> Iterator[Finding]:
    """What is wrong in a chain: what comes behind the first error follows from it."""
    root: Finding | None = None
    for pair in pairs:
        if not pair.judgement.verdict.holds:
            found = _finding(pair, text)
            found = replace(found, follows_from=root or _root(found, pair, earlier))
            root = root or found.follows_from or found
            yield found


def _root(found: Finding, pair: Weighed, earlier: Sequence[Finding]) -> Finding | None:
    """An earlier finding of the same figure, or whose wrong figure is put in here."""
    put_in = {
        number.printed for number in ex.numbers(pair.left.expression) if number.digits >= SAME
    }
    for other in earlier:
        if other.follows_from is not None or other.level == "note":
            continue
        same = (other.printed, other.computed) == (found.printed, found.computed)
        if (same and found.computed is not None) or other.printed in put_in:
            return other
    return None


def _finding(pair: Weighed, text: Text) -> Finding:
    left, right = pair.left, pair.right
    if ex.is_printed(left.expression) and not ex.is_printed(right.expression):
        left, right = right, left
    figure = _figure(right.expression, pair.judgement.place)
    shown = pair.judgement.computed is not None
    scale = 100 if ex.is_percent(right.expression) else 1  # 14 % stands for 0.14
    return Finding(
        text,
        *CODES[pair.judgement.verdict],
        start=pair.left.start,
        end=pair.right.end,
        marks=(figure.start, figure.end) if figure else (right.start, right.end),
        printed=text.content[figure.start : figure.end] if figure else None,
        computed=_computed(pair.judgement, scale) if shown else None,
        cause=cause(left.expression, pair.judgement),
        right=_apart(pair.judgement)[1] if shown and not figure else None,
    )


def _figure(expression: ex.Expression, place: int) -> ex.Number | None:
    """The number of a printed side that is at fault."""
    found = ex.numbers(expression) if ex.is_printed(expression) else []
    return found[place] if place < len(found) else None


MORE = Decimal("0.01")
"""Two more digits are told than are printed."""


def _computed(judgement: Judgement, scale: int) -> str:
    """What it should be, with two digits more than are printed."""
    assert judgement.computed is not None
    if not judgement.unit:
        return _apart(judgement)[0]
    value = judgement.computed * scale
    step = min(judgement.unit * scale, Decimal(1)) * MORE
    if value and abs(value) < 100 * step:
        step = Decimal(1).scaleb(value.adjusted() - 3)
    return _plain(value, step)


def _apart(judgement: Judgement) -> tuple[str, str]:
    """Two sides that were worked out, with as many digits as tell them apart."""
    assert judgement.computed is not None
    gap = judgement.computed - judgement.printed
    step = Decimal(1).scaleb(gap.adjusted() - 1)
    return _plain(judgement.computed, step), _plain(judgement.printed, step)


def _plain(value: Decimal, step: Decimal) -> str:
    """A value in decimals, rounded."""
    plain = f"{(value / step).to_integral_value() * step:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
