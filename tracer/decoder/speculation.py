"""Speculative decoding: a draft model proposes words, the target model checks them in one pass.

Leviathan et al. 2023, Chen et al. 2023.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from tracer.console import progress
from tracer.decoder.forward import (
    EarlierPasses,
    PassOptions,
    Trace,
    arithmetic_of,
    check_numbers,
    trace,
)
from tracer.decoder.generation import Choice, most_probable, next_draw, with_tokens
from tracer.decoder.operations import Rows
from tracer.decoder.roles import LOGITS
from tracer.decoder.sampling import Sampling, kept_probabilities
from tracer.decoder.shares import Overlap, Shares, drawn, shares
from tracer.decoder.tape import Tape
from tracer.errors import Located, Problem, TracerError
from tracer.formula.numbers import as_decimal
from tracer.scenario.model import Scenario

DRAFT = "--draft"
MOST_KEPT = 4
"""The number of earlier passes of the draft model that are kept."""
DRAFTED = 3
"""The number of words that are drafted in a round, unless something else is asked for."""


@dataclass(frozen=True)
class Guess:
    """What a model says of the next word: its most probable one, and where words are drawn, shares.

    `trace` is the pass, and `row` the row of the token before the word.
    """

    trace: Trace
    row: int
    likeliest: str
    shares: Shares | None = None


@dataclass(frozen=True)
class Draft:
    """A drafted word, the draft model's guess, and the random number that drew it, if one did."""

    word: str
    guess: Guess
    draw: Decimal | None = None


@dataclass(frozen=True)
class Check:
    """A drafted word, the target's guess for its position, and whether the word is accepted.

    `draw` is the random number that decides; without random numbers, the word must be the target's
    most probable one.
    """

    draft: Draft
    guess: Guess
    accepted: bool
    draw: Decimal | None = None

    @property
    def overlap(self) -> Overlap | None:
        """What the target's and the draft's probabilities have in common, if words are drawn."""
        q, p = self.draft.guess.shares, self.guess.shares
        return Overlap(p, q) if p and q else None


@dataclass(frozen=True)
class Last:
    """The word that the target adds at the end of a round, its guess and the random number.

    The word after a rejection is drawn from the residual of the last check.
    """

    word: str
    guess: Guess
    draw: Decimal | None = None


@dataclass(frozen=True)
class Round:
    """Drafted words, the checks up to the first rejection, and the target's own word, if any."""

    text: tuple[str, ...]
    drafts: tuple[Draft, ...]
    target: Trace
    checks: tuple[Check, ...]
    last: Last | None

    @property
    def accepted(self) -> tuple[str, ...]:
        """The drafted words that are accepted."""
        return tuple(check.draft.word for check in self.checks if check.accepted)

    @property
    def rejects(self) -> bool:
        """Whether a drafted word is rejected."""
        return len(self.accepted) < len(self.checks)

    @property
    def written(self) -> tuple[str, ...]:
        """The words that the round adds to the text."""
        return (*self.accepted, *((self.last.word,) if self.last else ()))


@dataclass(frozen=True)
class Speculated:
    """The rounds and the final text; `ended` by an end word."""

    rounds: tuple[Round, ...]
    text: tuple[str, ...]
    ended: bool


@dataclass(frozen=True)
class SpeculationOptions:
    """How a text begins, how its words are chosen, and how many there are at most.

    `drafted` is the number of words that are drafted in a round.
    """

    start: tuple[str, ...]
    most: int
    choice: Choice | None = None
    drafted: int = DRAFTED


class Models(Protocol):
    """A draft model and a target model with the same vocabulary."""

    def propose(self, text: tuple[str, ...]) -> Guess:
        """What the draft model says of the word after a text."""

    def score(self, text: tuple[str, ...], drafted: tuple[str, ...]) -> list[Guess]:
        """What the target says of each drafted word's position, and of the next one if it can."""

    def can_follow(self, word: str) -> bool:
        """Whether both models can read a word, and the text goes on after it."""

    def ends(self, word: str) -> bool:
        """Whether a word ends the text."""


