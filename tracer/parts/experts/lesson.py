"""Experts: the router, the choice of each token's experts, and the sum of their outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tracer.decoder.operations import Keep
from tracer.decoder.roles import Place
from tracer.decoder.value import Value
from tracer.formula.expression import Call, Exponential, Expression, Number, Symbol
from tracer.lesson.context import LessonContext, joined, listed
from tracer.lesson.document import Sentence, Sign
from tracer.lesson.steps.attention import softmax_goal, softmax_roles
from tracer.lesson.steps.kind import (
    Gradient,
    InnerKind,
    Naming,
    ReasonsOf,
    RoleText,
    Step,
    linear_sign,
)
from tracer.lesson.steps.masks import HIDDEN
from tracer.lesson.steps.part import LessonPart, NamedSize
from tracer.names import count
from tracer.parts.experts import decoder, lesson_attribution

MOST_NAMED = 8
"""The most tokens of an expert to name."""

GATES = Symbol("G")


def inputs_of_experts(place: Place, ctx: LessonContext) -> list[Value]:
    """Return what each expert of an FFN reads: the rows of its tokens."""
    experts: list[Value] = []
    while value := ctx.value(
        replace(place, network=decoder.expert(len(experts) + 1)), decoder.EXPERT_INPUT
    ):
        experts.append(value)
    return experts


def _experts_of_tokens(place: Place, ctx: LessonContext) -> Counter[int]:
    """Return the number of experts of each token, by its position."""
    inputs = inputs_of_experts(place, ctx)
    return Counter(position for value in inputs for position in value.axes[0].positions or ())


def skips_tokens(place: Place, ctx: LessonContext) -> bool:
    """Return whether some token does not go to some expert."""
    experts = len(inputs_of_experts(place, ctx))
    return any(number < experts for number in _experts_of_tokens(place, ctx).values())


def _choice(step: Step) -> Keep:
    """Return the operation that keeps the logits or shares of each token's experts."""
    return next(r.operation for r in step.records if isinstance(r.operation, Keep))


def _top(step: Step) -> int:
    """Return how many experts each token goes to."""
    return len(_choice(step).columns[0])


def _routing_goal(step: Step, ctx: LessonContext) -> Sentence:
    top, experts = _top(step), step.last.output.shape[1]
    shifted = ctx.value(step.place, decoder.ROUTER_SHIFTED) is not None
    softmax = softmax_goal(("the logits of a row",), "logit", shifted=shifted)
    normalized = step.last.output.role is decoder.ROUTER_WEIGHTS
    if top == experts:
        weights = " These shares are the weights." * (experts > 1)
        all_of_them = {1: "the only expert", 2: "both experts"}
        goes = all_of_them.get(experts, f"all {experts} experts")
        return (f"Each token goes to {goes}. ", *softmax, weights)
    which = f"the {top} experts with" if top > 1 else "the expert with its"
    goes = f"Each token goes to {which} {'the ' * (top > 1)}largest logit{'s' * (top > 1)}"
    if not normalized:
        kept = "Their shares are the weights" if top > 1 else "Its share is the weight"
        return (*softmax, f" {goes}. {kept}; the other experts get the weight 0.")
    zero: Sentence = (" ", Exponential(HIDDEN), " is 0, so the other experts get the weight 0.")
    return (f"{goes}; the other logits become ", HIDDEN, ". ", *softmax, *zero)


RENORMALIZED: Sentence = (
    "Before rounding, the same weights result from a softmax over all experts if the shares of the "
    "chosen experts are divided by their sum.",
)


LEARNED: Sentence = (
    "An expert's output is multiplied by its weight, so that training can adjust the router, too.",
)


