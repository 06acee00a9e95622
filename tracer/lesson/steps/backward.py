"""The text of the backward pass: for each kind of forward step, how the gradient passes it.

Each of these kinds belongs to a kind of forward step and explains the gradients at its result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tracer.decoder import roles
from tracer.decoder.elementwise import (
    BinaryCrossEntropyGrad,
    Slope,
    SoftmaxCrossEntropyGrad,
    SquaredErrorGrad,
)
from tracer.decoder.operations import AccumulateGradients, Dot, PlaceRows, TransposedMatMul
from tracer.decoder.roles import Derivation, Role, derived
from tracer.formula.arithmetic import Array
from tracer.formula.expression import (
    Difference,
    Expression,
    Number,
    Partial,
    Product,
    Quotient,
    Symbol,
)
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence
from tracer.lesson.steps import attention, lora, query_key_norm, query_key_value, training
from tracer.lesson.steps.alibi import ALIBI_STEP
from tracer.lesson.steps.experts import (
    EXPERT_INPUT_STEP,
    MIXTURE_STEP,
    ROUTER_STEP,
    ROUTING_STEP,
    skips_tokens,
)
from tracer.lesson.steps.ffn import ACTIVATION_STEP, FFN_OUTPUT_STEP, GATE_STEP, HIDDEN_STEP
from tracer.lesson.steps.gradient_claims import effect_of_raising, is_of_a_weight
from tracer.lesson.steps.inputs import (
    EMBEDDING_SCALE_STEP,
    EMBEDDING_STEP,
    ENCODER_STEP,
    INPUT_STEP,
    POSITION_STEP,
)
from tracer.lesson.steps.kind import ReasonsOf, RoleText, SentenceOf, Step, StepKind
from tracer.lesson.steps.sinks import SINK_STEP
from tracer.lesson.steps.softcap import SOFTCAP_STEP
from tracer.lesson.steps.sub_layers import (
    NORM_AFTER_STEP,
    NORM_STEP,
    RESIDUAL_STEP,
    RMS_NORM_AFTER_STEP,
    RMS_NORM_STEP,
)
from tracer.lesson.steps.words import LOGITS_STEP, OUTPUT_STEP

WITHOUT: tuple[Role, ...] = (
    *(roles.TOKENS, roles.TOKEN_IDS, roles.VALUES),
    *(roles.KEYS, roles.NORMALIZED_KEYS, roles.OWN_KEYS, roles.ROTATED_KEYS),
    *(roles.POSITION_INDEX, roles.DIV_TERM, roles.ANGLE, roles.SIN, roles.COS),
    roles.DISTANCE_SLOPE,
    *(roles.EMBEDDING_WIDTH, roles.EMBEDDING_SCALE),
    *(roles.D_K, roles.SCALE, roles.MAX, roles.SHIFTED, roles.EXP, roles.EXP_SUM),
    *(roles.ROUTER_MAX, roles.ROUTER_SHIFTED, roles.ROUTER_EXP, roles.ROUTER_EXP_SUM),
    *(role for norm in roles.NORMS for role in (norm.x_hat, norm.rms_x_hat)),
    *(roles.ERROR, roles.SQUARED_ERROR, roles.TOKEN_ERROR),
    *(roles.SIGMOID, roles.CORRECT, roles.SURPRISE, roles.TOKEN_SURPRISE, roles.BATCH_SURPRISES),
    *(roles.SQUARED_LOSS, roles.BINARY_LOSS),
)
"""Roles without a gradient: nothing learned acts on them, the text is generated, or a softmax or a
loss is differentiated as a whole.
"""

PARTS: dict[Role, tuple[Derivation, ...]] = {
    **dict.fromkeys(
        (roles.QUERY, roles.KEY, roles.VALUE, roles.HIDDEN, roles.UP), ("left", "right", "third")
    ),
    **dict.fromkeys(
        (
            *(roles.ATTENTION_OUTPUT, roles.FFN_OUTPUT, roles.PROJECTED),
            *(roles.LOGITS, roles.UNCAPPED_LOGITS, roles.UNSCALED_LOGITS),
        ),
        ("right", "third"),
    ),
    **dict.fromkeys((roles.DOT, roles.SCORES, roles.HEAD_OUTPUT), ("right",)),
    **dict.fromkeys((roles.OWN_QUERY, roles.OWN_KEY), ("left",)),
    roles.POSITIONS: ("left",),
    **{
        role: ("left",)
        for norm in roles.NORMS
        for role in (norm.mean, norm.squared, norm.root_squared)
    },
    **{
        role: ("left", "third", "fourth", "scaled")
        for norm in roles.NORMS
        for role in (norm.layer_norm, norm.rms_norm)
    },
    roles.ROUTER_LOGITS: ("left", "right"),
    roles.EXPERT_INPUT: ("left",),
    **dict.fromkeys(
        (
            *(roles.WEIGHTS, roles.WEIGHTS_AND_SINK),
            *(roles.ROUTER_WEIGHTS, roles.ROUTER_PROBABILITIES),
        ),
        ("mean", "difference"),
    ),
    roles.SCORES_AND_SINK: ("right",),
    roles.EMBEDDINGS: ("left", "right"),
}
"""What is recorded beside a value's gradient: its contribution to an operand that acts on the loss
in several ways, and what is computed inside the backward pass of softmax and norms.
"""

STANDARD: RoleText = RoleText(Symbol("x̂"), "The normalized numbers before γ is applied:")

OF_SLOPES = RoleText(Symbol("a′"), "The slope of the activation at each hidden unit:")

P, T = Symbol("p"), Symbol("t")
MISSED = Difference(P, T)

OF_WEIGHTS: Sentence = (
    "A matrix product passes its gradient to both of its factors. The gradient at its input is the "
    "gradient at its output times the transposed weights. The gradient at its weights is the "
    "transposed input times the gradient at its output: it adds up the contributions of all "
    "tokens.",
)
OF_SOFTMAX = (
    "The softmax divides by the sum of the row, so raising one score lowers the other weights. "
    "Therefore the weighted mean of a row's gradients is subtracted from each of them, and the "
    "difference is multiplied by the weight. Where a weight is 0"
)
OF_THE_LOSS: Sentence = (
    "Differentiated together, softmax and cross-entropy leave just ",
    MISSED,
    ". Without rounding, each row adds up to 0, because the probabilities add up to 1.",
)
WITHOUT_TARGET = " A position without a target has the gradient 0."
NEGATIVE: Sentence = (
    "Only the correct word's entry is negative: raising its logit lowers the loss.",
)
OF_A_SUM: Sentence = (
    "A sum passes its gradient to both of its terms, so the gradient has a direct path around the "
    "sub-layer.",
)
OF_A_NORM: Sentence = (
    "The norm divides each feature by a number that depends on all features of the token. Each "
    "feature therefore acts on the loss in several ways, and the contributions are added.",
)
ADDED_UP = (
    "A row's gradient adds up the contributions of all places where the model reads its word."
)
OF_THE_CHOICE: Sentence = (
    "A small change of a logit changes the weights of the chosen experts but not the choice, so "
    "the choice itself has no gradient.",
)
THROUGH_THE_NORM: Sentence = ("Backpropagate the gradient through the norm.",)
OF_A_POSITION: Sentence = ("Compute the gradient at the vector of each position.",)
OF_LORA: Sentence = (
    "The gradient passes from the sum to the product; the frozen weights need none.",
)
AMONG_ALL_HEADS = "In its columns among those of all heads:"
COLUMNS: Sentence = ("The head's output gets its own columns of the gradient.",)


def _back(
    forward: StepKind,
    title: str,
    goal: str | Sentence | SentenceOf,
    learned: Sequence[Role] = (),
    own: Mapping[Role, RoleText] | None = None,
    reasons: ReasonsOf = (),
) -> tuple[StepKind, StepKind]:
    """Return a kind of forward step, and the kind of its backward step, `Gradient {title}`."""
    gradients = {
        derived(role, derivation): RoleText(Symbol("∂"))
        for role in (*forward.roles, *learned)
        for derivation in (() if role in WITHOUT else ("gradient", *PARTS.get(role, ())))
    }
    return forward, type(forward)(
        f"{forward.name}_back",
        f"Gradient {title}",
        f"the gradient of the loss at: {forward.summary}",
        _gradient_at(goal) if isinstance(goal, str) else goal,
        {**gradients, **(own or {})},
        reasons=reasons,
        claim=effect_of_raising,
        only_with="decoder-trace train",
    )


def _gradient_at(what: str) -> Callable[[Step, LessonContext], Sentence]:
    """Return a goal that names a value, and the weights that produce it if any are learned."""

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        learned = any(map(is_of_a_weight, step.records))
        and_weights = " and at the weights that produce it" * learned
        return (f"Compute the gradient at {what}{and_weights}.",)

    return goal


def _softmax_with_loss(step: Step) -> tuple[SoftmaxCrossEntropyGrad, Array] | None:
    """Return the operation that gives the gradient at the logits, and the gradient's rows.

    None if the loss is not the cross-entropy of a softmax.
    """
    return next(
        (
            (r.operation, r.output.array)
            for r in step.records
            if isinstance(r.operation, SoftmaxCrossEntropyGrad)
        ),
        None,
    )


def _at_the_logits(step: Step, ctx: LessonContext) -> Sentence:
    """Return p - t and what it is divided by, unless that is 1."""
    found = _softmax_with_loss(step)
    if found is None:
        return (*_gradient_at("each logit")(step, ctx), *_where_there_is_no_target(step))
    operation, _ = found
    n = Number.of(operation.counted)
    divides = operation.counted > 1
    batch = " of the batch" * bool(ctx.trace.others)
    none = WITHOUT_TARGET * (None in operation.columns)
    return (
        *("The gradient at each logit is ", Quotient(MISSED, n) if divides else MISSED),
        *(", where ", P, " is its probability and ", T),
        " is 1 for the correct word and 0 otherwise.",
        *((" The loss is the mean over ", n, f" positions{batch}.") if divides else ()),
        none,
    )


def _of_the_loss(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Return what softmax and loss leave, and whether only correct words have negative entries."""
    found = _softmax_with_loss(step)
    if found is None:
        return ()
    operation, rows = found
    targets = [
        (word, row) for word, row in zip(operation.columns, rows, strict=True) if word is not None
    ]
    only_correct = all(list(np.flatnonzero(row < 0)) == [word] for word, row in targets)
    return (OF_THE_LOSS, NEGATIVE) if only_correct else (OF_THE_LOSS,)


