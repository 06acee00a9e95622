"""The hidden units that matter most to a word, and the words that each of them raises."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tracer.decoder.attribution import AttributedPart
from tracer.decoder.comparison import Floats
from tracer.decoder.operations import MatMul
from tracer.decoder.roles import HIDDEN_LAYERS, LOGITS
from tracer.decoder.tape import Record
from tracer.decoder.value import Entry
from tracer.formula.expression import Symbol
from tracer.lesson import document as doc
from tracer.lesson.texts.model_story import Story
from tracer.names import name_text

FFNS = 2
"""The FFNs whose units are listed, of those that act on the followed token."""
UNITS, WORDS = 3, 5

ABOUT: doc.Sentence = (
    *("An FFN adds the row of ", Symbol("W", "2"), " of each hidden unit, times the unit's "),
    "number. A unit raises the words whose logits rise most by this product.",
)


def sections(story: Story) -> Iterator[doc.Section]:
    """The largest units of some FFNs: of that which wrote most to the head's token, and later."""
    if story.parts is None:
        return
    to_logit: doc.Sentence = (f" to the {story.logit_is} of ", story.word.name)
    of_token = [p for p in story.parts.parts if reads_units(story, p)][:FFNS]
    found = [(part, story.ctx.token, to_logit) for part in of_token]
    if story.head and story.sources:
        to_head: doc.Sentence = (f" to what {story.head.name} takes from there",)
        earlier = [p for p in story.sources.parts[:1] if reads_units(story, p)]
        found = [*((part, story.head.source, to_head) for part in earlier), *found]
    blocks = [block for each in found for block in _units(story, *each)]
    if blocks:
        yield doc.Section(None, "Hidden units and their words", (doc.Paragraph(ABOUT), *blocks))


def reads_units(story: Story, part: AttributedPart) -> bool:
    """Whether a part is that of a hidden layer whose units can be read as words."""
    if part.of.role not in HIDDEN_LAYERS or part.terms is None or part.of.place.encoder:
        return False
    record = product_of(story, part)
    return record is not None and story.raised.is_added(record.output)


def product_of(story: Story, part: AttributedPart) -> Record | None:
    """The product of a hidden layer and W₂."""
    of_layer = story.trace.by_place[part.of.place]
    is_product = (r for r in of_layer if isinstance(r.operation, MatMul))
    return next((r for r in is_product if r.inputs[0] is part.of), None)


def _units(
    story: Story, part: AttributedPart, token: int, to_what: doc.Sentence
) -> Iterator[doc.Block]:
    """The units of an FFN with the largest terms of what it adds, their numbers and words."""
    record = product_of(story, part)
    assert record and part.terms
    terms, hidden = np.asarray(part.terms.array[0]), part.of
    units = largest_units(terms)
    at = hidden.row(token, len(story.trace.tokens))
    numbers = [float(hidden.read((at, unit))) for unit in units]
    rows = np.stack([np.asarray(record.inputs[1].read((unit,)), float) for unit in units])
    raised = story.raised.of(token, rows * np.array(numbers)[:, None])
    words = listed_words(story, np.argsort(-raised, axis=1, kind="stable")[:, :WORDS])
    total = story.number(Entry(part.total, (0,)))
    yield doc.Paragraph(
        (
            *("At ", doc.Name(story.ctx.names[token]), f", the FFN of layer {hidden.place.layer} "),
            *("adds ", total, *to_what, ". The largest terms of its "),
            f"{len(terms):,} hidden units:",
        )
    )
    yield doc.Table.of(
        ("unit", "its number", "adds", "raises most"),
        (
            (str(1 + unit), story.printed(number), story.number(Entry(part.terms, (0, unit))), own)
            for unit, number, own in zip(units, numbers, words, strict=True)
        ),
    )
    if half := terms_for_half(terms):
        them = "largest term is" if half == 1 else f"{half:,} largest terms add up to"
        yield doc.Paragraph((f"Its {them} at least half of this.",))


def largest_units(terms: Floats) -> list[int]:
    """The units with the largest terms; where these add up to no positive sum, in size."""
    sizes = terms if terms.sum() > 0 else abs(terms)
    return [int(i) for i in np.argsort(-sizes, kind="stable")[:UNITS]]


def terms_for_half(terms: Floats) -> int | None:
    """The fewest terms that add up to half of their sum; None if this is not positive."""
    sums = np.cumsum(np.sort(terms)[::-1])
    return 1 + int(np.argmax(sums >= sums[-1] / 2)) if sums[-1] > 0 else None


def listed_words(story: Story, best: NDArray[np.int_]) -> list[str]:
    """The words of some columns, in a line for each row."""
    names = story.trace[LOGITS.name].axes[1].labels
    return [", ".join(name_text(names[int(i)]) for i in row) for row in best]
