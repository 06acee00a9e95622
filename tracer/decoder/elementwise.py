"""The elementwise operations: one formula each, from which `tracer.formula` reads everything else.

Operands are (n, d) and results (n, d), unless a docstring says otherwise. Fields are parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from tracer.decoder.axes import Axes, Axis, OneNumber, SameAxes
from tracer.formula import expression as ex
from tracer.formula.activations import ACTIVATIONS
from tracer.formula.formula import Formula
from tracer.formula.slope import slope, times
from tracer.node import Node, rewritten

A, A_OF_ROW = ex.Operand(0), ex.Operand(0, "row")
B, B_OF_ROW = ex.Operand(1), ex.Operand(1, "row")
B_OF_COLUMN, ONE_B = ex.Operand(1, "column"), ex.Operand(1, "one")
ONE, TWO = ex.Number.of(1), ex.Number.of(2)


@dataclass(frozen=True)
class Elementwise(Node, SameAxes):
    """An operation that computes each entry by the same formula."""

    name = ""
    entry: ClassVar[ex.Expression]
    """The formula of an entry, if the operation has no parameters."""

    def expression(self) -> ex.Expression:
        """Return the formula of an entry."""
        return self.entry

    @property
    def formula(self) -> Formula:
        """The formula, made once for all operations with the same digits."""
        # With parameters, by their digits: 0.9 and 0.90 are equal, and printed as they are typed.
        key = repr(self) if vars(self) else type(self)
        found = _FORMULAS.get(key)
        if found is None:
            found = _FORMULAS[key] = Formula(self.expression())
        return found


_FORMULAS: dict[str | type[Elementwise], Formula] = {}


class Add(Elementwise):
    """a + b."""

    name = "add"
    entry = ex.Sum((A, B))


class AddNumber(Elementwise):
    """b + a, with one number b."""

    name = "add_number"
    entry = ex.Sum((ONE_B, A))


class Mask(Elementwise):
    """S + M: scores as they are where M is 0, -∞ where it is -∞."""

    name = "add"
    entry = ex.Sum((A, B))


class Subtract(Elementwise):
    """a - b, with b (n,)."""

    name = "subtract"
    entry = ex.Difference(A, B_OF_ROW)


class Difference(Elementwise):
    """a - b."""

    name = "difference"
    entry = ex.Difference(A, B)


class QuantizationError(Elementwise):
    """w - ŵ: what quantization takes from a weight; a weight of 0 stays 0 and has no line."""

    name = "quantization_error"
    entry = ex.Difference(A, B)


class BelowMaximum(Elementwise):
    """a - m, with the running maximum m (n,); -∞ where m is -∞, since then a is -∞, too."""

    name = "below_maximum"
    entry = ex.Difference(A, B_OF_ROW)


class MaximumChange(Elementwise):
    """a - m of two running maxima (n,); -∞ where m is -∞, since then a is -∞, too."""

    name = "below_maximum"
    entry = ex.Difference(A, B)


class Multiply(Elementwise):
    """a ⊙ b."""

    name = "multiply"
    entry = ex.Product((A, B))


class Outer(Elementwise):
    """a bᵀ: (n,), (m,) → (n, m)."""

    name = "outer"
    entry = ex.Product((A_OF_ROW, B_OF_COLUMN))

    def axes(self, first: Axes, *others: Axes) -> Axes:
        """Return the axes of both operands."""
        return (*first, *others[0])


class Sin(Elementwise):
    """sin a."""

    name = "sin"
    entry = ex.Call("sin", (A,))


class Cos(Elementwise):
    """cos a."""

    name = "cos"
    entry = ex.Call("cos", (A,))


@dataclass(frozen=True)
class Turns(Elementwise):
    """L ω / 2π: how often a pair turns in L tokens, with its frequency ω (Peng et al. 2023)."""

    name = "turns"
    context: Decimal

    def expression(self) -> ex.Expression:
        turned = ex.Product((ex.Number(self.context), A))
        return ex.Quotient(turned, ex.Product((TWO, ex.Pi())))


@dataclass(frozen=True)
class TurningPair(OneNumber, Elementwise):
    """d ln(L / 2πr) / (2 ln b): the pair, rarely whole, that turns r times in L tokens (YaRN)."""

    name = "turning_pair"
    width: int
    base: Decimal
    context: Decimal
    turns: Decimal

    def expression(self) -> ex.Expression:
        turn = ex.Product((TWO, ex.Pi(), ex.Number(self.turns)))
        waves = ex.Call("ln", (ex.Quotient(ex.Number(self.context), turn),))
        of_base = ex.Product((TWO, ex.Call("ln", (ex.Number(self.base),))))
        return ex.Quotient(ex.Product((ex.Number.of(self.width), waves)), of_base)


@dataclass(frozen=True)
class Ramp(Elementwise):
    """(x - a) / (b - a), but not below 0 and not above 1.

    An end that is None is an operand, one number.
    """

    name = "ramp"
    start: Decimal | None
    end: Decimal | None

    def expression(self) -> ex.Expression:
        start = ONE_B if self.start is None else ex.Number(self.start)
        last = ONE_B if self.start is not None else ex.Operand(2, "one")
        end = last if self.end is None else ex.Number(self.end)
        share = ex.Quotient(ex.Difference(A, start), ex.Difference(end, start))
        return ex.Call("min", (ONE, ex.Call("max", (ex.Number.of(0), share))))


@dataclass(frozen=True)
class Interpolate(Elementwise):
    """ω (1 - γ) + ω γ / s: frequencies ω of which a part γ is divided by s (Peng et al. 2023)."""

    name = "interpolate"
    factor: Decimal

    def expression(self) -> ex.Expression:
        kept = ex.Product((A, ex.Difference(ONE, B)))
        return ex.Sum((kept, ex.Quotient(ex.Product((A, B)), ex.Number(self.factor))))


@dataclass(frozen=True)
class LargerBase(OneNumber, Elementwise):
    """b (s n / L - s + 1)^(d / (d - 2)): a rotary base for n tokens, more than L (dynamic NTK)."""

    name = "larger_base"
    base: Decimal
    factor: Decimal
    tokens: int
    context: Decimal
    width: int

    def expression(self) -> ex.Expression:
        factor = ex.Number(self.factor)
        tokens = ex.Product((factor, ex.Number.of(self.tokens)))
        longer = ex.Quotient(tokens, ex.Number(self.context))
        exponent = ex.Quotient(ex.Number.of(self.width), ex.Number.of(self.width - 2))
        growth = ex.Sum((ex.Difference(longer, factor), ONE))
        return ex.Product((ex.Number(self.base), ex.Power(growth, exponent)))


@dataclass(frozen=True)
class YarnFactor(OneNumber, Elementwise):
    """0.1 ln(s) + 1: the factor of cos and sin for a text s times as long (Peng et al. 2023)."""

    name = "yarn_factor"
    factor: Decimal

    def expression(self) -> ex.Expression:
        logarithm = ex.Call("ln", (ex.Number(self.factor),))
        return ex.Sum((ex.Product((ex.Number(Decimal("0.1")), logarithm)), ONE))


@dataclass(frozen=True)
class LongRopeFactor(OneNumber, Elementwise):
    """√(1 + ln(s) / ln(L)): the same for a text s times as long as L (Ding et al. 2024)."""

    name = "longrope_factor"
    factor: Decimal
    context: Decimal

    def expression(self) -> ex.Expression:
        longer, length = (ex.Call("ln", (ex.Number(each),)) for each in (self.factor, self.context))
        return ex.Root(ex.Sum((ONE, ex.Quotient(longer, length))))


class Divide(Elementwise):
    """a / b, with one number b."""

    name = "divide"
    entry = ex.Quotient(A, ONE_B)


class DivideByRowSum(Elementwise):
    """a / b, with the sum b (n,) of each row: a softmax. A row that is fully masked stays 0."""

    name = "share"
    entry = ex.Quotient(A, B_OF_ROW)


class Exp(Elementwise):
    """e^a; 0 if that is too small a number to compute with, but not for all scores of a row."""

    name = "exp"
    entry = ex.Exponential(A)


class VanishingExp(Exp):
    """The same in a block of keys, of which all may be 0."""


class Square(Elementwise):
    """a²."""

    name = "square"
    entry = ex.Power(A, TWO)


@dataclass(frozen=True)
class MultipliedSquare(Elementwise):
    """c a², with a constant c."""

    name = "multiplied_square"
    factor: Decimal

    def expression(self) -> ex.Expression:
        return ex.Product((ex.Number(self.factor), ex.Power(A, TWO)))


@dataclass(frozen=True)
class SquareRoot(Elementwise):
    """√(a + ε), or √a + ε."""

    name = "sqrt"
    epsilon: Decimal = Decimal(0)
    outside: bool = False

    def expression(self) -> ex.Expression:
        if not self.epsilon:
            return ex.Root(A)
        if self.outside:
            return ex.Sum((ex.Part(ex.Root(A)), ex.Number(self.epsilon)))
        return ex.Root(ex.Subtotal(ex.Sum((A, ex.Number(self.epsilon)))))


@dataclass(frozen=True)
class Activate(Elementwise):
    """An activation function."""

    function: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.function)

    def expression(self) -> ex.Expression:
        return ACTIVATIONS[self.function].formula.expression


@dataclass(frozen=True)
class ScaledSilu(Elementwise):
    """a σ(c a) = a / (1 + e^(-c a)): SiLU with a factor c, or an approximation of GELU."""

    name = "scaled_silu"
    scale: Decimal

    def expression(self) -> ex.Expression:
        scaled = A if self.scale == 1 else ex.Part(ex.Product((ex.Number(self.scale), A)))
        power = ex.Part(ex.Exponential(ex.Negative(scaled)))
        return ex.Quotient(A, ex.Subtotal(ex.Sum((ONE, power))))


@dataclass(frozen=True)
class AtMost(Elementwise):
    """min(c, a)."""

    name = "at_most"
    limit: Decimal

    def expression(self) -> ex.Expression:
        return ex.Call("min", (ex.Number(self.limit), A))


@dataclass(frozen=True)
class Clamp(Elementwise):
    """max(-c, min(c, a))."""

    name = "clamp"
    limit: Decimal

    def expression(self) -> ex.Expression:
        below = ex.Call("min", (ex.Number(self.limit), A))
        return ex.Call("max", (ex.Number(-self.limit), below))


@dataclass(frozen=True)
class MultiplyShifted(Elementwise):
    """a ⊙ (b + c), with a constant c."""

    name = "multiply_shifted"
    offset: Decimal

    def expression(self) -> ex.Expression:
        return ex.Product((A, ex.Subtotal(ex.Sum((B, ex.Number(self.offset))))))


@dataclass(frozen=True)
class SoftCap(Elementwise):
    """c · tanh(a / c), which is between -c and c (Bello et al. 2017)."""

    name = "softcap"
    cap: Decimal

    def expression(self) -> ex.Expression:
        cap = ex.Number(self.cap)
        return ex.Product((cap, ex.Subtotal(ex.Call("tanh", (ex.Quotient(A, cap),)))))


class Penalize(Elementwise):
    """a - b c, with one number b: scores that fall with the distance c (Press et al. 2022)."""

    name = "penalize"
    entry = ex.Difference(A, ex.Part(ex.Product((ONE_B, ex.Operand(2)))))


@dataclass(frozen=True)
class BucketOfDistance(Elementwise):
    """e + (k - e) ln(d / e) / ln(m / e): the bucket of a distance d before it is rounded down.

    e is the first of the distances that share buckets, k the number of buckets, and m the distance
    from which on all share the last one (Raffel et al. 2020).
    """

    name = "bucket_of_distance"
    exact: int
    buckets: int
    max_distance: int

    def expression(self) -> ex.Expression:
        exact, furthest = ex.Number.of(self.exact), ex.Number.of(self.max_distance)
        of_exact: tuple[ex.Expression, ...] = (A, furthest)
        if self.exact > 1:
            of_exact = (ex.Quotient(A, exact), ex.Quotient(furthest, exact))
        longer, longest = (ex.Call("ln", (each,)) for each in of_exact)
        shared = self.buckets - self.exact
        wider: ex.Expression = longer if shared == 1 else ex.Product((ex.Number.of(shared), longer))
        return ex.Sum((exact, ex.Quotient(wider, longest)))


@dataclass(frozen=True)
class Adapt(Elementwise):
    """a + α b / r: frozen weights and a product of rank r (Hu et al. 2021)."""

    name = "adapt"
    alpha: Decimal
    rank: int

    def expression(self) -> ex.Expression:
        return ex.Sum((A, ex.Part(_by_rank(B, self.alpha, self.rank))))


def _by_rank(x: ex.Expression, alpha: Decimal, rank: int) -> ex.Expression:
    """α x / r."""
    product = ex.Product((ex.Number(alpha), x))
    return product if rank == 1 else ex.Quotient(product, ex.Number.of(rank))


class DivideByScale(Elementwise):
    """An operation that divides a by a scale b; where b is 0, a is 0, and so is a / b."""


@dataclass(frozen=True)
class Quantize(DivideByScale):
    """round(w / s), or round(w / s) + z with a zero point: (m, n), (m, n), (m, n) → (m, n).

    With `bounds`, what is outside of them becomes the nearest one.
    """

    name = "quantize"
    bounds: tuple[int, int] | None
    has_zero_point: bool

    def expression(self) -> ex.Expression:
        whole: ex.Expression = ex.Call("round", (ex.Subtotal(ex.Quotient(A, B)),))
        if self.has_zero_point:
            whole = ex.Sum((ex.Subtotal(whole), ex.Operand(2)))
        if self.bounds is None:
            return whole
        least, most = map(ex.Number.of, self.bounds)
        return ex.Call("max", (least, ex.Call("min", (most, whole))))


class QuantizeToE2M1(DivideByScale):
    """The number of four bits that is nearest to w / s."""

    name = "quantize"
    entry = ex.Call("E2M1", (ex.Subtotal(ex.Quotient(A, B)),))


@dataclass(frozen=True)
class ZeroPoint(DivideByScale):
    """-round(a / s), for the smallest number a: the integer that stands for 0."""

    name = "zero_point"
    bounds: tuple[int, int] | None

    def expression(self) -> ex.Expression:
        whole = ex.Negative(ex.Subtotal(ex.Call("round", (ex.Subtotal(ex.Quotient(A, B)),))))
        if self.bounds is None:
            return whole
        least, most = map(ex.Number.of, self.bounds)
        return ex.Call("max", (least, ex.Call("min", (most, whole))))


@dataclass(frozen=True)
class Dequantize(Elementwise):
    """s q, or s (q - z) with a zero point: q (m, n), s (m, n), z (m, n) → (m, n)."""

    name = "dequantize"
    has_zero_point: bool

    def expression(self) -> ex.Expression:
        counted = ex.Subtotal(ex.Difference(A, ex.Operand(2))) if self.has_zero_point else A
        return ex.Product((B, counted))


@dataclass(frozen=True)
class RangeScale(Elementwise):
    """(a - b) / c: the range of numbers from b to a, divided into c equal parts."""

    name = "range_scale"
    parts: int

    def expression(self) -> ex.Expression:
        return ex.Quotient(ex.Subtotal(ex.Difference(A, B)), ex.Number.of(self.parts))


class SharedExponent(Elementwise):
    """floor(log2 a) - 2, but at least -127: the exponent of a block's scale (OCP MX v1.0, 6.3)."""

    name = "shared_exponent"
    entry = ex.Difference(ex.Subtotal(ex.Call("floor", (ex.Subtotal(ex.Call("log2", (A,))),))), TWO)


