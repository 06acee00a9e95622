"""What surrounds and follows attention in a layer: residual, LayerNorm, FFN."""

from __future__ import annotations

from collections.abc import Callable

from tracer.decoder.operations import (
    Activate,
    Add,
    Copy,
    MatMul,
    Mean,
    Normalize,
    Square,
    SquareRoot,
    Subtract,
    numbered,
)
from tracer.decoder.parameters import bias, features_of, weights
from tracer.decoder.roles import (
    ACTIVATION,
    B_1,
    B_2,
    DEVIATION,
    FFN_OUTPUT,
    GAIN,
    HIDDEN,
    MEAN,
    NORM,
    RESIDUAL,
    SHIFT,
    SQUARED,
    STD,
    VARIANCE,
    W_1,
    W_2,
)
from tracer.decoder.tape import Tape, Value
from tracer.scenario.model import FFN, Norm, SubLayer


def sub_layer(
    tape: Tape,
    x: Value,
    parameters: SubLayer,
    norm: Norm | None,
    compute: Callable[[Value], Value],
) -> Value:
    """LayerNorm(x + f(x)), or x + f(LayerNorm(x)), or as much of it as the scenario asks for."""
    before = norm is not None and norm.placement == "pre"
    change = compute(layer_norm(tape, x, norm) if norm and before else x)
    if parameters.residual:
        change = tape.record(RESIDUAL, Add(), x, change)
    return layer_norm(tape, change, norm) if norm and not before else change


def layer_norm(tape: Tape, x: Value, norm: Norm) -> Value:
    """(x - μ) / √(σ² + ε) · γ + β, over the features of each token (Ba et al. 2016)."""
    gain = bias(tape, GAIN, norm.gain, x)
    shift = bias(tape, SHIFT, norm.shift, x)
    mean = tape.record(MEAN, Mean(), x)
    deviation = tape.record(DEVIATION, Subtract(), x, mean)
    squared = tape.record(SQUARED, Square(), deviation)
    variance = tape.record(VARIANCE, Mean(), squared)
    std = tape.record(STD, SquareRoot(norm.epsilon), variance)
    normalize = Normalize(gain=bool(gain), shift=bool(shift))
    return tape.record(NORM, normalize, deviation, std, *gain, *shift)


def feed_forward(tape: Tape, x: Value, parameters: FFN) -> Value:
    """FFN(x) = f(x W_1 + b_1) W_2 + b_2."""
    units = parameters.labels or numbered("h", 1, len(parameters.W_1[0]))
    w_1 = weights(tape, W_1, parameters.W_1, x, units, "hidden")
    hidden = tape.record(HIDDEN, MatMul(), x, w_1, *bias(tape, B_1, parameters.b_1, w_1))
    function = parameters.activation
    active = tape.record(ACTIVATION, Copy() if function == "none" else Activate(function), hidden)
    w_2 = weights(tape, W_2, parameters.W_2, active, features_of(x, len(parameters.W_2[0])))
    return tape.record(FFN_OUTPUT, MatMul(), active, w_2, *bias(tape, B_2, parameters.b_2, w_2))
