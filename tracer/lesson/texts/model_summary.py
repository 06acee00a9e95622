"""A summary of a trained model's prediction: what its layers add, and who attends to whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal

import numpy as np

from tracer.decoder import roles
from tracer.decoder.comparison import predicted
from tracer.decoder.forward import Trace
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.decoder.word_path import PathPoint, WordPath, word_path
from tracer.formula.expression import Number
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.steps.attention_claims import left_out
from tracer.lesson.steps.inputs import EMBEDDING_STEP
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.tokenization import TOKENIZATION_STEP
from tracer.lesson.steps.words import LOGITS_STEP, PREDICTION_STEP, PROBABILITIES_STEP
from tracer.lesson.texts import lens
from tracer.lesson.texts.at_a_glance import diagram, frozen_used, parameters_used, sizes
from tracer.lesson.texts.attribution import LARGEST
from tracer.lesson.texts.forward_pass import SUMMARY
from tracer.lesson.texts.logit_parts import SummaryTeacher
from tracer.lesson.texts.picture import NAMES
from tracer.lesson.texts.word_path import RANK_IS, claims, curve, printed, sub_layer_at
from tracer.lesson.wiring import in_order
from tracer.lesson.working.sums import Terms
from tracer.names import count

HEADS_NAMED = 3
WRITTEN_OUT: doc.Sentence = (
    f"The worked sum of a logit writes out at most its {LARGEST.shown} largest parts.",
)
ALMOST_ALL = Decimal("0.9")
"""The share of the attention from which on a head looks almost only at a token."""

SINK = (
    "The attention weights of a head sum to 1, even if no token has what the head looks for. A "
    "head that gives almost all of its attention to a token with a short value vector adds little. "
    "Such a token is called an attention sink (Xiao et al. 2023)."
)
ATTENDS_TO = "What the token attends to"
AT_THE_START = (TOKENIZATION_STEP, EMBEDDING_STEP)
WORKED_AT_THE_END = (LOGITS_STEP, PROBABILITIES_STEP, PREDICTION_STEP)


def model_summary(trace: Trace, token: int, *, full: bool, terms: Terms | None) -> doc.Document:
    """The way of a token (counted from 0) through all layers; the words at its end are worked."""
    teacher = SummaryTeacher(trace, token, full=full, terms=terms)
    ctx, parts = teacher.ctx, teacher.parts
    answer = predicted(trace, token)
    assert answer  # a trained model has words
    said = teacher.author.summary()
    path = word_path(trace, token, answer.at[1])
    sections = [
        *at_the_start(teacher),
        layers(ctx, path, with_curve=True),
        *([parts.section(full=full)] if parts else []),
        *attention(ctx),
        *at_the_end(teacher),
        *([doc.Section(None, SUMMARY, said)] if said else []),
    ]
    signed = teacher.with_signs(sections)
    opening = (
        *teacher.author.intro(),
        *teacher.introduction(),
        *doc.paragraphs(WRITTEN_OUT if parts and not terms else None),
    )
    sized = sizes(ctx, parameters_used(teacher), frozen_used(teacher)) if full else ()
    introduction = (*opening, *diagram(ctx, teacher.steps), *sized)
    return doc.Document(trace.name, trace.scenario.title, introduction, signed, whole=True)


def summarized_records(steps: Sequence[Step]) -> list[Record]:
    """Return the steps that a summary works out: the tokens, and the words at the end."""
    start = (step for step in steps if step.kind in AT_THE_START)
    return [record for step in (*start, *_at_the_end(steps)) for record in step.records]


def _at_the_end(steps: Sequence[Step]) -> Iterator[Step]:
    return (step for step in steps if step.kind in WORKED_AT_THE_END and not step.place.layer)


def at_the_start(teacher: SummaryTeacher) -> Iterator[doc.Section]:
    """The steps from a text to embeddings."""
    return (teacher.section(step) for step in teacher.steps if step.kind in AT_THE_START)


def at_the_end(teacher: SummaryTeacher) -> Iterator[doc.Section]:
    """The steps from the model's output to the predicted word."""
    return map(teacher.section, _at_the_end(teacher.steps))


