"""What a head takes from the token that it reads most: its words, and who wrote it there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tracer.decoder import roles
from tracer.decoder.comparison import Floats
from tracer.decoder.operations import Concat, MatMul
from tracer.decoder.raised_words import matrix, values_of
from tracer.decoder.token_rows import label, starts
from tracer.decoder.value import Value
from tracer.decoder.word_path import word_path
from tracer.formula.expression import Symbol
from tracer.lesson import document as doc
from tracer.lesson.texts.model_story import DecisiveHead, Story
from tracer.lesson.working.lines import Writer
from tracer.lesson.working.sums import Terms
from tracer.names import name_text, ordinal

WORDS = 6
"""The words that are listed of those that a vector raises."""

WRITERS = Terms(shown=8, most=8, largest=True)
"""The components that are listed of those that a head reads."""


def sections(story: Story) -> Iterator[doc.Section]:
    """What the head takes from the token, who wrote it, and since when the word is in it."""
    head = story.head
    if head is None or head.place.sub_layer != "attention":
        return
    blocks = (*_words(story, head), *_writers(story, head), *_ranks(story, head))
    if blocks:
        what = f"What {head.name} takes from “{name_text(head.reads.text)}”"
        yield doc.Section(None, what, blocks)


def _words(story: Story, head: DecisiveHead) -> Iterator[doc.Block]:
    """The words whose logits rise most by what the head takes."""
    added = logits_from(story, head, value_of(story, head).array[[head.source]])
    if added is None:
        return
    weight = float(head.share.value.read(head.share.at))
    row = added[0] * weight
    w_v, w_o = Symbol("W", "V"), Symbol("W", "O")
    yield doc.Paragraph(
        (
            *(
                "The head makes a value of the vector of ",
                head.reads,
                " (",
                w_v,
                "), multiplies it ",
            ),
            *("by its attention weight and by its rows of ", w_o, ", and adds the result to the "),
            *("vector of ", story.ctx.name, ". This raises the logits of these words most:"),
        )
    )
    rank = ordinal(1 + int(np.count_nonzero(row > row[story.word.column])))
    yield words_table(story, row)
    yield doc.Paragraph((story.word.name, f" is the {rank} of {len(row):,} words."))


def raised_most(story: Story, head: DecisiveHead) -> list[doc.Name]:
    """The three words whose logits rise most by what the head takes."""
    added = logits_from(story, head, value_of(story, head).array[[head.source]])
    if added is None:
        return []
    names = story.trace[roles.LOGITS.name].axes[1].labels
    weight = float(head.share.value.read(head.share.at))
    return [doc.Name(names[int(i)]) for i in np.argsort(-added[0] * weight, kind="stable")[:3]]


def words_table(story: Story, row: Floats) -> doc.Table:
    """The words with the largest numbers of a row, and the predicted word."""
    names = story.trace[roles.LOGITS.name].axes[1].labels
    order = [int(i) for i in np.argsort(-row, kind="stable")[:WORDS]]
    own = story.word.column
    listed = [*dict.fromkeys([*order, own])]
    rows = [
        (f"{1 + int(np.count_nonzero(row > row[i])):,}", names[i], story.printed(float(row[i])))
        for i in listed
    ]
    return doc.Table.of(("rank", "word", "adds"), rows, listed.index(own))


def _writers(story: Story, head: DecisiveHead) -> Iterator[doc.Block]:
    """Which components wrote to the token what the head takes from it."""
    sources = story.sources
    if sources is None or len(sources.parts) < 2:
        return
    ctx = replace(story.ctx, trace=sources.trace)
    writer = Writer(ctx, WRITERS)
    record = ctx.trace.producers[sources.sum]
    total, (joined,) = story.number(head.term), record.inputs
    shown = WRITERS.of(joined.numbers)
    rows = [(label(sources.parts[i].of), ctx.number(joined, i)) for i in shown]
    yield doc.Paragraph(
        (
            *(
                "The vector of ",
                head.reads,
                " is itself a sum of what earlier components added to ",
            ),
            *("it. Their parts of the ", total, f" that {head.name} takes from it, with each "),
            "norm's divisor and the attention weight held as they are:",
        )
    )
    yield doc.Table.of(("part", "adds"), rows)
    chain = writer.chain(record, ())
    if chain.relations:
        yield doc.Working((doc.Line(None, chain),))


def _ranks(story: Story, head: DecisiveHead) -> Iterator[doc.Block]:
    """The rank of the word at the token after each layer before: for the lens, and for the head."""
    layer, word = head.place.layer or 1, story.word
    path = word_path(story.trace, head.source, word.column)
    points = [p for p in path.points if (p.value.place.layer or 0) < layer]
    rows = [p.value.array[p.value.row(head.source, len(story.trace.tokens))] for p in points]
    if path.left_out or len(points) < 2:
        return
    value = value_of(story, head)
    values = values_of(story.trace, value, np.stack(rows))
    if values is None or not np.allclose(values[-1], value.array[head.source]):
        return
    added = logits_from(story, head, values)
    if added is None:
        return
    ranks = [int(n) + 1 for n in np.count_nonzero(added > added[:, [word.column]], axis=1)]
    both = {
        point.value.place.layer: (point.rank, r) for point, r in zip(points, ranks, strict=True)
    }
    yield doc.Paragraph(
        (
            *("The rank of ", word.name, " at ", head.reads, " after each layer before: with the "),
            f"vector read like that of the last layer, and as {head.name} reads it, through its ",
            *(Symbol("W", "V"), " and ", Symbol("W", "O"), ":"),
        )
    )
    yield doc.Table.of(
        ("after layer", "read directly", "read by the head"),
        (
            (str(layer or "—"), f"{directly:,}", f"{through:,}")
            for layer, (directly, through) in both.items()
        ),
    )
    directly, through = map(ordinal, both[points[-1].value.place.layer])
    read: doc.Sentence = (" if the vector of ", head.reads, " is read directly, and ")
    yield doc.Paragraph(
        (
            *(f"When layer {layer} begins, ", word.name, f" ranks {directly}", *read),
            f"{through} if {head.name} reads it.",
        )
    )


# --- what a head computes ------------------------------------------------------------------------


def value_of(story: Story, head: DecisiveHead) -> Value:
    """The values that a head reads, which may be those of another head: (n, d_v)."""
    return story.trace.producers[head.part.of].inputs[1]


def logits_from(story: Story, head: DecisiveHead, values: Floats) -> Floats | None:
    """What values of a head, times W_O, add to each logit: (k, words).

    None if something else than W_O and the final norm is on the way.
    """
    output = story.ctx.value(replace(head.place, head=None), roles.ATTENTION_OUTPUT)
    record = output and story.trace.producers[output]
    if not record or not isinstance(record.operation, MatMul):
        return None
    if not story.raised.is_added(record.output):
        return None
    joined = story.trace.producers[record.inputs[0]]
    heads = joined.inputs if isinstance(joined.operation, Concat) else (joined.output,)
    start = next((start for start, each in starts(heads) if each is head.part.of), None)
    if start is None:
        return None
    w_o = np.asarray(matrix(record.inputs[1])[start : start + head.part.of.shape[1]])
    return story.raised.of(story.ctx.token, values @ w_o)
