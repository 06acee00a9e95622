"""The steps around attention and FFN: residual connection, LayerNorm, RMSNorm."""

from __future__ import annotations

from collections.abc import Iterator

from tracer.decoder import roles
from tracer.decoder.elementwise import Normalize, SquareRoot
from tracer.decoder.operations import Mean, Pinned
from tracer.decoder.roles import SubLayer
from tracer.decoder.tape import Record
from tracer.formula.expression import Difference, Number, Power, Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.claims import Row
from tracer.lesson.steps.kind import RoleText, Step, StepKind
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
    ranked = Row.of(change, ctx).sizes().ranked()
    if not ranked or isinstance(ctx.trace.producers[change].operation, Pinned):
        return None
    column, what = ranked[0], SUB_LAYERS[step.place.sub_layer]
    by = ctx.number(change, ctx.row(change), column)
    changed = Row.of(step.last.output, ctx).name(column)
    return (f"{what[0].upper()}{what[1:]} changes ", *changed, " most, by ", by, ".")


def _added(step: Step, ctx: LessonContext) -> Sentence:
    """Say what is added; in a parallel block it is not the sub-layer's input."""
    added, change = summands(step.last)
    own = ctx.sources.get(change) is added
    what: Sentence = ("The sub-layer's input",) if own else (ctx.symbols[added.address],)
    return (*what, " is added to its output." if own else " is added to the sub-layer's output.")


RESIDUAL_STEP = StepKind(
    "residual",
    "Residual connection",
    "the sub-layer's output plus the residual",
    _added,
    {roles.RESIDUAL: RoleText(lambda naming: Symbol("r", naming.sub_layer))},
    sign=("+",),
    reasons=(
        (
            "Because of this sum, the sub-layer only has to compute a change, and in training the "
            "gradient has a direct path around it.",
        ),
    ),
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
    return next(r for r in step.records if r.output.role in (roles.STD, roles.RMS))


def _epsilon(record: Record) -> str:
    has_one = isinstance(record.operation, SquareRoot) and record.operation.epsilon
    return ", with ε" if has_one else ""


def _variance(record: Record) -> str:
    if isinstance(record.operation, Mean) and record.operation.sample:
        return "The sample variance, the sum of the squares divided by their number minus 1:"
    return "The variance, the mean of the squares:"


def _why_normalized(step: Step, norm: str, divided: str) -> Iterator[Sentence]:
    """Say why there is a norm, what γ and β are for, and ε if there could be a division by 0."""
    operation, root, names = step.last.operation, _root(step).operation, ""
    if isinstance(operation, Normalize):
        names = " and ".join(["γ"] * operation.gain + ["β"] * operation.shift)
    before = f" before {names}" * bool(names)
    yield (
        f"{norm} brings large numbers back to a moderate size{before}; without it, they could grow "
        "from layer to layer.",
    )
    if names:
        chosen = {"γ": "a scale", "β": "an offset", "γ and β": "a scale and an offset"}[names]
        yield (f"With learned {names}, a model can choose {chosen} for each feature.",)
        if isinstance(operation, Normalize) and operation.unit_offset:
            yield ("The factor is 1 + γ, so that a feature with γ = 0 is not rescaled.",)
    else:
        added = " and add a learned β" if norm == "LayerNorm" else ""
        many = f"Many models then multiply each feature by a learned γ{added}"
        yield (f"{many}; this {norm} does not.",)
    if isinstance(root, SquareRoot) and root.epsilon:
        place = "to the root" if root.outside else "under the root"
        yield (f"ε is added {place} so that {divided} not divided by 0.",)


def _extremes(step: Step, ctx: LessonContext) -> Sentence | None:
    row = Row.of(step.last.output, ctx)
    highest, lowest = row.ranked(), row.ranked(lowest=True)
    if not highest or not lowest:
        return None
    high, low = highest[0], lowest[0]
    return (
        *("The largest number is now ", *row.name(high), " with ", row.printed(high)),
        *(", the smallest ", *row.name(low), " with ", row.printed(low), "."),
    )


def _measured(step: Step, ctx: LessonContext) -> Sentence:
    centered = (
        "Each token's mean is subtracted from its numbers. The result is divided by the "
        "standard deviation "
    )
    return (centered, Symbol("σ"), f"{_then(step, ctx)}.")


def _by_root(step: Step, ctx: LessonContext) -> Sentence:
    return (
        "Each token's numbers are divided by their root mean square"
        f"{_epsilon(_root(step))}{_then(step, ctx)}.",
    )


def _then(step: Step, ctx: LessonContext) -> str:
    gain = ctx.value(step.place, roles.GAIN)
    further = f", then multiplied by {_factor(step.last)}" * (gain is not None)
    return further + ", and β is added" * (ctx.value(step.place, roles.SHIFT) is not None)


NORM_STEP = StepKind(
    "norm",
    "LayerNorm",
    "each token's numbers, centered and scaled",
    _measured,
    {
        roles.MEAN: RoleText(Symbol("μ"), "The mean:"),
        roles.DEVIATION: RoleText(lambda n: Difference(*n.inputs), "Each number minus the mean:"),
        roles.SQUARED: RoleText(
            lambda naming: Power(naming.inputs[0], Number.of(2)), "The square of each difference:"
        ),
        roles.VARIANCE: RoleText(Power(Symbol("σ"), Number.of(2)), _variance),
        roles.STD: RoleText(
            Symbol("σ"), lambda record: f"The standard deviation{_epsilon(record)}:"
        ),
        roles.X_HAT: RoleText(Symbol("x̂")),
        # Behind its sub-layer a LayerNorm is the sub-layer's end, and called x.
        roles.NORM: RoleText(
            lambda naming: Symbol("n", naming.sub_layer),
            lambda record: f"Each difference, divided by σ{_further(record)}:",
        ),
    },
    sign=("LayerNorm",),
    reasons=lambda step, told: tuple(
        _why_normalized(step, "LayerNorm", "a vector of equal numbers is")
    ),
    claim=_extremes,
)

RMS_NORM_STEP = StepKind(
    "rms_norm",
    "RMSNorm",
    "each token's numbers, scaled",
    _by_root,
    {
        roles.ROOT_SQUARED: RoleText(
            lambda naming: Power(naming.inputs[0], Number.of(2)), "The square of each number:"
        ),
        roles.MEAN_SQUARE: RoleText(Power(Symbol("RMS"), Number.of(2)), "The mean of the squares:"),
        roles.RMS: RoleText(
            Symbol("RMS"), lambda record: f"The root mean square{_epsilon(record)}:"
        ),
        roles.RMS_X_HAT: RoleText(Symbol("x̂")),
        roles.RMS_NORM: RoleText(
            lambda naming: Symbol("n", naming.sub_layer),
            lambda record: f"Each number, divided by the root mean square{_further(record)}:",
        ),
    },
    sign=("RMSNorm",),
    reasons=lambda step, told: tuple(_why_normalized(step, "RMSNorm", "a vector of zeros is")),
    claim=_extremes,
    groups=("norm",),
)

KINDS = (RESIDUAL_STEP, NORM_STEP, RMS_NORM_STEP)
