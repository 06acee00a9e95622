"""The answer and the summary of a trained model's tutorial: why this word comes next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from tracer.decoder.attribution import AttributedPart
from tracer.decoder.roles import Place
from tracer.decoder.sweeps import Experiment
from tracer.decoder.token_rows import label
from tracer.decoder.value import Entry
from tracer.decoder.word_path import PathPoint
from tracer.lesson import document as doc
from tracer.lesson.context import joined
from tracer.lesson.texts.head_reads import raised_most
from tracer.lesson.texts.model_story import SPLIT, DecisiveHead, Story, number_of
from tracer.lesson.texts.word_path import curve, phrase
from tracer.names import count, name_text, ordinal

SHARED = 0.5
"""The share of a part from which on another word's logit has it, too."""


def opening(story: Story) -> Iterator[doc.Sentence]:
    """Say what the model reads, and what the text asks."""
    found, ctx = story.trace, story.ctx
    tokens, words = len(found.tokens), len(found.scenario.vocabulary or ())
    yield (
        *("The model reads ", doc.Name(found.scenario.written(found.tokens)), " as "),
        f"{count(tokens, 'token')} and computes a probability for each of {words:,} possible "
        f"{'' if ctx.fills_in else 'next '}tokens. This text asks why it predicts ",
        *(story.word.name, f" {ctx.after} ", ctx.name, "."),
    )
    if any("␣" in name_text(name) for name in ctx.names):
        yield ("The sign ␣ in a token stands for a space.",)


def answer(story: Story) -> doc.Section:
    """The predicted word, the head that adds most to it, and what happens without this head."""
    title = f"Why “{name_text(story.word.name.text)}”"
    if story.rivals:
        title += f" and not “{name_text(story.rivals[-1].name.text)}”"
    said = (
        in_words(story),
        (*_predicted(story),),
        (*_head(story),),
        (*_lead(story),),
        (*_without_head(story),),
        (*_with_other_text(story),),
    )
    blocks = (*doc.paragraphs(*said), *curve(story.ctx, story.path))
    return doc.Section(None, f"{title}?", blocks, part=f"{title}?")


MOST_LATER = 3
"""So many components after the head are named."""


def in_words(story: Story) -> doc.Sentence:
    """What the head reads and raises, and what raises the word after it, without numbers."""
    head = story.head
    if head is None or story.parts is None or head.place.sub_layer != "attention":
        return ()
    raised = raised_most(story, head)
    if len(raised) < MOST_LATER:
        return ()
    name = f"{head.name[0].upper()}{head.name[1:]}"
    reads: doc.Sentence = (f"{name} reads ", head.reads, " and raises words such as ")
    own = (p for p in story.parts.parts if p.of.role in SPLIT and p.of.place.network is None)
    later = [p for p in own if is_later(p, head) and number_of(p) > 0][:MOST_LATER]
    if not later:
        return (*reads, *joined([(each,) for each in raised]), ".")
    most: doc.Sentence = (" raise " if len(later) > 1 else " raises ", story.word.name, " most.")
    return (*reads, *joined([(each,) for each in raised]), f"; after it, {_named(later)}", *most)


def _named(parts: Sequence[AttributedPart]) -> str:
    """`the FFNs of layers 28, 29 and 30`, `the FFN of layer 3 and head 2 of layer 4`."""
    places = sorted((part.of.place for part in parts), key=lambda place: place.layer or 0)
    if len(places) > 1 and all(place.head is None for place in places):
        layers = joined([(str(place.layer),) for place in places])
        return f"the FFNs of layers {''.join(map(str, layers))}"
    names = [f"{f'head {p.head}' if p.head else 'the FFN'} of layer {p.layer}" for p in places]
    return "".join(map(str, joined([(name,) for name in names])))


def _predicted(story: Story) -> Iterator[doc.Inline]:
    """The word and its probability, and the runner-up with its own."""
    word = story.word
    yield from (*story.ctx.after_it, ", ", word.name, " is the most probable token, with ")
    yield from (doc.Percent(story.number(word.probability)), ". Its logit, from which the softmax ")
    yield from ("computes this probability, is ", story.number(word.logit), ".")
    if story.rivals and story.rivals[0].is_alone and word.is_alone:
        second = story.rivals[0]
        yield from (" The runner-up is ", second.name, " with ")
        yield from (doc.Percent(story.number(second.probability)), ".")


def _head(story: Story) -> Iterator[doc.Inline]:
    """Where the word ranks before the head, what the head reads and adds, and what follows."""
    head, around = story.head, story.around_head
    if head is None:
        return
    if around:
        before, _ = around
        rank = ordinal(before.rank)
        yield from (f"{_after(story, before)}, ", story.word.name, f" ranks {rank} of ")
        yield f"{story.word.logit.value.shape[1]:,} words. "
    of_encoder = " of the encoder" if head.place.sub_layer == "cross_attention" else ""
    part, term = story.number(Entry(head.part.total, (0,))), story.number(head.term)
    yield f"In layer {head.place.layer}, head {head.place.head}{of_cross(head.place)} gives "
    yield from (doc.Percent(story.number(head.share)), " of its attention to ", head.reads)
    yield from (f"{of_encoder} and adds ", part, f" to the {story.logit_is} of ", story.word.name)
    if part.value and 0 < term.value / part.value <= 1:
        yield from (", of which ", term, " comes from ", head.reads)
    yield "."
    if around and (after := around[1]) is not story.path.points[-1]:
        yield from (f" After {phrase(story.ctx, after.value.place)}, ", story.word.name)
        yield f" ranks {ordinal(after.rank)}"
        yield "." if after.rank == 1 else "; the sub-layers after it raise it to first."


