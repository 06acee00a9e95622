"""A scenario described by dimensions instead of numbers, with a seed for random weights.

The defaults are those of GPT-2 (Radford et al. 2019).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from itertools import count, islice
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, GetPydanticSchema
from pydantic_core.core_schema import literal_schema

from tracer.errors import Problem, TracerError
from tracer.scenario import fields, model
from tracer.scenario.blueprint import Lookup, ReadsRows, ffn, heads
from tracer.scenario.fields import Frozen, OrNone, WholeNumber, described
from tracer.scenario.layers import Attention, Layer
from tracer.scenario.networks import FunctionName
from tracer.scenario.norms import Norm, Normalization
from tracer.scenario.part import forms_of_ffn, scenario_parts, with_keys_of_parts
from tracer.scenario.parts import AnyPart, Numbers, with_numbers
from tracer.scenario.rounding import NOTHING_CARRIED, Rounding, never_carried
from tracer.scenario.shape_only import ShapeOnlyArray, WithoutNumbers

MOST = 1_000_000
"""The most rows or columns: each has a label."""

Size = Annotated[WholeNumber, Field(ge=1, le=MOST)]

POSITIONS_OF_PARTS = {
    name: own for part in scenario_parts() for name, own in part.positions.items()
}

PositionsName: TypeAlias = Annotated[
    str,
    GetPydanticSchema(
        lambda source, handler: literal_schema(["learned", "sinusoidal", *POSITIONS_OF_PARTS])
    ),
]
"""Learned position vectors, or another way to encode positions."""


class EncoderDimensions(Frozen):
    """The encoder of cross-attention: a vector for each of its tokens."""

    tokens: fields.Tokens = described("The encoder's tokens.", "I like pizza")
    width: Size | None = described(
        "The width of each vector. Default: the decoder's width.", "512", None
    )


@with_keys_of_parts
class LayerDimensions(Frozen):
    """The number of layers, and the sizes of one."""

    layers: fields.Count = described("The number of layers.", "12")
    width: Size = described("The width of each token's vector, d_model.", "768")
    heads: fields.Count = described("The number of attention heads.", "12")
    key_heads: fields.AtLeastOne | None = described(
        "The number of heads with their own keys and values. Default: all heads.", "3", None
    )
    d_k: Size | None = described(
        "The width of each query, key and value. Default: width / heads.", "64", None
    )
    hidden: Size | None = described(
        "The number of hidden units of the FFN. Default: four times the width.", "3072", None
    )


class Dimensions(LayerDimensions):
    """The sizes of a decoder whose layers have the same structure, and its parts."""

    words: Size = described("The size of the vocabulary.", "50257")
    context: Size | None = described(
        "The largest number of tokens that the model can read.", "1024", None
    )
    positions: OrNone[PositionsName] = described(
        "How the model encodes positions, or none.", "learned", "learned"
    )
    norm: OrNone[Literal["layer_norm", "rms_norm"]] = described(
        "LayerNorm, with γ and β; RMSNorm, with γ; or none.", "layer_norm", "layer_norm"
    )
    placement: Literal["post", "pre"] = described(
        "After each sub-layer and its residual connection (post), or before the sub-layer (pre).",
        "pre",
        "pre",
    )
    final_norm: bool = described("Whether there is a norm after the last layer.", "true", True)
    activation: FunctionName = described("The activation function.", "gelu_tanh", "gelu_tanh")
    gated: bool = described("Whether the activation gates the values of W_3.", "false", False)
    biases: bool = described("Whether each matrix has a bias.", "true", True)
    tied: bool = described(
        "Whether the embeddings are also the projection to the vocabulary.", "true", True
    )


class Seed(Frozen):
    """`{seed: 1}`: weights are random, biases are 0 and γ is 1, as before GPT-2's training."""

    seed: Annotated[WholeNumber, Field(ge=0)] = described(
        "The seed; each seed gives other weights.", "1", 1
    )


