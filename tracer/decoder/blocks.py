"""Softmax in blocks of keys, with a running maximum and sum (Milakov and Gimelshein 2018).

FlashAttention (Dao et al. 2022) computes attention in this way. The result is beside the softmax of
whole rows: no later value reads it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracer.decoder import operations as op, roles
from tracer.decoder.elementwise import (
    BelowMaximum,
    DivideByRowSum,
    MaximumChange,
    Rescale,
    RescaleRows,
    VanishingExp,
)
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value

EXP = VanishingExp()


@dataclass(frozen=True)
class RunningSoftmax:
    """Of the blocks so far: the maximum m (n,), the sum l (n,) and the output O (n, d_v)."""

    maximum: Value
    total: Value
    output: Value


def softmax_in_blocks(tape: Tape, scores: Value, v: Value, blocks: int) -> Value:
    """O / l after the last block: masked scores (n, m), V (m, d_v) → (n, d_v)."""
    running: RunningSoftmax | None = None
    for number, keys in enumerate(split(scores.shape[1], blocks), start=1):
        with tape.at(block=number):
            running = next_block(tape, *of_block(tape, scores, v, keys), running)
    assert running
    return tape.record(roles.BLOCKS_OUTPUT, DivideByRowSum(), running.output, running.total)


def split(keys: int, blocks: int) -> list[range]:
    """Return the keys of each block, counted from 0; the first blocks may have one key more.

    There are at most as many blocks as keys.
    """
    blocks = min(blocks, keys)
    size, more = divmod(keys, blocks)
    return [range(*(size * i + min(i, more) for i in (b, b + 1))) for b in range(blocks)]


def of_block(tape: Tape, scores: Value, v: Value, keys: range) -> tuple[Value, Value]:
    """The scores (n, k) and the values (k, d_v) of k keys."""
    start, stop = keys.start, keys.stop
    s = tape.record(roles.BLOCK_SCORES, op.Columns(start, stop), scores)
    own = s.axes[1]
    return s, tape.record_as(roles.BLOCK_VALUES, op.Rows(tuple(keys)), (own, v.axes[1]), v)


def next_block(tape: Tape, s: Value, v: Value, before: RunningSoftmax | None) -> RunningSoftmax:
    """m' = max(m, S); l' = e^(m - m') l + Σ e^(S - m'); O' = e^(m - m') O + e^(S - m') V."""
    if before is None:
        maximum = tape.record(roles.RUNNING_MAX, op.LargestSoFar(), s)
        exponentials = exp_below_maximum(tape, s, maximum)
        total = tape.record(roles.RUNNING_SUM, op.Total(), exponentials)
        output = tape.record(roles.RUNNING_OUTPUT, op.MatMul(), exponentials, v)
        return RunningSoftmax(maximum, total, output)
    maximum = tape.record(roles.RUNNING_MAX, op.LargestSoFar(), s, before.maximum)
    change = tape.record(roles.MAX_CHANGE, MaximumChange(), before.maximum, maximum)
    factor = tape.record(roles.FACTOR, EXP, change)
    exponentials = exp_below_maximum(tape, s, maximum)
    added = tape.record(roles.BLOCK_SUM, op.Total(), exponentials)
    total = tape.record(roles.RUNNING_SUM, Rescale(), before.total, factor, added)
    weighted = tape.record(roles.BLOCK_OUTPUT, op.MatMul(), exponentials, v)
    output = tape.record(roles.RUNNING_OUTPUT, RescaleRows(), before.output, factor, weighted)
    return RunningSoftmax(maximum, total, output)


def exp_below_maximum(tape: Tape, s: Value, maximum: Value) -> Value:
    """e^(S - m): (n, k), with the running maximum m (n,)."""
    shifted = tape.record(roles.BLOCK_SHIFTED, BelowMaximum(), s, maximum)
    return tape.record(roles.BLOCK_EXP, EXP, shifted)
