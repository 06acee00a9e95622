"""What is found about the figures of a text: by place, the worst first, and by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property

from tracer.check.figures import Figure
from tracer.check.verdicts import Finding, Verdict
from tracer.decoder.value import Value
from tracer.frozen import frozen
from tracer.lesson import sentences
from tracer.lesson.steps import Step
from tracer.lesson.teacher import Teacher


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

    def of(self, verdict: Verdict) -> list[Finding]:
        """The findings with a verdict."""
        return [finding for finding in self.findings if finding.verdict is verdict]

    @cached_property
    def mistakes(self) -> tuple[Mistake, ...]:
        """What is wrong, the worst first: that from which most follows."""
        together: dict[tuple[object, ...], list[Finding]] = {}
        for finding in self.of(Verdict.WRONG):
            listed = finding.figure.listed
            at = (listed.line,) if listed.line else (id(listed),)
            together.setdefault((*at, listed.address, listed.row), []).append(finding)
        mistake_of = {root: key for key, roots in together.items() for root in roots}
        following: dict[tuple[object, ...], list[Finding]] = {key: [] for key in together}
        for finding in self.of(Verdict.FOLLOWS):
            following[mistake_of[min(finding.sources, key=_order)]].append(finding)
        found = [Mistake(tuple(roots), tuple(following[key])) for key, roots in together.items()]
        return tuple(
            sorted(found, key=lambda mistake: (-len(mistake.following), _order(mistake.roots[0])))
        )

    @property
    def first(self) -> Finding | None:
        """Where the text leaves the truth: what is computed before all else that is wrong."""
        return min(self.of(Verdict.WRONG), key=_order, default=None)

    @property
    def by_step(self) -> list[tuple[Step, str, Mapping[Verdict, int]]]:
        """Each step of which figures are printed, its title, and how many have which verdict."""
        counted: dict[tuple[bool, int], tuple[Step, str, Counter[Verdict]]] = {}
        for finding in self.findings:
            step = step_of(finding.figure)
            if step is not None:
                key = (finding.figure.listed.example is not None, step.number)
                told = counted.setdefault(key, (step, title_of(finding.figure), Counter()))
                told[2][finding.verdict] += 1
        return [counted[key] for key in sorted(counted)]


def _order(finding: Finding) -> tuple[bool, int]:
    """The place of a figure in the order of computation; the plain pass before the examples."""
    figure = finding.figure
    if figure.within is None or figure.entry is None:
        return (True, 0)
    return (figure.listed.example is not None, figure.within.order[figure.entry.value.address])


def step_of(figure: Figure) -> Step | None:
    """The step in which a figure is told."""
    if figure.within is None or figure.entry is None:
        return None
    return step_in(figure.within.origins.teacher, figure.entry.value)


def step_in(teacher: Teacher, value: Value) -> Step | None:
    """The step of a value; of a parameter the one that uses it."""
    steps = teacher.step_of
    if value.address in steps:
        return steps[value.address]
    users = (r.output.address for r in teacher.trace.records if value in r.inputs)
    return next((steps[address] for address in users if address in steps), None)


def title_of(figure: Figure) -> str:
    """The title of that step."""
    step = step_of(figure)
    if step is None or figure.within is None:
        return ""
    return sentences.title(step, figure.within.origins.teacher.told)
