"""The logit lens (nostalgebraist 2020): each layer's output read as if it were the last."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracer.decoder import roles
from tracer.decoder.axes import Axes, Axis
from tracer.decoder.forward import Trace, arithmetic_of
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
    _check(leaving, to_words)
    for number, x in enumerate(leaving, start=1):
        with tape.at(layer=number, sub_layer="lens"):
            _read(tape, x, to_words, scenario)


def lens_of_rows(found: Trace, tokens: Sequence[int]) -> tuple[Value, Value]:
    """The words and the probabilities of some tokens after each layer: layers × tokens rows.

    All rows are multiplied by W_U at once, which a large model has to read for each product.

    Raises:
        TracerError: there is no vocabulary or no layer, or a layer leaves vectors of another width.
    """
    leaving = layer_outputs(found)
    to_words = [r.output for r in found.records if r.output.role in (roles.W_U, roles.B_U)]
    _check(leaving, tuple(to_words))
    places = [(x, x.row(token, len(found.tokens))) for x in leaving for token in tokens]
    rows = np.stack([x.numbers[row] for x, row in places])
    axes: Axes = (Axis("row", tuple(map(str, range(len(rows))))), leaving[-1].axes[1])
    tape = Tape(arithmetic_of(found.scenario), found.pencil)
    with tape.computing(), tape.at(sub_layer="lens"):
        _read(tape, tape.given(roles.OUTPUT, rows, axes), tuple(to_words), found.scenario)
    read = {record.output.role: record.output for record in tape.records}
    return read[roles.PREDICTION], read[roles.PROBABILITIES]


def layer_outputs(found: Trace) -> list[Value]:
    """What each layer of the decoder leaves, (n, d_model): the last that is recorded in it."""
    last: dict[int, Value] = {}
    for value in (record.output for record in found.records):
        place = value.place
        elsewhere = place.encoder or place.sub_layer == "lens" or place.phase != "forward"
        if place.layer and not elsewhere and place.example is None:
            last[place.layer] = value
    return [last[layer] for layer in sorted(last)]


def _read(tape: Tape, x: Value, to_words: tuple[Value, ...], scenario: Scenario) -> None:
    if scenario.final_norm:
        x = normalized(tape, x, scenario.final_norm)
    predict(tape, x, to_words, scenario)


def _check(leaving: Sequence[Value], to_words: Sequence[Value]) -> None:
    if not to_words:
        message = "the lens needs a vocabulary"
        raise TracerError(Problem(message, address="vocabulary", yaml_path=("vocabulary",)))
    if not leaving:
        message = "the lens needs at least one layer"
        raise TracerError(Problem(message, address="layers", yaml_path=("layers",)))
    width = to_words[0].shape[0]
    for number, x in enumerate(leaving, start=1):
        if x.shape[1] != width:
            message = f"layer {number} leaves {x.shape[1]} numbers, the vocabulary needs {width}"
            raise TracerError(Problem(message, yaml_path=("layers", number - 1)))
