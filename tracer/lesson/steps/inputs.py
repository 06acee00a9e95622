"""Tokens, embeddings, positions, the encoder's vectors: what goes into the first layer."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.decoder.operations import Add, Copy, DivTerm, Pinned
from tracer.decoder.roles import (
    ANGLE,
    COS,
    DIV_TERM,
    EMBEDDING,
    ENCODER_OUTPUT,
    INPUT,
    POSITION,
    POSITION_INDEX,
    ROTARY_ANGLE,
    ROTARY_COS,
    ROTARY_DIV_TERM,
    ROTARY_INDEX,
    ROTARY_SIN,
    SIN,
    TOKEN_IDS,
    TOKENS,
)
from tracer.lesson.document import Block, Name, Paragraph, Sentence, Sign, Table
from tracer.lesson.expression import Call, Number, Power, Quotient, Sum, Symbol
from tracer.lesson.sizes import described
from tracer.lesson.steps.kind import Kind, Step, Telling
from tracer.lesson.told import Told

POS, D, TWO_K = Symbol("pos"), Symbol("d"), Symbol("2k")
D_K = Symbol("d", "k")


def _vectors(step: Step, told: Told) -> Sentence:
    width = Number.of(step.last.output.shape[-1])
    return (
        *("A vector is a list of numbers, here ", width, " for each token. Each place in it, a "),
        "feature, stands for something that tokens can have more or less of. In a trained model "
        "nobody chooses these numbers: training moves them until the predictions come out right, "
        "so that words which are used alike end up with vectors that are alike.",
    )


WAVE = Call("sin", (Quotient(Symbol("pos"), Power(Number.of(10000), Quotient(TWO_K, D))),))
"""The sinusoid of Vaswani et al. 2017."""


def _embedding_goal(step: Step, told: Told) -> Sentence:
    embedding = told.value(step.place, EMBEDDING)
    given = embedding and isinstance(told.trace.producers[embedding].operation, Pinned)
    if given or not isinstance(told.trace.scenario.embeddings, Mapping):
        return ("Each token becomes a vector, its embedding.",)
    return ("Each token is looked up in a table and becomes a vector, its embedding.",)


def _position_goal(step: Step, told: Told) -> Sentence:
    order = "Each position has a vector too, because attention alone does not see the order."
    index = step.records[0].output
    if not any(isinstance(record.operation, DivTerm) for record in step.records):
        return (order,)
    here, features = told.number(index, told.row(index)), step.last.output.shape[1]
    return (
        *(f"{order} Its numbers are waves, read off at the position ", POS, ": column ", TWO_K),
        *(" holds ", WAVE, ", the column behind it the cosine of the same. ", D, " is the number "),
        *(
            "of features, ",
            Number.of(features),
            " here; ",
            Symbol("k"),
            " numbers the pairs of columns from ",
        ),
        *("0 on. ", told.who, " stands at position ", here, "."),
    )


def _order(step: Step, told: Told) -> Sentence:
    return (
        "Attention adds vectors, and a sum does not depend on the order of what is added: without "
        "positions it would find the same in whatever order the tokens stand that it looks at.",
    )


def _added(step: Step, told: Told) -> Sentence:
    if isinstance(step.last.operation, Copy):
        return ()
    return (
        "They are added rather than set side by side, so that the vectors do not grow longer; "
        "what of a number is meaning and what is place, the weights that follow can learn to tell.",
    )


def _turning_goal(step: Step, told: Told) -> Sentence:
    frequencies = step.records[1].operation
    order = "A position is told by an angle here: queries and keys will be turned by it."
    if not isinstance(frequencies, DivTerm):
        return (order,)
    width = Number.of(frequencies.width)
    frequency = Power(Number(frequencies.base), Quotient(Symbol("-2k"), D_K))
    return (
        *(f"{order} Every pair of columns has a frequency, ", frequency, "; ", D_K, " is the "),
        *("number of columns of a query, ", width, " here, and ", Symbol("k"), " numbers the "),
        "pairs from 0 on. The angle is the position times the frequency.",
    )


def _turning_order(step: Step, told: Told) -> Sentence:
    return (
        "Attention adds vectors, and a sum does not depend on the order of what is added, so that "
        "positions have to come in somewhere. Turning leaves a vector as long as it was, and the "
        "embeddings remain what they are.",
    )


def _input_goal(step: Step, told: Told) -> Sentence:
    if isinstance(step.last.operation, Copy) and told.value(step.place, ROTARY_ANGLE):
        return ("Nothing is added for the positions: the embeddings go in as they are.",)
    if isinstance(step.last.operation, Copy):
        return ("There are no positions here: the embeddings go in as they are.",)
    return ("Embedding and position are added, so that each vector says what and where.",)


def _looked_up(step: Step, told: Told) -> list[Block]:
    """The tokens with their ids, and their vectors."""
    values = {record.output.role: record.output for record in step.records}
    written: list[Block] = []
    if TOKENS in values:
        tokens, ids = values[TOKENS].numbers, values.get(TOKEN_IDS)
        before = len(told.names) - len(tokens)
        header = ("position", *(["id"] if ids else []), "token")
        rows = tuple(
            (
                Name(str(before + i + 1)),
                *([Name(str(int(ids.numbers[i])))] if ids else []),
                Name(token),
            )
            for i, token in enumerate(tokens)
        )
        written.append(Table(header, rows, told.token - before))
    if EMBEDDING in values:
        embedding = values[EMBEDDING]
        written.append(Paragraph(described(embedding, told.symbols[embedding.address])))
        written.append(told.matrix(embedding))
    return written


def _input_sign(step: Step, told: Told) -> Sign:
    added = isinstance(step.last.operation, Add)
    return (Sum((Symbol("X"), Symbol("P"))) if added else Symbol("X′"),)


EMBEDDING_STEP = Kind(
    "embedding",
    "Tokens and embeddings",
    "the tokens as vectors",
    _embedding_goal,
    {
        TOKENS: Telling(Symbol("tokens")),
        TOKEN_IDS: Telling(Symbol("ids")),
        EMBEDDING: Telling(Symbol("X")),
    },
    sign=(Symbol("X"),),
    reason=_vectors,
    outcome=_looked_up,
)

POSITION_STEP = Kind(
    "position",
    "Positions",
    "a vector for each position",
    _position_goal,
    {
        POSITION_INDEX: Telling(POS),
        DIV_TERM: Telling(Symbol("ω"), "The frequencies, one for two columns:"),
        ANGLE: Telling(Symbol("θ"), "The position times each frequency:"),
        SIN: Telling(
            Call("sin", (Symbol("θ"),)),
            "The sines, for the even columns, counted from 0:",
        ),
        COS: Telling(Call("cos", (Symbol("θ"),)), "The cosines, for the odd ones:"),
        POSITION: Telling(Symbol("P")),
    },
    sign=(Symbol("P"),),
    reason=_order,
)

ROTARY_STEP = Kind(
    "rotary",
    "Angles of the positions",
    "an angle for each position and pair of columns",
    _turning_goal,
    {
        ROTARY_INDEX: Telling(POS),
        ROTARY_DIV_TERM: Telling(Symbol("ω"), "The frequencies, one for each pair of columns:"),
        ROTARY_ANGLE: Telling(Symbol("θ"), "The position times each frequency:"),
        ROTARY_SIN: Telling(Call("sin", (Symbol("θ"),)), "The sines:"),
        ROTARY_COS: Telling(Call("cos", (Symbol("θ"),)), "The cosines:"),
    },
    sign=(Symbol("θ"),),
    reason=_turning_order,
)

INPUT_STEP = Kind(
    "input",
    "Input vectors",
    "what goes into the decoder",
    _input_goal,
    {INPUT: Telling(Symbol("X′"))},
    sign=_input_sign,
    reason=_added,
)

ENCODER_STEP = Kind(
    "encoder",
    "Output of the encoder",
    "the encoder's tokens as vectors, given",
    ("The encoder has made one vector of each of the tokens that it has read.",),
    {ENCODER_OUTPUT: Telling(Symbol("E"))},
    sign=("encoder ", Symbol("E")),
    reason=(
        "An encoder may look at all of its input at once, because all of it is there from the "
        "start; a decoder has to make do with the words so far.",
    ),
)

KINDS = (EMBEDDING_STEP, POSITION_STEP, ROTARY_STEP, INPUT_STEP, ENCODER_STEP)
