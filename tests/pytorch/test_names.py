"""Plain models with the names and signatures of public code: `names` captures each of their values.

The models are stand-ins: modules with these names, in a decoder that remembers what it computes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from tests.helpers.torch_models import HEADS, LAYERS, WIDTH, WORDS, functions, nn, torch
from tracer.errors import TracerError
from tracer.pytorch.capture import capture

IDS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
GROUPS = 2
"""Heads with keys of their own, if there are fewer."""
LLAMA = {
    "tok_embeddings": "input",
    "layers.*.attention_norm": "layer*.attention.norm",
    "layers.*.attention.wq": "layer*.attention.query",
    "layers.*.attention.wk": "layer*.attention.key",
    "layers.*.attention.wv": "layer*.attention.value",
    "layers.*.attention.wo": "layer*.attention.output",
    "layers.*.ffn_norm": "layer*.ffn.norm",
    "layers.*.feed_forward.w1": "layer*.ffn.hidden",
    "layers.*.feed_forward.w2.input": "layer*.ffn.activation",
    "layers.*.feed_forward.w2": "layer*.ffn.output",
    "norm": "output",
    "output": "logits",
}
LLAMA2_C = {**LLAMA, "layers.*.attention.attn_dropout.input": "layer*.attention.weights"}
GPT_FAST = {
    **{name: each for name, each in LLAMA.items() if not name.endswith(("wq", "wk", "wv"))},
    "layers.*.attention.wqkv": "layer*.attention.W_QKV",
}
LIT_GPT = {
    "transformer.wte": "input",
    "transformer.h.*.norm_1": "layer*.attention.norm",
    "transformer.h.*.attn.qkv": "layer*.attention.W_QKV",
    "transformer.h.*.attn.proj.input": "layer*.attention.concat",
    "transformer.h.*.attn.proj": "layer*.attention.output",
    "transformer.h.*.norm_2": "layer*.ffn.norm",
    "transformer.h.*.mlp.fc": "layer*.ffn.hidden",
    "transformer.h.*.mlp.proj": "layer*.ffn.output",
    "transformer.ln_f": "output",
    "lm_head": "logits",
}
NANOCHAT = {
    "transformer.wte": "embedding",
    "transformer.h.*.attn.c_q": "layer*.attention.query",
    "transformer.h.*.attn.c_k": "layer*.attention.key",
    "transformer.h.*.attn.c_v": "layer*.attention.value",
    "transformer.h.*.attn.c_proj": "layer*.attention.output",
    "transformer.h.*.mlp.c_fc": "layer*.ffn.hidden",
    "transformer.h.*.mlp.c_proj": "layer*.ffn.output",
    "lm_head": "logits",
}
FROM_SCRATCH = {
    "tok_emb": "embedding",
    "pos_emb": "position",
    "drop_emb": "input",
    "trf_blocks.*.norm1": "layer*.attention.norm",
    "trf_blocks.*.att.W_query": "layer*.attention.query",
    "trf_blocks.*.att.W_key": "layer*.attention.key",
    "trf_blocks.*.att.W_value": "layer*.attention.value",
    "trf_blocks.*.att.dropout.input": "layer*.attention.weights",
    "trf_blocks.*.att.out_proj": "layer*.attention.output",
    "trf_blocks.*.norm2": "layer*.ffn.norm",
    "trf_blocks.*.ff.layers.0": "layer*.ffn.hidden",
    "trf_blocks.*.ff.layers.2": "layer*.ffn.output",
    "final_norm": "output",
    "out_head": "logits",
}
LECTURE = {
    "token_embedding_table": "embedding",
    "position_embedding_table": "position",
    "blocks.*.ln1": "layer*.attention.norm",
    "blocks.*.sa.heads.*.query": "layer*.attention.head*.query",
    "blocks.*.sa.heads.*.key": "layer*.attention.head*.key",
    "blocks.*.sa.heads.*.value": "layer*.attention.head*.value",
    "blocks.*.sa.heads.*.dropout.input": "layer*.attention.head*.weights",
    "blocks.*.sa.proj": "layer*.attention.output",
    "blocks.*.ln2": "layer*.ffn.norm",
    "blocks.*.ffwd.net.0": "layer*.ffn.hidden",
    "blocks.*.ffwd.net.2": "layer*.ffn.output",
    "ln_f": "output",
    "lm_head": "logits",
}
DIVE = {
    "embedding": "embedding",
    "blks.block*.attention.W_q": "layer*.attention.query",
    "blks.block*.attention.W_k": "layer*.attention.key",
    "blks.block*.attention.W_v": "layer*.attention.value",
    "blks.block*.attention.attention.dropout.input": "layer*.attention.weights",
    "blks.block*.attention.W_o": "layer*.attention.output",
    "blks.block*.ffn.dense1": "layer*.ffn.hidden",
    "blks.block*.ffn.dense2": "layer*.ffn.output",
    "dense": "logits",
}
MIN_GPT = {
    "transformer.wte": "embedding",
    "transformer.drop": "input",
    "transformer.h.*.attn.c_attn": "layer*.attention.W_QKV",
    "transformer.h.*.attn.attn_dropout.input": "layer*.attention.weights",
    "transformer.h.*.attn.c_proj": "layer*.attention.output",
    "transformer.h.*.mlp.c_fc": "layer*.ffn.hidden",
    "transformer.h.*.mlp.c_proj": "layer*.ffn.output",
    "lm_head": "logits",
}
NAMES = ("query", "key", "value")


class Decoder(nn.Module):  # type: ignore[misc]
    """A decoder of modules with given names; `seen` has what it computed, by address."""

    def __init__(self, names: Mapping[str, str], groups: int = HEADS) -> None:
        super().__init__()
        self.groups, self.at, self.seen = groups, dict[str, Any](), dict[str, Any]()
        for name, address in numbered(names):
            self.at[address] = self.placed(name.removesuffix(".input"), self.module_for(address))

    def placed(self, name: str, module: Any) -> Any:
        """Put a module at a name with dots, or return the one that is there."""
        place, last = self, name.rpartition(".")[2]
        for part in name.split(".")[:-1]:
            if part not in place._modules:
                place.add_module(part, nn.Module())
            place = place._modules[part]
        if last not in place._modules:
            place.add_module(last, module)
        return place._modules[last]

    def module_for(self, address: str) -> Any:
        place, _, name = address.rpartition(".")
        keys, heads = WIDTH * self.groups // HEADS, HEADS if "head" in place else 1
        if address in ("embedding", "position") or (name == "input" and not self.at):
            return nn.Embedding(WORDS, WIDTH)
        if name == "norm" or address == "output":
            return nn.LayerNorm(WIDTH)
        if name in ("input", "weights"):
            return nn.Identity()
        columns = {
            **{"query": WIDTH // heads, "key": keys // heads, "value": keys // heads},
            **{"W_QKV": WIDTH + 2 * keys, "hidden": 2 * WIDTH, "logits": WORDS},
        }
        inputs = 2 * WIDTH if address.endswith(("ffn.output", "activation")) else WIDTH
        return nn.Linear(inputs, columns.get(name, WIDTH))

    def value(self, address: str, x: Any, plain: Callable[[Any], Any] = lambda x: x) -> Any:
        """Return what the module of an address computes, or a function if there is none."""
        self.seen[address] = found = self.at.get(address, plain)(x)
        return found

    def run(self, ids: Any, *, all_logits: bool) -> Any:
        x = self.value("embedding" if "embedding" in self.at else "input", ids)
        if "position" in self.at:
            x = x + self.value("position", torch.arange(ids.shape[1]))
        x = self.value("input", x) if "embedding" in self.at else x
        for layer in range(1, LAYERS + 1):
            place = f"layer{layer}.ffn"
            x = x + self.attention(f"layer{layer}.attention", x)
            hidden = self.value(f"{place}.hidden", self.value(f"{place}.norm", x, normalized))
            self.seen[f"{place}.activation"] = activation = hidden.relu()
            x = x + self.value(f"{place}.output", activation)
        x = self.value("output", x, normalized)
        return self.value("logits", x if all_logits else x[:, [-1]])

    def attention(self, place: str, x: Any) -> Any:
        x = self.value(f"{place}.norm", x, normalized)
        if f"{place}.W_QKV" in self.at:
            keys = WIDTH * self.groups // HEADS
            parts = self.at[f"{place}.W_QKV"](x).split([WIDTH, keys, keys], dim=2)
            self.seen |= {f"{place}.{name}": part for name, part in zip(NAMES, parts, strict=True)}
        elif f"{place}.head1.query" in self.at:
            heads = [f"{place}.head{head}" for head in range(1, HEADS + 1)]
            parts = [torch.cat([self.value(f"{h}.{n}", x) for h in heads], 2) for n in NAMES]
        else:
            parts = [self.value(f"{place}.{name}", x) for name in NAMES]
        q, k, v = (part.unflatten(2, (-1, WIDTH // HEADS)).transpose(1, 2) for part in parts)
        k, v = (each.repeat_interleave(HEADS // k.shape[1], dim=1) for each in (k, v))
        scores = q @ k.transpose(2, 3) / math.sqrt(WIDTH // HEADS)
        hidden = torch.ones(scores.shape[2:], dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, -math.inf).softmax(dim=3)
        self.value(f"{place}.weights", weights)
        for head in range(HEADS):
            self.value(f"{place}.head{head + 1}.weights", weights[:, head])
        self.seen[f"{place}.concat"] = concat = (weights @ v).transpose(1, 2).flatten(2)
        return self.value(f"{place}.output", concat)


def numbered(names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield names and addresses with numbers in place of each `*`."""
    for pattern, address in names.items():
        sizes = (LAYERS, HEADS)[: pattern.count("*")]
        for numbers in itertools.product(*map(range, sizes)):
            name, own = pattern, address
            for number in numbers:
                name, own = name.replace("*", str(number), 1), own.replace("*", str(number + 1), 1)
            yield name, own


