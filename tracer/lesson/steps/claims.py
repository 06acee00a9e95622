"""Claims that several kinds of steps make.

Which is largest is decided on the numbers as they were computed; a tie there, or in print, is not
spoken of.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracer.lesson.document import Name, Sentence
from tracer.lesson.expression import Number
from tracer.lesson.steps.kind import Step
from tracer.lesson.told import Told
from tracer.names import distinct


def best(
    step: Step, told: Told, printed: Sequence[Number], before: str, between: str, after: str
) -> Sentence | None:
    """Which column of the followed token's row is the largest, and how large."""
    value = step.last.output
    numbers = list(value.computed[told.row(value)])
    largest = numbers.index(max(numbers))
    shown = [number.value for number in printed]
    if len(numbers) < 2 or shown.count(shown[largest]) > 1:
        return None
    label = Name(distinct(value.axes[1].labels)[largest])
    return (before, told.who, between, label, after, printed[largest], ".")
