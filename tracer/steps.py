"""The steps of a forward pass as a reader meets them, and how the command line names them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tracer.errors import Problem, TracerError
from tracer.names import closest
from tracer.symbols import role
from tracer.tape import Step

KINDS: dict[str, tuple[str, ...]] = {
    "embedding": ("tokens", "token_ids", "embedding"),
    "position": (
        *("position.index", "position.div_term", "position.angle"),
        *("position.sin", "position.cos", "position"),
    ),
    "input": ("input",),
    "encoder": ("encoder.output",),
    "query": ("attention.head.query",),
    "key": ("attention.head.key", "attention.head.keys"),
    "value": ("attention.head.value", "attention.head.values"),
    "scores": (
        "attention.head.dot",
        "attention.head.d_k",
        "attention.head.scale",
        "attention.head.scores",
    ),
    "mask": ("mask", "attention.head.masked"),
    "softmax": ("attention.head.exp", "attention.head.exp_sum", "attention.head.weights"),
    "unmasked": (
        "attention.head.unmasked.exp",
        "attention.head.unmasked.exp_sum",
        "attention.head.unmasked.weights",
    ),
    "weighted_sum": ("attention.head.output",),
    "concat": ("attention.concat",),
    "projection": ("attention.output",),
    "residual": ("attention.residual", "ffn.residual"),
    "norm": tuple(
        f"{sub_layer}.norm{part}"
        for sub_layer in ("attention", "ffn")
        for part in ("", ".mean", ".deviation", ".squared", ".variance", ".std")
    ),
    "hidden": ("ffn.hidden",),
    "activation": ("ffn.activation",),
    "ffn_output": ("ffn.output",),
    "output": ("output",),
    "logits": ("logits",),
    "probabilities": ("probabilities.exp", "probabilities.exp_sum", "probabilities"),
    "prediction": ("prediction",),
    "loss": ("loss.target", "loss.token", "loss"),
    "sampling": tuple(
        f"sampling.{name}"
        for name in (
            *("logits", "temperature", "scaled", "exp", "exp_sum", "probabilities", "candidates"),
            *("candidates_sum", "renormalized", "cumulative", "draw", "word"),
        )
    ),
}
"""The kinds of steps, each with the roles of the values that it computes.

Cross-attention has the same kinds as attention.
"""

QKV = ("query", "key", "value")
HEADS = (*QKV, "scores", "mask", "softmax", "unmasked", "weighted_sum", "concat", "projection")

GROUPS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "qkv": (QKV, None),
    "attention": (HEADS, "attention"),
    "cross_attention": (HEADS, "cross_attention"),
    "mask": (("mask", "unmasked"), None),
    "softmax": (("softmax", "unmasked"), None),
    "ffn": (("hidden", "activation", "ffn_output"), None),
}
"""Names for several kinds at once, in one sort of sub-layer or in all."""

_KIND_OF = {role: kind for kind, roles in KINDS.items() for role in roles}


@dataclass(frozen=True)
class Stage:
    """Steps of the tape that are told together: the softmax of a head, a LayerNorm."""

    number: int
    kind: str
    layer: int | None
    head: int | None
    sub_layer: str | None
    steps: tuple[Step, ...]


def stages(steps: Sequence[Step]) -> list[Stage]:
    """The tape's steps put together, in the order of computation, counted from 1.

    Parameters belong to the step that uses them.
    """
    together: dict[tuple[str, int | None, int | None, str | None], list[Step]] = {}
    for step in steps:
        address = step.output.address
        kind = _KIND_OF.get(role(address).removeprefix("cross_"))
        if kind is None or address == "mask":
            continue
        layer, head = _number("layer", address), _number("head", address)
        sub_layer = address.split(".")[1] if layer else None
        together.setdefault((kind, layer, head, sub_layer), []).append(step)
    return [
        Stage(number, *key, tuple(steps)) for number, (key, steps) in enumerate(together.items(), 1)
    ]


def _number(name: str, address: str) -> int | None:
    found = re.search(rf"\b{name}([0-9]+)\b", address)
    return int(found[1]) if found else None


def select(
    all_stages: Sequence[Stage], name: str | None, layer: int | None, head: int | None
) -> list[Stage]:
    """The stages of a kind, a group or an address, in one layer and head where these are given.

    Raises:
        TracerError: nothing is called so; the layer or the head is not there.
    """
    for what, wanted, there in (
        ("layer", layer, {stage.layer for stage in all_stages}),
        ("head", head, {stage.head for stage in all_stages}),
    ):
        if wanted is not None and wanted not in there:
            most = max((number for number in there if number), default=0)
            raise TracerError(Problem(f"no {what} {wanted}, the last is {most}"))
    chosen = [
        stage
        for stage in all_stages
        if (layer is None or stage.layer in (None, layer))
        and (head is None or stage.head in (None, head))
    ]
    if name is None:
        return chosen
    found = _named(chosen, name)
    if found:
        return found
    if _named(all_stages, name):
        raise TracerError(Problem(f"the step {name!r} is not in this layer or head"))
    known = [*KINDS, *GROUPS, *(step.output.address for s in all_stages for step in s.steps)]
    if name in known:
        raise TracerError(Problem(f"this scenario has no step {name!r}"))
    raise TracerError(Problem(f"no step is called {name!r}{closest(name, known)}"))


def _named(all_stages: Sequence[Stage], name: str) -> list[Stage]:
    if name in GROUPS or name in KINDS:
        kinds, sub_layer = GROUPS.get(name, ((name,), None))
        return [
            stage
            for stage in all_stages
            if stage.kind in kinds and sub_layer in (None, stage.sub_layer)
        ]
    found = []
    for stage in all_stages:
        steps = tuple(step for step in stage.steps if f".{name}." in f".{step.output.address}.")
        if steps:
            found.append(
                Stage(stage.number, stage.kind, stage.layer, stage.head, stage.sub_layer, steps)
            )
    return found
