"""The steps of rotary positions: the angles, and queries and keys that are rotated by them."""

from __future__ import annotations

from collections.abc import Callable

from tracer.decoder.elementwise import Interpolate
from tracer.decoder.operations import DivTerm, Pinned, Rotate
from tracer.decoder.roles import Role
from tracer.decoder.tape import Record
from tracer.decoder.vector_parts import KEY, QUERY, ScoreSide
from tracer.formula import expression as ex
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Block, Sentence, Sign
from tracer.lesson.steps.attention_claims import reused
from tracer.lesson.steps.attribution import texts_of
from tracer.lesson.steps.inputs import FACTOR, POS, at_position, without_positions
from tracer.lesson.steps.kind import (
    Gradient,
    InnerKind,
    RoleText,
    Step,
    StepKind,
)
from tracer.lesson.steps.part import LessonPart
from tracer.lesson.steps.positions import waves_of
from tracer.lesson.steps.query_key_value import head_symbol
from tracer.lesson.steps.score_attribution import NAMES, kind_of_side
from tracer.parts.query_key_norm.scenario import normalizes_rotated
from tracer.parts.rotary.decoder import (
    BASE,
    ROTATED_KEY,
    ROTATED_KEYS,
    ROTATED_QUERY,
    SCALED_COS,
    SCALED_SIN,
    UNSCALED,
    WAVES,
    rotary_of,
    rotary_settings,
)
from tracer.parts.rotary.lesson_scaling import SCALED_TEXTS, attention_factor, of_set, why_scaled
from tracer.parts.rotary.scenario import Rotary, rotates_all

D_K, ROTATED = ex.Symbol("d", "k"), ex.Symbol("r")

# --- the angles ----------------------------------------------------------------------------------


def _angles_goal(step: Step, ctx: LessonContext) -> Sentence:
    frequencies = _frequencies(step, ctx)
    asked = rotary_settings(ctx.tower)[(step.place.rotary or 1) - 1]
    whose = f"queries and keys{_of_layers(asked, ctx)}"
    rotated = f"Each position has angles by which {whose} will be rotated."
    if frequencies is None:
        return (rotated,)
    width = ex.Number.of(frequencies.width)
    attentions = [layer.attention for layer in ctx.tower.layers if layer.attention]
    rotating = [part for part in attentions if rotary_of(ctx.tower, part) == asked]
    is_whole = asked.share == 1 and all(map(rotates_all, rotating))
    letter = D_K if is_whole else ROTATED
    meaning = "the width of a query" if is_whole else "the number of rotated columns"
    if frequencies.width % 2:
        meaning = f"one less than {meaning}"
    base = frequencies.base
    of = ctx.symbols[step.place.address(BASE)] if base is None else ex.Number(base)
    frequency: ex.Expression = ex.Power(of, ex.Quotient(ex.Symbol("-2k"), letter))
    divided: Sentence = ()
    if frequencies.factors:
        frequency = ex.Quotient(frequency, FACTOR)
        divided = (" ", FACTOR, " is a factor that is set for each pair.")
    scaled = "scaled " * isinstance(ctx.operation(step.place, WAVES.div_term), Interpolate)
    if scaled:
        divided = (" The frequencies are then scaled for long texts.",)
    return (
        *(
            f"{rotated} Each pair of columns has a frequency, ",
            frequency,
            ", where ",
            letter,
            " is ",
        ),
        *(f"{meaning}, ", width, " here, and ", ex.Symbol("k"), " counts the pairs from 0."),
        *(*divided, f" The angle is the position times the {scaled}frequency."),
        *at_position(step, ctx),
    )


def _frequencies(step: Step, ctx: LessonContext) -> DivTerm | None:
    """Return what computes the frequencies, before they are scaled; None if they are given."""
    found = [ctx.operation(step.place, role) for role in (WAVES.div_term, UNSCALED)]
    if isinstance(found[0], Pinned):
        return None
    return next((each for each in found if isinstance(each, DivTerm)), None)


def _of_layers(asked: Rotary, ctx: LessonContext) -> str:
    """Of which layers queries and keys are rotated, unless it is all that have attention."""
    parts = [(n, layer.attention) for n, layer in enumerate(ctx.tower.layers, 1) if layer.attention]
    own = [str(number) for number, part in parts if rotary_of(ctx.tower, part) == asked]
    if len(own) == len(parts):
        return ""
    *others, last = own
    return f" of layers {', '.join(others)} and {last}" if others else f" of layer {last}"


