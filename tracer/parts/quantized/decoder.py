"""Quantized weights: scales, integers, the numbers that they stand for, and the errors.

Absolute maximum (Dettmers et al. 2022), a zero point (Jacob et al. 2018), MXFP4 (OCP MX v1.0).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from tracer.decoder import elementwise as el, operations as op, roles
from tracer.decoder.axes import Axes
from tracer.decoder.part import Part
from tracer.decoder.roles import Role, RoundingRule
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.lora.decoder import LORA
from tracer.parts.quantized.scenario import Quantization, Quantized

DIGITS_OF_SCALE, DIGITS_OF_POWER = 4, 12
"""With fewer digits of its scale, a weight could become a larger integer than there is."""


@dataclass(frozen=True)
class QuantizedRoles:
    """The roles of quantized weights; `weights` is what the model computes with.

    `scales`, `powers` and `zero_points` are numbers of groups, for each of their weights.
    """

    of: Role
    magnitude: Role
    largest: Role
    smallest: Role
    exponent: Role
    scale: Role
    power: Role
    scales: Role
    powers: Role
    zero_point: Role
    zero_points: Role
    integers: Role
    elements: Role
    weights: Role
    error: Role


def _roles(weights: Role) -> QuantizedRoles:
    name = weights.name

    def of_group(end: str, rule: RoundingRule = RoundingRule.RESULT, significant: int = 0) -> Role:
        return Role(f"{name}.{end}", rule, significant, of_parameters=True)

    whole, exact = RoundingRule.WHOLE, RoundingRule.EXACT
    return QuantizedRoles(
        of=Role(f"{name}.of", parameter=True, frozen=True),
        magnitude=of_group("largest", RoundingRule.ALL),
        largest=of_group("largest", RoundingRule.ALL),
        smallest=of_group("smallest", RoundingRule.ALL),
        exponent=of_group("exponent", whole),
        scale=of_group("scale", significant=DIGITS_OF_SCALE),
        power=of_group("scale", significant=DIGITS_OF_POWER),
        scales=of_group("scales", exact, DIGITS_OF_SCALE),
        powers=of_group("scales", exact, DIGITS_OF_POWER),
        zero_point=of_group("zero_point", whole),
        zero_points=of_group("zero_points", whole),
        integers=of_group("integers", whole),
        elements=of_group("elements", RoundingRule.ALL),
        weights=Role(name, of_parameters=True),
        error=of_group("error"),
    )


QUANTIZED = {
    weights: _roles(weights)
    for weights in (
        *(roles.W_Q, roles.W_K, roles.W_V, roles.W_O),
        *(roles.W_1, roles.W_2, roles.W_3, roles.W_U),
        *(lora.frozen for lora in LORA.values()),
    )
}
"""The roles of each weight matrix that can be quantized, also of one that LoRA leaves frozen."""


def quantized(tape: Tape, weights: Role, parameters: Any, axes: Axes) -> Value | None:
    """ŵ = s q of weights (d, k), with a scale s for each group. The examples of a batch share it.

    None for other weights.
    """
    if not isinstance(parameters, Quantized):
        return None
    own = QUANTIZED[weights]
    if tape.place.example:
        return [tape.shared(role) for role in (own.of, own.weights)][-1]
    w = tape.given(own.of, parameters.of, axes)
    groups = _Groups(tape, own, w, *parameters.group_shape)
    if parameters.quantized.is_mx:
        found = groups.in_e2m1()
    elif parameters.quantized.zero_point:
        found = groups.with_zero_point(parameters.quantized)
    else:
        found = groups.by_magnitude(parameters.quantized)
    tape.record(own.error, el.QuantizationError(), w, found)
    return found


@dataclass(frozen=True)
class _Groups:
    """Weights in groups of some rows and columns."""

    tape: Tape
    roles: QuantizedRoles
    w: Value
    height: int
    width: int

    def by_magnitude(self, how: Quantization) -> Value:
        """s = max |w| / (2^(b - 1) - 1), q = round(w / s), ŵ = s q."""
        own, record = self.roles, self.tape.record
        largest = self.extreme(own.magnitude, "magnitude")
        _, most = how.bounds
        scale = record(own.scale, el.DivideBy(Decimal(most)), largest)
        scales = self.spread(own.scales, scale)
        bounds = how.bounds if self.is_coarse else None
        integers = record(own.integers, el.Quantize(bounds, has_zero_point=False), self.w, scales)
        return record(own.weights, el.Dequantize(has_zero_point=False), integers, scales)

    def with_zero_point(self, how: Quantization) -> Value:
        """s = (max - min) / (2^b - 1), z = round(-min / s), q = round(w / s) + z, ŵ = s (q - z).

        The range from min to max includes 0, so that z is an integer of b bits.
        """
        own, record = self.roles, self.tape.record
        largest = self.extreme(own.largest, "largest")
        smallest = self.extreme(own.smallest, "smallest")
        scale = record(own.scale, el.RangeScale(how.bounds[1]), largest, smallest)
        bounds = how.bounds if self.is_coarse else None
        zero_point = record(own.zero_point, el.ZeroPoint(bounds), smallest, scale)
        scales = self.spread(own.scales, scale)
        zeros = self.spread(own.zero_points, zero_point)
        by = el.Quantize(how.bounds, has_zero_point=True)
        integers = record(own.integers, by, self.w, scales, zeros)
        return record(own.weights, el.Dequantize(has_zero_point=True), integers, scales, zeros)

    def in_e2m1(self) -> Value:
        """s = 2^(floor(log2 max |w|) - 2), p = E2M1(w / s), ŵ = s p."""
        own, record = self.roles, self.tape.record
        largest = self.extreme(own.magnitude, "magnitude")
        exponent = record(own.exponent, el.SharedExponent(), largest)
        scales = self.spread(own.powers, record(own.power, el.TwoToThe(), exponent))
        elements = record(own.elements, el.QuantizeToE2M1(), self.w, scales)
        return record(own.weights, el.Dequantize(has_zero_point=False), elements, scales)

    @property
    def is_coarse(self) -> bool:
        """Whether the author sets digits of the scale, which may be too few for b bits."""
        pencil = self.tape.pencil
        return pencil.rounds and pencil.chosen(self.tape.address(self.roles.scale)) is not None

    def extreme(self, role: Role, of: Literal["magnitude", "largest", "smallest"]) -> Value:
        """The largest |w|, the largest or the smallest weight of each group."""
        return self.tape.record(role, op.GroupExtreme(of, self.height, self.width), self.w)

    def spread(self, role: Role, of_groups: Value) -> Value:
        """The number of each group for each of its weights."""
        by = op.SpreadGroups(self.height, self.width)
        return self.tape.record_as(role, by, self.w.axes, of_groups)


PART = Part(
    roles={roles.WORD: tuple(role for own in QUANTIZED.values() for role in vars(own).values())},
    weights=quantized,
)
