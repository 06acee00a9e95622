"""Frequencies that are scaled for long texts: numbers by hand, a cache, words, what is refused."""

from __future__ import annotations

import math
import random
import re
from typing import Any

import numpy as np
import pytest

from tests.helpers.command import printed
from tests.helpers.continuity import violations
from tests.helpers.part_tests import refusals_of
from tests.helpers.readable_digits import unread_digits
from tests.helpers.rotary_scaling import attention_factor, drawn, frequencies
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.traces import traced
from tests.helpers.truth import false_equations
from tracer.decoder.generation import GenerationOptions, generate
from tracer.errors import TracerError
from tracer.scenario.loading import parse

START = """\
tokens: [a, b, c]
embeddings: {a: [0.5, -1, 1, 0.25, 1, 0, 2, 1], b: [1, 0.5, 0, 1, -1, 2, 1, 0],
  c: [0, 1, 1, 1, 0, 1, 0.5, -1]}
rounding: {carry: never}
positions: {rotary: {base: 10, layout: halves, scaling: SCALING}}
layers:
  - attention: {heads: [{W_Q: identity, W_K: identity, W_V: identity}]}
"""
LLAMA_3 = (
    "{kind: llama3, factor: 8, low_freq_factor: 1, high_freq_factor: 4, "
    "original_max_position_embeddings: 32}"
)
YARN = "{kind: yarn, factor: 4, original_max_position_embeddings: 32, beta_fast: 4, beta_slow: 1}"
YARN_NOT_WHOLE = YARN.replace("}", ", truncate: false}")
DYNAMIC = "{kind: dynamic, factor: 2, original_max_position_embeddings: 2}"
LONGROPE = (
    "{kind: longrope, factor: 4, original_max_position_embeddings: 3, "
    "short_factor: [1, 1, 1, 2], long_factor: [1, 2, 4, 8]}"
)


def rates(scaling: str, start: str = START) -> list[float]:
    """The four frequencies of base 10, which without a scaling are 10^(-k/4)."""
    found = traced(start.replace("SCALING", scaling))["position.div_term"]
    return [float(number) for number in found.numbers]


def test_llama_3_scales_long_waves_alone() -> None:
    """With base 10 and 4 pairs the waves are 2π·10^(k/4): 6.3, 11.2, 19.9, 35.3 tokens long.

    Of 32 tokens, one that fits 4 times stays (k = 0); one that does not fit once is divided by 8
    (k = 3); 32 / 11.173 = 2.864 lies 0.6214 of the way from 1 to 4, 32 / 19.869 = 1.6106 lies
    0.2035 of it.
    """
    kept = [1, 0.3786 / 8 + 0.6214, 0.7965 / 8 + 0.2035, 1 / 8]
    expected = [10 ** (-k / 4) * share for k, share in enumerate(kept)]
    assert rates(LLAMA_3) == pytest.approx(expected, rel=1e-3)


def test_yarn_divides_slow_pairs_alone() -> None:
    """Pair 8·ln(32 / 2πr) / 2 ln 10 turns r times in 32 tokens: 0.42 does so 4 times, 2.83 once.

    Rounded outwards these are 0 and 3, so that of pair 1 a third is divided by 4, of pair 2 two.
    """
    shares = [1, 1 - 1 / 3 + 1 / 12, 1 - 2 / 3 + 2 / 12, 1 / 4]
    expected = [10 ** (-k / 4) * share for k, share in enumerate(shares)]
    assert rates(YARN) == pytest.approx(expected, rel=1e-9)
    cos = traced(START.replace("SCALING", YARN))["position.scaled_cos"].numbers.astype(float)
    assert cos[0] == pytest.approx([1 + math.log(4) / 10] * 4)


def test_ends_of_a_ramp_that_are_no_whole_numbers_are_worked() -> None:
    """Pair 0.42 turns 4 times, as above, and pair 2.83 once; so pair 1 is (1 - 0.42) / 2.41 in."""
    asked = START.replace("SCALING", YARN_NOT_WHOLE)
    text = printed("run", "-", stdin=asked.replace("carry: never", "decimals: 2, carry: line"))
    assert "k_fast = (8×ln(32 / (2×π×4))) / (2×ln(10)) ≈ 0.42\n" in text
    assert "k_slow = (8×ln(32 / (2×π×1))) / (2×ln(10)) ≈ 2.83\n" in text
    assert "ω₁: min(1, max(0, (1 - 0.42) / (2.83 - 0.42)))  ≈ 0.24\n" in text
    assert [*false_equations(text), *violations(text), *unread_digits(text)] == []


