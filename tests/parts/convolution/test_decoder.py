"""Convolutions along the tokens: values, gradients, training, a cache, PyTorch, errors."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.decoder.test_gradients import assert_slope
from tests.helpers import learning
from tests.helpers.command import printed, run
from tests.helpers.part_tests import cached_generations, refusals
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.traces import traced
from tracer.decoder.forward import PassOptions, trace
from tracer.scenario.loading import parse

AT = "layer1.attention."
WIDTH = 3
FILTERS = {"query": "Q", "key": "K", "value": "V"}


def matrix(rows: int, columns: int, rng: random.Random) -> list[list[Decimal]]:
    return [[Decimal(rng.randint(-99, 99)) / 100 for _ in range(columns)] for _ in range(rows)]


def drawn(seed: int) -> dict[str, Any]:
    """A random layer of three heads, of which the last shares keys and values.

    Even seeds have a softmax, and odd ones the delta rule; one in two has SiLU.
    """
    rng = random.Random(seed)
    words = ["a", "b", "c", "a"]
    heads: list[dict[str, Any]] = []
    for d_v, window in ((2, 4), (1, 2)):
        head: dict[str, Any] = {name: matrix(WIDTH, 2, rng) for name in ("W_Q", "W_K")}
        head |= {"W_V": matrix(WIDTH, d_v, rng)}
        head |= {"conv_Q": matrix(window, 2, rng), "conv_K": matrix(1 + window % 4, 2, rng)}
        heads.append(head)
    heads[0]["conv_V"] = matrix(3, 2, rng)
    heads.append({"W_Q": matrix(WIDTH, 2, rng), "shares": 1})
    part: dict[str, Any] = {"heads": heads, "W_O": matrix(5, WIDTH, rng)}
    if seed % 2:
        part |= {"kind": "delta", "beta": Decimal("0.5"), "unit_length": {"epsilon": Decimal(1)}}
    if seed % 4 > 1:
        part |= {"conv_activation": "none"}
    table = {word: matrix(1, WIDTH, rng)[0] for word in dict.fromkeys(words)}
    return {
        "title": "convolved",
        "tokens": words,
        "embeddings": table,
        "layers": [{"norm": {"kind": "rms_norm", "placement": "pre"}, "attention": part}],
        "vocabulary": list(table),
        "unembedding": {"W_U": matrix(WIDTH, len(table), rng)},
        "targets": [*words[1:], words[0]],
        "rounding": {"carry": "never"},
    }


def floats(numbers: Any) -> Any:
    return np.array(numbers, np.float64)


def convolved(x: Any, w: Any, *, silu: bool) -> Any:
    """By the definition: each entry is the sum of w[j] x[t - k + 1 + j] over rows from 0 on."""
    y = np.zeros_like(x)
    k = len(w)
    for t, column in np.ndindex(*x.shape):
        for j in range(k):
            if t - k + 1 + j >= 0:
                y[t, column] += w[j, column] * x[t - k + 1 + j, column]
    return y / (1 + np.exp(-y)) if silu else y


@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
@pytest.mark.parametrize("seed", range(4))
def test_each_row_is_a_weighted_sum_of_rows_up_to_it(seed: int, arithmetic: str) -> None:
    spec = drawn(seed)
    ran = traced(to_yaml({**spec, "arithmetic": arithmetic}))
    heads = spec["layers"][0]["attention"]["heads"]
    met = 0
    for h, head in enumerate(heads, start=1):
        for name, letter in FILTERS.items():
            at = f"{AT}head{h}."
            if f"conv_{letter}" not in head:
                assert f"{at}conv_{name}" not in ran.values
                continue
            x, w = ran[f"{at}{name}"].array, floats(head[f"conv_{letter}"])
            expected = convolved(x, w, silu=seed % 4 < 2)
            assert_allclose(ran[f"{at}conv_{name}"].array, expected, rtol=1e-12, atol=1e-12)
            met += 1
    assert met == 5


@pytest.mark.parametrize("seed", [0, 2])
def test_attention_reads_what_is_convolved(seed: int) -> None:
    spec = drawn(seed)
    ran = traced(to_yaml(spec))
    q, k, v = (ran[f"{AT}head1.conv_{name}"].array for name in FILTERS)
    scores = np.where(np.tri(4, dtype=bool), q @ k.T / np.sqrt(2), -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = weights / weights.sum(axis=1, keepdims=True) @ v
    assert_allclose(ran[f"{AT}head1.output"].array, expected, rtol=1e-12, atol=1e-12)
    q = ran[f"{AT}head3.query"].array  # it has no filter, and shares what is convolved
    scores = np.where(np.tri(4, dtype=bool), q @ k.T / np.sqrt(2), -np.inf)
    assert_allclose(ran[f"{AT}head3.masked"].array, scores, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", [0, 3])
def test_gradients_are_slopes_of_the_loss(seed: int) -> None:
    batch = learning.batch_of(drawn(seed))
    found = learning.way_back(batch)
    gradients = learning.gradients_of(found)
    for address in (*(f"{AT}head1.conv_{letter}" for letter in "QKV"), f"{AT}head1.W_K"):
        assert_slope(batch, found[address], gradients[address])


def test_training_changes_the_filters(tmp_path: Path) -> None:
    spec, new = drawn(0), tmp_path / "new.yaml"
    spec["optimizer"] = {"learning_rate": Decimal("0.1")}
    printed("train", "-", "--save", str(new), stdin=to_yaml(spec))
    scenario = parse(new.read_text(encoding="utf-8"), "f.yaml")
    assert scenario.layers[0].attention
    trained = trace("f", scenario, PassOptions(loss=True))
    assert trained["loss"].numbers < learning.loss_of(learning.batch_of(spec))
    before = spec["layers"][0]["attention"]["heads"]
    for head, old in zip(scenario.layers[0].attention.heads, before, strict=True):
        for letter in FILTERS.values():
            if f"conv_{letter}" in old:
                new = getattr(head, f"conv_{letter}")
                assert floats(new).tolist() != floats(old[f"conv_{letter}"]).tolist()


CACHED = {f"{seed}": to_yaml(drawn(seed)) for seed in range(4)}

test_a_cache_keeps_the_last_rows_before_a_convolution = cached_generations(
    CACHED, addresses=(f"{AT}output", "logits")
)
test_a_cache_of_a_longer_start = cached_generations(
    CACHED, ("a", "b", "c"), (f"{AT}output", "logits")
)


@pytest.mark.parametrize("seed", [0, 2])
def test_sums_are_those_of_a_grouped_convolution_of_pytorch(seed: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    spec = drawn(seed)
    ran = traced(to_yaml(spec))
    head = spec["layers"][0]["attention"]["heads"][0]
    for name, letter in FILTERS.items():
        x = torch.tensor(ran[f"{AT}head1.{name}"].array.T)[None]
        w = torch.tensor(floats(head[f"conv_{letter}"]).T)[:, None]
        k = w.shape[-1]
        found = torch.nn.functional.conv1d(x, w, padding=k - 1, groups=x.shape[1])[0, :, :4]
        if "conv_activation" not in spec["layers"][0]["attention"]:
            found = torch.nn.functional.silu(found)
        assert_allclose(ran[f"{AT}head1.conv_{name}"].array, found.T.numpy(), rtol=1e-12)


SMALL = """\
title: a convolution
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [-0.5, 2]}
layers:
- attention:
    conv_activation: none
    heads:
    - {W_Q: [[1], [2]], W_K: [[1], [1]], W_V: [[1], [0]], conv_Q: [[0.5], [1]]}
    - {W_Q: [[1], [2]], shares: 1}
    W_O: [[1, 0], [0, 1]]
