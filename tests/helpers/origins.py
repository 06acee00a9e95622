"""Where each number of a trace comes from: what its line names, or the entry that it moves.

That the lines name what an entry depends on, and that moves are those of their maps, is held for
each operation in `tests/decoder`.
"""

from __future__ import annotations

from tests.helpers.traces import writer
from tracer.decoder import elementwise as el, operations as op
from tracer.decoder.forward import Trace
from tracer.decoder.gather import Gather
from tracer.decoder.value import Entry
from tracer.formula.expression import entries_in
from tracer.lesson.working.lines import is_worked


def before(of: Trace, entry: Entry) -> Entry | None:
    """The entry that another one is under a new name."""
    record, at = of.producers[entry.value], entry.at
    x = record.inputs
    if isinstance(record.operation, Gather):
        shapes = [value.shape for value in x]
        found = record.operation.origin(at, entry.value.shape, shapes)
        return Entry(x[found[0]], found[1]) if found else None
    if isinstance(record.operation, el.Mask):
        return Entry(x[0], at) if entry.value.numbers[at].is_finite() else None
    if isinstance(record.operation, op.Largest | op.LargestSoFar):
        row = [Entry(x[0], (at[0], j)) for j in range(x[0].shape[1])]
        candidates = [*(Entry(each, at) for each in x[1:]), *row]
        numbers = [each.value.numbers[each.at] for each in candidates]
        if not max(numbers).is_finite():
            return None
        return candidates[numbers.index(max(numbers))]
    return None


def origin(of: Trace, entry: Entry) -> Entry:
    """The entry, or the one that it is under other names and with the same digits."""
    while other := before(of, entry):
        a, b = (str(each.value.numbers[each.at]) for each in (entry, other))
        if of.scenario.rounding.carry != "never" and a != b:
            break
        entry = other
    return entry


def levels(of: Trace, entry: Entry) -> list[set[Entry]]:
    """The entry; what was put in for it; what was put in for that …; each once, the nearest."""
    write, found = writer(of), [{origin(of, entry)}]
    seen = {*found[0]}
    while found[-1]:
        behind = set[Entry]()
        for value, at in found[-1]:
            record = of.producers[value]
            if other := before(of, Entry(value, at)):
                behind.add(origin(of, other))
            elif isinstance(record.operation, op.ArgMax | op.Pick):
                column = record.operation.words.index(str(value.numbers[at]))
                behind.add(origin(of, Entry(record.inputs[0], (at[0], column))))
            elif is_worked(record, at):
                operands = entries_in(write.first_side(record, at), hidden=True)
                behind |= {origin(of, operand) for operand in operands}
        found.append(behind - seen)
        seen |= behind
    return found[:-1]
