"""Softmax, for attention, words and sampling."""

from __future__ import annotations

from tracer.decoder.elementwise import DivideByRowSum, Exp, Subtract
from tracer.decoder.operations import Largest, Total
from tracer.decoder.roles import SoftmaxRoles
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.formula.arithmetic import SHAPES


def softmax(tape: Tape, roles: SoftmaxRoles, scores: Value, *, shifted: bool) -> Value:
    """e^scores / Σ e^scores, row by row: (n, m) → (n, m).

    With `shifted`, or where e^scores would overflow, each row's largest score is subtracted first.
    """
    if shifted or _overflow(tape, roles, scores):
        largest = tape.record(roles.largest, Largest(), scores)
        scores = tape.record(roles.shifted, Subtract(), scores, largest)
    exponentials = tape.record(roles.exp, Exp(), scores)
    total = tape.record(roles.total, Total(), exponentials)
    return tape.record(roles.shares, DivideByRowSum(), exponentials, total)


def _overflow(tape: Tape, roles: SoftmaxRoles, scores: Value) -> bool:
    """Whether e^scores would overflow; without numbers, whether what follows from it is given."""
    if tape.arithmetic is SHAPES:
        following = (roles.largest, roles.shifted)
        return any(scores.place.address(role) in tape.pinned for role in following)
    return not tape.arithmetic.has_powers_of(scores.numbers)
