"""What two passes predict, and what a patched pass predicts; which patches restore the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tracer.decoder import roles
from tracer.decoder.comparison import Comparison
from tracer.decoder.forward import Trace
from tracer.decoder.sweeps import Experiment
from tracer.decoder.value import Entry
from tracer.formula import expression as ex
from tracer.formula.evaluation import holds, relation, value as evaluated
from tracer.formula.numbers import round_half_away, trimmed
from tracer.lesson import document as doc
from tracer.lesson.context import after, joined, listed
from tracer.lesson.entries import number
from tracer.lesson.steps.gradient_claims import two_digits
from tracer.lesson.texts.sweep_text import (
    TITLES,
    RankedPlace,
    each_row,
    effect_number,
    in_order,
    ranking,
)
from tracer.lesson.working.lines import MOST_GUARD_DIGITS
from tracer.names import distinct

SIGNS = "Here, z is the logit of a word and p its probability."


def predictions(experiment: Experiment) -> tuple[doc.Block, ...]:
    """Return what each run predicts, and the effect of a patch."""
    return tuple(_Answers(experiment).predictions())


def sweep(experiment: Experiment) -> tuple[doc.Section, ...]:
    """Return the section about a sweep, if there is one."""
    return tuple(_Answers(experiment).sweep())


def worked_line(label: str, write: Callable[[int], ex.Expression], of: Trace) -> doc.Line:
    """Return the line of a calculation with numbers of several passes.

    `write` returns it with so many extra digits; the line has as few as keep it true.
    """
    exact = trimmed(evaluated(write(MOST_GUARD_DIGITS))[0])
    places = max(of.scenario.rounding.decimals, two_digits(exact).places)
    result = ex.Number(exact)
    if result.places > places:
        result = ex.Number(round_half_away(exact, places))
    sides = map(write, range(MOST_GUARD_DIGITS + 1))
    left = next(side for side in sides if holds(side, result, result.places))
    return doc.Line(label, ex.Chain((left, result), (relation(left, result),)))


def side_by_side(seen: Sequence[tuple[str, Trace, Entry]]) -> doc.Table:
    """Return the logits and probabilities of the words that several runs predict.

    Each run has its name and the logit of its word.
    """
    words = dict.fromkeys(word_of(entry) for _, _, entry in seen)
    header = ["word", *(f"{what}, {run}" for run, _, _ in seen for what in ("z", "p"))]
    rows = [
        [word, *(cell for _, found, entry in seen for cell in _cells(word, found, entry.at[0]))]
        for word in words
    ]
    return doc.Table.of(header, rows)


def _cells(word: str, found: Trace, row: int) -> Iterator[str | ex.Number]:
    """The logit and the probability of a word in one run; a run may not have the word."""
    for role in (roles.LOGITS, roles.PROBABILITIES):
        value = found[role.name]
        labels = value.axes[1].labels
        there = word in labels
        yield number(found.pencil, value, (row, labels.index(word))) if there else "—"


@dataclass(frozen=True)
class _Answers:
    experiment: Experiment

    @property
    def comparison(self) -> Comparison:
        return self.experiment.comparison

    def predictions(self) -> Iterator[doc.Block]:
        runs = [("first", self.comparison.first), ("second", self.comparison.second)]
        if self.experiment.patched:
            runs.append(("patched", self.experiment.patched))
        seen = {run: entry for run, found in runs if (entry := self.comparison.predicted(found))}
        if not seen:
            return
        rows = [(run, found, seen[run]) for run, found in runs if run in seen]
        yield doc.Paragraph(tuple(self._says(seen)))
        yield side_by_side(rows)
        if self.experiment.patched:
            yield from self._patched()

    def _says(self, seen: dict[str, Entry]) -> Iterator[doc.Inline]:
        yield from self._after()
        words = {word_of(each) for each in seen.values()}
        if len(words) == 1 and len(seen) > 1:
            runs = "both" if len(seen) == 2 else "all"
            yield from (f"{runs} runs predict ", doc.Name(*words))
        else:
            yield from joined(
                [
                    (f"the {run} run predicts ", doc.Name(word_of(each)))
                    for run, each in seen.items()
                ]
            )
        yield f". {SIGNS}"

    def _after(self) -> doc.Sentence:
        """`After the last token, `, or after the followed one."""
        token, first = self.comparison.followed[0], self.comparison.first
        at = f"{after(first.scenario).capitalize()} "
        if token < 0:
            return (f"{at}the last token, ",)
        return (at, doc.Name(distinct(first.tokens)[token]), ", ")

    def _patched(self) -> Iterator[doc.Block]:
        sites = listed([site.name for site in self.experiment.sites])
        yield doc.Paragraph(
            ("The patched run is the first with the second's numbers at ", *sites, ".")
        )
        patched = self.experiment.patched
        if self.comparison.answers is None or patched is None:
            return
        yield doc.Paragraph(self._effect_is())

        def write(guard: int) -> ex.Expression:
            own = self._margin(self.comparison.first, guard)
            over = ex.Difference(self._margin(patched, guard), own)
            return ex.Quotient(
                over, ex.Difference(self._margin(self.comparison.second, guard), own)
            )

        yield doc.Working((worked_line("effect", write, self.comparison.first),))

    def _margin(self, found: Trace, guard: int) -> ex.Expression:
        assert self.comparison.answers
        entry = self.comparison.predicted(found)
        assert entry
        logits, (row, _) = entry
        own, other = (
            number(found.pencil, logits, (row, column), guard) for column in self.comparison.answers
        )
        return ex.Difference(other, own)

    def _effect_is(self) -> doc.Sentence:
        comparison = self.comparison
        ours, theirs = map(comparison.predicted, (comparison.first, comparison.second))
        assert ours and theirs
        own, other = doc.Name(word_of(ours)), doc.Name(word_of(theirs))
        switch: doc.Sentence = ("The effect is the share of the switch from ", own, " to ", other)
        return (
            *switch,
            " that the patch causes: with 0, the difference of their logits stays that of the "
            "first run; with 1, it becomes that of the second.",
        )

    def sweep(self) -> Iterator[doc.Section]:
        effects = self.experiment.effects
        if not effects:
            return
        first, source = self.comparison.first, effects[0].site.source
        meaning = () if self.experiment.patched else self._effect_is()
        places = [
            RankedPlace(each.site, each.site.name, (effect_number(each.share),)) for each in effects
        ]
        blocks = (
            doc.Paragraph((each_row(source), *meaning)),
            *ranking(("effect",), places),
            *in_order(places, first, distinct(first.tokens)),
        )
        yield doc.Section(None, TITLES[source], blocks)


def word_of(entry: Entry) -> str:
    """Return the word whose logit an entry is."""
    return entry.value.axes[1].labels[entry.at[1]]