def normalized(x: Any) -> Any:
    """Return vectors without a module that normalizes them."""
    return functions.rms_norm(x, (WIDTH,))


class WithTargets(Decoder):
    """The logits of all tokens only with targets, whose loss it keeps."""

    def forward(self, tokens: Any, targets: Any = None) -> Any:
        logits = self.run(tokens, all_logits=targets is not None)
        if targets is not None:
            self.loss = functions.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits


class WithMask(Decoder):
    """A mask before the tokens, positions after them."""

    def forward(self, mask: Any, idx: Any, input_pos: Any = None) -> Any:
        return self.run(idx, all_logits=True)


class WithLoss(Decoder):
    """Logits in one list, and a loss."""

    def forward(self, idx: Any, targets: Any) -> Any:
        logits = self.run(idx, all_logits=True).flatten(0, 1)
        return logits, functions.cross_entropy(logits, targets.flatten())


PUBLIC = {
    "llama2.c": (WithTargets, LLAMA2_C, GROUPS),
    "gpt-fast": (WithMask, GPT_FAST, GROUPS),
    "LitGPT": (WithMask, LIT_GPT, GROUPS),
    "nanochat": (WithLoss, NANOCHAT, GROUPS),
    "LLMs from scratch": (WithTargets, FROM_SCRATCH, HEADS),
    "a lecture": (WithLoss, LECTURE, HEADS),
    "Dive into Deep Learning": (WithTargets, DIVE, HEADS),
    "minGPT": (WithLoss, MIN_GPT, HEADS),
}


