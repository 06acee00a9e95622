"""BERT's encoder of transformers: embeddings with types, post-norm layers without a mask."""

from __future__ import annotations

from typing import Any

import pytest
from numpy.testing import assert_allclose

from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.traces import traced

torch: Any = pytest.importorskip("torch")
transformers: Any = pytest.importorskip("transformers")

IDS, TYPES, HEADS = [3, 1, 6, 2], [0, 0, 1, 1], 2


@pytest.fixture(scope="module")
def bert() -> Any:
    torch.manual_seed(1)
    config = transformers.BertConfig(
        **{"vocab_size": 7, "hidden_size": 4, "num_hidden_layers": 2, "intermediate_size": 6},
        **{"num_attention_heads": HEADS, "max_position_embeddings": 5, "type_vocab_size": 2},
    )
    model = transformers.BertModel(config, add_pooling_layer=False).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter))
    return model


def numbers(tensor: Any) -> list[Any]:
    found: list[Any] = tensor.tolist()
    return found


def affine(module: Any, name: str, part: slice = slice(None)) -> Scenario:
    weight, bias = numbers(module.weight[part].T), numbers(module.bias[part])
    return {f"W_{name}": weight, f"b_{name}": bias}


def norm(module: Any) -> Scenario:
    gain, shift = numbers(module.weight), numbers(module.bias)
    return {"epsilon": module.eps, "gain": gain, "shift": shift}


def layer(module: Any) -> Scenario:
    own, width = module.attention.self, module.attention.self.attention_head_size
    parts = [slice(width * head, width * (head + 1)) for head in range(HEADS)]
    heads = [
        affine(own.query, "Q", part) | affine(own.key, "K", part) | affine(own.value, "V", part)
        for part in parts
    ]
    behind = module.attention.output
    attention = {"heads": heads, **affine(behind.dense, "O"), "norm": norm(behind.LayerNorm)}
    network = affine(module.intermediate.dense, "1") | affine(module.output.dense, "2")
    ffn = {**network, "activation": "gelu", "norm": norm(module.output.LayerNorm)}
    return {"attention": attention, "ffn": ffn}


def test_every_hidden_state(bert: Any) -> None:
    own = bert.embeddings
    spec: Scenario = {
        **{"tokens": [f"t{i}" for i in IDS], "mask": "none", "token_types": TYPES},
        "embeddings": numbers(own.word_embeddings.weight[IDS]),
        "type_embeddings": numbers(own.token_type_embeddings.weight),
        "positions": {"table": numbers(own.position_embeddings.weight)},
        "embedding_norm": norm(own.LayerNorm),
        "layers": [layer(each) for each in bert.encoder.layer],
        **{"arithmetic": "float64", "rounding": {"carry": "never", "decimals": 3}},
    }
    found = traced(to_yaml(spec))
    with torch.no_grad():
        expected = bert(
            input_ids=torch.tensor([IDS]),
            token_type_ids=torch.tensor([TYPES]),
            output_hidden_states=True,
        ).hidden_states
    for address, state in zip(("input", "layer1.ffn.norm", "output"), expected, strict=True):
        assert_allclose(found[address].array, state[0].numpy(), atol=1e-12, err_msg=address)
