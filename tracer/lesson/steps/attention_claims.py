"""Claims about the numbers of one attention head: what queries match, and who attends to whom.

What a mask hides is never spoken of as if the model had found it.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from tracer.decoder.inputs import only_hides
from tracer.decoder.operations import Append, DropColumn
from tracer.decoder.roles import MASKED, QUERY, WEIGHTS
from tracer.decoder.tape import Record
from tracer.formula.expression import Number
from tracer.lesson.context import LessonContext, joined, listed
from tracer.lesson.document import Name, Percent, Sentence
from tracer.lesson.steps.claims import FollowedRow, is_named, largest_named, main_part, main_source
from tracer.lesson.steps.kind import Claim, Step
from tracer.lesson.steps.part import lesson_parts
from tracer.names import distinct

NEARLY_ALL = Decimal("0.99")


def crosses(step: Step) -> bool:
    """Return whether keys and values are the encoder's."""
    return step.place.sub_layer == "cross_attention"


def hidden_tokens(step: Step, ctx: LessonContext) -> list[int]:
    """The tokens that the followed one may not look at, counted from 0."""
    masked = ctx.value(step.place, MASKED)
    row = () if masked is None else masked.numbers[ctx.row(masked)]
    return [i for i, score in enumerate(row) if score == -Decimal("Infinity")]


def _seen(step: Step, ctx: LessonContext) -> tuple[FollowedRow, list[int]]:
    """Its row of the result, and the columns with the largest numbers that it may look at."""
    row, unseen = FollowedRow.of(step.last.output, ctx), hidden_tokens(step, ctx)
    return row, row.ranked([i for i in range(len(row.labels)) if i not in unseen])


def _key(step: Step, ctx: LessonContext, index: int) -> Sentence:
    """The token of a key: the encoder's may have the same text as one of the decoder's."""
    weights = ctx.value(step.place, WEIGHTS)
    assert weights is not None
    token = Name(distinct(weights.axes[1].labels)[index])
    return ("the encoder's ", token) if crosses(step) else (token,)


# --- query, key, value ---------------------------------------------------------------------------


def largest_in(noun: str) -> Claim:
    """The largest number in the token's query, key or value; of reused rows, which are new."""

    def claim(step: Step, ctx: LessonContext) -> Sentence | None:
        found = largest_named(step.last.output, ctx)
        of: Sentence = (f"In the {noun} of ", ctx.name, ", ")
        most = " is larger," if step.last.output.shape[1] == 2 else " is largest"
        return reused(step) or (found and (*of, *found[0], most, *found[1], "."))

    return claim


def reused(step: Step) -> Sentence | None:
    """Say which rows an earlier pass has computed, if any."""
    if not isinstance(step.last.operation, Append):
        return None
    earlier = step.last.inputs[0].shape[0]
    names = distinct(step.last.output.axes[0].labels)
    old, new = names[:earlier], names[earlier:]
    nouns = step.last.output.role.name

    def of(tokens: Sequence[str]) -> Sentence:
        return (nouns.removesuffix("s") if len(tokens) == 1 else nouns, " of ", *listed(tokens))

    are_reused, are_new = (" is" if len(each) == 1 else " are" for each in (old, new))
    return ("The ", *of(old), f"{are_reused} reused; only the ", *of(new), f"{are_new} new.")


# --- scores, mask, softmax -----------------------------------------------------------------------


