"""Values that another program computed: a scenario whose pass begins at them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from tracer.check.captured import CapturedPart, Shown
from tracer.check.dumps import Dump
from tracer.decoder.forward import PassOptions, trace
from tracer.formula.arithmetic import SHAPES
from tracer.scenario.loading import Loaded


@dataclass(frozen=True)
class FromValues(Loaded):
    """A loaded scenario whose pass begins at values of a file."""

    part: CapturedPart = field(kw_only=True)


def captured_part(loaded: Loaded) -> CapturedPart | None:
    """Return what is computed of a pass that begins at values of a file; None of another pass."""
    return loaded.part if isinstance(loaded, FromValues) else None


def with_values(
    loaded: Loaded, dump: Dump, path: Path, shown: Shown | None, options: PassOptions
) -> FromValues:
    """Return a scenario that begins at the values of a dump, if its numbers are read on demand.

    Raises:
        TracerError: a value is missing without which nothing can be computed.
    """
    scenario = loaded.scenario
    if shown is not None:
        from tracer.scenario.other_names import names_of, own_addresses

        found = own_addresses(shown.address, names_of(scenario))
        # The values of several heads are those of their attention.
        address = found[0] if len(found) == 1 else found[0].partition(".head")[0]
        shown = replace(shown, address=address.partition("[")[0])
    with loaded.locating_problems():
        shapes = trace(loaded.name, scenario, replace(options, arithmetic=SHAPES))
    part = CapturedPart(shapes, path, dump, shown if scenario.on_demand else None)
    part.check_beginning()
    given = scenario.given | part.given
    own: dict[str, Any] = {each.name: getattr(loaded, each.name) for each in fields(Loaded)}
    own["scenario"] = scenario.model_copy(update={"given": given})
    return FromValues(**own, part=part)
