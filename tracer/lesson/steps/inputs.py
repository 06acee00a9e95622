"""Tokens, embeddings, positions, the encoder's vectors: what goes into the first layer."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.decoder import roles
from tracer.decoder.elementwise import Add
from tracer.decoder.operations import Copy, DivTerm, Pinned, Reused
from tracer.formula import expression as ex
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.kind import RoleText, Step, StepKind
from tracer.lesson.working.formula_shapes import described

POS, D, TWO_K = ex.Symbol("pos"), ex.Symbol("d"), ex.Symbol("2k")
D_K, FACTOR = ex.Symbol("d", "k"), ex.Symbol("f", "k")


PIECES: doc.Sentence = (
    "A token is a piece of text, often a word; large models have parts of words too, so that they "
    "can represent any text.",
)

REGIONS: doc.Sentence = (
    "What an encoder reads need not be text: its tokens may be the regions of a picture, too.",
)

IDS: doc.Sentence = ("Its id is the number by which the model knows it.",)


def _why_vectors(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    width = ex.Number.of(step.last.output.shape[-1])
    ids = any(record.output.role is roles.TOKEN_IDS for record in step.records)
    named = " Here the author has named the features." * (ctx.tower.features is not None)
    vectors: doc.Sentence = (
        *("A vector is a list of numbers, here ", width, " for each token; each place in it is a "),
        "feature. In a trained model these numbers are learned, so that a single feature rarely "
        f"has a meaning that a person could name.{named}",
    )
    what = REGIONS if ctx.in_encoder else PIECES
    return (what, *([IDS] if ids else []), vectors)


WAVE = ex.Call(
    "sin", (ex.Quotient(ex.Symbol("pos"), ex.Power(ex.Number.of(10000), ex.Quotient(TWO_K, D))),)
)
"""The sinusoid of Vaswani et al. 2017."""


def _embedding_goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    given = isinstance(ctx.operation(step.place, roles.EMBEDDING), Pinned)
    if given or not isinstance(ctx.tower.embeddings, Mapping):
        return ("Each token becomes a vector, its embedding.",)
    return ("Each token is looked up in a table and becomes a vector, its embedding.",)


def _position_goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    why = ", because attention alone does not see the order" * ctx.attends
    order = f"Each position has a vector too{why}."
    index = step.records[0].output
    if not _waves(step):
        return (order,)
    here, features = ctx.number(index, ctx.row(index)), step.last.output.shape[1]
    first = here.value - ctx.token
    counted: doc.Sentence = () if first == 1 else (", counted from ", ex.Number(first))
    return (
        *(f"{order} Its numbers are waves, read off at the position ", POS, ": column ", TWO_K),
        *(" holds ", WAVE, ", the column behind it the cosine of the same. ", D, " is the number "),
        *(
            "of features, ",
            ex.Number.of(features),
            " here; ",
            ex.Symbol("k"),
            " numbers the pairs of ",
        ),
        *("columns from 0 on. ", ctx.name, " stands at position ", here, *counted, "."),
    )


def _waves(step: Step) -> bool:
    """Whether the positions are computed from sine and cosine."""
    return any(isinstance(record.operation, DivTerm) for record in step.records)


ORDER: doc.Sentence = (
    "Attention adds vectors, and a sum does not depend on the order of what is added: by itself, "
    "attention ignores the order of the tokens that it looks at.",
)

HANDS_OF_A_CLOCK: doc.Sentence = (
    "The first wave is the fastest, the last the slowest, so that together they tell near "
    "positions apart and far ones too, as the hands of a clock do.",
)

FROM_A_TABLE: doc.Sentence = (
    "They are taken from a table here, so that a model can learn them like the embeddings.",
)


def _why_positions(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    order = [ORDER] if ctx.attends else []
    positions = ctx.tower.positions
    if positions and positions.table is not None:
        return (*order, FROM_A_TABLE)
    several = _waves(step) and step.last.output.shape[1] > 2
    return (*order, *([HANDS_OF_A_CLOCK] if several else []))


SHORT: doc.Sentence = (
    "They are added rather than set side by side, so that the vectors do not grow longer.",
)

TOLD_APART: doc.Sentence = ("Later weights can learn to separate meaning from position.",)


def _why_added(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    if isinstance(step.last.operation, Copy):
        return ()
    return (SHORT, TOLD_APART) if ctx.layers else (SHORT,)


def _turning_goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    frequencies = step.records[1].operation
    order = "A position is told by an angle here: queries and keys will be turned by it."
    if not isinstance(frequencies, DivTerm):
        return (order,)
    width = ex.Number.of(frequencies.width)
    frequency: ex.Expression = ex.Power(
        ex.Number(frequencies.base), ex.Quotient(ex.Symbol("-2k"), D_K)
    )
    divided: doc.Sentence = ()
    if frequencies.factors:
        frequency = ex.Quotient(frequency, FACTOR)
        divided = (" ", FACTOR, " is a factor that is set for each pair.")
    return (
        *(f"{order} Every pair of columns has a frequency, ", frequency, "; ", D_K, " is the "),
        *("number of columns of a query, ", width, " here, and ", ex.Symbol("k"), " numbers the "),
        *("pairs from 0 on.", *divided, " The angle is the position times the frequency."),
    )


TURNED: doc.Sentence = (
    f"{ORDER[0]} Positions come in by turning, because that leaves a vector as long as it was, and "
    "the embeddings as they are.",
)


def _both_waves(step: Step, ctx: LessonContext) -> list[doc.Block]:
    """Sines and cosines of all tokens: queries and keys are turned by both."""
    values = (record.output for record in step.records)
    return [
        ctx.matrix(value) for value in values if value.role in (roles.ROTARY_SIN, roles.ROTARY_COS)
    ]


def _input_goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    if isinstance(step.last.operation, Copy):
        turns = ctx.value(step.place, roles.ROTARY_ANGLE)
        why = "Nothing is added for the positions" if turns else "There are no positions here"
        return (f"{why}: the embedding goes in {ctx.passed_on(step.last)}.",)
    return ("Embedding and position are added, so that each vector says what and where.",)


def _looked_up(step: Step, ctx: LessonContext) -> list[doc.Block]:
    """The tokens with their ids, and their vectors."""
    values = {record.output.role: record.output for record in step.records}
    written: list[doc.Block] = []
    if roles.TOKENS in values:
        tokens, ids = values[roles.TOKENS].numbers, values.get(roles.TOKEN_IDS)
        before = len(ctx.names) - len(tokens)
        columns = {"position": [str(i + 1) for i in range(before, len(ctx.names))]}
        if ids:
            columns["id"] = [str(int(number)) for number in ids.numbers]
        columns["token"] = list(tokens)
        rows = zip(*columns.values(), strict=True)
        written.append(doc.Table.of(columns, rows, ctx.token - before))
    if roles.EMBEDDING in values:
        embedding = values[roles.EMBEDDING]
        written.append(doc.Paragraph(described(embedding, ctx.symbols[embedding.address])))
        written.append(ctx.matrix(embedding))
    return written


def _input_sign(step: Step, ctx: LessonContext) -> doc.Sign:
    added = isinstance(step.last.operation, Add)
    return (ex.Sum((ex.Symbol("X"), ex.Symbol("P"))) if added else ex.Symbol("X′"),)


EMBEDDING_STEP = StepKind(
    "embedding",
    "Tokens and embeddings",
    "the tokens as vectors",
    _embedding_goal,
    {
        roles.TOKENS: RoleText(ex.Symbol("tokens")),
        roles.TOKEN_IDS: RoleText(ex.Symbol("ids")),
        roles.EMBEDDING: RoleText(ex.Symbol("X")),
    },
    sign=(ex.Symbol("X"),),
    reasons=_why_vectors,
    outcome=_looked_up,
)

POSITION_STEP = StepKind(
    "position",
    "Positions",
    "a vector for each position",
    _position_goal,
    {
        roles.POSITION_INDEX: RoleText(POS),
        roles.DIV_TERM: RoleText(ex.Symbol("ω"), "The frequencies, one for two columns:"),
        roles.ANGLE: RoleText(ex.Symbol("θ"), "The position times each frequency:"),
        roles.SIN: RoleText(
            ex.Call("sin", (ex.Symbol("θ"),)),
            "The sines, for the even columns, counted from 0:",
        ),
        roles.COS: RoleText(ex.Call("cos", (ex.Symbol("θ"),)), "The cosines, for the odd ones:"),
        roles.POSITION: RoleText(ex.Symbol("P")),
    },
    sign=(ex.Symbol("P"),),
    reasons=_why_positions,
)

ROTARY_STEP = StepKind(
    "rotary",
    "Angles of the positions",
    "an angle for each position and pair of columns",
    _turning_goal,
    {
        roles.ROTARY_INDEX: RoleText(POS),
        roles.ROTARY_DIV_TERM: RoleText(
            ex.Symbol("ω"), "The frequencies, one for each pair of columns:"
        ),
        roles.ROTARY_ANGLE: RoleText(ex.Symbol("θ"), "The position times each frequency:"),
        roles.ROTARY_SIN: RoleText(ex.Call("sin", (ex.Symbol("θ"),)), "The sines:"),
        roles.ROTARY_COS: RoleText(ex.Call("cos", (ex.Symbol("θ"),)), "The cosines:"),
    },
    sign=(ex.Symbol("θ"), " turns ", ex.Symbol("Q"), ", ", ex.Symbol("K")),
    reasons=(TURNED,),
    outcome=_both_waves,
)

INPUT_STEP = StepKind(
    "input",
    "Input vectors",
    "what goes into the first layer",
    _input_goal,
    {roles.INPUT: RoleText(ex.Symbol("X′"))},
    sign=_input_sign,
    reasons=_why_added,
)


def _encoder_goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    goes = "goes to the decoder" if ctx.attends_to_the_encoder else "is the encoder's output"
    match step.last.operation:
        case Reused():
            return ("The encoder's vectors are reused from the first turn: it reads nothing new.",)
        case Copy() if ctx.of_encoder.layers:
            return (
                f"What leaves the encoder's last layer {goes}: a vector for each of the tokens "
                "that the encoder has read.",
            )
        case Copy():
            return (f"The encoder has no layers: what goes into it {goes}.",)
        case _:
            return ("The encoder has made one vector of each of the tokens that it has read.",)


ENCODER_STEP = StepKind(
    "encoder",
    "Output of the encoder",
    "the encoder's tokens as vectors",
    _encoder_goal,
    {roles.ENCODER_OUTPUT: RoleText(ex.Symbol("E"))},
    sign=("encoder ", ex.Symbol("E")),
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