class TwoToThe(Elementwise):
    """2^a, for a whole number a."""

    name = "two_to_the"
    entry = ex.Power(TWO, A)


class Rescale(Elementwise):
    """f a + b: a running sum a (n,), rescaled by f (n,), and the sum b (n,) of a block."""

    name = "rescale"
    entry = ex.Sum((ex.Part(ex.Product((B, A))), ex.Operand(2)))


class RescaleRows(Elementwise):
    """f a + b, with f (n,): a running output a, rescaled by f, and the output b of a block."""

    name = "rescale"
    entry = ex.Sum((ex.Part(ex.Product((B_OF_ROW, A))), ex.Operand(2)))


class ScaleRows(Elementwise):
    """b a, with a factor b (n,) of each row."""

    name = "scale_rows"
    entry = ex.Product((B_OF_ROW, A))


class DivideRows(Elementwise):
    """a / b, with a divisor b (n,) of each row."""

    name = "divide_rows"
    entry = ex.Quotient(A, B_OF_ROW)


@dataclass(frozen=True)
class Normalize(Elementwise):
    """d / σ · γ + β: deviations (n, d), σ (n,); γ and β (d,) or neither (Ba et al. 2016).

    With `unit_offset`, d / σ · (1 + γ) + β.
    """

    name = "normalize"
    gain: bool = False
    shift: bool = False
    unit_offset: bool = False

    def expression(self) -> ex.Expression:
        whole: ex.Expression = ex.Quotient(A, B_OF_ROW)
        if self.gain:
            gain = ex.Operand(2, "column")
            whole = ex.Product((ex.Part(whole), _one_more(gain) if self.unit_offset else gain))
        if self.shift:
            whole = ex.Sum((ex.Part(whole), ex.Operand(2 + self.gain, "column")))
        return whole


