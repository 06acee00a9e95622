"""Layers whose attention and FFN are parallel: what they need, and what cannot be in them."""

from __future__ import annotations

from tracer.scenario import typed_heads
from tracer.scenario.part import form_of_ffn
from tracer.scenario.reader import YamlPath
from tracer.scenario.sizes import SizeChecker, is_off, is_on

IN_PARALLEL = ("attention", "ffn")


def check_parallel(scenario: SizeChecker, layer: YamlPath) -> None:
    """Report what a parallel layer lacks, and what it cannot have."""
    place: YamlPath = (*layer, "parallel")
    if not is_on(scenario.part(*place)):
        return
    for name in IN_PARALLEL:
        if not scenario.has(*layer, name):
            scenario.report(place, f"no {name}, expected attention and ffn in a parallel layer")
    if scenario.has(*layer, "cross_attention"):
        message = "cross-attention in a parallel layer, expected only attention and ffn"
        scenario.report((*layer, "cross_attention"), message)
    if typed_heads.has_typed_heads(scenario, (*layer, "attention")):
        scenario.report(place, "a layer of typed queries, keys and values has no input to add to")
    if form := form_of_ffn(scenario.part(*layer, "ffn")):
        message = f"{form.key} in a parallel layer, expected an ffn with W_1 and W_2"
        scenario.report((*layer, "ffn"), message)
    for name in IN_PARALLEL:
        if is_off(scenario.part(*layer, name, "residual")):
            message = "false in a parallel layer, expected true: its input is added to both"
            scenario.report((*layer, name, "residual"), message)
    norms = {
        (*layer, name, "norm") if scenario.has(*layer, name, "norm") else (*layer, "norm")
        for name in IN_PARALLEL
    }
    for norm in sorted(norms, key=str):
        if isinstance(found := scenario.part(*norm), dict) and found.get("placement") != "pre":
            message = "a norm after the residual connection in a parallel layer"
            scenario.report(norm, f"{message}, expected placement: pre")
