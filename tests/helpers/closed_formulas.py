"""How many parameters and multiply-adds a decoder has, by formulas of its dimensions alone.

They are those of the papers (Vaswani et al. 2017, Radford et al. 2019), and share no code with the
program. Multiply-adds are those of products of matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Closed:
    """A decoder that a scenario gives by its `dimensions`, and the tokens that it reads."""

    spec: dict[str, Any]
    n: int

    def of(self, name: str, default: Any = None) -> Any:
        return self.spec["dimensions"].get(name, default)

    @property
    def d(self) -> int:
        return int(self.of("width"))

    @property
    def layers(self) -> int:
        return int(self.of("layers"))

    @property
    def heads(self) -> int:
        return int(self.of("heads"))

    @property
    def key_heads(self) -> int:
        return int(self.of("key_heads", self.heads))

    @property
    def d_k(self) -> int:
        return int(self.of("d_k", self.d // self.heads))

    @property
    def hidden(self) -> int:
        return int(self.of("hidden", 4 * self.d))

    @property
    def experts(self) -> int:
        return int(self.of("experts", 0))

    @property
    def top(self) -> int:
        """The experts that each token goes to; an FFN without experts is like one."""
        return int(self.of("top", 2)) if self.experts else 1

    @property
    def unused(self) -> int:
        """The parameters of a layer's experts that a token does not go to."""
        return (self.experts - self.top) * self.network if self.experts else 0

    @property
    def words(self) -> int:
        return int(self.of("words"))

    @property
    def biases(self) -> bool:
        return bool(self.of("biases", True))

    @property
    def encoder(self) -> dict[str, Any] | None:
        return self.spec.get("encoder")

    @property
    def m(self) -> int:
        """Tokens of the encoder."""
        return len(self.encoder["tokens"]) if self.encoder else 0

    @property
    def sizes(self) -> dict[str, str]:
        """What the table of sizes shows."""
        context = self.of("context") if self.of("positions", "learned") == "learned" else None
        found = {
            "tokens": self.n,
            "context": context,
            "d_model": self.d,
            "layers": self.layers,
            "heads": self.heads,
            "d_k": self.d_k,
            "experts": self.experts,
            "hidden units": self.hidden,
            "vocabulary": self.words,
            "parameters": sum(self.parameters.values()),
        }
        return {name: f"{size:,}" for name, size in found.items() if size}

    # --- parameters, each of one layer -----------------------------------------------------------

    def attention(self, source: int) -> int:
        """`source` is the width of what keys and values are made of."""
        q, k = self.heads * self.d_k, self.key_heads * self.d_k
        weights = self.d * q + 2 * source * k + q * self.d
        return weights + (q + 2 * k + self.d) * self.biases

    @property
    def ffn(self) -> int:
        """One network, or a router of a column for each expert, and the experts."""
        return self.network * ((self.experts or 1) + self.shared) + self.d * self.experts

    @property
    def shared(self) -> int:
        """Whether there is one more expert for every token, as 0 or 1."""
        return int(bool(self.of("shared")))

    @property
    def network(self) -> int:
        matrices = 3 if self.of("gated") else 2
        biases = (matrices - 1) * self.hidden + self.d
        return matrices * self.d * self.hidden + biases * self.biases

    @property
    def norm(self) -> int:
        kind = str(self.of("norm", "layer_norm"))
        return {"layer_norm": 2 * self.d, "rms_norm": self.d, "none": 0}[kind]

    @property
    def parameters(self) -> dict[str, int]:
        """Those of each part, of all layers together; parts without any are left out."""
        learned = self.of("positions", "learned") == "learned"
        tied, width = self.of("tied", True), (self.encoder or {}).get("width", self.d)
        found = {
            "embeddings": self.words * self.d,
            "positions": self.of("context", 0) * self.d if learned else 0,
            "attention": self.layers * self.attention(self.d),
            "cross-attention": self.layers * self.attention(width) if self.encoder else 0,
            "FFN": self.layers * self.ffn,
            "norms": self.layers * self.norm * (3 if self.encoder else 2),
            "final norm": self.norm if self.of("final_norm", True) else 0,
            "unembedding": 0 if tied else self.d * self.words + self.words * self.biases,
        }
        return {name: count for name, count in found.items() if count}

    # --- multiply-adds, of all layers together ---------------------------------------------------

    @property
    def square(self) -> int:
        """Those that grow with the square of the tokens: scores and weighted sums."""
        return self.layers * 2 * self.n * self.n * self.heads * self.d_k

    @property
    def staying(self) -> int:
        """Those of the keys and values of the encoder's tokens."""
        width = (self.encoder or {}).get("width", self.d)
        return self.layers * 2 * self.m * int(width) * self.key_heads * self.d_k

    @property
    def multiply_adds(self) -> dict[str, int]:
        q, k = self.heads * self.d_k, self.key_heads * self.d_k
        around = 2 * self.n * self.d * q
        matrices = 3 if self.of("gated") else 2
        found = {
            "attention": self.layers * (around + 2 * self.n * self.d * k) + self.square,
            "FFN": self.layers
            * (
                matrices * (self.top + self.shared) * self.n * self.d * self.hidden
                + self.n * self.d * self.experts
            ),
            "unembedding": self.n * self.d * self.words,
        }
        if self.encoder:
            crossed = self.layers * (around + 2 * self.n * self.m * q) + self.staying
            found["cross-attention"] = crossed
        return found

    @property
    def cached(self) -> int:
        """Numbers of keys and values for each token."""
        return self.layers * 2 * self.key_heads * self.d_k
