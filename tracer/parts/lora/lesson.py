"""LoRA: the frozen weights and the product that is added to them."""

from __future__ import annotations

from tracer.decoder.axes import SUBSCRIPTS
from tracer.decoder.elementwise import Adapt
from tracer.decoder.operations import Pinned
from tracer.decoder.roles import W_U, Role
from tracer.formula.expression import Expression, Number, Quotient, Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.kind import Gradient, InnerKind, RoleText, Step, StepKind, SymbolOf
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.parts.lora.decoder import LORA, LoraRoles

MERGED: Sentence = (
    "After training, the sum can be stored as one matrix; the adapted model then needs no more "
    "computation than the original one.",
)


def _symbols(step: Step, ctx: LessonContext) -> tuple[Expression, ...]:
    """The symbols of the sum, the frozen weights, A and B."""
    product, total = step.records
    values = (total.output, total.inputs[0], *product.inputs)
    return tuple(ctx.symbols[value.address] for value in values)


def _goal(step: Step, ctx: LessonContext) -> Sentence:
    w, frozen, a, b = _symbols(step, ctx)
    adapt = step.last.operation
    assert isinstance(adapt, Adapt)
    factor = Quotient(Number(adapt.alpha), Number.of(adapt.rank))
    return (
        *(w, " is the sum of the frozen weights ", frozen, " and the product of ", a, " and ", b),
        *(", multiplied by ", Quotient(Symbol("α"), Symbol("r")), " = ", factor, ", where "),
        *(Symbol("r"), " is the number of columns of ", a, "."),
    )


def _reasons(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    _, frozen, a, b = _symbols(step, ctx)
    product, total = step.records
    learned = sum(value.array.size for value in product.inputs)
    kept = ("Training leaves ", frozen, " as it is; only ", a, " and ", b, " can learn. ")
    sizes = (f"They have {learned} numbers together, ", frozen, f" has {total.output.array.size}.")
    if total.inputs[0].role.parameter:
        return ((*kept, *sizes), MERGED)
    quantized = ("Only the frozen weights are quantized, as in QLoRA; ", a, " and ", b, " are not.")
    return ((*kept, *sizes), quantized)


def _unchanged(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say that nothing is added while A or B is 0."""
    if any(isinstance(record.operation, Pinned) for record in step.records):
        return None
    w, frozen, *factors = _symbols(step, ctx)
    same = bool((step.last.output.array == step.last.inputs[0].array).all())
    for symbol, value in zip(factors, step.records[0].inputs, strict=True):
        if same and not value.array.any():
            return ("All numbers of ", symbol, " are 0, so ", w, " equals ", frozen, ".")
    return None


def _of(letter: str, weights: Role) -> SymbolOf:
    return head_symbol(letter, _symbol(weights).removeprefix("W_"))


def _symbol(weights: Role) -> str:
    return weights.name.rpartition(".")[2]


OF_LORA: Sentence = (
    "The gradient passes from the sum to the product; the frozen weights need none.",
)


def _kind(weights: Role, lora: LoraRoles) -> StepKind:
    name, kind = _symbol(weights), StepKind if weights is W_U else InnerKind
    letter, _, below = name.partition("_")
    symbol = letter + below.translate(SUBSCRIPTS) if below.isdigit() else name
    return kind(
        f"lora_{name}",
        f"Low-rank adaptation (LoRA) of {symbol}",
        "the frozen weights plus a product of two matrices",
        _goal,
        {
            lora.low_rank: RoleText(_of("ΔW", weights), "The product:"),
            lora.adapted: RoleText(_of("W", weights), "The sum:"),
        },
        gradient=Gradient(
            f"at the low-rank adaptation (LoRA) of {symbol}", OF_LORA, (lora.a, lora.b)
        ),
        sign=None,  # it computes weights, through which no vector passes
        reasons=_reasons,
        claim=_unchanged,
        groups=("lora",),
    )


KINDS = {weights: _kind(weights, lora) for weights, lora in LORA.items()}

PART = LessonPart(
    kinds={
        "encoder": tuple(kind for weights, kind in KINDS.items() if weights is not W_U),
        "output": (KINDS[W_U],),
    },
    operands={
        role: _of(letter, weights)
        for weights, lora in LORA.items()
        for role, letter in ((lora.frozen, "F"), (lora.a, "A"), (lora.b, "B"))
    },
    names={
        **{lora.frozen: "LoRA" for lora in LORA.values()},
        **{lora.low_rank: "the products of LoRA" for lora in LORA.values()},
    },
)