def _of_weights(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Return what a matrix product passes back, in a step that goes back through one."""
    products = (r for r in step.records if isinstance(r.operation, Dot | TransposedMatMul))
    return (OF_WEIGHTS,) if any(products) else ()


def _of_the_choice(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Return that the choice of experts has no gradient, unless each token goes to all."""
    return (OF_THE_CHOICE,) if skips_tokens(replace(step.place, phase="forward"), ctx) else ()


def _at_the_output(step: Step, ctx: LessonContext) -> Sentence:
    return (*_gradient_at("the decoder output")(step, ctx), *_where_there_is_no_target(step))


def _where_there_is_no_target(step: Step) -> Sentence:
    """Return that the gradient is 0 at positions without a target, if there are any."""
    placed = [r.operation for r in step.records if isinstance(r.operation, PlaceRows)]
    return (WITHOUT_TARGET,) if any(len(each.rows) < each.n for each in placed) else ()


def _of_numbers(what: str, over: Expression, where: Sentence) -> Callable[..., Sentence]:
    """Return a goal: the gradient of a loss of numbers is `over`, divided by how many count."""

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        operation = step.last.operation
        assert isinstance(operation, SquaredErrorGrad | BinaryCrossEntropyGrad)
        n, batch = Number.of(operation.n), " of the batch" * bool(ctx.trace.others)
        is_mean = operation.n > 1
        gradient = Quotient(over, n) if is_mean else over
        mean: Sentence = (" The loss is the mean over ", n, f" numbers{batch}.") if is_mean else ()
        return (f"The gradient at each {what} is ", gradient, ", where ", *where, *mean)

    return goal


def _of_softmax(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    masked = ctx.value(replace(step.place, phase="forward"), roles.MASKED)
    hides = masked is not None and bool(np.isneginf(masked.array).any())
    return (
        (f"{OF_SOFTMAX}{', as at the masked scores' * hides}, the gradient at the score is 0.",),
    )


def _at_the_sink(step: Step, ctx: LessonContext) -> Sentence:
    at = "Compute the gradient at the scores and the sink."
    learned = " The sink takes part in all rows: its gradient adds up their last column."
    return (at + learned * any(map(is_of_a_weight, step.records)),)


def _at_the_embeddings(step: Step, ctx: LessonContext) -> Sentence:
    rows = " and at the rows of the embedding table" * any(map(is_of_a_weight, step.records))
    return (f"Compute the gradient at the embedding of each token{rows}.",)


def _of_a_row(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Return what the gradient of a row adds up, and that of words which are not read."""
    if not any(map(is_of_a_weight, step.records)):
        return ()
    learned = "The rows of the table are learned like any weight."
    if not isinstance(ctx.tower.embeddings, Mapping):
        return ((learned,),)
    tied = not step.place.encoder and ctx.trace.scenario.is_tied
    other = (
        "The logits use the same rows, which adds another contribution for each word of the "
        "vocabulary."
        if tied
        else "The row of a word that the model does not read has the gradient 0."
    )
    return ((f"{learned} {ADDED_UP} {other}",),)


def _activation(step: Step, ctx: LessonContext) -> Sentence:
    operations = [record.operation for record in step.records]
    if any(operation == Slope("relu") for operation in operations):
        return (
            "ReLU passes the gradient where its input is positive and stops it elsewhere: its "
            "slope is 1 or 0.",
        )
    if any(isinstance(operation, Slope) for operation in operations):
        return ("The gradient is multiplied by the slope of the activation function.",)
    passed_on = ctx.passed_on(step.last)
    return (f"There is no activation function here: the gradient is passed on {passed_on}.",)


def _at_the_input(step: Step, ctx: LessonContext) -> Sentence:
    tower = "encoder" if step.place.encoder else "decoder"
    return _added_up(f"the input of the {tower}", step)


def _summed(step: Step, ctx: LessonContext) -> Sentence:
    return _added_up("the sum", step)


def _added_up(what: str, step: Step) -> Sentence:
    """Return the goal for a value that may act on the loss in several ways."""
    several = any(isinstance(record.operation, AccumulateGradients) for record in step.records)
    paths = ": add up the contributions of all paths from there to the loss" * several
    return (f"Compute the gradient at {what}{paths}.",)


def _of_a_norm(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Return that several paths lead through the norm, unless what it divides by is given."""
    divisors = (derived(role, "gradient") for norm in roles.NORMS for role in (norm.std, norm.rms))
    computed = {record.output.role for record in step.records}
    return () if computed.isdisjoint(divisors) else (OF_A_NORM,)


def _at_the(noun: str, plural: str) -> SentenceOf:
    """Return the goal for queries, keys or values, which may be typed."""
    computed = _gradient_at(f"each {noun}")

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        if not ctx.is_typed_at(step.place):
            return computed(step, ctx)
        ends = f"The {plural} are given, so the gradient goes no further."
        return (f"Compute the gradient at each {noun}. {ends}",)

    return goal


def _at_the_encoder(step: Step, ctx: LessonContext) -> Sentence:
    after = (
        "The backward pass of the encoder begins here."
        if ctx.trace.scenario.encodes
        else "This output is given, so the gradient goes no further."
    )
    return (f"Compute the gradient at the encoder output. {after}",)


BACK: dict[StepKind, StepKind] = dict(
    (
        _back(
            training.SQUARED_STEP,
            "through the squared error loss",
            _of_numbers(
                "number",
                Product((Number.of(2), training.Y_MINUS_T)),
                (training.Y, " is the number and ", T, " its target."),
            ),
        ),
        _back(
            training.BINARY_STEP,
            "through the binary cross-entropy loss",
            _of_numbers(
                "logit",
                Difference(training.P_OF_1, T),
                (training.P_OF_1, " is its sigmoid and ", T, " its target."),
            ),
        ),
        _back(
            LOGITS_STEP,
            "at the logits",
            _at_the_logits,
            (roles.W_U, roles.B_U),
            reasons=_of_the_loss,
        ),
        _back(OUTPUT_STEP, "at the decoder output", _at_the_output, reasons=_of_weights),
        _back(
            NORM_STEP,
            "through the norm",
            THROUGH_THE_NORM,
            (roles.GAIN, roles.SHIFT, *RMS_NORM_STEP.roles),
            {roles.STANDARDIZED: STANDARD},
            _of_a_norm,
        ),
        _back(
            NORM_AFTER_STEP,
            "through the norm",
            THROUGH_THE_NORM,
            (roles.NORM_AFTER.gain, roles.NORM_AFTER.shift, *RMS_NORM_AFTER_STEP.roles),
            {roles.NORM_AFTER.standardized: STANDARD},
            _of_a_norm,
        ),
        *(
            _back(
                *(kind, f"through the norm of the {what}", THROUGH_THE_NORM),
                own={norm.standardized: STANDARD},
                reasons=_of_a_norm,
            )
            for norm, kind, what in (
                (roles.QUERY_NORM, query_key_norm.QUERY_NORM_STEP, "queries"),
                (roles.KEY_NORM, query_key_norm.KEY_NORM_STEP, "keys"),
            )
        ),
        _back(RESIDUAL_STEP, "at the residual connection", _summed, reasons=(OF_A_SUM,)),
        _back(MIXTURE_STEP, "at the sum of the experts", "the sum of the experts"),
        _back(
            FFN_OUTPUT_STEP,
            "at the FFN output",
            "the FFN output",
            (roles.W_2, roles.B_2),
            reasons=_of_weights,
        ),
        _back(
            GATE_STEP, "at the gated hidden units", "each gated hidden unit", (roles.W_3, roles.B_3)
        ),
        _back(
            ACTIVATION_STEP,
            "at the activations",
            _activation,
            own={roles.SLOPE: OF_SLOPES, roles.OPEN: OF_SLOPES},
        ),
        _back(HIDDEN_STEP, "at the hidden layer", "each hidden unit", (roles.W_1, roles.B_1)),
        _back(EXPERT_INPUT_STEP, "at the expert's tokens", "the vectors that the expert reads"),
        _back(
            ROUTING_STEP,
            "at the experts' weights",
            "each weight of an expert",
            reasons=_of_the_choice,
        ),
        _back(ROUTER_STEP, "at the router logits", "each router logit", (roles.ROUTER,)),
        _back(
            attention.PROJECTION_STEP,
            "at the attention output",
            "the attention output",
            (roles.W_O, roles.B_O),
            reasons=_of_weights,
        ),
        _back(attention.CONCAT_STEP, "at the concatenated heads", "the concatenated heads"),
        _back(attention.WEIGHTED_SUM_STEP, "at the weighted sum of the values", COLUMNS),
        _back(
            attention.SOFTMAX_STEP,
            "at the attention weights",
            "each attention weight",
            reasons=_of_softmax,
        ),
        _back(attention.MASK_STEP, "at the masked scores", "each score after the mask"),
        _back(SINK_STEP, "at the scores and the sink", _at_the_sink, (roles.SINK,)),
        _back(ALIBI_STEP, "at the scores after ALiBi", "each score after ALiBi"),
        _back(SOFTCAP_STEP, "at the scores after the soft cap", "each score after the soft cap"),
        _back(
            attention.SCORES_STEP, "at the attention scores", "each score and at its dot product"
        ),
        _back(query_key_value.TURNED_QUERY_STEP, "at the rotary query", "each rotated query"),
        _back(query_key_value.TURNED_KEY_STEP, "at the rotary key", "each rotated key"),
        *(
            _back(
                *(step, f"at the normalized {what}", f"the head's normalized {what}"),
                own={derived(role, "left"): RoleText(Symbol("∂"), AMONG_ALL_HEADS)},
            )
            for step, role, what in (
                (query_key_norm.OWN_QUERY_STEP, roles.OWN_QUERY, "queries"),
                (query_key_norm.OWN_KEY_STEP, roles.OWN_KEY, "keys"),
            )
        ),
        _back(
            query_key_value.QUERY_STEP,
            "at the query",
            _at_the("query", "queries"),
            (roles.W_Q, roles.B_Q),
        ),
        _back(
            query_key_value.KEY_STEP, "at the key", _at_the("key", "keys"), (roles.W_K, roles.B_K)
        ),
        _back(
            query_key_value.VALUE_STEP,
            "at the value",
            _at_the("value", "values"),
            (roles.W_V, roles.B_V),
        ),
        *(
            _back(
                *(lora.STEPS[weights], f"at the low-rank adaptation (LoRA) of {weights.name}"),
                *(OF_LORA, (of.a, of.b)),
            )
            for weights, of in roles.LORA.items()
        ),
        _back(INPUT_STEP, "at the input vectors", _at_the_input),
        _back(ENCODER_STEP, "at the encoder output", _at_the_encoder),
        _back(POSITION_STEP, "at the positions", OF_A_POSITION, (roles.POSITIONS,)),
        _back(EMBEDDING_SCALE_STEP, "at the scaled embeddings", "the scaled embeddings"),
        _back(
            EMBEDDING_STEP,
            "at the embeddings",
            _at_the_embeddings,
            (roles.EMBEDDINGS,),
            reasons=_of_a_row,
        ),
    )
)
"""The kind of backward step for each kind of forward step."""


def _back_to_scale(norm: roles.NormRoles, kind: StepKind, whose: str) -> StepKind:
    """Return the kind of step that adds up the gradients of γ and β over the heads."""
    return type(kind)(
        f"{kind.name}_scale_back",
        f"Gradient at the scale of the {whose}",
        f"the gradient of the loss at γ and β of the {whose}",
        _at_the_scale,
        {derived(role, "gradient"): RoleText(Symbol("∂")) for role in (norm.gain, norm.shift)},
        claim=effect_of_raising,
        only_with="decoder-trace train",
    )


def _at_the_scale(step: Step, ctx: LessonContext) -> Sentence:
    learned = " and ".join(
        name
        for name in ("γ", "β")
        if any(ctx.symbols[r.output.address] == Partial(Symbol(name)) for r in step.records)
    )
    of_heads = {value.place.head for record in step.records for value in record.inputs}
    several = isinstance(step.last.operation, AccumulateGradients) and len(of_heads) > 1
    added = ": add up the contributions of all heads" * several
    return (f"Compute the gradient at {learned}{added}.",)


SCALES: dict[StepKind, StepKind] = {
    _back_to_scale(roles.QUERY_NORM, query_key_norm.QUERY_NORM_STEP, "queries"): (
        query_key_norm.QUERY_NORM_STEP
    ),
    _back_to_scale(roles.KEY_NORM, query_key_norm.KEY_NORM_STEP, "keys"): (
        query_key_norm.KEY_NORM_STEP
    ),
}
"""Steps of the backward pass without a forward step of their own; each goes with one."""

FORWARD: dict[StepKind, StepKind] = {
    **{back: forward for forward, back in BACK.items()},
    **SCALES,
}
