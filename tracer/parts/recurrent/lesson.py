"""The steps of a head that keeps a state: gates, what is written, what is read."""

from __future__ import annotations

import numpy as np

from tracer.decoder.operations import Given, Reused
from tracer.decoder.roles import Role
from tracer.formula import expression as ex
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Name, Sentence
from tracer.lesson.steps.gradients import gradient_at, of_weights
from tracer.lesson.steps.kind import Gradient, InnerKind, Naming, RoleText, Step
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.names import count
from tracer.parts.recurrent import decoder
from tracer.parts.recurrent.decoder_chunks import DECAY
from tracer.parts.recurrent.lesson_chunks import CHUNK_STEP, CHUNKS_STEP
from tracer.parts.recurrent.scenario import AttentionKeys
from tracer.scenario.part import keys_of

ALPHA, BETA = ex.Symbol("α"), ex.Symbol("β")


def _of_token(base: str, caption: str | None = None) -> RoleText:
    """Return the text of a value whose symbol has the token's number: S₂."""
    return RoleText(lambda n: ex.Symbol(base, n.block, n.head), caption)


def _product(naming: Naming) -> ex.Expression:
    return ex.Product(naming.inputs)


def _keys(step: Step, ctx: LessonContext) -> AttentionKeys:
    part = ctx.attention_at(step.place)
    return keys_of(part, AttentionKeys) if part else AttentionKeys()


# --- gate and β ----------------------------------------------------------------------------------


def _given(step: Step, what: str) -> str:
    return f" The {what} is given." * isinstance(step.last.operation, Given)


def _gate_goal(step: Step, ctx: LessonContext) -> Sentence:
    gate = ctx.symbols[step.last.output.address]
    return (
        *("Before a token is written, the state is multiplied by the gate ", gate),
        f". A gate of 1 keeps the state, and a gate of 0 empties it.{_given(step, 'gate')}",
    )


def _strength_goal(step: Step, ctx: LessonContext) -> Sentence:
    strength = ctx.symbols[step.last.output.address]
    given = " It is given." * isinstance(step.last.operation, Given)
    return (
        *("A token writes ", strength, " times its error: with 0 it writes nothing, with 1 the "),
        f"whole error.{given}",
    )


GATE_STEP = InnerKind(
    "state_gate",
    "Gate",
    "how much of the state each token keeps",
    _gate_goal,
    {
        decoder.GATE_LOGITS: RoleText(ex.Symbol("a"), "Before the function of the gate:"),
        decoder.GATE_RATE: RoleText(ex.Symbol("r"), "The rate:"),
        decoder.GATE: RoleText(ALPHA, "The gate:"),
    },
    gradient=Gradient(
        "at the gate",
        gradient_at("each gate"),
        (decoder.W_A, decoder.B_A, decoder.A_LOG),
        reasons=of_weights,
    ),
    sign=(ALPHA,),
    groups=("recurrent",),
)

STRENGTH_STEP = InnerKind(
    "beta",
    "Strength of writing",
    "how much of its error each token writes",
    _strength_goal,
    {
        decoder.STRENGTH_LOGITS: RoleText(ex.Symbol("b"), "Before the sigmoid:"),
        decoder.STRENGTH: RoleText(BETA, "The share of the error:"),
    },
    gradient=Gradient(
        "at the strength of writing",
        gradient_at("each strength of writing"),
        (decoder.W_B, decoder.B_B),
        reasons=of_weights,
    ),
    sign=(BETA,),
    short="writing strength",
    groups=("recurrent",),
)


# --- queries and keys ----------------------------------------------------------------------------

POSITIVE: Sentence = (
    "elu(x) + 1 is positive, so that no product of a query and a key is negative.",
)


