"""Beam search: in each turn, the texts with the largest sums of log probabilities are kept.

The rules are those of transformers with its defaults (`num_beams`, `length_penalty=1.0`,
`early_stopping=False`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from heapq import nlargest
from typing import Any

from tracer.console import progress
from tracer.decoder.elementwise import AddNumber, DivideBy, Log
from tracer.decoder.forward import (
    EarlierPasses,
    PassOptions,
    Trace,
    arithmetic_of,
    check_writes,
    trace,
)
from tracer.decoder.generation import with_tokens
from tracer.decoder.operations import Select, TakeEntry
from tracer.decoder.roles import LOGITS, PROBABILITIES, Role, RoundingRule
from tracer.decoder.tape import Record, Tape
from tracer.decoder.value import Value
from tracer.errors import Located, Problem, TracerError
from tracer.scenario.model import Scenario

CANDIDATES = Role("beam.probabilities")
LOGARITHMS = Role("beam.logarithms")
BEFORE = Role("beam.before", RoundingRule.ALL)
SCORES = Role("beam.scores", RoundingRule.ALL)
SCORE = Role("beam.score", RoundingRule.ALL)
MEAN = Role("beam.mean")


@dataclass(frozen=True, eq=False)
class Beam:
    """A text that is kept, and the pass over it; `trace` has the scores of its continuations, too.

    `scores` (1, words) are the sums of the logarithms of the probabilities of all words after the
    start; words with the probability 0, and those that are never generated, are left out.
    """

    words: tuple[str, ...]
    passed: Trace
    trace: Trace
    scores: Value

    @property
    def continuations(self) -> tuple[str, ...]:
        """The words that can come next."""
        return self.scores.axes[1].labels

    @cached_property
    def row(self) -> list[Decimal | float]:
        """The scores before rounding."""
        found: list[Decimal | float] = self.scores.computed[0].tolist()
        return found


@dataclass(frozen=True, eq=False)
class Candidate:
    """A continuation of a beam by one word; `column` is its column in the beam's scores.

    `mean` is the score divided by the number of words, for a text that is finished.
    """

    beam: Beam
    column: int
    mean: Record | None = None

    @property
    def key(self) -> tuple[Beam, int]:
        """The same for a candidate with its mean and without."""
        return self.beam, self.column

    @property
    def word(self) -> str:
        """The word that comes next."""
        return self.beam.continuations[self.column]

    @property
    def words(self) -> tuple[str, ...]:
        """The words after the start, with this one."""
        return (*self.beam.words, self.word)

    @property
    def score(self) -> Decimal | float:
        """The sum of the logarithms, before rounding."""
        return self.beam.row[self.column]

    @property
    def order(self) -> tuple[Decimal | float, Decimal | float]:
        """What candidates are sorted by: the score; of equal scores, the logit."""
        logits = self.beam.trace[LOGITS.name]
        logit: Decimal | float = logits.computed[-1][logits.axes[1].labels.index(self.word)]
        return self.score, logit


@dataclass(frozen=True)
class BeamTurn:
    """The beams of a turn and the best of all candidates, the best first.

    `kept` go on, `finished` are new finished texts; `candidates` is the number of all.
    """

    beams: tuple[Beam, ...]
    candidates: int
    best: tuple[Candidate, ...]
    kept: tuple[Candidate, ...]
    finished: tuple[Candidate, ...]


@dataclass(frozen=True)
class Searched:
    """The turns of a beam search and the finished texts, the one with the largest mean first.

    `stopped` is the best text that was not finished, if the search stopped because its mean was not
    larger than the smallest mean of the finished texts; `limited`, if it stopped at the limit.
    """

    start: tuple[str, ...]
    width: int
    turns: tuple[BeamTurn, ...]
    finished: tuple[Candidate, ...]
    ended: bool
    stopped: Candidate | None = None
    limited: bool = False

    @property
    def text(self) -> tuple[str, ...]:
        """The text with the largest mean."""
        return (*self.start, *self.finished[0].words)


@dataclass(frozen=True)
class BeamOptions:
    """How a text begins, how many texts are kept, and how many words there are at most."""

    start: tuple[str, ...]
    most: int
    width: int
    cached: bool = False


def search(
    name: str, scenario: Scenario, options: BeamOptions, located: Located = tuple
) -> Searched:
    """Find a text by beam search.

    Each turn has a candidate for each kept text and each word. Of the best `width`, those that end
    with an end word are finished. The best `width` of the others are kept. Finished texts are
    compared by the mean logarithm of their words' probabilities, and the best `width` are kept. The
    search stops at `most` words, where the best texts are finished without an end word, or if
    `width` texts are finished and the best kept text has no larger mean than all of them.

    Raises:
        TracerError: no numbers, no vocabulary, a model that predicts masked words, a pass without
            a result, or no vector for a token or position; cached keys and values would change.
    """
    check_writes(scenario)
    if scenario.vocabulary is None:
        message = "beam search needs a vocabulary"
        raise TracerError(Problem(message, address="vocabulary", yaml_path=("vocabulary",)))
    if options.cached and scenario.looks_ahead:
        message = "the mask shows later tokens, so cached keys and values would change"
        raise TracerError(Problem(message, address="mask", yaml_path=("mask",)))
    width, ends = options.width, scenario.ends
    # Enough that `width` of them go on, even if each beam's best ones end.
    wanted = max(2, 1 + len(ends)) * width
    turns: list[BeamTurn] = []
    pool: list[Candidate] = []
    kept: tuple[Candidate, ...] = ()
    searches = _Passes(name, scenario, options, located)
    for number in range(1, options.most + 1):
        progress.report(f"word {number} of at most {options.most}")
        beams = tuple(searches.beams(kept))
        every = (Candidate(beam, i) for beam in beams for i in range(len(beam.continuations)))
        best = _best(every, wanted)
        is_last = number == options.most
        done = [c for c in best[:width] if is_last or c.word in ends]
        finished = tuple(searches.with_mean(candidate, number) for candidate in done)
        pool = nlargest(width, [*pool, *finished], key=_mean)
        goes_on = [c for c in best if not is_last and c.word not in ends]
        kept = tuple(goes_on[:width])
        count = sum(len(beam.continuations) for beam in beams)
        turns.append(BeamTurn(beams, count, best, kept, finished))
        if not kept:
            break
        if len(pool) == width:
            open_text = searches.with_mean(kept[0], number)
            if _mean(open_text) <= _mean(pool[-1]):
                return _searched(options, turns, pool, ends, open_text)
    return _searched(options, turns, pool, ends)


def _searched(
    options: BeamOptions,
    turns: list[BeamTurn],
    pool: list[Candidate],
    ends: tuple[str, ...],
    stopped: Candidate | None = None,
) -> Searched:
    ended, limited = pool[0].word in ends, stopped is None and len(turns) == options.most
    every = tuple(turns), tuple(pool)
    return Searched(options.start, options.width, *every, ended, stopped, limited)


def _best(candidates: Iterator[Candidate], wanted: int) -> tuple[Candidate, ...]:
    """The candidates with the largest scores; of equal ones, with the largest logits."""
    every = list(candidates)
    border = nlargest(wanted, (candidate.score for candidate in every))[-1]
    near = [candidate for candidate in every if candidate.score >= border]
    return tuple(sorted(near, key=lambda each: each.order, reverse=True)[:wanted])


def _mean(candidate: Candidate) -> Decimal | float:
    assert candidate.mean is not None
    found: Any = candidate.mean.output.computed
    mean: Decimal | float = found[()]
    return mean


@dataclass
class _Passes:
    """The passes of a search; each reuses the encoder of the first."""

    name: str
    scenario: Scenario
    options: BeamOptions
    located: Located
    first: Trace | None = None

    def beams(self, kept: tuple[Candidate, ...]) -> Iterator[Beam]:
        """The beams of the next turn: the start, or the candidates that are kept."""
        for candidate in kept or (None,):
            words = candidate.words if candidate else ()
            before = candidate.beam.passed if candidate and self.options.cached else None
            text = with_tokens(self.scenario, (*self.options.start, *words))
            earlier = EarlierPasses(before, self.first)
            found = trace(self.name, text, PassOptions(located=self.located), earlier=earlier)
            self.first = self.first or found
            yield self._scored(found, words, candidate)

    def _scored(self, found: Trace, words: tuple[str, ...], candidate: Candidate | None) -> Beam:
        """Record the scores of all words after a text, on the tape of its pass."""
        probabilities = found[PROBABILITIES.name]
        tape = Tape(arithmetic_of(self.scenario), found.pencil, located=self.located)
        excluded, row = set(self.scenario.excluded), probabilities.numbers[-1]
        labels = probabilities.axes[1].labels
        columns = tuple(i for i, word in enumerate(labels) if row[i] and word not in excluded)
        with tape.computing():
            p = tape.record(CANDIDATES, Select(columns), probabilities)
            scores = tape.record(LOGARITHMS, Log(), p)
            if candidate:
                before = tape.record(BEFORE, TakeEntry(0, candidate.column), candidate.beam.scores)
                scores = tape.record(SCORES, AddNumber(), scores, before)
        scored = replace(found, records=(*found.records, *tape.records))
        return Beam(words, found, scored, scores)

    def with_mean(self, candidate: Candidate, words: int) -> Candidate:
        """Record the score of a candidate, divided by the number of its words."""
        tape = Tape(arithmetic_of(self.scenario), candidate.beam.trace.pencil)
        with tape.computing():
            score = tape.record(SCORE, TakeEntry(0, candidate.column), candidate.beam.scores)
            tape.record(MEAN, DivideBy(Decimal(words)), score)
        return replace(candidate, mean=tape.records[-1])
