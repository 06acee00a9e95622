"""The types of a scenario's keys: numbers with the typed digits, rows, matrices, words."""

import re
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, LiteralString, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, TypeAdapter
from pydantic_core import CoreSchema, PydanticCustomError, core_schema as core

LARGEST = Decimal(10) ** 12
SMALLEST = Decimal(10) ** -40
MOST_DIGITS = 20
OWN_MESSAGE: Final = "own message"
"""The type of pydantic errors whose message is ours; only the received value is added."""

WRITTEN = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")
USUAL = re.compile(r"[-+]?[0-9]{1,10}(\.[0-9]{0,10})?")
"""A plain number that is within every limit as it is written."""

DEFINED: Final = "defined"

MINUS_INFINITY = Decimal("-Infinity")
HIDDEN = ("-inf", "-.inf", "-∞")
"""The ways to type -∞, which only a mask can contain."""


def described(description: str, example: str, default: Any = ...) -> Any:
    """Declare a key of a scenario with its description, an example and a default."""
    return Field(default, description=description, examples=[example])


@dataclass(frozen=True)
class Shape:
    """Declares a key that holds rows of numbers: `Annotated[Matrix, Shape(("width", "d_k"))]`.

    By it, the shape is checked and the numbers are drawn, read, varied, replaced and counted.
    """

    sizes: tuple[str, ...]
    """The names of the sizes: rows and columns, or the entries of a row."""
    labels: tuple[str, ...] = ()
    """The key of the columns' names, in the same part."""
    unless: str | None = None
    """The key that takes the place of these numbers, in the same part."""
    learned: bool = True
    """Whether training updates the numbers."""
    frozen: bool = False
    """Whether they are parameters that training leaves as they are."""


SINGLE = ("one",)
"""The sizes of a single number."""


def shape_of(numbers: Any) -> tuple[int, ...]:
    """Return (rows, columns) or (entries,) of typed numbers, of a table by word or of an array."""
    if isinstance(numbers, Mapping):
        table = getattr(numbers, "rows", None)
        return table.shape if table is not None else shape_of(tuple(numbers.values()))
    if hasattr(numbers, "shape"):
        return tuple(numbers.shape)
    first = numbers[0]
    return (len(numbers), len(first)) if isinstance(first, tuple) else (len(numbers),)


def _expected(message: LiteralString) -> PydanticCustomError:
    return PydanticCustomError(OWN_MESSAGE, message)


def _number(text: Any) -> Decimal:
    if not isinstance(text, str) or not WRITTEN.fullmatch(text):
        raise _expected("expected a number")
    number = Decimal(text)
    if abs(number) > LARGEST:
        raise _expected("expected a number of at most 10^12")
    if len(number.as_tuple().digits) > MOST_DIGITS:
        raise _expected("expected a number of at most 20 digits")
    if number and abs(number) < SMALLEST:
        raise _expected("expected a number of at least 10^-40, or 0")
    # 1e3 is printed as 1000.
    plain = Decimal(format(number, "f"))
    return plain or plain.copy_abs()


def _pinned_number(text: Any) -> Decimal:
    if not isinstance(text, str):
        raise _expected("expected a number, a row of numbers, or rows")
    return MINUS_INFINITY if text in HIDDEN else _number(text)


def _row(value: Any, one_by_one: Callable[[Any], tuple[Decimal, ...]]) -> tuple[Decimal, ...]:
    # Most numbers have the usual form, which needs no call for each. A row with any other number
    # is validated entry by entry, to report what is wrong and where.
    if isinstance(value, list) and all(isinstance(n, str) and USUAL.fullmatch(n) for n in value):
        return tuple([number or number.copy_abs() for number in map(Decimal, value)])
    return one_by_one(value)


def _matrix(
    value: Any, rows: Callable[[Any], tuple[tuple[Decimal, ...], ...]]
) -> tuple[tuple[Decimal, ...], ...]:
    """Return the rows; none for a short form that could not be expanded."""
    match value:
        case "identity":
            return ()
        case {"random": _}:
            TypeAdapter(RandomWeights).validate_python(value)
            return ()
        case {"transposed": _}:
            columns = TypeAdapter(Transposed).validate_python(value).transposed
            return tuple(zip(*columns, strict=False))
        case list():
            return rows(value)
        case _:
            raise _expected("expected a list of rows, identity, {random: …} or {transposed: …}")


def _split(value: Any) -> Any:
    return value.split() if isinstance(value, str) else value


