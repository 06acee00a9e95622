"""What a scenario can say. Every model is frozen; numbers are Decimals with the digits typed.

The first example of a key is shown where something else stands.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from tracer.scenario.carry import Carry
from tracer.scenario.fields import (
    Embeddings,
    Frozen,
    Matrix,
    Names,
    Number,
    OrWord,
    Pinned,
    Row,
    Rows,
    WholeNumber,
    Word,
    Words,
    described,
    none,
)
from tracer.scenario.rounding import Rounding

ActivationFunction: TypeAlias = Literal["relu"]
"""What may stand behind the FFN's hidden layer; `none` is not one."""

NO_TARGET = "none"
"""In place of a target, where a position has none; unless it is a word of the vocabulary."""


class Norm(Frozen):
    """LayerNorm (Ba et al. 2016): (x - μ) / √(σ² + ε) · γ + β.

    Behind the sub-layer and its residual (Vaswani et al. 2017), or in front of the sub-layer
    (Xiong et al. 2020).
    """

    placement: Literal["post", "pre"] = described(
        "Behind the sub-layer and its residual (post), or in front of the sub-layer (pre).",
        "post",
        "post",
    )
    epsilon: Annotated[Number, Field(ge=0)] = described(
        "ε, added to the variance under the root.", "0.00001", Decimal(0)
    )
    gain: Row | None = described("γ, one number per feature; 1 if not given.", "[1, 1]", None)
    shift: Row | None = described("β, one number per feature; 0 if not given.", "[0, 0]", None)


OptionalNorm = Annotated[Norm | None, BeforeValidator(none), OrWord("none")]


class SubLayer(Frozen):
    """What attention and the FFN share: a residual connection and a LayerNorm."""

    residual: bool = described(
        "Whether the sub-layer's input is added to its output.", "true", True
    )
    norm: OptionalNorm = described(
        "LayerNorm of this sub-layer, or none; the layer's if not given.",
        "{epsilon: 0.00001}",
        None,
    )


class HeadLabels(Frozen):
    """Names of the dimensions of one head."""

    query: Names | None = described("A name for each column of W_Q.", "[asks-size, asks-age]", None)
    key: Names | None = described("A name for each column of W_K.", "[has-size, has-age]", None)
    value: Names | None = described("A name for each column of W_V.", "[size, age]", None)


class Head(Frozen):
    """One attention head: W_Q and W_K of shape (d, d_k), W_V of shape (d, d_v)."""

    labels: HeadLabels = described("Names for the columns.", "{query: [size, age]}", HeadLabels())
    W_Q: Matrix = described("Query weights: one row per feature, d_k columns.", "[[1, 0], [0, 1]]")
    W_K: Matrix = described("Key weights: one row per feature, d_k columns.", "[[1, 0], [0, 1]]")
    W_V: Matrix = described("Value weights: one row per feature, d_v columns.", "[[1, 0], [0, 1]]")
    b_Q: Row | None = described("Query bias, one number per column of W_Q.", "[0, 0]", None)
    b_K: Row | None = described("Key bias, one number per column of W_K.", "[0, 0]", None)
    b_V: Row | None = described("Value bias, one number per column of W_V.", "[0, 0]", None)


class Attention(SubLayer):
    """Masked multi-head attention; W_O has one row per dimension of the concatenated heads."""

    heads: Annotated[tuple[Head, ...], Field(min_length=1)] = described(
        "The attention heads; their widths may differ.",
        "[{W_Q: [[1], [0]], W_K: [[1], [0]], W_V: [[1, 0], [0, 1]]}]",
    )
    W_O: Matrix | None = described(
        "Output weights: one row per dimension of the concatenated heads.",
        "[[1, 0], [0, 1]]",
        None,
    )
    b_O: Row | None = described("Output bias, one number per column of W_O.", "[0, 0]", None)


