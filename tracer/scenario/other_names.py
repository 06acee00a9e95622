"""The names of TransformerLens and of Hugging Face for the values of a scenario.

Both count layers and heads from 0. Where they have one array for several values, such as those of
all heads, a number in brackets chooses one: `blocks.0.attn.hook_q[1]` are the queries of layer 1,
head 2. In a matrix of several parts, it counts parts: `model.layers.0.mlp.gate_up_proj[0]`.

TransformerLens: the hooks and the weights of HookedTransformer, version 3. Hugging Face: what a
model returns, its modules, each for what it returns, and the tensors of its files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

from tracer.checkpoints.hugging_face_families import FAMILIES
from tracer.checkpoints.parameters import ENCODER, UNEMBEDDING, side_by_side
from tracer.errors import Problem, TracerError
from tracer.scenario.heads_of_arrays import heads_with
from tracer.scenario.layers import Attention, Layer
from tracer.scenario.model import Scenario, Tower
from tracer.scenario.networks import FFN, SubLayer
from tracer.scenario.norms import Normalization
from tracer.scenario.parts import networks
from tracer.scenario.trained import FromCheckpoint

Names: TypeAlias = Mapping[str, Sequence[str]]
"""Addresses by name: several for an array of several values. A pass can lack some of them."""
_Named: TypeAlias = Iterator[tuple[str, Sequence[str]]]

STANDARDIZED = ".standardized"
"""The end of the address of a norm's numbers before γ and β, which a pass has only on request."""
MOST_LISTED = 8
"""The most values that a message lists."""

_OF_HEADS = {
    **{"hook_q": "query", "hook_k": "key", "hook_v": "value"},
    **{"hook_rot_q": "rotated_query", "hook_rot_k": "rotated_key"},
    **{"hook_pattern": "weights", "hook_z": "output"},
}
_RESULTS = {
    **{"W_Q": "query", "W_K": "key", "W_V": "value", "W_O": "output"},
    **{"W_1": "hidden", "W_3": "up", "W_2": "output", "shared_gate": "shared_gate.logit"},
    **{"embeddings": "embedding", "positions": "position"},
}
"""The value that the module of a parameter computes."""
_FAMILIES: Mapping[tuple[str, str, bool] | None, str] = {
    ("pre", "rms_norm", True): "llama",
    ("pre", "layer_norm", False): "gpt2",
    ("post", "layer_norm", False): "marian",
}
"""The families whose names a typed scenario has, by its norms and whether its FFNs are gated."""
_WEIGHTS_OF_HEADS = ("W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V")
_WEIGHTS_OF_FFN = {
    True: {"W_gate": "W_1", "W_in": "W_3", "W_out": "W_2", "b_out": "b_2"},
    False: {"W_in": "W_1", "b_in": "b_1", "W_out": "W_2", "b_out": "b_2"},
}
"""Of an FFN with a gate, and of one without."""
_ADDING = ("bloom", "mpt")
"""Families whose modules of attention or of the FFN also add the residual connection."""
_TYPED = re.compile(r"(gradient\.|update\.|)([^\s\[=]+)((?:\[[0-9]+\])*)(.*)", re.S)


def names_of(scenario: Scenario) -> Names:
    """Return the addresses of all names."""
    return {**transformer_lens(scenario), **hugging_face(scenario)}


def transformer_lens(scenario: Scenario) -> Names:
    """Return the addresses of the names of TransformerLens."""
    return dict(chain(_hooks(scenario), _weights(scenario)))


def hugging_face(scenario: Scenario) -> Names:
    """Return the addresses of the names of Hugging Face."""
    tensors = {name: parts or [address] for name, address, parts in _tensors(scenario)}
    return {**dict(chain(_outputs(scenario), _modules(scenario))), **tensors}


def names_of_values(scenario: Scenario) -> Names:
    """Return the addresses of the names of what is computed, which leaves out weights."""
    return dict(chain(_hooks(scenario), _outputs(scenario), _modules(scenario)))


def names_by_address(names: Names) -> Mapping[str, Sequence[str]]:
    """Return the names of each address."""
    found: dict[str, list[str]] = {}
    for name, addresses in names.items():
        for number, address in enumerate(addresses):
            found.setdefault(address, []).append(_numbered(name, number, addresses))
    return found


