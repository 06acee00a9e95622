"""The logit lens (nostalgebraist 2020): each layer's output read as if it were the last."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.decoder.sub_layers import normalized
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.decoder.words import predict
from tracer.errors import Problem, TracerError
from tracer.scenario.model import Scenario


def logit_lens(
    tape: Tape, leaving: Sequence[Value], to_words: tuple[Value, ...], scenario: Scenario
) -> None:
    """Record softmax(Norm(x) W_U) of each layer's output x: (n, d_model) → (n, vocabulary).

    Raises:
        TracerError: there is no vocabulary or no layer, or a layer leaves vectors of another width.
    """
    check_width(leaving, to_words)
    for number, x in enumerate(leaving, start=1):
        with tape.at(layer=number, sub_layer="lens"):
            read_words(tape, x, to_words, scenario)


def read_words(tape: Tape, x: Value, to_words: tuple[Value, ...], scenario: Scenario) -> None:
    """Record softmax(Norm(x) W_U) of vectors x: (n, d_model) → (n, vocabulary)."""
    if scenario.final_norm:
        x = normalized(tape, x, scenario.final_norm)
    predict(tape, x, to_words, scenario)


def check_width(leaving: Sequence[Value], to_words: Sequence[Value]) -> None:
    """Raise a TracerError unless there are words, and layers that leave vectors of their width."""
    if not to_words:
        message = "the lens needs a vocabulary"
        raise TracerError(Problem(message, address="vocabulary", yaml_path=("vocabulary",)))
    if not leaving:
        message = "the lens needs at least one layer"
        raise TracerError(Problem(message, address="layers", yaml_path=("layers",)))
    width = leaving[-1].shape[1]
    for number, x in enumerate(leaving, start=1):
        if x.shape[1] != width:
            message = f"layer {number} leaves {x.shape[1]} numbers, the vocabulary needs {width}"
            raise TracerError(Problem(message, yaml_path=("layers", number - 1)))
