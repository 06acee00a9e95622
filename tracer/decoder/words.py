"""From the decoder's output to words: logits, probabilities, the prediction."""

from __future__ import annotations

from dataclasses import dataclass

from tracer.decoder.operations import ArgMax, MatMul
from tracer.decoder.parameters import bias, weights
from tracer.decoder.roles import B_U, LOGITS, PREDICTION, W_U, WORD_SOFTMAX
from tracer.decoder.softmax import softmax
from tracer.decoder.tape import Tape, Value
from tracer.scenario.model import Scenario


@dataclass(frozen=True)
class Predicted:
    """What stands for each word of the vocabulary: z and p, of shape (tokens, words)."""

    logits: Value
    probabilities: Value


def predict(tape: Tape, output: Value, scenario: Scenario) -> Predicted | None:
    """p = softmax(y W_U + b_U), and the most probable word; nothing without a vocabulary."""
    if scenario.unembedding is None or not scenario.vocabulary:
        return None
    w_u = weights(tape, W_U, scenario.unembedding.W_U, output, scenario.vocabulary)
    b_u = bias(tape, B_U, scenario.unembedding.b_U, w_u)
    logits = tape.record(LOGITS, MatMul(), output, w_u, *b_u)
    probabilities = softmax(tape, WORD_SOFTMAX, logits, shifted=scenario.softmax == "shifted")
    tape.record(PREDICTION, ArgMax(scenario.vocabulary), probabilities, logits)
    return Predicted(logits, probabilities)
