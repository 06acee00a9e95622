"""The steps around attention and FFN: residual connection, LayerNorm, RMSNorm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tracer.decoder import roles
from tracer.decoder.elementwise import Normalize, SquareRoot
from tracer.decoder.operations import Mean, Pinned
from tracer.decoder.part import all_norms
from tracer.decoder.roles import Role, SubLayer, derived
from tracer.decoder.tape import Record
from tracer.formula.expression import Difference, Expression, Number, Power, Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.claims import FollowedRow
from tracer.lesson.steps.gradients import summed_at
from tracer.lesson.steps.kind import Gradient, Naming, RoleText, Step, StepKind, SymbolOf
from tracer.lesson.wiring import summands

SUB_LAYERS: dict[SubLayer, str] = {
    "attention": "attention",
    "cross_attention": "cross-attention",
    "ffn": "the FFN",
    "lens": "the lens",
}
"""A sub-layer inside a sentence."""


def _changes_most(step: Step, ctx: LessonContext) -> Sentence | None:
    assert step.place.sub_layer
    _, change = summands(step.last)
    ranked = FollowedRow.of(change, ctx).sizes().ranked()
    if not ranked or isinstance(ctx.trace.producers[change].operation, Pinned):
        return None
    column, what = ranked[0], SUB_LAYERS[step.place.sub_layer]
    by = ctx.number(change, ctx.row(change), column)
    changed = FollowedRow.of(step.last.output, ctx).name(column)
    return (f"{what[0].upper()}{what[1:]} changes ", *changed, " most, by ", by, ".")


def _added(step: Step, ctx: LessonContext) -> Sentence:
    """Say what is added; in a parallel block it is not the sub-layer's input."""
    added, change = summands(step.last)
    own = ctx.sources.get(change) is added
    if own:
        return ("The sub-layer's output is added to the vector of ", ctx.name, ".")
    return (ctx.symbols[added.address], " is added to the sub-layer's output.")