class FFN(SubLayer):
    """The feed-forward network: W_1 of shape (d, d_ff), W_2 of shape (d_ff, d)."""

    labels: Names | None = described("A name for each hidden unit.", "[unit-1, unit-2]", None)
    W_1: Matrix = described("Weights of the hidden layer: a row per feature.", "[[1, -1], [0, 1]]")
    b_1: Row | None = described("Bias of the hidden layer, one number per unit.", "[0, 0]", None)
    W_2: Matrix = described("Weights of the output: one row per hidden unit.", "[[1, 0], [0, 1]]")
    b_2: Row | None = described("Bias of the output, one number per column of W_2.", "[0, 0]", None)
    activation: Literal[ActivationFunction, "none"] = described(
        "What is done to each hidden number.", "relu", "relu"
    )


class Layer(Frozen):
    """One decoder layer; `norm` holds for each sub-layer that does not have its own.

    In cross-attention W_K and W_V have one row per feature of the encoder's vectors.
    """

    attention: Attention | None = described(
        "Masked self-attention.", "{heads: [{W_Q: …, W_K: …, W_V: …}]}", None
    )
    cross_attention: Attention | None = described(
        "Attention to the encoder: W_K and W_V have one row per feature of its vectors.",
        "{heads: [{W_Q: …, W_K: …, W_V: …}]}",
        None,
    )
    ffn: FFN | None = described("The feed-forward network.", "{W_1: …, W_2: …}", None)
    norm: OptionalNorm = described(
        "LayerNorm of every sub-layer without one of its own, or none.",
        "{epsilon: 0.00001}",
        None,
    )

    @model_validator(mode="after")
    def _not_empty(self) -> Layer:
        if not (self.attention or self.cross_attention or self.ffn):
            raise ValueError("expected attention, cross_attention or ffn")
        return self

    def norm_of(self, sub_layer: SubLayer) -> Norm | None:
        """The LayerNorm of a sub-layer: its own (`none` is one too), else the layer's."""
        return sub_layer.norm if "norm" in sub_layer.model_fields_set else self.norm


class Sinusoidal(Frozen):
    """The encoding of Vaswani et al. 2017; `start` is the position of the first token."""

    start: Annotated[WholeNumber, Field(ge=0, le=1_000_000)] = described(
        "The position of the first token.", "1", 1
    )


class Positions(Frozen):
    """Where the positions' vectors come from; a table has one row per token."""

    sinusoidal: Sinusoidal | None = described(
        "Sines and cosines (Vaswani et al. 2017).", "{start: 1}", None
    )
    table: Rows | None = described("One row per position.", "[[0, 1], [1, 0]]", None)

    @model_validator(mode="after")
    def _one_of_both(self) -> Positions:
        if (self.sinusoidal is None) == (self.table is None):
            raise ValueError("expected either sinusoidal or table")
        return self


class Encoder(Frozen):
    """What an encoder has made of its tokens: one vector each, of any width."""

    tokens: Annotated[Words, Field(min_length=1)] = described(
        "What the encoder has read.", "[I, like]"
    )
    features: Names | None = described(
        "A name for each column of the vectors.", "[size, age]", None
    )
    vectors: Rows = described("One row per token of the encoder.", "[[0.1, 0.2], [0.3, 0.4]]")


class Generation(Frozen):
    """How a text begins and ends when the decoder goes on by itself."""

    start: Word | None = described(
        "The token to begin with; the first if not given.", "<START>", None
    )
    end: Word | None = described("The word that ends the text.", "<END>", None)
    max_tokens: Annotated[WholeNumber, Field(ge=1, le=1000)] = described(
        "The most words to add.", "10", 10
    )


class Unembedding(Frozen):
    """The projection to the vocabulary: W_U of shape (d, words)."""

    W_U: Matrix = described("One row per feature, one column per word.", "[[1, 0], [0, 1]]")
    b_U: Row | None = described("Bias, one number per word.", "[0, 0]", None)


def _tied(value: Any) -> Any:
    """`tied` is written out before; where it could not be, why is told elsewhere."""
    return None if value == "tied" else value


class Example(Frozen):
    """A training example: what is read, and the right next token at each position."""

    tokens: Annotated[Words, Field(min_length=1)] = described("What is read.", "[the, cat]")
    targets: Words = described("The right next word at each position, or none.", "[cat, sat]")
    given: dict[str, Pinned] = described("Values pinned in this example only.", "{mask: [[0]]}", {})


