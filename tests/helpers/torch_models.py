"""Tiny models in PyTorch: those of transformers, and one that a person would write."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")
nn, functions = torch.nn, torch.nn.functional
torch.set_num_threads(1)  # which is faster for matrices this small

WORDS, CONTEXT, WIDTH, HEADS, LAYERS = 40, 16, 32, 4, 2


def of_transformers(
    config: Mapping[str, Any], kind: str = "AutoModelForCausalLM", **said: Any
) -> Any:
    """A model with random weights; biases and gains are not the 0 and 1 of a new model."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    torch.manual_seed(1)
    own = transformers.AutoConfig.for_model(**config)
    settings = {"attn_implementation": "eager", "experts_implementation": "eager", **said}
    return shaken(getattr(transformers, kind).from_config(own, **settings).eval())


def shaken(model: Any) -> Any:
    """The model with other weights, the same in each run."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for numbers in model.parameters():
            numbers += 0.2 * torch.randn(numbers.shape, generator=generator).to(numbers.dtype)
    return model


class NanoAttention(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self, *, bias: bool) -> None:
        super().__init__()
        self.c_attn = nn.Linear(WIDTH, 3 * WIDTH, bias=bias)
        self.c_proj = nn.Linear(WIDTH, WIDTH, bias=bias)
        self.n_head = HEADS

    def forward(self, x: Any) -> Any:
        batch, tokens, _ = x.shape
        q, k, v = (
            each.view(batch, tokens, HEADS, -1).transpose(1, 2)
            for each in self.c_attn(x).split(WIDTH, dim=2)
        )
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        hidden = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
        weights = torch.softmax(scores.masked_fill(hidden, -math.inf), dim=-1)
        return self.c_proj((weights @ v).transpose(1, 2).reshape(batch, tokens, -1)), weights


class NanoBlock(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self, *, bias: bool) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = (nn.LayerNorm(WIDTH, bias=bias) for _ in range(2))
        self.attn = NanoAttention(bias=bias)
        self.mlp = nn.ModuleDict({
            "c_fc": nn.Linear(WIDTH, 4 * WIDTH, bias=bias),
            "gelu": nn.GELU(),
            "c_proj": nn.Linear(4 * WIDTH, WIDTH, bias=bias),
        })  # fmt: skip

    def forward(self, x: Any) -> Any:
        x = x + self.attn(self.ln_1(x))[0]
        mlp = self.mlp
        return x + mlp["c_proj"](mlp["gelu"](mlp["c_fc"](self.ln_2(x))))


class NanoGPT(nn.Module):  # type: ignore[misc, name-defined]
    """A model as nanoGPT's: its names, torch.nn.Linear, the logits and maybe a loss."""

    def __init__(self, *, bias: bool = False) -> None:
        super().__init__()
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(WORDS, WIDTH),
            "wpe": nn.Embedding(CONTEXT, WIDTH),
            "h": nn.ModuleList(NanoBlock(bias=bias) for _ in range(LAYERS)),
            "ln_f": nn.LayerNorm(WIDTH, bias=bias),
        })  # fmt: skip
        self.lm_head = nn.Linear(WIDTH, WORDS, bias=False)
        self.lm_head.weight = self.transformer["wte"].weight

    def forward(self, ids: Any, targets: Any = None) -> Any:
        of = self.transformer
        x = of["wte"](ids) + of["wpe"](torch.arange(ids.shape[1]))
        for block in of["h"]:
            x = block(x)
        logits = self.lm_head(of["ln_f"](x))
        if targets is None:
            return logits, None
        return logits, functions.cross_entropy(logits.flatten(0, 1), targets.flatten())


class OwnBlock(nn.Module):  # type: ignore[misc, name-defined]
    """A block whose names nobody knows; queries, keys and values are one matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.pre, self.qkv = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH)
        self.mix, self.proj = nn.Identity(), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Any) -> Any:
        queries, keys, values = (
            each.unflatten(2, (HEADS, -1)).transpose(1, 2)
            for each in self.qkv(self.pre(x)).split(WIDTH, dim=2)
        )
        scores = self.mix(queries @ keys.transpose(2, 3))
        hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        weights = torch.softmax((scores / 8**0.5).masked_fill(hidden, -math.inf), dim=3)
        return x + self.proj((weights @ values).transpose(1, 2).flatten(2))


class OwnModel(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.words, self.blocks = nn.Embedding(WORDS, WIDTH), nn.ModuleList([OwnBlock()])

    def forward(self, ids: Any) -> Any:
        x = self.words(ids)
        for block in self.blocks:
            x = block(x)
        return x