def _why_angles(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    embeddings = "" if ctx.tower.embeddings is None else " and leaves the embeddings as they are"
    marks = f"Rotation marks the position{embeddings}"
    is_scaled = ctx.value(step.place, SCALED_COS)
    kept = "" if is_scaled else "; before rounding, it keeps each vector's length"
    return (*without_positions(ctx), (f"{marks}{kept}.",), *why_scaled(step, ctx))


def _both_waves(step: Step, ctx: LessonContext) -> list[Block]:
    """Sines and cosines of all tokens: queries and keys are turned by both."""
    values = {record.output.role: record.output for record in step.records}
    scaled = SCALED_COS in values
    shown = (SCALED_SIN, SCALED_COS) if scaled else (WAVES.sin, WAVES.cos)
    return [ctx.matrix(values[role]) for role in shown if role in values]


def _angles_sign(step: Step, ctx: LessonContext) -> Sign:
    angle = ctx.symbols[step.place.address(WAVES.angle)]
    return (angle, " turns ", ex.Symbol("Q"), ", ", ex.Symbol("K"))


ANGLES_STEP = StepKind(
    "rotary",
    "Angles of the positions",
    "an angle for each position and pair of columns",
    _angles_goal,
    {
        WAVES.index: RoleText(POS),
        **SCALED_TEXTS,
        WAVES.div_term: RoleText(of_set("ω"), "The frequencies, one for each pair of columns:"),
        WAVES.angle: RoleText(of_set("θ"), "The position times each frequency:"),
        WAVES.sin: RoleText(of_set("θ", "sin"), "The sines:"),
        WAVES.cos: RoleText(of_set("θ", "cos"), "The cosines:"),
    },
    gradient=None,
    sign=_angles_sign,
    short="angles",
    reasons=_why_angles,
    outcome=_both_waves,
    illustrate=waves_of(WAVES),
    aside=True,
)


# --- queries and keys ----------------------------------------------------------------------------

RELATIVE: Sentence = (
    "Before rounding, a dot product does not change when both vectors are rotated by the same "
    "angles. Therefore positions affect a score only through their difference, and a query can "
    "look for “the token before me” at any position.",
)


def _why_rotated(step: Step, ctx: LessonContext) -> tuple[Sentence, ...]:
    """Say why queries and keys are rotated, if only the difference of positions counts."""
    part = ctx.attention_at(step.place)
    later = part is not None and normalizes_rotated(part)
    return (RELATIVE,) if _turns_by_position(step, ctx) and not later else ()


def _turns_by_position(step: Step, ctx: LessonContext) -> bool:
    """Whether the angles and their sines and cosines are computed from the positions."""
    place = step.last.inputs[1].place
    waves = (WAVES.angle, WAVES.sin, WAVES.cos)
    return not any(isinstance(ctx.operation(place, role), Pinned) for role in waves)


def _rotated_goal(step: Step, ctx: LessonContext) -> Sentence:
    """Say how each pair of columns is rotated."""
    turn, a, b = step.last.operation, ex.Symbol("a"), ex.Symbol("b")
    angle = ctx.symbols[step.last.inputs[1].place.address(WAVES.angle)]
    times = attention_factor(ctx, step.last.inputs[1].place)
    cos, sin = ((*times, ex.Call(name, (angle,))) for name in ("cos", "sin"))
    first = ex.Difference(ex.Product((a, *cos)), ex.Product((b, *sin)))
    second = ex.Sum((ex.Product((a, *sin)), ex.Product((b, *cos))))
    turns = _turns_by_position(step, ctx)
    halves = isinstance(turn, Rotate) and turn.layout == "halves"
    columns = "Two columns half the width apart" if halves else "Two neighboring columns"
    return (
        f"Each query is rotated by angles. {columns} are read as a point (",
        *(a, ", ", b, ") and become ", first, " and ", second, ". The angle ", angle),
        " is the token's position times the pair's frequency." if turns else " is given.",
        *_unchanged(step.last),
    )


def _rotated_sign(letter: str) -> Callable[[Step, LessonContext], Sign]:
    """Return the sign of rotated queries or keys, with the angles if there are several sets."""

    def sign(step: Step, ctx: LessonContext) -> Sign:
        if len(rotary_settings(ctx.at(step.place).tower)) == 1:
            return ("turn ", ex.Symbol(letter))
        angle = ctx.symbols[step.records[0].inputs[1].place.address(WAVES.angle)]
        return ("turn ", ex.Symbol(letter), " by ", angle)

    return sign


def _unchanged(record: Record) -> Sentence:
    """Say which columns are not rotated, if only a share of them is."""
    if not isinstance(record.operation, Rotate):
        return ()
    x, cos, _ = record.inputs
    labels, rotated = x.axes[1].labels, 2 * cos.shape[1]
    if rotated == len(labels):
        return ()
    first = f"the first {rotated} of the {len(labels)} columns are rotated"
    return (f" Only {first}; the others stay unchanged.",)


ROTATED_QUERY_STEP = InnerKind(
    "rotated_query",
    "Rotary query",
    "the query of each token, rotated",
    _rotated_goal,
    {ROTATED_QUERY: RoleText(head_symbol("Q", "R"))},
    gradient=Gradient("at the rotary query", "each rotated query"),
    sign=_rotated_sign("Q"),
    reasons=_why_rotated,
    groups=("rotary",),
)

ROTATED_KEY_STEP = InnerKind(
    "rotated_key",
    "Rotary key",
    "the key of each token, rotated",
    ("Each key is rotated like the queries, by the angles of its own token.",),
    {
        ROTATED_KEY: RoleText(head_symbol("K", "R")),
        ROTATED_KEYS: RoleText(head_symbol("K", "R")),
    },
    gradient=Gradient("at the rotary key", "each rotated key"),
    sign=_rotated_sign("K"),
    claim=lambda step, ctx: reused(step),
    groups=("rotary",),
)

# --- the parts of a score ------------------------------------------------------------------------


def _rotation(side: ScoreSide, rotated: Role) -> StepKind:
    """Return the kind of step that rotates the parts of a query or a key."""
    what = NAMES[side]
    goal: Sentence = (
        f"A rotation is linear: the parts of the {what} are rotated by the same angles.",
    )
    texts = (texts_of(side.row, rotated), texts_of(side.part, rotated))
    return kind_of_side(side, "rotation", "parts after the rotation", goal, *texts)


PART = LessonPart(
    kinds={
        "position": (ANGLES_STEP,),
        "query": (ROTATED_QUERY_STEP,),
        "key": (ROTATED_KEY_STEP,),
        "query_product_parts": (_rotation(QUERY, ROTATED_QUERY),),
        "key_product_parts": (_rotation(KEY, ROTATED_KEY),),
    },
    texts={
        "query_vector_parts": texts_of(QUERY.row, WAVES.cos, WAVES.sin),
        "key_vector_parts": texts_of(KEY.row, WAVES.cos, WAVES.sin),
    },
    mixed=(ROTATED_QUERY,),
)
