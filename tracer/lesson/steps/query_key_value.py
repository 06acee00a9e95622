"""Query, key and value of a head: what each is for."""

from __future__ import annotations

from collections.abc import Callable

from tracer.decoder import roles
from tracer.decoder.operations import Given, Reused
from tracer.decoder.part import own_way
from tracer.formula import expression as ex
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Sentence, Sign
from tracer.lesson.steps import attention_reasons as why
from tracer.lesson.steps.attention_claims import crosses, largest_in
from tracer.lesson.steps.gradients import gradient_at
from tracer.lesson.steps.kind import Gradient, InnerKind, RoleText, SentenceOf, Step, SymbolOf

GIVEN = " The {} are given: they are not computed here."


def head_symbol(letter: str, below: str = "") -> SymbolOf:
    """A letter with the head's number."""
    return lambda naming: ex.Symbol(letter, below, naming.head)


def keys_of(step: Step, ctx: LessonContext) -> int | None:
    """The head whose keys and values this one shares, if it has none of its own."""
    part = ctx.attention_at(step.place)
    return part.heads[(step.place.head or 1) - 1].shares if part else None


def _query_goal(step: Step, ctx: LessonContext) -> Sentence:
    shared = keys_of(step, ctx)
    part = ctx.attention_at(step.place)
    fewer = "" if part and own_way(part) else ", so that a cache keeps fewer of them"
    saves = f" This head shares the keys and values of head {shared}{fewer}."
    typed = GIVEN.format("queries") * isinstance(step.last.operation, Given)
    where = " among the encoder's tokens" * crosses(step)
    ends = f" looks for{where}.{typed}{saves * (shared is not None)}"
    return ("The query describes what ", ctx.name, ends)


def _of_a_source(
    noun: str, does: tuple[str, str], here: str
) -> Callable[[Step, LessonContext], Sentence]:
    """Return the goal of a key or a value: what it `does`, before and behind a token's name.

    `here` is added for the decoder's own tokens.
    """

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        if isinstance(step.last.operation, Reused):
            return (f"The {noun}s of the encoder's tokens are reused from the previous turn.",)
        typed = GIVEN.format(f"{noun}s") * isinstance(step.last.operation, Given)
        if crosses(step):
            return (f"The {noun} {does[0]}an encoder token{does[1]}.{typed}",)
        return (f"The {noun} {does[0]}", ctx.name, f"{does[1]}{here}.{typed}")

    return goal


def _at_the(noun: str, plural: str) -> SentenceOf:
    """Return the goal for queries, keys or values, which may be typed."""
    computed = gradient_at(f"each {noun}")

    def goal(step: Step, ctx: LessonContext) -> Sentence:
        if not ctx.is_typed_at(step.place):
            return computed(step, ctx)
        ends = f"The {plural} are given, so the gradient goes no further."
        return (f"Compute the gradient at each {noun}. {ends}",)

    return goal


def _sign(letter: str) -> Callable[[Step, LessonContext], Sign]:
    """Return the sign of queries, keys or values, which names what they read if it differs."""

    def sign(step: Step, ctx: LessonContext) -> Sign:
        projected = (ctx.value(step.place, role) for role in (roles.QUERY, roles.KEY, roles.VALUE))
        records = [ctx.trace.producers[value] for value in projected if value]
        read = {record.inputs[0] for record in records if record.inputs}
        if crosses(step) or len(read) == 1 or not step.records[0].inputs:
            return (ex.Symbol(letter),)
        return (ex.Symbol(letter), " of ", ctx.symbols[step.records[0].inputs[0].address])

    return sign


QUERY_STEP = InnerKind(
    "query",
    "Query",
    "what each token looks for",
    _query_goal,
    {roles.QUERY: RoleText(head_symbol("Q"))},
    gradient=Gradient("at the query", _at_the("query", "queries"), (roles.W_Q, roles.B_Q)),
    sign=_sign("Q"),
    reasons=why.three_vectors,
    claim=largest_in("query"),
    groups=("qkv",),
)

KEY_STEP = InnerKind(
    "key",
    "Key",
    "what each token can be found by",
    _of_a_source("key", ("describes what ", " can be found by"), "; queries are compared with it"),
    {roles.KEY: RoleText(head_symbol("K")), roles.KEYS: RoleText(head_symbol("K"))},
    gradient=Gradient("at the key", _at_the("key", "keys"), (roles.W_K, roles.B_K)),
    sign=_sign("K"),
    reasons=why.why_own_keys,
    claim=largest_in("key"),
    groups=("qkv",),
)

VALUE_STEP = InnerKind(
    "value",
    "Value",
    "what each token passes on",
    _of_a_source("value", ("is what ", " passes on"), " to the tokens that attend to it"),
    {roles.VALUE: RoleText(head_symbol("V")), roles.VALUES: RoleText(head_symbol("V"))},
    gradient=Gradient("at the value", _at_the("value", "values"), (roles.W_V, roles.B_V)),
    sign=_sign("V"),
    reasons=why.why_own_values,
    claim=largest_in("value"),
    groups=("qkv",),
)

KINDS = (QUERY_STEP, KEY_STEP, VALUE_STEP)