def _numbered(name: str, number: int, addresses: Sequence[str]) -> str:
    return f"{name}[{number}]" if len(addresses) > 1 else name


class _Read(NamedTuple):
    """What a person typed, if it begins with a name: the addresses, and what is around them."""

    phase: str
    name: str
    addresses: Sequence[str]
    rest: str


def own_addresses(typed: str, names: Names) -> list[str]:
    """Return what a person typed with an address in place of the name at its beginning.

    There is one text for each value of the name. What begins with no name stays as it is.
    """
    read = _read(typed, names)
    return [f"{read.phase}{address}{read.rest}" for address in read.addresses] if read else [typed]


def own_address(typed: str, names: Names) -> str:
    """Return the same for a name of one value.

    Raises:
        TracerError: the name is that of several values.
    """
    found = own_addresses(typed, names)
    if len(found) == 1:
        return found[0]
    read = _read(typed, names)
    assert read
    several = [f"{read.name}[{i}] ({address})" for i, address in enumerate(read.addresses)]
    more = ["and others"] * (len(several) > MOST_LISTED)
    message = f"holds several values: {', '.join(several[:MOST_LISTED] + more)}"
    raise TracerError(Problem(message, address=read.name))


def _read(typed: str, names: Names) -> _Read | None:
    match = _TYPED.fullmatch(typed)
    if match is None:
        return None
    phase, name, brackets, rest = match.groups()
    numbers = re.findall(r"\[[0-9]+\]", brackets)
    if numbers and name + numbers[0] in names:  # hidden_states[0]
        name += numbers.pop(0)
    addresses = names.get(name)
    if addresses is None:
        return None
    of_several = len(addresses) > 1 or ".head" in addresses[0]
    if of_several and numbers and int(numbers[0][1:-1]) < len(addresses):
        addresses = [addresses[int(numbers.pop(0)[1:-1])]]
    return _Read(phase, name, addresses, "".join((*numbers, rest)))


def result_of(parameter: str) -> str:
    """Return the address of the value that the module of a parameter computes."""
    place, point, name = parameter.rpartition(".")
    return f"{place}{point}{_RESULTS.get(name, name)}"


def ends_of_layers(tower: Tower) -> list[str]:
    """Return the address of each layer's result."""
    found = []
    for number, layer in enumerate(tower.layers, 1):
        parts = ("ffn", "cross_attention", "attention")
        name, part = next((name, p) for name in parts if (p := getattr(layer, name)))
        norm = layer.norm_of(part)
        computed = "norm_after" if layer.norm_after_of(part) else "output"
        end = "residual" if part.residual else computed
        found.append(f"layer{number}.{name}.{'norm' if norm and norm.placement == 'post' else end}")
    return found


def _hooks(scenario: Scenario) -> _Named:
    """Yield the hooks of TransformerLens."""
    embedding = "embedding" if scenario.embedding_scale == "none" else "embedding.scaled"
    yield "hook_embed", ["embedding_norm" if scenario.embedding_norm else embedding]
    yield "hook_pos_embed", ["position"]
    inputs = ["input", *ends_of_layers(scenario)]
    for number, layer in enumerate(scenario.layers):
        block, place = f"blocks.{number}", f"layer{number + 1}"
        yield f"{block}.hook_resid_pre", [inputs[number]]
        if attention := layer.attention:
            for hook, value in _OF_HEADS.items():
                yield f"{block}.attn.{hook}", _of_heads(attention, f"{place}.attention", value)
            scores = "scores" if _shows_all(scenario, attention) else "masked"
            yield (
                f"{block}.attn.hook_attn_scores",
                _of_heads(attention, f"{place}.attention", scores),
            )
            yield f"{block}.hook_attn_out", [f"{place}.attention.{_added(layer, attention)}"]
        if isinstance(layer.ffn, FFN) and layer.ffn.activates == "hidden":
            gated = layer.ffn.W_3 is not None
            yield f"{block}.mlp.hook_pre", [f"{place}.ffn.hidden"]
            yield f"{block}.mlp.hook_post", [f"{place}.ffn.{'gated' if gated else 'activation'}"]
            if gated:
                yield f"{block}.mlp.hook_pre_linear", [f"{place}.ffn.up"]
        if layer.ffn:
            yield f"{block}.hook_mlp_out", [f"{place}.ffn.{_added(layer, layer.ffn)}"]
        if layer.attention and layer.ffn and not layer.is_joint:
            yield f"{block}.hook_resid_mid", [f"{place}.attention.residual"]
        last = "ffn" if layer.ffn else "attention"
        yield f"{block}.hook_resid_post", [f"{place}.{last}.residual"]
    yield "ln_final", ["output"]
    yield "ln_final.hook_normalized", ["output"]
    for name, address, norm in _norms(scenario):
        learns = norm.gain is not None or norm.shift is not None
        yield f"{name}.hook_normalized", [address + STANDARDIZED * learns]
        yield f"{name}.hook_scale", [f"{address}.{'rms' if norm.kind == 'rms_norm' else 'std'}"]
    yield "unembed.hook_in", ["output"]
    yield "unembed.hook_out", [_unembedded(scenario)]
    yield "unembed", [_unembedded(scenario)]


