"""Another text for a trained model: the same word path there, and the head's output put in here."""

from __future__ import annotations

from collections.abc import Iterator

from tracer.decoder.sweeps import Experiment
from tracer.decoder.word_path import PathPoint, word_path
from tracer.errors import TracerError
from tracer.lesson import document as doc
from tracer.lesson.texts.answers import predictions
from tracer.lesson.texts.comparison import alignment
from tracer.lesson.texts.generated_text import why_generation_ends
from tracer.lesson.texts.model_story import Story, WordAfter

ANOTHER_TEXT = "Another text"
REPLACED: doc.Sentence = (
    "One more run shows what depends on the head that adds the most: in it, the output of this "
    "head is that of the second run, and all later numbers follow from it.",
)


def sections(story: Story) -> Iterator[doc.Section]:
    """What the model predicts after another text, layer by layer, and with the head's output."""
    found = story.other_text
    if isinstance(found, TracerError):
        why: doc.Sentence = ("It is left out: ", *why_generation_ends(found))
        yield doc.Section(None, ANOTHER_TEXT, (doc.Paragraph(why),))
    elif found:
        yield doc.Section(None, ANOTHER_TEXT, tuple(_contrasted(story, found)))


def _contrasted(story: Story, found: Experiment) -> Iterator[doc.Block]:
    second = found.comparison.second
    text = doc.Name(second.scenario.written(second.tokens))
    yield doc.Paragraph(
        ("The second run is the same model with the text ", text, ". The first run is that above.")
    )
    yield from map(doc.Paragraph, alignment("texts", found.comparison.tokens))
    yield from _side_by_side(story, story.predicted_in(second))
    if found.patched:
        yield doc.Paragraph(REPLACED)
    yield from predictions(found)


def _side_by_side(story: Story, other: WordAfter) -> Iterator[doc.Block]:
    """The rank of each run's word after each layer, and the word that leads there."""
    paths = story.path, word_path(other.found, other.token, other.column)
    first, second = map(_ends_of_layers, (each.points for each in paths))
    yield doc.Paragraph(
        (
            *("After each layer: the rank of ", story.word.name, " in the first run and that of "),
            *(other.name, " in the second, and the word that leads in the second:"),
        )
    )
    yield doc.Table.of(
        ("layer", "rank, first", "rank, second", "leads, second"),
        (
            (str(layer), f"{first[layer].rank:,}", f"{point.rank:,}", point.leader)
            for layer, point in second.items()
            if layer in first
        ),
    )


def _ends_of_layers(points: tuple[PathPoint, ...]) -> dict[int, PathPoint]:
    """The last point of each layer."""
    return {layer: point for point in points if (layer := point.value.place.layer)}