def _carries_nothing(arithmetic: str, info: ValidationInfo) -> str:
    """Floats are no pencil's numbers: what is rounded on the way is decimal."""
    rounding: Rounding = info.data.get("rounding", Rounding(carry=Carry.NEVER))
    if arithmetic == "float64" and rounding.carry is not Carry.NEVER:
        raise ValueError("float64 goes with `rounding: {carry: never}` only")
    return arithmetic


class Scenario(Frozen):
    """A decoder, its weights, the tokens it reads, and how its numbers are rounded."""

    title: Annotated[str, Field(min_length=1)] = described(
        "The heading of every text; the file's name if not given.", "Two words", "scenario"
    )
    tokens: Annotated[Words, Field(min_length=1)] = described(
        "What the decoder reads: a list, or a sentence to be split at its spaces; the first "
        "sequence of the batch if not given.",
        "[big, cat]",
    )
    token_ids: tuple[WholeNumber, ...] | None = described(
        "The number of each token.", "[7, 42]", None
    )
    features: Names | None = described(
        "A name for each column of the embedding.", "[size, age]", None
    )
    embeddings: Embeddings = described(
        "A row of numbers for each word, or for each position.",
        "{big: [0.9, 0.1], cat: [0.4, 0.8]}",
    )
    positions: Annotated[Positions | None, BeforeValidator(none), OrWord("none")] = described(
        "Vectors added to the embeddings, or none.", "{sinusoidal: {start: 1}}", None
    )
    encoder: Encoder | None = described(
        "What cross-attention looks at.", "{tokens: [I, like], vectors: [[0.1], [0.2]]}", None
    )
    padding: Word | None = described("The token that no token looks at.", "<PAD>", None)
    layers: tuple[Layer, ...] = described(
        "The decoder's layers, the first one first.",
        "[{attention: {heads: […]}, ffn: {W_1: …, W_2: …}}]",
        (),
    )
    vocabulary: Words | None = described("The words to choose from.", "[sat, ran]", None)
    unembedding: Annotated[Unembedding | None, BeforeValidator(_tied), OrWord("tied")] = described(
        "The projection to the vocabulary, or tied: the embeddings of its words.",
        "{W_U: [[1, 0], [0, 1]]}",
        None,
    )
    targets: Words | None = described(
        "The right next word at each position, or none; the tokens shifted by one if not given.",
        "[cat, none]",
        None,
    )
    batch: tuple[Words, ...] = described(
        "Sequences of equal length, to be chosen by --sequence.", "[[a, b], [b, a]]", ()
    )
    training: tuple[Example, ...] = described(
        "Examples for the loss, in place of the tokens above.",
        "[{tokens: [the, cat], targets: [cat, sat]}]",
        (),
    )
    generation: Generation = described(
        "How a generated text begins and ends.", "{start: <START>, end: <END>}", Generation()
    )
    given: dict[str, Pinned] = described(
        "Numbers in place of what is computed, by address: a single one, a row or rows.",
        "{layer1.attention.output: [[1, 2], [3, 4]]}",
        {},
    )
    rounding: Rounding = described(
        "How many digits are shown and carried on.", "{decimals: 3, carry: step}", Rounding()
    )
    arithmetic: Annotated[Literal["decimal", "float64"], AfterValidator(_carries_nothing)] = (
        described("What is computed with; float64 goes with carry: never.", "decimal", "decimal")
    )

    def reading(
        self,
        tokens: Names,
        targets: Names | None = None,
        given: dict[str, Pinned] | None = None,
    ) -> Scenario:
        """The same decoder with other tokens before it."""
        changed = {"tokens": tokens, "token_ids": None, "targets": targets}
        pinned = {**self.given, **(given or {})}
        return self.model_copy(update={**changed, "given": pinned})

    def reading_example(self, example: Example) -> Scenario:
        """The same decoder with a training example before it."""
        return self.reading(example.tokens, example.targets, example.given)

    @property
    def embedding(self) -> Matrix:
        """The embeddings of the tokens, one row per position."""
        table = self.embeddings
        if isinstance(table, dict):
            return tuple(table[token] for token in self.tokens)
        return table
