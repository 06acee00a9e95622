"""The name and layout of each parameter in a format's files.

A `{}` stands for the layer's number, counted from 0, and a second one for the expert's. All heads
are side by side in a matrix; `W_QKV` holds the queries, the keys and the values of all heads, and
`W_13` W_1 and W_3. A name with an index, such as `up_proj[{}, :, 1::2]`, is part of another tensor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Layout:
    """The tensor of each parameter; the names of a layer's own parameters begin with `layer.`."""

    names: Mapping[str, str]
    transposed: bool
    """Whether a matrix is stored with one row per output, for W·x."""
    unused: tuple[str, ...] = ()
    """Patterns of tensors that add nothing to the others."""
    groups: int | None = 1
    """The number of groups of heads in W_QKV, each with its queries, keys and values side by side;
    None for a group per head with keys."""
    older: Mapping[str, str] = field(default_factory=dict)
    """Parts of tensors' names in other files, with what `names` has for them."""
    prefix: str = ""
    """The prefix of all names but the unembedding's; a model may be saved without it."""
    optional: tuple[str, ...] = ()
    """Parameters that a file may leave out."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """Tensors that must have the same numbers as another one, if they are there."""
    straight: str = ""
    """What is in the addresses of matrices that are stored for x·W all the same."""


def layout(
    tensors: Mapping[str, str],
    layer: str,
    biased: tuple[str, ...],
    *,
    transposed: bool,
    unused: tuple[str, ...] = (),
    groups: int | None = 1,
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
    return Layout(names, transposed, unused, groups, older or {}, prefix)


def changed(base: Layout, own: Mapping[str, str], without: tuple[str, ...] = ()) -> Layout:
    """Return a layout in which some tensors of each layer have other names.

    `own` gives them without `layer.` and `.weight`. Parameters whose addresses end with an entry of
    `without` are left out.
    """
    layer = f"{base.prefix}layers.{{}}."
    kept = {key: name for key, name in base.names.items() if not key.endswith(without)}
    names = {f"layer.{key}": f"{layer}{name}.weight" for key, name in own.items()}
    biases = {
        key.replace("W_", "b_"): name.removesuffix("weight") + "bias"
        for key, name in names.items()
        if ".W_" in key and ".expert." not in key
    }
    return replace(base, names={**kept, **names, **biases})


def with_shifts(base: Layout) -> Layout:
    """Return a layout in which each norm has a shift beside its gain."""
    shifts = {
        key.removesuffix("gain") + "shift": name.removesuffix("weight") + "bias"
        for key, name in base.names.items()
        if key.endswith(".gain")
    }
    return replace(base, names={**base.names, **shifts})


def with_query_key_norms(
    llama: Layout, query: str = "self_attn.q_norm", key: str = "self_attn.k_norm"
) -> Layout:
    """Return Llama's layout with a gain for the norm of queries, and one for that of keys."""
    return changed(llama, {"attention.query_norm.gain": query, "attention.key_norm.gain": key})


def with_fused_attention(llama: Layout, attention: str) -> Layout:
    """Return Llama's layout with W_Q, W_K and W_V in one matrix."""
    apart = tuple(f"attention.{kind}_{part}" for kind in "Wb" for part in "QKV")
    return changed(llama, {"attention.W_QKV": attention}, apart)


def with_fused_ffn(llama: Layout, ffn: str) -> Layout:
    """Return Llama's layout with W_1 and W_3 in one matrix."""
    apart = tuple(f"ffn.{kind}_{part}" for kind in "Wb" for part in "13")
    return changed(llama, {"ffn.W_13": ffn}, apart)


def with_norms_after(
    llama: Layout,
    attention: str = "post_attention_layernorm",
    ffn: str = "post_feedforward_layernorm",
    before: str | None = "pre_feedforward_layernorm",
) -> Layout:
    """Return Llama's layout with norms after attention and the FFN, and before both or neither."""
    after = {"attention.norm_after.gain": attention, "ffn.norm_after.gain": ffn}
    if before is None:
        return changed(llama, after, (".norm.gain",))
    return changed(llama, {**after, "ffn.norm.gain": before})


def with_experts(llama: Layout, router: str, experts: str, matrices: tuple[str, ...]) -> Layout:
    """Return Llama's layout with a router and experts, whose W_1, W_3 and W_2 are `matrices`."""
    own = {
        f"ffn.expert.{name}": experts + matrix
        for name, matrix in zip(("W_1", "W_3", "W_2"), matrices, strict=True)
    }
    apart = tuple(f".ffn.{kind}_{part}" for kind in "Wb" for part in "123")
    return changed(llama, {"ffn.router": router, **own}, apart)