def _one_more(than: ex.Expression) -> ex.Expression:
    """1 + a, shown with all its digits."""
    return ex.Subtotal(ex.Sum((ONE, than)))


@dataclass(frozen=True)
class NegativeLogLikelihood(Elementwise):
    """-ln p of the correct word in each row: (n, words) → (n,). A row without a target gets 0."""

    name = "neg_log"
    columns: tuple[int | None, ...]
    targets: tuple[str, ...]

    def expression(self) -> ex.Expression:
        return ex.Negative(ex.Call("ln", (A,)))

    def axes(self, first: Axes, *others: Axes) -> Axes:
        """Return the axis of the correct words."""
        return (Axis("target", self.targets),)


class Sigmoid(Elementwise):
    """σ(a) = 1 / (1 + e^-a)."""

    name = "sigmoid"
    entry = ex.Quotient(ONE, ex.Subtotal(ex.Sum((ONE, ex.Part(ex.Exponential(ex.Negative(A)))))))


class AboveZero(Elementwise):
    """max(0, a)."""

    name = "above_zero"
    entry = ex.Call("max", (ex.Number.of(0), A))


class EluPlusOne(Elementwise):
    """elu(a) + 1 = max(0, a) + e^min(0, a): a + 1, or e^a if a < 0 (Katharopoulos et al. 2020)."""

    name = "elu_plus_one"
    _zero = ex.Number.of(0)
    entry = ex.Sum(
        (ex.Part(ex.Call("max", (_zero, A))), ex.Part(ex.Exponential(ex.Call("min", (_zero, A)))))
    )


