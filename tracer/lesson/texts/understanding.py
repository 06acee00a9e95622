"""Questions of a worksheet about understanding: what comes out, and what a change would change.

The answer to the second kind is computed by running the scenario with the change, and is printed
nowhere on the sheet. A question of the first kind stands before the lines whose results tell it,
and these results are all left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Any, TypeAlias

import numpy as np

from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.forward import Trace, trace
from tracer.decoder.value import TOKEN, Value
from tracer.errors import TracerError
from tracer.lesson import document as doc, entries
from tracer.lesson.context import LessonContext, joined, listed
from tracer.lesson.steps.attention import (
    PROJECTION_STEP,
    SCORES_STEP,
    SOFTMAX_STEP,
    WEIGHTED_SUM_STEP,
)
from tracer.lesson.steps.claims import FollowedRow
from tracer.lesson.steps.ffn import ACTIVATION_STEP
from tracer.lesson.steps.inputs import INPUT_STEP
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.sub_layers import RESIDUAL_STEP
from tracer.lesson.steps.words import LOGITS_STEP
from tracer.lesson.texts.questions import (
    doubled_weight,
    most_probable_word,
    one_of,
    weights_that_count,
)
from tracer.lesson.texts.symbols import symbols
from tracer.lesson.working.lines import Writer
from tracer.names import distinct
from tracer.scenario.given import Repeated
from tracer.scenario.model import Scenario

SAME = 1e-9
"""Numbers that differ by less are equal: sums of floats depend on the order of their terms."""
SUB_LAYERS = {
    "attention": "self-attention",
    "cross_attention": "cross-attention",
    "ffn": "the feed-forward network",
}
DOUBLED = (
    *(roles.EMBEDDING, roles.INPUT, roles.QUERY, roles.RESIDUAL, roles.NORM),
    *(roles.HIDDEN, roles.ACTIVATION, roles.OUTPUT),
)
"""Values of which a row can be doubled: what else a step reads does not depend on them."""
Ask: TypeAlias = Callable[[Step, LessonContext, Random], doc.Question | None]


def questions_about(
    steps: Sequence[Step], ctx: LessonContext, title: str, drawn: Random, most: int
) -> list[tuple[Step | None, doc.Question]]:
    """Return at most so many questions about the steps of exercises, of as many kinds as possible.

    Each has the step before whose lines it stands; None if it is asked after the exercises. The
    title of the sheet names no word that is asked for.
    """

    def next_word(step: Step, ctx: LessonContext, drawn: Random) -> doc.Question | None:
        return most_probable_word(ctx, title) if step.kind is LOGITS_STEP else None

    kinds: list[tuple[Ask, bool]] = [(ask, True) for ask in (next_word, largest_weight)]
    kinds += [(ask, False) for ask in CHANGES]
    forward = [step for step in steps if step.place.phase == "forward"]
    waiting = [(ask, first, _shuffled(forward, drawn)) for ask, first in _shuffled(kinds, drawn)]
    asked = list[tuple[Step | None, doc.Question]]()
    while waiting and len(asked) < most:
        ask, first, left = waiting.pop(0)
        while left:
            step = left.pop()
            if question := ask(step, ctx.at(step.place), drawn):
                asked.append((step if first else None, question))
                waiting.append((ask, first, left))
                break
    return asked


def _shuffled(each: Sequence[Any], drawn: Random) -> list[Any]:
    # Python guarantees the same numbers in every version only for `random()`.
    return sorted(each, key=lambda _: drawn.random())


# --- what comes out ------------------------------------------------------------------------------


def largest_weight(step: Step, ctx: LessonContext, drawn: Random) -> doc.Question | None:
    """Ask for the token that gets the largest attention weight, unless two have the same."""
    value = step.last.output
    if step.kind is not SOFTMAX_STEP or isinstance(step.last.operation, op.Pinned):
        return None
    row = FollowedRow.of(value, ctx)
    ranked = row.ranked()
    if not ranked:
        return None
    asks: doc.Sentence = (
        *("Before you compute the weights: which of them is the largest in the row of ", ctx.name),
        " in ",
        *(ctx.symbols[value.address], "? Look at the scores."),
    )
    choices = doc.Choices(row.labels, (ranked[0],), several=False)
    return doc.Question(asks, ("That of ", doc.Name(row.labels[ranked[0]]), "."), choices)


# --- what a change changes -----------------------------------------------------------------------


def double_a_weight(step: Step, ctx: LessonContext, drawn: Random) -> doc.Question | None:
    """Ask which numbers change if one weight is doubled, and by how much."""
    places = [(record, at) for record in step.records for at in weights_that_count(record, ctx)]
    if not places:
        return None
    record, at = one_of(places, drawn)
    weights = record.inputs[1]
    numbers = np.array(weights.numbers)
    numbers[at] *= 2
    question = doubled_weight(record, at, ctx)
    changed = _with_given(ctx, {weights.address: numbers.tolist()})
    if not question or not changed:
        return None
    columns = [question.choices.labels[i] for i in question.choices.right]
    return _worked(question, changed, record.output, columns, ctx)


def silence_a_head(step: Step, ctx: LessonContext, drawn: Random) -> doc.Question | None:
    """Ask for a number of the attention output if one head outputs zeros."""
    heads = ctx.heads_of(step.place) if step.kind is PROJECTION_STEP else 0
    if heads < 2:
        return None
    head = 1 + int(drawn.random() * heads)
    what: doc.Sentence = (f"head {head} outputs only zeros",)
    return _with_zeros(f"{step.place.prefix}head{head}.output", what, step, ctx, drawn)


def silence_a_sub_layer(step: Step, ctx: LessonContext, drawn: Random) -> doc.Question | None:
    """Ask for a number of the residual connection if the sub-layer outputs zeros."""
    if step.kind is not RESIDUAL_STEP or step.place.sub_layer not in SUB_LAYERS:
        return None
    what: doc.Sentence = (f"{SUB_LAYERS[step.place.sub_layer]} outputs only zeros",)
    return _with_zeros(f"{step.place.prefix}output", what, step, ctx, drawn)


def attend_to_one_token(step: Step, ctx: LessonContext, drawn: Random) -> doc.Question | None:
    """Ask for the weighted sum if one token gets all the attention."""
    weights = ctx.value(step.place, roles.WEIGHTS)
    if step.kind is not WEIGHTED_SUM_STEP or weights is None or weights.shape[-1] < 2:
        return None
    row = ctx.row(weights)
    seen = [j for j, weight in enumerate(weights.read((row,))) if weight]
    if not seen:  # of a padding token that sees only padding
        return None
    token = one_of(seen, drawn)
    numbers = np.array(weights.numbers)
    numbers[row] = [Decimal(j == token) for j in range(len(numbers[row]))]
    name = doc.Name(distinct(weights.axes[1].labels)[token])
    gives: doc.Sentence = (ctx.name, " gives all of its attention to ", name)
    what: doc.Sentence = (*gives, ": this weight is 1, the others are 0")
    return _changed_number({weights.address: numbers.tolist()}, what, step, ctx, drawn)


def double_what_is_read(step: Step, ctx: LessonContext, drawn: Random) -> doc.Question | None:
    """Ask for a number of a step's result if the followed token's row that it reads is doubled."""
    own = {record.output for record in step.records}
    inputs = (value for record in step.records for value in record.inputs if value not in own)
    read = [value for value in inputs if value.axes and not value.role.parameter]
    alone = len({*read}) == 1 or step.kind in (SCORES_STEP, INPUT_STEP)
    if not read or not alone or read[0].role not in DOUBLED or not step.last.output.per_token:
        return None
    first = read[0]
    numbers = np.array(first.numbers)
    numbers[ctx.row(first)] *= 2
    what: doc.Sentence = (ctx.name, " in ", ctx.symbols[first.address], " are doubled")
    what = ("all numbers of ", *what)
    return _changed_number({first.address: numbers.tolist()}, what, step, ctx, drawn)


def remove_the_mask(step: Step, ctx: LessonContext, drawn: Random) -> doc.Question | None:
    """Ask which tokens' attention weights change without the mask."""
    in_first_layer = step.place.layer == 1 and step.place.sub_layer == "attention"
    if step.kind is not SOFTMAX_STEP or not in_first_layer:
        return None
    weights, part = step.last.output, ctx.attention_at(step.place)
    masked = ctx.value(step.place, roles.MASKED)
    if part is None or masked is None or part.mask is not None:
        return None
    changed = _again(ctx, {"mask": "none"})
    after = changed.values.get(weights.address) if changed else None
    if changed is None or after is None or after.shape != weights.shape:
        return None
    names, rows = distinct(weights.axes[0].labels), range(len(weights.numbers))
    differs = [not np.array_equal(weights.array[i], after.array[i]) for i in rows]
    hides = [bool(np.isneginf(masked.array[i]).any()) for i in rows]
    if differs != hides or not any(hides):
        return None  # a difference that rounding hides
    right = tuple(i for i in rows if differs[i])
    first = right[0]
    hidden = np.where(np.isneginf(masked.array[first]), after.array[first], -1)
    seen = int(np.argmax(hidden))
    number = entries.number(changed.pencil, after, (first, seen))
    asks: doc.Sentence = (
        "Suppose that there is no mask. In which rows of ",
        *(ctx.symbols[weights.address], " do the numbers change?"),
    )
    shown: doc.Sentence = ("the weight that ", doc.Name(names[first]), " gives to ")
    to: doc.Sentence = (doc.Name(distinct(weights.axes[1].labels)[seen]), " is then ", number)
    answer = (*listed([names[i] for i in right]), ". For example, ", *shown, *to, ".")
    return doc.Question(asks, answer, doc.Choices(names, right, several=True))