@pytest.mark.parametrize("public", PUBLIC)
def test_values_of_public_code_are_captured(public: str) -> None:
    kind, names, groups = PUBLIC[public]
    model = kind(names, groups)
    inputs = {"idx": IDS, "targets": IDS}
    if kind is WithTargets:
        inputs = {"tokens": IDS, "targets": IDS}
    if kind is WithMask:
        inputs = {"mask": torch.ones(5, 5, dtype=torch.bool), "idx": IDS}
    found = capture(model, inputs, names=names, row=1)
    assert found.token_ids == tuple(IDS[1].tolist())
    addresses = {address for _, address in numbered(names)}
    fused = {address for address in addresses if address.endswith("W_QKV")}
    addresses |= {address.replace("W_QKV", name) for address in fused for name in NAMES}
    assert {*found} == addresses - fused
    for address, array in found.items():
        seen = model.seen[address].detach()
        own = seen if address == "position" else seen[1]
        np.testing.assert_array_equal(array, own, err_msg=address)


def test_gradients_of_a_loss_that_a_function_returns() -> None:
    model = WithTargets(LLAMA2_C, GROUPS)

    def run() -> Any:
        model(IDS, IDS)
        return model.loss

    found = capture(model, run, names=LLAMA2_C, backward=True, only=["gradient.output"])
    model(IDS, IDS)
    model.seen["output"].retain_grad()
    model.loss.backward()
    np.testing.assert_allclose(found["gradient.output"], model.seen["output"].grad[0], atol=1e-7)


def test_logits_of_the_last_token_alone_are_told() -> None:
    model = WithTargets(LLAMA2_C, GROUPS)
    assert "logits" not in capture(model, IDS, names=LLAMA2_C)
    with pytest.raises(TracerError, match="logits: of some tokens only"):
        capture(model, IDS, names=LLAMA2_C, only=["logits"])


def test_a_module_that_does_not_run_is_told() -> None:
    """As a dropout beside fused attention."""
    model = WithTargets(LLAMA2_C, GROUPS)
    model.placed("layers.0.attention.other", nn.Dropout())
    names = {**LLAMA2_C, "layers.*.attention.other": "layer*.attention.masked"}
    with pytest.raises(TracerError, match=r"names: layers\..*\.other: no such module ran"):
        capture(model, IDS, names=names)


def test_names_to_choose_from_are_listed() -> None:
    with pytest.raises(TracerError) as caught:
        capture(WithTargets(LLAMA2_C, GROUPS), IDS)
    listed = str(caught.value)
    for name in LLAMA:
        assert name.removesuffix(".input") in listed
