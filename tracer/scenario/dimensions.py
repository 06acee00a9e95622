"""A scenario of which the dimensions are said instead of numbers, and a seed if it is to have some.

GPT-2 (Radford et al. 2019) is what it is where nothing else is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from hashlib import sha256
from itertools import count, islice
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tracer.errors import Problem, TracerError
from tracer.frozen import frozen
from tracer.scenario import fields, model
from tracer.scenario.blueprint import Blueprint, Lookup
from tracer.scenario.fields import Frozen, OrNone, WholeNumber, described
from tracer.scenario.layers import ActivationName
from tracer.scenario.parts import Sizes
from tracer.scenario.rounding import NOTHING_CARRIED, Rounding, never_carried
from tracer.scenario.shape_only import Blank, WithoutNumbers

MOST = 1_000_000
"""Of rows or columns: each has a label."""

Size = Annotated[WholeNumber, Field(ge=1, le=MOST)]


class EncoderDimensions(Frozen):
    """What cross-attention looks at: a vector for each of the encoder's tokens."""

    tokens: fields.Tokens = described("What the encoder has read.", "I like pizza")
    width: Size | None = described(
        "Numbers of each vector; as many as the decoder's if not given.", "512", None
    )


class Dimensions(Frozen):
    """The sizes of a decoder whose layers are built alike, and which parts it is made of."""

    layers: fields.Count = described("How many layers there are.", "12")
    width: Size = described("Numbers of each token's vector.", "768")
    heads: fields.Count = described("Heads of each attention.", "12")
    key_heads: fields.AtLeastOne | None = described(
        "Heads with keys and values of their own; all of them if not given.", "3", None
    )
    d_k: Size | None = described(
        "Numbers of each query, key and value; width / heads if not given.", "64", None
    )
    hidden: Size | None = described(
        "Units of the FFN; four times the width if not given.", "3072", None
    )
    words: Size = described("Words of the vocabulary.", "50257")
    context: Size | None = described("The most tokens that it reads.", "1024", None)
    positions: OrNone[Literal["learned", "sinusoidal", "rotary"]] = described(
        "A vector learned for each position of the context, waves, angles, or none.",
        "learned",
        "learned",
    )
    norm: OrNone[Literal["layer_norm", "rms_norm"]] = described(
        "LayerNorm, with γ and β; RMSNorm, with γ; or none.", "layer_norm", "layer_norm"
    )
    placement: Literal["post", "pre"] = described(
        "Behind each sub-layer and its residual (post), or in front of it (pre).", "pre", "pre"
    )
    final_norm: bool = described("Whether there is a norm behind the last layer.", "true", True)
    activation: ActivationName = described(
        "What is done to each hidden number.", "gelu_tanh", "gelu_tanh"
    )
    gated: bool = described("Whether the activation is a gate, which takes W_3.", "false", False)
    biases: bool = described("Whether there is a bias behind each matrix.", "true", True)
    tied: bool = described(
        "Whether the embeddings are the projection to the vocabulary, too.", "true", True
    )


class Seed(Frozen):
    """`{seed: 1}`: weights are drawn, biases are 0 and γ is 1, as before GPT-2's training."""

    seed: Annotated[WholeNumber, Field(ge=0)] = described("Another seed, other weights.", "1", 1)


