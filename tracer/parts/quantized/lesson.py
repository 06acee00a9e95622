"""Quantized weights: scales, integers, the numbers that they stand for, the errors."""

from __future__ import annotations

from decimal import Decimal
from math import prod

import numpy as np

from tracer.checkpoints.four_bits import E2M1
from tracer.decoder.axes import SUBSCRIPTS
from tracer.decoder.elementwise import DivideBy, QuantizeToE2M1, RangeScale, TwoToThe
from tracer.decoder.operations import GroupExtreme
from tracer.decoder.results import LEAST_SCALED
from tracer.decoder.roles import Role
from tracer.decoder.tape import Record
from tracer.formula.expression import Expression, Number
from tracer.formula.numbers import round_half_away, trimmed
from tracer.lesson import entries
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps.kind import (
    Claim,
    InnerKind,
    ReasonsOf,
    RoleText,
    SentenceOf,
    Step,
    StepKind,
    SymbolOf,
)
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.names import count
from tracer.parts.quantized.decoder import QUANTIZED, QuantizedRoles
from tracer.parts.quantized.scenario import BITS_OF_POWER, BITS_OF_SCALE, MX_BITS, Quantized
from tracer.scenario.model import Scenario
from tracer.scenario.parts import parts_of

TIES: Sentence = (
    "A ratio halfway between two integers becomes the even one, as in NumPy and PyTorch.",
)
FROZEN = "Weights are quantized after training: "
FROZEN_BY_LORA = ".frozen"
"""The end of the address of weights to which LoRA adds a product."""


def _record_of(step: Step, kind: type) -> Record | None:
    """The record of a step that has an operation of a kind."""
    return next((r for r in step.records if isinstance(r.operation, kind)), None)


def _groups(step: Step) -> tuple[GroupExtreme, tuple[int, ...], tuple[int, ...]]:
    """What finds the largest weight of each group, the shape of the groups, that of the weights."""
    record = _record_of(step, GroupExtreme)
    assert record and isinstance(record.operation, GroupExtreme)
    return record.operation, record.output.shape, record.inputs[0].shape


def _bits(step: Step) -> tuple[int, bool]:
    """The bits of each integer of a step, and whether there is a zero point."""
    if (record := _record_of(step, RangeScale)) and isinstance(record.operation, RangeScale):
        return record.operation.parts.bit_length(), True
    record = _record_of(step, DivideBy)
    assert record and isinstance(record.operation, DivideBy)
    return int(record.operation.divisor).bit_length() + 1, False


def _is_mx(step: Step) -> bool:
    return _record_of(step, QuantizeToE2M1) is not None


def _symbol(of: Role, step: Step, ctx: LessonContext) -> Expression:
    """The symbol of the value of a role in a step."""
    values = [value for r in step.records for value in (*r.inputs, r.output)]
    return ctx.symbols[next(value.address for value in values if value.role is of)]


def _goal(own: QuantizedRoles) -> SentenceOf:
    def goal(step: Step, ctx: LessonContext) -> Sentence:
        (_, groups, (rows, columns)), w = _groups(step), _symbol(own.weights, step, ctx)
        f = _symbol(own.of, step, ctx)
        height, width = rows // groups[0], columns // groups[1]
        if (height, width) == (rows, columns):
            shared = "a scale for the whole matrix"
        elif (height, width) == (1, columns):
            shared = "a scale for each row"
        elif (height, width) == (rows, 1):
            shared = "a scale for each column"
        else:
            shared = f"a scale for each group of {count(height, 'weight')} in a column"
        if _is_mx(step):
            stored = "numbers of 4 bits (E2M1)"
        else:
            bits, zero = _bits(step)
            stored = f"integers of {bits} bits"
            shared = shared.replace("a scale", "a scale and a zero point") if zero else shared
        return (
            *("The weights ", f, f" are stored as {stored} with {shared}. "),
            *("The model computes with ", w, ", the numbers that are left of them."),
        )

    return goal


