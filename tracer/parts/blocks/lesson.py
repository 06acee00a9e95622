"""The steps of a softmax in blocks of keys: their goals, reasons and claims."""

from __future__ import annotations

from dataclasses import replace

from tracer.decoder import roles
from tracer.decoder.operations import Columns, Pinned
from tracer.decoder.roles import Place, Role
from tracer.formula import expression as ex
from tracer.lesson import entries
from tracer.lesson.context import LessonContext, listed
from tracer.lesson.document import Sentence
from tracer.lesson.steps.kind import InnerKind, Naming, RoleText, Step
from tracer.lesson.steps.masks import HIDDEN
from tracer.lesson.steps.part import LessonPart
from tracer.names import distinct
from tracer.parts.blocks import decoder


def _symbol(base: str, caption: str | None = None) -> RoleText:
    """Return the text of a value whose symbol has the block's number: S₁."""
    return RoleText(lambda n: ex.Symbol(base, n.block, n.head), caption)


def _difference(naming: Naming) -> ex.Expression:
    return ex.Difference(*naming.inputs)


def _exponential(naming: Naming) -> ex.Expression:
    return ex.Exponential(naming.inputs[0])


# --- one block -----------------------------------------------------------------------------------


def _keys(step: Step) -> Sentence:
    """`Block 2 has the keys of “c” and “d”.`"""
    record = step.records[0]
    assert isinstance(record.operation, Columns)
    names = distinct(record.inputs[0].axes[1].labels)
    own = names[record.operation.start : record.operation.stop]
    noun = "key" if len(own) == 1 else "keys"
    return (f"Block {step.place.block} has the {noun} of ", *listed(own), ".")


def _block_goal(step: Step, ctx: LessonContext) -> Sentence:
    def of(place: Place, role: Role) -> ex.Expression:
        return ctx.symbols[place.address(role)]

    maximum, total, output = (
        of(step.place, role)
        for role in (decoder.RUNNING_MAX, decoder.RUNNING_SUM, decoder.RUNNING_OUTPUT)
    )
    if step.place.block == 1:
        return (
            *("The same result can be computed from one block of keys after the other. ",),
            *_keys(step),
            *(" Its largest score ", maximum, " is subtracted, the exponentials are added up to "),
            *(total, ", and ", output, " is the sum of the values, each multiplied by its "),
            "exponential.",
        )
    factor = of(step.place, decoder.FACTOR)
    return (
        *_keys(step),
        *(" The sum and the output of the blocks before are multiplied by ", factor, ", so that "),
        *("their exponentials, too, are relative to the maximum ", maximum, "."),
    )


MEMORY: Sentence = (
    "FlashAttention (Dao et al. 2022) computes attention in blocks so that it never stores the "
    "scores of all keys at once: its memory does not grow with the square of the number of tokens.",
)


def _block_claim(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say how the running maximum changes for the followed token, and what follows from that."""
    if step.is_partly_given:
        return None
    found = {record.output.role: record for record in step.records}
    largest = found[decoder.RUNNING_MAX]
    maximum, row = largest.output, ctx.row(largest.output)
    new = ctx.number(maximum, row)
    if new.value == HIDDEN.value:
        return ("Every key so far is masked for ", ctx.name, ".")
    if decoder.FACTOR not in found:
        return None
    before = largest.inputs[1]
    old, times = ctx.number(before, row), ctx.number(found[decoder.FACTOR].output, row)
    rises = maximum.numbers[row] > before.numbers[row]
    if old.value == HIDDEN.value:
        return ("Every key of the blocks before is masked for ", ctx.name, ".")
    if not rises:
        return ("For ", ctx.name, ", the maximum stays ", new, ": the factor is ", times, ".")
    if old.value == new.value:
        return None  # the printed digits do not show it
    return (
        *("For ", ctx.name, ", the maximum rises from ", old, " to ", new, ": the sum and the "),
        *("output of the blocks before are multiplied by ", times, "."),
    )


BLOCK_STEP = InnerKind(
    "block",
    "Block",
    "the softmax after one more block of keys",
    _block_goal,
    {
        decoder.BLOCK_SCORES: _symbol("S"),
        decoder.BLOCK_VALUES: _symbol("V"),
        decoder.RUNNING_MAX: _symbol("m", "The largest score so far:"),
        decoder.MAX_CHANGE: RoleText(_difference, "The change of the maximum:"),
        decoder.FACTOR: RoleText(_exponential, "The factor for the blocks before:"),
        decoder.BLOCK_SHIFTED: RoleText(_difference, "Each score minus the maximum so far:"),
        decoder.BLOCK_EXP: RoleText(_exponential, "The exponentials of this block:"),
        decoder.BLOCK_SUM: RoleText(lambda n: ex.Call("sum", n.inputs), "The sum of this block:"),
        decoder.RUNNING_SUM: _symbol("l", "The sum so far:"),
        decoder.BLOCK_OUTPUT: RoleText(
            lambda n: ex.MatrixProduct(*n.inputs), "The output of this block:"
        ),
        decoder.RUNNING_OUTPUT: _symbol("O", "The output so far:"),
    },
    gradient=None,
    sign=None,
    reasons=(MEMORY,),
    claim=_block_claim,
)


# --- all blocks ----------------------------------------------------------------------------------


def _blocks_claim(step: Step, ctx: LessonContext) -> Sentence | None:
    """Say that the result is that of the whole softmax; if not, by how much rounding changes it."""
    whole = ctx.value(step.place, roles.HEAD_OUTPUT)
    if whole is None:
        return None
    own = step.last.output
    both = [
        entries.rows(ctx.trace.pencil, value, range(value.shape[0]), range(value.shape[1]))
        for value in (own, whole)
    ]
    differences = [
        abs(a.value - b.value)
        for mine, others in zip(*both, strict=True)
        for a, b in zip(mine, others, strict=True)
    ]
    symbol = ctx.symbols[whole.address]
    if not any(differences):
        return ("All numbers are equal to those of ", symbol, ", computed without blocks.")
    here = [r for r in ctx.trace.records if replace(r.output.place, block=None) == step.place]
    if any(isinstance(record.operation, Pinned) for record in here):
        return None
    return (
        *("Without rounding, all numbers would be equal to those of ", symbol),
        *(". As printed, they differ by at most ", ex.Number(max(differences)), "."),
    )


BLOCKS_STEP = InnerKind(
    "blocks",
    "Output of all blocks",
    "the softmax and the weighted sum, computed in blocks",
    (
        "The output after the last block is divided by the sum after the last block, because only "
        "that sum is complete.",
    ),
    {decoder.BLOCKS_OUTPUT: RoleText(lambda n: ex.Quotient(*n.inputs))},
    gradient=None,
    sign=None,
    claim=_blocks_claim,
)

COUNTED_ONCE: Sentence = (
    "The blocks repeat the products of weights and values, which are counted once.",
)

PART = LessonPart(
    kinds={"weighted_sum": (BLOCK_STEP, BLOCKS_STEP)},
    sizes={decoder.BLOCKS_OUTPUT: COUNTED_ONCE},
)
