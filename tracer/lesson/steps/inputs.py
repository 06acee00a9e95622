"""Tokens, embeddings, positions, the encoder's vectors: what goes into the first layer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tracer.decoder import roles
from tracer.decoder.elementwise import Add
from tracer.decoder.operations import Copy, DivTerm, Pinned, Reused
from tracer.decoder.part import own_way, parts
from tracer.decoder.value import Value
from tracer.formula import expression as ex
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext, listed, the_counted
from tracer.lesson.steps.gradients import learns, summed_at
from tracer.lesson.steps.kind import Gradient, RoleText, Step, StepKind
from tracer.lesson.steps.positions import positions
from tracer.lesson.working.formula_shapes import described
from tracer.scenario.model import FixedPositions

POS, D, TWO_K = ex.Symbol("pos"), ex.Symbol("d"), ex.Symbol("2k")
FACTOR = ex.Symbol("f", "k")
D_MODEL = ex.Symbol("d", "model")
ROOT = ex.Root(D_MODEL)


PIECES: doc.Sentence = (
    "Large models cut rare words into known pieces, down to single bytes, so that they can "
    "represent any text; byte-pair encoding (BPE) is one way.",
)

REGIONS: doc.Sentence = (
    "An encoder's tokens need not be text: they can also be regions of a picture.",
)

IDS = "In the model, a number stands for each token, its id"
MOST_IDS = 12
"""So many ids are listed in a sentence."""


def _ids(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, doc.Sentence]:
    """What an id is, with those of a short text; that the table has more rows than are listed."""
    read = (r.output for r in step.records if r.output.role is roles.TOKEN_IDS)
    ids = [str(int(number)) for value in read for number in value.numbers]
    if not ids:
        return (), ()
    table = ctx.tower.embeddings
    rows = len(table) if isinstance(table, Mapping) else len(ids)
    few = f" Only {rows} rows of the table are listed here, each by its token."
    is_part = isinstance(table, Mapping) and any(int(each) > rows for each in ids)
    known = () if len(ids) > MOST_IDS else (": ", *listed(ctx.names), f" → [{', '.join(ids)}]")
    return (IDS, *known, ". "), (few,) * is_part


def _why_vectors(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    width = ex.Number.of(step.last.output.shape[-1])
    named = " Here the author has named them." * (ctx.tower.features is not None)
    vectors: doc.Sentence = (
        *("A vector is a list of numbers, here ", width, " for each token; each column is a "),
        *("feature. In a trained model, the numbers of ", ctx.name, " are learned, so that a "),
        f"single feature rarely has a meaning that a person could name.{named}",
    )
    what = REGIONS if ctx.in_encoder else PIECES
    return (what, vectors)


WAVE = ex.Call(
    "sin", (ex.Quotient(ex.Symbol("pos"), ex.Power(ex.Number.of(10000), ex.Quotient(TWO_K, D))),)
)
"""The sinusoid of Vaswani et al. 2017."""


def _embedding_goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    given = isinstance(ctx.operation(step.place, roles.EMBEDDING), Pinned)
    if given or not isinstance(ctx.tower.embeddings, Mapping):
        return ("Each token is represented by a vector, its embedding.",)
    such: doc.Sentence = ("A token, such as ", ctx.name, ", is a piece of text, often a word. ")
    tokens = the_counted(step.last.output.shape[0], "token")
    row: doc.Sentence = (" in a table; the row of ", ctx.name, " is a vector, its embedding.")
    ids, few = _ids(step, ctx)
    begins = () if ctx.in_encoder else such
    return (*begins, *ids, "The model looks up ", *tokens, *row, *few)


def _position_goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    own = "Each position has its own vector."
    if not _waves(step):
        return (own,)
    features = step.last.output.shape[1]
    return (
        *(f"{own} Its numbers are waves: at position ", POS, ", column ", TWO_K, " holds ", WAVE),
        *(", and the next column holds the cosine of the same angle. ", D, " is the number of "),
        *(
            "features, ",
            ex.Number.of(features),
            " here, and ",
            ex.Symbol("k"),
            " counts the pairs ",
        ),
        *("of columns from 0.", *at_position(step, ctx)),
    )


def at_position(step: Step, ctx: LessonContext) -> doc.Sentence:
    """Say at which position the followed token is, and from which they are counted."""
    index = step.records[0].output
    here = ctx.number(index, ctx.row(index))
    first = ex.Number(here.value - ctx.token)
    return (" ", ctx.name, " is at position ", here, ", counted from ", first, ".")


def _waves(step: Step) -> bool:
    """Return whether the positions are computed from sine and cosine."""
    return any(isinstance(record.operation, DivTerm) for record in step.records)


FEWEST_TO_REORDER = 2
"""The least number of tokens that have an order."""


def without_positions(ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    """Say what would not depend on the order of the tokens without positions.

    Nothing if a part of the model computes heads in its own way: it may read tokens in order.
    """
    if any(layer.attention and own_way(layer.attention) for layer in ctx.tower.layers):
        return ()
    which, many = _reorderable(ctx)
    if many >= FEWEST_TO_REORDER and not (ctx.trace.scenario.given or _changes_embeddings(ctx)):
        changes = f"reordering the {which} tokens would not change the result of "
        return ((f"Without positions, {changes}", ctx.name, "."),)
    return (
        (
            "Without positions, a score in the first attention layer would depend only on the "
            "vectors of the two tokens, not on where they are.",
        ),
    )


def _changes_embeddings(ctx: LessonContext) -> bool:
    """Whether a part of the model adds to an embedding by where its token is."""
    of_parts = (part.roles.values() for part in parts() if part.embedded)
    own = (role for each in of_parts for of_part in each for role in of_part)
    return any(ctx.value(roles.Place(encoder=ctx.in_encoder), role) for role in own)


def _reorderable(ctx: LessonContext) -> tuple[str, int]:
    """Which tokens the followed one would attend to in any order, and how many they are.

    Where no token is masked, that are all others; in a single layer with a causal mask, the earlier
    ones, which in a second layer could have seen different tokens.
    """
    n = len(ctx.names)
    masks = [mask.array for mask in ctx.masks if mask is not None and mask.array.any()]
    if not masks:
        return "other", n - 1
    causal = np.triu(np.full((n, n), -np.inf), 1)
    is_causal = len(ctx.masks) == 1 and np.array_equal(masks[0], causal)
    return "earlier", ctx.token if is_causal else 0


SHORT_AND_LONG: doc.Sentence = (
    "The waves become longer from pair to pair: short waves tell neighboring positions apart, long "
    "waves distant ones.",
)

FROM_A_TABLE: doc.Sentence = (
    "Here the vectors come from a table, so that a model can learn them like the embeddings.",
)


def _why_positions(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    order = without_positions(ctx) if ctx.attends else ()
    positions = ctx.tower.positions
    if positions and positions.table is not None:
        return order if isinstance(positions, FixedPositions) else (*order, FROM_A_TABLE)
    several = _waves(step) and step.last.output.shape[1] > 2
    return (*order, *([SHORT_AND_LONG] if several else []))


SHORT: doc.Sentence = (
    "The two are added rather than concatenated, so that the vectors do not become longer.",
)

TOLD_APART: doc.Sentence = ("Later weights can learn to separate meaning from position.",)


def _why_added(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    if isinstance(step.last.operation, Copy):
        return ()
    return (SHORT, TOLD_APART) if ctx.layers else (SHORT,)


def _input_goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    embeddings = _embeddings(step, ctx)
    if isinstance(step.last.operation, Copy):
        if not embeddings:
            return (f"The normalized vectors are passed on{ctx.passed_on(step.last)}.",)
        of_tower = (part.roles.values() for part in parts() if part.tower)
        own = (role for each in of_tower for roles_of_part in each for role in roles_of_part)
        acts = any(ctx.value(step.place, role) for role in own)
        why = "No position vectors are added" if acts else "There are no positions here"
        passed_on = f" are passed on{ctx.passed_on(step.last)}."
        return (f"{why}: ", *embeddings, passed_on)
    encodes = ", so that each vector encodes a token and its position."
    return ("The position vectors are added to ", *embeddings, encodes)


def _embeddings(step: Step, ctx: LessonContext) -> doc.Sentence:
    """Name what is passed on or added to; nothing if a norm has more than the embeddings in it."""
    of_embeddings = (roles.EMBEDDING, roles.SCALED_EMBEDDING)
    x = step.last.inputs[0]
    if x.place.tower_norm:
        norm = ctx.trace.by_place[x.place]
        read = next((r.inputs[0].role for r in norm if r.inputs), roles.EMBEDDING)
        return ("the normalized embeddings",) if read in of_embeddings else ()
    scaled = "scaled " * (ctx.value(step.place, roles.SCALED_EMBEDDING) is not None)
    with_more = () if x.role in of_embeddings else (" ", ctx.symbols[x.address])
    return (f"the {scaled}embeddings", *with_more)


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
    if not isinstance(step.last.operation, Add):
        return (ex.Symbol("X′"),)
    return (ex.Sum(tuple(ctx.symbols[value.address] for value in step.last.inputs)),)


OF_A_POSITION: doc.Sentence = ("Compute the gradient at the vector of each position.",)


ADDED_UP = (
    "A row's gradient adds up the contributions of all places where the model reads its word."
)


def _at_the_embeddings(step: Step, ctx: LessonContext) -> doc.Sentence:
    rows = " and at the rows of the embedding table" * learns(step)
    return (f"Compute the gradient at the embedding of each token{rows}.",)


def _of_a_row(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    """Return what the gradient of a row adds up, and that of words which are not read."""
    if not learns(step):
        return ()
    learned = "The rows of the table are learned like any weight."
    if not isinstance(ctx.tower.embeddings, Mapping):
        return ((learned,),)
    tied = not step.place.encoder and ctx.trace.scenario.is_tied
    other = (
        "The logits use the same rows, which adds another contribution for each word of the "
        "vocabulary."
        if tied
        else "The row of a word that the model does not read has the gradient 0."
    )
    return ((f"{learned} {ADDED_UP} {other}",),)


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
    gradient=Gradient(
        "at the embeddings", _at_the_embeddings, (roles.EMBEDDINGS,), reasons=_of_a_row
    ),
    sign=(ex.Symbol("X"),),
    short="embeddings",
    reasons=_why_vectors,
    outcome=_looked_up,
)


def _scale_goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    times, width = "The embeddings are multiplied by ", ctx.value(step.place, roles.EMBEDDING_WIDTH)
    if width is None:
        return (times, ctx.symbols[_scale(step, ctx).address], ", a constant of the model.")
    d_model = ctx.symbols[width.address]
    return (times, ex.Root(d_model), ", where ", d_model, " is the number of features.")


def _scale(step: Step, ctx: LessonContext) -> Value:
    found = ctx.value(step.place, roles.EMBEDDING_SCALE)
    assert found
    return found


def _why_scaled(step: Step, ctx: LessonContext) -> tuple[doc.Sentence, ...]:
    if ctx.value(step.place, roles.EMBEDDING_WIDTH) is None:
        return ()
    drawn = "If the numbers of the embeddings are drawn with a standard deviation of "
    return ((drawn, ex.Quotient(ex.Number.of(1), ROOT), ", it is 1 after this step."),)


EMBEDDING_SCALE_STEP = StepKind(
    "embedding_scale",
    "Scaled embeddings",
    "the embeddings, multiplied by a constant",
    _scale_goal,
    {
        roles.EMBEDDING_WIDTH: RoleText(D_MODEL),
        roles.EMBEDDING_SCALE: RoleText(
            lambda naming: ex.Root(naming.inputs[0]) if naming.inputs else ex.Symbol("s"),
            "The factor:",
        ),
        roles.SCALED_EMBEDDING: RoleText(
            lambda naming: ex.Product(naming.inputs) if naming.inputs else ex.Symbol("X", "s"),
            "Each embedding times the factor:",
        ),
    },
    gradient=Gradient("at the scaled embeddings", "the scaled embeddings"),
    sign=lambda step, ctx: (ctx.symbols[step.last.output.address],),
    reasons=_why_scaled,
)

POSITION_STEP = StepKind(
    "position",
    "Positions",
    "a vector for each position",
    _position_goal,
    {
        roles.POSITION_INDEX: RoleText(POS),
        roles.DIV_TERM: RoleText(ex.Symbol("ω"), "The frequencies, one for each pair of columns:"),
        roles.ANGLE: RoleText(ex.Symbol("θ"), "The position times each frequency:"),
        roles.SIN: RoleText(
            ex.Call("sin", (ex.Symbol("θ"),)),
            "The sines, for the even columns, counted from 0:",
        ),
        roles.COS: RoleText(ex.Call("cos", (ex.Symbol("θ"),)), "The cosines, for the odd columns:"),
        roles.POSITION: RoleText(ex.Symbol("P")),
    },
    gradient=Gradient("at the positions", OF_A_POSITION, (roles.POSITIONS,)),
    sign=(ex.Symbol("P"),),
    reasons=_why_positions,
    illustrate=positions,
)


def _at_the_input(step: Step, ctx: LessonContext) -> doc.Sentence:
    tower = "encoder" if step.place.encoder else ctx.model
    return summed_at(f"the input of the {tower}")(step, ctx)


SUM_STEP = StepKind(
    "embedding_sum",
    "Embeddings with positions",
    "a vector for each token at its position",
    _input_goal,
    {roles.SUMMED_EMBEDDING: RoleText(ex.Symbol("X", "P"))},
    gradient=Gradient(
        "at the embeddings with positions", summed_at("each embedding with its position")
    ),
    sign=_input_sign,
    short="sum with positions",
    reasons=_why_added,
)

INPUT_STEP = StepKind(
    "input",
    "Input vectors",
    "the input of the first layer",
    _input_goal,
    {roles.INPUT: RoleText(ex.Symbol("X′"))},
    gradient=Gradient("at the input vectors", _at_the_input),
    sign=_input_sign,
    reasons=_why_added,
)


def _encoder_goal(step: Step, ctx: LessonContext) -> doc.Sentence:
    read = " The decoder attends to these vectors." * ctx.attends_to_the_encoder
    normalized = "normalized " * bool(ctx.of_encoder.tower.final_norm)
    match step.last.operation:
        case Reused():
            return ("The encoder's vectors are reused from the first turn: its input is the same.",)
        case Copy() if ctx.of_encoder.layers:
            return (
                f"The {normalized}result of the last layer is the encoder's output, a vector for "
                f"each of its tokens.{read}",
            )
        case Copy():
            return (
                f"The encoder has no layers: its {normalized}input vectors are its output.{read}",
            )
        case _:
            return ("The encoder has computed a vector for each of its tokens.",)


def _at_the_encoder(step: Step, ctx: LessonContext) -> doc.Sentence:
    after = (
        "The backward pass of the encoder begins here."
        if ctx.trace.scenario.encodes
        else "This output is given, so the gradient goes no further."
    )
    return (f"Compute the gradient at the encoder output. {after}",)


ENCODER_STEP = StepKind(
    "encoder",
    "Output of the encoder",
    "the encoder's tokens as vectors",
    _encoder_goal,
    {roles.ENCODER_OUTPUT: RoleText(ex.Symbol("E"))},
    gradient=Gradient("at the encoder output", _at_the_encoder),
    sign=("encoder ", ex.Symbol("E")),
    short="encoder output",
    reasons=(
        (
            "An encoder's tokens may attend to the whole input, because all of it is known from "
            "the "
            "start. A decoder that generates a text knows only the words so far.",
        ),
    ),
)

OF_EACH_TOWER = (EMBEDDING_STEP, EMBEDDING_SCALE_STEP, POSITION_STEP, SUM_STEP, INPUT_STEP)
"""The input steps that encoder and decoder share."""

KINDS = (*OF_EACH_TOWER, ENCODER_STEP)
