"""What makes a wrong step agree: one change at a time, on the step's own inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from tracer.check.against import ComparedValue
from tracer.check.backward import OF_BACKWARD, of_summands
from tracer.check.changes import CHANGES, other_operands, relations
from tracer.check.passes import Pass
from tracer.check.recomputation import ROUNDING, Allowed, Recomputation
from tracer.check.updates import OF_UPDATES, with_inferred_settings
from tracer.decoder.comparison import differences
from tracer.errors import TracerError

NEAR = 0.1
"""A changed number that is this near to theirs may differ by rounding, which is then measured.

Only where the change takes at least half of the difference away: to measure it costs seven passes.
"""
MOST_CAUSES = 3
"""The most wrong steps whose causes are searched one after the other."""


@dataclass(frozen=True, eq=False)
class Cause:
    """A change with which a wrong value agrees, and others with which it agrees, too.

    `explained` are all wrong values that agree with it.
    """

    value: ComparedValue
    name: str
    explained: frozenset[str]
    others: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Search:
    """The search for the causes of wrong steps, whose own computations are `own`."""

    own: Recomputation
    of_pass: Pass
    kinds: Collection[str]
    """The types of the file's numbers."""

    def causes(self, wrong: Sequence[ComparedValue]) -> tuple[Cause, ...]:
        """Return the cause of the first wrong value, then of the first that it does not explain.

        A value that no change explains has none.
        """
        left, found = [each for each in wrong if each.step], list[Cause]()
        for _ in range(MOST_CAUSES):
            if not left:
                break
            first = left[0]
            if cause := self._cause(first, left):
                found.append(cause)
            explained = cause.explained if cause else {first.value.address}
            left = [each for each in left if each.value.address not in explained]
        return tuple(found)

    def hidden(self, compared: Sequence[ComparedValue]) -> tuple[str, ...]:
        """Return the slight changes with which all values agree, too, though they change some."""
        numbers = self.own.numbers
        return tuple(
            name
            for name, other in self.of_pass.slight
            if _is_hidden(Recomputation(other, numbers), compared)
        )

    def _cause(self, first: ComparedValue, left: Sequence[ComparedValue]) -> Cause | None:
        """Return the change that explains most: of several the one that fits best."""
        found = dict[str, tuple[int, float]]()
        explained = dict[str, frozenset[str]]()
        for name, computed in chain(self._changed, self._read_otherwise(first)):
            if name not in found and self._agrees(first, computed):
                every = (each.value.address for each in left if self._agrees(each, computed))
                explained[name] = frozenset(every)
                found[name] = len(explained[name]), -_misfit(first, computed)
        if not found:
            for name in _related(first):
                every = (each.value.address for each in left if name in _related(each))
                return Cause(first, name, frozenset(every))
            return None
        best = max(found, key=found.__getitem__)
        equal = [name for name in found if explained[name] == explained[best] and name != best]
        return Cause(first, best, explained[best], tuple(equal))

    @cached_property
    def _changed(self) -> list[tuple[str, Recomputation]]:
        """The pass with each change of the tables."""
        trace, numbers = self.own.trace, self.own.numbers
        changed = [(name, Recomputation(other, numbers)) for name, other in self.of_pass.programs]
        every = (*CHANGES, *OF_BACKWARD.items(), *OF_UPDATES.items())
        return changed + [(name, Recomputation(trace, numbers, how)) for name, how in every]

    def _read_otherwise(self, first: ComparedValue) -> Iterator[tuple[str, Recomputation]]:
        alone = Recomputation(self.own.trace, self.own.numbers)
        assert first.step
        address, theirs = first.value.address, first.step.theirs
        of_training = with_inferred_settings(alone, address, theirs), of_summands(alone, address)
        for name, change in chain(*of_training, other_operands(alone, address)):
            yield name, Recomputation(self.own.trace, self.own.numbers, change)

    def _agrees(self, each: ComparedValue, computed: Recomputation) -> bool:
        """Return whether a wrong value agrees with what a changed pass computes."""
        assert each.step
        address, theirs = each.value.address, each.step.theirs
        try:
            found = computed.of(address)
            if found.shape != theirs.shape:
                return False
            off = differences(found, theirs)
            if (off <= each.step.allowed).all():
                return True
            sizes = np.where(np.isfinite(theirs), abs(theirs), 0)
            before = differences(each.step.own, theirs)
            if (off > NEAR * (sizes + sizes.mean())).any() or off.max() > before.max() / 2:
                return False
            own = (computed.trace, computed.numbers, self.kinds, computed.change)
            return bool((off <= Allowed(*own).of(address, found, each.theirs.kind)).all())
        except (TracerError, ArithmeticError, ValueError, IndexError, KeyError):
            return False  # the change does not fit the value, or has no result


def _misfit(each: ComparedValue, computed: Recomputation) -> float:
    """Return how far a wrong value is from a changed one, compared with what rounding explains."""
    assert each.step
    off = differences(computed.of(each.value.address), each.step.theirs) / each.step.allowed
    return float(off.mean())


def _is_hidden(changed: Recomputation, compared: Sequence[ComparedValue]) -> bool:
    """Return whether a changed pass differs from ours, but from no number of theirs."""
    moves = False
    for each in compared:
        if each.step is None:
            continue
        try:
            found = changed.of(each.value.address)
        except (TracerError, ArithmeticError, ValueError, KeyError):
            return False
        if found.shape != each.step.own.shape or each.step.differing_from(found).any():
            return False
        moves = moves or not np.allclose(found, each.step.own, ROUNDING["float64"], 0)
    return moves


def _related(each: ComparedValue) -> list[str]:
    """Return the names of the simple relations between a wrong value and the computed one."""
    assert each.step
    if not each.step.differing_from(np.zeros_like(each.step.own)).any():
        return []  # their numbers are so small that any factor near 0 explains them
    return [
        name
        for name, found in relations(each.value, each.step.own, each.step.theirs)
        if not each.step.differing_from(np.asarray(found)).any()
    ]