def best_key(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say which visible key has the largest score, and which dimension contributes most to it."""
    row, ranked = _seen(step, ctx)
    if not ranked:
        return None

    def key(index: int) -> Sentence:
        return _key(step, ctx, index)

    unseen = hidden_tokens(step, ctx)
    visible = len(row.labels) - len(unseen)
    among = " among the keys that it can attend to" * bool(unseen)
    largest: Sentence = ("The largest score of ", ctx.name, f"{among} is that for the key of ")
    best = (*largest, *key(ranked[0]), *row.ahead(ranked, key, visible), ".")
    query, part = ctx.value(step.place, QUERY), main_part(step.last, ctx, ranked[0])
    asked = distinct(query.axes[1].labels) if query else ()
    mixed = (role for each in lesson_parts() for role in each.mixed)
    is_mixed = any(ctx.value(step.place, role) for role in mixed)
    # The query that is multiplied may have columns behind those of the query.
    if is_mixed or part is None or part.index >= len(asked) or not is_named(asked[part.index]):
        return best
    source = (Name(asked[part.index]), ": ", part.part, " of ", part.whole, ".")
    return (*best, " Most of the dot product comes from ", *source)


MOST_NAMED = 3
"""So many scores are repeated in a sentence."""


def names_hidden_tokens(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say which tokens are hidden from the followed one."""
    if len(ctx.names) < 2:
        return None
    unseen = hidden_tokens(step, ctx)
    if not unseen and not only_hides(ctx.mask_at(step.place)):
        return None  # a score may have become as small as if it were hidden
    if not unseen:
        return (ctx.name, " can attend to every token.", *_hidden_from_another(step, ctx))
    if len(unseen) == len(ctx.names):
        return (ctx.name, " cannot attend to any token, not even to itself.")
    names: list[Sentence] = [_itself_or_name(i, ctx) for i in unseen]
    return (ctx.name, " cannot attend to ", *joined(names, "or"), ".")


def _hidden_from_another(step: Step, ctx: LessonContext) -> Sentence:
    """Say what is hidden from the first token that sees some tokens, but not all.

    Nothing where only the followed token's row is shown: the numbers would stand nowhere else.
    """
    scores, names, hides = step.last.output, ctx.names, -Decimal("Infinity")
    if ctx.alone or scores.shape != (len(names), len(names)):
        return ()
    for i, row in enumerate(scores.numbers):
        seen = [j for j, score in enumerate(row) if score != hides]
        unseen = [j for j, score in enumerate(row) if score == hides]
        if 1 < len(seen) <= MOST_NAMED and unseen:
            hidden: Sentence = (" ", *listed([names[j] for j in unseen]))
            are = " is hidden from " if len(unseen) == 1 else " are hidden from "
            left = joined([(ctx.number(scores, i, j),) for j in seen])
            return (*hidden, are, Name(names[i]), "; its scores ", *left, " remain.")
    return ()


def _itself_or_name(index: int, ctx: LessonContext) -> Sentence:
    return ("itself",) if index == ctx.token else (Name(ctx.names[index]),)


def largest_shares(step: Step, ctx: LessonContext) -> Sentence | None:
    """To whom most of the token's attention goes, of those that it may look at."""
    row, ranked = _seen(step, ctx)
    if not ranked:
        return None

    def receiver(index: int) -> Sentence:
        return _key(step, ctx, index) if crosses(step) else _itself_or_name(index, ctx)

    first, *others = ranked
    share, rest = row.printed(first), [row.printed(i) for i in others]
    nearly_all: Sentence = (ctx.name, " gives nearly all of its attention to ")
    beside = left_out(step.last)
    if beside:
        (every,) = step.last.inputs
        if _is_nearly_all(FollowedRow.of(every, ctx), every.shape[1] - 1):
            return (*nearly_all, f"the {beside}.")
    if share.value + sum(number.value for number in rest) > 1 or share.value == 1:
        return (*nearly_all, *receiver(first), ".") if _is_nearly_all(row, first) else None
    gives: Sentence = (ctx.name, " gives ", Percent(share), " of its attention to ")
    if not others:
        return (*gives, *receiver(first), ", more than to any other token.")
    then = (" and ", Percent(rest[0]), " to ", *receiver(others[0]), ".")
    return (*gives, *receiver(first), *then)


def vanished(step: Step, ctx: LessonContext) -> Sentence:
    """Say which keys that are not hidden get a weight that is printed as 0, if any do."""
    row, unseen = FollowedRow.of(step.last.output, ctx), hidden_tokens(step, ctx)
    visible = (i for i in range(len(row.labels)) if i not in unseen)
    keys = [_key(step, ctx, i) for i in visible if not row.computed[i]]
    if not keys:
        return ()
    gets = "gets a weight" if len(keys) == 1 else "get weights"
    return (" Before rounding, ", *joined(keys), f" {gets} greater than 0, printed as 0.")


def left_out(weights: Record) -> str | None:
    """Return what takes part in a softmax and is left out of the weights: the label of a column."""
    if not isinstance(weights.operation, DropColumn):
        return None
    return weights.inputs[0].axes[1].labels[-1]


def _is_nearly_all(row: FollowedRow, column: int) -> bool:
    """Return whether a share is 1 but for its rounding."""
    return row.computed[column] >= NEARLY_ALL and row.printed(column).value == 1


def leak_without_mask(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say how much attention the token would give to later tokens without the mask."""
    weights = step.last.output
    row = weights.numbers[ctx.row(weights)]
    unseen, tokens = hidden_tokens(step, ctx), ctx.tower.tokens
    later = [i for i in unseen if i > ctx.token and tokens[i] != ctx.padding and row[i]]
    if (
        len(ctx.names) > 1
        and not unseen
        and ctx.token == len(ctx.names) - 1
        and only_hides(ctx.mask_at(step.place))
    ):
        return (ctx.name, " is the last token: the mask hides nothing from it.")
    if not later:
        return None
    pencil = ctx.trace.pencil
    exact = Decimal(sum(row[i] for i in later))
    places = pencil.places(weights.role, weights.address, exact)
    share = Number(pencil.printed(exact, places))
    much: Sentence = ("give ", Percent(share), " of its attention to ")
    if not 0 < share.value < 1:
        much = ("also attend to ",)
    which = "the later token " if len(later) == 1 else "the later tokens "
    return (
        *("Without the mask, ", ctx.name, " would ", *much, which),
        *listed([ctx.names[i] for i in later]),
        f"; the mask makes {'this weight' if len(later) == 1 else 'these weights'} 0",
        *(". This is data leakage when the model is trained to predict what follows ", ctx.name),
        ".",
    )


# --- weighted sum --------------------------------------------------------------------------------


def main_value(step: Step, ctx: LessonContext) -> Sentence | None:
    """Whose value most of the largest number comes from."""
    keys = len(step.last.inputs[0].axes[1].labels)
    return main_source(step.last, ctx, lambda index: _key(step, ctx, index), keys)
