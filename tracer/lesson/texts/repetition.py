"""The sections of steps; unless a text shows every step, those that repeat others share one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tracer.lesson import document as doc
from tracer.lesson.context import joined
from tracer.lesson.detail import Detail
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.sub_layers import RESIDUAL_STEP
from tracer.lesson.texts import sentences
from tracer.lesson.texts.teacher import Teacher


def sections_of(
    teacher: Teacher, chosen: Sequence[Step], like: Sequence[doc.Section] = ()
) -> Iterator[doc.Section]:
    """The sections of the chosen steps, in order; of the same steps as those `like` them."""
    if like:
        steps = {step.number: step for step in chosen}
        for section in like:
            first, *others = (steps[number] for number in section.steps)
            yield _repeated(teacher, [first, *others]) if others else teacher.section(first)
        return
    run: list[Step] = []
    for step in chosen:
        if run and (not repeats(teacher, step) or _part(teacher, step) != _part(teacher, run[0])):
            yield _repeated(teacher, run)
            run = []
        if repeats(teacher, step):
            run.append(step)
        else:
            yield teacher.section(step)
    if run:
        yield _repeated(teacher, run)


def repeats(teacher: Teacher, step: Step) -> bool:
    """Whether a step only repeats one that has been worked, with other numbers."""
    if teacher.detail is Detail.FULL or step.kind.outcome or step.is_partly_given:
        return False
    if teacher.first_like(step).number == step.number:
        return False
    return bool(teacher.worked_before(step)) or not any(map(teacher.lines, step.records))


def _part(teacher: Teacher, step: Step) -> str:
    return sentences.part(step, teacher.ctx.at(step.place))


def _repeated(teacher: Teacher, run: Sequence[Step]) -> doc.Section:
    """Steps that repeat others: where these stand, and the results that the text needs later."""
    first, last = run[0], run[-1]
    ctx = teacher.ctx.at(first.place)
    names = list(dict.fromkeys(sentences.within(step, ctx)[0] for step in run))
    words = names[0] if len(names) == 1 else _from_to(names)
    if first is last:
        title, within = sentences.title(first, ctx), sentences.within(first, ctx)
    else:
        title, within = words, (words,)
    heads, layers = ({getattr(step.place, what) for step in run} for what in ("head", "layer"))
    return doc.Section(
        first.number,
        title,
        tuple(_blocks(teacher, run)),
        _part(teacher, first),
        within,
        layers.pop() if len(layers) == 1 else None,
        heads.pop() if len(heads) == 1 else None,
        last=last.number if len(run) > 1 else None,
        trace=teacher.trace,
    )


def _from_to(names: Sequence[str]) -> str:
    """The title of several steps; that of gradients names the values that they are at."""
    first, last = names[0], names[-1]
    of_gradient = re.compile("Gradient (at|through) ")
    if not of_gradient.match(first):
        same = re.compile(r"(.*?)( (?:after|before) .*)")
        own, other = same.fullmatch(first), same.fullmatch(last)
        if own and other and own[2] == other[2] and len(names) == 2:
            return f"{own[1]} and {last}"
        return f"{first} to {last}"
    return f"Gradients from {of_gradient.sub('', first)} to {of_gradient.sub('', last)}"


def _blocks(teacher: Teacher, run: Sequence[Step]) -> Iterator[doc.Block]:
    yield doc.Paragraph(_like(teacher, run))
    needed = teacher.read_by_others(run)
    for step in run:
        if step.kind.picture or any(record.output in needed for record in step.records):
            yield from teacher.outcome(step, needed)
        elif step.kind is RESIDUAL_STEP and len(run) == 2:  # the sum that is then normalized
            yield teacher.followed_row(step.last.output)
        yield from teacher.author.notes(step)


def _like(teacher: Teacher, run: Sequence[Step]) -> doc.Sentence:
    """Where the same steps stand with other numbers."""
    if len(run) == 1:
        symbol = teacher.ctx.symbols[run[0].last.output.address]
        return sentences.references(symbol, (), teacher.first_like(run[0]))
    numbers = dict.fromkeys(teacher.first_like(step).number for step in run)
    stretches: list[list[int]] = []
    for number in numbers:
        if stretches and stretches[-1][-1] + 1 == number:
            stretches[-1].append(number)
        else:
            stretches.append([number])
    if len(stretches) > 2:
        numbered = f"Steps {run[0].number} to {run[-1].number} are computed like earlier ones"
        return (f"{numbered}, with other numbers.",)
    where = joined([_stretch(each[0], each[-1]) for each in stretches])
    return ("The same as ", *where, ", with other numbers.")


def _stretch(first: int, last: int) -> doc.Sentence:
    """`step 4`, or `step 4 to step 10`."""
    if first == last:
        return (doc.Reference(first),)
    return (doc.Reference(first), " to ", doc.Reference(last))
