"""Latent attention: values by its paper's equations, gradients, a cache, parts, errors."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.decoder.test_forward import assert_is_computed
from tests.helpers import learning
from tests.helpers.command import printed
from tests.helpers.part_tests import cached_generations, refusals, slopes
from tests.helpers.reference import reference
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.traces import traced
from tracer.decoder.forward import PassOptions, trace
from tracer.decoder.generation import GenerationOptions, generate
from tracer.scenario.loading import parse

WIDTH = 4


def drawn(seed: int) -> dict[str, Any]:
    """A random model of one layer; each seed from 0 to 31 has other parts."""
    rng = random.Random(seed)
    has_query, has_norm, has_query_norm, is_rotary, halves = (seed >> i & 1 for i in range(5))
    d_c, d_q, d_r = rng.randint(2, 3), rng.randint(2, 3), rng.choice((2, 4))

    def matrix(rows: int, columns: int) -> list[list[Decimal]]:
        return [[Decimal(rng.randint(-99, 99)) / 100 for _ in range(columns)] for _ in range(rows)]

    def norm(width: int) -> dict[str, Any]:
        return {"kind": "rms_norm", "epsilon": Decimal("0.001"), "gain": matrix(1, width)[0]}

    latent: dict[str, Any] = {"W_DKV": matrix(WIDTH, d_c)}
    if has_norm:
        latent["norm"] = norm(d_c)
    if has_query:
        latent["W_DQ"] = matrix(WIDTH, d_q)
    if has_query and has_query_norm:
        latent["query_norm"] = norm(d_q)
    if is_rotary:
        latent["W_KR"] = matrix(WIDTH, d_r)
    of_query, d_v = (d_q if has_query else WIDTH), [rng.randint(1, 3) for _ in range(2)]
    heads = []
    for width in d_v:
        d_k = rng.randint(1, 3)
        head = {"W_Q": matrix(of_query, d_k), "W_K": matrix(d_c, d_k), "W_V": matrix(d_c, width)}
        if is_rotary:
            head["W_QR"] = matrix(of_query, d_r)
        heads.append(head)
    attention = {"latent": latent, "heads": heads, "W_O": matrix(sum(d_v), WIDTH)}
    words = ["a", "b", "c", "d"][: rng.randint(2, 4)]
    spec: dict[str, Any] = {
        "title": "latent",
        "tokens": words,
        "embeddings": dict(zip(words, matrix(len(words), WIDTH), strict=True)),
        "layers": [{"attention": attention}],
        "vocabulary": words,
        "unembedding": {"W_U": matrix(WIDTH, len(words))},
        "targets": [*words[1:], words[0]],
        "rounding": {"carry": "never"},
    }
    if is_rotary:
        layout = "halves" if halves else "pairs"
        spec["positions"] = {"rotary": {"base": 100, "layout": layout}}
    return spec


# --- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
@pytest.mark.parametrize("seed", range(32))
def test_values_are_those_of_the_reference(seed: int, arithmetic: str) -> None:
    """Equations 9 to 19 of DeepSeek-V2."""
    spec = {**drawn(seed), "arithmetic": arithmetic}
    assert_is_computed(traced(to_yaml(spec)), reference(spec), spec, 1e-12)


test_gradients_are_slopes_of_the_loss = slopes({f"{seed}": drawn(seed) for seed in (7, 15, 31)})


def test_training_lowers_the_loss(tmp_path: Path) -> None:
    spec, new = drawn(15), tmp_path / "new.yaml"
    spec["optimizer"] = {"learning_rate": Decimal("0.1")}
    printed("train", "-", "--save", str(new), stdin=to_yaml(spec))
    trained = trace("f", parse(new.read_text(encoding="utf-8"), "f.yaml"), PassOptions(loss=True))
    assert trained["loss"].numbers < learning.loss_of(learning.batch_of(spec))


# --- a cache, attribution ------------------------------------------------------------------------


test_a_cache_changes_no_number = cached_generations(
    {f"{seed}": to_yaml(drawn(seed)) for seed in range(16)},
    addresses=("logits", "layer1.attention.output", "layer1.attention.head2.weights"),
)


@pytest.mark.parametrize("seed", range(16))
def test_the_parts_of_a_score_add_up_to_it(seed: int) -> None:
    text = to_yaml(drawn(seed))
    score = ("attribute", "layer1.attention.head1.scores[b,a]", "-s", "-")
    found = json.loads(printed(*score, "--format", "json", stdin=text))
    total = sum(Decimal(str(part["value"])) for part in found["parts"])
    assert abs(total - Decimal(str(found["value"]))) < Decimal("1e-9")
    printed(*score, stdin=text)


# --- what does not fit ---------------------------------------------------------------------------

SMALL = """\
title: latent
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [-0.5, 2]}
positions: {rotary: {base: 100}}
layers:
- attention:
    latent: {W_DKV: [[1], [2]], W_KR: [[1, 0], [0, 1]]}
    heads:
    - {W_Q: [[1], [2]], W_QR: [[1, 0], [0, 1]], W_K: [[1]], W_V: [[1, 0]]}
    - {W_Q: [[1], [2]], W_QR: [[1, 0], [0, 1]], W_K: [[1]], W_V: [[1, 0]]}
    W_O: [[1, 0], [0, 1], [1, 0], [0, 1]]