def speculate(models: Models, options: SpeculationOptions) -> Speculated:
    """Append words to `start` until an end word, or `most` words.

    In each round, at most `drafted` words are drafted, one less than may still be written: the
    target adds a word to those that it accepts. The random numbers are used in this order: one for
    each drafted word, one for each check, one for the target's own word.

    Raises:
        TracerError: a pass has no result, or a model cannot read a word.
    """
    choice = options.choice
    numbers = random.Random(choice.seed) if choice else None
    rounds: list[Round] = []
    text, end = tuple(options.start), len(options.start) + options.most
    while len(text) < end and not (rounds and models.ends(text[-1])):
        progress.report(f"word {len(text) - len(options.start) + 1} of at most {options.most}")
        found = _round(models, text, min(options.drafted, end - len(text) - 1), numbers)
        rounds.append(found)
        text = (*text, *found.written)
    return Speculated(tuple(rounds), text, models.ends(text[-1]))


def _round(
    models: Models, text: tuple[str, ...], most: int, numbers: random.Random | None
) -> Round:
    drafts: list[Draft] = []
    words: tuple[str, ...] = ()
    while len(words) < most and (not words or models.can_follow(words[-1])):
        guess, draw = models.propose((*text, *words)), next_draw(numbers) if numbers else None
        word = guess.likeliest
        if draw is not None and guess.shares:
            word = drawn(guess.shares.numbers, draw)
        drafts.append(Draft(word, guess, draw))
        words = (*words, word)
    guesses = models.score(text, words)
    checks: list[Check] = []
    for draft, guess in zip(drafts, guesses, strict=False):
        draw = next_draw(numbers) if numbers else None
        check = Check(draft, guess, draft.word == guess.likeliest, draw)
        if draw is not None and check.overlap:
            check = Check(draft, guess, check.overlap.accepts(draft.word, draw), draw)
        checks.append(check)
        if not check.accepted:
            break
    last = _last(checks, guesses, numbers)
    return Round(text, tuple(drafts), guesses[0].trace, tuple(checks), last)


def _last(
    checks: list[Check], guesses: list[Guess], numbers: random.Random | None
) -> Last | None:
    """The target's own word: after a rejection from the residual, else from the next guess."""
    rejected = checks[-1] if checks and not checks[-1].accepted else None
    if rejected is None and len(guesses) == len(checks):
        return None
    guess = rejected.guess if rejected else guesses[len(checks)]
    if numbers is None or guess.shares is None:
        return Last(guess.likeliest, guess)
    draw = next_draw(numbers)
    if rejected and rejected.overlap:
        overlap = rejected.overlap
        return Last(drawn(overlap.residual, draw * overlap.rest), guess, draw)
    return Last(drawn(guess.shares.numbers, draw), guess, draw)


