"""Two passes side by side: what they predict, the first difference, how far apart they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import isfinite

from tracer.decoder import roles
from tracer.decoder.comparison import TOLERANCE, Alignment, Comparison, Difference
from tracer.decoder.sweeps import Experiment, outputs_of_layers
from tracer.decoder.value import Entry
from tracer.formula import expression as ex
from tracer.lesson import document as doc
from tracer.lesson.context import joined, listed
from tracer.lesson.entries import name, number
from tracer.lesson.steps.gradient_claims import two_digits
from tracer.lesson.texts import sentences
from tracer.lesson.texts.answers import predictions, sweep, worked_line
from tracer.lesson.texts.followed_difference import followed_difference
from tracer.lesson.texts.teacher import Teacher

MOST_NAMES = 8
"""The most values without a counterpart that are listed."""
ONLY_ONE = "only one run has these values or their shapes differ"
NONE_DIFFERS: doc.Sentence = ("No compared value differs.",)

DISTANCE: doc.Sentence = (
    "The difference is the largest |second − first| in a value. The relative difference divides "
    "it, row by row, by the row's largest number in the first run, regardless of sign; the table "
    "shows the largest quotient. Both have two significant digits. Relative ",
    *("differences up to ", ex.Number(Decimal(str(TOLERANCE))), " do not count."),
)


def comparison_text(experiment: Experiment) -> doc.Document:
    """Return the text about two passes."""
    return _TextOfRuns(experiment).document()


@dataclass(frozen=True)
class _TextOfRuns:
    experiment: Experiment

    @property
    def comparison(self) -> Comparison:
        return self.experiment.comparison

    @cached_property
    def teacher(self) -> Teacher:
        return Teacher(self.comparison.first)

    def document(self) -> doc.Document:
        first = self.comparison.first
        sections = (
            *sweep(self.experiment),
            *self._first_difference(),
            *followed_difference(self.comparison),
            *self._distances(),
        )
        notes = () if self.comparison.first_difference else (NONE_DIFFERS, *self._not_all())
        introduction = (
            doc.Paragraph(tuple(self._runs())),
            *predictions(self.experiment),
            *doc.paragraphs(*notes),
        )
        # The intro may have worked lines, too: those of a patch.
        answer, *signed = self.teacher.with_signs([doc.Section(None, "", introduction), *sections])
        return doc.Document(first.name, first.scenario.title, answer.blocks, tuple(signed))

    def _runs(self) -> Iterator[doc.Inline]:
        comparison, (own, other) = self.comparison, self.experiment.names
        texts = [
            each.scenario.written(each.tokens) for each in (comparison.first, comparison.second)
        ]
        yield from ("The first run is ", doc.Name(own), " with the tokens ", doc.Name(texts[0]))
        yield from (". The second run is ", doc.Name(other), " with ")
        yield from ("the same tokens.",) if texts[0] == texts[1] else (doc.Name(texts[1]), ".")
        given = [
            a for a in comparison.first.scenario.given if a in comparison.second.scenario.given
        ]
        if given:
            are = "is" if len(given) == 1 else "are"
            yield from (" In both runs, ", *listed(given), f" {are} given, not computed.")

    def _not_all(self) -> Iterator[doc.Sentence]:
        """Say which tokens and values are not compared."""
        comparison = self.comparison
        yield from alignment("texts", comparison.tokens)
        if comparison.encoder_tokens:
            yield from alignment("encoder's texts", comparison.encoder_tokens)
        own = [run.values[a] for run in comparison.runs for a in run.values]
        inner = {v.address for v in own if v.role.of_parameters or v.role.frozen}
        if names := [each for each in comparison.not_compared if each not in inner]:
            more = [(f"{len(names) - MOST_NAMES} more",)] if len(names) > MOST_NAMES else []
            parts = joined([*((doc.Name(each),) for each in names[:MOST_NAMES]), *more])
            yield (f"Not compared, because {ONLY_ONE}: ", *parts, ".")

    # --- how far apart ---------------------------------------------------------------------------

    def _first_difference(self) -> Iterator[doc.Section]:
        first = self.comparison.first_difference
        if first is None:
            return
        value = first.first.value
        step = self.teacher.step_of.get(value.address)
        title = sentences.title(step, self.teacher.ctx.at(step.place)) if step else value.address
        where = f"step {step.number}, {title}" if step else title
        ours, theirs = self._apart(first)
        there: doc.Sentence = (theirs, " in the second run.")
        if name(first.first) != name(first.second):
            there = (doc.Name(name(first.second)), " is ", *there)
        largest = " No other difference in this value is larger." if value.axes else ""
        between = " in the first run and " if len(there) == 2 else " in the first run, and "
        sentence = (doc.Name(name(first.first)), " is ", ours, between, *there, largest)
        blocks: list[doc.Block] = [doc.Paragraph(sentence)]
        if isfinite(first.largest):
            blocks.append(doc.Working((self._difference_line(first),)))
        yield doc.Section(None, f"First difference: {where}", tuple(blocks))

    def _number(self, entry: Entry, guard: int = 0, *, of_second: bool = False) -> ex.Number:
        found = self.comparison.second if of_second else self.comparison.first
        return number(found.pencil, entry.value, entry.at, guard)

    def _apart(self, of: Difference) -> tuple[ex.Number, ex.Number]:
        """The numbers of both runs; as in the line of their difference, if they print alike."""
        ours, theirs = self._number(of.first), self._number(of.second, of_second=True)
        left = self._difference_line(of).chain.sides[0] if isfinite(of.largest) else None
        if ours.value != theirs.value or not isinstance(left, ex.Difference):
            return ours, theirs
        assert isinstance(left.left, ex.Number) and isinstance(left.right, ex.Number)
        return left.right, left.left

    def _difference_line(self, of: Difference) -> doc.Line:
        def write(guard: int) -> ex.Expression:
            theirs = self._number(of.second, guard, of_second=True)
            return ex.Difference(theirs, self._number(of.first, guard))

        return worked_line("second − first", write, self.comparison.first)

    def _distances(self) -> Iterator[doc.Section]:
        if self.comparison.first_difference is None:
            return
        differences = self.comparison.differences
        listed = [differences[address] for address in self._listed() if address in differences]
        rows = [
            (self._step(each), _size(each.largest), _size(each.of_row), each.first.value.address)
            for each in listed
        ]
        marked = next((i for i, each in enumerate(listed) if each.counts), None)
        table = doc.Table.of(("step", "difference", "relative", "value"), rows, marked)
        blocks: tuple[doc.Block, ...] = (*doc.paragraphs(*self._not_all(), DISTANCE), table)
        yield doc.Section(None, "How far apart the runs are", blocks)

    def _step(self, of: Difference) -> str:
        return str(self.teacher.step_of[of.first.value.address].number)

    def _listed(self) -> list[str]:
        """Return the result of each step; of a trained model, the vectors between the layers."""
        if not self.comparison.first.scenario.on_demand:
            return [step.last.output.address for step in self.teacher.steps]
        between = [value.address for value in outputs_of_layers(self.comparison.first).values()]
        ends = (roles.OUTPUT, roles.LOGITS, roles.PROBABILITIES)
        return [roles.INPUT.name, *between, *(role.name for role in ends)]


def alignment(what: str, found: Alignment) -> Iterator[doc.Sentence]:
    """Say which tokens of two texts are compared, if they differ."""
    n, m = len(found.first), len(found.second)
    if found.is_complete:
        if found.first != found.second:
            yield (f"Tokens at the same position of the {what} are compared.",)
        return
    ends = {"first": found.left, "last": found.right}
    parts = [
        f"the {end} token" if shared == 1 else f"the {end} {shared} tokens"
        for end, shared in ends.items()
        if shared
    ]
    yield (
        f"The {what} have {n} and {m} tokens. Only the tokens that they share at the beginning or "
        f"at the end are compared: {' and '.join(parts)}.",
    )


def _size(number: float) -> ex.Number:
    return two_digits(number) if isfinite(number) else ex.Number(Decimal("Infinity"))
