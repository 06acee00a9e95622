"""Probabilities of words as decimals that sum to exactly 1, and what those of two models share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import cycle, islice

from tracer.formula.evaluation import total_of
from tracer.formula.numbers import round_half_away

ZERO, ONE = Decimal(0), Decimal(1)


@dataclass(frozen=True)
class Shares:
    """The probability of each word, in the order of the draws; words with 0 are left out.

    Rounded to so many decimals, the probabilities have the sum `rounded`. `added` says what each
    word has more than its rounded probability, so that the sum is exactly 1.
    """

    numbers: Mapping[str, Decimal]
    places: int
    rounded: Decimal
    added: Mapping[str, Decimal]

    def of(self, word: str) -> Decimal:
        """The probability of a word."""
        return self.numbers.get(word, ZERO).quantize(ONE.scaleb(-self.places))


def shares(words: Sequence[str], probabilities: Sequence[Decimal], places: int) -> Shares:
    """Round probabilities to so many decimals, so that their sum is exactly 1.

    What is missing to 1, or too much, is distributed in units of the last decimal, one for each of
    the most probable words, for which it matters least.
    """
    unit = ONE.scaleb(-places)
    rounded = [round_half_away(p, places) for p in probabilities]
    total = total_of(rounded)
    missing = int((ONE - total) / unit)
    order = sorted(range(len(words)), key=probabilities.__getitem__, reverse=True)
    numbers, step = list(rounded), unit if missing > 0 else -unit
    for i in islice(cycle(order), abs(missing)):
        numbers[i] += step
    both = zip(words, numbers, rounded, strict=True)
    added = {word: number - before for word, number, before in both if number != before}
    kept = {word: number for word, number in zip(words, numbers, strict=True) if number}
    return Shares(kept, places, total, added)


@dataclass(frozen=True)
class Overlap:
    """What the probabilities p and q of two models have in common (Leviathan et al. 2023).

    A word that is drawn from q is accepted with the probability min(1, p / q), otherwise a word
    is drawn from the residual (p - min(p, q)) / (1 - α). Each word then occurs with the probability
    min(p, q) + (1 - α) · residual = p.
    """

    p: Shares
    q: Shares

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words that p or q contains, those of p first."""
        return tuple(dict.fromkeys((*self.p.numbers, *self.q.numbers)))

    def common(self, word: str) -> Decimal:
        """min(p, q): the probability that the word is drafted and accepted."""
        return min(self.p.of(word), self.q.of(word))

    def left(self, word: str) -> Decimal:
        """p - min(p, q): the probability that the word is drawn after a rejection."""
        return self.p.of(word) - self.common(word)

    @cached_property
    def alpha(self) -> Decimal:
        """Σ min(p, q): the probability that the drafted word is accepted."""
        return total_of(self.common(word) for word in self.words)

    @property
    def rest(self) -> Decimal:
        """1 - α: the probability of a rejection, and the sum of what is left of p."""
        return ONE - self.alpha

    @cached_property
    def residual(self) -> dict[str, Decimal]:
        """p - min(p, q) of the words that have some left, the largest first."""
        found = ((word, self.left(word)) for word in self.words)
        return dict(sorted((each for each in found if each[1]), key=lambda each: -each[1]))

    def accepts(self, word: str, draw: Decimal) -> bool:
        """Whether a random number accepts a drafted word: u < p / q, which is u q < p."""
        return draw * self.q.of(word) < self.p.of(word)


def drawn(numbers: Mapping[str, Decimal], at: Decimal) -> str:
    """The word whose interval of the running sums holds a number, which is less than their sum."""
    return next(word for word, _, end in intervals(numbers) if at < end)


def intervals(numbers: Mapping[str, Decimal]) -> Iterable[tuple[str, Decimal, Decimal]]:
    """Each word with the running sums before it and with it."""
    before = ZERO
    for word, number in numbers.items():
        yield word, before, before + number
        before += number