def of_cross(place: Place) -> str:
    """` of cross-attention`, for a head of that."""
    return " of cross-attention" if place.sub_layer == "cross_attention" else ""


def _after(story: Story, point: PathPoint) -> str:
    """`After layer 23`, `After attention in layer 3`, `Before the first layer`."""
    place = point.value.place
    if place.layer is None:
        return "Before the first layer"
    points = story.path.points
    of_layer = [each for each in points if each.value.place.layer == place.layer]
    is_end = point is of_layer[-1]
    return f"After layer {place.layer}" if is_end else f"After {phrase(story.ctx, place)}"


def _lead(story: Story) -> Iterator[doc.Inline]:
    """What makes the difference to the most similar word."""
    if story.parts is None or not story.rivals:
        return
    parts, number = story.parts.parts, len(story.rivals) - 1
    rival, lead = story.rivals[number], partial(story.lead_of, rival=number)
    logits = [float(each.entry.value.read(each.entry.at)) for each in (story.word, rival)]
    best = max(parts, key=lead)
    yield from (f"The {story.logit_is} of ", story.word.name, " is ")
    yield from (story.printed(logits[0] - logits[1]), " higher than that of ", rival.name)
    yield from (". The largest part of this difference is ", story.printed(lead(best)))
    yield f" ({label(best.of)})."
    largest = max(parts, key=number_of)
    own, other = number_of(largest), story.parts_of_rivals[number][largest.of]
    if largest is not best and other >= SHARED * own > 0:
        yield from (f" The largest part of the {story.logit_is} itself, ", story.printed(own))
        yield f" ({label(largest.of)}), says less about the choice: the same component adds "
        yield from (story.printed(other), f" to the {story.logit_is} of ", rival.name, ".")


def _without_head(story: Story) -> Iterator[doc.Inline]:
    """What the model predicts if the output of the head is 0."""
    if story.head is None:
        return
    word, changed = story.word, story.without_head
    before, after = story.number(word.entry), story.number(changed.entry)
    yield f"Without {story.head.name} (its output set to 0 for all tokens), the {story.logit_is}"
    yield from (" of ", word.name, " is ", after, " instead of ", before)
    share = doc.Percent(story.number(changed.probability))
    if changed.rank == 1:
        yield from (", and the model still predicts it, with ", share, ".")
    else:
        yield from (". Then ", word.name, f" ranks {ordinal(changed.rank)}, with ", share)
        yield from (", and the model predicts ", story.predicted_in(changed.found).name, ".")
    fall, part = before.value - after.value, story.number(Entry(story.head.part.total, (0,))).value
    if fall * part > 0 and abs(fall) != abs(part):
        more = "more" if abs(fall) > abs(part) else "less"
        yield f" The logit changes by {more} than the head's part, because later sub-layers and "
        yield "norms then compute with other numbers, too."


def _with_other_text(story: Story) -> Iterator[doc.Inline]:
    """What the model predicts if only the head reads another text."""
    other = story.other_text
    if not isinstance(other, Experiment) or other.patched is None or story.head is None:
        return
    second = other.comparison.second
    word, patched = story.predicted_in(second), story.predicted_in(other.patched)
    yield from (
        "In " if story.ctx.fills_in else "After ",
        doc.Name(second.scenario.written(second.tokens)),
    )
    yield from (
        ", the model predicts ",
        word.name,
        f". If only {story.head.name} takes its output ",
    )
    yield from ("from that pass, the model predicts ", patched.name, " here")
    yield ", too." if patched.column == word.column else "."


def summary(story: Story) -> Iterator[doc.Sentence]:
    """The way of the answer through the model, in order."""
    head, word = story.head, story.word.name
    if head is None:
        return
    if answered := in_words(story):
        yield answered
    if story.sources and len(story.sources.parts) > 1:
        part, total = story.sources.parts[0], story.number(head.term)
        yield (
            *("At ", head.reads, f", earlier components write what {head.name} takes from there: "),
            *(total, f" of the {story.logit_is} of ", word, ". The largest part of it is "),
            *(story.number(Entry(part.total, (0,))), f" ({label(part.of)})."),
        )
    if story.around_head:
        before, after = story.around_head
        if before.rank != after.rank:
            where = phrase(story.ctx, after.value.place)
            ranks = f"{ordinal(before.rank)} to {ordinal(after.rank)}"
            at: doc.Sentence = (f" {story.ctx.after} ", story.ctx.name, ".")
            yield (f"Through {where}, ", word, f" moves from {ranks}", *at)
    if last := [part for part in story.parts.parts if is_later(part, head)] if story.parts else []:
        yield (
            f"Of the later components, the largest part of the {story.logit_is} is ",
            *(story.number(Entry(last[0].total, (0,))), f" ({label(last[0].of)})."),
        )
    shares = (story.number(each.probability) for each in (story.without_head, story.word))
    without_it, with_it = map(doc.Percent, shares)
    of_word: doc.Sentence = (", the probability of ", word, " is ")
    yield (f"Without {head.name}", *of_word, without_it, " instead of ", with_it, ".")


def is_later(part: AttributedPart, head: DecisiveHead) -> bool:
    """Whether a part is that of a later sub-layer than the head's."""
    order = ("attention", "cross_attention", "ffn")
    own, other = part.of.place, head.place
    if own.layer is None or own.encoder or own.sub_layer not in order:
        return False
    return (own.layer, order.index(own.sub_layer)) > (
        other.layer or 0,
        order.index(other.sub_layer or ""),
    )
