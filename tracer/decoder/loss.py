"""The training loss: the cross-entropy of the correct next words."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.decoder.elementwise import NegativeLogLikelihood
from tracer.decoder.operations import Join, MeanOf
from tracer.decoder.roles import BATCH_LOSSES, LOSS, TARGET, TOKEN_LOSS
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.decoder.words import Predicted
from tracer.errors import Problem, TracerError
from tracer.scenario.model import Scenario

NO_TARGET = "—"
"""The label of a position without a correct next word."""


def token_losses(tape: Tape, predicted: Predicted | None, scenario: Scenario) -> Value:
    """-ln p(correct word) at each position: p (n, vocabulary) → (n,).

    Raises:
        TracerError: there is no vocabulary.
    """
    if predicted is None:
        message = "the loss needs a vocabulary"
        raise TracerError(Problem(message, address="vocabulary", yaml_path=("vocabulary",)))
    probabilities = predicted.probabilities
    words = probabilities.axes[1].labels
    targets = targets_of(scenario)
    columns = tuple(None if word is None else words.index(word) for word in targets)
    labels = tuple(NO_TARGET if word is None else word for word in targets)
    tape.given(TARGET, labels, probabilities.axes[:1])
    return tape.record(TOKEN_LOSS, NegativeLogLikelihood(columns, labels), probabilities)


def cross_entropy(tape: Tape, examples: Sequence[Value]) -> Value:
    """L = the mean loss over all positions of all examples that have a target: (n,) each → ().

    Raises:
        TracerError: there is no such position.
    """
    losses = examples[0] if len(examples) == 1 else tape.record(BATCH_LOSSES, Join(), *examples)
    labels = losses.axes[0].labels
    counted = tuple(i for i, target in enumerate(labels) if target != NO_TARGET)
    if not counted:
        message = "no position has a next token that is in the vocabulary"
        raise TracerError(Problem(message, address="targets", yaml_path=("targets",)))
    return tape.record(LOSS, MeanOf(counted), losses)


def targets_of(scenario: Scenario) -> tuple[str | None, ...]:
    """The n correct next tokens, one for each position: as given, else the tokens shifted by one.

    None after the last token, at padding, and for a token outside the vocabulary.
    """
    words = scenario.vocabulary or ()
    shifted = (*scenario.tokens[1:], None)
    return tuple(
        target if target in words and scenario.padding not in (token, target) else None
        for token, target in zip(scenario.tokens, scenario.targets or shifted, strict=True)
    )
