"""The experts of a GGUF file: matrices of their own, or those of all experts in one stack."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.architecture import Architecture
from tracer.checkpoints.gguf_families import FAMILIES
from tracer.checkpoints.layouts import Layout
from tracer.checkpoints.tensor import Tensor, written_shape
from tracer.errors import Problem, TracerError

STACKED = re.compile(r"(blk\.[0-9]+\.ffn_(?:gate|up|down))_exps\.weight")


def layout_of(architecture: Architecture) -> Layout:
    """Return the layout of a model's tensors: an FFN in each layer, or a router and experts."""
    dense = FAMILIES[architecture.family].layout
    if architecture.experts is None:
        return dense
    own = {
        "layer.ffn.router": "blk.{}.ffn_gate_inp.weight",
        "layer.ffn.expert.W_1": "blk.{}.ffn_gate.{}.weight",
        "layer.ffn.expert.W_3": "blk.{}.ffn_up.{}.weight",
        "layer.ffn.expert.W_2": "blk.{}.ffn_down.{}.weight",
    }
    names = {key: name for key, name in dense.names.items() if ".ffn.W_" not in key}
    return replace(dense, names={**names, **own})


def split_experts(
    architecture: Architecture, tensors: Mapping[str, Tensor]
) -> Mapping[str, Tensor]:
    """Return the tensors, a stack of all experts' as one of each, with the names of older files.

    Raises:
        TracerError: a stack does not have as many matrices as there are experts.
    """
    if architecture.experts is None:
        return tensors
    found, problems = dict[str, Tensor](), list[Problem]()
    for name, tensor in tensors.items():
        stacked = STACKED.fullmatch(name)
        if stacked is None:
            found[name] = tensor
        elif len(tensor.shape) == 3 and tensor.shape[0] == architecture.experts:
            for expert, stored in enumerate(tensor.stored):
                own = replace(tensor, shape=tensor.shape[1:], stored=stored)
                found[f"{stacked[1]}.{expert}.weight"] = own
        else:
            message = f"{written_shape(tensor.shape)}, expected {architecture.experts} matrices"
            problems.append(Problem(message, tensor.file, address=name))
    if problems:
        raise TracerError(*problems)
    return found