def _reasons(own: QuantizedRoles) -> ReasonsOf:
    def reasons(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
        f, w = (_symbol(role, step, ctx) for role in (own.of, own.weights))
        frozen = (FROZEN, "training leaves ", f, " as it is, and so ", w, ".")
        if _is_mx(step):
            return (*_of_mx(step), _size(step), frozen)
        bits, has_zero_point = _bits(step)
        if has_zero_point:
            most = 2**bits - 1
            range_ = (
                f"The integers are between 0 and {most}. The scale divides the range of a group, "
                f"which includes 0, into {most} equal parts. The zero point is the integer that "
                "stands for 0."
            )
        else:
            most = 2 ** (bits - 1) - 1
            range_ = (
                f"The scale is the largest absolute value of a group, divided by {most}, so that "
                f"the integers are between -{most} and {most}."
            )
        return ((range_,), TIES, _size(step), frozen)

    return reasons


def _of_mx(step: Step) -> tuple[Sentence, ...]:
    record = _record_of(step, GroupExtreme)
    assert record
    numbers = ", ".join(map(str, E2M1[:-1]))
    listed = (
        f"E2M1 has the numbers {numbers} and {E2M1[-1]}, and their negatives. A ratio becomes the "
        "nearest of them; halfway between two, it becomes 0, 1, 2 or 4, whose mantissa is even. "
        "More than 6 becomes 6."
    )
    if not (record.output.numbers >= LEAST_SCALED).all():
        zeros = "The exponent of the scale of a group of zeros is -127, the smallest that there is."
        return ((zeros,), (listed,))
    power = _record_of(step, TwoToThe)
    if power is None or (power.output.numbers != power.output.computed).any():
        return ((listed,),)  # rounded, it is no power of two
    brings = (
        "Each scale is a power of two: divided by it, the largest absolute value of its group is "
        "at least 4 and less than 8."
    )
    return ((brings,), (listed,))


def _size(step: Step) -> Sentence:
    """How many bits the weights take."""
    _, groups, shape = _groups(step)
    number, scales = prod(shape), prod(groups)
    if _is_mx(step):
        each, zero, of_scale = MX_BITS, False, BITS_OF_POWER
    else:
        (each, zero), of_scale = _bits(step), BITS_OF_SCALE
    total = number * each + scales * (of_scale + each * zero)
    mean = trimmed(round_half_away(Decimal(total) / number, 2))
    about = "" if mean * number == total else "about "
    beside = f" and {each} bits for each zero point" * zero
    return (
        f"{count(number, 'weight')} of {each} bits, with {of_scale} bits for each scale{beside}, "
        f"take {total} bits: {about}{mean} bits per weight.",
    )


def _claim(own: QuantizedRoles) -> Claim:
    def claim(step: Step, ctx: LessonContext) -> Sentence | None:
        record = next((r for r in step.records if r.output.role is own.error), None)
        if record is None or step.is_partly_given:
            return None
        w, f = _symbol(own.weights, step, ctx), _symbol(own.of, step, ctx)
        errors = record.output
        sizes = abs(errors.numbers)
        if not sizes.any():
            return ("All errors are 0: ", w, " equals ", f, ".")
        at = tuple(map(int, np.unravel_index(int(sizes.argmax()), errors.shape)))
        error, weight = (
            entries.number(ctx.trace.pencil, value, at) for value in (errors, record.inputs[0])
        )
        size = Number(abs(error.value))
        several = np.count_nonzero(sizes == sizes[at]) > 1
        first = ", first at the weight " if several else ", at the weight "
        where = f" in row {errors.axes[0].labels[at[0]]} and column {errors.axes[1].labels[at[1]]}"
        return ("The largest error is ", size, first, weight, f"{where}.")

    return claim


def _memory(scenario: Scenario) -> Sentence | None:
    """What quantized weights take, in bytes, with their scales."""
    every = [part for _, part in parts_of(scenario) if isinstance(part, Quantized)]
    if not every:
        return None
    number, bits = sum(prod(part.shape) for part in every), sum(part.bits for part in every)
    mean, size = trimmed(round_half_away(Decimal(bits) / number, 2)), -(-bits // 8)
    about = "" if mean * number == bits else "about "
    zeros = " and zero points" * any(part.quantized.zero_point for part in every)
    return (
        f"Of the parameters, {number:,} are quantized. With their scales{zeros}, they take "
        f"{size:,} bytes in place of {2 * number:,} as float16: {about}{mean} bits per weight.",
    )


def _is_frozen(weights: Role) -> bool:
    """Whether LoRA adds a product to the weights."""
    return weights.name.endswith(FROZEN_BY_LORA)


def _name(weights: Role) -> str:
    return weights.name.removesuffix(FROZEN_BY_LORA).rpartition(".")[2]


def _is_of_unembedding(weights: Role) -> bool:
    return _name(weights) == "W_U"


def _of(letter: str, weights: Role) -> SymbolOf:
    return head_symbol(letter, _name(weights).removeprefix("W_"))


def _kind(weights: Role, own: QuantizedRoles) -> StepKind:
    name, kind = _name(weights), StepKind if _is_of_unembedding(weights) else InnerKind
    letter, _, below = name.partition("_")
    symbol = letter + below.translate(SUBSCRIPTS) if below.isdigit() else name
    is_frozen = _is_frozen(weights)

    def text(letter: str, caption: str | None = None, *, is_further: bool = False) -> RoleText:
        return RoleText(_of(letter, weights), caption, is_further)

    return kind(
        f"quantized_{'frozen_' * is_frozen}{name}",
        f"Quantization of {'the frozen ' * is_frozen}{symbol}",
        "the numbers that quantized weights stand for",
        _goal(own),
        {
            own.magnitude: text("m", "The largest absolute value of each group:"),
            own.largest: text("u", "The largest weight of each group, or 0:"),
            own.smallest: text("l", "The smallest weight of each group, or 0:"),
            own.exponent: text("k", "The exponent of each scale:"),
            own.scale: text("s", "The scale of each group:"),
            own.power: text("s", "The scale of each group:"),
            own.scales: text("s"),
            own.powers: text("s"),
            own.zero_point: text("z", "The zero point of each group:"),
            own.zero_points: text("z"),
            own.integers: text("I", "The integers:"),
            own.elements: text("P", "The numbers of 4 bits:"),
            own.weights: text("F" if is_frozen else "W", "The weights that they stand for:"),
            own.error: text("ΔF" if is_frozen else "ΔW", "The errors:", is_further=True),
        },
        gradient=None,
        sign=None,  # it computes weights, through which no vector passes
        reasons=_reasons(own),
        claim=_claim(own),
        groups=("quantized",),
    )


KINDS = {weights: _kind(weights, own) for weights, own in QUANTIZED.items()}

PART = LessonPart(
    kinds={
        "encoder": tuple(kind for of, kind in KINDS.items() if not _is_of_unembedding(of)),
        "output": tuple(kind for of, kind in KINDS.items() if _is_of_unembedding(of)),
    },
    operands={
        own.of: _of("N" if _is_frozen(weights) else "F", weights)
        for weights, own in QUANTIZED.items()
    },
    memory=_memory,
    names={own.of: "quantization" for own in QUANTIZED.values()},
)
