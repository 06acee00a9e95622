"""How a trained model comes to its word, in summary: what its layers add, and who looks at whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracer.decoder.forward import Trace
from tracer.decoder.roles import ATTENTION_OUTPUT, FFN_OUTPUT, WEIGHTS, Place, Role, SubLayer
from tracer.decoder.tape import Record
from tracer.lesson import lens
from tracer.lesson.document import Block, Document, Name, Paragraph, Section, Table
from tracer.lesson.passes import at_a_glance
from tracer.lesson.steps import Step
from tracer.lesson.steps.claims import Row
from tracer.lesson.steps.inputs import EMBEDDING_STEP
from tracer.lesson.steps.tokenization import TOKENIZATION_STEP
from tracer.lesson.steps.words import LOGITS_STEP, PREDICTION_STEP, PROBABILITIES_STEP
from tracer.lesson.teacher import Teacher
from tracer.lesson.terms import Terms
from tracer.lesson.told import Told
from tracer.lesson.wiring import in_order

HEADS_NAMED = 3
AT_THE_START = (TOKENIZATION_STEP, EMBEDDING_STEP)
WORKED_AT_THE_END = (LOGITS_STEP, PROBABILITIES_STEP, PREDICTION_STEP)


def in_summary(trace: Trace, token: int, *, full: bool, terms: Terms | None) -> Document:
    """The way of a token (counted from 0) through all layers; the words at its end are worked."""
    teacher = Teacher(trace, token, full=full, terms=terms)
    told = teacher.told
    sections = [
        *(teacher.section(step) for step in teacher.steps if step.kind in AT_THE_START),
        Section(None, "Layer by layer", _layers(told)),
        *([Section(None, "Who is looked at", looked_at)] if (looked_at := _heads(told)) else []),
        *(teacher.section(step) for step in _at_the_end(teacher.steps)),
    ]
    introduction = (*teacher.introduction(), *at_a_glance(teacher))
    return Document(trace.name, trace.scenario.title, introduction, tuple(sections), whole=True)


def summarized(steps: Sequence[Step]) -> list[Record]:
    """What is worked in a summary: the tokens, and the words at the end."""
    start = (step for step in steps if step.kind in AT_THE_START)
    return [record for step in (*start, *_at_the_end(steps)) for record in step.records]


def _at_the_end(steps: Sequence[Step]) -> Iterator[Step]:
    return (step for step in steps if step.kind in WORKED_AT_THE_END and not step.place.layer)


def _layers(told: Told) -> tuple[Block, ...]:
    """What attention and FFN of each layer change most, and what the layer would say."""
    rows = []
    for layer in range(1, told.layers + 1):
        seen = lens.said(told, layer, told.token)
        added = (
            _most(told, layer, "attention", ATTENTION_OUTPUT),
            _most(told, layer, "ffn", FFN_OUTPUT),
        )
        rows.append((str(layer), *added, seen.word, seen.percent))
    header = ("layer", "attention adds most", "the FFN adds most", "it would say", "probability")
    claim = lens.since_when(told)
    return (
        Paragraph((lens.why(told),)),
        Table(header, tuple(tuple(map(Name, row)) for row in rows)),
        *([Paragraph(claim)] if claim else []),
    )


def _most(told: Told, layer: int, sub_layer: SubLayer, role: Role) -> str:
    """`d₃₁₁ 4.062`: the largest number that a sub-layer adds to the followed token."""
    value = told.value(Place(layer, sub_layer), role)
    ranked = Row.of(value, told).sizes().ranked() if value else []
    if value is None or not ranked:
        return "—"
    row = told.row(value)
    return f"{told.labels(value.axes[1])[ranked[0]]} {told.number(value, row, ranked[0]).value:f}"


def _heads(told: Told) -> tuple[Block, ...]:
    """Which heads give most of the followed token's attention to each token before it."""
    found = [record.output for record in in_order(told.trace.records)]
    of_attention = [v for v in found if v.role is WEIGHTS and v.place.sub_layer == "attention"]
    weights = [value for value in of_attention if not value.place.encoder]
    rows = []
    for token in range(told.token):
        shares = [(value.numbers[told.row(value), token], value) for value in weights]
        shares.sort(key=lambda pair: -pair[0])
        places = [value.place for _, value in shares[:HEADS_NAMED]]
        named = "; ".join(f"{place.layer}, {place.head}" for place in places)
        if shares:
            share = told.number(shares[0][1], told.row(shares[0][1]), token)
            rows.append((Name(told.names[token]), Name(lens.percent(share)), Name(named)))
    if not rows:
        return ()
    sentence = (
        "How much attention each token before ",
        *(told.who, " gets from it: the largest share in any head, and the heads that give it "),
        "most, the first one first.",
    )
    return (Paragraph(sentence), Table(("token", "at most", "layer, head"), tuple(rows)))
