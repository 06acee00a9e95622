"""A GPT, a Llama and an encoder-decoder in plain PyTorch, with the bugs and weights of the others.

`NAMES` are what a user tells `tracer.capture` of their modules. An `Identity` is there so that a
hook sees what has no module of its own.
"""

from __future__ import annotations

import math
from typing import Any

from tests.helpers.buggy_models import BUGS, D_K, HEADS, D, Weights, drawn, is_of_rms
from tests.helpers.torch_models import nn, torch

MODELS = ("gpt", "llama", "seq2seq")
BUGS_OF_PYTORCH = tuple(bug for bug in BUGS if bug.model in MODELS)

_OF_ATTENTION = {
    **{"split_q": "query", "split_k": "key", "split_v": "value", "masked": "masked"},
    **{"turned_q": "rotated_query", "turned_k": "rotated_key", "weights": "weights"},
    **{"proj.input": "concat", "proj": "output"},
}
_OF_BLOCK = {
    **{"norm_1": "attention.norm", "mid": "attention.residual"},
    **{f"attn.{own}": f"attention.{address}" for own, address in _OF_ATTENTION.items()},
    **{
        "norm_2": "ffn.norm",
        "mlp.fc": "ffn.hidden",
        "mlp.up": "ffn.up",
        "mlp.act": "ffn.activation",
    },
    **{"mlp.down": "ffn.output", "end": "ffn.residual"},
}
_OF_CROSS = {
    **{"norm_cross": "cross_attention.norm", "mid_cross": "cross_attention.residual"},
    **{f"cross.{own}": f"cross_attention.{address}" for own, address in _OF_ATTENTION.items()},
}
_OF_TOWER = {
    **{"tokens": "embedding", "scaled": "embedding.scaled", "start": "input"},
    **{f"blocks.*.{own}": f"layer*.{address}" for own, address in _OF_BLOCK.items()},
}
_OF_ALL = {
    **_OF_TOWER,
    **{f"encoder.{own}": f"encoder.{address}" for own, address in _OF_TOWER.items()},
    **{f"blocks.*.{own}": f"layer*.{address}" for own, address in _OF_CROSS.items()},
    **{"encoder": "encoder.output", "final": "output", "": "logits"},
}


class Buggy(nn.Module):  # type: ignore[misc]
    """A module of one of the models, with its bug."""

    def __init__(self, model: str, bug: str) -> None:
        super().__init__()
        self.model, self.bug = model, bug

    def has(self, bug: str) -> bool:
        return self.bug == bug


def parameter(numbers: Any) -> Any:
    return nn.Parameter(torch.tensor(numbers))


def linear(weight: Any, bias: Any = None) -> Any:
    found = nn.Linear(*weight.shape, bias=bias is not None)
    found.weight = parameter(weight.T)
    if bias is not None:
        found.bias = parameter(bias)
    return found


class Norm(Buggy):
    """LayerNorm or RMSNorm, computed in float32 at least."""

    def __init__(self, model: str, bug: str, w: Weights) -> None:
        super().__init__(model, bug)
        is_rms = is_of_rms(model)
        self.gain, self.shift = parameter(w["gain"]), None if is_rms else parameter(w["shift"])
        self.is_rms = is_rms != (bug in ("rms", "layer norm"))
        self.epsilon = {"epsilon 1e-6": 1e-6, "epsilon 1e-12": 1e-12}.get(bug, 1e-5)

    def forward(self, x: Any) -> Any:
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        if not self.is_rms:
            wide = wide - wide.mean(-1, keepdim=True)
        variance = wide.pow(2).sum(-1, keepdim=True) / (D - self.has("n - 1"))
        if self.has("epsilon outside"):
            y = wide / (variance.sqrt() + self.epsilon)
        else:
            y = wide * torch.rsqrt(variance + self.epsilon)
        y = y.to(x.dtype)
        if not self.has("no gain"):
            y = y * (self.gain + self.has("one plus gain"))
        return y if self.shift is None or self.has("no shift") else y + self.shift


