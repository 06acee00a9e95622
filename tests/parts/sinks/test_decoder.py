"""Attention sinks: weights like gpt-oss's, shifted scores, gradients, training, what is refused."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.command import printed
from tests.helpers.part_tests import cached_generations, refusals
from tests.helpers.traces import traced
from tracer.parts.sinks.scenario import HeadKeys
from tracer.scenario.loading import parse
from tracer.scenario.part import keys_of
from tracer.scenario.writer import written

SINKS = """\
tokens: [a, b, c]
embeddings: {a: [0.5, -1], b: [1, 0.5], c: [0.25, 2]}
layers:
- attention:
    heads:
    - {sink: 0.5, W_Q: [[1, 0.2], [0.3, 1]], W_K: [[0.5, -0.2], [0.1, 1]], W_V: identity}
    - {sink: -0.25, shares: 1, W_Q: [[0.1, 0.2], [0.3, 1]]}
    - {shares: 1, W_Q: [[0.1, 0.2], [0.3, 1]]}
    W_O: {random: {seed: 1}}
vocabulary: [a, b, c]
unembedding: tied
targets: [b, c, a]
rounding: {carry: never}
"""


def numbers(text: str, head: int, name: str) -> Any:
    return traced(text)[f"layer1.attention.head{head}.{name}"].array.astype(float)


@pytest.mark.parametrize("softmax", ["plain", "shifted"])
def test_a_row_of_hidden_tokens_gives_all_to_the_sink(softmax: str) -> None:
    hidden = f"mask: [[-inf, -inf, -inf], [0, 0, 0], [0, 0, 0]]\nsoftmax: {softmax}\n"
    assert numbers(SINKS + hidden, 1, "weights")[0].tolist() == [0, 0, 0]
    assert numbers(SINKS + hidden, 1, "weights_and_sink")[0].tolist() == [0, 0, 0, 1]
    shown = ("step", "softmax", "-s", "-", "--token", "1", "--head")
    for head, is_divided in (("1", True), ("3", False)):
        text = " ".join(printed(*shown, head, stdin=SINKS + hidden).split())
        assert ("nothing can be divided" in text) != is_divided


def test_weights_are_those_of_gpt_oss() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    gpt_oss = pytest.importorskip("transformers.models.gpt_oss.modeling_gpt_oss")
    found = traced(SINKS)
    q, k, v = (
        torch.tensor(
            np.stack(
                [
                    found[f"layer1.attention.head{head if name == 'query' else 1}.{name}"].array
                    for head in (1, 2)
                ]
            ).astype(float)
        )[None]
        for name in ("query", "key", "value")
    )
    sinks = torch.tensor([0.5, -0.25], dtype=torch.float64)
    module = SimpleNamespace(num_key_value_groups=1, training=False, sinks=sinks)
    hidden = torch.triu(torch.full((3, 3), -torch.inf, dtype=torch.float64), 1)
    output, weights = gpt_oss.eager_attention_forward(module, q, k, v, hidden, scaling=2**-0.5)
    for head in (1, 2):
        assert_allclose(numbers(SINKS, head, "weights"), weights[0, head - 1], atol=1e-12)
        assert_allclose(numbers(SINKS, head, "output"), output[0, :, head - 1], atol=1e-12)


def test_training_changes_the_sink(tmp_path: Path) -> None:
    new = tmp_path / "new.yaml"
    printed("train", "-", "--save", str(new), stdin=SINKS)
    scenario = parse(new.read_text(encoding="utf-8"), "f.yaml")
    attention = scenario.layers[0].attention
    assert attention
    sinks = [keys_of(head, HeadKeys).sink for head in attention.heads]
    assert sinks[2] is None and sinks[0] not in (None, (Decimal("0.5"),))


def test_a_sink_is_written_as_a_number() -> None:
    assert "sink: 0.5\n" in written(parse(SINKS, "f.yaml"))


test_a_cache_changes_no_number = cached_generations({"sinks": SINKS})


def test_a_sink_is_a_parameter() -> None:
    counted = printed("shapes", "-", stdin=SINKS)
    assert "sink" in counted
    less = printed("shapes", "-", stdin=SINKS.replace("sink: 0.5, ", ""))
    assert counted != less


test_what_does_not_fit = refusals(
    SINKS,
    ("sink: 0.5", "sink: high", 6, "layer1.attention.head1.sink: expected a number"),
    ("sink: 0.5", "sink: [0.5]", 6, "layer1.attention.head1.sink: expected a number"),
    ("    W_O:", "    blocks: 2\n    W_O:", 6, "head1.sink: a sink and a softmax in blocks"),
)
