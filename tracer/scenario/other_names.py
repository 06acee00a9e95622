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
from typing import TypeAlias

from tracer.checkpoints.hugging_face_families import FAMILIES
from tracer.checkpoints.parameters import (
    ATTENTION,
    DELTA,
    ENCODER,
    OF_SEVERAL,
    UNEMBEDDING,
    is_of_layer,
    side_by_side,
)
from tracer.errors import Problem, TracerError
from tracer.scenario.heads_of_arrays import heads_with
from tracer.scenario.layers import Layer
from tracer.scenario.model import Scenario, Tower
from tracer.scenario.norms import Normalization
from tracer.scenario.part import scenario_parts
from tracer.scenario.parts import networks
from tracer.scenario.trained import FromCheckpoint

Names: TypeAlias = Mapping[str, Sequence[str]]
"""Addresses by name: several for an array of several values. A pass can lack some of them."""
_Named: TypeAlias = Iterator[tuple[str, Sequence[str]]]

STANDARDIZED = ".standardized"
"""The end of the address of a norm's numbers before γ and β, which a pass has only on request."""
MOST_LISTED = 8
"""The most values that a message lists."""

_OF_MODEL = {
    **{"hook_pos_embed": "position", "ln_final": "output", "ln_final.hook_normalized": "output"},
    **{"unembed.hook_in": "output", "embed.W_E": "embeddings"},
    **{"pos_embed.W_pos": "positions.table"},
    **{"unembed.W_U": "unembedding.W_U", "unembed.b_U": "unembedding.b_U"},
}
_OF_BLOCK = {
    **{"attn.hook_q": "query", "attn.hook_k": "key", "attn.hook_v": "value"},
    **{"attn.hook_rot_q": "rotated_query", "attn.hook_rot_k": "rotated_key"},
    **{"attn.hook_attn_scores": "masked", "attn.hook_pattern": "weights", "attn.hook_z": "output"},
    **{f"attn.{kind}_{part}": f"{kind}_{part}" for kind in "Wb" for part in "QKV"},
}
"""Names for all heads; of keys that heads share, TransformerLens calls the weights _W_K."""
_OF_SUB_LAYERS = {
    **{"attn.W_O": "attention.W_O", "attn.b_O": "attention.b_O"},
    **{"hook_attn_out": "attention.output", "hook_resid_mid": "attention.residual"},
    **{"mlp.hook_pre": "ffn.hidden", "mlp.hook_post": "ffn.activation"},
    **{"hook_mlp_out": "ffn.output", "mlp.W_out": "ffn.W_2", "mlp.b_out": "ffn.b_2"},
}
_HOOKS = {
    **{name: f"attention.{address}" for name, address in _OF_BLOCK.items() if "hook_" in name},
    **{name: address for name, address in _OF_SUB_LAYERS.items() if "hook_" in name},
    "hook_resid_post": "ffn.residual",
}
"""The hooks of a layer without norms, whose FFN has no gate."""
_PLAIN = {"mlp.W_in": "ffn.W_1", "mlp.b_in": "ffn.b_1"}
_GATED = {
    **{"mlp.W_gate": "ffn.W_1", "mlp.W_in": "ffn.W_3"},
    **{"mlp.hook_pre_linear": "ffn.up", "mlp.hook_post": "ffn.gated"},
}
_RESULTS = {
    **{"W_M": "hidden", "type_embeddings": "token_type"},
    **{"W_Q": "query", "W_K": "key", "W_V": "value", "W_O": "output"},
    "W_G": "output_gate.logits",
    **{"W_1": "hidden", "W_3": "up", "W_2": "output", "shared_gate": "shared_gate.logit"},
    **{"embeddings": "embedding", "positions": "position"},
}
"""The value that the module of a parameter computes."""
_FAMILIES = {
    ("pre", "rms_norm", True): "llama",
    ("pre", "layer_norm", False): "gpt2",
    ("post", "layer_norm", False): "marian",
}
"""The families whose names a typed scenario has, by its norms and whether its FFNs are gated."""
_ADDING = ("bert", "bloom", "camembert", "mpt", "roberta", "xlm-roberta")
"""Families whose modules of attention or of the FFN also add the residual connection."""
_WEIGHT = re.compile(r"(^|\.)_?[Wwb](_[A-Za-z]+)?$|(weight|bias)$")
_TYPED = re.compile(r"(gradient\.|update\.|)([^\s\[=]+)((?:\[[0-9]+\])*)(.*)", re.S)