"""


# fmt: off
test_what_does_not_fit = refusals(
    SMALL,
    ("[[0.5], [1]]}", "[[0.5, 1], [1, 1]]}", 8, "head1.conv_Q: 2 columns, expected 1"),
    ("conv_Q: [[0.5], [1]]", "conv_V: [[1], [1, 2]]", 8, "head1.conv_V row 2: 2 columns"),
    ("[[0.5], [1]]}", "identity}", 8, "head1.conv_Q: how many tokens? expected rows of numbers"),
    ("[[0.5], [1]]}", "{random: {}}}", 8, "head1.conv_Q: how many tokens?"),
    (", conv_Q: [[0.5], [1]]", "", 6, "conv_activation: a function behind convolutions, but no"),
    ("none", "relu", 6, "layer1.attention.conv_activation: expected"),
    ("shares: 1", "shares: 1, conv_K: [[1]]", 9, "head2.conv_K: the keys and values are those of"),
    ("tokens:", "mask: none\ntokens:", 9, "head1.conv_Q: a convolution reads earlier tokens only"),
    ("tokens:", "padding: a\ntokens:", 9, "head1.conv_Q: a convolution mixes tokens"),
    ("    heads:", "    latent: {W_DKV: [[1, 0], [0, 1]]}\n    heads:", 9,
     "head1.conv_Q: a convolution in latent attention is not supported"),
)
# fmt: on


def test_only_the_decoder_has_convolutions() -> None:
    crossed = SMALL.replace("- attention:", "- cross_attention:")
    crossed += "encoder: {tokens: [x], vectors: [[1, 2]]}\n"
    assert "expected only in the decoder's self-attention" in run("run", "-", stdin=crossed).stderr
    typed = SMALL.replace("W_Q: [[1], [2]], W_K: [[1], [1]], W_V: [[1], [0]]",
                          "Q: [[1], [2]], K: [[1], [1]], V: [[1], [0]]")  # fmt: skip
    typed = typed.replace("W_Q: [[1], [2]], shares", "Q: [[1], [2]], shares")
    typed = typed.replace("embeddings: {a: [1, 0.5], b: [-0.5, 2]}\n", "")
    assert "expected W_Q, W_K and W_V" in run("run", "-", stdin=typed).stderr
    assert run("run", "-", stdin=SMALL).exit_code == 0
    window = SMALL.replace("tokens:", "mask: {window: 1}\ntokens:")
    assert run("run", "-", stdin=window).exit_code == 0
