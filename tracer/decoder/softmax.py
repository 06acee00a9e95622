"""Softmax, wherever scores become shares: of attention, of words, of a draw."""

from __future__ import annotations

from tracer.decoder.operations import Exp, Share, Total
from tracer.decoder.roles import Softmax
from tracer.decoder.tape import Tape, Value


def softmax(tape: Tape, roles: Softmax, scores: Value) -> Value:
    """e^scores / Σ e^scores, row by row: (n, m) → (n, m)."""
    exponentials = tape.record(roles.exp, Exp(), scores)
    total = tape.record(roles.total, Total(), exponentials)
    return tape.record(roles.shares, Share(), exponentials, total)
