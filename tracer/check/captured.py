"""A part of a pass that begins at values which another program computed.

What is shown is computed from the nearest values before it that a file has, and each computed value
is compared with the file's. The weights of other layers are not read: a value that needs them is
taken from the file, or refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tracer.check.against import ComparedValue, Steps, compared, numbers_by_address
from tracer.check.dumps import Dump
from tracer.check.wording import shortlist, written_float
from tracer.decoder.comparison import Floats
from tracer.decoder.forward import Trace
from tracer.decoder.roles import ENCODER_OUTPUT, INPUT, RESIDUAL, Routing
from tracer.decoder.routing import has_chosen_rows, routing_of
from tracer.decoder.value import Entry, Value
from tracer.errors import Problem, TracerError
from tracer.lesson import document as doc
from tracer.lesson.entries import name

BEFORE_LAYERS = (INPUT, ENCODER_OUTPUT)
"""What layers read of values outside of layers."""
MOST_ADDRESSES = 4
"""So many addresses are listed one by one; more of them as patterns for all layers."""


@dataclass(frozen=True)
class Shown:
    """What a request shows: one address, or all addresses that begin with it and a dot.

    It is as typed until the scenario is known.
    """

    address: str
    through_residuals: bool = False
    """Whether residual sums are taken apart, as in an attribution, even if the file has them."""

    def includes(self, value: Value) -> bool:
        """Return whether a value is shown."""
        return f"{value.address}.".startswith(f"{self.address}.")


class Beginning(NamedTuple):
    """By address: what a part of a pass takes from a file, what the file lacks, what is computed.

    All are in the order of the pass.
    """

    taken: tuple[str, ...]
    missing: tuple[str, ...]
    computed: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CapturedPart:
    """The part of a pass that is shown, and the file at whose values it begins.

    `shapes` is the pass without numbers. Without `shown`, all of it is computed.
    """

    shapes: Trace
    path: Path
    dump: Dump
    shown: Shown | None

    @cached_property
    def numbers(self) -> dict[str, Floats]:
        """The file's numbers by address, as far as a part can begin there."""
        found = numbers_by_address(self.shapes, self.dump.arrays)
        return {
            address: numbers
            for address, numbers in found.items()
            if self._can_begin(self.shapes[address])
        }

    def _can_begin(self, value: Value) -> bool:
        """Whether a part can begin at a value: what needs no weights, such as a mask, is computed.

        The rows of an expert depend on which tokens go to it.
        """
        has_weights = value.place.layer or value.role in BEFORE_LAYERS
        return bool(has_weights) and not (has_chosen_rows(value) or self._is_taken_apart(value))

    def _is_taken_apart(self, value: Value) -> bool:
        """Whether a value is a sum that an attribution goes back through, without any weights."""
        through_residuals = self.shown is not None and self.shown.through_residuals
        return through_residuals and value.role is RESIDUAL

    @cached_property
    def targets(self) -> list[Value]:
        """The values that are shown."""
        values = self.shapes.values.values()
        return [value for value in values if self.shown is None or self.shown.includes(value)]

    @cached_property
    def own_layers(self) -> frozenset[tuple[bool, int | None]]:
        """The layers that are shown: only their weights are read."""
        return frozenset(map(_layer, self.targets))

    @cached_property
    def beginning(self) -> Beginning:
        """Where the part begins: found from what is shown back to the nearest known values."""
        needs_weights = self._needs_weights
        found: tuple[set[Value], ...] = (set(), set(), set(self.targets))
        taken, missing, computed = found
        waiting = list(self.targets)
        while waiting:
            for value in self.shapes.producers[waiting.pop()].inputs:
                is_own = _layer(value) in self.own_layers or self._is_taken_apart(value)
                if not is_own and value.address in self.numbers:
                    taken.add(value)
                elif not is_own and value.place.layer and value in needs_weights:
                    missing.add(value)
                elif value not in computed:
                    computed.add(value)
                    waiting.append(value)
        every = self.shapes.values.values()
        return Beginning(*(tuple(v.address for v in every if v in each) for each in found))

    @property
    def _needs_weights(self) -> set[Value]:
        """The values that only weights of other layers give, whatever the file has."""
        found: set[Value] = set()
        for record in self.shapes.records:
            value = record.output
            is_own = _layer(value) in self.own_layers
            is_weight = value.role.parameter and value.place.layer and not is_own
            is_known = value.address in self.numbers and not is_own
            if is_weight or (not is_known and not found.isdisjoint(record.inputs)):
                found.add(value)
        return found

    @property
    def given(self) -> dict[str, Floats]:
        """The numbers that are taken from the file, by address."""
        return {address: self.numbers[address] for address in self.beginning.taken}

    @property
    def routing(self) -> Routing:
        """Any experts for the tokens in layers that are not computed: nobody reads theirs."""
        every = self.shapes.values.values()
        return routing_of(value for value in every if _layer(value) not in self.own_layers)

    def check_beginning(self) -> None:
        """Raise a TracerError if the file lacks a value that the part could begin at."""
        taken, missing, _ = self.beginning
        if not missing:
            return
        file = str(self.path)
        misfits = [self.shapes[each] for each in missing if each in self.dump.arrays]
        if misfits:
            expected = [(v.address, " × ".join(map(str, v.shape))) for v in misfits]
            other = "another array, expected {} finite numbers"
            raise TracerError(*(Problem(other.format(s), file, address=a) for a, s in expected))
        lacks = "missing, and its layer is not computed because it is not shown"
        problems = [Problem(lacks, file, address=each) for each in patterns(missing)]
        needed = patterns([*taken, *missing])
        call = f'tracer.capture(model, inputs, "{self.path.name}", only={json.dumps(needed)})'
        raise TracerError(*problems, Problem(f"{call} captures what is needed", file))

    def compared(self, found: Trace) -> tuple[ComparedValue, ...]:
        """Return the comparison of each computed value that the file has.

        Raises:
            TracerError: one differs.
        """
        taken, _, computed = self.beginning
        arrays = self.dump.arrays
        known = {each: arrays[each] for each in (*taken, *computed) if each in arrays}
        steps = None if found.pencil.rounds else Steps.of(found, known)
        own = {address: of for address, of in known.items() if address not in taken}
        values = compared(found, steps, own, None)
        wrong = [each for each in values if each.differs]
        if wrong:
            raise TracerError(self._problem(wrong[0]))
        return values

    def _problem(self, wrong: ComparedValue) -> Problem:
        value, theirs = wrong.value, wrong.theirs.numbers
        if wrong.at is None:
            came, expected = (" × ".join(map(str, each.shape)) for each in (theirs, value))
            return Problem(f"{came}, expected {expected}", str(self.path), address=value.address)
        step = wrong.step
        entry = Entry(value, step.at if step else wrong.at)
        there, own = (
            (step.theirs[step.at], step.own[step.at]) if step else (wrong.there, wrong.here)
        )
        apart = written_float(abs(float(there - own)), 2)
        message = (
            f"{written_float(float(there))} is {apart} from what follows from the numbers before"
        )
        hint = "check --against looks for the cause"
        return Problem(f"{message} it; {hint}", str(self.path), address=name(entry))

    def sentences(self, values: Sequence[ComparedValue]) -> doc.Sentence:
        """Say where the calculation begins, and which values were compared."""
        taken, file = self.beginning.taken, doc.Name(self.path.name)
        said: doc.Sentence = ()
        where: doc.Sentence = ("in ", file)
        if taken:
            kinds = _kinds(self.dump.arrays[address][0].kind for address in taken)
            begins = ("The calculation begins with numbers of ", file, f" ({kinds}): ")
            said = (*begins, *shortlist(patterns(taken)), ". ")
            where = ("there, too",)
        if not values:
            return (*said, "No computed value is ", *where, ", so none is compared.")
        number = len({each.value for each in values})
        one = number == 1
        counted = f"{number} of the computed values {'is' if one else 'are'} "
        agrees = "It agrees" if one else "Each agrees"
        kinds = _kinds(each.theirs.kind for each in values)
        how = f"{agrees}, up to rounding to {kinds}, with what follows from its numbers before it."
        if not any(each.step for each in values):
            allowed = " and ".join({written_float(each.allowed): None for each in values})
            how = f"{agrees}; differences up to {allowed} of a value's largest number do not count."
        return (*said, counted, *where, f". {how}")


def patterns(addresses: Sequence[str]) -> list[str]:
    """Return addresses, or if there are many, patterns with a `*` for the number of a layer."""
    if len(addresses) <= MOST_ADDRESSES:
        return list(addresses)
    return list(dict.fromkeys(re.sub(r"\blayer[0-9]+", "layer*", each) for each in addresses))


def _layer(value: Value) -> tuple[bool, int | None]:
    """Return the layer of a value: whether it is the encoder's, and its number."""
    return value.place.encoder, value.place.layer


def _kinds(kinds: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(kinds))