class DecayRate(Elementwise):
    """e^b · ln(1 + e^a), with b (h,): (n, h) → (n, h) (Dao and Gu 2024)."""

    name = "decay_rate"
    _softplus = ex.Call("ln", (ex.Subtotal(ex.Sum((ONE, ex.Part(ex.Exponential(A))))),))
    entry = ex.Product((ex.Part(ex.Exponential(B_OF_COLUMN)), ex.Part(_softplus)))


class Decay(Elementwise):
    """e^-a."""

    name = "decay"
    entry = ex.Exponential(ex.Negative(A))


class OfTarget(Elementwise):
    """1 / (1 + e^((1 - 2t) z)): the probability of a target t, which is 0 or 1; σ(z) is that of 1.

    1 - σ(z), computed of a rounded σ(z), would be 0 for a large logit.
    """

    name = "sigmoid_of_target"
    _power = ex.Exponential(ex.Product((ex.Difference(ONE, ex.Product((TWO, B))), A)))
    entry = ex.Quotient(ONE, ex.Subtotal(ex.Sum((ONE, ex.Part(_power)))))


class OfGivenTarget(Elementwise):
    """t p + (1 - t) (1 - p): the same of a probability p of 1 that is given."""

    name = "of_target"
    entry = ex.Sum((ex.Product((B, A)), ex.Product((ex.Difference(ONE, B), ex.Difference(ONE, A)))))


