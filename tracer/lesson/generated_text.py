"""A generated text, turn by turn."""

from __future__ import annotations

from dataclasses import replace

from tracer.decoder.generation import Generated, Turn
from tracer.lesson.document import Block, Document, Name, Paragraph, Section, Sentence, Table
from tracer.lesson.steps.words import SAMPLING_STEP
from tracer.lesson.teacher import Teacher
from tracer.names import distinct

KEPT, DISCARDED = "kept", "discarded"
TURN_BY_TURN = (
    "In each turn all words so far go in, and a word comes out behind each of them. Only the last "
    "is kept and becomes part of the next turn's input, because the words behind the others are "
    "known already."
)


def generated_text(
    generated: Generated, *, worked: bool, cached: bool, full: bool = True
) -> Document:
    """Turn by turn: what goes in, what comes out, which of it is kept; then the whole text.

    With `cached`, each turn after the first shows the new token only.
    """
    sections: list[Section] = []
    why = [Paragraph((TURN_BY_TURN,))] if full and not cached else []
    for number, turn in enumerate(generated.turns, 1):
        shown = _turn(turn, cached and number > 1)
        sections.append(Section(None, f"Turn {number}", (*(why if number == 1 else ()), *shown)))
        teacher = Teacher(turn.trace, full=full and number == 1)
        for step in teacher.steps:
            if worked or step.kind is SAMPLING_STEP:
                section = teacher.section(step)
                sections.append(section if worked else replace(section, number=None))
    scenario = generated.turns[0].trace.scenario
    text = Paragraph((Name(scenario.written(generated.text)),)), Paragraph((generated.ending,))
    sections.append(Section(None, "The text", text))
    return Document(scenario.title, (), tuple(sections))


def _turn(turn: Turn, cached: bool) -> list[Block]:
    tokens = turn.trace.tokens
    before = len(tokens) - 1 if cached else 0
    names = distinct(tokens)[before:]
    outputs = [*turn.outputs[before:-1], turn.word]
    rows = tuple(
        (
            *(Name(str(before + i + 1)), Name(name)),
            *(Name(word), Name(KEPT if i == len(outputs) - 1 else DISCARDED)),
        )
        for i, (name, word) in enumerate(zip(names, outputs, strict=True))
    )
    written: list[Block] = []
    if before:
        new: Sentence = ("Only the last token goes through the decoder",)
        if any(layer.attention for layer in turn.trace.scenario.layers):
            earlier = Name(turn.trace.scenario.written(tokens[:before]))
            new = (*new, "; the keys and values of ", earlier, " are reused from the turns before")
        written.append(Paragraph((*new, ".")))
    written.append(Table(("position", "input", "output", ""), rows, len(rows) - 1))
    return written