def _vector_kinds(what: str, several: str, of: decoder.VectorRoles) -> tuple[InnerKind, InnerKind]:
    """Return the steps of φ and of the length of queries or keys."""
    letter = what[0].upper()

    def mapped_goal(step: Step, ctx: LessonContext) -> Sentence:
        name = "elu(x) + 1" if _keys(step, ctx).feature_map == "elu_plus_1" else "ReLU"
        return (f"The feature map {name} is applied to each number of the {several}.",)

    def why_mapped(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
        return (POSITIVE,) if _keys(step, ctx).feature_map == "elu_plus_1" else ()

    mapped = InnerKind(
        f"mapped_{what}",
        f"{what.capitalize()} after the feature map",
        f"the {what} of each token after the feature map",
        mapped_goal,
        {of.mapped: RoleText(head_symbol(letter, "f"))},
        gradient=Gradient(f"at the {what} after the feature map", f"each mapped {what}"),
        sign=("map of ", ex.Symbol(letter)),
        short=f"mapped {what}",
        reasons=why_mapped,
        groups=("recurrent",),
    )
    unit = InnerKind(
        f"unit_{what}",
        f"{what.capitalize()} of length 1",
        f"the {what} of each token, divided by its length",
        (f"Each {what} is divided by its length, the root of the sum of its squares.",),
        {
            of.squares: RoleText(
                lambda n: ex.Call("sum", (ex.Power(n.inputs[0], ex.Number.of(2)),)),
                "The sum of squares:",
            ),
            of.length: RoleText(head_symbol("l", letter), "The length:"),
            of.unit: RoleText(head_symbol(letter, "1")),
        },
        gradient=Gradient(f"at the {what} of length 1", f"each {what} of length 1"),
        sign=(ex.Symbol(letter), " of length 1"),
        short=f"unit {what}",
        groups=("recurrent",),
    )
    return mapped, unit


MAPPED_QUERY_STEP, UNIT_QUERY_STEP = _vector_kinds("query", "queries", decoder.QUERIES)
MAPPED_KEY_STEP, UNIT_KEY_STEP = _vector_kinds("key", "keys", decoder.KEYS)


def _divisor(naming: Naming) -> ex.Expression:
    return ex.Root(naming.inputs[0]) if naming.inputs else ex.Symbol("c")


SCALED_STEP = InnerKind(
    "scaled_query",
    "Scaled query",
    "the query of each token, divided by a constant",
    lambda step, ctx: (
        *("The queries are divided by ", ctx.symbols[step.last.inputs[1].address]),
        *(", as scores are in attention with a softmax.",),
    ),
    {
        decoder.WIDTH: RoleText(ex.Symbol("d", "k")),
        decoder.SCALE: RoleText(_divisor, "The divisor of the queries:"),
        decoder.SCALED_QUERY: RoleText(head_symbol("Q", "s")),
    },
    gradient=Gradient("at the scaled query", "each scaled query"),
    sign=("scaled ", ex.Symbol("Q")),
    short="scaled query",
    groups=("recurrent",),
)


# --- the state -----------------------------------------------------------------------------------


def _token(step: Step, ctx: LessonContext) -> Sentence:
    """The name of the step's token."""
    return (Name(ctx.names[(step.place.token or 1) - 1]),)


def _roles(step: Step) -> dict[Role, int]:
    return {record.output.role: i for i, record in enumerate(step.records)}


BEGINS: Sentence = (
    "The state is a matrix with a row for each column of the keys and a column for each column of "
    "the values. It begins with zeros. ",
)


def _state_goal(step: Step, ctx: LessonContext) -> Sentence:
    if isinstance(step.last.operation, Reused):
        return ("The state after the tokens of the previous turn is reused.",)
    roles, name = _roles(step), _token(step, ctx)
    delta = _keys(step, ctx).kind == "delta"
    if decoder.WRITTEN not in roles:
        what = "β times its value" if decoder.CORRECTION in roles else "its value"
        return (*BEGINS, *name, f" adds its key times {what}.")
    gated: Sentence = ("The gate multiplies the state before. ",) if decoder.KEPT in roles else ()
    if not delta:
        return (*gated, *name, " adds its key times its value to the state.")
    times = ", multiplied by β," * (decoder.CORRECTION in roles)
    return (
        *(*gated, "For the key of ", *name, ", the state returns a prediction. The error is the "),
        *("difference between the token's value and this prediction. The key times the error"),
        f"{times} is added to the state.",
    )


def _sizes(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Compare the state with keys and values, whose number grows with the tokens."""
    part = ctx.attention_at(step.place)
    if part is None or any(head.shares for head in part.heads):
        return ()
    kept = next(r.output for r in step.records if r.output.role is decoder.STATE)
    return (size_beside_keys_and_values(kept.shape, normalizer=_keys(step, ctx).normalizer),)


def size_beside_keys_and_values(shape: tuple[int, ...], *, normalizer: bool) -> Sentence:
    """`The state has 4 numbers …; keys and values …, more than the state from 2 tokens on.`"""
    d_k, d_v = shape
    size = d_k * d_v + d_k * normalizer
    each = d_k + d_v
    of_keys = f" and the sum of the keys have {size:,}" if normalizer else f" has {size:,}"
    return (
        f"The state{of_keys} numbers, whatever the number of tokens. The keys and values of a "
        f"cache have {each:,} for each token: from {count(size // each + 1, 'token')} on, they are "
        "more than the state.",
    )


def _state_claim(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say what the gate forgets, and what the state returns for the token's key afterwards."""
    if step.is_partly_given or isinstance(step.last.operation, Reused):
        return None
    found = {record.output.role: record for record in step.records}
    kept = found.get(decoder.KEPT)
    gate = FORGETS.get(float(kept.inputs[1].numbers)) if kept else None
    returns = _returned(step, ctx) if _keys(step, ctx).kind == "delta" else None
    return (*gate, " ", *returns) if gate and returns else gate or returns


FORGETS: dict[float, Sentence] = {
    0: ("The gate is 0: the state forgets all tokens before.",),
    1: ("The gate is 1: the state forgets nothing.",),
}


def _returned(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say so if the state returns the token's value for its key: it has replaced another one."""
    found = {record.output.role: record.output for record in step.records}
    k, v, name = found[decoder.OWN_KEY], found[decoder.OWN_VALUE], _token(step, ctx)
    error = found.get(decoder.ERROR)
    if error and not error.array.any():
        return ("The state already returns the value of ", *name, " for its key: nothing changes.")
    if np.allclose(k.array @ found[decoder.STATE].array, v.array, rtol=1e-9, atol=1e-12):
        return ("The state now returns the value of ", *name, " for its key.")
    return None


STATE_STEP = InnerKind(
    "state",
    "State after token",
    "the state of the head after one more token",
    _state_goal,
    {
        decoder.OWN_KEY: _of_token("k", "Its key:"),
        decoder.OWN_VALUE: _of_token("v", "Its value:"),
        decoder.OWN_GATE: _of_token("α", "Its gate:"),
        decoder.OWN_STRENGTH: _of_token("β", "Its share of the error:"),
        decoder.KEPT: _of_token("S′", "What the gate keeps of the state:"),
        decoder.PREDICTED: _of_token("v̂", "What the state returns for the key:"),
        decoder.ERROR: _of_token("e", "The error:"),
        decoder.CORRECTION: _of_token("u", "What is written for the key:"),
        decoder.WRITTEN: RoleText(
            lambda n: ex.MatrixProduct(ex.Transposed(n.inputs[0]), n.inputs[1]),
            "What is added to the state:",
        ),
        decoder.KEPT_SUM: RoleText(_product, "What the gate keeps of the sum of the keys:"),
        decoder.KEY_SUM: _of_token("z", "The sum of the keys:"),
        decoder.STATE: _of_token("S", "The state:"),
    },
    gradient=Gradient("at the state after token", gradient_at("the state")),
    sign=None,
    reasons=_sizes,
    claim=_state_claim,
    groups=("recurrent",),
)

READ_STEP = InnerKind(
    "read",
    "Output for token",
    "what the query of a token reads from the state",
    lambda step, ctx: _read_goal(step, ctx),
    {
        decoder.OWN_QUERY: _of_token("q", "Its query:"),
        decoder.NUMERATOR: RoleText(
            lambda n: ex.MatrixProduct(*n.inputs), "What the query reads from the state:"
        ),
        decoder.DIVISOR: _of_token("c", "The product of the query and the sum of the keys:"),
        decoder.READ: _of_token("o", "The output:"),
    },
    gradient=Gradient("at the output for token", gradient_at("the output for the token")),
    sign=None,
    groups=("recurrent",),
)


def _read_goal(step: Step, ctx: LessonContext) -> Sentence:
    name = _token(step, ctx)
    if any(record.output.role is decoder.DIVISOR for record in step.records):
        return (
            *("The query of ", *name, " reads the state. The result is divided by the product of "),
            "the query and the sum of the keys, so that the weights of all values add up to 1.",
        )
    return ("The output for ", *name, " is its query times the state.")


OUTPUT_STEP = InnerKind(
    "recurrent_output",
    "Outputs of all tokens",
    "what the queries of all tokens read from the state",
    ("The outputs of all tokens form the rows of one matrix.",),
    {decoder.OUTPUT: RoleText(head_symbol("O"))},
    gradient=Gradient("at the outputs of all tokens", "the outputs of all tokens"),
    sign=("state",),
    short="state",
    groups=("recurrent",),
)

PART = LessonPart(
    kinds={
        "encoder": (GATE_STEP, STRENGTH_STEP),
        "value": (
            *(MAPPED_QUERY_STEP, UNIT_QUERY_STEP, SCALED_STEP, MAPPED_KEY_STEP, UNIT_KEY_STEP),
            *(STATE_STEP, READ_STEP, OUTPUT_STEP, CHUNK_STEP, CHUNKS_STEP),
        ),
    },
    operands={
        decoder.W_A: ex.Symbol("W", "A"),
        decoder.B_A: ex.Symbol("b", "A"),
        decoder.A_LOG: ex.Symbol("A", "log"),
        decoder.W_B: ex.Symbol("W", "B"),
        decoder.B_B: ex.Symbol("b", "B"),
    },
    shown_alone=(
        *(decoder.GATE, decoder.STRENGTH, decoder.SCALE),
        *(decoder.OWN_GATE, decoder.OWN_STRENGTH, DECAY, decoder.KEY_SUM),
    ),
    cached={decoder.STATE: "states", decoder.KEY_SUM: "sums of keys"},
)
