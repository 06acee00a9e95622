"""The exercises of a worksheet: the steps of a pass that fit its pages, with what they need.

An exercise has the goal of a step, its formulas and weights, and the lines of the followed token.
Before the lines stand the rows that they read, unless these stand on the sheet already.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import ceil

from tracer.decoder.value import Value
from tracer.formula.expression import Number
from tracer.lesson import document as doc
from tracer.lesson.entries import labels
from tracer.lesson.steps.attention import MASK_STEP
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts import sentences
from tracer.lesson.texts.blanks import LINES, MATRIX, PRODUCTS
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.texts.training_teacher import TrainingTeacher
from tracer.node import found

FIRST_PAGE, PAGE = 50, 54
"""The lines of text on the first page below the introduction, and on another: what does not fit
below it leaves room."""
OF_A_LINE, OF_BLANK_PRODUCTS, OF_A_ROW = 1.7, 2.1, 3.5
"""The height, in lines of text, of a line of a calculation, the same with blanks for products, and
of blanks for all results."""
OF_A_TITLE, OF_A_QUESTION = 2.5, 4
"""The height of a title and of a question, in lines of text."""
LETTERS, OF_A_SIGN = 85, 3
"""The letters on a line of text, and those of the sign beside a number."""


@dataclass(frozen=True)
class Exercise:
    """A step, what it is for, and its work; `result` is its matrix, if it belongs to the sheet."""

    step: Step
    title: str
    goal: doc.Sentence
    work: tuple[doc.Block, ...]
    result: tuple[doc.Block, ...] = ()


def fitting(teacher: Teacher, chosen: Sequence[Step], pages: int, level: int) -> list[Exercise]:
    """Return exercises of some steps that fit so many pages beside half as many questions.

    Steps that do something new come before those that compute in the same way as an earlier one.
    The first always fits. At the level that leaves out a matrix, each has that of its step.
    """
    results = level == MATRIX
    every = [
        each for step in _unlike(teacher, chosen) if (each := _exercise(teacher, step, results))
    ]
    alike = Counter[Hashable]()
    order = list[tuple[int, int]]()
    for i, exercise in enumerate(every):
        idea = tuple(type(record.operation) for record in exercise.step.records)
        order.append((alike[idea], i))
        alike[idea] += 1
    kept = list[int]()
    for _, i in sorted(order):
        among = sorted([*kept, i])
        tried = sections(teacher, [every[at] for at in among])
        height = sum(
            _height(section, level) for section in tried
        ) + OF_A_QUESTION * questions_beside(len(among))
        if not kept or height <= FIRST_PAGE + (pages - 1) * PAGE:
            kept.append(i)
    return [every[i] for i in sorted(kept)]


def _unlike(teacher: Teacher, chosen: Sequence[Step]) -> list[Step]:
    """Return the first step of each goal: a second head repeats what the first one does."""
    new = dict[Hashable, Step]()
    for step in chosen:
        goal = step.kind.goal_of(step, teacher.ctx.at(step.place))
        new.setdefault((goal, teacher.like(step)), step)
    return list(new.values())


def questions_beside(exercises: int) -> int:
    """Return how many questions about understanding there are: one for two exercises."""
    return ceil(exercises / 2)


def sections(teacher: Teacher, exercises: Sequence[Exercise]) -> list[doc.Section]:
    """Return exercises as sections; each row that their lines read is shown once."""
    shown = set[tuple[Value, int]]()
    written = list[doc.Section]()
    for number, exercise in enumerate(exercises, 1):
        own = {record.output for record in exercise.step.records}
        read = _operands(teacher, exercise, own, shown)
        blocks = (doc.Paragraph(exercise.goal), *read, *exercise.work, *exercise.result)
        title = f"{number}. {exercise.title}"
        written.append(doc.Section(None, title, blocks, trace=teacher.trace))
        shown |= {(value, 0) for value in own if exercise.result}
    return written


def _exercise(teacher: Teacher, step: Step, has_result: bool) -> Exercise | None:
    """Return the exercise of a step; None without worked lines, or where nothing is to be done."""
    if step.kind is MASK_STEP:
        return None
    # An exercise can be worked without the others.
    teacher.captions, teacher.tables = set(), set()
    ctx, value = teacher.ctx.at(step.place), step.last.output
    if isinstance(teacher, TrainingTeacher) and step.place.phase != "forward":
        work = [block for record in step.records for block in teacher.learned(record, step)]
    else:
        work = [block for record in step.records for block in teacher.record(record, step, False)]
    if not any(map(_computes, found(tuple(work), doc.Line))):
        return None
    result = [teacher.matrix(value)] if has_result and len(value.axes) == 2 else []
    goal = step.kind.goal_of(step, ctx)
    return Exercise(step, sentences.title(step, ctx), goal, tuple(work), tuple(result))


def _computes(line: doc.Line) -> bool:
    """Return whether a line comes to a number; not to the one that it reads, as ReLU can."""
    *before, result = line.chain.sides
    if not isinstance(result, Number) or result.entry is None:
        return False
    read = found(tuple(before), Number)
    return all(
        number.value != result.value or labels(number.entry) != labels(result.entry)
        for number in read
        if number.entry
    )


def _operands(
    teacher: Teacher, exercise: Exercise, own: set[Value], shown: set[tuple[Value, int]]
) -> list[doc.Matrix]:
    """Return the rows that the lines of an exercise read and that are not `shown`, and note them.

    Weights stand behind their formula.
    """
    rows = defaultdict[Value, set[int]](set)
    for line in found(exercise.work, doc.Line):
        for number in found(line.chain, Number):
            entry = number.entry
            if entry and entry.at and entry.value not in own and not entry.value.role.parameter:
                rows[entry.value].add(entry.at[0] if len(entry.at) == 2 else 0)
    written = list[doc.Matrix]()
    there = {number.entry.value for number in _given(exercise.work) if number.entry}
    for value, read in rows.items():
        new = {row for row in read if (value, row) not in shown}
        shown |= {(value, row) for row in new}
        if new and value not in there:
            step = teacher.step_of.get(value.address)
            figure = teacher.figure(value, step) if step else None
            matrix = teacher.matrix(value, figure)
            # The rows of other tokens are computed from theirs.
            needed = new if len(value.axes) == 2 and not exercise.result else None
            written.append(_rows(matrix, needed))
            if needed is None:
                shown |= {(value, row) for row in range(value.shape[0])}
    return written


def _given(blocks: Sequence[doc.Block]) -> list[Number]:
    """Return the numbers of matrices."""
    return [
        number for matrix in found(tuple(blocks), doc.Matrix) for number in found(matrix, Number)
    ]


def _rows(matrix: doc.Matrix, rows: set[int] | None) -> doc.Matrix:
    """Return some rows of a matrix, by their indices in its value; None for all."""
    if rows is None:
        return matrix
    kept = [i for i, row in enumerate(matrix.cells) if _index(row) in rows]
    return replace(
        matrix,
        rows=tuple(matrix.rows[i] for i in kept),
        cells=tuple(matrix.cells[i] for i in kept),
        marked=kept.index(matrix.marked) if matrix.marked in kept else None,
    )


def _index(row: Sequence[object]) -> int | None:
    number = next(iter(found(tuple(row), Number)), None)
    return number.entry.at[0] if number and number.entry else None


# --- how much room it takes ----------------------------------------------------------------------


def _height(section: doc.Section, level: int) -> float:
    """Return about how many lines of text a section is high on paper."""
    return OF_A_TITLE + sum(_of_block(block, level) for block in section.blocks)


def _of_block(block: doc.Block, level: int) -> float:
    match block:
        case doc.Working(lines):
            if level >= LINES:
                return OF_A_ROW
            rows = ceil(sum(map(_rows_of, lines)))
            return rows * (OF_A_LINE if level < PRODUCTS else OF_BLANK_PRODUCTS)
        case doc.Matrix():
            return len(block.cells) * (OF_A_LINE if level == MATRIX else 1) + 1.5
        case doc.Paragraph(parts):
            letters = sum(len(part) if isinstance(part, str) else OF_A_SIGN for part in parts)
            return ceil(letters / LETTERS) + 0.3
        case _:
            return 2


def _rows_of(line: doc.Line) -> float:
    """Return on how many lines of text a worked line stands; short ones stand in two columns."""
    numbers = found(line.chain, Number)
    letters = sum(len(str(number.value)) + OF_A_SIGN for number in numbers)
    return ceil(letters / LETTERS) if letters > LETTERS / 2 else 0.5
