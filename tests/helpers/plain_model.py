"""A trained model in plain NumPy, as the judge of its tutorial needs it: parts, ranks, words.

Only the file's numbers and the tokenizer are read by the program; the pass is that of `reference`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from tests.helpers.judge import as_shown
from tests.helpers.reference import Array, Spec, reference
from tests.helpers.reference_of_checkpoint import spec_of
from tracer.checkpoints.opening import Checkpoint


class PlainModel:
    """A pass over a text; `replaced` are values of heads that are not the computed ones."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        ids: Sequence[int],
        replaced: Mapping[str, Array] | None = None,
        spec: Spec | None = None,
    ) -> None:
        self.checkpoint, self.ids, own = checkpoint, list(ids), replaced or {}
        self.spec: Spec = spec or spec_of(checkpoint, self.ids)
        self.values = reference(self.spec, lambda address, value: own.get(address, value))
        texts = checkpoint.tokenizer().texts(checkpoint.architecture.words)
        times = Counter(texts)
        self.words = [
            as_shown(f"{text} ({i})" if times[text] > 1 else text) for i, text in enumerate(texts)
        ]
        self.layers = len(self.spec["layers"])
        self.logits = self.values["logits"][-1]
        self.p = self.values["probabilities"][-1]
        self.paths: dict[tuple[int, int], list[tuple[str, int, int, float]]] = {}
        self.predicted = int(np.argmax(self.logits))

    def again(self, replaced: Mapping[str, Array]) -> PlainModel:
        """The same pass with other values of some heads."""
        return PlainModel(self.checkpoint, self.ids, replaced, self.spec)

    def reading(self, ids: Sequence[int]) -> PlainModel:
        """The same model with another text of as many tokens."""
        assert len(ids) == len(self.ids)
        rows = np.asarray(self.checkpoint.parameters["embeddings"][list(ids)], np.float64)
        spec = {**self.spec, "tokens": list(ids), "embeddings": rows}
        return PlainModel(self.checkpoint, ids, None, spec)

    def rank(self, column: int) -> int:
        """1 and the number of larger logits after the last token."""
        return 1 + int((self.logits > self.logits[column]).sum())

    @cached_property
    def tokens(self) -> list[str]:
        """The tokens as they are shown."""
        return [self.words[id] for id in self.ids]

    def text(self) -> str:
        """The text that the tokens are."""
        return self.checkpoint.tokenizer().decode(self.ids)

    # --- vectors as words ------------------------------------------------------------------------

    @cached_property
    def w_u(self) -> Array:
        """W_U."""
        return np.asarray(self.spec["unembedding"]["W_U"])

    def normalized(self, x: Array, norm: dict[str, Array]) -> Array:
        """A norm of its own for each row."""
        if norm["kind"] == "layer_norm":
            x = x - x.mean(axis=-1, keepdims=True)
        root = np.sqrt((x**2).mean(axis=-1, keepdims=True) + float(norm["epsilon"]))
        return np.asarray(x / root * norm.get("gain", 1.0) + norm.get("shift", 0.0))

    def held(self, x: Array, norm: dict[str, Array], values: str, token: int) -> Array:
        """The linear part of a norm, with the divisor that a token had."""
        centers = norm["kind"] == "layer_norm"
        divisor = self.values[f"{values}.{'std' if centers else 'rms'}"][token]
        x = x - x.mean(axis=-1, keepdims=True) if centers else x
        return np.asarray(x / divisor * norm.get("gain", 1.0))

    def raised(self, vectors: Array, token: int = -1) -> Array:
        """What vectors add to each logit, the divisor of the final norm held."""
        return self.held(vectors, self.spec["final_norm"], "final_norm", token) @ self.w_u

    def path(self, token: int, column: int) -> list[tuple[str, int, int, float]]:
        """Each point of a token: where, the rank of a word, the leader, and the leader's share."""
        if (token, column) not in self.paths:
            names, vectors = zip(*self.points(token), strict=True)
            z = self.normalized(np.stack(vectors), self.spec["final_norm"]) @ self.w_u
            leaders = np.argmax(z, axis=1)
            shares = 1 / np.exp(z - z.max(axis=1, keepdims=True)).sum(axis=1)
            ranks = 1 + (z > z[:, [column]]).sum(axis=1)
            rows = (names, ranks.tolist(), leaders.tolist(), shares.tolist())
            self.paths[token, column] = list(zip(*rows, strict=True))
        return self.paths[token, column]

    def points(self, token: int) -> Iterator[tuple[str, Array]]:
        """What a token's vector is before the layers and after each sub-layer."""
        yield "input", self.values["input"][token]
        for n in range(1, self.layers + 1):
            for name, shown in (("attention", "attention"), ("ffn", "the FFN")):
                yield f"{shown} in layer {n}", self.values[f"layer{n}.{name}.residual"][token]

    # --- parts -----------------------------------------------------------------------------------

    def head(self, layer: int, head: int) -> tuple[Array, Array, Array | None, Array]:
        """W_V, the values, b_V and the rows of W_O of a head."""
        attention = self.spec["layers"][layer - 1]["attention"]
        own = attention["heads"][head - 1].get("shares", head)
        of_values = attention["heads"][own - 1]
        width = np.shape(of_values["W_V"])[1]
        w_o = np.asarray(attention["W_O"])[(head - 1) * width : head * width]
        values = self.values[f"layer{layer}.attention.head{own}.value"]
        return np.asarray(of_values["W_V"]), values, of_values.get("b_V"), w_o

    def shared(self, layer: int, head: int) -> int:
        """The head whose keys and values a head reads."""
        heads = self.spec["layers"][layer - 1]["attention"]["heads"]
        return int(heads[head - 1].get("shares", head))

    def written(self, token: int, before: int | None = None) -> dict[str, Array]:
        """The vector that each component adds to a token, up to a layer."""
        found = {"embedding": np.asarray(self.spec["embeddings"])[token]}
        if "position" in self.values:
            found["positions"] = self.values["position"][token]
        for n in range(1, before or self.layers + 1):
            layer = self.spec["layers"][n - 1]
            for h in range(1, len(layer["attention"]["heads"]) + 1):
                output = self.values[f"layer{n}.attention.head{h}.output"][token]
                found[f"layer {n}, head {h}"] = output @ self.head(n, h)[3]
            if "b_O" in layer["attention"]:
                found[f"layer {n}, b_O"] = np.asarray(layer["attention"]["b_O"])
            found[f"layer {n}, FFN"] = self.hidden(n, token) @ np.asarray(layer["ffn"]["W_2"])
            if "b_2" in layer["ffn"]:
                found[f"layer {n}, FFN, b₂"] = np.asarray(layer["ffn"]["b_2"])
        return found

    def hidden(self, layer: int, token: int) -> Array:
        """The numbers of the hidden units that W₂ reads."""
        place = f"layer{layer}.ffn"
        name = "gated" if f"{place}.gated" in self.values else "activation"
        found: Array = self.values[f"{place}.{name}"][token]
        return found

    def parts(self, column: int) -> dict[str, float]:
        """What each component adds to a logit after the last token."""
        u = self.w_u[:, column]
        found = {name: self.raised_at(x, u) for name, x in self.written(-1).items()}
        if "shift" in self.spec["final_norm"]:
            found["final norm, β"] = float(np.asarray(self.spec["final_norm"]["shift"]) @ u)
        return found

    def raised_at(self, x: Array, u: Array) -> float:
        """What a vector adds to one logit."""
        return float(self.held(x, self.spec["final_norm"], "final_norm", -1) @ u)

    def sources(self, layer: int, head: int, token: int, column: int) -> dict[str, float]:
        """What each component adds to what a head takes from a token for a logit."""
        w_v, _, b_v, w_o = self.head(layer, head)
        weight = self.values[f"layer{layer}.attention.head{head}.weights"][-1, token]
        norm, place = self.spec["layers"][layer - 1]["attention"]["norm"], f"layer{layer}.attention"
        u = self.w_u[:, column]

        def taken(read: Array) -> float:
            return float(weight * self.raised_at(read @ w_v @ w_o, u))

        found = {
            name: taken(self.held(x, norm, f"{place}.norm", token))
            for name, x in self.written(token, layer).items()
        }
        if "shift" in norm:
            found[f"layer {layer}, attention, β"] = taken(np.asarray(norm["shift"]))
        if b_v is not None:
            label = f"layer {layer}, attention, head {self.shared(layer, head)}, b_V"
            found[label] = float(weight * self.raised_at(np.asarray(b_v) @ w_o, u))
        return found

    def read_by_head(self, layer: int, head: int, token: int, column: int) -> list[int]:
        """The rank of a word after each point before a layer, as a head reads the token there."""
        w_v, _, b_v, w_o = self.head(layer, head)
        norm = self.spec["layers"][layer - 1]["attention"]["norm"]
        before = [x for _, x in self.points(token)][: 2 * layer - 1]
        values = self.normalized(np.stack(before), norm) @ w_v + (0 if b_v is None else b_v)
        z = self.raised(values @ w_o)
        return [1 + int((row > row[column]).sum()) for row in z]

    def units(self, layer: int, token: int, direction: Array) -> tuple[Array, Array]:
        """What each unit of an FFN adds along a direction of d_model numbers, and its vector."""
        w_2 = np.asarray(self.spec["layers"][layer - 1]["ffn"]["W_2"])
        vectors = self.hidden(layer, token)[:, None] * w_2
        return vectors @ direction, vectors
