"""Tokens, embeddings, positions, the encoder's vectors: what goes into the first layer."""

from __future__ import annotations

from tracer.decoder.operations import Copy, DivTerm
from tracer.decoder.roles import (
    ANGLE,
    COS,
    DIV_TERM,
    EMBEDDING,
    ENCODER_OUTPUT,
    INPUT,
    POSITION,
    POSITION_INDEX,
    SIN,
    TOKEN_IDS,
    TOKENS,
)
from tracer.lesson.document import Block, Name, Sentence, Table
from tracer.lesson.expression import Call, Symbol
from tracer.lesson.steps.kind import Kind, Step, Telling
from tracer.lesson.told import Told


def _position_goal(step: Step, told: Told) -> Sentence:
    order = "Attention alone does not see the order of the tokens, so each position has a vector "
    if any(isinstance(record.operation, DivTerm) for record in step.records):
        return (order + "too: waves of different lengths, read off at the position.",)
    return (order + "too.",)


def _input_goal(step: Step, told: Told) -> Sentence:
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
                *([Name(str(ids.numbers[i]))] if ids else []),
                Name(token),
            )
            for i, token in enumerate(tokens)
        )
        written.append(Table(header, rows, told.token - before))
    if EMBEDDING in values:
        written.append(told.matrix(values[EMBEDDING]))
    return written


EMBEDDING_STEP = Kind(
    "embedding",
    "Tokens and embeddings",
    "tokens become vectors",
    ("Each token is looked up in a table and becomes a vector, its embedding.",),
    {
        TOKENS: Telling(Symbol("tokens")),
        TOKEN_IDS: Telling(Symbol("ids")),
        EMBEDDING: Telling(Symbol("X")),
    },
    outcome=_looked_up,
)

POSITION_STEP = Kind(
    "position",
    "Positions",
    "a vector for each position",
    _position_goal,
    {
        POSITION_INDEX: Telling(Symbol("pos")),
        DIV_TERM: Telling(
            Symbol("ω"), "The frequencies, one for each sine and the cosine beside it:"
        ),
        ANGLE: Telling(Symbol("θ"), "The position times each frequency:"),
        SIN: Telling(
            Call("sin", (Symbol("θ"),)),
            "The sines, which go to the even columns, counted from 0:",
        ),
        COS: Telling(Call("cos", (Symbol("θ"),)), "The cosines, which go to the odd ones:"),
        POSITION: Telling(Symbol("P")),
    },
)

INPUT_STEP = Kind(
    "input",
    "Input vectors",
    "embedding plus position",
    _input_goal,
    {INPUT: Telling(Symbol("X′"))},
)

ENCODER_STEP = Kind(
    "encoder",
    "Output of the encoder",
    "the input's tokens as vectors, given",
    ("The encoder has read the input and made one vector of each of its tokens.",),
    {ENCODER_OUTPUT: Telling(Symbol("E"))},
)

KINDS = (EMBEDDING_STEP, POSITION_STEP, INPUT_STEP, ENCODER_STEP)
