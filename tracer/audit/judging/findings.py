"""Find what is wrong in a text: judge its equations and group errors that share a cause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import localcontext
from functools import cache, partial

from tracer.audit.judging.chains import Chain, Weighed, weighed
from tracer.audit.judging.confirmation import Strength, is_short
from tracer.audit.judging.finding import CODES, Doubtful, Finding
from tracer.audit.judging.intervals import CONTEXT
from tracer.audit.judging.judgement import Verdict, judge
from tracer.audit.judging.quantities import wrong_row, wrong_shares
from tracer.audit.reading import expression as ex
from tracer.audit.reading.equations import Named, equations
from tracer.audit.reading.operands import printed_number
from tracer.audit.reading.passages import passages
from tracer.audit.reading.texts import Text
from tracer.audit.reading.vocabulary import SIGN
from tracer.audit.reasons import Doubt

ENOUGH, EXCEPTIONS = 10, 10
"""So many equations in which rounding could hide an error show how a text computes; one in so many
may be an exception."""

SEVERAL = 5
"""With fewer equations that differ, as many may be mistakes."""

SURE = 30
"""A text is read as it is meant if so many equations hold for each pair of sides that differs."""


@dataclass(eq=False)
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


def audit(text: Text, *, strict: bool = False, weak: bool = False) -> Audit:
    """Judge every readable equation of a text.

    With `strict`, also report equations that do not hold with the digits as printed, but hold if
    the printed inputs were rounded. With `weak`, also report what only weak evidence confirms.
    """
    found = Audit()
    has_gains = cache(partial(_GAINS.search, text.content))  # few texts have rows to ask it for
    named: dict[str, Named] = {}
    with localcontext(CONTEXT):
        for passage in passages(text, SIGN):
            read = equations(passage)
            for equation in read.equations:
                chain, unread, doubtful = weighed(equation, text)
                if chain:
                    found.chains.append(chain)
                found.unread += [(text, at) for at in unread]
                found.doubtful += doubtful
            found.unread += [(text, at) for at in read.unread]
            if read.rest:
                rest = read.rest.start, read.rest.end
                found.findings.append(Finding(text, *CODES["rest"], *rest, rest))
            for row in read.named:
                found.findings += wrong_row(text, row, named, gains=bool(has_gains()))
        if _computes_with_printed(found.chains):
            found.chains = list(map(_as_printed, found.chains))
        if not _is_surely_read(found):
            _doubt_all(found, text, Doubt.UNCONFIRMED, lambda pair: pair.strength is Strength.NONE)
        if not weak:
            _doubt_all(found, text, Doubt.WEAK, lambda pair: pair.strength is Strength.WEAK)
        if _is_of_another_notation(found) and not is_short(text):
            _doubt_all(found, text, Doubt.NOTATION, _is_far)
        roots = _Roots()
        for chain in found.chains:
            found.findings += _findings(chain.pairs, roots)
            only = [pair.finding for pair in chain.pairs if pair.verdict is Verdict.CONSISTENT]
            found.findings += only if strict else []
        found.findings += list(wrong_shares(text, found.findings))
    found.findings.sort(key=lambda finding: finding.start)
    found.unread.sort(key=lambda place: place[1])
    return found


_GAINS = re.compile(r"γ|β|\\gamma|\\beta|\bgamma\b|\bbeta\b|\bgain\b|\bshift\b")


def _computes_with_printed(chains: Sequence[Chain]) -> bool:
    """Return whether nearly all equations hold with the printed digits, not only unrounded."""
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


def _is_surely_read(found: Audit) -> bool:
    """Return whether nearly all equations of a text hold, so that it is read as it is meant."""
    differ = sum(not pair.verdict.holds for chain in found.chains for pair in chain.pairs)
    return (len(found.doubtful) + differ) * SURE <= found.hold


def _is_of_another_notation(found: Audit) -> bool:
    """Return whether several pairs of sides differ, and less than half as many equations hold."""
    far = sum(_is_far(pair) for chain in found.chains for pair in chain.pairs)
    return len(found.doubtful) + far >= max(SEVERAL, 2 * found.hold + 1)


def _is_far(pair: Weighed) -> bool:
    return pair.verdict in (Verdict.SCALE, Verdict.FALSE)


def _doubt_all(
    found: Audit, text: Text, reason: Doubt, is_doubtful: Callable[[Weighed], bool]
) -> None:
    """Doubt all pairs of a kind: they are no findings any more."""
    for i, chain in enumerate(found.chains):
        doubtful = [pair.finding for pair in chain.pairs if is_doubtful(pair)]
        found.doubtful += (Doubtful(text, each.start, each.end, reason) for each in doubtful)
        if doubtful:
            kept = tuple(pair for pair in chain.pairs if not is_doubtful(pair))
            found.chains[i] = chain._replace(pairs=kept)
    found.chains = [chain for chain in found.chains if chain.agreeing or chain.pairs]


SAME = 3
"""A figure with at least this many digits is recognized when it appears again."""

_SIGN = re.compile(r"\A[^\d.]+")
"""What precedes the digits of a number, such as a minus sign."""


class _Roots:
    """The findings so far that follow from no other finding, by their figures."""

    def __init__(self) -> None:
        self.found: list[Finding] = []
        self.places: dict[object, int] = {}

    def add(self, finding: Finding) -> None:
        """Remember a finding; of several with the same figure, the first counts."""
        if finding.level == "note":
            return
        digits = _SIGN.sub("", finding.printed or "")
        for figure in (digits, (finding.printed, finding.computed)):
            self.places.setdefault(figure, len(self.found))
        self.found.append(finding)

    def of(self, pair: Weighed) -> Finding | None:
        """Return the first finding with the same figures, or whose correct one makes it hold."""
        places = []
        if pair.finding.computed is not None:
            places.append(self.places.get((pair.finding.printed, pair.finding.computed)))
        for number in ex.numbers(pair.left):
            place = self.places.get(number.printed) if number.digits >= SAME else None
            if place is not None and _holds_with(pair, number, self.found[place]):
                places.append(place)
        found = [place for place in places if place is not None]
        return self.found[min(found)] if found else None


def _holds_with(pair: Weighed, number: ex.Number, root: Finding) -> bool:
    """Return whether two sides agree if the correct value replaces the wrong figure in the left."""
    if root.computed is None or root.printed is None:
        return False
    digits = root.computed.lstrip("-")
    correct: ex.Expression = printed_number(digits, number.start, number.end, number.measure)
    if (digits != root.computed) != root.printed.startswith(("-", "−")):
        correct = ex.Negative(correct)
    found = judge(ex.replaced(pair.left, number, correct), pair.right)
    return found is not None and found.verdict.holds


def _findings(pairs: Sequence[Weighed], roots: _Roots) -> Iterator[Finding]:
    for pair in pairs:
        if not pair.verdict.holds:
            root = roots.of(pair)
            yield replace(pair.finding, follows_from=root) if root else pair.finding
            if root is None:
                roots.add(pair.finding)
