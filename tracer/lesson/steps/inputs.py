"""Tokens, embeddings, positions, the encoder's vectors: what goes into the first layer."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.decoder import roles
from tracer.decoder.elementwise import Add
from tracer.decoder.operations import Copy, DivTerm, Pinned, Reused
from tracer.formula.expression import Call, Expression, Number, Power, Quotient, Sum, Symbol
from tracer.lesson.document import Block, Name, Paragraph, Sentence, Sign, Table
from tracer.lesson.sizes import described
from tracer.lesson.steps.kind import Kind, Step, Telling
from tracer.lesson.told import Told

POS, D, TWO_K = Symbol("pos"), Symbol("d"), Symbol("2k")
D_K, FACTOR = Symbol("d", "k"), Symbol("f", "k")


PIECES: Sentence = (
    "A token is a piece of text, often a word; large models have parts of words too, so that they "
    "can represent any text.",
)

REGIONS: Sentence = (
    "What an encoder reads need not be text: its tokens may be the regions of a picture, too.",
)

IDS: Sentence = ("Its id is the number by which the model knows it.",)


def _why_vectors(step: Step, told: Told) -> tuple[Sentence, ...]:
    width = Number.of(step.last.output.shape[-1])
    ids = any(record.output.role is roles.TOKEN_IDS for record in step.records)
    named = " Here the author has named the features." * (told.tower.features is not None)
    vectors: Sentence = (
        *("A vector is a list of numbers, here ", width, " for each token; each place in it is a "),
        "feature. In a trained model these numbers are learned, so that a single feature rarely "
        f"has a meaning that a person could name.{named}",
    )
    what = REGIONS if told.in_encoder else PIECES
    return (what, *([IDS] if ids else []), vectors)


WAVE = Call("sin", (Quotient(Symbol("pos"), Power(Number.of(10000), Quotient(TWO_K, D))),))
"""The sinusoid of Vaswani et al. 2017."""


def _embedding_goal(step: Step, told: Told) -> Sentence:
    embedding = told.value(step.place, roles.EMBEDDING)
    given = embedding and isinstance(told.trace.producers[embedding].operation, Pinned)
    if given or not isinstance(told.tower.embeddings, Mapping):
        return ("Each token becomes a vector, its embedding.",)
    return ("Each token is looked up in a table and becomes a vector, its embedding.",)


def _position_goal(step: Step, told: Told) -> Sentence:
    why = ", because attention alone does not see the order" * told.attends
    order = f"Each position has a vector too{why}."
    index = step.records[0].output
    if not _waves(step):
        return (order,)
    here, features = told.number(index, told.row(index)), step.last.output.shape[1]
    first = here.value - told.token
    counted: Sentence = () if first == 1 else (", counted from ", Number(first))
    return (
        *(f"{order} Its numbers are waves, read off at the position ", POS, ": column ", TWO_K),
        *(" holds ", WAVE, ", the column behind it the cosine of the same. ", D, " is the number "),
        *("of features, ", Number.of(features), " here; ", Symbol("k"), " numbers the pairs of "),
        *("columns from 0 on. ", told.who, " stands at position ", here, *counted, "."),
    )


def _waves(step: Step) -> bool:
    """Whether the positions are computed from sine and cosine."""
    return any(isinstance(record.operation, DivTerm) for record in step.records)


ORDER: Sentence = (
    "Attention adds vectors, and a sum does not depend on the order of what is added: by itself, "
    "attention ignores the order of the tokens that it looks at.",
)

HANDS_OF_A_CLOCK: Sentence = (
    "The first wave is the fastest, the last the slowest, so that together they tell near "
    "positions apart and far ones too, as the hands of a clock do.",
)

FROM_A_TABLE: Sentence = (
    "They are taken from a table here, so that a model can learn them like the embeddings.",
)


def _why_positions(step: Step, told: Told) -> tuple[Sentence, ...]:
    order = [ORDER] if told.attends else []
    positions = told.tower.positions
    if positions and positions.table is not None:
        return (*order, FROM_A_TABLE)
    several = _waves(step) and step.last.output.shape[1] > 2
    return (*order, *([HANDS_OF_A_CLOCK] if several else []))


SHORT: Sentence = (
    "They are added rather than set side by side, so that the vectors do not grow longer.",
)

TOLD_APART: Sentence = ("Later weights can learn to separate meaning from position.",)


def _why_added(step: Step, told: Told) -> tuple[Sentence, ...]:
    if isinstance(step.last.operation, Copy):
        return ()
    return (SHORT, TOLD_APART) if told.layers else (SHORT,)


def _turning_goal(step: Step, told: Told) -> Sentence:
    frequencies = step.records[1].operation
    order = "A position is told by an angle here: queries and keys will be turned by it."
    if not isinstance(frequencies, DivTerm):
        return (order,)
    width = Number.of(frequencies.width)
    frequency: Expression = Power(Number(frequencies.base), Quotient(Symbol("-2k"), D_K))
    divided: Sentence = ()
    if frequencies.factors:
        frequency = Quotient(frequency, FACTOR)
        divided = (" ", FACTOR, " is a factor that is set for each pair.")
    return (
        *(f"{order} Every pair of columns has a frequency, ", frequency, "; ", D_K, " is the "),
        *("number of columns of a query, ", width, " here, and ", Symbol("k"), " numbers the "),
        *("pairs from 0 on.", *divided, " The angle is the position times the frequency."),
    )


TURNED: Sentence = (
    f"{ORDER[0]} Positions come in by turning, because that leaves a vector as long as it was, and "
    "the embeddings as they are.",
)


def _both_waves(step: Step, told: Told) -> list[Block]:
    """Sines and cosines of all tokens: queries and keys are turned by both."""
    values = (record.output for record in step.records)
    return [
        told.matrix(value) for value in values if value.role in (roles.ROTARY_SIN, roles.ROTARY_COS)
    ]


def _input_goal(step: Step, told: Told) -> Sentence:
    if isinstance(step.last.operation, Copy):
        turns = told.value(step.place, roles.ROTARY_ANGLE)
        why = "Nothing is added for the positions" if turns else "There are no positions here"
        return (f"{why}: the embedding goes in {told.passed_on(step.last)}.",)
    return ("Embedding and position are added, so that each vector says what and where.",)


def _looked_up(step: Step, told: Told) -> list[Block]:
    """The tokens with their ids, and their vectors."""
    values = {record.output.role: record.output for record in step.records}
    written: list[Block] = []
    if roles.TOKENS in values:
        tokens, ids = values[roles.TOKENS].numbers, values.get(roles.TOKEN_IDS)
        before = len(told.names) - len(tokens)
        columns = {"position": [Name(str(i + 1)) for i in range(before, len(told.names))]}
        if ids:
            columns["id"] = [Name(str(int(number))) for number in ids.numbers]
        columns["token"] = list(map(Name, tokens))
        rows = tuple(zip(*columns.values(), strict=True))
        written.append(Table(tuple(columns), rows, told.token - before))
    if roles.EMBEDDING in values:
        embedding = values[roles.EMBEDDING]
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
        roles.TOKENS: Telling(Symbol("tokens")),
        roles.TOKEN_IDS: Telling(Symbol("ids")),
        roles.EMBEDDING: Telling(Symbol("X")),
    },
    sign=(Symbol("X"),),
    reasons=_why_vectors,
    outcome=_looked_up,
)

POSITION_STEP = Kind(
    "position",
    "Positions",
    "a vector for each position",
    _position_goal,
    {
        roles.POSITION_INDEX: Telling(POS),
        roles.DIV_TERM: Telling(Symbol("ω"), "The frequencies, one for two columns:"),
        roles.ANGLE: Telling(Symbol("θ"), "The position times each frequency:"),
        roles.SIN: Telling(
            Call("sin", (Symbol("θ"),)),
            "The sines, for the even columns, counted from 0:",
        ),
        roles.COS: Telling(Call("cos", (Symbol("θ"),)), "The cosines, for the odd ones:"),
        roles.POSITION: Telling(Symbol("P")),
    },
    sign=(Symbol("P"),),
    reasons=_why_positions,
)

ROTARY_STEP = Kind(
    "rotary",
    "Angles of the positions",
    "an angle for each position and pair of columns",
    _turning_goal,
    {
        roles.ROTARY_INDEX: Telling(POS),
        roles.ROTARY_DIV_TERM: Telling(
            Symbol("ω"), "The frequencies, one for each pair of columns:"
        ),
        roles.ROTARY_ANGLE: Telling(Symbol("θ"), "The position times each frequency:"),
        roles.ROTARY_SIN: Telling(Call("sin", (Symbol("θ"),)), "The sines:"),
        roles.ROTARY_COS: Telling(Call("cos", (Symbol("θ"),)), "The cosines:"),
    },
    sign=(Symbol("θ"), " turns ", Symbol("Q"), ", ", Symbol("K")),
    reasons=(TURNED,),
    outcome=_both_waves,
)

INPUT_STEP = Kind(
    "input",
    "Input vectors",
    "what goes into the first layer",
    _input_goal,
    {roles.INPUT: Telling(Symbol("X′"))},
    sign=_input_sign,
    reasons=_why_added,
)


def _encoder_goal(step: Step, told: Told) -> Sentence:
    goes = "goes to the decoder" if told.attends_to_the_encoder else "is the encoder's output"
    match step.last.operation:
        case Reused():
            return ("The encoder's vectors are reused from the first turn: it reads nothing new.",)
        case Copy() if told.of_encoder.layers:
            return (
                f"What leaves the encoder's last layer {goes}: a vector for each of the tokens "
                "that the encoder has read.",
            )
        case Copy():
            return (f"The encoder has no layers: what goes into it {goes}.",)
        case _:
            return ("The encoder has made one vector of each of the tokens that it has read.",)


ENCODER_STEP = Kind(
    "encoder",
    "Output of the encoder",
    "the encoder's tokens as vectors",
    _encoder_goal,
    {roles.ENCODER_OUTPUT: Telling(Symbol("E"))},
    sign=("encoder ", Symbol("E")),
    reasons=(
        (
            "An encoder may look at all of its input at once, because all of it is there from the "
            "start; a decoder that writes a text has only the words so far.",
        ),
    ),
)

OF_EACH_TOWER = (EMBEDDING_STEP, POSITION_STEP, ROTARY_STEP, INPUT_STEP)
"""What goes into an encoder's layers as into a decoder's."""

KINDS = (*OF_EACH_TOWER, ENCODER_STEP)
