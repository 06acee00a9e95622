"""The effect of one weight on the loss: the loss is computed again with that weight raised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.roles import EMBEDDINGS, W_U
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.arithmetic import FLOATS
from tracer.formula.expression import Number, Partial
from tracer.formula.numbers import round_half_away, trimmed
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Name, Sentence
from tracer.lesson.steps.kind import Step
from tracer.names import distinct
from tracer.scenario.replacing import with_parameters
from tracer.scenario.rounding import Digits

RAISED = Decimal("0.01")
SMALLEST = 1e-9
"""Most digits of a smaller difference of the loss are noise."""

TWO = Digits(significant=2)


def effect_of_raising(step: Step, ctx: LessonContext) -> Sentence | None:
    """Return `Raising W_Q at “spicy”, “upscale” by 0.01 would lower the loss by 0.00031.`

    The weight is the one with the largest gradient of the step. A tied W_U has no numbers of its
    own: those of the embeddings are raised.
    """
    is_tied = ctx.trace.scenario.is_tied
    gradients = [
        record
        for record in step.records
        if is_of_a_weight(record) and not (is_tied and record.output.role.of is W_U)
    ]
    if not gradients or ctx.trace.scenario.upstream:  # which belong to an unknown loss
        return None
    steepest = max(gradients, key=lambda record: float(abs(record.output.array).max()))
    g = steepest.output
    at = tuple(map(int, np.unravel_index(int(abs(g.array).argmax()), g.shape)))
    difference = _loss(ctx.trace, g, at) - _loss(ctx.trace, g, None)
    if abs(difference) < SMALLEST:
        return None
    by = two_digits(abs(difference))
    names: list[str | Name] = []
    for axis, i in zip(g.axes, at, strict=True):
        names += [", " if names else "", Name(distinct(axis.labels)[i])]
    of = ctx.symbols[g.address]
    assert isinstance(of, Partial)
    return (
        *("Raising ", of.of, " at ", *names, f" by {RAISED} would "),
        "lower" if difference < 0 else "raise",
        *(" the loss by ", by, "."),
    )


def two_digits(number: Any) -> Number:
    """Return a number rounded to two significant digits."""
    exact = Decimal(str(number))
    return Number(trimmed(round_half_away(exact, TWO.places(exact))))


def is_of_a_weight(record: Record) -> bool:
    """Return whether a record is the gradient of a parameter."""
    role = record.output.role
    return role.derivation == "gradient" and role.of is not None and role.of.parameter


def _loss(found: Trace, g: Value, at: tuple[int, ...] | None) -> float:
    """Return the loss in full precision, with the weight at an index raised if there is one."""
    from tracer.decoder.tables import tables, towers
    from tracer.decoder.training import yaml_path_of

    assert g.role.of
    way, scenario = yaml_path_of(g.place, g.role.of), found.scenario
    tower = next(tower for place, tower in towers(scenario) if place.encoder == g.place.encoder)
    of_tower = tables(tower)
    if g.role.of in of_tower:
        numbers = np.array(of_tower[g.role.of], float)
    else:
        numbers = found[replace(g.place, phase="forward").address(g.role.of)].array
    if at is not None:
        numbers = numbers.copy()
        numbers[at] += float(RAISED)
    new: Any = numbers
    if g.role.of is EMBEDDINGS and isinstance(tower.embeddings, Mapping):
        new = dict(zip(tower.embeddings, numbers, strict=True))
    changed = with_parameters(scenario, {way: new})
    others = {number: with_parameters(other, {way: new}) for number, other in found.others.items()}
    with_loss = trace(found.name, changed, PassOptions(loss=True, arithmetic=FLOATS), others=others)
    return float(with_loss["loss"].numbers)