class Log(Elementwise):
    """ln a."""

    name = "log"
    entry = ex.Call("ln", (A,))


class NegativeLog(Elementwise):
    """-ln a."""

    name = "negative_log"
    entry = ex.Negative(ex.Call("ln", (A,)))


@dataclass(frozen=True)
class SquaredErrorGrad(Elementwise):
    """2 c d / n: the gradient of the mean of n numbers c d², or with n = 1 of their sum."""

    name = "squared_error_gradient"
    n: int
    factor: Decimal = Decimal(1)

    def expression(self) -> ex.Expression:
        factors = (TWO, A) if self.factor == 1 else (TWO, ex.Number(self.factor), A)
        twice = ex.Product(factors)
        return twice if self.n == 1 else ex.Quotient(ex.Part(twice), ex.Number.of(self.n))


@dataclass(frozen=True)
class BinaryCrossEntropyGrad(Elementwise):
    """(p - t) / n: the gradient of the mean of n losses at their logits, p = σ(z)."""

    name = "binary_cross_entropy_gradient"
    n: int

    def expression(self) -> ex.Expression:
        missed = ex.Difference(A, B)
        return missed if self.n == 1 else ex.Quotient(ex.Part(missed), ex.Number.of(self.n))


@dataclass(frozen=True)
class SoftmaxCrossEntropyGrad(Elementwise):
    """(p - t) / n: the gradient of softmax and cross-entropy together, (n, words) → (n, words).

    t, read from the columns, is 1 for the correct word. A row without a target gets 0. With label
    smoothing over V words, (p - (1 - ε) t - ε / V) / n.
    """

    name = "miss"
    columns: tuple[int | None, ...]
    counted: int
    smoothing: Decimal = Decimal(0)
    words: int = 0

    def expression(self) -> ex.Expression:
        missed = missed_target(A, B, self.smoothing, self.words)
        if self.counted == 1:
            return missed
        return ex.Quotient(ex.Part(missed), ex.Number.of(self.counted))


