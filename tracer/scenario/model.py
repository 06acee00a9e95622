"""What a scenario can say. Every model is frozen; numbers are Decimals with the digits typed."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, LiteralString, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from tracer.scenario.carry import Carry
from tracer.scenario.rounding import Rounding, WholeNumber

LARGEST = Decimal(10) ** 12
MOST_DIGITS = 20
NUMBER_ERROR: Final = "number"

WRITTEN = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")
USUAL = re.compile(r"[-+]?[0-9]{1,10}(\.[0-9]{0,10})?")
"""A number that is within every limit, and plain, as it is written."""


def _no_number(message: LiteralString) -> PydanticCustomError:
    return PydanticCustomError(NUMBER_ERROR, message)


def _number(text: Any) -> Decimal:
    if not isinstance(text, str) or not WRITTEN.fullmatch(text):
        raise _no_number("expected a number")
    number = Decimal(text)
    if abs(number) > LARGEST:
        raise _no_number("expected a number of at most 10^12")
    if len(number.as_tuple().digits) > MOST_DIGITS or number.adjusted() < -MOST_DIGITS:
        raise _no_number("expected a number of at most 20 digits")
    # 1e3 is shown as 1000: no pencil writes an exponent where digits do.
    plain = Decimal(format(number, "f"))
    return plain or plain.copy_abs()


def _row(value: Any, one_by_one: ValidatorFunctionWrapHandler) -> tuple[Decimal, ...]:
    # Thousands of numbers are mostly of the usual form: those need no call each. A row that holds
    # anything else goes the slow way as a whole, which knows what is wrong and at which entry.
    if isinstance(value, list) and all(isinstance(n, str) and USUAL.fullmatch(n) for n in value):
        return tuple([number or number.copy_abs() for number in map(Decimal, value)])
    validated: tuple[Decimal, ...] = one_by_one(value)
    return validated


ActivationFunction: TypeAlias = Literal["relu"]
"""What may stand behind the FFN's hidden layer; `none` is not one."""


def _none(value: Any) -> Any:
    return None if value == "none" else value


def _kind_of_embeddings(value: Any) -> str:
    return BY_TOKEN if isinstance(value, dict) else BY_POSITION


BY_TOKEN, BY_POSITION = "(by token)", "(by position)"

Number = Annotated[Decimal, BeforeValidator(_number)]
Row: TypeAlias = Annotated[tuple[Number, ...], WrapValidator(_row)]
Matrix: TypeAlias = Annotated[tuple[Row, ...], Field(min_length=1)]
Names: TypeAlias = tuple[str, ...]


class Frozen(BaseModel):
    """No key that is not known, no change after reading."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Norm(Frozen):
    """LayerNorm (Ba et al. 2016): (x - μ) / √(σ² + ε) · γ + β.

    Behind the sub-layer and its residual (Vaswani et al. 2017), or in front of the sub-layer
    (Xiong et al. 2020).
    """

    placement: Literal["post", "pre"] = "post"
    epsilon: Annotated[Number, Field(ge=0)] = Decimal(0)
    gain: Row | None = None
    shift: Row | None = None


OptionalNorm = Annotated[Norm | None, BeforeValidator(_none)]


class SubLayer(Frozen):
    """What attention and the FFN share: a residual connection and a LayerNorm."""

    residual: bool = True
    norm: OptionalNorm = None


class HeadLabels(Frozen):
    """Names of the dimensions of one head."""

    query: Names | None = None
    key: Names | None = None
    value: Names | None = None


class Head(Frozen):
    """One attention head: W_Q and W_K of shape (d, d_k), W_V of shape (d, d_v)."""

    labels: HeadLabels = HeadLabels()
    W_Q: Matrix
    W_K: Matrix
    W_V: Matrix
    b_Q: Row | None = None
    b_K: Row | None = None
    b_V: Row | None = None


class Attention(SubLayer):
    """Masked multi-head attention; W_O has one row per dimension of the concatenated heads."""

    heads: Annotated[tuple[Head, ...], Field(min_length=1)]
    W_O: Matrix | None = None
    b_O: Row | None = None


class FFN(SubLayer):
    """The feed-forward network: W_1 of shape (d, d_ff), W_2 of shape (d_ff, d)."""

    labels: Names | None = None
    W_1: Matrix
    b_1: Row | None = None
    W_2: Matrix
    b_2: Row | None = None
    activation: Literal[ActivationFunction, "none"] = "relu"


class Layer(Frozen):
    """One decoder layer; `norm` holds for each sub-layer that does not have its own.

    In cross-attention W_K and W_V have one row per feature of the encoder's vectors.
    """

    attention: Attention | None = None
    cross_attention: Attention | None = None
    ffn: FFN | None = None
    norm: OptionalNorm = None

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

    start: Annotated[WholeNumber, Field(ge=0, le=1_000_000)] = 1


class Positions(Frozen):
    """Where the positions' vectors come from; a table has one row per token."""

    sinusoidal: Sinusoidal | None = None
    table: Matrix | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Positions:
        if (self.sinusoidal is None) == (self.table is None):
            raise ValueError("expected either sinusoidal or table")
        return self


