"""The training pass as a text: predictions beside targets, probabilities, the loss."""

from __future__ import annotations

from dataclasses import replace

from tracer.decoder.forward import Trace
from tracer.decoder.loss import NO_TARGET
from tracer.decoder.roles import PREDICTION, PROBABILITIES, TARGET
from tracer.lesson.document import Block, Document, Name, Paragraph, Section, Sentence, Table
from tracer.lesson.steps.training import LOSS_STEP
from tracer.lesson.teacher import Teacher
from tracer.names import count

RIGHT, WRONG = "✓", "✗"


def training_pass(trace: Trace, *, full: bool = True) -> Document:
    """All positions at once: what should have come, what was said, and the loss worked."""
    teacher = Teacher(trace, full=full)
    forcing = Paragraph(
        (
            "Teacher forcing: at each position the model reads the right tokens, whatever it would "
            "have said itself, and guesses the next one. All positions go through in one pass; the "
            "mask keeps each of them from seeing its own answer.",
        )
    )
    loss = next(step for step in teacher.steps if step.kind is LOSS_STEP)
    sections = (
        Section(1, "Targets and predictions", (*_batch(trace), forcing, *_answers(trace))),
        Section(2, "Probabilities", tuple(teacher.shown(trace[PROBABILITIES.name]))),
        replace(teacher.section(loss), number=3),
    )
    return Document(trace.scenario.title, (), sections)


def _batch(trace: Trace) -> tuple[Block, ...]:
    """The examples that the scenario trains on, where it has any."""
    examples = trace.scenario.training
    if not examples:
        return ()
    rows = tuple(
        (Name(str(i)), Name(" ".join(example.tokens)), Name(" ".join(example.targets)))
        for i, example in enumerate(examples, 1)
    )
    said = (
        f"The batch has {count(len(examples), 'example')}; each target is its input, one further."
    )
    return (Paragraph((said,)), Table(("example", "input", "target"), rows))


def _answers(trace: Trace) -> tuple[Block, ...]:
    targets = trace[TARGET.name].numbers
    predictions = trace[PREDICTION.name].numbers
    rows, right = [], 0
    for i, (token, target, said) in enumerate(zip(trace.tokens, targets, predictions, strict=True)):
        known = target != NO_TARGET
        verdict = NO_TARGET if not known else RIGHT if said == target else WRONG
        right += verdict == RIGHT
        cells = (str(i + 1), token, target, verdict, said)
        rows.append(tuple(map(Name, cells)))
    counted = sum(target != NO_TARGET for target in targets)
    header = ("position", "input", "target", "right", "prediction")
    verdict_of_all: Sentence = (f"{right} of {count(counted, 'prediction')} {_is(right)} right.",)
    return (Table(header, tuple(rows)), Paragraph(verdict_of_all))


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
