"""A worksheet: exercises with numbers left out, and questions about understanding; and its key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from tracer.formula.expression import Blank, Chain, Number
from tracer.lesson import document as doc
from tracer.lesson.entries import labels
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts import sentences
from tracer.lesson.texts.blanks import GOALS, LINES, WHAT_IF, key, with_blanks
from tracer.lesson.texts.exercises import fitting, questions_beside, sections
from tracer.lesson.texts.symbols import symbols
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.texts.understanding import questions_about

SPARE = 2
"""So many more questions are computed: the lines below some tell the answer."""


@dataclass(frozen=True)
class Worksheet:
    """A worksheet and its key."""

    sheet: doc.Document
    key: doc.Document


def worksheet(
    teacher: Teacher, chosen: Sequence[Step], *, level: int, seed: int, pages: int
) -> Worksheet:
    """Return a worksheet about some steps, of at most so many pages; the same seed, the same sheet.

    Raises:
        TracerError: there is nothing to leave out.
    """
    found, title = teacher.trace, teacher.trace.scenario.title
    exercises = fitting(teacher, chosen, pages, level)
    worked = [exercise.step for exercise in exercises]
    most = questions_beside(len(exercises))
    asked: list[tuple[Step | None, doc.Question]] = []
    if not found.scenario.on_demand:
        drawn = Random(f"questions {seed}")
        asked = questions_about(worked, teacher.ctx, title, drawn, most + SPARE)
    before = {worked.index(step): question for step, question in asked if step}
    written = sections(teacher, exercises)
    for i, question in before.items():
        at = len(written[i].blocks) - len(exercises[i].work) - len(exercises[i].result)
        blocks = (*written[i].blocks[:at], question, *written[i].blocks[at:])
        written[i] = replace(written[i], blocks=blocks)
    changes = tuple(question for step, question in asked if step is None)
    if changes:
        written.append(doc.Section(None, WHAT_IF, changes))
    introduction = (
        *teacher.introduction(),
        doc.Paragraph(sentences.signs(teacher.trace.pencil)),
    )
    text = doc.Document(
        found.name, title, introduction, tuple(written), whole=True, has_contents=False
    )
    return _with_key(_numbered(with_blanks(text, level, seed), most), level)


def worksheet_of(text: doc.Document, level: int, seed: int) -> Worksheet:
    """Return the worksheet of a text that is not made of exercises, and its key."""
    return _with_key(with_blanks(text, level, seed), level)


def _with_key(sheet: doc.Document, level: int) -> Worksheet:
    return Worksheet(_on_paper(sheet, level), key(sheet))


def _numbered(sheet: doc.Document, most: int) -> doc.Document:
    """Return the sheet with its questions numbered; without those that it answers itself."""
    found, number = list[doc.Section](), 0
    for section in sheet.sections:
        blocks = list[doc.Block]()
        for block in section.blocks:
            if isinstance(block, doc.Question):
                if number == most or not (section.title == WHAT_IF or _is_hidden(section)):
                    continue
                number += 1
                label: doc.Sentence = (doc.Emphasis((f"Q{number}.",), strong=True), " ")
                parts = (*label, *block.parts)
                block = replace(block, parts=parts, answer=(*label, *block.answer))
            blocks.append(block)
        if blocks:
            found.append(replace(section, blocks=tuple(blocks)))
    return replace(sheet, sections=tuple(found))


def _is_hidden(section: doc.Section) -> bool:
    """Return whether every line of the last calculation of an exercise has no result."""
    *_, last = (block for block in section.blocks if isinstance(block, doc.Working))
    return all(isinstance(line.chain.sides[-1], Blank) for line in last.lines)


def _on_paper(sheet: doc.Document, level: int) -> doc.Document:
    """Return the sheet as it is handed out: at the highest levels without lines or formulas."""
    sections = (replace(s, blocks=tuple(_shown(s, level))) for s in sheet.sections)
    return replace(sheet, sections=tuple(sections))


def _shown(section: doc.Section, level: int) -> Iterator[doc.Block]:
    workings = [block for block in section.blocks if isinstance(block, doc.Working)]
    goal = section.blocks[0]
    for block in section.blocks:
        match block:
            case doc.Question():
                yield _with_choices(block)
            case doc.Working() if level >= LINES:
                if level < GOALS or block is workings[-1]:
                    yield _results(block, section)
            case doc.Formula() if level >= GOALS:
                pass
            case doc.Paragraph() if level >= GOALS and block is not goal:
                pass
            case _:
                yield block


def _results(working: doc.Working, section: doc.Section) -> doc.Block:
    """Return what lines come to, without the lines: as a row of a matrix, or as an equation."""
    results = [line.chain.sides[-1] for line in working.lines]
    numbers = [each.answer if isinstance(each, Blank) else each for each in results]
    entry = next((n.entry for n in numbers if isinstance(n, Number)), None)
    if entry is None or section.trace is None:
        return working
    symbol = symbols(section.trace.records)[entry.value.address]
    if not all(line.label for line in working.lines):
        return doc.Working((doc.Line(None, Chain((symbol, *results), ("=",))),))
    row = labels(entry)[0] if len(entry.at) > 1 else ""
    columns = tuple(line.label or "" for line in working.lines)
    cells = tuple(each for each in results if isinstance(each, Blank | Number))
    return doc.Matrix(symbol, (row,), columns, (cells,))


def _with_choices(question: doc.Question) -> doc.Question:
    """Return a question with its choices; and with room, where the answer has lines."""
    boxes = [part for label in question.choices.labels for part in (" ( ) ", doc.Name(label))]
    room = [" Answer: ________"] if question.lines or not boxes else []
    return replace(question, parts=(*question.parts, *boxes, *room))
