"""The head of masked words of transformers: BertForMaskedLM, from the output to the logits."""

from __future__ import annotations

from typing import Any

import pytest
from numpy.testing import assert_allclose

from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.traces import traced

torch: Any = pytest.importorskip("torch")
transformers: Any = pytest.importorskip("transformers")


def numbers(tensor: Any) -> list[Any]:
    found: list[Any] = tensor.tolist()
    return found


@pytest.mark.parametrize("activation", ["gelu", "relu", "silu"])
def test_the_logits_of_an_output(activation: str) -> None:
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=5,
        hidden_size=4,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=6,
        max_position_embeddings=4,
        hidden_act=activation,
    )
    model = transformers.BertForMaskedLM(config).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter))
        output = torch.randn(3, 4, dtype=torch.float64)
        expected = model.cls(output[None])[0].numpy()
    head = model.cls.predictions
    norm = head.transform.LayerNorm
    spec: Scenario = {
        "tokens": ["a", "b", "c"],
        "embeddings": numbers(output),
        "layers": [],
        "vocabulary": [f"w{i}" for i in range(5)],
        "unembedding": {
            "W_U": numbers(head.decoder.weight.T),
            "b_U": numbers(head.decoder.bias),
            "transform": {
                "W_M": numbers(head.transform.dense.weight.T),
                "b_M": numbers(head.transform.dense.bias),
                "activation": activation,
                "norm": {
                    "epsilon": norm.eps,
                    "gain": numbers(norm.weight),
                    "shift": numbers(norm.bias),
                },
            },
        },
        **{"arithmetic": "float64", "rounding": {"carry": "never", "decimals": 3}},
    }
    assert_allclose(traced(to_yaml(spec))["logits"].array, expected, atol=1e-12)
