"""The model's output as words: logits, probabilities, prediction."""

from __future__ import annotations

from dataclasses import dataclass

from tracer.decoder import roles
from tracer.decoder.axes import Axis
from tracer.decoder.elementwise import DivideBy, SoftCap
from tracer.decoder.operations import ArgMax, MatMul
from tracer.decoder.parameters import bias, features_of, matrix_of
from tracer.decoder.part import parts
from tracer.decoder.softmax import softmax
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.scenario.fields import shape_of
from tracer.scenario.model import Scenario


@dataclass(frozen=True)
class LogitsAndProbabilities:
    """The logits z and the probabilities p, both (n, vocabulary)."""

    logits: Value
    probabilities: Value


def projection(tape: Tape, output: Value, scenario: Scenario) -> tuple[Value, ...]:
    """W_U, and b_U if there is one; nothing without a vocabulary."""
    if scenario.unembedding is None or not scenario.vocabulary:
        return ()
    numbers = scenario.unembedding.W_U
    rows = Axis(output.axes[1].name, features_of(output, shape_of(numbers)[0]))
    w_u = matrix_of(tape, roles.W_U, numbers, (rows, Axis("word", scenario.vocabulary)))
    return (w_u, *bias(tape, roles.B_U, scenario.unembedding.b_U, w_u))


def predict(
    tape: Tape, output: Value, to_words: tuple[Value, ...], scenario: Scenario
) -> LogitsAndProbabilities:
    """z = y W_U + b_U and p = softmax(z): y (n, d_model), W_U (d_model, vocabulary).

    A part of the model may change y before.
    With a scale s, z = (y W_U + b_U) / s; with a soft cap, c · tanh(z / c) takes the place of z.
    The most probable word of each row is recorded, too.
    """
    for part in parts():
        if part.words:
            output = part.words(tape, output, scenario)
    asked = scenario.unembedding
    scale, cap = (asked.scale, asked.softcap) if asked else (None, None)
    before_cap = roles.LOGITS if cap is None else roles.UNCAPPED_LOGITS
    before_scale = before_cap if scale is None else roles.UNSCALED_LOGITS
    logits = tape.record(before_scale, MatMul(), output, *to_words)
    if scale is not None:
        logits = tape.record(before_cap, DivideBy(scale), logits)
    if cap is not None:
        logits = tape.record(roles.LOGITS, SoftCap(cap), logits)
    probabilities = softmax(tape, roles.WORD_SOFTMAX, logits, shifted=scenario.softmax == "shifted")
    tape.record(roles.PREDICTION, ArgMax(logits.axes[1].labels), probabilities, logits)
    return LogitsAndProbabilities(logits, probabilities)