def exchange_tokens(step: Step, ctx: LessonContext, drawn: Random) -> doc.Question | None:
    """Ask whether the followed token's row changes if two other tokens are exchanged."""
    value, scenario = step.last.output, ctx.trace.scenario
    of_features = value.per_token and len(value.axes) == 2 and value.axes[1].name != TOKEN
    others = [i for i in range(len(ctx.names)) if i != ctx.token]
    typed = isinstance(scenario.embeddings, Mapping) and not scenario.given
    decodes = step.place.layer is not None and not ctx.in_encoder and ctx.follows(value)
    if not (of_features and decodes and typed) or len(others) < 2:
        return None
    one, other = sorted(_shuffled(others, drawn)[:2])
    tokens = list(scenario.tokens)
    tokens[one], tokens[other] = tokens[other], tokens[one]
    changed = _again(ctx, vars(scenario.reading(tuple(tokens))))
    after = changed.values.get(value.address) if changed else None
    if changed is None or after is None or after.axes[1] != value.axes[1]:
        return None
    row = ctx.row(value)
    difference = np.abs(after.array[row] - value.array[row])
    column = int(np.argmax(difference))
    numbers = [
        entries.number(run.pencil, each, (row, column))
        for run, each in ((ctx.trace, value), (changed, after))
    ]
    same = bool(difference.max() < SAME)
    if tokens == list(scenario.tokens) or same == (numbers[0].value != numbers[1].value):
        return None
    text = joined([(doc.Name(token),) for token in tokens])
    asks: doc.Sentence = (
        *("Suppose that two tokens change places, so that the model reads ", *text),
        *(". Do the numbers of ", ctx.name, " in ", ctx.symbols[value.address], " change?"),
    )
    name = doc.Name(distinct(value.axes[1].labels)[column])
    answer: doc.Sentence = ("No.",)
    if not same:
        answer = ("Yes. For example, ", name, " changes from ", numbers[0], " to ", numbers[1], ".")
    return doc.Question(asks, answer, doc.Choices(("yes", "no"), (int(same),), several=False))