class Dimensioned(Frozen):
    """A decoder by its dimensions, and what it reads."""

    title: fields.Text = described(
        "The heading of every text; the file's name if not given.", "A small one", "scenario"
    )
    intro: fields.Text | None = model.INTRO
    notes: dict[str, fields.Text] = model.NOTES
    summary: fields.Text | None = model.SUMMARY
    tokens: fields.Tokens | None = described(
        "What the decoder reads: a list, or a sentence to be split at its spaces; as many tokens "
        "as the context holds if not given.",
        "The quick brown fox",
        None,
    )
    dimensions: Dimensions = described(
        "The sizes of the decoder.", "{layers: 12, width: 768, heads: 12, words: 50257}"
    )
    encoder: EncoderDimensions | None = described(
        "What cross-attention looks at.", "{tokens: I like pizza}", None
    )
    random: Seed | None = described(
        "Draws the weights; without it only the shapes are known.", "{seed: 1}", None
    )
    generation: model.Generation = model.GENERATION
    rounding: Annotated[Rounding, never_carried("weights from a seed")] = NOTHING_CARRIED

    def misfits(self) -> Iterator[Problem]:
        """What of the sizes does not go together."""
        sizes, tokens, d_k = self.dimensions, self.tokens or (), _d_k(self.dimensions)

        def problem(name: str, message: str) -> Problem:
            return Problem(message, address=f"dimensions.{name}", yaml_path=("dimensions", name))

        if sizes.d_k is None and sizes.width % sizes.heads:
            expected = f"expected a divisor of {sizes.width}, the width, or d_k: 64"
            yield problem("heads", f"{sizes.heads}, {expected}")
        if sizes.key_heads and sizes.heads % sizes.key_heads:
            expected = f"expected a divisor of {sizes.heads}, the heads"
            yield problem("key_heads", f"{sizes.key_heads}, {expected}")
        if sizes.heads * d_k > MOST:
            numbers = f"{sizes.heads} of {d_k} numbers"
            yield problem("heads", f"{numbers}, expected at most {MOST} in all")
        if sizes.positions == "rotary" and d_k % 2:
            yield problem("positions", f"{d_k} numbers per query, expected pairs of them")
        if sizes.context is None and (sizes.positions == "learned" or not tokens):
            yield problem("context", "missing, expected context: 1024")
        if sizes.context and len(tokens) > sizes.context:
            message = f"{len(tokens)}, expected at most {sizes.context}, the context"
            yield Problem(message, address="tokens", yaml_path=("tokens",))
        if len(set(tokens)) > sizes.words:
            message = f"{sizes.words}, expected at least {len(set(tokens))}, one for each token"
            yield problem("words", message)


DEVIATION = 0.02
"""The standard deviation of the weights."""

TOGETHER = 64
"""So many rows are drawn at once: a few rows of a large table do not cost the whole of it."""

Floats = NDArray[np.float64]


