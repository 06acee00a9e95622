"""A Hypothesis strategy that makes every choice that the schema has, but for those of files.

`random_scenarios` draws the decoder; here it is written in other ways (a matrix transposed, tokens
as a sentence or a text with merges), gets settings for training and generation, pinned values, and
floats whose sums cancel. What is done to it follows from one drawn number: of so many choices at
once hypothesis would draw few.
"""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from tests.helpers.authored import words
from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.lora import adapt
from tests.helpers.quantized import quantize, quantize_frozen
from tests.helpers.random_parts import predict_masked_words
from tests.helpers.random_scenarios import Scenario, scenarios
from tests.helpers.reference import ACTIVATIONS
from tests.helpers.rotary_of_layers import rotate_layers, scale_rotary
from tests.helpers.scenario_ways import CARRIES_NOTHING, FORMS, SETTINGS
from tests.helpers.typed_heads import start_with_typed_heads

TYPED = 0.15
"""The share of scenarios that start with typed queries, keys and values, if they can."""

ADAPTED = 0.4
"""The share of scenarios in which weights have LoRA."""

QUANTIZED = 0.25
"""The share of scenarios in which weights are quantized."""


@st.composite
def whole_scenarios(draw: st.DrawFn, /, carry: str | None = None, **asked: Any) -> Scenario:
    """A scenario of any kind that needs no file, and can be computed."""
    _, written = draw(plain_and_written(carry, **asked))
    return written


@st.composite
def plain_and_written(
    draw: st.DrawFn, /, carry: str | None = None, **asked: Any
) -> tuple[Scenario, Scenario]:
    """A scenario with tokens in a list and numbers in rows, and the same written in other ways.

    Weights that are drawn are other ones in each.
    """
    kinds = ("plain", "alike", "encoder", "learns", "sizes")
    sized = carry in (None, "never") and not asked
    kind = draw(st.sampled_from(kinds if sized else kinds[:-1]))
    if kind == "sizes":
        spec = draw(from_sizes())
        return spec, spec
    settings: dict[str, Any] = {"all_digits": True, "epsilons": ("0.1", "0.00001"), **asked}
    if kind == "learns":
        alike = draw(st.sampled_from((False, False, True)))
        asked_of_loss = {"any_loss": True, "alike": alike, **settings}
        spec = draw(learning_scenarios(draw(_carries(carry)), **asked_of_loss))
    else:
        encoder = {"encoder": True, "encodes": True} if kind == "encoder" else {}
        spec = draw(scenarios(carry, **{"alike": kind == "alike", **encoder, **settings}))
    number = draw(st.integers(0, 2**32 - 1))
    rng, of_heads = random.Random(number), random.Random(f"typed {number}")
    ways = rng.sample(sorted({**SETTINGS, **FORMS}), rng.randint(1, 12))
    for name, way in SETTINGS.items():
        if name in ways and (name not in CARRIES_NOTHING or carry in (None, "never")):
            way(spec, rng)
    if of_heads.random() < TYPED:
        start_with_typed_heads(spec, of_heads)
    rotate_and_quantize(spec, number)
    of_lora = random.Random(f"LoRA {number}")
    if of_lora.random() < ADAPTED:
        adapt(spec, of_lora)
        quantize_frozen(spec, of_lora)
    predict_masked_words(spec, random.Random(f"masked {number}"))
    written = deepcopy(spec)
    for name, way in FORMS.items():
        if name in ways:
            way(written, rng)
    if written.get("objective") == "masked" and number % 2:
        del written["mask"]  # none is its default
    return spec, written


def rotate_and_quantize(spec: Scenario, number: int) -> None:
    """Scale rotary positions, give layers their own, and quantize weights, as a number decides."""
    scale_rotary(spec, random.Random(f"scaling {spec}"))
    rotate_layers(spec, random.Random(f"rotary {number}"))
    of_quantization = random.Random(f"quantized {number}")
    if of_quantization.random() < QUANTIZED:
        quantize(spec, of_quantization)


def _carries(carry: str | None) -> st.SearchStrategy[str]:
    return st.sampled_from(("line", "step", "never")) if carry is None else st.just(carry)


# --- decoders by their sizes ---------------------------------------------------------------------


@st.composite
def from_sizes(draw: st.DrawFn) -> Scenario:
    """A small decoder by its dimensions, its weights from a seed."""
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    heads = rng.choice((1, 2, 4))
    width = 4 * rng.choice((1, 2))
    tokens = [rng.choice(("the", "cat", "sat")) for _ in range(rng.randint(1, 4))]
    always: Scenario = {
        **{"layers": rng.randint(1, 2), "width": width, "heads": heads, "words": rng.randint(3, 6)},
        "context": rng.randint(4, 6),
        "d_k": rng.choice((2, 4)),
    }
    asked: Scenario = {
        "key_heads": rng.choice([n for n in (1, 2, 4) if heads % n == 0]),
        "hidden": rng.randint(1, 5),
        "experts": rng.randint(2, 4),
        "positions": rng.choice(("learned", "sinusoidal", "rotary", "alibi", "none", "none")),
        "norm": rng.choice(("layer_norm", "rms_norm", "none")),
        "placement": rng.choice(("pre", "post")),
        "activation": rng.choice(ACTIVATIONS),
        **{key: rng.random() < 0.5 for key in ("final_norm", "gated", "biases", "tied")},
    }
    kept = rng.sample(sorted(asked), rng.randint(3, len(asked)))
    spec: Scenario = {"title": "Random sizes", "tokens": tokens}
    spec["dimensions"] = always | {name: asked[name] for name in kept}
    if "experts" in kept:
        spec["dimensions"] |= rng.choice(({}, {"top": 1}, {"top": 2}, {"shared": True}))
        spec["dimensions"] |= rng.choice(({}, {"shared": False}))
    if rng.random() < 0.3:
        spec["encoder"] = {"tokens": ["I", "like"]} | ({"width": 3} if rng.random() < 0.5 else {})
    spec["random"] = {"seed": rng.randint(0, 99)}
    if rng.random() < 0.3:
        words(spec, rng)
    if rng.random() < 0.5:
        spec["generation"] = {"max_tokens": 2, "start": rng.choice(tokens)}
    if rng.random() < 0.8:
        spec["rounding"] = {"decimals": rng.randint(1, 5), "carry": "never"}
    return spec