class Attention(Buggy):
    def __init__(self, model: str, bug: str, w: Weights, *, masked: bool) -> None:
        super().__init__(model, bug)
        w = dict(w)
        for name, a, b in (("k and v swapped", "K", "V"), ("q and k swapped", "Q", "K")):
            if self.has(name):
                w[f"W_{a}"], w[f"W_{b}"] = w[f"W_{b}"], w[f"W_{a}"]
        has_bias = model != "llama"

        def of(name: str) -> Any:
            weight = w[f"W_{name}"]
            if self.has(f"W_{name} transposed"):
                weight = weight.T
            return linear(weight, w[f"b_{name}"] if has_bias and bug != f"no b_{name}" else None)

        self.q, self.k, self.v, self.proj = map(of, "QKVO")
        self.split_q, self.split_k, self.split_v = (nn.Identity() for _ in range(3))
        if model == "llama":
            self.turned_q, self.turned_k = nn.Identity(), nn.Identity()
        self.weights, self.is_masked = nn.Identity(), masked
        if masked:
            self.masked = nn.Identity()

    def forward(self, x: Any, memory: Any = None) -> Any:
        is_crossed, memory = memory is not None, x if memory is None else memory
        q = self.split_q(self.split(self.q(x)))
        k, v = self.split(self.k(memory)), self.split(self.v(memory))
        if self.has("stale cache"):
            k, v = (torch.cat([each[:, :, :-1], each[:, :, -2:-1]], 2) for each in (k, v))
        k, v = self.split_k(k), self.split_v(v)
        if self.model == "llama":
            q = self.turned_q(self.turned(q))
            k = self.turned_k(k if self.has("keys not rotated") else self.turned(k))
        each = HEADS // k.shape[1]
        if self.has("groups the other way"):
            k, v = (one.repeat(1, each, 1, 1) for one in (k, v))
        else:
            k, v = (one.repeat_interleave(each, 1) for one in (k, v))
        divisor = {"no scale": 1.0, "scale of model": D**0.5, "scale without root": D_K}
        scores = q @ k.transpose(2, 3) / divisor.get(self.bug, D_K**0.5)
        weights = self.weights(self.weights_of(scores, is_crossed))
        mixed = weights @ (k if self.has("values are keys") else v)
        order = (0, 2, 3, 1) if self.has("concat interleaved") else (0, 2, 1, 3)
        return self.proj(mixed.permute(order).flatten(2))

    def split(self, x: Any) -> Any:
        """(batch, heads, tokens, d_k)."""
        if self.has("heads interleaved"):
            return x.unflatten(2, (D_K, -1)).permute(0, 3, 1, 2)
        return x.unflatten(2, (-1, D_K)).transpose(1, 2)

    def weights_of(self, scores: Any, is_crossed: bool) -> Any:
        if self.is_masked:
            seen = self.seen(scores.shape[-1])
            hidden = scores.masked_fill(~seen, -math.inf)
            hidden = self.masked(hidden)
            scores = scores if self.has("mask ignored") else hidden
        elif is_crossed and self.has("cross mask"):
            scores = scores.masked_fill(~self.seen(scores.shape[-1]), -math.inf)
        if self.has("raw scores"):
            return scores.masked_fill(scores.isneginf(), 0)
        weights = scores.softmax(2 if self.has("softmax of columns") else 3)
        if self.has("dropout on weights"):
            torch.manual_seed(1)
            weights = nn.functional.dropout(weights, 0.2)
        return weights

    def seen(self, tokens: int) -> Any:
        every = torch.ones(tokens, tokens, dtype=torch.bool)
        if self.has("no mask"):
            return every
        seen = every.tril({"mask hides itself": -1, "mask shows next": 1}.get(self.bug, 0))
        seen[0, 0] = True
        return seen.T if self.has("mask transposed") else seen

    def turned(self, x: Any) -> Any:
        at = torch.arange(x.shape[2], dtype=torch.float64) + self.has("rotary from 1")
        if self.has("cached rotary at 0"):
            at[-1] = 0
        base = 500000.0 if self.has("base 500000") else 10000.0
        power = torch.arange(0, D_K, 2) / D_K / (2 if self.has("frequencies k/d") else 1)
        angle = torch.outer(at, base**-power)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        if self.has("rotated backwards"):
            sin = -sin
        if self.has("layout pairs"):
            a, b = x[..., ::2], x[..., 1::2]
            return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(3)
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


class Network(Buggy):
    def __init__(self, model: str, bug: str, w: Weights) -> None:
        super().__init__(model, bug)
        w_1, w_3 = w["W_1"], w["W_3"]
        if self.has("gate and up swapped"):
            w_1, w_3 = w_3, w_1
        b_1, b_2 = (
            None if model == "llama" or self.has(f"no {name}") else w[name]
            for name in ("b_1", "b_2")
        )
        self.fc, self.down = linear(w_1, b_1), linear(w["W_2"], b_2)
        if model == "llama":
            self.up = linear(w_3)
        own = {"gpt": nn.GELU("tanh"), "llama": nn.SiLU(), "seq2seq": nn.ReLU()}[model]
        others = {"exact gelu": nn.GELU(), "relu": nn.ReLU(), "gelu for silu": nn.GELU()}
        self.act = others.get(bug, own)
        if self.has("dropout on output"):
            self.down = nn.Sequential(self.down, nn.Dropout(0.1))
        if self.has("one number wrong"):
            self.down = nn.Sequential(self.down, OneNumberWrong())

    def forward(self, x: Any) -> Any:
        torch.manual_seed(7)  # of dropout
        if self.model != "llama":
            return self.down(self.act(self.fc(x)))
        gate, up = self.fc(x), self.up(x)
        if self.has("activation on up"):
            gate, up = up, gate
        return self.down(self.act(gate) * up)


class OneNumberWrong(nn.Module):  # type: ignore[misc]
    def forward(self, x: Any) -> Any:
        y = x.clone()
        y[:, 2, 5] += 0.37
        return y