def missed_target(
    p: ex.Expression, t: ex.Expression, smoothing: Decimal, words: int
) -> ex.Expression:
    """p - t; with label smoothing, p - (1 - ε) t - ε / V."""
    if not smoothing:
        return ex.Difference(p, t)
    of_correct = ex.Product((ex.Number(1 - smoothing), t))
    of_each = ex.Quotient(ex.Number(smoothing), ex.Number.of(words))
    return ex.Difference(ex.Difference(p, of_correct), of_each)


@dataclass(frozen=True)
class TimesRow(Elementwise):
    """a ⊙ b, with b (d,); with `unit_offset`, a ⊙ (1 + b)."""

    name = "times_row"
    unit_offset: bool = False

    def expression(self) -> ex.Expression:
        return ex.Product((A, _one_more(B_OF_COLUMN) if self.unit_offset else B_OF_COLUMN))


class Times(Elementwise):
    """a · b, with one number b."""

    name = "times"
    entry = ex.Product((A, ONE_B))


@dataclass(frozen=True)
class TimesExpertWeight(Elementwise):
    """g · w of one expert, for its tokens: (n, d), (n, experts) → (k, d)."""

    name = "times_expert_weight"
    rows: tuple[int, ...]
    expert: int
    entry = ex.Product((A, B))


