"""Keys of a scenario that name values: addresses in place of the names of other programs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any

from tracer.errors import TracerError
from tracer.scenario.model import Scenario
from tracer.scenario.reader import ScenarioSource, YamlPath
from tracer.scenario.sizes import data_at

OWN = re.compile(
    r"(gradient\.|update\.|)(\*|layer[^s]|encoder\.|(embedding|embeddings|final_norm|input|logits|"
    r"loss|mask|output|position|positions|prediction|probabilities|unembedding)(\.|$))"
)
"""How addresses and patterns begin that are no names of other programs, which take time to list."""


def with_own_addresses(scenario: Scenario, source: ScenarioSource) -> Scenario:
    """Return a scenario whose given values, digits and trained parameters have addresses alone.

    Raises:
        TracerError: a key names several values, or two keys give the same one.
    """
    examples, digits = scenario.training, scenario.rounding.digits
    given, trains = (scenario.given, *(each.given for each in examples)), scenario.optimizer.trains
    if all(map(OWN.match, (*chain(*given), *digits, *(trains or ())))):
        return scenario
    from tracer.scenario.other_names import names_of

    names = names_of(scenario)
    digits = {own: each for key, each in digits.items() for own in _patterns(key, names)}
    trains = trains and tuple(own for key in trains for own in _patterns(key, names))
    pinned = [
        _given(keys, names, source, (("training", i - 1) if i else ()))
        for i, keys in enumerate(given)
    ]
    read = [
        each.model_copy(update={"given": own})
        for each, own in zip(examples, pinned[1:], strict=True)
    ]
    rounding = scenario.rounding.model_copy(update={"digits": digits})
    optimizer = scenario.optimizer.model_copy(update={"trains": trains})
    changed = {"given": pinned[0], "rounding": rounding, "optimizer": optimizer}
    return scenario.model_copy(update={**changed, "training": tuple(read)})


def _patterns(typed: str, names: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the addresses of the names that a pattern matches; if there are none, the pattern.

    `blocks.*.attn.hook_q` is the queries of all heads in all layers.
    """
    from tracer.scenario.other_names import own_addresses

    phase, name = re.findall(r"^(gradient\.|update\.|)(.*)", typed)[0]
    found = own_addresses(typed, names)
    if OWN.match(typed) or found != [typed]:
        return found
    matching = [of for each, of in names.items() if fnmatchcase(each, name)]
    return [phase + address for of in matching for address in of] or found


def _given(
    keys: Mapping[str, Any],
    names: Mapping[str, Sequence[str]],
    source: ScenarioSource,
    place: YamlPath,
) -> dict[str, Any]:
    """Return given values by address."""
    from tracer.scenario.other_names import own_address

    found: dict[str, Any] = {}
    first: dict[str, str] = {}
    for key, numbers in keys.items():
        way = (*place, "given", key)
        try:
            own = own_address(key, names)
        except TracerError as error:
            raise TracerError(source.problem(way, error.problems[0].message, key)) from None
        if own in found:
            raise TracerError(source.problem(way, f"given twice, also as {first[own]}", key))
        found[own], first[own] = numbers, key
    return found


def keys_of(place: YamlPath, scenario: Scenario, source: ScenarioSource) -> list[YamlPath]:
    """Return the places of another program's names for a given value; `place` is its own."""
    from tracer.scenario.other_names import names_of, own_addresses

    *around, address = place
    keys, names = data_at(source.data, tuple(around)), names_of(scenario)
    typed = keys if isinstance(keys, dict) else ()
    return [(*around, key) for key in typed if own_addresses(key, names) == [address]]