def test_the_length_of_the_text_chooses() -> None:
    """Dynamic NTK divides the last frequency by 2·3/2 - 2 + 1 = 2; LongRoPE takes a list."""
    longer, short = rates(DYNAMIC), rates(DYNAMIC.replace("beddings: 2", "beddings: 3"))
    plain = [10 ** (-k / 4) for k in range(4)]
    assert short == pytest.approx(plain)
    assert [a / b for a, b in zip(plain, longer, strict=True)] == pytest.approx(
        [2 ** (k / 3) for k in range(4)]
    )
    assert rates(LONGROPE) == pytest.approx([*plain[:3], plain[3] / 2])
    longer = rates(LONGROPE.replace("beddings: 3", "beddings: 2"))
    assert longer == pytest.approx([each / 2**k for k, each in enumerate(plain)])


@pytest.mark.parametrize("number", range(40))
def test_random_scalings_rotate_as_complex_numbers(number: int) -> None:
    rng = random.Random(number)
    asked: dict[str, Any] = {"base": rng.choice((3, 100, 10000)), "layout": "halves"}
    asked["scaling"] = drawn(lambda *choices: rng.choice(choices), 4)
    found = traced(re.sub("positions: .*", to_yaml({"positions": {"rotary": asked}}), START))
    q = found["layer1.attention.head1.query"].numbers.astype(float)
    angle = np.outer(range(3), frequencies(asked, 8, 3)["div_term"])
    point = (q[:, :4] + 1j * q[:, 4:]) * np.exp(1j * angle) * attention_factor(asked)
    turned = found["layer1.attention.head1.rotated_query"].numbers.astype(float)
    np.testing.assert_allclose(turned, np.hstack([point.real, point.imag]), atol=1e-9)


@pytest.mark.parametrize(("scaling", "told"), [
    (YARN, "YaRN keeps the frequencies of pairs that turn fast (ω₀), divides those of pairs that "
     "turn slowly (ω₃) by 4 and divides only a part of those in between (ω₁, ω₂)."),
    (LLAMA_3, "This scaling keeps the frequencies of pairs that turn fast (ω₀), divides those"),
    (DYNAMIC, "The text has 3 tokens, more than the 2 of the first training, so that the base"),
    (LONGROPE, "The text has 3 tokens, not more than the 3 of the first training, so that the"),
])  # fmt: skip
def test_a_sentence_says_what_a_scaling_does(scaling: str, told: str) -> None:
    text = printed("run", "-", stdin=START.replace("SCALING", scaling))
    assert told in " ".join(text.split())


test_what_does_not_fit = refusals_of(
    YARN,
    START.replace("SCALING", YARN),
    {
        "{kind: yarn, factor: 2}": "yarn needs factor, original_max_position_embeddings",
        "{kind: linear, factor: 2, beta_fast: 3}": "beta_fast does not go with linear",
        YARN.replace("beta_slow: 1", "beta_slow: 9"): "expected beta_slow (default 1) less than",
        LLAMA_3.replace("factor: 1", "factor: 4"): "expected low_freq_factor less",
        LONGROPE.replace("factor: 4, ", ""): "longrope needs factor or attention_factor",
        LONGROPE.replace("[1, 2, 4, 8]", "[1]"): "long_factor: 1 number, expected 4 (one per pair",
        "{kind: linear, factor: 2}, factors: [1, 1, 1, 1]": "expected either factors or scaling",
        f"{DYNAMIC}, share: 0.25": "one pair is rotated, expected more for dynamic",
        "{kind: proportional}": "kind: expected ",
    },
)


def generated(scaling: str, *, cached: bool) -> tuple[str, ...]:
    text = START.replace("SCALING", scaling) + "vocabulary: [a, b, c]\nunembedding: tied\n"
    options = GenerationOptions(("a", "b", "c"), 3, cached=cached)
    return generate("f", parse(text, "f.yaml"), options).text


@pytest.mark.parametrize("scaling", [
    DYNAMIC.replace("beddings: 2", "beddings: 4"),
    LONGROPE.replace("beddings: 3", "beddings: 4"),
])  # fmt: skip
def test_a_cache_is_refused_where_the_angles_of_its_keys_change(scaling: str) -> None:
    assert generated(scaling, cached=False)
    with pytest.raises(TracerError, match="cached keys have the angles of a shorter text, and "):
        generated(scaling, cached=True)


@pytest.mark.parametrize("scaling", [
    YARN,
    DYNAMIC.replace("beddings: 2", "beddings: 8"),
    LONGROPE.replace("beddings: 3", "beddings: 2"),
])  # fmt: skip
def test_a_cache_keeps_angles_that_do_not_change(scaling: str) -> None:
    assert generated(scaling, cached=True) == generated(scaling, cached=False)