@frozen
class Drawn:
    """A matrix whose numbers are drawn each time that they are asked for.

    The same seed at the same address gives the same. `stored` is its shape before it is turned.
    """

    seed: int
    address: str
    stored: tuple[int, int]
    transposed: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """(rows, columns)."""
        return self.stored[::-1] if self.transposed else self.stored

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | list[int]) -> Floats:
        """Some rows: (those asked for, columns)."""
        chosen = list(range(len(self))[rows]) if isinstance(rows, slice) else rows
        if self.transposed:
            return np.asarray(self)[chosen]
        blocks = {number: self._block(number) for number in {row // TOGETHER for row in chosen}}
        found = [blocks[row // TOGETHER][row % TOGETHER] for row in chosen]
        return np.array(found).reshape(-1, self.stored[1])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        blocks = range((self.stored[0] + TOGETHER - 1) // TOGETHER)
        found = np.concatenate([self._block(number) for number in blocks])
        return (found.T if self.transposed else found).astype(dtype or float, copy=False)

    def _block(self, number: int) -> Floats:
        rows = min(TOGETHER, self.stored[0] - number * TOGETHER)
        digest = sha256(f"{self.seed} {self.address} {number}".encode()).digest()
        # Of NumPy's generators this one is promised to give the same numbers in every version.
        drawn = np.random.RandomState(np.frombuffer(digest, "<u4").astype(np.uint32))
        return drawn.normal(0, DEVIATION, (rows, self.stored[1]))


class FromSeed(model.Scenario):
    """A scenario whose numbers are drawn where somebody looks at them."""

    on_demand: ClassVar[bool] = True

    @property
    def embedding(self) -> Any:
        """The embeddings of the tokens, one row per position."""
        table: Any = self.embeddings  # a Lookup
        return table.rows[[table.ids[token] for token in self.tokens]]


def from_dimensions(asked: Dimensioned) -> model.Scenario:
    """The scenario that dimensions and tokens make; with numbers if there is a seed.

    Raises:
        TracerError: what of the sizes does not go together.
    """
    if problems := list(asked.misfits()):
        raise TracerError(*problems)
    sizes, made = asked.dimensions, _Made(asked)
    numbered = tuple(f"t{1 + place % sizes.words}" for place in range(sizes.context or 1))
    tokens = asked.tokens or numbered
    known = dict.fromkeys(tokens)
    others = (word for n in count(len(known) + 1) if (word := f"w{n}") not in known)
    words = (*known, *islice(others, sizes.words - len(known)))
    table = made.matrix("embeddings", sizes.words, sizes.width)
    blueprint = Blueprint(
        made.parameter,
        sizes.heads,
        sizes.key_heads or sizes.heads,
        sizes.activation,
        sizes.norm and {"kind": sizes.norm, "epsilon": Decimal("0.00001")},
        sizes.placement,
    )
    crossed = asked.encoder is not None
    layers = (
        tuple(blueprint.layer(f"layer{n}", crossed=crossed) for n in range(1, sizes.layers + 1))
        if asked.random
        else (blueprint.layer("layer", crossed=crossed),) * sizes.layers  # one and the same
    )
    turned = made.matrix("embeddings", sizes.words, sizes.width, transposed=True)
    said: dict[str, Any] = {
        "title": asked.title,
        "intro": asked.intro,
        "notes": asked.notes,
        "summary": asked.summary,
        "tokens": tokens,
        "positions": made.positions(),
        "encoder": made.encoder(),
        "softmax": "shifted",
        "layers": layers,
        "final_norm": blueprint.final_norm() if sizes.final_norm else None,
        "vocabulary": words,
        "unembedding": (
            model.Tied.model_construct(W_U=turned)
            if sizes.tied
            else blueprint.made(model.Unembedding, "unembedding")
        ),
        "generation": asked.generation,
        "rounding": asked.rounding,
        "arithmetic": "float64",
    }
    if asked.random:
        return FromSeed.model_construct(embeddings=Lookup(words, table), **said)
    mask = Blank((len(tokens), len(tokens)))
    return WithoutNumbers.model_construct(embeddings=table, mask=mask, **said)


@frozen
class _Made:
    """The parameters of a decoder: with numbers, if there is a seed, or with shapes alone."""

    asked: Dimensioned

    def matrix(self, address: str, rows: int, columns: int, *, transposed: bool = False) -> Any:
        """Weights; `transposed` ones are the same as rows of columns."""
        if seed := self.asked.random:
            return Drawn(seed.seed, address, (rows, columns), transposed)
        return Blank((columns, rows) if transposed else (rows, columns))

    def parameter(self, address: str, sizes: Sizes) -> Any:
        """Weights are drawn, biases and β are 0 and γ is 1; None is one that is not there."""
        asked, name = self.asked.dimensions, address.rpartition(".")[2]
        crossed = ".cross_attention." in address and self.asked.encoder
        d_k = _d_k(asked)
        length = {
            **{"width": asked.width, "out": asked.width, "words": asked.words},
            **{"d_k": d_k, "d_v": d_k, "concat": asked.heads * d_k},
            "hidden": asked.hidden or 4 * asked.width,
            "source": (crossed and crossed.width) or asked.width,
        }
        left_out = (
            (name in ("W_3", "b_3") and not asked.gated)
            or (name.startswith("b_") and not asked.biases)
            or (name == "shift" and asked.norm == "rms_norm")
        )
        if left_out:
            return None
        if len(sizes) == 2:
            return self.matrix(address, length[sizes[0]], length[sizes[1]])
        row = length[sizes[0]]
        return np.full(row, float(name == "gain")) if self.asked.random else Blank((row,))

    def positions(self) -> model.Positions | None:
        sizes = self.asked.dimensions
        match sizes.positions:
            case "learned":
                table = self.matrix("positions", sizes.context or 1, sizes.width)
                return model.Positions.model_construct(table=table)
            case "sinusoidal":
                return model.Positions(sinusoidal=model.Sinusoidal(start=0))
            case "rotary":
                return model.Positions(rotary=model.Rotary())
            case None:
                return None

    def encoder(self) -> model.Encoder | None:
        asked = self.asked.encoder
        if asked is None:
            return None
        width = asked.width or self.asked.dimensions.width
        vectors = self.matrix("encoder.vectors", len(asked.tokens), width)
        numbers = np.asarray(vectors) if self.asked.random else vectors
        return model.Encoder.model_construct(tokens=asked.tokens, vectors=numbers)


def _d_k(sizes: Dimensions) -> int:
    return sizes.d_k or sizes.width // sizes.heads
