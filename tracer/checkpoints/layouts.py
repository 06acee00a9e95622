"""The name and layout of each parameter in a format's files.

A `{}` stands for the layer's number, counted from 0. All heads are side by side in a matrix;
`W_QKV` holds the queries, the keys and the values of all heads, `W_13` W_1 and W_3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Layout:
    """The tensor of each parameter; the names of a layer's own parameters begin with `layer.`."""

    names: Mapping[str, str]
    transposed: bool
    """Whether a matrix is stored with one row per output, for W·x."""
    unused: tuple[str, ...] = ()
    """Patterns of tensors that add nothing to the others."""
    by_head: bool = False
    """Whether W_QKV holds the queries, keys and values of each head side by side."""
    older: Mapping[str, str] = field(default_factory=dict)
    """Older names of tensors, with their names."""
    prefix: str = ""
    """The prefix of all names but the unembedding's; a model may be saved without it."""
    optional: tuple[str, ...] = ()
    """Parameters that a file may leave out."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """Tensors that must have the same numbers as another one, if they are there."""


def layout(
    tensors: Mapping[str, str],
    layer: str,
    biased: tuple[str, ...],
    *,
    transposed: bool,
    unused: tuple[str, ...] = (),
    by_head: bool = False,
    older: Mapping[str, str] | None = None,
    prefix: str = "",
) -> Layout:
    """Return the layout of tensors that are given without `.weight` and `.bias`.

    `layer` begins the names of a layer's own tensors. Parameters whose addresses begin with an
    entry of `biased` may have biases.
    """
    names: dict[str, str] = {}
    for parameter, name in tensors.items():
        tensor = layer + name if parameter.startswith("layer.") else name
        tensor = tensor if parameter == "unembedding.W_U" else prefix + tensor
        names[parameter] = f"{tensor}.weight"
        if parameter.startswith(biased):
            bias = parameter.replace("W_", "b_").replace("gain", "shift")
            names[bias] = f"{tensor}.bias"
    return Layout(names, transposed, unused, by_head, older or {}, prefix)
