"""A trained model as the plain data that `reference` computes: its parameters as they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.helpers.reference import Array, Spec, reference
from tracer.checkpoints.opening import Checkpoint


def reference_of(checkpoint: Checkpoint, ids: list[int]) -> dict[str, Array]:
    """Every value of the model's pass over these tokens, by address."""
    return reference(spec_of(checkpoint, ids))


def spec_of(checkpoint: Checkpoint, ids: list[int]) -> Spec:
    """The decoder, what it reads, and only the rows of its embeddings that it needs."""
    model, parameters = checkpoint.architecture, checkpoint.parameters
    spec: dict[str, Any] = {"tokens": ids, "embeddings": _numbers(parameters["embeddings"][ids])}
    if model.rotary:
        rotary = {"base": model.rotary.base, "layout": model.rotary.layout, "start": 0}
        factors = {} if model.rotary.factors is None else {"factors": model.rotary.factors}
        spec["positions"] = {"rotary": rotary | factors}
    elif "positions" in parameters:
        spec["positions"] = {"table": _numbers(parameters["positions"][: len(ids)])}
    if model.window:
        spec["mask"] = {"window": model.window}
    spec["softmax"] = "shifted"
    spec["layers"] = [_layer(checkpoint, f"layer{n + 1}") for n in range(model.layers)]
    spec["final_norm"] = _norm(checkpoint, "final_norm")
    name = "embeddings" if model.tied else "unembedding.W_U"
    matrix = _numbers(parameters[name])
    spec["unembedding"] = {"W_U": matrix.T if model.tied else matrix}
    return spec


def _layer(checkpoint: Checkpoint, place: str) -> Spec:
    model, parameters = checkpoint.architecture, checkpoint.parameters
    attention = _part(parameters, f"{place}.attention")
    shared = model.heads // model.key_heads
    heads = [_part(parameters, f"{place}.attention.head{n + 1}") for n in range(model.heads)]
    for n, head in enumerate(heads):
        if n % shared:
            head["shares"] = n // shared * shared + 1
    ffn = _part(parameters, f"{place}.ffn") | {"activation": model.activation}
    return {
        "attention": attention
        | {"heads": heads, "norm": _norm(checkpoint, f"{place}.attention.norm")},
        "ffn": ffn | {"norm": _norm(checkpoint, f"{place}.ffn.norm")},
    }


def _norm(checkpoint: Checkpoint, place: str) -> Spec:
    settings = {"kind": checkpoint.architecture.norm, "epsilon": checkpoint.architecture.epsilon}
    return {"placement": "pre", **settings, **_part(checkpoint.parameters, place)}


def _part(parameters: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The parameters that stand right there: `W_Q`, not `norm.gain`."""
    names = (address.removeprefix(f"{place}.") for address in parameters)
    return {
        name: _numbers(parameters[f"{place}.{name}"])
        for name in names
        if "." not in name and f"{place}.{name}" in parameters
    }


def _numbers(parameter: Any) -> Array:
    return np.asarray(parameter, np.float64)