def names_of(scenario: Scenario) -> Names:
    """Return the addresses of all names."""
    return {**transformer_lens(scenario), **hugging_face(scenario)}


def names_of_values(scenario: Scenario) -> Names:
    """Return the addresses of the names of what is computed, if a name is no address itself."""
    every = names_of(scenario).items()
    return {name: of for name, of in every if not _WEIGHT.search(name) and name not in of}


def names_by_address(names: Names) -> Mapping[str, Sequence[str]]:
    """Return the names of each address."""
    found: dict[str, list[str]] = {}
    for name, addresses in names.items():
        for number, address in enumerate(addresses):
            chosen = f"[{number}]" if len(addresses) > 1 else ""
            found.setdefault(address, []).append(name + chosen)
    return found


def own_addresses(typed: str, names: Names) -> list[str]:
    """Return what a person typed with an address in place of the name at its beginning.

    There is one text for each value of the name. What begins with no name stays as it is.
    """
    match = _TYPED.fullmatch(typed)
    if match is None:
        return [typed]
    phase, name, brackets, rest = match.groups()
    numbers = re.findall(r"\[[0-9]+\]", brackets)
    if numbers and name + numbers[0] in names:  # hidden_states[0]
        name += numbers.pop(0)
    addresses = names.get(name)
    if addresses is None:
        return [typed]
    if len(addresses) > 1 or ".head" in addresses[0]:
        parts = {f"[{number}]": address for number, address in enumerate(addresses)}
        if numbers and numbers[0] in parts:
            addresses = [parts[numbers.pop(0)]]
    return [f"{phase}{address}{''.join(numbers)}{rest}" for address in addresses]


def own_address(typed: str, names: Names) -> str:
    """Return the same for a name of one value.

    Raises:
        TracerError: the name is that of several values.
    """
    found = own_addresses(typed, names)
    if len(found) == 1:
        return found[0]
    listed = ", ".join(found[:MOST_LISTED]) + " and others" * (len(found) > MOST_LISTED)
    name = re.split(r"[\[=]", typed, maxsplit=1)[0]
    message = f"several values; choose one with {name}[0] to {name}[{len(found) - 1}]: {listed}"
    raise TracerError(Problem(message, address=name))


def address_of_hook(typed: str) -> str:
    """Return the address of a hook, `blocks.*.attn.hook_z` of any layer; another text as it is.

    Raises:
        TracerError: the address of the hook depends on the model.
    """
    match = re.fullmatch(r"blocks\.(\*|[0-9]{1,9})\.(.+)", typed)
    if match is None:
        known = {"hook_embed": "embedding", "unembed.hook_out": "logits", **_OF_MODEL}
        return known.get(typed, typed)
    number, name = match.groups()
    if name not in _HOOKS or name == "mlp.hook_post":  # which a gate makes another value
        message = "depends on the model, expected an address, such as layer*.ffn.activation"
        raise TracerError(Problem(message, address=typed))
    return f"layer{number if number == '*' else int(number) + 1}.{_HOOKS[name]}"


def result_of(parameter: str) -> str:
    """Return the address of the value that the module of a parameter computes."""
    place, point, name = parameter.rpartition(".")
    return f"{place}{point}{_RESULTS.get(name, name)}"


def _ends_of_layers(tower: Tower) -> list[str]:
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


def _of_heads(place: str, name: str, layer: Layer) -> list[str]:
    """Return the addresses of the heads of an attention, such as `layer1.attention`."""
    attention = getattr(layer, place.rpartition(".")[2])
    return [f"{place}.head{head}.{name}" for head in heads_with(attention, name)]