def turn_signs(step: Step, ctx: LessonContext, drawn: Random) -> doc.Question | None:
    """Ask which hidden units ReLU sets to 0 if all numbers that it reads change sign."""
    if step.kind is not ACTIVATION_STEP or step.last.operation != el.Activate("relu"):
        return None
    value, hidden = step.last.output, step.last.inputs[0]
    numbers = np.array(hidden.numbers)
    numbers[ctx.row(hidden)] *= -1
    changed = _with_given(ctx, {hidden.address: numbers.tolist()})
    if changed is None:
        return None
    names, row = distinct(value.axes[1].labels), changed[value.address].array[ctx.row(value)]
    zero = tuple(i for i, number in enumerate(row) if not number)
    asks: doc.Sentence = (
        *("Suppose that all numbers of ", ctx.name, " in ", ctx.symbols[hidden.address]),
        *(" change their sign. Which numbers of ", ctx.name, " in "),
        *(ctx.symbols[value.address], " are 0 then?"),
    )
    answer: doc.Sentence = (*listed([names[i] for i in zero]), ".") if zero else ("None of them.",)
    return doc.Question(asks, answer, doc.Choices(names, zero, several=True))


CHANGES: tuple[Ask, ...] = (
    double_a_weight,
    silence_a_head,
    silence_a_sub_layer,
    attend_to_one_token,
    double_what_is_read,
    remove_the_mask,
    exchange_tokens,
    turn_signs,
)