def _why_chosen(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say what else gives these weights, where some experts of several are left out."""
    experts = step.last.output.shape[1]
    if step.last.output.role is not decoder.ROUTER_WEIGHTS:
        return (LEARNED,) if experts > 1 else ()
    return (RENORMALIZED,) if _top(step) < experts else ()


def _goes_to(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say where the followed token goes, with which weights, and how many each expert gets."""
    weights, inputs = step.last.output, inputs_of_experts(step.place, ctx)
    row = ctx.row(weights)
    mine = [e for e, value in enumerate(inputs) if ctx.follows(value)]
    to: list[Sentence] = [
        (f"to expert {e + 1} with the weight ", ctx.number(weights, row, e)) for e in mine
    ]
    loads = _loads([value.shape[0] for value in inputs], weights.shape[0])
    return (ctx.name, " goes ", *joined(to), ".", *_tie(step, ctx), *loads)


def _loads(loads: Sequence[int], tokens: int) -> Sentence:
    """Say how many of the tokens go to each expert, unless all do or there is only one."""
    if min(loads) == tokens or tokens == 1:
        return ()
    experts = f" Experts 1 {'and' if len(loads) == 2 else 'to'} {len(loads)} get "
    if len(set(loads)) == 1:
        return (f"{experts}{count(loads[0], 'token')} each.",)
    return (experts, *joined([(Number.of(load),) for load in loads]), f" of the {tokens} tokens.")


def _tie(step: Step, ctx: LessonContext) -> Sentence:
    """Say which experts the followed token goes to if equal logits leave it open."""
    logits = ctx.value(step.place, decoder.ROUTER_LOGITS)
    assert logits
    row = ctx.row(logits)
    numbers, chosen = logits.computed[row], _choice(step).columns[row]
    least = min(numbers[e] for e in chosen)
    equal = [e for e, number in enumerate(numbers) if number == least]
    first = sum(e in equal for e in chosen)
    if first == len(equal):
        return _printed_tie(logits, row, chosen, ctx)
    names = joined([(Number.of(e + 1),) for e in equal])
    are = "the first of them is" if first == 1 else f"the first {first} of them are"
    return (" The logits of experts ", *names, f" are equal; {are} chosen.")


def _printed_tie(logits: Value, row: int, chosen: Sequence[int], ctx: LessonContext) -> Sentence:
    """Say which experts' logits differ only before rounding, if that decides the choice."""
    printed = [ctx.number(logits, row, e).value for e in range(logits.shape[1])]
    least = min(printed[e] for e in chosen)
    equal = [e for e, number in enumerate(printed) if number == least]
    if all(e in chosen for e in equal):
        return ()
    names = joined([(Number.of(e + 1),) for e in equal])
    return (" Before rounding, the logits of experts ", *names, " differ.")


def _reads(step: Step, ctx: LessonContext) -> Sentence:
    """Say which tokens go to the expert."""
    assert step.place.network
    value, expert = step.last.output, step.place.network.name
    if not value.shape[0]:
        return (f"No token goes to {expert}, so it computes nothing.",)
    positions = value.axes[0].positions or ()
    names = [ctx.names[position] for position in positions]
    if value.shape[0] == len(_experts_of_tokens(step.place, ctx)):
        one: Sentence = (*listed(names), " goes")
        goes = one if len(names) == 1 else (f"All {len(names)} tokens go",)
        return (*goes, f" to {expert}.")
    tokens: Sentence = (": ", *listed(names)) if len(names) <= MOST_NAMED else ()
    several = f"{len(names)} tokens that go" if len(names) > 1 else "token that goes"
    reads: Sentence = (f"{expert.capitalize()} computes only the {several} to it", *tokens, ".")
    if ctx.follows(value):
        return reads
    return (*reads, " ", ctx.name, f" does not go to {expert}.")


def _sum_goal(step: Step, ctx: LessonContext) -> Sentence:
    gated = ctx.value(step.place, decoder.GATED_OUTPUT) is not None
    times = ", multiplied by its gate," * gated
    shared = f" The output of the shared expert{times} is added for every token."
    several = max(_experts_of_tokens(step.place, ctx).values()) > 1
    outputs = "sum of the outputs of its experts, each" if several else "output of its expert,"
    weighted = f"Each token's result is the {outputs} multiplied by its weight."
    return (weighted + shared * (len(step.records) > 1),)


SPARSE: Sentence = (
    "Each expert is an FFN of its own. A token uses only some of them, so that the model can have "
    "many parameters and still needs few multiplications for each token.",
)

SKIPPED: Sentence = (
    "An expert skips all other tokens, so that its weights cost no multiplications for them.",
)

NOTHING_ADDED: Sentence = (
    "Experts that a token does not go to have the weight 0, so that they add nothing.",
)


def _if_tokens_are_skipped(reason: Sentence) -> ReasonsOf:
    """Return a reason that is only true if some token does not go to some expert."""
    return lambda step, ctx: (reason,) if skips_tokens(step.place, ctx) else ()


def _why_skipped(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    skips = 0 < step.last.output.shape[0] < len(_experts_of_tokens(step.place, ctx))
    return (SKIPPED,) if skips else ()


def _marked(naming: Naming) -> Expression:
    read = naming.inputs[0]
    if isinstance(read, Symbol):
        return Symbol(read.base, read.below, read.above + naming.head)
    return Symbol("x", "", naming.head)


def _top_sign(step: Step, ctx: LessonContext) -> Sign:
    return (f"top {_top(step)}",)


def _sum_sign(step: Step, ctx: LessonContext) -> Sign:
    return ("weighted sum", *([" + shared"] if len(step.records) > 1 else []))


ROUTER_STEP = InnerKind(
    "router",
    "FFN: router",
    "a score for each expert",
    ("The router computes a score of each token for each expert, its router logit.",),
    {decoder.ROUTER_LOGITS: RoleText(Symbol("R"))},
    gradient=Gradient(
        "at the router logits", "each router logit", (decoder.ROUTER, decoder.ROUTER_BIAS)
    ),
    sign=linear_sign,
    short="router",
    reasons=_if_tokens_are_skipped(SPARSE),
    groups=("experts",),
)

OF_THE_CHOICE: Sentence = (
    "A small change of a logit changes the weights of the chosen experts but not the choice, so "
    "the choice itself has no gradient.",
)


def _of_the_choice(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Return that the choice of experts has no gradient, unless each token goes to all."""
    return (OF_THE_CHOICE,) if skips_tokens(replace(step.place, phase="forward"), ctx) else ()


ROUTING_STEP = InnerKind(
    "routing",
    "FFN: choice of experts",
    "the weight of each token's experts",
    _routing_goal,
    {
        decoder.CHOSEN_LOGITS: RoleText(Symbol("R′"), "The logits of the chosen experts:"),
        **softmax_roles(decoder.CHOSEN_SOFTMAX, GATES),
        **softmax_roles(decoder.ROUTER_SOFTMAX, Symbol("p", "r")),
        decoder.CHOSEN_PROBABILITIES: RoleText(GATES),
    },
    gradient=Gradient(
        "at the experts' weights", "each weight of an expert", reasons=_of_the_choice
    ),
    sign=_top_sign,
    short="chosen experts",
    reasons=_why_chosen,
    claim=_goes_to,
    groups=("experts",),
)

EXPERT_INPUT_STEP = InnerKind(
    "expert_input",
    "FFN: tokens of the expert",
    "the vectors of the tokens that go to the expert",
    _reads,
    {decoder.EXPERT_INPUT: RoleText(_marked)},
    gradient=Gradient("at the expert's tokens", "the vectors that the expert reads"),
    sign=("its tokens",),
    short="tokens",
    reasons=_why_skipped,
    groups=("experts",),
)

GATE_STEP = InnerKind(
    "shared_gate",
    "FFN: gate of the shared expert",
    "a number between 0 and 1 for each token",
    (
        "The product of a token's vector and the gate's weights is a score. Its sigmoid is a "
        "number between 0 and 1, by which the output of the shared expert is multiplied.",
    ),
    {
        decoder.GATE_LOGIT: RoleText(Symbol("R", "", "s"), "The score of each token:"),
        decoder.GATE_WEIGHT: RoleText(Symbol("G", "", "s"), "The sigmoid of the score:"),
    },
    gradient=Gradient(
        "at the gate of the shared expert", "each token's gate", (decoder.SHARED_GATE,)
    ),
    sign=("gate ", Symbol("G", "", "s")),
    short="gate",
    groups=("experts",),
)

MIXTURE_STEP = InnerKind(
    "mixture",
    "FFN: sum of the experts",
    "the result of the FFN",
    _sum_goal,
    {
        decoder.GATED_OUTPUT: RoleText(
            Symbol("S"), "The output of the shared expert, multiplied by its gate:"
        ),
        decoder.ROUTED: RoleText(Symbol("F"), "The sum over the chosen experts:"),
        decoder.MIXTURE_OUTPUT: RoleText(
            lambda naming: Call("FFN", (naming.x,)), "The output of the shared expert is added:"
        ),
    },
    gradient=Gradient("at the sum of the experts", "the sum of the experts"),
    sign=_sum_sign,
    short="sum of experts",
    reasons=_if_tokens_are_skipped(NOTHING_ADDED),
    groups=("experts",),
)


def _sizes(router: Value, parameters: int, unused: int) -> Iterator[Sentence]:
    """Say what a token uses of the experts."""
    experts = router.shape[1]
    if unused:
        yield (
            f"The router chooses some of the {experts} experts for each token: at most "
            f"{parameters - unused:,} of the {parameters:,} parameters act on it.",
        )
    if experts > 1:
        yield (
            "How many tokens an expert gets depends on the numbers; here the tokens are spread "
            "evenly.",
        )


PART = LessonPart(
    kinds={
        "rms_norm_after": (ROUTER_STEP, ROUTING_STEP, EXPERT_INPUT_STEP, GATE_STEP, MIXTURE_STEP),
        **lesson_attribution.KINDS,
    },
    texts=lesson_attribution.TEXTS,
    operands={
        decoder.ROUTER: Symbol("W", "r"),
        decoder.ROUTER_BIAS: Symbol("b", "r"),
        decoder.SHARED_GATE: Symbol("w", "s"),
    },
    computed_sizes={decoder.ROUTER: _sizes},
    sizes_at_a_glance=(
        NamedSize("experts", decoder.ROUTER_LOGITS, 1, "networks that the router chooses from"),
    ),
)
