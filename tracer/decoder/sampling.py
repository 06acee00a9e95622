"""How the next word is drawn: temperature, top-k, top-p and a random number, each step recorded."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from tracer.decoder import roles
from tracer.decoder.elementwise import Divide, DivideByRowSum
from tracer.decoder.operations import Cumulate, Pick, Select, Total
from tracer.decoder.softmax import softmax
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.scenario.fields import Names


@dataclass(frozen=True)
class Sampling:
    """How the next word is drawn; `draw` is a random number between 0 and 1."""

    draw: Decimal
    temperature: Decimal = Decimal(1)
    top_k: int | None = None
    top_p: Decimal | None = None


def sample(
    tape: Tape, logits: Value, sampling: Sampling, *, shifted: bool, excluded: Names = ()
) -> None:
    """Record how a word is drawn after the last token: logits (n, words) → one word.

    The excluded words are never drawn.
    """
    p = kept_probabilities(tape, logits, sampling, shifted=shifted, excluded=excluded)
    cumulative = tape.record(roles.CUMULATIVE, Cumulate(), p)
    draw = tape.given(roles.DRAW, sampling.draw, ())
    tape.record(roles.WORD, Pick(p.axes[1].labels), cumulative, draw)


def kept_probabilities(
    tape: Tape, logits: Value, sampling: Sampling, *, shifted: bool, excluded: Names = ()
) -> Value:
    """Record the probabilities that a word is drawn from: logits (n, words) → (1, kept words).

    They are those after the last token, the most probable first.
    """
    allowed = tuple(i for i, word in enumerate(logits.axes[1].labels) if word not in excluded)
    words = len(allowed)
    scores = tape.record(roles.DRAWN_LOGITS, Select(allowed), logits)
    if sampling.temperature != 1:
        temperature = tape.given(roles.TEMPERATURE, sampling.temperature, ())
        scores = tape.record(roles.SCALED, Divide(), scores, temperature)
    probabilities = softmax(tape, roles.DRAWN_SOFTMAX, scores, shifted=shifted)
    kept = candidates(probabilities, scores, sampling)
    p = tape.record(roles.CANDIDATES, Select(kept), probabilities)
    if len(kept) < words:
        rest = tape.record(roles.CANDIDATES_SUM, Total(), p)
        p = tape.record(roles.RENORMALIZED, DivideByRowSum(), p, rest)
    return p


def candidates(probabilities: Value, scores: Value, sampling: Sampling) -> tuple[int, ...]:
    """The columns that top-k and top-p keep (Holtzman et al. 2020), the most probable first."""
    row, z = probabilities.computed[-1], scores.computed[-1]
    order = sorted(range(len(row)), key=lambda column: (row[column], z[column]), reverse=True)
    order = order[: sampling.top_k]
    if sampling.top_p is not None:
        reached = np.cumsum([row[column] for column in order])
        enough = sum(1 for total in reached if total < sampling.top_p) + 1
        order = order[:enough]
    return tuple(order)