def transformer_lens(scenario: Scenario) -> Names:
    """Return the addresses of the names of TransformerLens."""
    found: dict[str, Sequence[str]] = {name: [address] for name, address in _OF_MODEL.items()}
    embedding = "embedding" if scenario.embedding_scale == "none" else "embedding.scaled"
    is_added = scenario.positions and scenario.positions.is_added
    is_normalized = scenario.embedding_norm and not is_added
    found["hook_embed"] = ["embedding_norm" if is_normalized else embedding]
    found["unembed"] = found["unembed.hook_out"] = [_product_with_w_u(scenario)]
    if (read := read_by_unembedding(scenario)) is not None:
        found["unembed.hook_in"] = [read]
    inputs = ["input", *_ends_of_layers(scenario)]
    for number, layer in enumerate(scenario.layers):
        block, place = f"blocks.{number}", f"layer{number + 1}"
        gated = getattr(layer.ffn, "W_3", None) is not None
        single = {**_OF_SUB_LAYERS, **(_GATED if gated else _PLAIN)}
        single["hook_resid_post"] = f"{'ffn' if layer.ffn else 'attention'}.residual"
        if layer.is_joint:  # there is no vector between its sub-layers
            del single["hook_resid_mid"]
        found |= {f"{block}.{name}": [f"{place}.{address}"] for name, address in single.items()}
        found[f"{block}.hook_resid_pre"] = [inputs[number]]
        mask = layer.attention.mask if layer.attention else None
        is_hidden = _hides(scenario, scenario.mask if mask is None else mask)
        shares = any(head.shares for head in layer.attention.heads) if layer.attention else False
        for name, value in _OF_BLOCK.items():
            own = re.sub(r"([Wb]_[KV])", r"_\1", name) if shares else name
            value = "scores" if value == "masked" and not is_hidden else value
            found[f"{block}.{own}"] = _of_heads(f"{place}.attention", value, layer)
    for name, address, norm in _norms(scenario):
        learns = norm.gain is not None or norm.shift is not None
        found[f"{name}.hook_normalized"] = [address + STANDARDIZED * learns]
        found[f"{name}.hook_scale"] = [f"{address}.{'rms' if norm.kind == 'rms_norm' else 'std'}"]
        if name.endswith("_post"):  # what is added to the residual stream
            hook = "hook_attn_out" if "ln1" in name else "hook_mlp_out"
            found[re.sub("ln[12]_post", hook, name)] = [address]
        if not norm.unit_offset:  # where TransformerLens adds the 1 to the weights
            found |= {f"{name}.w": [f"{address}.gain"], f"{name}.b": [f"{address}.shift"]}
    return {name: addresses for name, addresses in found.items() if addresses}


def _norms(scenario: Scenario) -> Iterator[tuple[str, str, Normalization]]:
    """Yield the norms of the decoder: their name in TransformerLens, and their address."""
    for number, layer in enumerate(scenario.layers):
        for name, sub_layer in (("ln1", "attention"), ("ln2", "ffn")):
            if part := getattr(layer, sub_layer):
                before, after = layer.norm_of(part), layer.norm_after_of(part)
                own, place = f"blocks.{number}.{name}", f"layer{number + 1}.{sub_layer}"
                if before:
                    yield own, f"{place}.norm", before
                if after:
                    yield f"{own}_post" if before else own, f"{place}.norm_after", after
    if scenario.final_norm:
        yield "ln_final", "final_norm", scenario.final_norm


def _hides(scenario: Scenario, mask: object) -> bool:
    """Return whether a mask hides a token from another one."""
    return not isinstance(mask, str) or mask != "none" or scenario.padding in scenario.tokens


def read_by_unembedding(scenario: Scenario) -> str | None:
    """Return the address of what W_U reads, if a part of the model replaces the output."""
    own = (part.reads for part in scenario_parts() if part.reads)
    found = (read(scenario.unembedding) for read in own if scenario.unembedding is not None)
    return next(filter(None, found), None)


def _product_with_w_u(scenario: Scenario) -> str:
    """Return the address of the product of the output with W_U."""
    last = scenario.unembedding
    if last is not None and last.scale is not None:
        return "logits.unscaled"
    return "logits.uncapped" if last is not None and last.softcap is not None else "logits"


