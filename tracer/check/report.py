"""The findings about the figures of a text: by place, the worst first, and by step."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tracer.check.verdicts import JudgedFigure, Verdict
from tracer.lesson.steps.kind import Step
from tracer.names import count


@dataclass(frozen=True)
class Mistake:
    """Wrong figures of one place in a text, and what follows from them."""

    roots: tuple[JudgedFigure, ...]
    following: tuple[JudgedFigure, ...]


@dataclass(frozen=True)
class Report:
    """The findings of a figures file, in its order; `title` is the title of the text."""

    scenario: str
    title: str
    findings: tuple[JudgedFigure, ...]

    def __repr__(self) -> str:
        wrong = len(self.of(Verdict.WRONG))
        return f"<Report on {self.title!r}: {count(len(self.findings), 'figure')}, {wrong} wrong>"

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.of(Verdict.WRONG)

    @property
    def counts(self) -> Counter[Verdict]:
        """The number of findings by verdict."""
        return Counter(finding.verdict for finding in self.findings)

    def of(self, verdict: Verdict) -> list[JudgedFigure]:
        """The findings with a verdict."""
        return [finding for finding in self.findings if finding.verdict is verdict]

    @cached_property
    def mistakes(self) -> tuple[Mistake, ...]:
        """The wrong figures by place; those with most consequences first."""
        together = defaultdict[tuple[object, ...], list[JudgedFigure]](list)
        for finding in self.of(Verdict.WRONG):
            listed = finding.figure.listed
            at = (listed.line,) if listed.line else (id(listed),)
            together[*at, listed.address, listed.row].append(finding)
        mistake_of = {root: key for key, roots in together.items() for root in roots}
        following = defaultdict[tuple[object, ...], list[JudgedFigure]](list)
        for finding in self.of(Verdict.FOLLOWS):
            following[mistake_of[min(finding.sources, key=_order)]].append(finding)
        found = [Mistake(tuple(roots), tuple(following[key])) for key, roots in together.items()]
        return tuple(sorted(found, key=lambda each: (-len(each.following), _order(each.roots[0]))))

    @property
    def first(self) -> JudgedFigure | None:
        """The wrong figure that is first in the order of computation."""
        return min(self.of(Verdict.WRONG), key=_order, default=None)

    @property
    def by_step(self) -> list[tuple[Step, str, Mapping[Verdict, int]]]:
        """Each step with figures, its title, and the number of figures by verdict."""
        counted: dict[tuple[bool, int], tuple[Step, str, Counter[Verdict]]] = {}
        for finding in self.findings:
            figure = finding.figure
            if step := figure.step:
                key = (figure.listed.example is not None, step.number)
                _, _, counts = counted.setdefault(key, (step, figure.title, Counter()))
                counts[finding.verdict] += 1
        return [counted[key] for key in sorted(counted)]


def _order(finding: JudgedFigure) -> tuple[bool, int]:
    """Return a sort key by the order of computation; the plain pass precedes the examples."""
    figure = finding.figure
    if figure.within is None or figure.entry is None:
        return (True, 0)
    return (figure.listed.example is not None, figure.within.order[figure.entry.value.address])
