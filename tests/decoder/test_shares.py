"""Speculative sampling in fractions: whatever p and q are, every word keeps exactly its p."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from tracer.decoder.generation import Choice
from tracer.decoder.pencil import Pencil
from tracer.decoder.shares import Overlap, Shares, drawn, shares
from tracer.decoder.speculation import (
    Check,
    Draft,
    Guess,
    SpeculationOptions,
    speculate,
)
from tracer.lesson import document as doc
from tracer.lesson.texts.acceptance import AcceptanceWriter
from tracer.renderers.text import one_line
from tracer.scenario.rounding import Rounding

WORDS = tuple("abcdefghijklmnopqrstuvwxyzäöüß")
PAIRS = 2000
DRAWS = 20_000
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
CRITICAL = {3: 16.27, 15: 37.70, 63: 103.44}
"""Chi-square: what a correct program exceeds once in 1,000 times, by its degrees of freedom."""


# --- pairs of distributions ----------------------------------------------------------------------


def of_random(rng: random.Random, words: int) -> list[float]:
    """Probabilities: even or concentrated, with zeros, with ties, or of one word."""
    kind = rng.randrange(5)
    if kind == 0:
        numbers = [rng.random() for _ in range(words)]
    elif kind == 1:
        numbers = [math.exp(rng.gauss(0, 4)) for _ in range(words)]
    elif kind == 2:
        numbers = [float(rng.random() < 0.5) for _ in range(words)]
    elif kind == 3:
        numbers = [rng.choice((1.0, 2.0, 3.0)) for _ in range(words)]
    else:
        numbers = [0.0] * words
    if not any(numbers):
        numbers[rng.randrange(words)] = 1.0
    total = math.fsum(numbers)
    return [number / total for number in numbers]


def pairs(number: int, seed: int) -> Iterator[tuple[Shares, Shares]]:
    rng = random.Random(seed)
    for i in range(number):
        words, places = rng.randint(1, len(WORDS) // 2), rng.choice((2, 3, 3, 4, 6))
        p, q = of_random(rng, words), of_random(rng, words)
        if i % 20 == 0:
            q = p
        if i % 20 == 1:  # no word in common
            words, half = 2 * words, words
            p = [*of_random(rng, half), *[0.0] * half]
            q = [*[0.0] * half, *of_random(rng, half)]
        yield tuple(shares(WORDS[:words], list(map(Decimal, each)), places) for each in (p, q))  # type: ignore[misc]


def exact(side: str) -> Fraction:
    """The value of a side of a printed line."""
    whole = re.sub(r"\[\d+ more: (.*?)\]", r"\1", side)
    powers = re.sub("×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda n: f"e{n[1].translate(RAISED)}", whole)
    number = r"[0-9.]+(?:e-?\d+)?"
    python = re.sub(number, lambda n: f"Fraction('{n[0]}')", powers.replace("×", "*"))
    found: Fraction = eval(python, {"Fraction": Fraction})
    return found


def blocks_of(p: Shares, q: Shares, word: str, draw: Decimal) -> list[doc.Block]:
    overlap = Overlap(p, q)
    trace: Any = None
    accepted = overlap.accepts(word, draw)
    drafted = Draft(word, Guess(trace, 0, word, q), draw)
    check = Check(drafted, Guess(trace, 0, word, p), accepted, draw)
    write = AcceptanceWriter(Pencil(Rounding()), "target", "draft")
    return list(write.check(check, overlap, draw))


@pytest.mark.parametrize("number", [300, pytest.param(PAIRS, marks=pytest.mark.fuzz)])
def test_the_printed_sum_is_exactly_p(number: int) -> None:
    seen = Counter[str]()
    rng = random.Random(3)
    for p, q in pairs(number, seed=2):
        assert sum(p.numbers.values()) == sum(q.numbers.values()) == 1
        word, draw = rng.choice(list(q.numbers)), Decimal(rng.randrange(10**4)).scaleb(-4)
        blocks = blocks_of(p, q, word, draw)
        [table] = [block for block in blocks if isinstance(block, doc.Table)]
        printed = {row[0].text: [str(cell.value) for cell in row[1:]] for row in table.rows}  # type: ignore[union-attr]
        lines = [line for block in blocks if isinstance(block, doc.Working) for line in block.lines]
        sums = set()
        for line in lines:
            chain = one_line(line.chain)
            sides, signs = re.split(" [=≈] ", chain), re.findall(" ([=≈]) ", chain)
            for left, sign, right in zip(sides, signs, sides[1:], strict=False):
                if not re.search("[αuq]", left):
                    assert (exact(left) == exact(right)) == (sign == "="), chain
            if re.search(r"\(.* / .*\)×", chain):
                assert exact(sides[-1]) == Fraction(printed[str(line.label)][1])
                sums.add(line.label)
        alpha = sum(min(Fraction(a), Fraction(b)) for a, b in zip(*every(p, q), strict=True))
        if alpha == 1:
            seen["equal"] += 1
            assert not sums
        else:
            assert sums == {label for label in printed if "others" not in label}
            seen["disjoint"] += alpha == 0
            seen["zero in q"] += any(q.of(x) == 0 for x in p.numbers)
            seen["zero in p"] += any(p.of(x) == 0 for x in q.numbers)
            seen["many"] += "others" in "".join(printed)
        seen["changed"] += bool(p.added)
        seen["pairs"] += 1
    assert seen["pairs"] == number and min(seen.values()) >= number // 100, seen


def every(p: Shares, q: Shares) -> tuple[list[Decimal], list[Decimal]]:
    words = {*p.numbers, *q.numbers}
    return [p.of(x) for x in words], [q.of(x) for x in words]


def test_every_word_keeps_its_probability() -> None:
    """Σ over drafted words of q·P(accept), and the residual, in fractions of another program."""
    for p, q in pairs(PAIRS // 4, seed=5):
        overlap = Overlap(p, q)
        ps, qs = ({w: Fraction(of.of(w)) for w in {*p.numbers, *q.numbers}} for of in (p, q))
        accepted = {
            w: qs[w] * min(Fraction(1), ps[w] / qs[w]) if qs[w] else Fraction(0) for w in ps
        }
        rejection = 1 - sum(accepted.values())
        residual = {w: max(Fraction(0), ps[w] - qs[w]) for w in ps}
        total = sum(residual.values())
        assert Fraction(overlap.alpha) == sum(accepted.values())
        assert {w for w in residual if residual[w]} == set(overlap.residual)
        for w in ps:
            assert accepted[w] + (rejection * residual[w] / total if total else 0) == ps[w]


@pytest.mark.parametrize(
    ("numbers", "places", "expected"),
    [
        (["0.33333", "0.33333", "0.33334"], 3, ["0.333", "0.333", "0.334"]),
        (["0.5", "0.5"], 3, ["0.500", "0.500"]),
        # Rounded up twice by a half: the most probable word gives it back.
        (["0.0015", "0.998", "0.0005"], 3, ["0.002", "0.997", "0.001"]),
        (["0.25", "0.25", "0.25", "0.25"], 1, ["0.2", "0.2", "0.3", "0.3"]),
    ],
)
def test_rounded_probabilities_sum_to_1(
    numbers: list[str], places: int, expected: list[str]
) -> None:
    found = shares(WORDS[: len(numbers)], list(map(Decimal, numbers)), places)
    assert [str(found.of(word)) for word in WORDS[: len(numbers)]] == expected
    rounded = sum(found.of(word) - found.added.get(word, 0) for word in WORDS[: len(numbers)])
    assert rounded == found.rounded


def test_no_probability_is_off_by_more_than_a_unit() -> None:
    for p, q in pairs(300, seed=7):
        for each in (p, q):
            assert all(
                abs(change) == Decimal(1).scaleb(-each.places) for change in each.added.values()
            )
            assert min(each.numbers.values()) > 0


# --- draws ---------------------------------------------------------------------------------------


class Toy:
    """Two models of four words, whose probabilities depend on the last word."""

    words = "abcd"

    def __init__(self) -> None:
        rng = random.Random(11)
        self.p = {x: self._shares(rng) for x in f"^{self.words}"}
        self.q = {x: self._shares(rng) for x in f"^{self.words}"}

    def _shares(self, rng: random.Random) -> Shares:
        numbers = [Decimal(str(rng.random() + 0.1)) for _ in self.words]
        return shares(self.words, [x / sum(numbers) for x in numbers], 3)

    def propose(self, text: tuple[str, ...]) -> Guess:
        return self._guess(self.q, text)

    def score(self, text: tuple[str, ...], drafted: tuple[str, ...]) -> list[Guess]:
        return [self._guess(self.p, (*text, *drafted[:i])) for i in range(len(drafted) + 1)]

    def _guess(self, of: dict[str, Shares], text: tuple[str, ...]) -> Guess:
        none: Any = None
        return Guess(none, 0, "", of[text[-1]])

    def can_follow(self, word: str) -> bool:
        return True

    def ends(self, word: str) -> bool:
        return False


SLOW = [pytest.param(number, marks=pytest.mark.fuzz) for number in (1, 4)]


@pytest.mark.parametrize("drafted", [2, *SLOW])
def test_many_draws_agree_with_the_target(drafted: int) -> None:
    """20,000 texts of three words, with the seeds 0 to 19,999; chi-square of 64 texts."""
    toy = Toy()
    found = Counter(
        "".join(speculate(toy, SpeculationOptions(("^",), 3, Choice(seed), drafted)).text[1:])
        for seed in range(DRAWS)
    )
    statistic, cells = 0.0, 0
    for a in toy.words:
        for b in toy.words:
            for c in toy.words:
                chain = ((toy.p["^"], a), (toy.p[a], b), (toy.p[b], c))
                expected = DRAWS * math.prod(float(of.of(word)) for of, word in chain)
                assert expected > 5
                statistic += (found[a + b + c] - expected) ** 2 / expected
                cells += 1
    assert statistic < CRITICAL[cells - 1]


def test_plain_draws_pass_the_same_test_and_the_drafts_own_do_not() -> None:
    toy, rng = Toy(), random.Random(1)
    for of, agrees in ((toy.p["^"], True), (toy.q["^"], False)):
        draws = (Decimal(rng.randrange(10**4)).scaleb(-4) for _ in range(DRAWS))
        found = Counter(drawn(of.numbers, draw) for draw in draws)
        expected = {word: DRAWS * float(toy.p["^"].of(word)) for word in toy.words}
        statistic = sum((found[word] - n) ** 2 / n for word, n in expected.items())
        assert (statistic < CRITICAL[3]) == agrees