def hugging_face(scenario: Scenario) -> Names:
    """Return the addresses of the names of Hugging Face."""
    found: dict[str, Sequence[str]] = {}
    between = ["input", *_ends_of_layers(scenario)[:-1], "output"]
    own = scenario.delta_layers if isinstance(scenario, FromCheckpoint) else frozenset()
    attending = 0  # transformers counts the layers that have attention weights
    for number, layer in enumerate(scenario.layers):
        weights = _of_heads(f"layer{number + 1}.attention", "weights", layer)
        found[f"hidden_states[{number}]"] = [between[number]]
        if number + 1 not in own:
            found |= {f"attentions[{attending}]": weights} if weights else {}
            attending += 1
    found[f"hidden_states[{len(scenario.layers)}]"] = ["output"]
    found |= {"last_hidden_state": ["output"], "logits": ["logits"]}
    family = family_of(scenario)
    return found if family is None else found | dict(_of_family(scenario, family))


def family_of(scenario: Scenario) -> str | None:
    """Return the family whose modules and tensors are named; None if there is none.

    A typed scenario has the names of one with such norms and FFNs.
    """
    if isinstance(scenario, FromCheckpoint):
        return scenario.family if scenario.family in FAMILIES else None
    forms = {
        (norm.placement, norm.kind, getattr(layer.ffn, "W_3", None) is not None)
        if (norm := layer.norm_of(part)) and not layer.norm_after_of(part)
        else None
        for layer in scenario.layers
        for part in filter(None, (layer.attention, layer.cross_attention, layer.ffn))
    }
    form = forms.pop() if len(forms) == 1 else None
    return None if form is None else _FAMILIES.get(form)


def _of_family(scenario: Scenario, family: str) -> _Named:
    """Yield the names of a family's modules and tensors."""
    names = FAMILIES[family].layout.names
    for prefix, tower in (("", scenario), (ENCODER, scenario.encoder)):
        module = names.get(f"{prefix}layer.attention.W_O", "").partition("{}")[0]
        for number, address in enumerate(_ends_of_layers(tower) if tower else ()):
            yield f"{module}{number}", [prefix + address]
    for key, name in names.items():
        tower = scenario.encoder if key.startswith(ENCODER) else scenario
        if "layer." not in key:
            yield name, [re.sub("positions$", "positions.table", key)]
            if key == UNEMBEDDING:
                yield name.removesuffix(".weight"), [_product_with_w_u(scenario)]
            elif key != "embeddings" or scenario.embedding_scale == "none":
                yield from _of_module(name, key, [key])
            continue
        own = scenario.delta_layers if isinstance(scenario, FromCheckpoint) else frozenset()
        for number, layer in enumerate(tower.layers if tower else ()):
            if is_of_layer(key, is_delta=number + 1 in own):
                yield from _of_layer(key, name, number, layer, family)


def _of_layer(key: str, name: str, number: int, layer: Layer, family: str) -> _Named:
    """Yield the names of a parameter in a layer, counted from 0, and of its module."""
    address = key.replace("layer.", f"layer{number + 1}.", 1).replace(DELTA, ATTENTION)
    if "[" in name or key.endswith(OF_SEVERAL):  # a part of a tensor, or parts in another order
        return
    if DELTA in key and not key.endswith(".W_O"):  # whose module computes something else
        yield name.format(number), [address]
        return
    if ".expert." in key:  # whose modules have no names of their own
        for expert in range(len(networks(layer))):
            yield name.format(number, expert), [address.replace("expert.", f"expert{expert + 1}.")]
        return
    attention = layer.cross_attention if ".cross_" in key else layer.attention
    heads = heads_with(attention, "query"), heads_with(attention, "key")
    parts = [*side_by_side(address, *heads, FAMILIES[family].layout)] or [address]
    tensor = name.format(number)
    yield tensor, parts
    place, _, last = address.rpartition(".")
    within, _, norm = place.rpartition(".")
    if norm in ("query_norm", "key_norm") and last == "gain":
        yield tensor.removesuffix(".weight"), _of_heads(within, norm, layer)
    elif last != "router":
        yield from _of_module(tensor, address, parts)
    module = tensor.rpartition(".")[0].rpartition(".")[0]
    is_whole = last in ("W_O", "W_2") and family not in _ADDING
    if is_whole and not module.rpartition(".")[2].isdigit():
        yield module, [f"{place}.output"]


def _of_module(tensor: str, address: str, parts: Sequence[str]) -> _Named:
    """Yield the module of a matrix, or of the γ of a norm, with what it computes."""
    module, _, end = tensor.rpartition(".")
    if end == "weight":
        place, _, last = address.rpartition(".")
        yield module, [place] if last == "gain" else [result_of(part) for part in parts]
