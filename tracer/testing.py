"""Compare a PyTorch model with a scenario or another model, in a test suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tracer.check.checking import differences
from tracer.check.dumps import dump_of
from tracer.errors import Problem, TracerError
from tracer.lesson.texts.lookup import suggestion
from tracer.pytorch.capture import Captured, capture
from tracer.pytorch.named import is_wanted
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
            how the scenario computes it, and the change that makes it agree, if one was found.
        TracerError: nothing can be captured; a value of `names` or any at all cannot be compared;
            the reference is no scenario.
    """
    captured = capture(model, inputs, names=names, only=only, backward=backward, row=row, step=step)
    loaded = _loaded(reference, captured)
    dump = dump_of(captured.dumped(), loaded.scenario, CAPTURED)
    found = replace(differences(loaded, dump, CAPTURED, tolerance, None), source=CAPTURED)
    for address in found.not_compared:
        if is_wanted(address, [*(names or {}).values()]):
            hint = suggestion(found.trace, address)
            raise TracerError(Problem(f"no such value in the scenario{hint}", address=address))
    if not found.holds:
        document = found.document()
        short = replace(document, sections=document.sections[:-1])  # without the list of all values
        raise AssertionError(f"\n{render(short, Format.TERMINAL)}")


def _loaded(reference: Any, captured: Captured) -> Loaded:
    match reference:
        case Scenario():
            return without_a_file(reference)
        case str() | Path():
            return load(str(reference))
    if captured.token_ids is None:
        raise TracerError(Problem("the model reads vectors, so the reference has to be a scenario"))
    return without_a_file(scenario_of(reference, captured.token_ids, captured.encoder_token_ids))