"""
CROSSED = """\
- cross_attention:
    latent: {W_DKV: [[1]], W_KR: [[1, 0]]}
    heads:
    - {W_Q: [[1], [2]], W_QR: [[1, 0], [0, 1]], W_K: [[1]], W_V: [[1, 0]]}
encoder: {tokens: [x], vectors: [[1]]}
"""
HEAD = "    - {W_Q: [[1], [2]], W_QR: [[1, 0], [0, 1]], W_K: [[1]], W_V: [[1, 0]]}\n    W_O"
LATENT = "    latent: {W_DKV: [[1], [2]], W_KR: [[1, 0], [0, 1]]}\n"
ROTARY = "positions: {rotary: {base: 100}}\n"


# fmt: off
test_what_does_not_fit = refusals(
    SMALL,
    ("W_DKV: [[1], [2]]", "W_DKV: [[1], [2], [3]]", 7, "layer1.attention.latent.W_DKV: "),
    ("W_KR: [[1, 0], [0, 1]]", "W_KR: [[1, 0]]", 7, "layer1.attention.latent.W_KR: "),
    ("W_KR: [[1, 0], [0, 1]]", "W_KR: [[1], [0]]", 9, "head1.W_QR: 2 columns, expected 1"),
    (HEAD, HEAD.replace("W_K: [[1]]", "W_K: [[1], [2]]"), 10, "layer1.attention.head2.W_K: "),
    (HEAD, HEAD.replace("W_QR: [[1, 0], [0, 1]]", "W_QR: [[1], [0]]"), 10, "head2.W_QR: "),
    (HEAD, HEAD.replace(" W_QR: [[1, 0], [0, 1]],", ""), 10, "head2.W_QR: missing"),
    (ROTARY, "", 6, "latent.W_KR: a rotary part without rotary positions"),
    (LATENT, "", 8, "head1.W_QR: a rotary part of queries"),
    (", W_KR: [[1, 0], [0, 1]]", "", 7, "latent: rotary positions without W_KR and W_QR"),
    (HEAD, HEAD.replace("W_K: [[1]], W_V: [[1, 0]]", "shares: 1"), 10, "head2.shares: "),
    (LATENT, f"{LATENT}    query_norm: {{kind: rms_norm}}\n", 8, "layer1.attention.query_norm: "),
    ("W_KR:", "query_norm: {kind: rms_norm}, W_KR:", 7, "latent.query_norm: a norm of what W_DQ"),
    ("W_KR:", "norm: {gain: [1, 2]}, W_KR:", 7, "layer1.attention.latent.norm.gain: "),
    ("    W_O: [[1, 0], [0, 1], [1, 0], [0, 1]]\n",
     f"    W_O: [[1, 0], [0, 1], [1, 0], [0, 1]]\n{CROSSED}", 13, "latent.W_KR: a rotary part"),
    (SMALL[SMALL.index("    - {W_Q"):],
     "    - {Q: [[1], [2]], K: [[1], [1]], V: [[1, 0], [0, 1]]}\n", 9,
     "head1.Q: typed queries, keys and values, and latent: "),
)
# fmt: on


def test_a_cache_of_the_encoders_tokens() -> None:
    latent = "latent: {W_DKV: [[1], [2]], W_DQ: [[1], [0.5]]}"
    heads = "heads: [{W_Q: [[1, 2]], W_K: [[1, 0.3]], W_V: [[1, 0.2]]}]"
    text = f"""\
title: latent
tokens: [a, b]
embeddings: {{a: [1, 0.5], b: [-0.5, 2]}}
encoder: {{tokens: [x, y], vectors: [[1, 0.3], [0.2, 2]]}}
layers: [{{cross_attention: {{{latent}, {heads}}}}}]
vocabulary: [a, b]
unembedding: tied
"""
    scenario = parse(text, "f.yaml")
    options = [GenerationOptions(("a",), 3, cached=cached) for cached in (False, True)]
    whole, cached = (generate("f", scenario, each).steps[-1].trace["logits"] for each in options)
    assert whole.array[-1].tolist() == cached.array[-1].tolist()