class Block(Buggy):
    def __init__(self, model: str, bug: str, w: Weights, *, masked: bool, crossed: bool) -> None:
        super().__init__(model, bug)
        self.attn = Attention(model, bug, w["attention"], masked=masked)
        self.mlp = Network(model, bug, w["ffn"])
        self.norm_1, self.norm_2 = (Norm(model, bug, w[x]["norm"]) for x in ("attention", "ffn"))
        self.mid, self.end = nn.Identity(), nn.Identity()
        if crossed:
            self.cross = Attention(model, bug, w["cross"], masked=False)
            self.norm_cross, self.mid_cross = Norm(model, bug, w["cross"]["norm"]), nn.Identity()
        self.is_post = (model == "seq2seq" and bug != "pre for post") or bug == "post norm"

    def forward(self, x: Any, memory: Any = None) -> Any:
        start = x
        x = self.around(x, self.norm_1, self.attn, self.mid)
        if memory is not None:
            x = self.around(x, self.norm_cross, lambda n: self.cross(n, memory), self.mid_cross)
        if self.has("attention input for ffn"):
            return self.end(x + self.mlp(self.norm_2(start)))
        return self.around(x, self.norm_2, self.mlp, self.end)

    def around(self, x: Any, norm: Any, part: Any, sum_of: Any) -> Any:
        """A residual connection around a part, with the norm before or after."""
        n = x if self.is_post else norm(x)
        y = part(x if self.has("no norm") and part is self.mlp else n)
        base = n if self.has("residual of norm") else x
        x = sum_of(y if self.has("no residual") else base + y)
        return norm(x) if self.is_post else x


class Tower(Buggy):
    """Embeddings, positions and blocks."""

    def __init__(self, model: str, bug: str, w: Weights, layers: Any, *, decoder: bool) -> None:
        super().__init__(model, bug)
        self.tokens = nn.Embedding(*w["embeddings"].shape)
        self.tokens.weight = parameter(w["embeddings"])
        if model == "gpt":
            self.positions = parameter(w["positions"])
        if model == "seq2seq":
            self.scaled = nn.Identity()
        self.start = nn.Identity()
        crossed = decoder and model == "seq2seq"
        layers = layers[::-1] if self.has("layers swapped") else layers
        self.blocks = nn.ModuleList(
            Block(model, bug, each, masked=decoder, crossed=crossed) for each in layers
        )

    def embedded(self, ids: Any) -> Any:
        x = self.tokens(ids)
        if self.model == "gpt" and not self.has("no positions"):
            at = torch.arange(ids.shape[1]) + self.has("positions from 1")
            if self.has("last token at position 0"):
                at[-1] = 0
            x = x + self.positions[at]
        if self.model == "seq2seq":
            x = self.scaled(x * (1 if self.has("no embedding scale") else D**0.5))
            x = x + self.sines(ids.shape[1]).to(x.dtype)
        return self.start(x)

    def sines(self, tokens: int) -> Any:
        at = torch.arange(tokens, dtype=torch.float64) + (not self.has("sinusoidal from 0"))
        angle = torch.outer(at, 10000.0 ** (-torch.arange(0, D, 2) / D))
        if self.has("halves of sines"):
            return torch.cat([angle.sin(), angle.cos()], 1)
        return torch.stack([angle.sin(), angle.cos()], 2).flatten(1)

    def forward(self, ids: Any, memory: Any = None) -> Any:
        x = self.embedded(ids)
        for block in self.blocks:
            x = block(x, memory)
        return x


class Model(Tower):
    """A GPT, a Llama or an encoder-decoder: the logits of a batch of ids."""

    def __init__(self, model: str, bug: str = "", outlier: bool = False) -> None:
        w = drawn(model, outlier)
        super().__init__(model, bug, w, w["layers"], decoder=True)
        if model == "seq2seq":
            self.encoder = Tower(model, bug, w, w["encoder"], decoder=False)
            self.final = nn.Identity()
        else:
            self.final = nn.Identity() if bug == "no final norm" else Norm(model, bug, w["final"])
        is_tied = model == "gpt" or bug == "tied"
        self.head = linear(w["embeddings"].T if is_tied else w["W_U"])

    def forward(self, ids: Any, decoder_input_ids: Any = None) -> Any:
        memory = None
        if self.model == "seq2seq":
            memory = self.encoder(ids)
            if self.has("memory is the encoder's input"):
                memory = self.encoder.embedded(ids)
            ids = decoder_input_ids
        z = self.head(self.final(super().forward(ids, memory)))
        if self.model == "llama" and not self.has("no softcap"):
            z = 5 * torch.tanh(z / 5)
        return z - z.amax(-1, keepdim=True) if self.has("constant per row") else z

    @property
    def names(self) -> dict[str, str]:
        """What `tracer.capture` has to know of the modules."""
        own = {name for name, _ in self.named_modules()}
        first = {pattern.replace("*", "0").removesuffix(".input"): pattern for pattern in _OF_ALL}
        return {pattern: _OF_ALL[pattern] for name, pattern in first.items() if name in own}

    @property
    def inputs(self) -> Any:
        w = drawn(self.model)
        ids = torch.tensor(w["ids"])[None]
        if self.model != "seq2seq":
            return ids
        encoder_ids = torch.tensor(w["encoder_ids"])[None]
        return {"ids": encoder_ids, "decoder_input_ids": ids}
