"""Pictures of an attribution: its parts as signed bars, and those of its heads as heat maps."""

from __future__ import annotations

from tracer.decoder.attribution import Attribution
from tracer.decoder.roles import HEAD_OUTPUT, LOGITS, UNCAPPED_LOGITS
from tracer.decoder.value import Entry
from tracer.formula.expression import Rest, Symbol
from tracer.lesson import document as doc
from tracer.lesson.entries import name
from tracer.lesson.texts.head_maps import head_maps
from tracer.lesson.working.lines import Writer
from tracer.names import distinct, name_text
from tracer.node import found as found_in


def bars(found: Attribution, writer: Writer) -> doc.Bars:
    """The terms of the worked sum: the largest parts, and the rest as one bar."""
    record = found.trace.producers[found.sum]
    (parts,) = record.inputs
    rests = list(found_in(writer.chain(record, ()).sides[0], Rest))
    labels = parts.axes[0].labels[: parts.shape[0] - sum(rest.terms for rest in rests)]
    drawn = [doc.Bar(label, writer.number(parts, (i,))) for i, label in enumerate(labels)]
    drawn += [doc.Bar(f"{rest.terms} more", rest.total, rest.terms) for rest in rests]
    figure = doc.Figure(f"{found.trace.name}.{found.entry.value.address}.parts", title(found))
    return doc.Bars(tuple(drawn), figure)


def maps(found: Attribution, writer: Writer) -> list[doc.Block]:
    """Heat maps of what the heads add."""
    (parts,) = found.trace.producers[found.sum].inputs
    numbers = {
        part.of.place: writer.number(parts, (i,))
        for i, part in enumerate(found.parts)
        if part.of.role is HEAD_OUTPUT
    }
    name = f"{found.trace.name}.{found.entry.value.address}"
    return list(head_maps(numbers, Symbol("c"), name, "The parts of the heads"))


def title(found: Attribution) -> str:
    """`Why “pizza” and not “la”: the difference of the logits as a sum`."""
    value, (_, column) = found.entry
    if value.role not in (LOGITS, UNCAPPED_LOGITS):
        return f"{subject(found)} as a sum"
    names = [name_text(label) for label in distinct(value.axes[1].labels)]
    what = "uncapped logit" if value.role is UNCAPPED_LOGITS else "logit"
    if found.other is None:
        return f"Why “{names[column]}”: the {what} as a sum"
    other = names[found.other]
    return f"Why “{names[column]}” and not “{other}”: the difference of the {what}s as a sum"


def subject(found: Attribution) -> str:
    """What is attributed: `logits[la,pizza] - logits[la,la]`."""
    value, (row, _) = found.entry
    other = "" if found.other is None else f" - {name(Entry(value, (row, found.other)))}"
    return f"{name(found.entry)}{other}"