def layers(ctx: LessonContext, path: WordPath, *, with_curve: bool = False) -> doc.Section:
    """The rank of the predicted word after each sub-layer, and the word that leads after each."""
    by_layer: dict[int, list[PathPoint]] = defaultdict(list)
    for point in path.points:
        if layer := point.value.place.layer:
            by_layer[layer].append(point)
    kinds = {sub_layer_at(ctx, point.value.place) for of in by_layer.values() for point in of}
    columns = [kind for kind in (*NAMES, None) if kind in kinds]
    rows = []
    for layer, of in by_layer.items():
        ranks = {sub_layer_at(ctx, p.value.place): Number.of(p.rank) for p in of}
        share = lens.percent(printed(ctx, of[-1].of_leader))
        rows.append((str(layer), *(ranks.get(each, "—") for each in columns), of[-1].leader, share))
    after = (f"after {NAMES[each]}" if each else "after attention and FFN" for each in columns)
    asked = ("The rank of ", doc.Name(path.word), " after each sub-layer, and the word that ")
    blocks = (
        doc.Paragraph((lens.why_lens_reads(ctx),)),
        doc.Paragraph((*asked, "each layer would predict with its probability:")),
        doc.Table.of(("layer", *after, "prediction", "probability"), rows),
        doc.Paragraph(RANK_IS),
        *doc.paragraphs(*claims(ctx, path)),
        *(curve(ctx, path) if with_curve else ()),
    )
    return doc.Section(None, "Layer by layer", blocks)


def attention(ctx: LessonContext) -> Iterator[doc.Section]:
    """Say which heads give most of the followed token's attention to each earlier token."""
    found = (record.output for record in in_order(ctx.trace.records))
    every = [value for value in found if value.role is roles.WEIGHTS]
    weights = [v for v in every if v.place.sub_layer == "attention" and not v.place.encoder]
    if not weights or not ctx.token:
        return
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
    blocks: tuple[doc.Block, ...] = (
        doc.Paragraph(sentence),
        doc.Table.of(("token", "at most", "layer, head"), rows),
        *doc.paragraphs(*_sinks(ctx, weights)),
    )
    yield doc.Section(None, ATTENDS_TO, blocks)


def _sinks(ctx: LessonContext, weights: Sequence[Value]) -> Iterator[doc.Sentence]:
    """Say how many heads look almost only at the first token, and what that can mean."""
    looking = [v for v in weights if v.numbers[ctx.row(v), 0] >= float(ALMOST_ALL)]
    first = len(looking)
    if not first or ctx.is_padding:
        return
    gives = "gives" if first == 1 else "give"
    most: doc.Sentence = (" at least ", doc.Percent(Number(ALMOST_ALL)), " of the attention of ")
    counted = f"{first} of {count(len(weights), 'head')} {gives}"
    yield (counted, *most, ctx.name, " to the first token, ", doc.Name(ctx.names[0]), ".")
    shortest = sum(lengths[0] < min(lengths[1:]) for lengths in _value_lengths(ctx, looking))
    if not shortest:
        return
    such = count(first, "such head")
    yield (f"In {shortest} of {such}, the first token has the shortest value vector.",)
    if not any(left_out(ctx.trace.producers[value]) for value in weights):
        yield (SINK,)


def _value_lengths(ctx: LessonContext, weights: Sequence[Value]) -> Iterator[Sequence[float]]:
    """The lengths of a head's value vectors, of the tokens up to the followed one."""
    for value in weights:
        output = ctx.value(value.place, roles.HEAD_OUTPUT)
        assert output
        _, values = ctx.trace.producers[output].inputs
        rows = values.array[: ctx.token + 1].astype(float)
        yield np.linalg.norm(rows, axis=1).tolist()