def _one_or_more(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def pair_of(value: Any) -> tuple[str, str] | None:
    """Return the two symbols of a merge: [l, o], or `l o` if neither contains a space."""
    match value.split(" ") if isinstance(value, str) else value:
        case [str() as left, str() as right] if left and right:
            return left, right
        case _:
            return None


def _pair(value: Any) -> tuple[str, str]:
    if pair := pair_of(value):
        return pair
    raise _expected("expected two symbols that are joined, such as [l, o]")


def _whole(value: Any) -> Any:
    """Read a whole number of digits and a sign; Python would accept other forms as well."""
    if isinstance(value, str) and not re.fullmatch(r"[-+]?[0-9]{1,18}", value):
        raise PydanticCustomError("int_parsing", "expected a whole number")
    return value


@dataclass(frozen=True)
class Or:
    """An alternative to a mapping, for the JSON schema."""

    schema: dict[str, Any]

    def __get_pydantic_json_schema__(self, core: Any, schema_of: Any) -> dict[str, Any]:
        return {"anyOf": [schema_of(core), self.schema]}


def _none(value: Any) -> Any:
    return None if value == "none" else value


Form = TypeVar("Form")
OrNone: TypeAlias = Annotated[Form | None, BeforeValidator(_none), Or({"const": "none"})]
"""A value, or the word `none`."""


class Parsed:
    """How pydantic validates an annotated type. Its JSON schema is in `tracer.scenario.schema`.

    Without it, pydantic would derive the same validator again for each key of this type.
    """

    def __init__(self, name: str, validator: CoreSchema) -> None:
        self.name, self.validator = name, validator

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return copy(self.validator)  # pydantic stores notes about the key in it

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return {DEFINED: self.name}


class Frozen(BaseModel):
    """An immutable model without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


WholeNumber = Annotated[int, BeforeValidator(_whole)]
AtLeastOne = Annotated[WholeNumber, Field(ge=1)]
Count = Annotated[WholeNumber, Field(ge=1, le=1000)]
Position = Annotated[WholeNumber, Field(ge=0, le=1_000_000)]
Frequency = Annotated[WholeNumber, Field(ge=1, le=1_000_000_000)]
Text = Annotated[str, Field(min_length=1)]

_NUMBER = core.no_info_before_validator_function(_number, core.decimal_schema())
_ROW = core.no_info_wrap_validator_function(_row, core.tuple_variable_schema(_NUMBER))
_ROWS = core.tuple_variable_schema(_ROW, min_length=1)
_MATRIX = core.no_info_wrap_validator_function(_matrix, _ROWS)
_WORD = core.str_schema()
_WORDS = core.no_info_before_validator_function(_split, core.tuple_variable_schema(_WORD))

Number = Annotated[Decimal, Parsed("Number", _NUMBER)]
Row: TypeAlias = Annotated[tuple[Decimal, ...], Parsed("Row", _ROW)]
Single: TypeAlias = Annotated[
    tuple[Decimal, ...],
    Parsed("Number", core.no_info_after_validator_function(lambda number: (number,), _NUMBER)),
]
"""A learned number, kept as a row of one."""
Rows: TypeAlias = Annotated[tuple[Row, ...], Parsed("Rows", _ROWS)]
Matrix: TypeAlias = Annotated[Rows, Parsed("Matrix", _MATRIX)]
Word: TypeAlias = Annotated[str, Parsed("Word", _WORD)]
Positive = Annotated[Number, Field(gt=0)]
Share = Annotated[Number, Field(ge=0, lt=1)]
NotNegative = Annotated[Number, Field(ge=0)]
Names: TypeAlias = tuple[Word, ...]
Words: TypeAlias = Annotated[tuple[Word, ...], Parsed("Words", _WORDS)]
"""A list of words, or a sentence that is split at its spaces."""
Tokens = Annotated[Words, Field(min_length=1)]
Beginning: TypeAlias = Annotated[
    Annotated[Names, Field(min_length=1)] | None,
    BeforeValidator(_one_or_more),
    Or({DEFINED: "Word"}),
]
"""A list of words, or a single word, which is not split at its spaces."""
Pair: TypeAlias = Annotated[
    tuple[Word, Word], Parsed("Pair", core.no_info_plain_validator_function(_pair))
]
"""Two adjacent symbols to merge."""


def _learned(value: Any) -> Any:
    """A number of merges is replaced by the merges before; why it is not is reported elsewhere."""
    return () if isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value) else value


Merges: TypeAlias = Annotated[
    tuple[Pair, ...] | None, BeforeValidator(_learned), Or({"type": "integer", "minimum": 1})
]
"""Pairs to merge, or how many to learn."""


class Random(Frozen):
    """Evenly distributed random weights; the same seed and address give the same weights."""

    seed: WholeNumber = described("The seed; each seed gives other weights.", "1", 1)
    largest: Annotated[Number, Field(gt=0, le=1000)] = described(
        "The largest absolute value of a weight.", "1", Decimal(1)
    )
    decimals: Annotated[WholeNumber, Field(ge=0, le=6)] = described(
        "Decimals of each weight.", "1", 1
    )
    columns: Count | None = described(
        "The number of columns, if nothing else determines it.", "4", None
    )


class RandomWeights(Frozen):
    """`{random: {seed: 1}}` instead of rows."""

    random: Random = described("How to draw the weights.", "{seed: 1}")


class Transposed(Frozen):
    """`{transposed: [[…]]}`: weights stored as in PyTorch, with a row for each output."""

    transposed: Rows = described("One row for each column.", "[[1, 0], [0, 1]]")


def kind_of_numbers(value: Any) -> str:
    """Return the tag of a typed value: a number, a row or rows."""
    if not isinstance(value, list | tuple):
        return NUMBER
    nested = any(isinstance(row, list | tuple) for row in value)
    return ROWS if nested else ROW


def kind_of_rows(value: Any) -> str | None:
    """Return the tag of a row or of rows."""
    return kind_of_numbers(value) if isinstance(value, list | tuple) else None


def _kind_of_mask(value: Any) -> str | None:
    if isinstance(value, list):
        return ROWS
    if isinstance(value, dict):
        return MAPPING
    return WORD if value in ("causal", "none") else None


def _kind_of_layer_mask(value: Any) -> str | None:
    return None if isinstance(value, list) else _kind_of_mask(value)


def _kind_of_scale(value: Any) -> str | None:
    if value in ("sqrt", "none"):
        return WORD
    return NUMBER if isinstance(value, str) and WRITTEN.fullmatch(value) else None


def _kind_of_embeddings(value: Any) -> str:
    return BY_TOKEN if isinstance(value, dict) else BY_POSITION


def _embeddings(value: Any, table: Callable[[Any], Any]) -> Any:
    match value:
        case {"random": dict()}:
            TypeAdapter(RandomWeights).validate_python(value)
            return {}
        case dict() | list():
            return table(value)
        case _:
            raise _expected("expected a row for each word, or {random: …}")


ROWS, ROW, NUMBER, WORD, MAPPING = "(rows)", "(row)", "(number)", "(word)", "(mapping)"
BY_TOKEN, BY_POSITION = "(by token)", "(by position)"
NETWORK = "(network)"
TAGS = (ROWS, ROW, NUMBER, WORD, MAPPING, BY_TOKEN, BY_POSITION, NETWORK)
"""Tags that pydantic adds to the location of an error; the data does not contain them."""

_PINNED = core.no_info_plain_validator_function(_pinned_number)
_PINNED_ROW = core.tuple_variable_schema(_PINNED)
_PINNED_ROWS = core.tuple_variable_schema(_PINNED_ROW)
_PINNED_KINDS = {NUMBER: _PINNED, ROW: _PINNED_ROW, ROWS: _PINNED_ROWS}
Pinned: TypeAlias = Annotated[
    Decimal | tuple[Decimal, ...] | tuple[tuple[Decimal, ...], ...],
    Parsed("Pinned", core.tagged_union_schema(_PINNED_KINDS, kind_of_numbers)),
]
"""A number, a row or a matrix that replaces a computed value."""


class Window(Frozen):
    """A causal mask that limits attention to a number of tokens, the token itself included."""

    window: AtLeastOne = described(
        "The number of tokens to attend to, the token itself included.", "3"
    )


def _given(value: Any) -> Any:
    """Leave out the arrays of a file, which are read elsewhere."""
    if isinstance(value, str):
        if not re.search(ARCHIVE, value):
            raise _expected("expected values by address, or a .npz or .safetensors file")
        return {}
    return value


ARCHIVE = r"\.(npz|safetensors)$"
FILE = {"type": "string", "pattern": ARCHIVE}
PinnedValues: TypeAlias = Annotated[dict[str, Pinned], BeforeValidator(_given), Or(FILE)]
"""Values by address, or a file of arrays next to the scenario."""

Mask: TypeAlias = Annotated[
    Annotated[Literal["causal", "none"], Tag(WORD)]
    | Annotated[Window, Tag(MAPPING)]
    | Annotated[tuple[tuple[Decimal, ...], ...], Parsed("MaskRows", _PINNED_ROWS), Tag(ROWS)],
    Discriminator(
        _kind_of_mask, OWN_MESSAGE, "expected causal, none, {window: 3} or rows of numbers and -inf"
    ),
]
"""Which tokens a token attends to."""

MaskOfLayer: TypeAlias = Annotated[
    Annotated[Literal["causal", "none"], Tag(WORD)] | Annotated[Window, Tag(MAPPING)],
    Discriminator(_kind_of_layer_mask, OWN_MESSAGE, "expected causal, none or {window: 3}"),
]
"""Which tokens a token attends to in one layer."""

Scale: TypeAlias = Annotated[
    Annotated[Literal["sqrt", "none"], Tag(WORD)] | Annotated[Positive, Tag(NUMBER)],
    Discriminator(_kind_of_scale, OWN_MESSAGE, "expected sqrt, none or a number"),
]
"""The divisor of the dot products of queries and keys, or the factor of embeddings."""

_TABLES = core.tagged_union_schema(
    {BY_TOKEN: core.dict_schema(_WORD, _ROW), BY_POSITION: _ROWS}, _kind_of_embeddings
)
Embeddings: TypeAlias = Annotated[
    dict[str, Row] | Rows,
    Parsed("Embeddings", core.no_info_wrap_validator_function(_embeddings, _TABLES)),
]
"""A row for each word, or one for each position."""