def _weights(scenario: Scenario) -> _Named:
    """Yield the weights of TransformerLens."""
    yield from {
        **{"embed.W_E": ["embeddings"], "pos_embed.W_pos": ["positions.table"]},
        **{"unembed.W_U": ["unembedding.W_U"], "unembed.b_U": ["unembedding.b_U"]},
    }.items()
    for number, layer in enumerate(scenario.layers):
        block, place = f"blocks.{number}", f"layer{number + 1}"
        if attention := layer.attention:
            shares = any(head.shares for head in attention.heads)
            for name in _WEIGHTS_OF_HEADS:
                # W_K repeats the keys of heads that share them; _W_K does not.
                own = f"_{name}" if shares and name[-1] in "KV" else name
                yield f"{block}.attn.{own}", _of_heads(attention, f"{place}.attention", name)
            for name in ("W_O", "b_O"):
                yield f"{block}.attn.{name}", [f"{place}.attention.{name}"]
        if isinstance(layer.ffn, FFN):
            for name, own in _WEIGHTS_OF_FFN[layer.ffn.W_3 is not None].items():
                yield f"{block}.mlp.{name}", [f"{place}.ffn.{own}"]
    for name, address, norm in _norms(scenario):
        if not norm.unit_offset:  # where TransformerLens adds the 1 to the weights
            yield f"{name}.w", [f"{address}.gain"]
            yield f"{name}.b", [f"{address}.shift"]


def _norms(scenario: Scenario) -> Iterator[tuple[str, str, Normalization]]:
    """Yield the norms of the decoder: their name in TransformerLens, and their address."""
    for number, layer in enumerate(scenario.layers):
        for name, sub_layer in (("ln1", "attention"), ("ln2", "ffn")):
            part = getattr(layer, sub_layer)
            before = layer.norm_of(part) if part else None
            after = layer.norm_after_of(part) if part else None
            own, place = f"blocks.{number}.{name}", f"layer{number + 1}.{sub_layer}"
            if before:
                yield own, f"{place}.norm", before
            if after:
                yield f"{own}_post" if before else own, f"{place}.norm_after", after
    if scenario.final_norm:
        yield "ln_final", "final_norm", scenario.final_norm


def _added(layer: Layer, part: SubLayer) -> str:
    """Return the value of a sub-layer that the hooks have: normalized, if its input is too."""
    is_normalized = layer.norm_of(part) and layer.norm_after_of(part)
    return "norm_after" if is_normalized else "output"


def _of_heads(attention: Attention, place: str, name: str) -> list[str]:
    return [f"{place}.head{head}.{name}" for head in heads_with(attention, name)]


def _shows_all(scenario: Scenario, attention: Attention) -> bool:
    """Return whether no token is hidden from another one."""
    mask = scenario.mask if attention.mask is None else attention.mask
    is_without = isinstance(mask, str) and mask == "none"
    return is_without and scenario.padding not in scenario.tokens


