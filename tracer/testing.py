"""Compare a PyTorch model with a scenario or another model, in a test suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tracer.check.checking import differences
from tracer.check.dumps import dump_of
from tracer.lesson import document as doc
from tracer.pytorch.capture import Captured, capture
from tracer.pytorch.scenario import scenario_of
from tracer.renderers import Format, render
from tracer.scenario.loading import Loaded, load, without_a_file
from tracer.scenario.model import Scenario

CAPTURED = "the model"
"""How messages name what was captured."""


def assert_matches(
    model: Any,
    reference: Any,
    inputs: Any,
    *,
    names: Mapping[str, str] | None = None,
    only: Sequence[str] | None = None,
    row: int = 0,
    step: int | None = None,
    backward: bool = False,
    tolerance: float | None = None,
) -> None:
    """Compare what a model computes with a reference, in the order of computation.

    Args:
        model: a torch.nn.Module.
        reference: a scenario, or the name or path of one; or another torch.nn.Module, whose weights
            are then those of the scenario.
        inputs: as in `tracer.capture`, and so are `names`, `only`, `row`, `step` and `backward`.
            For gradients, the inputs are one text, whose targets are those of the scenario: by
            default the next tokens.
        tolerance: the allowed difference, relative to the largest number of a value. By default, it
            is what fits the number type.

    Raises:
        AssertionError: a value differs. The message names the first step and entry that do, and
            how the scenario computes it.
        TracerError: nothing can be captured or compared; the reference is no scenario.
    """
    captured = capture(model, inputs, names=names, only=only, backward=backward, row=row, step=step)
    loaded = _loaded(reference, captured)
    dump = dump_of(captured.dumped(), loaded.scenario, CAPTURED)
    found = differences(loaded, dump, CAPTURED, tolerance, None)
    if not found.holds:
        document = found.document()
        sections = tuple(each for each in document.sections if not _is_table(each))
        shown = render(replace(document, sections=sections), Format.TERMINAL)
        raise AssertionError(f"\n{shown}")


def _is_table(section: doc.Section) -> bool:
    """Return whether a section lists all values, which is too long for a message."""
    return all(isinstance(block, doc.Table) for block in section.blocks)


def _loaded(reference: Any, captured: Captured) -> Loaded:
    match reference:
        case Scenario():
            return without_a_file(reference)
        case str() | Path():
            return load(str(reference))
    ids = captured.token_ids or ()
    return without_a_file(scenario_of(reference, ids, captured.encoder_token_ids))
