"""Small models as people write them in NumPy, each with one bug if it is asked for.

They know nothing of scenarios: a model keeps its arrays under our addresses, in the type of numbers
that it computes with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import erf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Weights = Mapping[str, Any]

D, HEADS, D_K, D_FF, TOKENS, WORDS = 16, 4, 4, 24, 6, 9
GROUPS = 2
OUTLIER = 3


def rounded(x: Any, kind: str) -> Floats:
    """Numbers as a program stores them in a type."""
    x = np.asarray(x, np.float64)
    if kind != "bfloat16":
        return np.asarray(x.astype(kind), np.float64)
    bits: NDArray[Any] = x.astype("<f4").view("<u4")
    cut: NDArray[Any] = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view("<f4")
    return cut.astype(np.float64)


class Bug(NamedTuple):
    """A bug, the model that can have it, and a word of the cause that a report has to name."""

    name: str
    model: str
    cause: str


BUGS = tuple(
    Bug(*row)
    for row in (
        ("epsilon 1e-6", "gpt", "ε = 0.000001"),
        ("epsilon 1e-12", "gpt", "ε = 0.000000000001"),
        ("epsilon outside", "gpt", "outside"),
        ("n - 1", "gpt", "n − 1"),
        ("no gain", "gpt", "γ"),
        ("no shift", "gpt", "β"),
        ("rms", "gpt", "RMSNorm"),
        ("exact gelu", "gpt", "GELU"),
        ("relu", "gpt", "ReLU"),
        ("no scale", "gpt", "√d_k"),
        ("scale of model", "gpt", "√d_model"),
        ("scale without root", "gpt", "root"),
        ("no mask", "gpt", "mask"),
        ("mask hides itself", "gpt", "mask"),
        ("mask shows next", "gpt", "mask"),
        ("mask transposed", "gpt", "mask"),
        ("mask ignored", "gpt", "mask"),
        ("softmax of columns", "gpt", "column"),
        ("raw scores", "gpt", "scores"),
        ("dropout on weights", "gpt", "dropout"),
        ("dropout on output", "gpt", "dropout"),
        ("positions from 1", "gpt", "position"),
        ("last token at position 0", "gpt", "position"),
        ("no positions", "gpt", "position"),
        ("W_Q transposed", "gpt", "transposed"),
        ("W_O transposed", "gpt", "transposed"),
        ("heads interleaved", "gpt", "interleaved"),
        ("concat interleaved", "gpt", "interleaved"),
        ("k and v swapped", "gpt", "W_V"),
        ("q and k swapped", "gpt", "W_K"),
        ("values are keys", "gpt", "key"),
        ("no b_Q", "gpt", "b_Q"),
        ("no b_O", "gpt", "b_O"),
        ("no b_1", "gpt", "b_1"),
        ("no b_2", "gpt", "b_2"),
        ("no residual", "gpt", "residual"),
        ("residual of norm", "gpt", "norm"),
        ("no norm", "gpt", "norm"),
        ("attention input for ffn", "gpt", "in place of"),
        ("no final norm", "gpt", "norm"),
        ("tied", "llama", "embeddings"),
        ("constant per row", "gpt", "row"),
        ("stale cache", "gpt", "row"),
        ("layers swapped", "gpt", "layers"),
        ("post norm", "gpt", "norm"),
        ("one number wrong", "gpt", "none"),
        ("layout pairs", "llama", "pairs"),
        ("rotated backwards", "llama", "direction"),
        ("base 500000", "llama", "500000"),
        ("frequencies k/d", "llama", "frequenc"),
        ("rotary from 1", "llama", "position"),
        ("cached rotary at 0", "llama", "position"),
        ("keys not rotated", "llama", "rotat"),
        ("groups the other way", "llama", "head"),
        ("gate and up swapped", "llama", "W_3"),
        ("activation on up", "llama", "up"),
        ("gelu for silu", "llama", "GELU"),
        ("one plus gain", "llama", "1 + γ"),
        ("layer norm", "llama", "LayerNorm"),
        ("no softcap", "llama", "soft cap"),
        ("no embedding scale", "seq2seq", "embedding"),
        ("memory is the encoder's input", "seq2seq", "encoder.input"),
        ("pre for post", "seq2seq", "norm"),
        ("sinusoidal from 0", "seq2seq", "position"),
        ("cross mask", "seq2seq", "mask"),
        ("halves of sines", "seq2seq", "sines"),
        ("slopes of other heads", "alibi", "slope"),
        ("exponent 8 over heads plus 1", "alibi", "slope"),
        ("top-k not normalized", "experts", "softmax"),
        ("router after softmax of all", "experts", "softmax"),
        ("no sink", "sink", "sink"),
        ("no score cap", "sink", "soft cap"),
        ("lora scale", "lora", "LoRA"),
    )
)


def drawn(model: str, outlier: bool = False) -> Weights:
    """Weights of a model, with three decimals, so that a scenario has the same."""
    draw = np.random.default_rng(sum(map(ord, model)))

    def w(*shape: int, times: float = 1.0) -> Floats:
        return np.round(draw.normal(size=shape) * times, 3)

    def attention(kv: int = HEADS) -> dict[str, Any]:
        size = 1 / sqrt(D)
        return {
            "W_Q": w(D, D, times=size), "b_Q": w(D, times=0.2),
            "W_K": w(D, kv * D_K, times=size), "b_K": w(kv * D_K, times=0.2),
            "W_V": w(D, kv * D_K, times=size), "b_V": w(kv * D_K, times=0.2),
            "W_O": w(D, D, times=size), "b_O": w(D, times=0.2), "norm": norm(),
        }  # fmt: skip

    def norm() -> dict[str, Floats]:
        return {"gain": 1 + w(D, times=0.3), "shift": w(D, times=0.3)}

    def ffn() -> dict[str, Any]:
        return {
            "W_1": w(D, D_FF, times=0.3), "b_1": w(D_FF, times=0.2), "W_3": w(D, D_FF, times=0.3),
            "W_2": w(D_FF, D, times=0.3), "b_2": w(D, times=0.2), "norm": norm(),
        }  # fmt: skip

    def layer() -> dict[str, Any]:
        kv = GROUPS if model in ("llama", "sink") else HEADS
        found: dict[str, Any] = {"attention": attention(kv), "ffn": ffn()}
        if model == "seq2seq":
            found["cross"] = attention()
        if model == "experts":
            found["router"] = w(D, 4)
            found["experts"] = [ffn() for _ in range(4)]
        if model == "lora":
            found["A"], found["B"] = w(D, 2, times=0.5), w(2, D_K, times=0.5)
        return found

    found: dict[str, Any] = {
        "embeddings": w(WORDS, D), "positions": w(TOKENS + 2, D, times=0.3),
        "layers": [layer(), layer()], "final": norm(), "W_U": w(D, WORDS, times=0.4),
        "ids": draw.permutation(WORDS)[:TOKENS], "encoder_ids": draw.permutation(WORDS)[:TOKENS],
        "encoder": [layer(), layer()], "sinks": w(HEADS),
    }  # fmt: skip
    if outlier:
        found["embeddings"][:, OUTLIER] = 3000 + w(WORDS)
        for part in (each for of in ("layers", "encoder") for each in found[of]):
            for name in ("W_Q", "W_K", "W_V") if model == "seq2seq" else ():
                part["attention"][name][OUTLIER] = np.round(part["attention"][name][OUTLIER], 0)
                part["attention"][name][OUTLIER] *= 0.001
    return found


def is_of_rms(model: str) -> bool:
    """Whether the norms of a model are RMSNorm, without a shift."""
    return model in ("llama", "sink")


@dataclass
class Program:
    """A model's forward pass, with a bug or without one; `arrays` are what it keeps."""

    model: str
    kind: str = "float64"
    bug: str = ""
    outlier: bool = False
    arrays: dict[str, Floats] = field(default_factory=dict)
    prefix: str = ""

    def has(self, bug: str) -> bool:
        return self.bug == bug

    def r(self, x: Any) -> Floats:
        return rounded(x, self.kind)

    def keep(self, address: str, x: Any) -> Floats:
        self.arrays[self.prefix + address] = self.r(x)
        return self.arrays[self.prefix + address]

    def run(self) -> dict[str, Floats]:
        w = drawn(self.model, self.outlier)
        if self.model == "gpt":
            layers = w["layers"][::-1] if self.has("layers swapped") else w["layers"]
        else:
            layers = w["layers"]
        memory = None
        if self.model == "seq2seq":
            self.prefix = "encoder."
            x = read = self.inputs(w, w["encoder_ids"])
            for number, layer in enumerate(w["encoder"], 1):
                x = self.block(number, x, layer, None, False)
            memory = self.r(x)
            self.prefix = ""
            self.arrays["encoder.output"] = memory
            if self.has("memory is the encoder's input"):
                memory = read
        x = self.inputs(w, w["ids"])
        for number, layer in enumerate(layers, 1):
            x = self.block(number, x, layer, memory, True)
        if self.model != "seq2seq":
            x = x if self.has("no final norm") else self.norm(x, w["final"])
        y = self.keep("output", x)
        table = w["W_U"].T if self.model != "gpt" and not self.has("tied") else w["embeddings"]
        z = self.r(y @ self.r(table).T)
        if self.model == "llama" and not self.has("no softcap"):
            z = 5 * np.tanh(z / 5)
        if self.has("constant per row"):
            z = z - z.max(axis=1, keepdims=True)
        z = self.keep("logits", z)
        self.keep("probabilities", self.softmax(z))
        return self.arrays

    def inputs(self, w: Weights, ids: NDArray[Any]) -> Floats:
        x = self.keep("embedding", self.r(w["embeddings"])[ids])
        if self.model == "gpt":
            p = w["positions"][:TOKENS]
            if self.has("positions from 1"):
                p = w["positions"][1 : TOKENS + 1]
            if self.has("last token at position 0"):
                p = np.vstack([p[:-1], p[:1]])
            x = x + (0 if self.has("no positions") else self.r(p))
        if self.model == "seq2seq":
            x = self.keep(
                "embedding.scaled", x * (1 if self.has("no embedding scale") else sqrt(D))
            )
            start = 0 if self.has("sinusoidal from 0") else 1
            angle = np.multiply.outer(
                np.arange(start, start + TOKENS), 10000.0 ** (-np.arange(0, D, 2) / D)
            )
            p = np.stack([np.sin(angle), np.cos(angle)], -1).reshape(TOKENS, D)
            if self.has("halves of sines"):
                p = np.hstack([np.sin(angle), np.cos(angle)])
            x = x + self.r(p)
        return self.keep("input", x)

    def norm(self, x: Floats, w: Weights) -> Floats:
        epsilon = 1e-5
        if self.has("epsilon 1e-6"):
            epsilon = 1e-6
        if self.has("epsilon 1e-12"):
            epsilon = 1e-12
        is_rms = is_of_rms(self.model)
        if self.has("rms") or self.has("layer norm"):
            is_rms = not is_rms
        c = x if is_rms else self.r(x - self.r(x.mean(-1, keepdims=True)))
        square = (c**2).sum(-1, keepdims=True) / (D - self.has("n - 1"))
        root = (
            np.sqrt(square) + epsilon if self.has("epsilon outside") else np.sqrt(square + epsilon)
        )
        y = self.r(c / self.r(root))
        gain, shift = self.r(w["gain"]), self.r(w["shift"])
        y = y if self.has("no gain") else self.r(y * (gain + self.has("one plus gain")))
        has_shift = self.model not in ("llama", "sink") and not self.has("no shift")
        return y + shift if has_shift else y

    def softmax(self, s: Floats, axis: int = -1) -> Floats:
        e = np.exp(s - s.max(axis, keepdims=True))
        return np.asarray(e / e.sum(axis, keepdims=True))

    def block(
        self, number: int, x: Floats, w: Weights, memory: Floats | None, masked: bool
    ) -> Floats:
        is_post = self.model == "seq2seq" and not self.has("pre for post")
        is_post = is_post or self.has("post norm")
        start = x

        def sub_layer(name: str, x: Floats, norm: Weights, compute: Any) -> Floats:
            place = f"layer{number}.{name}"
            n = x
            if not is_post:
                n = self.keep(f"{place}.norm", self.norm(x, norm))
                if name == "ffn" and self.has("no norm"):
                    n = x
            y = self.keep(f"{place}.output", compute(place, n))
            base = n if self.has("residual of norm") else x
            x = y if self.has("no residual") else base + y
            x = self.keep(f"{place}.residual", x)
            return self.keep(f"{place}.norm", self.norm(x, norm)) if is_post else x

        def attend(place: str, n: Floats) -> Floats:
            return self.attention(place, n, n, w["attention"], w, masked)

        x = sub_layer("attention", x, w["attention"]["norm"], attend)
        if memory is not None:
            read = memory
            x = sub_layer(
                "cross_attention", x, w["cross"]["norm"],
                lambda place, n: self.attention(place, n, read, w["cross"], w, False),
            )  # fmt: skip
        if self.has("attention input for ffn"):
            n = self.keep(f"layer{number}.ffn.norm", self.norm(start, w["ffn"]["norm"]))
            y = self.keep(f"layer{number}.ffn.output", self.ffn(f"layer{number}.ffn", n, w))
            return self.keep(f"layer{number}.ffn.residual", x + y)
        return sub_layer("ffn", x, w["ffn"]["norm"], lambda place, n: self.ffn(place, n, w))

    def split(self, x: Floats, interleaved: bool = False) -> Floats:
        """(n, heads, d_k)."""
        if interleaved:
            return x.reshape(len(x), D_K, -1).swapaxes(1, 2)
        return x.reshape(len(x), -1, D_K)

    def attention(
        self, place: str, n: Floats, m: Floats, w: Weights, layer: Weights, masked: bool
    ) -> Floats:
        w = dict(w)
        if self.has("k and v swapped"):
            w["W_K"], w["W_V"] = w["W_V"], w["W_K"]
        if self.has("q and k swapped"):
            w["W_Q"], w["W_K"] = w["W_K"], w["W_Q"]
        if self.has("W_Q transposed"):
            w["W_Q"] = w["W_Q"].T
        if self.has("W_O transposed"):
            w["W_O"] = w["W_O"].T
        if self.model == "lora":
            scale = 1 if self.has("lora scale") else 4 / 2
            w["W_Q"] = w["W_Q"].copy()
            w["W_Q"][:, :D_K] += scale * layer["A"] @ layer["B"]
        has_bias = self.model in ("gpt", "seq2seq")
        of = {
            name: self.r(
                vectors @ self.r(w[f"W_{name}"])
                + (self.r(w[f"b_{name}"]) if has_bias and not self.has(f"no b_{name}") else 0)
            )
            for name, vectors in (("Q", n), ("K", m), ("V", m))
        }
        apart = self.has("heads interleaved")
        q, k, v = (self.split(of[name], apart) for name in "QKV")
        if self.has("stale cache"):
            k, v = k.copy(), v.copy()
            k[-1], v[-1] = k[-2], v[-2]
        angle = self.angles() if self.model in ("llama", "sink") else None
        outputs = []
        for h in range(HEADS):
            head = f"{place}.head{h + 1}"
            group = h * k.shape[1] // HEADS
            if self.has("groups the other way"):
                group = h % k.shape[1]
            own_q, own_k = q[:, h], k[:, group]
            self.keep(f"{head}.query", own_q)
            if h * k.shape[1] % HEADS == 0:
                self.keep(f"{head}.key", k[:, h * k.shape[1] // HEADS])
                self.keep(f"{head}.value", v[:, h * k.shape[1] // HEADS])
            if angle is not None:
                own_q = self.keep(f"{head}.rotated_query", self.turned(own_q, angle))
                if not self.has("keys not rotated"):
                    own_k = self.r(self.turned(own_k, angle))
                if h * k.shape[1] % HEADS == 0:
                    self.keep(f"{head}.rotated_key", own_k)
            scale = sqrt(D_K)
            for bug, other in (
                ("no scale", 1), ("scale of model", sqrt(D)), ("scale without root", D_K)
            ):  # fmt: skip
                scale = other if self.has(bug) else scale
            s = self.r(self.r(own_q @ own_k.T) / scale)
            s = self.of_positions(s, h, head)
            seen = self.mask(masked or (self.has("cross mask") and "cross" in place))
            if seen is not None:
                before, s = s, np.where(seen, s, -np.inf)
                if masked:
                    s = self.keep(f"{head}.masked", s)
                if self.has("mask ignored"):
                    s = before
            p = self.weights(s, seen, h)
            if self.has("dropout on weights"):
                p = p * (np.random.default_rng(h).random(p.shape) > 0.2) / 0.8
            p = self.keep(f"{head}.weights", p)
            values = k if self.has("values are keys") else v
            outputs.append(self.keep(f"{head}.output", p @ values[:, group]))
        y = np.stack(outputs, 2 if self.has("concat interleaved") else 1).reshape(len(n), -1)
        has_bias = has_bias and not self.has("no b_O")
        return y @ self.r(w["W_O"]) + (self.r(w["b_O"]) if has_bias else 0)

    def weights(self, s: Floats, seen: Any, head: int) -> Floats:
        if self.has("raw scores"):
            return np.where(np.isneginf(s), 0, s)
        if self.has("softmax of columns"):
            return self.softmax(s, 0)
        if self.model == "sink" and not self.has("no sink"):
            sink = drawn("sink", self.outlier)["sinks"][head]
            return self.softmax(np.column_stack([s, np.full(len(s), self.r(sink))]))[:, :-1]
        return self.softmax(s)

    def of_positions(self, s: Floats, h: int, head: str) -> Floats:
        if self.model == "alibi":
            slope = 2.0 ** (-8 * (h + 1) / HEADS)
            if self.has("slopes of other heads"):
                slope = 2.0 ** (-8 * (HEADS - h) / HEADS)
            if self.has("exponent 8 over heads plus 1"):
                slope = 2.0 ** (-8 * (h + 1) / (HEADS + 1))
            at = np.arange(TOKENS)
            s = self.keep(f"{head}.biased", s - slope * abs(at[:, None] - at))
        if self.model == "sink":
            s = self.keep(f"{head}.capped", s if self.has("no score cap") else 2 * np.tanh(s / 2))
        return s

    def mask(self, masked: bool) -> Any:
        if not masked or self.has("no mask"):
            return None if not masked else np.ones((TOKENS, TOKENS), bool)
        by = -1 if self.has("mask hides itself") else 1 if self.has("mask shows next") else 0
        seen = np.tri(TOKENS, k=by, dtype=bool)
        seen[0, 0] = True
        return seen.T if self.has("mask transposed") else seen

    def angles(self) -> Floats:
        at = np.arange(TOKENS) + self.has("rotary from 1")
        if self.has("cached rotary at 0"):
            at[-1] = 0
        base = 500000.0 if self.has("base 500000") else 10000.0
        power = np.arange(D_K // 2) / D_K * (1 if self.has("frequencies k/d") else 2)
        return np.multiply.outer(at, base**-power) * (-1 if self.has("rotated backwards") else 1)

    def turned(self, x: Floats, angle: Floats) -> Floats:
        cos, sin = self.r(np.cos(angle)), self.r(np.sin(angle))
        found = np.empty_like(x)
        half = D_K // 2
        a, b = (slice(half), slice(half, D_K))
        if self.has("layout pairs"):
            a, b = slice(0, D_K, 2), slice(1, D_K, 2)
        found[:, a] = self.r(x[:, a] * cos) - self.r(x[:, b] * sin)
        found[:, b] = self.r(x[:, a] * sin) + self.r(x[:, b] * cos)
        return found

    def ffn(self, place: str, n: Floats, w: Weights) -> Floats:
        if self.model == "experts":
            return self.experts(place, n, w)
        own = dict(w["ffn"])
        if self.has("gate and up swapped"):
            own["W_1"], own["W_3"] = own["W_3"], own["W_1"]
        has_bias = self.model in ("gpt", "seq2seq")
        b_1, b_2 = (
            self.r(own[name]) * (has_bias and not self.has(f"no {name}")) for name in ("b_1", "b_2")
        )
        h = self.keep(f"{place}.hidden", n @ self.r(own["W_1"]) + b_1)
        name = {"gpt": "gelu_tanh", "llama": "silu", "sink": "silu"}.get(self.model, "relu")
        for bug, other in (("exact gelu", "gelu"), ("relu", "relu"), ("gelu for silu", "gelu")):
            name = other if self.has(bug) else name
        if self.model in ("llama", "sink"):
            up = self.keep(f"{place}.up", n @ self.r(own["W_3"]))
            if self.has("activation on up"):
                h, up = up, h
            a = self.keep(f"{place}.activation", activated(h, name))
            a = self.keep(f"{place}.gated", a * up)
        else:
            a = self.keep(f"{place}.activation", activated(h, name))
        y: Floats = a @ self.r(own["W_2"]) + b_2
        if self.has("dropout on output"):
            y = y * (np.random.default_rng(7).random(y.shape) > 0.1) / 0.9
        if self.has("one number wrong"):
            y = y.copy()
            y[2, 5] += 0.37
        return y

    def experts(self, place: str, n: Floats, w: Weights) -> Floats:
        z = self.keep(f"{place}.router.logits", n @ self.r(w["router"]))
        best = np.argsort(-z, axis=1)[:, :2]
        chosen = np.zeros(z.shape, bool)
        np.put_along_axis(chosen, best, True, axis=1)
        p = self.softmax(np.where(chosen, z, -np.inf))
        if self.has("top-k not normalized"):
            p = self.softmax(z) * chosen
        if self.has("router after softmax of all"):
            p = self.softmax(np.where(chosen, self.softmax(z), -np.inf))
        p = self.keep(f"{place}.router.weights", p)
        y = np.zeros_like(n)
        for e, own in enumerate(w["experts"]):
            h = self.r(activated(self.r(n @ self.r(own["W_1"])), "relu"))
            y = y + p[:, [e]] * self.r(h @ self.r(own["W_2"]))
        return y


def activated(x: Floats, name: str) -> Floats:
    """An activation function of each number."""
    match name:
        case "gelu":
            return np.asarray(x * (1 + np.vectorize(erf)(x / sqrt(2))) / 2)
        case "gelu_tanh":
            return np.asarray(x * (1 + np.tanh(sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2)
        case "silu":
            return np.asarray(x / (1 + np.exp(-x)))
    return np.maximum(x, 0)


def scenario_of(model: str, outlier: bool = False) -> dict[str, Any]:
    """The scenario of a model without a bug."""
    w = drawn(model, outlier)
    words = [f"w{i}" for i in range(WORDS)]

    def norm(of: Weights) -> dict[str, Any]:
        placement = "post" if model == "seq2seq" else "pre"
        found = {"epsilon": 1e-5, "gain": of["gain"].tolist(), "placement": placement}
        return found | (
            {"kind": "rms_norm"} if is_of_rms(model) else {"shift": of["shift"].tolist()}
        )

    def attention(of: Weights, layer: Weights) -> dict[str, Any]:
        heads: list[dict[str, Any]] = []
        kv = of["W_K"].shape[1] // D_K
        for h in range(HEADS):
            here, group = slice(h * D_K, (h + 1) * D_K), h * kv // HEADS
            there = slice(group * D_K, (group + 1) * D_K)
            head: dict[str, Any] = {"W_Q": of["W_Q"][:, here].tolist()}
            if h * kv % HEADS:
                head["shares"] = group * HEADS // kv + 1
            else:
                head |= {"W_K": of["W_K"][:, there].tolist(), "W_V": of["W_V"][:, there].tolist()}
            if model in ("gpt", "seq2seq"):
                places = {"b_Q": here, "b_K": there, "b_V": there}
                head |= {name: of[name][at].tolist() for name, at in places.items()}
            if model == "sink":
                head["sink"] = float(w["sinks"][h])
            if model == "lora" and h == 0:
                a, b = layer["A"].tolist(), layer["B"].tolist()
                head["W_Q"] = {"frozen": head["W_Q"], "A": a, "B": b, "alpha": 4}
            heads.append(head)
        found = {"heads": heads, "W_O": of["W_O"].tolist(), "norm": norm(of["norm"])}
        if model in ("gpt", "seq2seq"):
            found["b_O"] = of["b_O"].tolist()
        return found | ({"softcap": 2} if model == "sink" else {})

    def network(of: Weights) -> dict[str, Any]:
        names = {
            **{"gpt": ("W_1", "b_1", "W_2", "b_2"), "seq2seq": ("W_1", "b_1", "W_2", "b_2")},
            **{"llama": ("W_1", "W_3", "W_2"), "sink": ("W_1", "W_3", "W_2")},
        }.get(model, ("W_1", "W_2"))
        return {name: of[name].tolist() for name in names}

    def ffn(layer: Weights) -> dict[str, Any]:
        around = {"norm": norm(layer["ffn"]["norm"])}
        if model == "experts":
            experts = [network(each) for each in layer["experts"]]
            return {"router": layer["router"].tolist(), "top": 2, "experts": experts, **around}
        kind = {"gpt": "gelu_tanh", "llama": "silu", "sink": "silu"}.get(model, "relu")
        return {**network(layer["ffn"]), "activation": kind, **around}

    def layers(of: Any, crossed: bool) -> list[dict[str, Any]]:
        return [
            {
                "attention": attention(layer["attention"], layer),
                **({"cross_attention": attention(layer["cross"], layer)} if crossed else {}),
                "ffn": ffn(layer),
            }
            for layer in of
        ]

    embeddings = {word: row.tolist() for word, row in zip(words, w["embeddings"], strict=True)}
    found: dict[str, Any] = {
        "tokens": [words[i] for i in w["ids"]],
        "embeddings": embeddings,
        "layers": layers(w["layers"], model == "seq2seq"),
        "vocabulary": words,
        "unembedding": {"W_U": w["W_U"].tolist()},
        "rounding": {"carry": "never"},
        "arithmetic": "float64",
    }
    if model == "gpt":
        found |= {"positions": {"table": w["positions"].tolist()}}
        found |= {"unembedding": "tied"}
    if model in ("llama", "sink"):
        found["positions"] = {"rotary": {"layout": "halves"}}
    if model == "llama":
        found["unembedding"]["softcap"] = 5
    if model == "alibi":
        found["positions"] = {"alibi": True}
    if model == "seq2seq":
        sines = {"positions": {"sinusoidal": {"start": 1}}, "embedding_scale": "sqrt"}
        found |= sines
        found["encoder"] = {
            "tokens": [words[i] for i in w["encoder_ids"]],
            "embeddings": embeddings,
            "layers": layers(w["encoder"], False),
            **sines,
        }
    else:
        final = norm(w["final"])
        del final["placement"]
        found["final_norm"] = final
    return found
