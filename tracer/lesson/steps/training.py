"""The texts of the loss: cross-entropy of words, squared error, binary cross-entropy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tracer.decoder import roles
from tracer.decoder.elementwise import BinaryCrossEntropyGrad, MultipliedSquare, SquaredErrorGrad
from tracer.decoder.operations import MeanOf, SumOf, Total
from tracer.decoder.tape import Record
from tracer.formula.expression import (
    Call,
    Difference,
    Expression,
    Negative,
    Number,
    Power,
    Quotient,
    Symbol,
)
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Block, Paragraph, Sentence
from tracer.lesson.steps.kind import Gradient, RoleText, Step, StepKind
from tracer.names import count

P, T, Y = Symbol("p"), Symbol("t"), Symbol("ŷ")
P_OF_1, P_OF_T = Symbol("p", "1"), Symbol("p", "t")
Y_MINUS_T, TWO = Difference(Y, T), Number.of(2)


def _reduced(record: Record) -> str:
    return "Their sum:" if isinstance(record.operation, SumOf) else "Their mean:"


def _reduction(step: Step) -> Record:
    """Return the record of the loss itself."""
    of_losses = {of.loss for of in roles.LOSSES}
    return next(record for record in step.records if record.output.role in of_losses)


def _adds(step: Step) -> bool:
    return isinstance(_reduction(step).operation, SumOf)


def _cross_entropy_goal(step: Step, ctx: LessonContext) -> Sentence:
    how = "added up" if _adds(step) else "averaged"
    over_all = f"The losses are {how} over all positions with a target."
    smoothing = ctx.trace.scenario.loss.smoothing
    surprise = Negative(Call("ln", (P,)))
    if not smoothing:
        return (
            *("The loss at a position is ", surprise, ", where ", P),
            f" is the probability of the correct word. {over_all}",
        )
    return (
        *("Label smoothing: the loss at a position is ", Number(1 - smoothing), " times "),
        *(surprise, " of the correct word, plus ", Number(smoothing), " times the mean of "),
        *(surprise, " over all words, where ", P, f" is a word's probability. {over_all}"),
    )


def _why_cross_entropy(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say what the loss rewards."""
    scenario = ctx.trace.scenario
    if scenario.loss.smoothing:
        return (NONE_AT_0,) if len(scenario.vocabulary or ()) > 1 else ()
    return (COSTS_MOST,)


COSTS_MOST: Sentence = (
    "The loss is 0 if ",
    P,
    " is 1 and grows without bound as ",
    P,
    " approaches 0, so a confident wrong prediction costs most. Training changes the weights to "
    "lower the loss.",
)
NONE_AT_0: Sentence = (
    "The loss grows without bound as the probability of any word approaches 0, so training gives "
    "no word all of the probability.",
)


def _outcome(step: Step, ctx: LessonContext) -> list[Block]:
    """Return how the perplexity compares with guessing, and how many positions have no target."""
    perplexity, words = ctx.value(step.place, roles.PERPLEXITY), ctx.trace.scenario.vocabulary
    if perplexity is None or step.is_partly_given or not words:
        return _not_counted(step, ctx)
    own, even = ctx.number(perplexity), len(words)
    than = "equal to" if own.value == even else "worse than" if own.value > even else "better than"
    guess = f" is {than} {even}, that of guessing evenly among the {even} words."
    return [Paragraph(("The perplexity of ", own, guess)), *_not_counted(step, ctx)]


def _not_counted(step: Step, ctx: LessonContext) -> list[Block]:
    """Return how many positions have no target, if there are any."""
    losses, operation = _reduction(step).inputs, _reduction(step).operation
    if not isinstance(operation, MeanOf | SumOf):
        return []
    if ctx.trace.scenario.loss.smoothing:
        return _without_target(step, ctx)
    left_out = losses[0].shape[0] - len(operation.counted)
    have = "has no target and does" if left_out == 1 else "have no target and do"
    where = "sum" if _adds(step) else "mean"
    sentence = f"{count(left_out, 'position')} {have} not count in the {where}."
    return [Paragraph((sentence,))] if left_out else []


LOSS_STEP = StepKind(
    "loss",
    "Cross-entropy loss",
    "how far the probabilities are from the correct words",
    _cross_entropy_goal,
    {
        roles.TARGET: RoleText(Symbol("target")),
        roles.COUNTED_PROBABILITIES: RoleText(
            Symbol("p", "t"), "The probabilities at the positions with a target:"
        ),
        roles.CORRECT_LOSS: RoleText(Symbol("ℓ", "correct"), "The loss of the correct word:"),
        roles.WORD_LOSS: RoleText(
            lambda n: Negative(Call("ln", n.inputs)), "The loss of every word:"
        ),
        roles.MEAN_WORD_LOSS: RoleText(Symbol("ℓ", "mean"), "The mean over all words:"),
        roles.TOKEN_LOSS: RoleText(Symbol("ℓ"), "The loss at each position with a target:"),
        roles.BATCH_LOSSES: RoleText(Symbol("ℓ", "batch"), "The losses of all examples:"),
        roles.LOSS: RoleText(Symbol("L"), _reduced),
        roles.PERPLEXITY: RoleText(Symbol("perplexity"), "The perplexity:", is_further=True),
    },
    gradient=None,
    sign=("loss",),
    short="loss",
    reasons=_why_cross_entropy,
    outcome=_outcome,
    only_with="decoder-trace loss",
)


GradientOfNumbers = SquaredErrorGrad | BinaryCrossEntropyGrad
"""The operations that compute the gradient of a loss of numbers."""


