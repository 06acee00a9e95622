"""What is told of the way back: for each kind of step, how the gradient goes through it.

Each of these kinds stands for a kind of the pass, and tells of the gradients of what that gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tracer.decoder import roles
from tracer.decoder.elementwise import Slope, SoftmaxCrossEntropyGrad
from tracer.decoder.operations import AccumulateGradients
from tracer.decoder.roles import Derivation, Role, derived
from tracer.formula.arithmetic import Array
from tracer.formula.expression import Symbol
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps import attention, query_key_value
from tracer.lesson.steps.ffn import ACTIVATION_STEP, FFN_OUTPUT_STEP, GATE_STEP, HIDDEN_STEP
from tracer.lesson.steps.gradient_claims import is_of_a_weight, raised
from tracer.lesson.steps.inputs import EMBEDDING_STEP, ENCODER_STEP, INPUT_STEP, POSITION_STEP
from tracer.lesson.steps.kind import ReasonsOf, RoleText, SentenceOf, Step, StepKind
from tracer.lesson.steps.sub_layers import NORM_STEP, RESIDUAL_STEP, RMS_NORM_STEP
from tracer.lesson.steps.words import LOGITS_STEP, OUTPUT_STEP

WITHOUT: tuple[Role, ...] = (
    *(roles.TOKENS, roles.TOKEN_IDS, roles.KEYS, roles.ROTATED_KEYS, roles.VALUES),
    *(roles.POSITION_INDEX, roles.DIV_TERM, roles.ANGLE, roles.SIN, roles.COS),
    *(roles.D_K, roles.SCALE, roles.MAX, roles.SHIFTED, roles.EXP, roles.EXP_SUM),
)
"""They have no gradient: nothing learned acts on them, the text is generated, or softmax is
differentiated as a whole.
"""

PARTS: dict[Role, tuple[Derivation, ...]] = {
    **dict.fromkeys(
        (roles.QUERY, roles.KEY, roles.VALUE, roles.HIDDEN, roles.UP), ("left", "right", "third")
    ),
    **dict.fromkeys(
        (roles.ATTENTION_OUTPUT, roles.FFN_OUTPUT, roles.PROJECTED, roles.LOGITS),
        ("right", "third"),
    ),
    **dict.fromkeys((roles.DOT, roles.SCORES, roles.HEAD_OUTPUT), ("right",)),
    **dict.fromkeys((roles.MEAN, roles.SQUARED, roles.ROOT_SQUARED, roles.POSITIONS), ("left",)),
    **dict.fromkeys((roles.NORM, roles.RMS_NORM), ("left", "third", "fourth", "scaled")),
    roles.WEIGHTS: ("mean", "difference"),
    roles.EMBEDDINGS: ("left", "right"),
}
"""What is recorded beside a value's gradient: what it adds to the gradient of an operand that acts
on the loss in several ways, and what is computed inside the backward pass of softmax and norms.
"""

STANDARD: RoleText = RoleText(Symbol("x̂"), "The numbers before γ, as they went through the norm:")

OF_SLOPES = RoleText(Symbol("a′"), "The slope at each number:")

OF_WEIGHTS: Sentence = (
    "A matrix product hands its gradient on to both of its factors. A weight acts on the loss "
    "through every token: what went in there, times the gradient of what came out, added up over "
    "all tokens. What went in gets the gradient times the same weights, read the other way round.",
)
OF_SOFTMAX = (
    "Without rounding the shares of a row come to 1, so that a larger score takes from the shares "
    "of the others. Therefore only the part counts by which a gradient is above the mean of its "
    "row, each weighted by its share. Where a share is 0"
)
OF_THE_LOSS: Sentence = (
    "Softmax and cross-entropy are differentiated together, because then no more is left than how "
    "far each probability is from 1 for the right word and 0 for all others. Without rounding a "
    "row comes to 0: what one word gains the others lose.",
)
NEGATIVE: Sentence = (
    "Only the right word's number is negative: a larger logit there would lower the loss.",
)
OF_A_SUM: Sentence = (
    "Both parts of a sum have its gradient: one goes back through the sub-layer, the other passes "
    "it by unchanged. So the gradient has a direct path around the sub-layer.",
)
OF_A_NORM: Sentence = (
    "What each feature is divided by depends on all features of the token. So there are several "
    "ways back, which are added up.",
)
OF_WHAT_IS_NORMALIZED: Sentence = (
    "How the loss changes with what goes into the norm: directly, and through what it is divided "
    "by.",
)
OF_A_POSITION: Sentence = ("How the loss changes with the vector of each position.",)
READ_TWICE = " A word that is read twice gets a gradient from each place, and both are added."


def _back(
    forward: StepKind,
    goal: str | SentenceOf,
    learned: Sequence[Role] = (),
    own: Mapping[Role, RoleText] | None = None,
    reasons: ReasonsOf = (),
) -> tuple[StepKind, StepKind]:
    """A kind of step, and the one that goes back through it."""
    gradients = {
        derived(role, derivation): RoleText(Symbol("∂"))
        for role in (*forward.roles, *learned)
        for derivation in (() if role in WITHOUT else ("gradient", *PARTS.get(role, ())))
    }
    return forward, type(forward)(
        f"{forward.name}_back",
        "Way back: norm" if forward is NORM_STEP else f"Way back: {forward.title}",
        f"the gradient of the loss at: {forward.summary}",
        _changes_with(goal) if isinstance(goal, str) else goal,
        {**gradients, **(own or {})},
        reasons=reasons,
        claim=raised,
        only_with="decoder-trace train",
    )


def _changes_with(what: str) -> Callable[[Step, LessonContext], Sentence]:
    """With a value, and with the weights that make it, where there are any that are learned."""

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        learned = any(map(is_of_a_weight, step.records))
        and_weights = ", and through that with the weights that make it" * learned
        return (f"How the loss changes with {what}{and_weights}.",)

    return goal


def _targets_and_gradients(step: Step) -> list[tuple[int | None, Array]]:
    """The column of the right word at each position, if there is one, and the row of gradients."""
    return next(
        list(zip(r.operation.columns, r.output.array, strict=True))
        for r in step.records
        if isinstance(r.operation, SoftmaxCrossEntropyGrad)
    )


def _at_the_logits(step: Step, ctx: LessonContext) -> Sentence:
    counts = all(word is not None for word, _ in _targets_and_gradients(step))
    counted = "; a position that does not count has the gradient 0" * (not counts)
    return (
        "How the loss changes with each logit: its probability, less t, which is 1 for the right "
        f"word and else 0; divided by the number of positions that count{counted}.",
    )


def _of_the_loss(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """What is left of softmax and loss; whether only the right words' numbers are negative."""
    rows = [(word, row) for word, row in _targets_and_gradients(step) if word is not None]
    right = [list(np.flatnonzero(row < 0)) == [word] for word, row in rows]
    return (OF_THE_LOSS, NEGATIVE) if all(right) else (OF_THE_LOSS,)


