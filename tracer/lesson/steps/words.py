"""From the model's output to words: logits, probabilities, the prediction, a word drawn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracer.decoder import roles
from tracer.decoder.elementwise import (
    DivideBy,
    SoftCap,
    SoftmaxCrossEntropyGrad,
    missed_target,
)
from tracer.decoder.operations import Pinned
from tracer.decoder.tape import Record
from tracer.formula.arithmetic import Array
from tracer.formula.expression import Expression, Number, Quotient, Symbol
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext, counted, the_counted
from tracer.lesson.steps.attention import softmax_goal, softmax_roles
from tracer.lesson.steps.claims import FollowedRow, is_named
from tracer.lesson.steps.gradients import (
    WITHOUT_TARGET,
    gradient_at,
    of_weights,
    where_there_is_no_target,
)
from tracer.lesson.steps.illustrations import next_words
from tracer.lesson.steps.kind import Gradient, RoleText, Step, StepKind, linear_sign
from tracer.lesson.steps.soft_cap import capped
from tracer.scenario.model import MASKS

Z, UNCAPPED, UNSCALED = Symbol("z"), Symbol("z′"), Symbol("z", "raw")


def _output_goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    normalized = "normalized " * bool(ctx.tower.final_norm)
    if not ctx.layers:
        return (f"There are no layers: the {normalized}input vectors are the model's output.",)
    result = f"The {normalized}result of the last layer is the model's output"
    numbers = counted(step.last.output.shape[1], "number")
    return (f"{result}: for ", ctx.name, ", a vector of ", *numbers, ", its hidden state.")


def _compared_with_the_input(step: Step, ctx: LessonContext) -> doc.Sentence | None:
    """Say which feature was the largest in the input, and whether it still is."""
    given, output = ctx.value(step.place, roles.INPUT), step.last.output
    if given is None or isinstance(ctx.trace.producers[given].operation, Pinned):
        return None
    before, after = FollowedRow.of(given, ctx), FollowedRow.of(output, ctx)
    first, last = before.ranked(), after.ranked()
    if not ctx.layers or before.labels != after.labels or not (first and last):
        return None
    was, now = first[0], last[0]
    if not is_named(before.labels[was]):
        return None
    x, y = ctx.symbols[given.address], ctx.symbols[output.address]
    return (
        *("In ", x, ", the largest number of ", ctx.name, " is ", *before.name(was), " with "),
        *(before.printed(was), "; in ", y, ", it is ", *after.name(now), " with "),
        *(after.printed(now), "."),
    )


def _largest_logit(step: Step, ctx: LessonContext) -> doc.Sentence | None:
    row = FollowedRow.of(step.last.output, ctx)
    ranked = row.ranked()
    if not ranked:
        return None
    largest = (*ctx.after_it, ", the largest logit is that of ", *row.name(ranked[0]))
    return (*largest, *row.ahead(ranked), ".")


def _predicted(step: Step, ctx: LessonContext) -> list[doc.Block]:
    """Say what is predicted after each token, and how probable it is after the followed one."""
    said = step.last.output
    names, shown = ctx.names[-said.shape[0] :], ctx.rows(said)
    rows = [(names[i], said.read((i,))) for i in shown]
    header = ("token", "prediction") if ctx.fills_in else ("after", "comes")
    table = doc.Table.of(header, rows, shown.index(ctx.row(said)))
    return [table, *doc.paragraphs(_says(step, ctx))]


def _says(step: Step, ctx: LessonContext) -> doc.Sentence | None:
    probabilities = step.last.inputs[0]
    row = FollowedRow.of(probabilities, ctx)
    ranked = row.ranked()
    given = isinstance(ctx.trace.producers[probabilities].operation, Pinned)
    if not ranked or given or ctx.is_padding:
        return None
    share = row.printed(ranked[0])
    sure: doc.Sentence = (" with a probability of ", doc.Percent(share)) if share.value < 1 else ()
    return (*ctx.after_it, ", the model predicts ", *row.name(ranked[0]), *sure, ".")


def _drawn(step: Step, ctx: LessonContext) -> list[doc.Block]:
    """Say which word the random number selects."""
    cumulative, draw = step.last.inputs
    drawn, word = ctx.number(draw), doc.Name(str(step.last.output.numbers[0]))
    last = ctx.number(cumulative, 0, cumulative.shape[1] - 1)
    falls: doc.Sentence = (": it selects ", word, ".")
    if drawn.value >= last.value:
        rounded = (". Rounding leaves the last sum at ", last)
        falls = (*rounded, ", so the last word, ", word, ", is selected.")
    return [doc.Paragraph(("The random number is ", drawn, *falls))]


def _in_one_vector(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    """Say what the next word is predicted from, if a token can attend to others."""
    read = ", a model reads only the hidden state of "
    return ((f"To predict the word {ctx.after} ", ctx.name, read, ctx.name, "."),) * ctx.gathers


def _why_probabilities(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    """Say what probabilities are for; only cross-entropy is computed from those of the softmax."""
    is_loss = ctx.trace.scenario.loss.kind == "cross_entropy"
    measured = "training can measure how probable the correct word is, " * is_loss
    drawn = f"With probabilities, {measured}a program can draw the word {ctx.after} "
    return ((drawn, ctx.name, " at random, and a reader sees how sure the model is."),)


def _at_the_output(step: Step, ctx: LessonContext) -> doc.Sentence:
    return (*gradient_at("the model's output")(step, ctx), *where_there_is_no_target(step))


def _why_predicted(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    """Say what a prediction is for; of a mask, what the model reads in place of the word."""
    if not ctx.fills_in:
        read = "and the decoder runs again, because each word depends on the words before it."
        appended = ", the predicted word is appended "
        return (("To continue a text that ends with ", ctx.name, appended, read),)
    if ctx.trace.tokens[ctx.token] not in MASKS or not ctx.gathers:
        return ()
    return (("In the place of the word, the model reads ", ctx.name, ", so it cannot copy it."),)


OUTPUT_STEP = StepKind(
    "output",
    "Output of the model",
    "the model's vector for each token",
    _output_goal,
    {roles.OUTPUT: RoleText(Symbol("y"))},
    gradient=Gradient("at the model's output", _at_the_output, reasons=of_weights),
    sign=(Symbol("y"),),
    short="output",
    reasons=_in_one_vector,
    claim=_compared_with_the_input,
)


def _logits_goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    words = step.last.output.shape[1]
    each: doc.Sentence = ("Each of the ", *counted(words, "word")) if words > 1 else ("The word",)
    score = " of the vocabulary gets a score, its logit; a larger logit means a more probable word."
    divisors = (r.operation.divisor for r in step.records if isinstance(r.operation, DivideBy))
    divided = [
        part
        for divisor in divisors
        for part in (" All logits are divided by ", Number(divisor), ", a constant of the model.")
    ]
    cap = capped(step, UNCAPPED, "logit")
    return (*each, score, *divided, *((" ", *cap) if cap else ()))


def _logits_caption(record: Record) -> str | None:
    match record.operation:
        case SoftCap():
            return "After the soft cap:"
        case DivideBy():
            return "After the division:"
    return None


def _logits_sign(step: Step, ctx: LessonContext) -> doc.Sign:
    """· W_U / 4, soft cap 30: the product with the weights, and what follows it."""
    sign, has_bias = linear_sign(step, ctx), len(step.records[0].inputs) > 2
    for record in step.records:
        match record.operation:
            case DivideBy(divisor):
                product: doc.Sign = ("(", *sign, ")") if has_bias else sign
                sign = (*product, " / ", Number(divisor))
            case SoftCap(cap):
                sign = (*sign, ", soft cap ", Number(cap))
    return sign


def _before(step: Step) -> str:
    """Say what follows the product with W_U, if anything does."""
    match step.records[0].output.role:
        case roles.UNSCALED_LOGITS:
            return ", before the division,"
        case roles.UNCAPPED_LOGITS:
            return ", before the soft cap,"
    return ""


def _of_columns(step: Step, ctx: LessonContext) -> doc.Sentence:
    """Say what the logit of a word is, of the one with the largest."""
    row = FollowedRow.of(step.last.output, ctx)
    word = row.name(int(np.argmax(row.computed)))
    read = step.records[0].inputs[0]
    is_output = read.role is roles.OUTPUT
    vector = "the model's output" if is_output else ctx.symbols[read.address]
    product = (f"{_before(step)} is the dot product of ", vector, " with the column of ")
    bias = (", plus its number in ", Symbol("b", "U")) if len(step.records[0].inputs) > 2 else ()
    return ("The logit of ", *word, *product, *word, " in ", Symbol("W", "U"), *bias, ".")


def _why_divided(step: Step) -> Iterator[doc.Sentence]:
    """Say what the division does to the order of the words and to their probabilities."""
    if any(isinstance(record.operation, DivideBy) for record in step.records):
        yield (
            "Before rounding, the division keeps the order of the logits. The larger the divisor, "
            "the smaller their differences, and the closer the probabilities.",
        )


P, T = Symbol("p"), Symbol("t")

NEGATIVE: doc.Sentence = (
    "Only the correct word's entry is negative: raising its logit lowers the loss.",
)


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


def _missed(operation: SoftmaxCrossEntropyGrad) -> Expression:
    """Return p - t, with what label smoothing adds."""
    return missed_target(P, T, operation.smoothing, operation.words)


def _at_the_logits(step: Step, ctx: LessonContext) -> doc.Sentence:
    """Return p - t and what it is divided by, unless that is 1."""
    found = _softmax_with_loss(step)
    if found is None:
        return (*gradient_at("each logit")(step, ctx), *where_there_is_no_target(step))
    operation, _ = found
    n, missed = Number.of(operation.counted), _missed(operation)
    divides = operation.counted > 1
    batch = " of the batch" * bool(ctx.trace.others)
    none = WITHOUT_TARGET * (None in operation.columns)
    return (
        *("The gradient at each logit is ", Quotient(missed, n) if divides else missed),
        *(", where ", P, " is its probability and ", T),
        " is 1 for the correct word and 0 otherwise.",
        *((" The loss is the mean over ", n, f" positions{batch}.") if divides else ()),
        none,
    )


def _of_the_loss(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    """Return what softmax and loss leave, and whether only correct words have negative entries."""
    found = _softmax_with_loss(step)
    if found is None:
        return ()
    operation, rows = found
    targets = [
        (word, row) for word, row in zip(operation.columns, rows, strict=True) if word is not None
    ]
    only_correct = all(list(np.flatnonzero(row < 0)) == [word] for word, row in targets)
    left: doc.Sentence = (
        *("Differentiated together, softmax and cross-entropy leave just ", _missed(operation)),
        ". Without rounding, each row adds up to 0, because the probabilities add up to 1.",
    )
    has_others = rows.shape[1] > 1  # a single word is certain, whatever its logit
    return (left, NEGATIVE) if only_correct and has_others else (left,)


LOGITS_STEP = StepKind(
    "logits",
    "Logits",
    "a score for each word",
    _logits_goal,
    {
        roles.UNSCALED_LOGITS: RoleText(UNSCALED, "Before the division:"),
        roles.UNCAPPED_LOGITS: RoleText(UNCAPPED, "Before the soft cap:"),
        roles.LOGITS: RoleText(Z, _logits_caption),
    },
    gradient=Gradient(
        "at the logits", _at_the_logits, (roles.W_U, roles.B_U), reasons=_of_the_loss
    ),
    sign=_logits_sign,
    reasons=lambda step, ctx: (_of_columns(step, ctx), *_why_divided(step)),
    claim=_largest_logit,
)


def _probabilities_goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    shifted = ctx.value(step.place, roles.WORD_SHIFTED) is not None
    row = step.last.output.read((ctx.row(step.last.output),))
    positive = " Before rounding, every probability is greater than 0." * (not all(row))
    logits: doc.Sentence = (*the_counted(len(row), "logit"), f" {ctx.after} ", ctx.name)
    return (*softmax_goal(logits, "logit", shifted=shifted), positive)


PROBABILITIES_STEP = StepKind(
    "probabilities",
    "Softmax: the probabilities",
    "a probability for each word",
    _probabilities_goal,
    softmax_roles(roles.WORD_SOFTMAX, Symbol("p")),
    gradient=None,
    sign=("softmax",),
    short="probabilities",
    reasons=_why_probabilities,
)

PREDICTION_STEP = StepKind(
    "prediction",
    "Prediction",
    "the most probable word",
    lambda step, ctx: (
        f"The most probable word is the model's prediction of the token {ctx.after} ",
        *(ctx.name, "."),
    ),
    {roles.PREDICTION: RoleText(Symbol("prediction"))},
    gradient=None,
    sign=("prediction",),
    reasons=_why_predicted,
    outcome=_predicted,
    illustrate=next_words,
)

SELDOM: doc.Sentence = (
    "A text that contains only the most probable words often repeats itself. Words are drawn, "
    "which means chosen at random, so that less probable words occur, too.",
)


def _can_be_drawn(step: Step) -> int:
    """Return the number of words that the random number can select."""
    shares = next(
        record for record in step.records if record.output.role is roles.CUMULATIVE
    ).inputs[0]
    return int((shares.array > 0).sum())


def _sampling_goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    if _can_be_drawn(step) > 1:
        return ("A random number selects the next word according to the probabilities.",)
    return ("Only one word is left to draw: every random number selects it.",)


SAMPLING_STEP = StepKind(
    "sampling",
    "Drawing the next word",
    "a word is drawn",
    _sampling_goal,
    {
        roles.DRAWN_LOGITS: RoleText(Z),
        roles.TEMPERATURE: RoleText(Symbol("T")),
        roles.SCALED: RoleText(Quotient(Z, Symbol("T")), "The logits, divided by the temperature:"),
        **softmax_roles(roles.DRAWN_SOFTMAX, Symbol("p", "T")),
        roles.CANDIDATES: RoleText(
            Symbol("p", "T"), "The words that are kept, the most probable first:"
        ),
        roles.CANDIDATES_SUM: RoleText(Symbol("Σ", "kept"), "The sum of their probabilities:"),
        roles.RENORMALIZED: RoleText(Symbol("q"), "Each probability divided by this sum:"),
        roles.CUMULATIVE: RoleText(Symbol("c"), "Their running sums:"),
        roles.DRAW: RoleText(Symbol("u")),
        roles.WORD: RoleText(Symbol("word")),
    },
    gradient=None,
    sign=("draw",),
    short="next word",
    reasons=lambda step, ctx: (SELDOM,) if _can_be_drawn(step) > 1 else (),
    outcome=_drawn,
    only_with="decoder-trace generate --seed 1",
)

KINDS = (OUTPUT_STEP, LOGITS_STEP, PROBABILITIES_STEP, PREDICTION_STEP, SAMPLING_STEP)