class Dimensioned(Frozen):
    """A decoder by its dimensions, and what it reads."""

    title: fields.Text = described(
        "The heading of every text. Default: the name of the file.", "A small one", "scenario"
    )
    intro: fields.Text | None = model.INTRO
    notes: dict[str, fields.Text] = model.NOTES
    summary: fields.Text | None = model.SUMMARY
    tokens: fields.Tokens | None = described(
        "The tokens to read: a list, or a sentence that is split at its spaces. Default: as many "
        "tokens as the context holds.",
        "The quick brown fox",
        None,
    )
    dimensions: Dimensions = described(
        "The sizes of the decoder.", "{layers: 12, width: 768, heads: 12, words: 50257}"
    )
    encoder: EncoderDimensions | None = described(
        "The encoder that cross-attention attends to.", "{tokens: I like pizza}", None
    )
    random: Seed | None = described(
        "How to draw the weights; without it, only shapes are computed.", "{seed: 1}", None
    )
    generation: model.Generation = model.GENERATION
    rounding: Annotated[Rounding, never_carried("weights from a seed")] = NOTHING_CARRIED

    def misfits(self) -> Iterator[Problem]:
        """Yield a problem for each size that contradicts another."""
        sizes, tokens, d_k = self.dimensions, self.tokens or (), _d_k(self.dimensions)

        def problem(name: str, message: str) -> Problem:
            return Problem(message, address=f"dimensions.{name}", yaml_path=("dimensions", name))

        if sizes.d_k is None and sizes.width % sizes.heads:
            expected = f"expected a divisor of {sizes.width}, the width, or d_k: 64"
            yield problem("heads", f"{sizes.heads}, {expected}")
        if sizes.key_heads and sizes.heads % sizes.key_heads:
            expected = f"expected a divisor of {sizes.heads}, the heads"
            yield problem("key_heads", f"{sizes.key_heads}, {expected}")
        for form in forms_of_ffn():
            for name, message in form.misfits(sizes):
                yield problem(name, message)
        if sizes.heads * d_k > MOST:
            numbers = f"{sizes.heads} of {d_k} numbers"
            yield problem("heads", f"{numbers}, expected at most {MOST} in all")
        of_part = POSITIONS_OF_PARTS.get(sizes.positions or "")
        if of_part and of_part.of_pairs and d_k % 2:
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
"""The number of rows drawn at once, so that a few rows do not cost the whole table."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Drawn:
    """A matrix whose numbers are drawn on each access.

    The same seed and address give the same numbers. `stored` is the shape before transposition.
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
        """Return some rows: (chosen rows, columns)."""
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
        # NumPy guarantees the same numbers in every version only for this generator.
        drawn = np.random.RandomState(np.frombuffer(digest, "<u4").astype(np.uint32))
        return drawn.normal(0, DEVIATION, (rows, self.stored[1]))


class FromSeed(ReadsRows, model.Scenario):
    """A scenario whose numbers are drawn on access."""

    on_demand: ClassVar[bool] = True


def from_dimensions(asked: Dimensioned) -> model.Scenario:
    """Return the scenario of some dimensions and tokens; with numbers if there is a seed.

    Raises:
        TracerError: sizes contradict each other.
    """
    if problems := list(asked.misfits()):
        raise TracerError(*problems)
    sizes, numbers = asked.dimensions, _Numbers(asked)
    numbered = tuple(f"t{1 + place % sizes.words}" for place in range(sizes.context or 1))
    tokens = asked.tokens or numbered
    known = dict.fromkeys(tokens)
    others = (word for n in count(len(known) + 1) if (word := f"w{n}") not in known)
    words = (*known, *islice(others, sizes.words - len(known)))
    table = numbers.matrix("embeddings", sizes.words, sizes.width)
    turned = numbers.matrix("embeddings", sizes.words, sizes.width, transposed=True)
    said: dict[str, Any] = {
        **dict(asked),
        "tokens": tokens,
        "positions": numbers.positions(),
        "encoder": numbers.encoder(),
        "softmax": "shifted",
        "layers": numbers.layers(),
        "final_norm": None,
        "vocabulary": words,
        "unembedding": (
            model.Tied.model_construct(W_U=turned)
            if sizes.tied
            else numbers.fill(model.Unembedding.model_construct(), "unembedding")
        ),
        "arithmetic": "float64",
    }
    if sizes.final_norm and (norm := _norm(sizes)):
        said["final_norm"] = numbers.fill(Normalization.model_construct(**norm), "final_norm")
    if asked.random:
        return FromSeed.model_construct(embeddings=Lookup(words, table), **said)
    mask = ShapeOnlyArray((len(tokens), len(tokens)))
    return WithoutNumbers.model_construct(embeddings=table, mask=mask, **said)