def _unembedded(scenario: Scenario) -> str:
    """Return the address of the product with W_U."""
    last = scenario.unembedding
    if last is not None and last.scale is not None:
        return "logits.unscaled"
    return "logits.uncapped" if last is not None and last.softcap is not None else "logits"


def _outputs(scenario: Scenario) -> _Named:
    """Yield what a model of Hugging Face returns."""
    between = ["input", *ends_of_layers(scenario)[:-1], "output"]
    for number, address in enumerate(between[: len(scenario.layers) + 1]):
        yield f"hidden_states[{number}]", [address]
    for number, layer in enumerate(scenario.layers):
        if layer.attention:
            place = f"layer{number + 1}.attention"
            yield f"attentions[{number}]", _of_heads(layer.attention, place, "weights")
    yield "last_hidden_state", ["output"]
    yield "logits", ["logits"]


def family_of(scenario: Scenario) -> str | None:
    """Return the family whose modules and tensors are named; None if there is none.

    A typed scenario has the names of one with such norms and FFNs.
    """
    if isinstance(scenario, FromCheckpoint):
        return scenario.family if scenario.family in FAMILIES else None
    forms = {
        _form(layer, part)
        for layer in scenario.layers
        for part in filter(None, (layer.attention, layer.cross_attention, layer.ffn))
    }
    return _FAMILIES.get(forms.pop()) if len(forms) == 1 else None


def _form(layer: Layer, part: SubLayer) -> tuple[str, str, bool] | None:
    """Return the norm around a part, and whether the FFN is gated; None for an unusual layer."""
    norm, ffn = layer.norm_of(part), layer.ffn
    if not norm or not isinstance(ffn, FFN) or layer.is_joint or layer.norm_after_of(part):
        return None
    return norm.placement, norm.kind, ffn.W_3 is not None


def _tensors(scenario: Scenario) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the tensors of a family: their name, the address of the whole, those of its parts."""
    family = family_of(scenario)
    if family is None:
        return
    layout = FAMILIES[family].layout
    for key, name in layout.names.items():
        prefix = ENCODER if key.startswith(ENCODER) else ""
        tower = scenario.encoder if prefix else scenario
        if "layer." not in key:
            yield name, key, []
            continue
        for number, layer in enumerate(tower.layers if tower else ()):
            whole = key.replace("layer.", f"layer{number + 1}.", 1)
            attention = layer.cross_attention if ".cross_" in key else layer.attention
            heads = heads_with(attention, "query"), heads_with(attention, "key")
            for expert in range(len(networks(layer)) if ".expert." in key else 1):
                address = whole.replace(".expert.", f".expert{expert + 1}.")
                parts = [*side_by_side(address, *heads, layout)]
                yield name.format(number, expert), address, parts


def _modules(scenario: Scenario) -> _Named:
    """Yield the modules of a family."""
    family = family_of(scenario)
    if family is None:
        return
    layout = FAMILIES[family].layout
    for prefix, tower in (("", scenario), (ENCODER, scenario.encoder)):
        module = layout.names.get(f"{prefix}layer.attention.W_O", "").partition("{}")[0]
        for number, address in enumerate(ends_of_layers(tower) if tower else ()):
            yield f"{module}{number}", [prefix + address]
    for name, address, parts in _tensors(scenario):
        module, _, end = name.rpartition(".")
        if end != "weight" or ".expert" in address:
            continue
        place, _, last = address.rpartition(".")
        within = module.rpartition(".")[0]
        if last == "gain":
            yield module, _of_norm(place, scenario)
        elif address == UNEMBEDDING:
            yield module, [_unembedded(scenario)]
        elif last != "router" and (address != "embeddings" or scenario.embedding_scale == "none"):
            yield module, [result_of(part) for part in parts or [address]]
        if last in ("W_O", "W_2") and family not in _ADDING and not re.search(r"\.[0-9]+$", within):
            yield within, [f"{place}.output"]


def _of_norm(place: str, scenario: Scenario) -> list[str]:
    """Return what the module of a norm computes, for each head if it is one of heads."""
    within, _, name = place.rpartition(".")
    if name not in ("query_norm", "key_norm"):
        return [place]
    attention = scenario.layers[int(re.sub("[^0-9]", "", within)) - 1].attention
    return _of_heads(attention, within, name) if attention else []