class Encoder(Frozen):
    """What an encoder has made of its tokens: one vector each, of any width."""

    tokens: Annotated[Names, Field(min_length=1)]
    features: Names | None = None
    vectors: Matrix


def _kind_of_numbers(value: Any) -> str:
    nested = isinstance(value, list | tuple) and any(isinstance(row, list | tuple) for row in value)
    return ROWS if nested else ROW


ROWS, ROW = "(rows)", "(row)"
GivenNumbers = Annotated[
    Annotated[Row, Tag(ROW)] | Annotated[Matrix, Tag(ROWS)], Discriminator(_kind_of_numbers)
]


class Generation(Frozen):
    """How a text begins and ends when the decoder goes on by itself."""

    start: str | None = None
    end: str | None = None
    max_tokens: Annotated[WholeNumber, Field(ge=1, le=1000)] = 10


class Unembedding(Frozen):
    """The projection to the vocabulary: W_U of shape (d, words)."""

    W_U: Matrix
    b_U: Row | None = None


class Example(Frozen):
    """A training example: what is read, and the right next token at each position."""

    tokens: Annotated[Names, Field(min_length=1)]
    targets: Names
    given: dict[str, GivenNumbers] = {}


def _carries_nothing(arithmetic: str, info: ValidationInfo) -> str:
    """Floats are no pencil's numbers: what is rounded on the way is decimal."""
    rounding: Rounding = info.data.get("rounding", Rounding(carry=Carry.NEVER))
    if arithmetic == "float64" and rounding.carry is not Carry.NEVER:
        raise ValueError("float64 goes with `rounding: {carry: never}` only")
    return arithmetic


class Scenario(Frozen):
    """A decoder, its weights, the tokens it reads, and how its numbers are rounded."""

    title: Annotated[str, Field(min_length=1)]
    tokens: Annotated[Names, Field(min_length=1)]
    token_ids: tuple[WholeNumber, ...] | None = None
    features: Names | None = None
    embeddings: Annotated[
        Annotated[dict[str, Row], Tag(BY_TOKEN)] | Annotated[Matrix, Tag(BY_POSITION)],
        Discriminator(_kind_of_embeddings),
    ]
    positions: Annotated[Positions | None, BeforeValidator(_none)] = None
    encoder: Encoder | None = None
    padding: str | None = None
    layers: Annotated[tuple[Layer, ...], Field(min_length=1)]
    vocabulary: Names | None = None
    unembedding: Unembedding | None = None
    targets: Names | None = None
    batch: tuple[Names, ...] = ()
    training: tuple[Example, ...] = ()
    generation: Generation = Generation()
    given: dict[str, GivenNumbers] = {}
    rounding: Rounding = Rounding()
    arithmetic: Annotated[Literal["decimal", "float64"], AfterValidator(_carries_nothing)] = (
        "decimal"
    )

    def reading(
        self,
        tokens: Names,
        targets: Names | None = None,
        given: dict[str, GivenNumbers] | None = None,
    ) -> Scenario:
        """The same decoder with other tokens before it."""
        changed = {"tokens": tokens, "token_ids": None, "targets": targets}
        pinned = {**self.given, **(given or {})}
        return self.model_copy(update={**changed, "given": pinned})

    @property
    def embedding(self) -> Matrix:
        """The embeddings of the tokens, one row per position."""
        table = self.embeddings
        if isinstance(table, dict):
            return tuple(table[token] for token in self.tokens)
        return table