@dataclass(frozen=True)
class _Numbers:
    """The parameters of a decoder: with numbers if there is a seed, else only their shapes."""

    asked: Dimensioned

    def matrix(self, address: str, rows: int, columns: int, *, transposed: bool = False) -> Any:
        """Return weights; `transposed` ones are stored with a row for each output."""
        if seed := self.asked.random:
            return Drawn(seed.seed, address, (rows, columns), transposed)
        return ShapeOnlyArray((columns, rows) if transposed else (rows, columns))

    def fill(self, part: AnyPart, *place: str | int) -> AnyPart:
        """Return a part with random weights, biases and β of 0, γ of 1."""
        return with_numbers(part, self._parameter, place)

    def _parameter(self, numbers: Numbers) -> Any:
        """Return a parameter; None if the decoder has none at this place."""
        asked, name = self.asked.dimensions, str(numbers.place[-1])
        sizes = numbers.declared.sizes
        crossed = "cross_attention" in numbers.place and self.asked.encoder
        d_k = _d_k(asked)
        length = {
            **dict(asked),  # a part names its sizes as the keys that say them
            **{"width": asked.width, "out": asked.width, "words": asked.words},
            **{"d_k": d_k, "d_v": d_k, "concat": asked.heads * d_k},
            "hidden": asked.hidden or 4 * asked.width,
            "source": (crossed and crossed.width) or asked.width,
        }
        left_out = (
            (name in ("W_3", "b_3") and not asked.gated)
            or (name.startswith("b_") and not asked.biases)
            or (name == "shift" and asked.norm == "rms_norm")
            or not length.keys() >= {*sizes}
        )
        if left_out:
            return None
        if len(sizes) == 2:
            return self.matrix(numbers.address, length[sizes[0]], length[sizes[1]])
        row = length[sizes[0]]
        return np.full(row, float(name == "gain")) if self.asked.random else ShapeOnlyArray((row,))

    def layers(self) -> tuple[Layer, ...]:
        sizes, norm = self.asked.dimensions, _norm(self.asked.dimensions)
        around: dict[str, Any] = {
            "norm": norm and Norm.model_construct(**norm, placement=sizes.placement)
        }
        attention = Attention.model_construct(
            heads=heads(sizes.heads, sizes.key_heads or sizes.heads), **around
        )
        layer = Layer.model_construct(
            attention=attention,
            cross_attention=attention if self.asked.encoder else None,
            ffn=ffn(sizes, around, (form.by_dimensions for form in forms_of_ffn()), {}),
        )
        if not self.asked.random:
            return (self.fill(layer, "layers", 0),) * sizes.layers  # one and the same
        return tuple(self.fill(layer, "layers", number) for number in range(sizes.layers))

    def positions(self) -> model.Positions | None:
        sizes = self.asked.dimensions
        match sizes.positions:
            case "learned":
                table = self.matrix("positions", sizes.context or 1, sizes.width)
                return model.Positions.model_construct(table=table)
            case "sinusoidal":
                return model.Positions(sinusoidal=model.Sinusoidal(start=0))
            case None:
                return None
            case name:
                return model.Positions(**POSITIONS_OF_PARTS[name].keys)

    def encoder(self) -> model.Encoder | None:
        asked = self.asked.encoder
        if asked is None:
            return None
        width = asked.width or self.asked.dimensions.width
        vectors = self.matrix("encoder.vectors", len(asked.tokens), width)
        numbers = np.asarray(vectors) if self.asked.random else vectors
        return model.Encoder.model_construct(tokens=asked.tokens, vectors=numbers)


def _norm(sizes: Dimensions) -> dict[str, Any] | None:
    """Return the settings of every norm."""
    return {"kind": sizes.norm, "epsilon": Decimal("0.00001")} if sizes.norm else None


def _d_k(sizes: Dimensions) -> int:
    return sizes.d_k or sizes.width // sizes.heads