@dataclass
class Passes:
    """Two scenarios as models: each guess is a row of a pass.

    `cached` lets the draft model reuse the keys and values of the words before; the `located` find
    a problem's place in the file of the target and of the draft.
    """

    target: tuple[str, Scenario]
    draft: tuple[str, Scenario]
    choice: Choice | None = None
    cached: bool = False
    located: tuple[Located, Located] = (tuple, tuple)
    _drafted: list[Trace] = field(default_factory=list)
    """The last passes of the draft model, from which it can go on."""
    _first: dict[int, Trace] = field(default_factory=dict)
    """The first pass of each model, which has computed its encoder."""

    def __post_init__(self) -> None:
        """Check that the models can be used together.

        Raises:
            TracerError: one has no vocabulary or no numbers, the vocabularies differ, or a token
                sees later ones.
        """
        (name, target), (other, draft) = self.target, self.draft
        for of, scenario, said in ((name, target, "vocabulary"), (other, draft, DRAFT)):
            check_numbers(scenario)
            if scenario.vocabulary is None:
                message = f"{of} has no vocabulary, which speculative decoding needs"
                raise TracerError(Problem(message, address=said))
        if target.looks_ahead:
            message = "the mask shows later tokens, so drafted words would change the earlier ones"
            raise TracerError(Problem(message, address="mask", yaml_path=("mask",)))
        words, others = set(target.vocabulary or ()), set(draft.vocabulary or ())
        if words != others:
            lacks, has = (other, name) if words - others else (name, other)
            several = words - others or others - words
            word = min(several)
            message = (
                f"{lacks} has no word {word!r} in its vocabulary, and {has} has it; both models "
                "need the same words"
            )
            raise TracerError(Problem(message, address=DRAFT))

    def ends(self, word: str) -> bool:
        """Whether a word ends the text, which the target decides."""
        return word in self.target[1].ends

    def can_follow(self, word: str) -> bool:
        """Whether both models have an embedding of a word that does not end the text."""
        tables = (self.target[1].embeddings, self.draft[1].embeddings)
        known = all(not isinstance(table, Mapping) or word in table for table in tables)
        return known and not self.ends(word)

    def propose(self, text: tuple[str, ...]) -> Guess:
        """What the draft model says of the word after a text, in a pass over it."""
        before = [found for found in self._drafted if text[: len(found.tokens)] == found.tokens]
        shorter = [found for found in before if len(found.tokens) < len(text)]
        cache = shorter[-1] if self.cached and shorter else None
        found = self._pass(1, text, cache)
        self._drafted = [*before[-MOST_KEPT:], found]
        with self._locating(1):
            return self._guess(found, -1)

    def score(self, text: tuple[str, ...], drafted: tuple[str, ...]) -> list[Guess]:
        """What the target says of each drafted word and of the next, in one pass over all."""
        read = drafted if not drafted or self.can_follow(drafted[-1]) else drafted[:-1]
        found = self._pass(0, (*text, *read), None)
        with self._locating(0):
            return [self._guess(found, row - len(read) - 1) for row in range(len(read) + 1)]

    def _pass(self, which: int, text: tuple[str, ...], cache: Trace | None) -> Trace:
        name, scenario = (self.target, self.draft)[which]
        options = PassOptions(located=self.located[which])
        with self._locating(which):
            earlier = EarlierPasses(cache, self._first.get(which))
            found = trace(name, with_tokens(scenario, text), options, earlier=earlier)
        self._first.setdefault(which, found)
        return found

    @contextmanager
    def _locating(self, which: int) -> Iterator[None]:
        """Raise problems again with their places in the file of a model."""
        try:
            yield
        except TracerError as error:
            raise TracerError(*self.located[which](error.problems)) from None

    def _guess(self, found: Trace, row: int) -> Guess:
        """The guess of a row, counted from the end."""
        logits = found[LOGITS.name]
        at = logits.shape[0] + row
        likeliest = most_probable(found, row)
        choice, scenario = self.choice, found.scenario
        if choice is None:
            return Guess(found, row, likeliest)
        tape = Tape(arithmetic_of(scenario), found.pencil)
        sampling = Sampling(Decimal(0), choice.temperature, choice.top_k, choice.top_p)
        with tape.computing():
            p = kept_probabilities(
                *(tape, tape.record(LOGITS, Rows((at,)), logits), sampling),
                shifted=scenario.softmax == "shifted",
                excluded=scenario.excluded,
            )
            exact = [as_decimal(number) for number in p.numbers[0]]
        return Guess(found, row, likeliest, shares(p.axes[1].labels, exact, self.places))

    @property
    def places(self) -> int:
        """The decimals of both models' probabilities: those of print, or more for many words."""
        decimals = (scenario.rounding.decimals for _, scenario in (self.target, self.draft))
        return max(*decimals, len(str(len(self.target[1].vocabulary or ()))) + 1)