def _with_zeros(
    address: str, what: doc.Sentence, step: Step, ctx: LessonContext, drawn: Random
) -> doc.Question | None:
    if address not in ctx.trace.values:
        return None
    return _changed_number({address: Repeated(Decimal(0))}, what, step, ctx, drawn)


def _changed_number(
    given: Mapping[str, Any], what: doc.Sentence, step: Step, ctx: LessonContext, drawn: Random
) -> doc.Question | None:
    """Ask for one number of the followed token in a step's result if values are given."""
    value = step.last.output
    changed = _with_given(ctx, given)
    if changed is None or isinstance(step.last.operation, op.Pinned):
        return None
    columns = distinct(value.axes[1].labels)
    row = changed[value.address].array[ctx.row(value)]
    column = one_of([j for j, each in enumerate(row) if each] or range(len(columns)), drawn)
    number = entries.number(changed.pencil, changed[value.address], (ctx.row(value), column))
    asks: doc.Sentence = (
        *("Suppose that ", *what, ". What is ", doc.Name(columns[column]), " of ", ctx.name),
        *(" in ", ctx.symbols[value.address], " then?"),
    )
    question = doc.Question(asks, (doc.Name(columns[column]), " is ", number, "."), doc.NO_CHOICES)
    return _worked(question, changed, value, [columns[column]], ctx)


def _with_given(ctx: LessonContext, given: Mapping[str, Any]) -> Trace | None:
    return _again(ctx, {"given": {**ctx.trace.scenario.given, **given}})


def _again(ctx: LessonContext, changes: Mapping[str, Any]) -> Trace | None:
    """Return the pass of the scenario after changes; None if it has no result."""
    scenario: Scenario = ctx.trace.scenario.without_words().model_copy(update=dict(changes))
    try:
        return trace(ctx.trace.name, scenario)
    except TracerError:
        return None


def _worked(
    question: doc.Question, changed: Trace, value: Value, columns: Sequence[str], ctx: LessonContext
) -> doc.Question:
    """Return a question whose answer has worked lines for some columns of a value."""
    own = LessonContext(changed, ctx.token, symbols(changed.records), ctx.encoder_token)
    record = changed.by_address[value.address]
    lines = Writer(own).lines(record, ctx.token)
    worked = tuple(line for line in lines if line.label in columns)
    return doc.Question(question.parts, question.answer, question.choices, worked)
