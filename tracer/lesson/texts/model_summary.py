"""A summary of a trained model's prediction: what its layers add, and who attends to whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracer.decoder import roles
from tracer.decoder.forward import Trace
from tracer.decoder.tape import Record
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps import Step
from tracer.lesson.steps.claims import Row
from tracer.lesson.steps.inputs import EMBEDDING_STEP
from tracer.lesson.steps.tokenization import TOKENIZATION_STEP
from tracer.lesson.steps.words import LOGITS_STEP, PREDICTION_STEP, PROBABILITIES_STEP
from tracer.lesson.texts import lens
from tracer.lesson.texts.at_a_glance import diagram, frozen_used, parameters_used, sizes
from tracer.lesson.texts.forward_pass import SUMMARY
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.wiring import in_order
from tracer.lesson.working.sums import Terms
from tracer.names import distinct

HEADS_NAMED = 3
ATTENDS_TO = "What the token attends to"
AT_THE_START = (TOKENIZATION_STEP, EMBEDDING_STEP)
WORKED_AT_THE_END = (LOGITS_STEP, PROBABILITIES_STEP, PREDICTION_STEP)


def model_summary(trace: Trace, token: int, *, full: bool, terms: Terms | None) -> doc.Document:
    """The way of a token (counted from 0) through all layers; the words at its end are worked."""
    teacher = Teacher(trace, token, full=full, terms=terms)
    ctx = teacher.ctx
    sections = [
        *(teacher.section(step) for step in teacher.steps if step.kind in AT_THE_START),
        doc.Section(None, "Layer by layer", _layers(ctx)),
        *(
            [doc.Section(None, "What the token attends to", looked_at)]
            if (looked_at := _heads(ctx))
            else []
        ),
        *(teacher.section(step) for step in _at_the_end(teacher.steps)),
        *([doc.Section(None, SUMMARY, said)] if (said := teacher.author.summary()) else []),
    ]
    signed = teacher.with_signs(sections)
    opening = (*teacher.author.intro(), *teacher.introduction())
    sized = sizes(ctx, parameters_used(teacher), frozen_used(teacher)) if full else ()
    introduction = (*opening, *diagram(ctx, teacher.steps), *sized)
    return doc.Document(trace.name, trace.scenario.title, introduction, signed, whole=True)


def summarized(steps: Sequence[Step]) -> list[Record]:
    """Return the steps that a summary works out: the tokens, and the words at the end."""
    start = (step for step in steps if step.kind in AT_THE_START)
    return [record for step in (*start, *_at_the_end(steps)) for record in step.records]


def _at_the_end(steps: Sequence[Step]) -> Iterator[Step]:
    return (step for step in steps if step.kind in WORKED_AT_THE_END and not step.place.layer)


def _layers(ctx: LessonContext) -> tuple[doc.Block, ...]:
    """The largest numbers of attention and FFN in each layer, and the word that it predicts."""
    rows = []
    words = [read for (read,) in lens.lens_words(ctx, [ctx.token])]
    for layer, seen in enumerate(words, 1):
        added = (
            _most(ctx, layer, "attention", roles.ATTENTION_OUTPUT),
            _most(ctx, layer, "ffn", roles.FFN_OUTPUT),
        )
        rows.append((str(layer), *added, seen.word, lens.percent(seen.probability)))
    header = ("layer", "largest in attention", "largest in the FFN", "prediction", "probability")
    return (
        doc.Paragraph((lens.why(ctx),)),
        doc.Table.of(header, rows),
        *doc.paragraphs(lens.since_when(ctx, [seen.word for seen in words])),
    )


def _most(ctx: LessonContext, layer: int, sub_layer: roles.SubLayer, role: roles.Role) -> str:
    """`d₃₁₁ 4.062`: the largest number of a sub-layer's output for the followed token."""
    value = ctx.value(roles.Place(layer, sub_layer), role)
    ranked = Row.of(value, ctx).sizes().ranked() if value else []
    if value is None or not ranked:
        return "—"
    label, number = distinct(value.axes[1].labels), ctx.number(value, ctx.row(value), ranked[0])
    return f"{label[ranked[0]]} {number.value:f}"


def _heads(ctx: LessonContext) -> tuple[doc.Block, ...]:
    """Say which heads give most of the followed token's attention to each earlier token."""
    found = (record.output for record in in_order(ctx.trace.records))
    every = [value for value in found if value.role is roles.WEIGHTS]
    weights = [v for v in every if v.place.sub_layer == "attention" and not v.place.encoder]
    if not weights or not ctx.token:
        return ()
    rows = []
    for token in range(ctx.token):
        weights.sort(key=lambda value: -value.numbers[ctx.row(value), token])
        named = "; ".join(f"{v.place.layer}, {v.place.head}" for v in weights[:HEADS_NAMED])
        share = ctx.number(weights[0], ctx.row(weights[0]), token)
        rows.append((ctx.names[token], lens.percent(share), named))
    sentence = (
        "The largest share of its attention that ",
        *(ctx.name, " gives to each earlier token in any head, and the heads with the largest "),
        "shares.",
    )
    return (doc.Paragraph(sentence), doc.Table.of(("token", "at most", "layer, head"), rows))
