"""What surrounds and follows attention in a layer: residual connection, norm, FFN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tracer.decoder import elementwise as el, roles
from tracer.decoder.axes import numbered
from tracer.decoder.operations import Copy, MatMul, Mean
from tracer.decoder.parameters import bias, columns, features_of, weights
from tracer.decoder.part import parts
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.scenario.networks import Network, SubLayer
from tracer.scenario.norms import Norm, Normalization

AnySubLayer = TypeVar("AnySubLayer", bound=SubLayer)


def sub_layer(
    tape: Tape,
    x: Value,
    parameters: AnySubLayer,
    norm: Norm | None,
    after: Normalization | None,
    compute: Callable[[Tape, Value, AnySubLayer], Value],
) -> Value:
    """Norm(x + f(x)), or with pre-norm x + f(Norm(x)): x (n, d_model) → (n, d_model).

    Post-norm: Vaswani et al. 2017; pre-norm: Xiong et al. 2020. Norm and residual are optional.
    With a norm `after` f, that is x + Norm′(f(Norm(x))) (Gemma 2) or x + Norm′(f(x)) (OLMo 2).
    """
    before = norm is not None and norm.placement == "pre"
    change = compute(tape, normalized(tape, x, norm) if norm and before else x, parameters)
    if after:
        change = normalized(tape, change, after, roles.NORM_AFTER)
    if parameters.residual:
        change = added(tape, x, change, parameters)
    return normalized(tape, change, norm) if norm and not before else change


def added(tape: Tape, x: Value, change: Value, parameters: SubLayer) -> Value:
    """x + f, where parts of the model may change f: x and f (n, d_model) → (n, d_model)."""
    for part in parts():
        if part.added:
            change = part.added(tape, parameters, change)
    return tape.record(roles.RESIDUAL, el.Add(), x, change)


def normalized(
    tape: Tape, x: Value, norm: Normalization, of: roles.NormRoles = roles.SUB_LAYER_NORM
) -> Value:
    """LayerNorm(x) or RMSNorm(x): x (n, d) → (n, d)."""
    return normalize(tape, x, norm, learned(tape, norm, of, x), of)


@dataclass(frozen=True)
class NormParameters:
    """γ and β of a norm, each (d,), as far as it has them."""

    gain: tuple[Value, ...]
    shift: tuple[Value, ...]


def learned(tape: Tape, norm: Normalization, of: roles.NormRoles, x: Value) -> NormParameters:
    """Record γ and β of a norm: x (n, d)."""
    return NormParameters(bias(tape, of.gain, norm.gain, x), bias(tape, of.shift, norm.shift, x))


def normalize(
    tape: Tape, x: Value, norm: Normalization, parameters: NormParameters, of: roles.NormRoles
) -> Value:
    """LayerNorm(x) or RMSNorm(x), each row by itself: x (n, d), γ and β (d,) → (n, d).

    (x - μ) / √(σ² + ε) · γ + β with mean μ and variance σ² of each row (Ba et al. 2016), or
    x / √(mean of x² + ε) · γ + β (Zhang and Sennrich 2019). μ, σ² and the mean of x² are (n,).
    With a unit offset, 1 + γ takes the place of γ.
    A tape that standardizes also has x̂ (n, d), the numbers before γ and β.
    """
    gain, shift = parameters.gain, parameters.shift
    root = el.SquareRoot(norm.epsilon, norm.epsilon_outside)
    divide = el.Normalize(bool(gain), bool(shift), norm.unit_offset)
    if norm.kind == "rms_norm":
        squared = tape.record(of.root_squared, el.Square(), x)
        mean_square = tape.record(of.mean_square, Mean(), squared)
        rms = tape.record(of.rms, root, mean_square)
        if tape.standardizes:
            tape.record(of.rms_x_hat, el.Normalize(), x, rms)
        return tape.record(of.rms_norm, divide, x, rms, *gain, *shift)
    mean = tape.record(of.mean, Mean(), x)
    deviation = tape.record(of.deviation, el.Subtract(), x, mean)
    squared = tape.record(of.squared, el.Square(), deviation)
    variance = tape.record(of.variance, Mean(sample=norm.deviation == "sample"), squared)
    std = tape.record(of.std, root, variance)
    if tape.standardizes:
        tape.record(of.x_hat, el.Normalize(), deviation, std)
    return tape.record(of.layer_norm, divide, deviation, std, *gain, *shift)


def feed_forward(tape: Tape, x: Value, parameters: Network) -> Value:
    """FFN(x) = f(x W_1 + b_1) W_2 + b_2: x (n, d_model), W_1 (d_model, d_ff) → (n, d_model).

    With a gate (Shazeer 2020): (f(x W_1 + b_1) ⊙ (x W_3 + b_3)) W_2 + b_2. With the activation on
    the output: f((x W_1 + b_1) W_2 + b_2).
    """
    units = parameters.labels or numbered("h", 1, columns(parameters.W_1))
    w_1 = weights(tape, roles.W_1, parameters.W_1, x, units, "hidden")
    b_1 = bias(tape, roles.B_1, parameters.b_1, w_1)
    hidden = tape.record(roles.HIDDEN, MatMul(), x, w_1, *b_1)

    def up() -> Value:
        assert parameters.W_3 is not None
        w_3 = weights(tape, roles.W_3, parameters.W_3, x, units, "hidden")
        return tape.record(roles.UP, MatMul(), x, w_3, *bias(tape, roles.B_3, parameters.b_3, w_3))

    function, behind = parameters.activation, parameters.activates == "output"
    activate = Copy() if function == "none" else el.Activate(function)
    own = (part.gate(tape, parameters, hidden, up) for part in parts() if part.gate)
    active = next(filter(None, own), None)
    if active is None:
        active = hidden if behind else tape.record(roles.ACTIVATION, activate, hidden)
        if parameters.W_3 is not None:
            active = tape.record(roles.GATED, el.Multiply(), active, up())
    w_2 = weights(tape, roles.W_2, parameters.W_2, active, features_of(x, columns(parameters.W_2)))
    b_2 = bias(tape, roles.B_2, parameters.b_2, w_2)
    if not behind:
        return tape.record(roles.FFN_OUTPUT, MatMul(), active, w_2, *b_2)
    projected = tape.record(roles.PROJECTED, MatMul(), active, w_2, *b_2)
    return tape.record(roles.FFN_OUTPUT, activate, projected)
