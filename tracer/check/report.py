"""What is found about the figures of a text: by place, the worst first, and by step."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cached_property

from tracer.check.verdicts import Finding, Verdict
from tracer.frozen import frozen
from tracer.lesson.steps import Step


@frozen
class Mistake:
    """Figures that stand together in a text and are wrong, and what follows from them."""

    roots: tuple[Finding, ...]
    following: tuple[Finding, ...]


@frozen
class Report:
    """The findings of a figures file, in its order; `title` is what text it is of."""

    scenario: str
    title: str
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.of(Verdict.WRONG)

    @property
    def counts(self) -> Counter[Verdict]:
        """How many findings have which verdict."""
        return Counter(finding.verdict for finding in self.findings)

    def of(self, verdict: Verdict) -> list[Finding]:
        """The findings with a verdict."""
        return [finding for finding in self.findings if finding.verdict is verdict]

    @cached_property
    def mistakes(self) -> tuple[Mistake, ...]:
        """What is wrong, the worst first: that from which most follows."""
        together = defaultdict[tuple[object, ...], list[Finding]](list)
        for finding in self.of(Verdict.WRONG):
            listed = finding.figure.listed
            at = (listed.line,) if listed.line else (id(listed),)
            together[*at, listed.address, listed.row].append(finding)
        mistake_of = {root: key for key, roots in together.items() for root in roots}
        following = defaultdict[tuple[object, ...], list[Finding]](list)
        for finding in self.of(Verdict.FOLLOWS):
            following[mistake_of[min(finding.sources, key=_order)]].append(finding)
        found = [Mistake(tuple(roots), tuple(following[key])) for key, roots in together.items()]
        return tuple(sorted(found, key=lambda each: (-len(each.following), _order(each.roots[0]))))

    @property
    def first(self) -> Finding | None:
        """Where the text leaves the truth: what is computed before all else that is wrong."""
        return min(self.of(Verdict.WRONG), key=_order, default=None)

    @property
    def by_step(self) -> list[tuple[Step, str, Mapping[Verdict, int]]]:
        """Each step of which figures are printed, its title, and how many have which verdict."""
        counted: dict[tuple[bool, int], tuple[Step, str, Counter[Verdict]]] = {}
        for finding in self.findings:
            figure = finding.figure
            if step := figure.step:
                key = (figure.listed.example is not None, step.number)
                _, _, counts = counted.setdefault(key, (step, figure.title, Counter()))
                counts[finding.verdict] += 1
        return [counted[key] for key in sorted(counted)]


def _order(finding: Finding) -> tuple[bool, int]:
    """The place of a figure in the order of computation; the plain pass before the examples."""
    figure = finding.figure
    if figure.within is None or figure.entry is None:
        return (True, 0)
    return (figure.listed.example is not None, figure.within.order[figure.entry.value.address])