@dataclass(frozen=True)
class Slope(Elementwise):
    """The slope of an activation function."""

    name = "slope"
    function: str

    def expression(self) -> ex.Expression:
        return ACTIVATIONS[self.function].formula.slope.expression


@dataclass(frozen=True)
class RootSlope(Elementwise):
    """g / (2 (σ - ε)): the gradient of σ = √a + ε, or of σ = √(a + ε) with ε = 0."""

    name = "root_slope"
    epsilon: Decimal = Decimal(0)

    def expression(self) -> ex.Expression:
        root: ex.Expression = ex.Difference(B, ex.Number(self.epsilon)) if self.epsilon else B
        return ex.Quotient(A, ex.Product((TWO, root)))


@dataclass(frozen=True)
class AdaptGrad(Elementwise):
    """α g / r: the gradient of b in a + α b / r."""

    name = "adapt_gradient"
    alpha: Decimal
    rank: int

    def expression(self) -> ex.Expression:
        return _by_rank(A, self.alpha, self.rank)


class TwiceProduct(Elementwise):
    """2 g a: the gradient of a²."""

    name = "twice_product"
    entry = ex.Product((TWO, A, B))


@dataclass(frozen=True)
class GradientOf(Elementwise):
    """g · ∂f/∂x for an operand x of any operation; the operands are g and the operation's own."""

    operation: Elementwise
    operand: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", f"{self.operation.name}_gradient")

    def expression(self) -> ex.Expression:
        derived = slope(self.operation.expression(), self.operand) or ex.Number.of(0)
        behind_g = rewritten(derived, ex.Operand, lambda x: ex.Operand(x.position + 1, x.along))
        return times(A, behind_g)


@dataclass(frozen=True)
class BroadcastDivide(Elementwise):
    """g / n in every column: (n,) → (n, columns)."""

    name = "spread"
    over: int
    columns: int

    def expression(self) -> ex.Expression:
        return ex.Quotient(A_OF_ROW, ex.Number.of(self.over))


@dataclass(frozen=True)
class Combine(Elementwise):
    """a x + b y: momentum, weight decay, a step against the gradient."""

    name = "combine"
    a: Decimal
    b: Decimal

    def expression(self) -> ex.Expression:
        left = A if self.a == 1 else ex.Part(ex.Product((ex.Number(self.a), A)))
        right = B if abs(self.b) == 1 else ex.Part(ex.Product((ex.Number(abs(self.b)), B)))
        return ex.Difference(left, right) if self.b < 0 else ex.Sum((left, right))


@dataclass(frozen=True)
class Scale(Elementwise):
    """a x: the output of a sub-layer; a running mean or a weight decay whose other term is 0."""

    name = "scale"
    a: Decimal

    def expression(self) -> ex.Expression:
        return ex.Product((ex.Number(self.a), A))


@dataclass(frozen=True)
class DivideBy(Elementwise):
    """x / c."""

    name = "divide_by"
    divisor: Decimal

    def expression(self) -> ex.Expression:
        return ex.Quotient(A, ex.Number(self.divisor))


@dataclass(frozen=True)
class BiasCorrection(Elementwise):
    """x / (1 - β^t): a running mean that began with 0, after t steps (Kingma and Ba 2015)."""

    name = "unbias"
    beta: Decimal
    steps: int

    def expression(self) -> ex.Expression:
        beta = ex.Number(self.beta)
        power = beta if self.steps == 1 else ex.Power(beta, ex.Number.of(self.steps))
        return ex.Quotient(A, ex.Subtotal(ex.Difference(ONE, power)))


@dataclass(frozen=True)
class Ratio(Elementwise):
    """m / (√v + ε) (Kingma and Ba 2015), or with ε = 0 m / √v."""

    name = "ratio"
    epsilon: Decimal

    def expression(self) -> ex.Expression:
        root = ex.Part(ex.Root(B))
        return ex.Quotient(A, ex.Sum((root, ex.Number(self.epsilon))) if self.epsilon else root)
