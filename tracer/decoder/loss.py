"""The training loss: cross-entropy of words, squared error, or binary cross-entropy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tracer.decoder import elementwise as el, roles
from tracer.decoder.operations import Join, Mean, MeanOf, Rows, SumOf, Total
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.decoder.words import LogitsAndProbabilities
from tracer.errors import Problem, TracerError
from tracer.scenario.model import Scenario

NO_TARGET = "—"
"""The label of a position without a correct next word."""

LARGEST_EXPONENT = 700
"""A larger power of e is no float."""

ROLES = {
    "cross_entropy": roles.CROSS_ENTROPY,
    "squared": roles.SQUARED_ERRORS,
    "binary": roles.BINARY_CROSS_ENTROPY,
}


@dataclass(frozen=True)
class PassOutput:
    """What a pass ends with: the output y (n, d_model), and with a vocabulary the logits."""

    output: Value
    predicted: LogitsAndProbabilities | None


def token_losses(tape: Tape, found: PassOutput, scenario: Scenario) -> Value:
    """Record the loss at each position, (n,); of numbers, at each of the k that have a target.

    Raises:
        TracerError: there is no vocabulary, or no position has a target.
    """
    match scenario.loss.kind:
        case "squared":
            y = found.predicted.logits if found.predicted else found.output
            return _squared(tape, y, scenario)
        case "binary":
            return _binary(tape, _predicted(found).logits, scenario)
        case _:
            return _cross_entropy(tape, _predicted(found).probabilities, scenario)


def _predicted(found: PassOutput) -> LogitsAndProbabilities:
    if found.predicted is None:
        message = "the loss needs a vocabulary"
        raise TracerError(Problem(message, address="vocabulary", yaml_path=("vocabulary",)))
    return found.predicted


def _cross_entropy(tape: Tape, probabilities: Value, scenario: Scenario) -> Value:
    """-ln p(correct word) at each position: p (n, vocabulary) → (n,).

    With label smoothing ε (Szegedy et al. 2016, section 7), (1 - ε) times that plus ε times the
    mean of -ln p over all words.
    """
    words = probabilities.axes[1].labels
    targets = targets_of(scenario)
    columns = tuple(None if word is None else words.index(word) for word in targets)
    labels = tuple(NO_TARGET if word is None else word for word in targets)
    tape.given(roles.TARGET, labels, probabilities.axes[:1])
    smoothing = scenario.loss.smoothing
    if not smoothing:
        of_correct = el.NegativeLogLikelihood(columns, labels)
        return tape.record(roles.TOKEN_LOSS, of_correct, probabilities)
    counted = tuple(row for row, column in enumerate(columns) if column is not None)
    if not counted:
        _refuse(scenario)
    p = tape.record(roles.COUNTED_PROBABILITIES, Rows(counted), probabilities)
    of_correct = el.NegativeLogLikelihood(
        tuple(columns[i] for i in counted), tuple(labels[i] for i in counted)
    )
    correct = tape.record(roles.CORRECT_LOSS, of_correct, p)
    of_words = tape.record(roles.WORD_LOSS, el.NegativeLog(), p)
    mean = tape.record(roles.MEAN_WORD_LOSS, Mean(), of_words)
    return tape.record(roles.TOKEN_LOSS, el.Combine(1 - smoothing, smoothing), correct, mean)


def _squared(tape: Tape, y: Value, scenario: Scenario) -> Value:
    """The mean, or the sum, of c (y - t)² at each position with a target: y (n, d) → (k,)."""
    y, target = _with_targets(tape, roles.SQUARED_OUTPUT, roles.SQUARED_TARGET, y, scenario)
    error = tape.record(roles.ERROR, el.Difference(), y, target)
    if scenario.loss.factor == 1:
        squared = tape.record(roles.SQUARED_ERROR, el.Square(), error)
    else:
        multiplied = el.MultipliedSquare(scenario.loss.factor)
        squared = tape.record(roles.MULTIPLIED_ERROR, multiplied, error)
    return tape.record(roles.TOKEN_ERROR, _of_row(scenario), squared)


def _binary(tape: Tape, z: Value, scenario: Scenario) -> Value:
    """The mean, or the sum, of -ln q at each position with a target: z (n, vocabulary) → (k,).

    p = σ(z) is the probability of 1, and q that of the target: σ(z) where it is 1, σ(-z) where it
    is 0.
    """
    z, target = _with_targets(tape, roles.BINARY_OUTPUT, roles.BINARY_TARGET, z, scenario)
    p = tape.record(roles.SIGMOID, el.Sigmoid(), z)
    if p.address in tape.pinned:
        correct = tape.record(roles.CORRECT, el.OfGivenTarget(), p, target)
    else:
        correct = tape.record(roles.CORRECT, el.OfTarget(), z, target)
    surprise = tape.record(roles.SURPRISE, el.NegativeLog(), correct)
    return tape.record(roles.TOKEN_SURPRISE, _of_row(scenario), surprise)


def _of_row(scenario: Scenario) -> Mean | Total:
    return Mean() if scenario.loss.reduction == "mean" else Total()


def _with_targets(
    tape: Tape, output: roles.Role, target: roles.Role, y: Value, scenario: Scenario
) -> tuple[Value, Value]:
    """The rows of y that have a target, and the targets: both (k, d)."""
    rows, numbers = _numbers(scenario)
    if not rows:
        _refuse(scenario)
    counted = tape.record(output, Rows(rows), y)
    return counted, tape.given(target, numbers, counted.axes)


def _numbers(scenario: Scenario) -> tuple[tuple[int, ...], Any]:
    """The positions that have a target, and the numbers of each."""
    target: Any = scenario.loss.target
    n = len(scenario.tokens)
    if target is not None:
        return (tuple(range(n)), target) if isinstance(target[0], tuple) else ((n - 1,), (target,))
    words = targets_of(scenario) if scenario.loss.kind == "binary" else ()
    rows = tuple(i for i, word in enumerate(words) if word is not None)
    return rows, [[Decimal(word == words[i]) for word in scenario.vocabulary or ()] for i in rows]


def loss(tape: Tape, examples: Sequence[Value], scenario: Scenario) -> Value:
    """L = the mean, or the sum, of the losses at all positions of all examples: (n,) each → ().

    Positions without a target do not count. Of a mean cross-entropy, its perplexity e^L is recorded
    beside it.

    Raises:
        TracerError: no position has a target.
    """
    of = ROLES[scenario.loss.kind]
    losses = examples[0]
    if len(examples) > 1:
        assert of.batch  # targets of numbers belong to the scenario's own tokens
        losses = tape.record(of.batch, Join(), *examples)
    labels = losses.axes[0].labels
    is_of_words = scenario.loss.kind == "cross_entropy"
    counted = tuple(i for i, t in enumerate(labels) if not is_of_words or t != NO_TARGET)
    if not counted:
        _refuse(scenario)
    if scenario.loss.reduction == "sum":
        return tape.record(of.loss, SumOf(counted), losses)
    mean = tape.record(of.loss, MeanOf(counted), losses)
    if is_of_words and not scenario.loss.smoothing and mean.numbers[()] < LARGEST_EXPONENT:
        tape.record(roles.PERPLEXITY, el.Exp(), mean)
    return mean


def _refuse(scenario: Scenario) -> None:
    what = "target in" if scenario.fills_in else "next token that is in"
    message = f"no position has a {what} the vocabulary"
    raise TracerError(Problem(message, address="targets", yaml_path=("targets",)))


def has_loss(scenario: Scenario) -> bool:
    """Return whether a position has a target."""
    if scenario.loss.kind != "squared" and scenario.vocabulary is None:
        return False
    return bool(positions_with_target(scenario))


def positions_with_target(scenario: Scenario) -> tuple[int, ...]:
    """Return the positions that have a target, counted from 0."""
    if scenario.loss.kind != "cross_entropy":
        return _numbers(scenario)[0]
    return tuple(i for i, word in enumerate(targets_of(scenario)) if word is not None)


def targets_of(scenario: Scenario) -> tuple[str | None, ...]:
    """The n correct tokens, one for each position: as given, else the tokens shifted by one.

    None after the last token, at padding, for a token outside the vocabulary, and where masked
    words are predicted and not given.
    """
    words, n = scenario.vocabulary or (), len(scenario.tokens)
    shifted = (*([None] * n if scenario.fills_in else scenario.tokens[1:]), None)[:n]
    return tuple(
        target if target in words and scenario.padding not in (token, target) else None
        for token, target in zip(scenario.tokens, scenario.targets or shifted, strict=True)
    )
