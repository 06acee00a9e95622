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
from tracer.decoder.part import HeadContext, Part
from tracer.decoder.roles import Role, RoundingRule
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.parts.blocks.scenario import AttentionKeys
from tracer.scenario.part import keys_of

EXP = VanishingExp()

BLOCK_SCORES = Role("scores", hides=True)
BLOCK_VALUES = Role("values")
RUNNING_MAX = Role("max", hides=True)
MAX_CHANGE = Role("change", hides=True)
FACTOR = Role("factor", RoundingRule.WORKING)
BLOCK_SHIFTED = Role("shifted", hides=True)
BLOCK_EXP = Role("exp", RoundingRule.SHARED)
BLOCK_SUM = Role("block_sum", RoundingRule.SHARED)
RUNNING_SUM = Role("sum", RoundingRule.WORKING)
BLOCK_OUTPUT = Role("block_output", RoundingRule.WORKING)
RUNNING_OUTPUT = Role("output", RoundingRule.WORKING)
BLOCKS_OUTPUT = Role("blocks.output")


@dataclass(frozen=True)
class Running:
    """Of the blocks so far: the maximum m (n,), the sum l (n,) and the output O (n, d_v)."""

    maximum: Value
    total: Value
    output: Value


def softmax_in_blocks(tape: Tape, at: HeadContext, scores: Value, v: Value) -> None:
    """O / l after the last block: masked scores (n, m), V (m, d_v) → (n, d_v)."""
    blocks = keys_of(at.attention.parameters, AttentionKeys).blocks
    if not blocks:
        return
    running: Running | None = None
    for number, keys in enumerate(split(scores.shape[1], blocks), start=1):
        with tape.at(block=number):
            running = next_block(tape, *of_block(tape, scores, v, keys), running)
    assert running
    tape.record(BLOCKS_OUTPUT, DivideByRowSum(), running.output, running.total)


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
    s = tape.record(BLOCK_SCORES, op.Columns(start, stop), scores)
    own = s.axes[1]
    return s, tape.record_as(BLOCK_VALUES, op.Rows(tuple(keys)), (own, v.axes[1]), v)


def next_block(tape: Tape, s: Value, v: Value, before: Running | None) -> Running:
    """m' = max(m, S); l' = e^(m - m') l + Σ e^(S - m'); O' = e^(m - m') O + e^(S - m') V."""
    if before is None:
        maximum = tape.record(RUNNING_MAX, op.LargestSoFar(), s)
        exponentials = below(tape, s, maximum)
        total = tape.record(RUNNING_SUM, op.Total(), exponentials)
        output = tape.record(RUNNING_OUTPUT, op.MatMul(), exponentials, v)
        return Running(maximum, total, output)
    maximum = tape.record(RUNNING_MAX, op.LargestSoFar(), s, before.maximum)
    change = tape.record(MAX_CHANGE, MaximumChange(), before.maximum, maximum)
    factor = tape.record(FACTOR, EXP, change)
    exponentials = below(tape, s, maximum)
    added = tape.record(BLOCK_SUM, op.Total(), exponentials)
    total = tape.record(RUNNING_SUM, Rescale(), before.total, factor, added)
    weighted = tape.record(BLOCK_OUTPUT, op.MatMul(), exponentials, v)
    output = tape.record(RUNNING_OUTPUT, RescaleRows(), before.output, factor, weighted)
    return Running(maximum, total, output)


def below(tape: Tape, s: Value, maximum: Value) -> Value:
    """e^(S - m): (n, k), with the running maximum m (n,)."""
    shifted = tape.record(BLOCK_SHIFTED, BelowMaximum(), s, maximum)
    return tape.record(BLOCK_EXP, EXP, shifted)


PART = Part(
    roles={
        roles.HEAD_OUTPUT: (
            *(BLOCK_SCORES, BLOCK_VALUES, RUNNING_MAX, MAX_CHANGE, FACTOR, BLOCK_SHIFTED),
            *(BLOCK_EXP, BLOCK_SUM, RUNNING_SUM, BLOCK_OUTPUT, RUNNING_OUTPUT, BLOCKS_OUTPUT),
        )
    },
    beside=softmax_in_blocks,
)