def _squared_error(step: Step) -> Sentence:
    """Return (ŷ - t)², or a multiple of it."""
    for record in step.records:
        if isinstance(record.operation, MultipliedSquare):
            return (record.operation.formula.symbols([Y_MINUS_T]),)
    return ("its squared error ", Power(Y_MINUS_T, TWO))


def _times_a_factor(record: Record) -> str:
    assert isinstance(record.operation, MultipliedSquare)
    return f"The square of each difference, times {record.operation.factor}:"


def _compared(record: Record) -> str:
    what = "logits" if record.inputs[0].role is roles.LOGITS else "model's output"
    return f"The {what} at the positions with a target:"


def _of_each_position(record: Record) -> str:
    how = "sum" if isinstance(record.operation, Total) else "mean"
    return f"The loss at each position, the {how} over its numbers:"


def _over_all(step: Step) -> str:
    how = "added up" if _adds(step) else "averaged"
    return f"The losses are {how} over all numbers and all positions with a target."


def _without_target(step: Step, ctx: LessonContext) -> list[Block]:
    """Return how many positions have no target, if there are any."""
    left_out = len(ctx.names) - step.records[0].output.shape[0]
    have = "has no target and does" if left_out == 1 else "have no target and do"
    return [Paragraph((f"{count(left_out, 'position')} {have} not count.",))] if left_out else []


def _of_numbers(
    what: str, over: Callable[[GradientOfNumbers], Expression], where: Sentence
) -> Callable[..., Sentence]:
    """Return a goal: the gradient of a loss of numbers is `over`, divided by how many count."""

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        operation = step.last.operation
        assert isinstance(operation, GradientOfNumbers)
        n, batch = Number.of(operation.n), " of the batch" * bool(ctx.trace.others)
        is_mean = operation.n > 1
        gradient = Quotient(over(operation), n) if is_mean else over(operation)
        mean: Sentence = (" The loss is the mean over ", n, f" numbers{batch}.") if is_mean else ()
        return (f"The gradient at each {what} is ", gradient, ", where ", *where, *mean)

    return goal


SQUARED_STEP = StepKind(
    "squared_loss",
    "Squared error loss",
    "how far the numbers are from the correct ones",
    lambda step, ctx: (
        *("The loss of a number ", Y, " is ", *_squared_error(step), ", where ", T),
        f" is the correct number. {_over_all(step)}",
    ),
    {
        roles.SQUARED_OUTPUT: RoleText(Y, _compared),
        roles.ERROR: RoleText(lambda n: Difference(*n.inputs), "Each number minus its target:"),
        roles.SQUARED_ERROR: RoleText(
            lambda n: Power(n.inputs[0], TWO), "The square of each difference:"
        ),
        roles.MULTIPLIED_ERROR: RoleText(Symbol("e"), _times_a_factor),
        roles.TOKEN_ERROR: RoleText(Symbol("ℓ"), _of_each_position),
        roles.SQUARED_LOSS: RoleText(Symbol("L"), _reduced),
    },
    gradient=Gradient(
        "through the squared error loss",
        _of_numbers(
            "number",
            lambda operation: replace(operation, n=1).formula.symbols([Y_MINUS_T]),
            (Y, " is the number and ", T, " its target."),
        ),
    ),
    sign=("loss",),
    short="loss",
    reasons=(
        (
            "A square is never negative, so errors in both directions raise the loss. Twice the "
            "error costs four times as much. Training changes the weights to lower the loss.",
        ),
    ),
    outcome=_without_target,
    groups=("loss",),
    only_with="decoder-trace loss",
)

BINARY_STEP = StepKind(
    "binary_loss",
    "Binary cross-entropy loss",
    "how far the sigmoid of each logit is from its target, 0 or 1",
    lambda step, ctx: (
        *("The sigmoid of each logit is the probability ", P_OF_1, " that its target "),
        *(T, " is 1. The loss is ", Negative(Call("ln", (P_OF_T,))), ", where ", P_OF_T),
        f" is the probability of the target. {_over_all(step)}",
    ),
    {
        roles.BINARY_OUTPUT: RoleText(
            Symbol("z", "t"), "The logits at the positions with a target:"
        ),
        roles.SIGMOID: RoleText(P_OF_1, "The sigmoid of each logit:"),
        roles.CORRECT: RoleText(P_OF_T, "The probability of each target:"),
        roles.SURPRISE: RoleText(
            lambda n: Negative(Call("ln", (n.inputs[0],))), "The loss of each number:"
        ),
        roles.TOKEN_SURPRISE: RoleText(Symbol("ℓ"), _of_each_position),
        roles.BATCH_SURPRISES: RoleText(Symbol("ℓ", "batch"), "The losses of all examples:"),
        roles.BINARY_LOSS: RoleText(Symbol("L"), _reduced),
    },
    gradient=Gradient(
        "through the binary cross-entropy loss",
        _of_numbers(
            "logit",
            lambda operation: replace(operation, n=1).formula.symbols([P_OF_1, T]),
            (P_OF_1, " is its sigmoid and ", T, " its target."),
        ),
    ),
    sign=("loss",),
    short="loss",
    reasons=(
        (
            "Each logit has a probability of its own, so that several targets of a position can "
            "be 1, or none. Training changes the weights to lower the loss.",
        ),
    ),
    outcome=_without_target,
    groups=("loss",),
    only_with="decoder-trace loss",
)

KIND_OF_LOSS = {"cross_entropy": LOSS_STEP, "squared": SQUARED_STEP, "binary": BINARY_STEP}
"""The step of each kind of loss."""

KINDS = tuple(KIND_OF_LOSS.values())
