"""Given values of the command line: a scenario with them, and its pass without them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.errors import TracerError
from tracer.scenario.given import GivenOption, GivenRows, Repeated, parse_all
from tracer.scenario.loading import Loaded, without_a_file
from tracer.scenario.model import Scenario


@dataclass(frozen=True)
class Passed(Loaded):
    """A loaded scenario whose pass is there already."""

    passed: Trace = field(kw_only=True)


def with_pass(found: Trace) -> Passed:
    """Return the scenario of a pass, with the pass."""
    loaded = without_a_file(found.scenario)
    kept = {each.name: getattr(loaded, each.name) for each in fields(Loaded)}
    return Passed(**{**kept, "name": found.name}, passed=found)


@dataclass(frozen=True)
class Plain:
    """A scenario without given values of the command line, and its pass."""

    loaded: Loaded

    @cached_property
    def trace(self) -> Trace:
        """Its forward pass.

        Raises:
            TracerError: it has no result.
        """
        loaded = self.loaded
        if isinstance(loaded, Passed):
            return loaded.passed
        with loaded.locating_problems():
            return trace(loaded.name, loaded.scenario, PassOptions(located=loaded.located))

    @cached_property
    def found(self) -> Trace | None:
        """The same; None if it has no result."""
        try:
            return self.trace
        except TracerError:
            return None


@dataclass(frozen=True)
class Overridden(Loaded):
    """A loaded scenario with given values of the command line, and the same without them."""

    plain: Plain = field(kw_only=True)


def plain_pass(loaded: Loaded) -> Trace | None:
    """Return the pass without given values of the command line, if there are any.

    None if it has no result.
    """
    return loaded.plain.found if isinstance(loaded, Overridden) else None


def without_given(loaded: Loaded) -> Loaded:
    """Return a scenario without given values of the command line."""
    return loaded.plain.loaded if isinstance(loaded, Overridden) else loaded


def with_given(loaded: Loaded, texts: Iterable[str]) -> Loaded:
    """Return a scenario with the given values of the command line.

    Raises:
        TracerError: they are not of the right form, or the pass without them has no result.
    """
    texts = [*texts]
    if not texts:
        return loaded
    from tracer.scenario.other_names import names_of, own_address

    names = names_of(loaded.scenario)
    given = parse_all(own_address(text, names) for text in texts)
    scenario = loaded.scenario.without_words()
    addresses = frozenset(each.address for each in given)
    options = {each.name: getattr(loaded, each.name) for each in fields(Loaded)}
    options |= {"scenario": scenario, "overrides": addresses}
    plain = Plain(replace(loaded, scenario=scenario))
    found = Overridden(**options, plain=plain)
    pinned: dict[str, Any] = {}
    for each in given:
        numbers = _numbers(each, found.plain)
        if each.token is None:
            pinned[each.address] = numbers
        else:
            whole = scenario.given.get(each.address)
            rows = pinned.get(each.address, GivenRows({}, whole)).rows
            pinned[each.address] = GivenRows({**rows, each.token: numbers}, whole)
    return replace(found, scenario=scenario.model_copy(update={"given": scenario.given | pinned}))


def _numbers(given: GivenOption, plain: Plain) -> Any:
    """Return the numbers of one option; one number, and a mean, fill the value or the row."""
    if not given.is_mean:
        return given.numbers if isinstance(given.numbers, tuple) else Repeated(given.numbers)
    from tracer.decoder.column_means import column_means

    value = plain.trace.values.get(given.address)
    means = None if value is None else column_means(value, plain.trace)
    return Repeated(means, is_mean=True)


def filled_out(scenario: Scenario, found: Trace) -> Scenario:
    """Return a scenario in which numbers that fill a value are written out, as a file has them."""
    pinned = {
        address: found[address].numbers if isinstance(numbers, Repeated) else numbers
        for address, numbers in scenario.given.items()
    }
    return scenario.model_copy(update={"given": pinned})
