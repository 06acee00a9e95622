"""Several pairs of runs: what each run predicts, and the mean effect of each patch."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean, stdev

from tracer.decoder.forward import Trace
from tracer.decoder.sweeps import Experiment, Pairs
from tracer.lesson import document as doc
from tracer.lesson.context import listed
from tracer.lesson.texts.answers import word_of
from tracer.lesson.texts.sweep_text import (
    TITLES,
    RankedPlace,
    each_row,
    effect_number,
    in_order,
    ranking,
)
from tracer.names import count, distinct

EFFECT = (
    "The effect in a pair is the share of the switch from the first run's word to the second's "
    "that the patch causes: with 0, the difference of their logits stays that of the first run; "
    "with 1, it becomes that of the second. The spread is the standard deviation over the pairs, "
    "with n − 1 in the denominator."
)


def pairs_text(found: Pairs) -> doc.Document:
    """Return the text about several pairs of runs."""
    first = found.experiments[0].comparison.first
    runs = f"In each of {count(len(found.texts), 'pair')}, the first and the second run are "
    command = doc.Code(f"{found.command} --pair 1")
    has_effects = any(each.patched or each.effects for each in found.experiments)
    ranked = ("To rank the heads by their effects: ", doc.Code(f"{found.command} --sweep heads"))
    introduction = (
        doc.Paragraph((runs, doc.Name(first.name), " with two texts:")),
        _predictions(found),
        doc.Paragraph(("To see one pair in full, add its number: ", command)),
        doc.Paragraph((EFFECT,) if has_effects else ranked),
        *_patched(found),
    )
    return doc.Document(first.name, first.scenario.title, introduction, tuple(_sweep(found)))


def _predictions(found: Pairs) -> doc.Table:
    """The texts of each pair, and what follows each of them."""
    rows = []
    for number, experiment in enumerate(found.experiments, 1):
        runs, texts = experiment.comparison.runs, found.texts[number - 1]
        for which, run, text in zip(("first", "second"), runs, texts, strict=True):
            rows.append((str(number), which, _next(experiment, run), text))
    return doc.Table.of(("pair", "run", "next", "text"), rows)


def _next(experiment: Experiment, run: Trace) -> str:
    """The word that a run predicts."""
    entry = experiment.comparison.predicted(run)
    return word_of(entry) if entry else "—"


def _patched(found: Pairs) -> Iterator[doc.Block]:
    """The mean effect of a patch."""
    effects = [each.effect for each in found.experiments if each.effect is not None]
    if not effects:
        return
    sites = listed([site.name for site in found.experiments[0].sites])
    mean, spread = effect_number(fmean(effects)), effect_number(stdev(effects))
    effect = (", the mean effect is ", mean, ", with a spread of ", spread, ":")
    yield doc.Paragraph(("With the second run's numbers at ", *sites, *effect))
    rows = [(str(number), effect_number(effect)) for number, effect in enumerate(effects, 1)]
    yield doc.Table.of(("pair", "effect"), rows)


def _sweep(found: Pairs) -> Iterator[doc.Section]:
    """The places of a sweep, ranked by their mean effects."""
    experiment = found.experiments[0]
    if not experiment.effects:
        return
    source = experiment.effects[0].site.source
    sentence = each_row(source, "a run of its own for each pair").rstrip()
    if len(found.lengths) > 1 and experiment.effects[0].site.token is not None:
        sentence += " The texts differ in length: [-1] is the row of the last token."
    places = []
    for each in found.mean_effects():
        least, most = min(each.shares), max(each.shares)
        numbers = map(effect_number, (each.mean, each.spread, least, most))
        places.append(RankedPlace(each.site, each.name, tuple(numbers)))
    yield doc.Section(
        None,
        f"{TITLES[source]}: means over {len(found.texts)} pairs",
        (
            doc.Paragraph((sentence,)),
            *ranking(("mean", "spread", "least", "most"), places, "mean"),
            *in_order(places, experiment.comparison.first, _labels(found), "mean"),
        ),
    )


def _labels(found: Pairs) -> tuple[str, ...]:
    """The tokens that all first texts have at the same position; of others, the position."""
    columns = zip(*(each.comparison.first.tokens for each in found.experiments), strict=False)
    labels = (
        column[0] if len(set(column)) == 1 else f"token {position}"
        for position, column in enumerate(columns, 1)
    )
    return distinct(tuple(labels))
