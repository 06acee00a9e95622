"""What makes a wrong step agree: one change at a time, on the step's own inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from tracer.check.against import ComparedValue
from tracer.check.changes import CHANGES, other_operands, relations
from tracer.check.passes import Pass
from tracer.check.recomputation import Allowed, Recomputation
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

    def _cause(self, first: ComparedValue, left: Sequence[ComparedValue]) -> Cause | None:
        """Return the change that explains most: of several the first."""
        found = dict[str, frozenset[str]]()
        for name, computed in chain(self._changed, self._read_otherwise(first)):
            if self._agrees(first, computed):
                every = (each.value.address for each in left if self._agrees(each, computed))
                found.setdefault(name, frozenset(every))
        if not found:
            for kind, name in _related(first).items():
                every = (each.value.address for each in left if kind in _related(each))
                return Cause(first, name, frozenset(every))
            return None
        best = max(found, key=lambda name: len(found[name]))
        equal = [name for name in found if found[name] == found[best] and name != best]
        return Cause(first, best, found[best], tuple(equal))

    @cached_property
    def _changed(self) -> list[tuple[str, Recomputation]]:
        """The pass with each change of the tables."""
        trace, numbers = self.own.trace, self.own.numbers
        changed = [(name, Recomputation(other, numbers)) for name, other in self.of_pass.programs]
        return changed + [(name, Recomputation(trace, numbers, how)) for name, how in CHANGES]

    def _read_otherwise(self, first: ComparedValue) -> Iterator[tuple[str, Recomputation]]:
        alone = Recomputation(self.own.trace, self.own.numbers)
        for name, change in other_operands(alone, first.value.address):
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


def _related(each: ComparedValue) -> dict[str, str]:
    """Return the simple relations between a wrong value and the computed one: kinds and names."""
    assert each.step
    return {
        kind: name
        for kind, name, found in relations(each.value, each.step.own, each.step.theirs)
        if not each.step.differing_from(np.asarray(found)).any()
    }
