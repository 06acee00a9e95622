"""Speculative decoding: a draft model proposes words, the target model checks them in one pass.

Leviathan et al. 2023, Chen et al. 2023.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from tracer.console import progress
from tracer.decoder.forward import Trace
from tracer.decoder.generation import Choice, next_draw
from tracer.decoder.shares import Overlap, Shares, drawn
from tracer.decoder.tape import Record

DRAFTED = 3
"""The number of words that are drafted in a round, unless something else is asked for."""


@dataclass(frozen=True)
class Guess:
    """What a model says of the next word: its most probable one, and where words are drawn, shares.

    `trace` is the pass, and `row` the row of the token before the word. `records` compute the
    probabilities from the logits of that row.
    """

    trace: Trace
    row: int
    likeliest: str
    shares: Shares | None = None
    records: tuple[Record, ...] = ()


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

    @property
    def draws(self) -> bool:
        """Whether words are drawn with random numbers."""
        last, checks = self.rounds[0].last, self.rounds[0].checks
        return any(each.draw is not None for each in (last, *checks) if each)


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


def _last(checks: list[Check], guesses: list[Guess], numbers: random.Random | None) -> Last | None:
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
