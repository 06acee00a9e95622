"""The experts of a GGUF file: matrices of their own, or those of all experts in one stack."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from tracer.checkpoints.architecture import Architecture
from tracer.checkpoints.gguf_families import FAMILIES
from tracer.checkpoints.layouts import Layout

MATRICES = {"W_1": "gate", "W_3": "up", "W_2": "down"}
STACK, OWN = "blk.{{}}.ffn_{}_exps.weight[{{}}]", "blk.{{}}.ffn_{}.{{}}.weight"


def layout_of(architecture: Architecture, tensors: Container[str]) -> Layout:
    """Return the layout of a model's tensors: an FFN in each layer, or a router and experts."""
    dense = FAMILIES[architecture.family].layout
    if architecture.experts is None:
        return dense
    form = OWN if "blk.0.ffn_gate.0.weight" in tensors else STACK
    biases = {
        f"layer.ffn.expert.{name.replace('W', 'b')}": STACK.format(each).replace("weight", "bias")
        for name, each in MATRICES.items()
    }
    if "blk.0.ffn_gate_inp.bias" in tensors:
        biases["layer.ffn.router_bias"] = "blk.{}.ffn_gate_inp.bias"
    own = {
        **biases,
        "layer.ffn.router": "blk.{}.ffn_gate_inp.weight",
        **{f"layer.ffn.expert.{name}": form.format(each) for name, each in MATRICES.items()},
    }
    names = {key: name for key, name in dense.names.items() if ".ffn.W_" not in key}
    return replace(dense, names={**names, **own})
