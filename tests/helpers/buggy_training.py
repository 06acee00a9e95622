"""One step of training as people write it in NumPy, with one bug if it is asked for.

Forward pass, backward pass and optimizer know nothing of scenarios: they keep their arrays under
our addresses, in the type of numbers that they compute with. `BUGS` names each bug, the model and
the optimizer that have it, the first array that it changes, and words of the cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from math import erf, pi, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tests.helpers.buggy_models import rounded

Floats: TypeAlias = Any
"""Arrays; what NumPy returns has no closer type."""
Weights = dict[str, Floats]
Numbers = Mapping[str, Any]

D, HEADS, D_K, D_FF, LAYERS = 8, 2, 4, 10, 2
WORDS = ("tea", "milk", "and", "honey", "with", "lemon")
IDS = (0, 2, 3, 4, 2)
N = len(IDS)
TARGETS = (*IDS[1:], None)
EPSILON = 1e-5

OPTIMIZERS: dict[str, Numbers] = {
    "sgd": {"kind": "sgd", "learning_rate": 0.1},
    "momentum": {"kind": "sgd", "learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.02},
    "clip": {"kind": "sgd", "learning_rate": 0.1, "clip": 0.05},
    "adam": {"kind": "adam", "learning_rate": 0.01, "weight_decay": 0.1, "epsilon": 0.001},
    "adamw": {"kind": "adamw", "learning_rate": 0.01, "weight_decay": 0.1, "epsilon": 0.001},
    "plain adamw": {"kind": "adamw", "learning_rate": 0.01},
}


class Bug(NamedTuple):
    """A bug, its model and optimizer, the first array that it changes, words of the cause."""

    name: str
    model: str
    optimizer: str
    first: str
    cause: str


A2, F2 = "gradient.layer2.attention", "gradient.layer2.ffn"
HEAD = f"{A2}.head2"
FIRST = "update.positions.table"
"""The first parameter that is updated."""

BUGS = tuple(
    Bug(*row)
    for row in (
        ("loss added up", "gpt", "sgd", "gradient.logits", "losses added up"),
        ("all tokens counted", "gpt", "sgd", "gradient.logits", "also those without a target"),
        ("opposite sign", "gpt", "sgd", "gradient.logits", "multiplied by -1"),
        ("target not shifted", "gpt", "sgd", "gradient.logits", "own target"),
        ("no row term", "gpt", "sgd", f"{HEAD}.masked", "gradient of a softmax"),
        ("no scale", "gpt", "sgd", f"{HEAD}.key", "without dividing by √d_k"),
        ("key not transposed", "gpt", "sgd", f"{HEAD}.key", "not transposed"),
        ("value not transposed", "gpt", "sgd", f"{HEAD}.value", "not transposed"),
        ("W_O not transposed", "gpt", "sgd", f"{A2}.concat", "weights that are not transposed"),
        ("mean constant", "gpt", "sgd", "gradient.layer2.ffn.residual", "mean of each norm"),
        ("deviation constant", "gpt", "sgd", "gradient.layer2.ffn.residual", "the deviation of"),
        ("both constant", "gpt", "sgd", "gradient.layer2.ffn.residual", "mean and deviation"),
        ("no gain", "gpt", "sgd", "gradient.layer2.ffn.residual", "without the factor γ"),
        ("no residual", "gpt", "sgd", f"{A2}.residual", "residual connection"),
        ("only residual", "gpt", "sgd", f"{A2}.residual", "only the gradients of residual"),
        ("no slope", "gpt", "sgd", f"{F2}.hidden", "without the slope"),
        ("slope at output", "gpt", "sgd", f"{F2}.hidden", "slope of the activation function at"),
        ("slope of tanh", "gpt", "sgd", f"{F2}.hidden", "tanh approximation"),
        ("bias averaged", "gpt", "sgd", f"{F2}.b_2", "averaged over the tokens"),
        ("weights averaged", "gpt", "sgd", "gradient.unembedding.W_U", "averaged over the tokens"),
        ("gradients not zeroed", "gpt", "sgd", "gradient.unembedding.W_U", "equal backward passes"),
        ("tied part missing", "gpt", "sgd", "gradient.embeddings", "without gradient.embeddings"),
        ("words overwritten", "gpt", "sgd", "gradient.embeddings", "last token of each word"),
        ("heads interleaved", "gpt", "sgd", f"{HEAD}.output", "heads interleaved"),
        (
            "no head 1",
            "gpt",
            "sgd",
            f"{A2}.norm",
            "without gradient.layer2.attention.head1.value.left and",
        ),
        ("rotated on", "llama", "sgd", f"{HEAD}.key", "direction of the forward pass"),
        ("not rotated back", "llama", "sgd", f"{HEAD}.key", "without rotating back"),
        ("deviation constant", "llama", "sgd", "gradient.layer2.ffn.residual", "deviation of"),
        ("gate constant", "llama", "sgd", f"{F2}.activation", "other factor of the gate"),
        ("step added", "gpt", "sgd", FIRST, "added, not subtracted"),
        ("rate of PyTorch", "gpt", "sgd", FIRST, "PyTorch's default"),
        ("rate halved", "gpt", "sgd", FIRST, "learning rate of 0.05"),
        ("nesterov", "gpt", "momentum", FIRST, "Nesterov"),
        ("dampening", "gpt", "momentum", FIRST, "dampened"),
        ("no decay", "gpt", "momentum", FIRST, "without weight decay"),
        (
            "no decay of biases",
            "gpt",
            "momentum",
            "update.layer1.attention.norm.gain",
            "without weight decay",
        ),
        ("clipped by value", "gpt", "clip", FIRST, "by value"),
        ("clipped one by one", "gpt", "clip", FIRST, "of each parameter"),
        ("clipped like PyTorch", "gpt", "clip", FIRST, "clip_grad_norm_"),
        ("not clipped", "gpt", "clip", FIRST, "without clipping"),
        ("epsilon inside", "gpt", "adam", FIRST, "ε inside the root"),
        ("epsilon before", "gpt", "adam", FIRST, "before the bias correction"),
        ("other epsilon", "gpt", "adam", FIRST, "ε = 0.00000001"),
        ("no correction", "gpt", "adam", FIRST, "without bias correction"),
        ("no second correction", "gpt", "adam", FIRST, "second moment"),
        ("second step", "gpt", "adam", FIRST, "of the second step"),
        ("no root", "gpt", "adam", FIRST, "without the root"),
        ("decoupled", "gpt", "adam", FIRST, "weight decay of AdamW"),
        ("coupled", "gpt", "adamw", FIRST, "decay of Adam,"),
        ("decay last", "gpt", "adamw", FIRST, "decay after the step"),
        ("decay without rate", "gpt", "adamw", FIRST, "weight decay of 10"),
        ("decay of PyTorch", "gpt", "plain adamw", FIRST, "default of PyTorch's AdamW"),
    )
)


def _gelu(x: Floats) -> Floats:
    return x * (1 + np.vectorize(erf)(x / sqrt(2))) / 2


def _gelu_slope(x: Floats) -> Floats:
    return (1 + np.vectorize(erf)(x / sqrt(2))) / 2 + x * np.exp(-(x**2) / 2) / sqrt(2 * pi)


def _tanh_slope(x: Floats) -> Floats:
    """The slope of the tanh approximation of GELU."""
    t = np.tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))
    inner = sqrt(2 / pi) * (1 + 3 * 0.044715 * x**2)
    return (1 + t) / 2 + x * (1 - t**2) * inner / 2


def _silu(x: Floats) -> Floats:
    return x / (1 + np.exp(-x))


def _silu_slope(x: Floats) -> Floats:
    s = 1 / (1 + np.exp(-x))
    return s + x * s * (1 - s)


def _softmax(s: Floats) -> Floats:
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


@cache
def weights(model: str) -> Weights:
    """The parameters of a model by address, with three decimals."""
    draw = np.random.default_rng(7)

    def w(*shape: int, times: float = 0.6, plus: float = 0) -> Floats:
        return np.round(plus + draw.normal(size=shape) * times, 3)

    found = {"embeddings": w(len(WORDS), D)}
    if model == "gpt":
        found["positions.table"] = w(N, D, times=0.3)
    for layer in range(1, LAYERS + 1):
        a, f = f"layer{layer}.attention", f"layer{layer}.ffn"
        for place in (a, f):
            found |= _norm_weights(f"{place}.norm", model, w)
        for head in range(1, HEADS + 1):
            for name in "QKV":
                found[f"{a}.head{head}.W_{name}"] = w(D, D_K)
                if model == "gpt":
                    found[f"{a}.head{head}.b_{name}"] = w(D_K, times=0.2)
        found[f"{a}.W_O"] = w(D, D)
        found |= {f"{f}.W_1": w(D, D_FF), f"{f}.W_2": w(D_FF, D)}
        if model == "gpt":
            found |= {f"{a}.b_O": w(D, times=0.2), f"{f}.b_1": w(D_FF), f"{f}.b_2": w(D)}
        else:
            found[f"{f}.W_3"] = w(D, D_FF)
    found |= _norm_weights("final_norm", model, w)
    found["unembedding.W_U"] = found["embeddings"].T if model == "gpt" else w(D, len(WORDS))
    return found


def _norm_weights(place: str, model: str, w: Any) -> Weights:
    gain = {f"{place}.gain": w(D, times=0.2, plus=1)}
    return gain | ({f"{place}.shift": w(D, times=0.2)} if model == "gpt" else {})


def scenario_of(model: str, optimizer: str) -> dict[str, Any]:
    """The scenario that a person would type for a model and an optimizer."""
    own = weights(model)
    norm: Numbers = {"kind": "layer_norm" if model == "gpt" else "rms_norm", "placement": "pre"}

    def typed(place: str, *names: str) -> dict[str, Any]:
        return {n: own[f"{place}.{n}"].tolist() for n in names if f"{place}.{n}" in own}

    def norm_of(place: str) -> dict[str, Any]:
        return {**norm, "epsilon": EPSILON, **typed(place, "gain", "shift")}

    layers = []
    for number in range(1, LAYERS + 1):
        a, f = f"layer{number}.attention", f"layer{number}.ffn"
        heads = [
            typed(f"{a}.head{h}", "W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V")
            for h in range(1, HEADS + 1)
        ]
        attention = {"heads": heads, **typed(a, "W_O", "b_O"), "norm": norm_of(f"{a}.norm")}
        activation = "gelu" if model == "gpt" else "silu"
        ffn = {**typed(f, "W_1", "b_1", "W_2", "b_2", "W_3"), "norm": norm_of(f"{f}.norm")}
        layers.append({"attention": attention, "ffn": {"activation": activation, **ffn}})
    final = {k: v for k, v in norm_of("final_norm").items() if k != "placement"}
    table = {"table": weights("gpt")["positions.table"].tolist()}
    return {
        "title": "Buggy training", "tokens": [WORDS[i] for i in IDS],
        "embeddings": dict(zip(WORDS, own["embeddings"].tolist(), strict=True)),
        "positions": table if model == "gpt" else {"rotary": {"layout": "halves", "start": 0}},
        "layers": layers, "final_norm": final, "vocabulary": list(WORDS),
        "unembedding": "tied" if model == "gpt" else typed("unembedding", "W_U"),
        "optimizer": dict(OPTIMIZERS[optimizer]), "rounding": {"carry": "never"},
    }  # fmt: skip


@dataclass
class Training:
    """A step of training, with a bug or without one; `arrays` are what it keeps."""

    model: str
    optimizer: str
    kind: str = "float64"
    bug: str = ""
    is_detailed: bool = False
    """Whether the optimizer keeps what is between a gradient and the new weights."""
    arrays: dict[str, Floats] = field(default_factory=dict)

    def has(self, bug: str) -> bool:
        return self.bug == bug

    def r(self, x: Any) -> Floats:
        return rounded(x, self.kind)

    def keep(self, address: str, x: Any) -> Floats:
        self.arrays[address] = self.r(x)
        return self.arrays[address]

    def detail(self, address: str, x: Any) -> Floats:
        return self.keep(address, x) if self.is_detailed else self.r(x)

    def grad(self, address: str, x: Any) -> Floats:
        return self.keep(f"gradient.{address}", x)

    def run(self) -> dict[str, Floats]:
        self.w = {address: self.r(numbers) for address, numbers in weights(self.model).items()}
        self.forward()
        self.backward()
        self.update()
        return self.arrays

    # --- the forward pass ------------------------------------------------------------------------

    def forward(self) -> None:
        x = self.keep("embedding", self.w["embeddings"][list(IDS)])
        if self.model == "gpt":
            x = x + self.w["positions.table"]
        x = self.keep("input", x)
        for layer in range(1, LAYERS + 1):
            a, f = f"layer{layer}.attention", f"layer{layer}.ffn"
            y = self.attention(a, self.norm(f"{a}.norm", x))
            x = self.keep(f"{a}.residual", x + self.keep(f"{a}.output", y))
            y = self.ffn(f, self.norm(f"{f}.norm", x))
            x = self.keep(f"{f}.residual", x + self.keep(f"{f}.output", y))
        y = self.keep("output", self.norm("final_norm", x))
        z = self.keep("logits", y @ self.w["unembedding.W_U"])
        self.keep("probabilities", _softmax(z))

    def standardized(self, x: Floats) -> tuple[Floats, Floats]:
        """x̂ and σ."""
        c = x - x.mean(axis=1, keepdims=True) if self.model == "gpt" else x
        std = np.sqrt((c**2).mean(axis=1, keepdims=True) + EPSILON)
        return c / std, std

    def norm(self, place: str, x: Floats) -> Floats:
        y = self.standardized(x)[0] * self.w[f"{place}.gain"]
        return self.keep(place, y + self.w.get(f"{place}.shift", 0))

    def angles(self) -> Floats:
        return np.multiply.outer(np.arange(N), 10000.0 ** (-np.arange(0, D_K, 2) / D_K))

    def rotated(self, x: Floats, direction: int) -> Floats:
        """Rows rotated by their angles, or back."""
        if self.model == "gpt":
            return x
        cos, sin = np.cos(self.angles()), direction * np.sin(self.angles())
        a, b = np.split(x, 2, axis=1)
        return np.hstack([a * cos - b * sin, a * sin + b * cos])

    def attention(self, place: str, x: Floats) -> Floats:
        heads = []
        for head in (f"{place}.head{h}" for h in range(1, HEADS + 1)):
            q, k, v = (
                self.keep(f"{head}.{name}", x @ self.w[f"{head}.W_{n}"] + self.b(f"{head}.b_{n}"))
                for n, name in (("Q", "query"), ("K", "key"), ("V", "value"))
            )
            if self.model == "llama":
                q = self.keep(f"{head}.rotated_query", self.rotated(q, 1))
                k = self.keep(f"{head}.rotated_key", self.rotated(k, 1))
            s = np.where(np.tri(N), q @ k.T / sqrt(D_K), -np.inf)
            p = self.keep(f"{head}.weights", _softmax(s))
            heads.append(self.keep(f"{head}.output", p @ v))
        concat = self.keep(f"{place}.concat", np.hstack(heads))
        return concat @ self.w[f"{place}.W_O"] + self.b(f"{place}.b_O")

    def b(self, address: str) -> Any:
        return self.w.get(address, 0)

    def ffn(self, place: str, x: Floats) -> Floats:
        h = self.keep(f"{place}.hidden", x @ self.w[f"{place}.W_1"] + self.b(f"{place}.b_1"))
        g = self.keep(f"{place}.activation", _gelu(h) if self.model == "gpt" else _silu(h))
        if self.model == "llama":
            up = self.keep(f"{place}.up", x @ self.w[f"{place}.W_3"])
            g = self.keep(f"{place}.gated", g * up)
        return g @ self.w[f"{place}.W_2"] + self.b(f"{place}.b_2")

    # --- the backward pass -----------------------------------------------------------------------

    def backward(self) -> None:
        p, counted = self.arrays["probabilities"].copy(), N - 1
        for row, target in enumerate(TARGETS):
            own = IDS[row] if self.has("target not shifted") else target
            p[row, own] -= 1
            if target is None:
                p[row] = 0
        if self.has("loss added up"):
            counted = 1
        if self.has("all tokens counted"):
            counted = N
        sign = -1 if self.has("opposite sign") else 1
        g = self.grad("logits", sign * p / counted)
        of_output = self.of_weights("unembedding.W_U", self.arrays["output"], g)
        g = self.grad("output", g @ self.w["unembedding.W_U"].T)
        last = f"layer{LAYERS}.ffn.residual"
        g = self.grad(last, self.through_norm("final_norm", self.arrays[last], g))
        for layer in range(LAYERS, 0, -1):
            a, f = f"layer{layer}.attention", f"layer{layer}.ffn"
            before = f"layer{layer - 1}.ffn.residual" if layer > 1 else "input"
            g = self.grad(
                f"{a}.residual",
                self.summed(g, self.back_ffn(f, self.grad(f"{f}.output", g), f"{a}.residual")),
            )
            g = self.grad(
                before, self.summed(g, self.back_attention(a, self.grad(f"{a}.output", g), before))
            )
        self.of_tables(g, of_output)

    def summed(self, residual: Floats, change: Floats) -> Floats:
        return residual * (not self.has("no residual")) + change * (not self.has("only residual"))

    def of_weights(self, address: str, x: Floats, g: Floats) -> Floats:
        """The gradients of a matrix, and of its bias."""
        times = 2 if self.has("gradients not zeroed") else 1
        place, _, name = address.rpartition("W_")
        if f"{place}b_{name}" in self.w:
            bias = g.mean(axis=0) if self.has("bias averaged") else g.sum(axis=0)
            self.grad(f"{place}b_{name}", times * bias)
        found = x.T @ g / (N if self.has("weights averaged") else 1)
        return self.grad(address, times * found)

    def of_tables(self, g: Floats, of_output: Floats) -> None:
        self.grad("embedding", g)
        if self.model == "gpt":
            self.grad("positions.table", g * self.times)
        table = np.zeros((len(WORDS), D))
        if self.has("words overwritten"):
            table[list(IDS)] = g
        else:
            np.add.at(table, list(IDS), g)
        table *= self.times
        if self.model == "gpt" and not self.has("tied part missing"):
            table = table + of_output.T
        self.grad("embeddings", table)

    @property
    def times(self) -> int:
        return 2 if self.has("gradients not zeroed") else 1

    def through_norm(self, place: str, x: Floats, g: Floats) -> Floats:
        hat, std = self.standardized(x)
        self.grad(f"{place}.gain", self.times * (g * hat).sum(axis=0))
        if self.model == "gpt":
            self.grad(f"{place}.shift", self.times * g.sum(axis=0))
        g = g if self.has("no gain") else g * self.w[f"{place}.gain"]
        found = g / std
        if not self.has("deviation constant") and not self.has("both constant"):
            found = found - hat * (g * hat).mean(axis=1, keepdims=True) / std
        if self.model == "gpt" and not self.has("mean constant") and not self.has("both constant"):
            found = found - found.mean(axis=1, keepdims=True)
        return found

    def back_ffn(self, place: str, g: Floats, before: str) -> Floats:
        x = self.arrays[f"{place}.norm"]
        read = self.arrays[f"{place}.{'activation' if self.model == 'gpt' else 'gated'}"]
        self.of_weights(f"{place}.W_2", read, g)
        g, h = g @ self.w[f"{place}.W_2"].T, self.arrays[f"{place}.hidden"]
        found = 0
        if self.model == "llama":
            g = self.grad(f"{place}.gated", g)
            up = self.grad(f"{place}.up", g * self.arrays[f"{place}.activation"])
            self.of_weights(f"{place}.W_3", x, up)
            found = up @ self.w[f"{place}.W_3"].T
            g = g if self.has("gate constant") else g * self.arrays[f"{place}.up"]
        g = self.grad(f"{place}.activation", g)
        slope = _gelu_slope if self.model == "gpt" else _silu_slope
        at = self.arrays[f"{place}.activation"] if self.has("slope at output") else h
        by = _tanh_slope(h) if self.has("slope of tanh") else slope(at)
        g = self.grad(f"{place}.hidden", g if self.has("no slope") else g * by)
        self.of_weights(f"{place}.W_1", x, g)
        g = self.grad(f"{place}.norm", found + g @ self.w[f"{place}.W_1"].T)
        return self.through_norm(f"{place}.norm", self.arrays[before], g)

    def back_attention(self, place: str, g: Floats, before: str) -> Floats:
        x = self.arrays[f"{place}.norm"]
        self.of_weights(f"{place}.W_O", self.arrays[f"{place}.concat"], g)
        w_o = self.w[f"{place}.W_O"]
        g = self.grad(f"{place}.concat", g @ (w_o if self.has("W_O not transposed") else w_o.T))
        parts = np.split(g, HEADS, axis=1)
        if self.has("heads interleaved"):
            parts = [g[:, h::HEADS] for h in range(HEADS)]
        found = np.zeros((N, D))
        for h in range(HEADS, 0, -1):
            of_head = self.back_head(f"{place}.head{h}", x, parts[h - 1])
            found = found + of_head * (not (self.has("no head 1") and h == 1))
        g = self.grad(f"{place}.norm", found)
        return self.through_norm(f"{place}.norm", self.arrays[before], g)

    def back_head(self, head: str, x: Floats, g: Floats) -> Floats:
        p, v = self.arrays[f"{head}.weights"], self.arrays[f"{head}.value"]
        rotated = "rotated_" if self.model == "llama" else ""
        q, k = (self.arrays[f"{head}.{rotated}{name}"] for name in ("query", "key"))
        g = self.grad(f"{head}.output", g)
        of_v = self.grad(f"{head}.value", (p if self.has("value not transposed") else p.T) @ g)
        of_p = self.grad(f"{head}.weights", g @ v.T)
        row = 0 if self.has("no row term") else (p * of_p).sum(axis=1, keepdims=True)
        s = self.grad(f"{head}.masked", p * (of_p - row))
        s = s if self.has("no scale") else s / sqrt(D_K)
        of_k, of_q = (s if self.has("key not transposed") else s.T) @ q, s @ k
        if self.model == "llama":
            self.grad(f"{head}.rotated_key", of_k)
            self.grad(f"{head}.rotated_query", of_q)
            way = 1 if self.has("rotated on") else -1
            if not self.has("not rotated back"):
                of_k, of_q = self.rotated(of_k, way), self.rotated(of_q, way)
        found = np.zeros((N, D))
        for name, of, n in (("value", of_v, "V"), ("key", of_k, "K"), ("query", of_q, "Q")):
            of = self.grad(f"{head}.{name}", of)
            self.of_weights(f"{head}.W_{n}", x, of)
            found = found + of @ self.w[f"{head}.W_{n}"].T
        return found

    # --- the optimizer ---------------------------------------------------------------------------

    def update(self) -> None:
        o = {"momentum": 0, "weight_decay": 0, "epsilon": 1e-8, **OPTIMIZERS[self.optimizer]}
        names = [w for w in self.w if f"gradient.{w}" in self.arrays]
        if self.model == "gpt":
            names.remove("unembedding.W_U")
        grads = {name: self.arrays[f"gradient.{name}"] for name in names}
        if "clip" in o and not self.has("not clipped"):
            grads = {
                name: self.clipped(g, list(grads.values()), o["clip"]) for name, g in grads.items()
            }
        for name, g in grads.items():
            if "clip" in o:
                g = self.detail(f"gradient.{name}.clipped", g)
            step = self.sgd if o["kind"] == "sgd" else self.adam
            self.keep(f"update.{name}", step(f"update.{name}", self.w[name], g, dict(o)))

    def clipped(self, g: Floats, every: list[Floats], limit: float) -> Floats:
        if self.has("clipped by value"):
            return np.clip(g, -limit, limit)
        if self.has("clipped one by one"):
            return g * min(1, limit / np.linalg.norm(g))
        total = sqrt(sum(float((each**2).sum()) for each in every))
        return g * limit / (total + 1e-6 * self.has("clipped like PyTorch"))

    def sgd(self, at: str, w: Floats, g: Floats, o: dict[str, Any]) -> Floats:
        rate = o["learning_rate"]
        rate = (
            0.001 if self.has("rate of PyTorch") else rate / 2 if self.has("rate halved") else rate
        )
        decays = not self.has("no decay") and not (self.has("no decay of biases") and w.ndim < 2)
        if o["weight_decay"]:
            g = self.detail(f"{at}.decayed", g + o["weight_decay"] * w * decays)
        if o["momentum"]:
            v = g * (1 - o["momentum"] * self.has("dampening"))
            v = self.detail(f"{at}.velocity", v)
            g = g + o["momentum"] * v if self.has("nesterov") else v
        return w + rate * g if self.has("step added") else w - rate * g

    def adam(self, at: str, w: Floats, g: Floats, o: dict[str, Any]) -> Floats:
        rate, decay, epsilon, t = o["learning_rate"], o["weight_decay"], o["epsilon"], 1
        one, two = 0.9, 0.999
        if self.has("decay of PyTorch"):
            decay = 0.01
        if self.has("other epsilon"):
            epsilon = 1e-8
        is_coupled = (o["kind"] == "adam" or self.has("coupled")) and not self.has("decoupled")
        if is_coupled and decay:
            g = g + decay * w
        if o["kind"] == "adam" and decay:
            self.detail(f"{at}.decayed", g)
        m = self.detail(f"{at}.first_moment", (1 - one) * g)
        v = self.detail(f"{at}.second_moment", (1 - two) * g**2)
        if self.has("second step"):
            t = 2
        if not self.has("no correction"):
            m = m / (1 - one**t)
        self.detail(f"{at}.unbiased_first", m)
        root = np.sqrt(v)
        if self.has("epsilon before"):
            root = root + epsilon
        if not self.has("no correction") and not self.has("no second correction"):
            root = root / sqrt(1 - two**t)
        if self.has("epsilon inside"):
            root = np.sqrt(root**2 + epsilon)
        elif not self.has("epsilon before"):
            root = root + epsilon
        if self.has("no root"):
            root = v / (1 - two) + epsilon
        shrink = 1 if is_coupled else 1 - decay * (1 if self.has("decay without rate") else rate)
        if self.has("decay last"):
            return (w - rate * m / root) * shrink
        return w * shrink - rate * m / root