def _of_softmax(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    masked = ctx.value(replace(step.place, phase="forward"), roles.MASKED)
    hides = masked is not None and bool(np.isneginf(masked.array).any())
    return ((f"{OF_SOFTMAX}{', as behind the mask' * hides}, nothing flows.",),)


def _at_the_embeddings(step: Step, ctx: LessonContext) -> Sentence:
    rows = ", and so with the table's rows" * any(map(is_of_a_weight, step.records))
    return (f"How the loss changes with the embedding of each token{rows}.",)


def _of_a_row(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """What becomes of the rows of words that are read twice, or not at all."""
    if not any(map(is_of_a_weight, step.records)):
        return ()
    said = "The rows of the table are learned like any weight."
    if not isinstance(ctx.tower.embeddings, Mapping):
        return ((said,),)
    tied = not step.place.encoder and ctx.trace.scenario.is_tied
    not_read = (
        "The logits are made with the same rows, so that each of these words gets a gradient from "
        "there, too."
        if tied
        else "The row of a word that is not read has the gradient 0."
    )
    return ((f"{said}{READ_TWICE} {not_read}",),)


def _activation(step: Step, ctx: LessonContext) -> Sentence:
    operations = [record.operation for record in step.records]
    if any(operation == Slope("relu") for operation in operations):
        return (
            "ReLU lets a gradient pass where it kept the number, and stops it where the number "
            "was zeroed: its slope is 1 or 0.",
        )
    if any(isinstance(operation, Slope) for operation in operations):
        return ("The gradient goes back times the slope of the activation function.",)
    goes_on = ctx.passed_on(step.last)
    return (f"There is no activation function here: the gradient goes on {goes_on}.",)


def _at_the_input(step: Step, ctx: LessonContext) -> Sentence:
    tower = "encoder" if step.place.encoder else "decoder"
    return _together(f"what goes into the {tower}", step)


def _summed(step: Step, ctx: LessonContext) -> Sentence:
    return _together("the sum", step)


def _together(what: str, step: Step) -> Sentence:
    """With a value that may act on the loss in several ways."""
    several = isinstance(step.last.operation, AccumulateGradients)
    ways = ": all ways that lead from it to the loss, added up" * several
    return (f"How the loss changes with {what}{ways}.",)


def _at_the_encoder(step: Step, ctx: LessonContext) -> Sentence:
    begins = "begins" if ctx.trace.scenario.encodes else "would begin"
    what = "How the loss changes with what the encoder gives"
    return (f"{what}: here its own way back {begins}.",)


BACK: dict[StepKind, StepKind] = dict(
    (
        _back(LOGITS_STEP, _at_the_logits, (roles.W_U, roles.B_U), reasons=_of_the_loss),
        _back(OUTPUT_STEP, "what the decoder gives", reasons=(OF_WEIGHTS,)),
        _back(
            NORM_STEP,
            OF_WHAT_IS_NORMALIZED,
            (roles.GAIN, roles.SHIFT, *RMS_NORM_STEP.roles),
            {roles.STANDARDIZED: STANDARD},
            (OF_A_NORM,),
        ),
        _back(RESIDUAL_STEP, _summed, reasons=(OF_A_SUM,)),
        _back(FFN_OUTPUT_STEP, "what the FFN gives", (roles.W_2, roles.B_2)),
        _back(GATE_STEP, "what the gate lets through", (roles.W_3, roles.B_3)),
        _back(ACTIVATION_STEP, _activation, own={roles.SLOPE: OF_SLOPES, roles.OPEN: OF_SLOPES}),
        _back(HIDDEN_STEP, "each hidden number", (roles.W_1, roles.B_1)),
        _back(attention.PROJECTION_STEP, "what attention gives", (roles.W_O, roles.B_O)),
        _back(attention.CONCAT_STEP, "the heads side by side"),
        _back(attention.WEIGHTED_SUM_STEP, "what the head gives: its own columns"),
        _back(attention.SOFTMAX_STEP, "each attention weight", reasons=_of_softmax),
        _back(attention.MASK_STEP, "each score that the softmax has read"),
        _back(attention.SCORES_STEP, "each score, and with the dot product before it"),
        _back(query_key_value.TURNED_QUERY_STEP, "each query, turned by its position"),
        _back(query_key_value.TURNED_KEY_STEP, "each key, turned by its position"),
        _back(query_key_value.QUERY_STEP, "each query", (roles.W_Q, roles.B_Q)),
        _back(query_key_value.KEY_STEP, "each key", (roles.W_K, roles.B_K)),
        _back(query_key_value.VALUE_STEP, "each value", (roles.W_V, roles.B_V)),
        _back(INPUT_STEP, _at_the_input),
        _back(ENCODER_STEP, _at_the_encoder),
        _back(POSITION_STEP, OF_A_POSITION, (roles.POSITIONS,)),
        _back(EMBEDDING_STEP, _at_the_embeddings, (roles.EMBEDDINGS,), reasons=_of_a_row),
    )
)
"""For each kind of step of the pass, the one that goes back through it."""

FORWARD: dict[StepKind, StepKind] = {back: forward for forward, back in BACK.items()}
