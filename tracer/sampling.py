"""How the next word is drawn: temperature, top-k, top-p and a random number, each step recorded."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from tracer.operations import Cumulate, Divide, Exp, Pick, Select, Share, Total
from tracer.tape import Tape, Value


@dataclass(frozen=True)
class Sampling:
    """What is asked for; `draw` is the random number between 0 and 1."""

    draw: Decimal
    temperature: Decimal = Decimal(1)
    top_k: int | None = None
    top_p: Decimal | None = None


def sample(tape: Tape, sampling: Sampling) -> Value:
    """Record how a word is drawn after the last token."""
    with tape.scope("sampling"):
        logits = tape.value("logits")
        words = len(logits.axes[1].labels)
        scores = tape.record("logits", Select(tuple(range(words))), logits)
        if sampling.temperature != 1:
            temperature = tape.given("sampling.temperature", sampling.temperature, ())
            scores = tape.record("scaled", Divide(), scores, temperature)
        exponentials = tape.record("exp", Exp(), scores)
        total = tape.record("exp_sum", Total(), exponentials)
        probabilities = tape.record("probabilities", Share(), exponentials, total)
        kept = candidates(probabilities, sampling)
        p = tape.record("candidates", Select(kept), probabilities)
        if len(kept) < words:
            rest = tape.record("candidates_sum", Total(), p)
            p = tape.record("renormalized", Share(), p, rest)
        cumulative = tape.record("cumulative", Cumulate(), p)
        draw = tape.given("sampling.draw", sampling.draw, ())
        return tape.record("word", Pick(p.axes[1].labels), cumulative, draw)


def candidates(probabilities: Value, sampling: Sampling) -> tuple[int, ...]:
    """The columns that stay, the most probable first.

    Top-k keeps the k most probable words, top-p the fewest of them that together reach p
    (Holtzman et al. 2020).
    """
    row = list(probabilities.array[-1])
    order = sorted(range(len(row)), key=lambda column: row[column], reverse=True)
    order = order[: sampling.top_k]
    if sampling.top_p is not None:
        reached = np.cumsum([row[column] for column in order])
        enough = sum(1 for total in reached if total < sampling.top_p) + 1
        order = order[:enough]
    return tuple(order)
