"""Arithmetic as a person writes it: numbers have just the digits that are printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from tracer.node import Node, nodes_in

Step: TypeAlias = Literal["round", "floor", "E2M1"]
Function: TypeAlias = (
    Literal["sin", "cos", "tanh", "ln", "log2", "max", "min", "abs", "Φ", "ReLU′"] | Step
)
"""Functions of numbers."""

OfRows: TypeAlias = Literal["sum", "mean", "largest", "rotate", "rotate back"]
OfTokens: TypeAlias = Literal[
    "sum over tokens",
    "sum over rows",
    "sum over layers",
    "sum by word",
    "sum by bucket",
    "sum by type",
    "sum by offset",
    "by bucket",
    "by type",
    "by offset",
    "append",
    "all but the last column",
    "sum of the last column",
    "convolve",
    "convolve back",
    "FFN",
    "Attention",
]
OfModels: TypeAlias = Literal["CrossAttention", "LayerNorm", "RMSNorm", "softmax"]
InSymbols: TypeAlias = OfRows | OfTokens | OfModels
"""Functions of matrices, which occur in formulas and have no value."""


@dataclass(frozen=True)
class Number(Node):
    """A number, or -∞, with its printed digits; `entry` is the trace entry that it shows."""

    value: Decimal
    entry: Any = field(default=None, compare=False, repr=False)

    @staticmethod
    def of(number: int) -> Number:
        """A whole number in a formula."""
        return Number(Decimal(number))

    @property
    def places(self) -> int:
        """The printed decimals; negative for 1.07×10¹³."""
        exponent = self.value.as_tuple().exponent
        return -exponent if isinstance(exponent, int) else 0


@dataclass(frozen=True)
class Blank(Node):
    """A number that a worksheet leaves out: its blank and the answer, `filled` in the key."""

    number: int
    answer: Number
    filled: bool = False


@dataclass(frozen=True)
class Rest(Node):
    """The terms of a long sum that are not written out: their number and their total."""

    terms: int
    total: Number
    hidden: Callable[[], list[Any]] | None = field(default=None, compare=False, repr=False)
    """Returns the entries of these terms."""


@dataclass(frozen=True)
class Pi(Node):
    """π, which has infinitely many digits."""


@dataclass(frozen=True)
class Symbol(Node):
    """A name such as W_Q¹: a base with an index below and one above."""

    base: str
    below: str = ""
    above: str = ""


Along: TypeAlias = Literal["entry", "row", "column", "one"]


@dataclass(frozen=True)
class Operand(Node):
    """An operand by its position: its entry at the same row and column, or as `along` says."""

    position: int
    along: Along = "entry"


@dataclass(frozen=True)
class Part(Node):
    """An intermediate number that the worked line shows, rounded by the pencil."""

    of: Expression


@dataclass(frozen=True)
class Subtotal(Node):
    """An intermediate number that the worked line shows with all its digits, such as 1 + e^-x."""

    of: Expression


@dataclass(frozen=True)
class Sum(Node):
    """a + b + …"""

    terms: tuple[Expression, ...]


@dataclass(frozen=True)
class Difference(Node):
    """a - b."""

    left: Expression
    right: Expression


@dataclass(frozen=True)
class Product(Node):
    """a×b."""

    factors: tuple[Expression, ...]


@dataclass(frozen=True)
class Quotient(Node):
    """a / b."""

    over: Expression
    under: Expression


@dataclass(frozen=True)
class Power(Node):
    """a^b."""

    base: Expression
    exponent: Expression


@dataclass(frozen=True)
class Root(Node):
    """√a."""

    of: Expression


@dataclass(frozen=True)
class Exponential(Node):
    """e^a."""

    exponent: Expression


@dataclass(frozen=True)
class Call(Node):
    """A function by its name: sin(a), max(a, b)."""

    name: Function | InSymbols
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Negative(Node):
    """-a, unless a is a plain number."""

    of: Expression


@dataclass(frozen=True)
class MatrixProduct(Node):
    """A · B, in formulas."""

    left: Expression
    right: Expression


@dataclass(frozen=True)
class Transposed(Node):
    """Aᵀ, in formulas."""

    of: Expression


@dataclass(frozen=True)
class Brackets(Node):
    """[a b …]: matrices side by side, in formulas."""

    items: tuple[Expression, ...]


@dataclass(frozen=True)
class Sized(Node):
    """A (4 × 2), in formulas: a symbol with its shape."""

    of: Expression
    shape: tuple[int, ...]


LOSS: Symbol = Symbol("L")


@dataclass(frozen=True)
class Partial(Node):
    """∂L/∂A, in formulas; for the loss of one example of a batch, ∂L₂/∂A."""

    of: Expression
    over: Symbol = LOSS


Atom: TypeAlias = Number | Blank | Rest | Pi | Symbol | Operand
Combined: TypeAlias = Part | Subtotal | Sum | Difference | Product | Quotient | Negative
Applied: TypeAlias = Power | Root | Exponential | Call
InFormulas: TypeAlias = MatrixProduct | Transposed | Brackets | Sized | Partial

Expression: TypeAlias = Atom | Combined | Applied | InFormulas

Relation: TypeAlias = Literal["=", "≈"]


@dataclass(frozen=True)
class Chain(Node):
    """side = side ≈ side …: one relation fewer than sides."""

    sides: tuple[Expression, ...]
    relations: tuple[Relation, ...]


def entries_in(expression: Node, *, hidden: bool = True) -> Iterator[Any]:
    """The entries whose numbers are in an expression, from left to right.

    With `hidden`, those of terms that are not written out are included.
    """
    match expression:
        case Number():
            if expression.entry:
                yield expression.entry
        case Rest():
            yield from expression.hidden() if hidden and expression.hidden else ()
        case _:
            for part in nodes_in(expression):
                yield from entries_in(part, hidden=hidden)
