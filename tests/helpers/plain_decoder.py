"""A trained model's forward pass in plain NumPy, from the papers, on its parameters as read.

GPT-2 (Radford et al. 2019); Llama (Touvron et al. 2023) with RMSNorm (Zhang & Sennrich 2019),
rotary positions (Su et al. 2021), grouped queries (Ainslie et al. 2023) and SwiGLU (Shazeer 2020);
the sliding window of Mistral (Jiang et al. 2023).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracer.checkpoints.architecture import Architecture
from tracer.checkpoints.opening import Checkpoint

Array = NDArray[np.float64]


def plain_pass(checkpoint: Checkpoint, ids: list[int]) -> dict[str, Array]:
    """Values by address, a row for each token: what each sub-layer makes, the logits."""
    return _Pass(checkpoint.architecture, checkpoint.parameters).run(ids)


class _Pass:
    def __init__(self, architecture: Architecture, parameters: Mapping[str, Any]) -> None:
        self.architecture, self.parameters = architecture, parameters
        self.values: dict[str, Array] = {}

    def run(self, ids: list[int]) -> dict[str, Array]:
        x = self.parameters["embeddings"][ids]
        if "positions" in self.parameters:
            x = x + self.parameters["positions"][: len(ids)]
        self.values["input"] = x
        for layer in range(1, self.architecture.layers + 1):
            for name, sub_layer in (("attention", self.attention), ("ffn", self.ffn)):
                place = f"layer{layer}.{name}"
                output = sub_layer(place, self.normed(f"{place}.norm", x))
                x = x + output
                self.values |= {f"{place}.output": output, f"{place}.residual": x}
        x = self.values["output"] = self.normed("final_norm", x)
        tied = self.architecture.tied
        W_U = self.parameter("embeddings").T if tied else self.parameter("unembedding.W_U")
        self.values["logits"] = x @ W_U
        return self.values

    def attention(self, place: str, x: Array) -> Array:
        a = self.architecture
        back = np.arange(len(x))[:, np.newaxis] - np.arange(len(x))
        hidden = (back < 0) | (back >= (a.window or math.inf))
        outputs = []
        for head in range(1, a.heads + 1):
            shared = a.heads // a.key_heads
            first = (head - 1) // shared * shared + 1
            query = self.turned(self.affine(x, f"{place}.head{head}", "Q"))
            key = self.turned(self.affine(x, f"{place}.head{first}", "K"))
            value = self.affine(x, f"{place}.head{first}", "V")
            scores = query @ key.T / math.sqrt(a.d_k)
            exp = np.exp(np.where(hidden, -math.inf, scores - scores.max()))
            weights = exp / exp.sum(axis=1, keepdims=True)
            self.values |= {
                f"{place}.head{head}.{name}": found
                for name, found in {"query": query, "scores": scores, "weights": weights}.items()
            }
            outputs.append(weights @ value)
        return self.affine(np.concatenate(outputs, axis=1), place, "O")

    def turned(self, x: Array) -> Array:
        """Each pair of numbers as a complex one, turned by an angle that grows with the place."""
        rotary = self.architecture.rotary
        if rotary is None:
            return x
        count = x.shape[1] // 2
        angles = np.arange(len(x))[:, np.newaxis] * rotary.base ** -(np.arange(count) / count)
        if rotary.factors is not None:
            angles = angles / rotary.factors
        in_pairs = rotary.layout == "pairs"
        real, imaginary = (x[:, ::2], x[:, 1::2]) if in_pairs else (x[:, :count], x[:, count:])
        turned = (real + 1j * imaginary) * np.exp(1j * angles)
        parts = [turned.real, turned.imag]
        return np.stack(parts, axis=2).reshape(x.shape) if in_pairs else np.hstack(parts)

    def ffn(self, place: str, x: Array) -> Array:
        hidden = self.activated(self.affine(x, place, "1"))
        if self.architecture.gated:
            hidden = hidden * self.affine(x, place, "3")
        return self.affine(hidden, place, "2")

    def activated(self, x: Array) -> Array:
        match self.architecture.activation:
            case "gelu":
                erf = np.vectorize(math.erf)
                return np.asarray(x * (1 + erf(x / math.sqrt(2))) / 2)
            case "gelu_tanh":
                tanh = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
                return np.asarray(x * (1 + tanh) / 2)
            case "silu":
                return np.asarray(x / (1 + np.exp(-x)))
            case "relu":
                return np.asarray(np.maximum(x, 0))

    def normed(self, place: str, x: Array) -> Array:
        if self.architecture.norm == "layer_norm":
            x = x - x.mean(axis=1, keepdims=True)
        mean_square = (x**2).mean(axis=1, keepdims=True)
        x = x / np.sqrt(mean_square + self.architecture.epsilon)
        return x * self.parameter(f"{place}.gain") + self.parameter(f"{place}.shift", 0)

    def affine(self, x: Array, place: str, name: str) -> Array:
        return x @ self.parameter(f"{place}.W_{name}") + self.parameter(f"{place}.b_{name}", 0)

    def parameter(self, address: str, default: Any = None) -> Array:
        return np.asarray(self.parameters.get(address, default), np.float64)
