"""The logit lens of a pass that has not recorded it, for some tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracer.decoder import roles
from tracer.decoder.axes import Axes, Axis
from tracer.decoder.forward import Trace, arithmetic_of
from tracer.decoder.lens import check_width, read_words
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value


def lens_of_rows(found: Trace, tokens: Sequence[int]) -> tuple[Value, Value]:
    """The words and the probabilities of some tokens after each layer: layers × tokens rows.

    All rows are multiplied by W_U at once, which a large model has to read for each product.

    Raises:
        TracerError: there is no vocabulary or no layer, or a layer leaves vectors of another width.
    """
    leaving = layer_outputs(found)
    to_words = [r.output for r in found.records if r.output.role in (roles.W_U, roles.B_U)]
    check_width(leaving, tuple(to_words))
    places = [(x, x.row(token, len(found.tokens))) for x in leaving for token in tokens]
    rows = np.stack([x.numbers[row] for x, row in places])
    axes: Axes = (Axis("row", tuple(map(str, range(len(rows))))), leaving[-1].axes[1])
    tape = Tape(arithmetic_of(found.scenario), found.pencil)
    with tape.computing(), tape.at(sub_layer="lens"):
        read_words(tape, tape.given(roles.OUTPUT, rows, axes), tuple(to_words), found.scenario)
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