def why_added(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say what a residual connection is for."""
    return (
        (
            *("Because of this sum, the sub-layer only has to compute how ", ctx.name),
            " changes, and in training the gradient has a direct path around it.",
        ),
    )


OF_A_SUM: Sentence = (
    "A sum passes its gradient to both of its terms, so the gradient has a direct path around the "
    "sub-layer.",
)


RESIDUAL_STEP = StepKind(
    "residual",
    "Residual connection",
    "the sub-layer's output plus the residual",
    _added,
    {roles.RESIDUAL: RoleText(lambda naming: Symbol("r", naming.sub_layer))},
    gradient=Gradient("at the residual connection", summed_at("the sum"), reasons=(OF_A_SUM,)),
    sign=("+",),
    short="residual",
    reasons=why_added,
    claim=_changes_most,
)


def _further(record: Record) -> str:
    operation = record.operation
    gain = isinstance(operation, Normalize) and operation.gain
    shift = isinstance(operation, Normalize) and operation.shift
    return f", times {_factor(record)}" * gain + ", plus β" * shift


def _factor(record: Record) -> str:
    """γ, or 1 + γ."""
    operation = record.operation
    return "1 + γ" if isinstance(operation, Normalize) and operation.unit_offset else "γ"


def _root(step: Step) -> Record:
    """Return the record of the divisor: σ or RMS."""
    roots = [root for norm in all_norms() for root in (norm.std, norm.rms)]
    return next(record for record in step.records if record.output.role in roots)


def _epsilon(record: Record) -> str:
    has_one = isinstance(record.operation, SquareRoot) and record.operation.epsilon
    return ", with ε" if has_one else ""


def _variance(record: Record) -> str:
    if isinstance(record.operation, Mean) and record.operation.sample:
        return "The sample variance, the sum of the squares divided by their number minus 1:"
    return "The variance, the mean of the squares:"


def why_epsilon(step: Step) -> Iterator[Sentence]:
    """Say what ε is for, if there could be a division by 0."""
    record = _root(step)
    root = record.operation
    if isinstance(root, SquareRoot) and root.epsilon:
        of_rms = record.output.role.name.endswith(".rms")
        divided = "a vector of zeros is" if of_rms else "a vector of equal numbers is"
        place = "to the root" if root.outside else "under the root"
        yield (f"ε is added {place} so that {divided} not divided by 0.",)


def _why_normalized(step: Step, norm: str) -> Iterator[Sentence]:
    """Say why there is a norm, what γ and β are for, and ε if there could be a division by 0."""
    operation, names = step.last.operation, ""
    if isinstance(operation, Normalize):
        names = " and ".join(["γ"] * operation.gain + ["β"] * operation.shift)
    before = f" before {names}" * bool(names)
    alone = "Each vector is normalized by itself, so the other tokens and the batch do not matter."
    yield (f"{norm} brings large numbers back to a moderate size{before}. {alone}",)
    if names:
        chosen = {"γ": "a scale", "β": "an offset", "γ and β": "a scale and an offset"}[names]
        yield (f"With learned {names}, a model can choose {chosen} for each feature.",)
        if isinstance(operation, Normalize) and operation.unit_offset:
            yield ("The factor is 1 + γ, so that a feature with γ = 0 is not rescaled.",)
    else:
        added = " and add a learned β" if norm == "LayerNorm" else ""
        many = f"Many models then multiply each feature by a learned γ{added}"
        yield (f"{many}; this {norm} does not.",)
    yield from why_epsilon(step)


def _extremes(step: Step, ctx: LessonContext) -> Sentence | None:
    row = FollowedRow.of(step.last.output, ctx)
    highest, lowest = row.ranked(), row.ranked(lowest=True)
    if not highest or not lowest:
        return None
    high, low = highest[0], lowest[0]
    return (
        *("The largest number is now ", *row.name(high), " with ", row.printed(high)),
        *(", the smallest ", *row.name(low), " with ", row.printed(low), "."),
    )


def normalizes(step: Step, whose: str = "token") -> Sentence:
    """Say how the numbers of each token, or of its query or key, are normalized."""
    if any(record.output.role.name.endswith(".rms") for record in step.records):
        by = f"numbers are divided by their root mean square{_epsilon(_root(step))}"
        return (f"Each {whose}'s {by}{_then(step)}.",)
    centered = "mean is subtracted from its numbers, and the result is divided by the standard "
    return (f"Each {whose}'s {centered}deviation ", Symbol("σ"), f"{_then(step)}.")


def division_of(step: Step) -> Record:
    """Return the record that divides; with a cache, keys from before are then put before it."""
    return next(
        (r for r in reversed(step.records) if isinstance(r.operation, Normalize)), step.last
    )


def _then(step: Step) -> str:
    record = division_of(step)
    gain = isinstance(record.operation, Normalize) and record.operation.gain
    shift = isinstance(record.operation, Normalize) and record.operation.shift
    return f", then multiplied by {_factor(record)}" * gain + ", and β is added" * shift


def layer_norm_roles(norm: roles.NormRoles, result: SymbolOf) -> dict[Role, RoleText]:
    """Return the texts of what a LayerNorm computes."""
    return {
        norm.mean: RoleText(Symbol("μ"), "The mean:"),
        norm.deviation: RoleText(lambda n: Difference(*n.inputs), "Each number minus the mean:"),
        norm.squared: RoleText(
            lambda naming: Power(naming.inputs[0], Number.of(2)), "The square of each difference:"
        ),
        norm.variance: RoleText(Power(Symbol("σ"), Number.of(2)), _variance),
        norm.std: RoleText(
            Symbol("σ"), lambda record: f"The standard deviation{_epsilon(record)}:"
        ),
        norm.x_hat: RoleText(Symbol("x̂"), is_further=True),
        norm.layer_norm: RoleText(
            result, lambda record: f"Each difference, divided by σ{_further(record)}:"
        ),
    }


def rms_norm_roles(norm: roles.NormRoles, result: SymbolOf) -> dict[Role, RoleText]:
    """Return the texts of what an RMSNorm computes."""
    return {
        norm.root_squared: RoleText(
            lambda naming: Power(naming.inputs[0], Number.of(2)), "The square of each number:"
        ),
        norm.mean_square: RoleText(Power(Symbol("RMS"), Number.of(2)), "The mean of the squares:"),
        norm.rms: RoleText(
            Symbol("RMS"), lambda record: f"The root mean square{_epsilon(record)}:"
        ),
        norm.rms_x_hat: RoleText(Symbol("x̂"), is_further=True),
        norm.rms_norm: RoleText(
            result,
            lambda record: f"Each number, divided by the root mean square{_further(record)}:",
        ),
    }


def _why_layer_norm(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    return tuple(_why_normalized(step, "LayerNorm"))


def _why_rms_norm(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    return tuple(_why_normalized(step, "RMSNorm"))


def of_sub_layer(naming: Naming) -> Expression:
    """Behind its sub-layer a norm is the sub-layer's end, and called x."""
    return Symbol("n", naming.sub_layer)


STANDARD: RoleText = RoleText(Symbol("x̂"), "The normalized numbers before γ is applied:")


OF_A_NORM: Sentence = (
    "The norm divides each feature by a number that depends on all features of the token. Each "
    "feature therefore acts on the loss in several ways, and the contributions are added.",
)


THROUGH_THE_NORM: Sentence = ("Backpropagate the gradient through the norm.",)


def _of_a_norm(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Return that several paths lead through the norm, unless what it divides by is given."""
    divisors = (derived(role, "gradient") for norm in all_norms() for role in (norm.std, norm.rms))
    computed = {record.output.role for record in step.records}
    return () if computed.isdisjoint(divisors) else (OF_A_NORM,)


def through_norm(which: str, norm: roles.NormRoles, *learned: Role) -> Gradient:
    """Return the gradient of a norm, before which γ and β are undone."""
    title = f"through the norm{which}"
    return Gradient(title, THROUGH_THE_NORM, learned, {norm.standardized: STANDARD}, _of_a_norm)


NORM_STEP = StepKind(
    "norm",
    "LayerNorm",
    "each token's numbers, centered and scaled",
    lambda step, ctx: normalizes(step),
    layer_norm_roles(roles.SUB_LAYER_NORM, of_sub_layer),
    gradient=through_norm("", roles.SUB_LAYER_NORM, roles.GAIN, roles.SHIFT),
    sign=("LayerNorm",),
    reasons=_why_layer_norm,
    claim=_extremes,
)

RMS_NORM_STEP = StepKind(
    "rms_norm",
    "RMSNorm",
    "each token's numbers, scaled",
    lambda step, ctx: normalizes(step),
    rms_norm_roles(roles.SUB_LAYER_NORM, of_sub_layer),
    gradient=NORM_STEP.gradient,
    sign=("RMSNorm",),
    reasons=_why_rms_norm,
    claim=_extremes,
    groups=("norm",),
)


def of_output(naming: Naming) -> Expression:
    """The normalized output of a sub-layer; without a residual connection, it is called x."""
    return Symbol("n′", naming.sub_layer)


NORM_AFTER_STEP = replace(
    NORM_STEP,
    name="norm_after",
    summary="the sub-layer's output, centered and scaled",
    gradient=through_norm("", roles.NORM_AFTER, roles.NORM_AFTER.gain, roles.NORM_AFTER.shift),
    roles=layer_norm_roles(roles.NORM_AFTER, of_output),
    claim=None,
    groups=("norm",),
)

RMS_NORM_AFTER_STEP = replace(
    RMS_NORM_STEP,
    name="rms_norm_after",
    summary="the sub-layer's output, scaled",
    gradient=NORM_AFTER_STEP.gradient,
    roles=rms_norm_roles(roles.NORM_AFTER, of_output),
    claim=None,
    groups=("norm", "norm_after"),
)

KINDS = (RESIDUAL_STEP, NORM_STEP, RMS_NORM_STEP, NORM_AFTER_STEP, RMS_NORM_AFTER_STEP)
