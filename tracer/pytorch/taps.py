"""Which module of a model computes which value, from the names of a family's tensors.

The tensor `model.layers.0.self_attn.q_proj.weight` is W_Q of layer 1. The module of this name
computes the queries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tracer.checkpoints.architecture import Architecture
from tracer.checkpoints.layouts import Layout
from tracer.checkpoints.parameters import ENCODER, UNEMBEDDING, columns_of, expected_tensors
from tracer.scenario.heads_of_arrays import OF_SCORES, address_of_head
from tracer.scenario.other_names import result_of

Part = tuple[int, int, str]
"""Columns of a vector, from the first to the one after the last, and their address."""

_HEADS_FIRST = ("exaone4", "gemma3_text", "hunyuan_v1_dense")
"""Families that normalize queries and keys as (batch, heads, tokens, columns)."""


@dataclass(frozen=True)
class Tap:
    """A tensor that a module receives or returns, and the address of its numbers.

    `parts` are set if columns of it have addresses of their own, `heads` if it holds the vectors of
    several heads.
    """

    module: str
    address: str
    reads: Literal["input", "output", "weights"] = "output"
    """`weights`: of the tensors that the module returns, that of the attention weights."""
    item: int | None = None
    """Which of several tensors that the module returns; None for the first."""
    parts: tuple[Part, ...] = ()
    heads: tuple[int, ...] = ()
    heads_first: bool | None = None
    """Whether the axis of the heads precedes that of the tokens; None if the shape says it."""
    name: str = ""
    """The module's name as the user has written it; empty for one of a known family."""

    @property
    def keys(self) -> str | None:
        """The tower whose tokens are the columns; None if these are no tokens."""
        if "attention." not in self.address or not self.address.endswith(OF_SCORES):
            return None
        is_of_encoder = self.address.startswith(ENCODER) or "cross_attention" in self.address
        return ENCODER if is_of_encoder else ""

    @property
    def tower(self) -> str:
        """The tower whose tokens are the rows."""
        own = re.search(r"cross_attention\.(head[0-9]+\.)?(key|value)", self.address)
        return ENCODER if own or self.address.startswith(ENCODER) else ""

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of all its numbers."""
        if self.heads:
            return tuple(address_of_head(self.address, head) for head in self.heads)
        return tuple(address for _, _, address in self.parts) or (self.address,)


def taps_of(architecture: Architecture, layout: Layout) -> Iterator[Tap]:
    """Yield what the modules of a family compute; those of a model may lack some of them."""
    for each in expected_tensors(architecture, layout, ()):
        module, _, end = each.name.rpartition(".")
        if end == "weight" and ".expert" not in each.address:
            yield from _of_parameter(module, each.address, each.tower, layout)
    yield from _of_tables(layout)
    yield from _of_the_logits(architecture, layout)
    yield from _of_layers("", architecture, layout)
    if architecture.encoder:
        yield from _of_layers(ENCODER, architecture.encoder, layout)


def _of_parameter(module: str, address: str, tower: Architecture, layout: Layout) -> Iterator[Tap]:
    place, _, name = address.rpartition(".")
    if _is_of_delta(place, tower):
        if name == "W_O":
            yield Tap(module, f"{place}.output")
            yield Tap(module, f"{place}.concat", "input")
    elif name == "gain":
        yield from _of_norm(module, place, tower)
    elif name == "router":
        yield Tap(module.rpartition(".")[0], f"{place}.output")
        yield Tap(module, f"{address}.logits")
    elif parts := tuple(columns_of(address, tower, layout)):
        named = tuple((begin, end, result_of(part)) for begin, end, part in parts)
        yield Tap(module, result_of(address), parts=named)
    elif address != UNEMBEDDING:
        yield Tap(module, result_of(address))
    if name == "W_O" and not _is_of_delta(place, tower):
        attention, heads = module.rpartition(".")[0], tuple(range(1, tower.heads + 1))
        yield Tap(attention, f"{place}.weights", "weights", heads=heads, heads_first=True)
        yield Tap(module, f"{place}.concat", "input")
    if name == "W_2":
        yield Tap(module, f"{place}.{'gated' if tower.gated else 'activation'}", "input")


def _is_of_delta(place: str, tower: Architecture) -> bool:
    """Whether a parameter belongs to the gated delta rule, whose modules join several values."""
    found = re.fullmatch(r"layer(\d+)\.attention(?!\.norm)(\..+)?", place)
    return found is not None and tower.is_delta(int(found[1]))


def _of_norm(module: str, norm: str, tower: Architecture) -> Iterator[Tap]:
    place, _, name = norm.rpartition(".")
    if name in ("query_norm", "key_norm"):
        heads = tower.heads_with_keys if name == "key_norm" else range(1, tower.heads + 1)
        yield Tap(module, norm, heads=tuple(heads), heads_first=tower.family in _HEADS_FIRST)
        return
    yield Tap(module, norm.replace("final_norm", "output"))
    is_after = name == "norm" and tower.placement == "post"
    follows_attention = place.endswith("ffn") and tower.placement == "pre" and not tower.parallel
    if is_after:
        yield Tap(module, f"{place}.residual", "input")
    elif name == "norm" and follows_attention:
        yield Tap(module, f"{place.removesuffix('ffn')}attention.residual", "input")


def _of_tables(layout: Layout) -> Iterator[Tap]:
    """Yield the modules with a copy of the embeddings, and those of tables that need no file."""
    for copy, own in layout.copies.items():
        if own == layout.names["embeddings"]:
            tower = ENCODER if ".encoder." in copy else ""
            yield Tap(copy.removesuffix(".weight"), f"{tower}embedding")
    for key in layout.optional:
        if key.endswith("positions"):
            module = layout.names[key].removesuffix(".weight")
            yield Tap(module, key.replace("positions", "position"))


def _of_the_logits(architecture: Architecture, layout: Layout) -> Iterator[Tap]:
    """Yield the logits, which a model may divide or cap after the module that computes them."""
    module = layout.names[UNEMBEDDING].removesuffix(".weight")
    if architecture.logit_divisor is not None:
        yield Tap(module, "logits.unscaled")
    elif architecture.logit_cap is not None:
        yield Tap(module, "logits.uncapped")
    yield Tap("", "logits")


def _of_layers(tower: str, architecture: Architecture, layout: Layout) -> Iterator[Tap]:
    """Yield the vectors between the layers."""
    name = layout.names[f"{tower}layer.attention.W_O"]
    module = f"{name.partition('{}')[0]}{{}}"
    end = "norm" if architecture.placement == "post" else "residual"
    yield Tap(module.format(0), f"{tower}input", "input")
    for layer in range(architecture.layers):
        yield Tap(module.format(layer), f"{tower}layer{layer + 1}.ffn.{end}")
