"""Traces → the Documents that are shown: a forward pass, the loss, a generated text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tracer import prose
from tracer.decoder import Trace
from tracer.document import Block, Diagram, Document, Name, Paragraph, Section, Table
from tracer.generation import Generated, Turn
from tracer.loss import NO_TARGET
from tracer.names import count, distinct
from tracer.prose import Sentence
from tracer.steps import Stage, stages
from tracer.teacher import Teacher

RIGHT, WRONG, KEPT, DISCARDED = "✓", "✗", "kept", "discarded"


def forward_pass(trace: Trace, chosen: Sequence[Stage], token: int, *, whole: bool) -> Document:
    """The sections of the stages for a token (counted from 0); a whole pass is introduced."""
    teacher = Teacher(trace, token)
    introduction = (*teacher.introduction(), *_padded_batch(trace)) if whole else ()
    sections = tuple(map(teacher.section, chosen))
    return Document(trace.scenario.title, introduction, sections, whole=whole)


def tutorial(trace: Trace, token: int) -> Document:
    """The complete text for a scenario: the question, every step, the summary, the pipeline."""
    teacher = Teacher(trace, token, refers=True)
    every = stages(trace.steps)
    asked = prose.question(teacher.told, predicts=every[-1].kind == "prediction")
    kinds = dict.fromkeys(prose.TITLES[stage.kind] for stage in every)
    introduction = (*map(Paragraph, asked), *_padded_batch(trace), Diagram(tuple(kinds)))
    titles = [(stage, prose.title(stage, teacher.told)) for stage in every]
    rows = tuple(
        (Name(str(stage.number)), Name(title), Name(prose.SUMMARIES[stage.kind]))
        for stage, title in titles
    )
    summary = Section(None, "Summary", (Table(("step", "name", "what happens"), rows),))
    pipeline = Section(None, "Pipeline", (Diagram(tuple(title for _, title in titles)),))
    sections = (*map(teacher.section, every), summary, pipeline)
    return Document(trace.scenario.title, introduction, sections)


def _padded_batch(trace: Trace) -> tuple[Block, ...]:
    """The sequences beside the followed one, if it is one of a batch."""
    scenario = trace.scenario
    if trace.tokens not in scenario.batch:
        return ()
    rows = tuple(
        (Name(str(i)), Name(" ".join(tokens))) for i, tokens in enumerate(scenario.batch, 1)
    )
    sentence: Sentence = ("It is one sequence of a batch. All have the same length",)
    if scenario.padding is not None:
        sentence = (*sentence, ": the shorter ones are filled up with “", Name(scenario.padding))
        sentence = (*sentence, "”, which no token may look at")
    table = Table(("sequence", "tokens"), rows, scenario.batch.index(trace.tokens))
    return (Paragraph((*sentence, ".")), table)


def training_pass(trace: Trace) -> Document:
    """All positions at once: what should have come, what was said, and the loss worked."""
    teacher = Teacher(trace, len(trace.tokens) - 1)
    forcing = Paragraph(
        (
            "Teacher forcing: at each position the model reads the right tokens, whatever it would "
            "have said itself, and guesses the next one. All positions go through in one pass; the "
            "mask keeps each of them from seeing its own answer.",
        )
    )
    worked = {stage.kind: stage for stage in stages(trace.steps)}
    sections = (
        Section(1, "Targets and predictions", (*_batch(trace), forcing, *_answers(trace))),
        Section(2, "Probabilities", tuple(teacher.shown(trace.value("probabilities")))),
        Section(3, teacher.section(worked["loss"]).title, tuple(teacher.blocks(worked["loss"]))),
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
    targets = trace.value("loss.target").array
    predictions = trace.value("prediction").array
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


def generated_text(generated: Generated, *, worked: bool) -> Document:
    """Turn by turn: what goes in, what comes out, which of it is kept; then the whole text."""
    sections: list[Section] = []
    for number, turn in enumerate(generated.turns, 1):
        sections.append(Section(None, f"Turn {number}", tuple(_turn(turn))))
        teacher = Teacher(turn.trace, len(turn.trace.tokens) - 1)
        for stage in stages(turn.trace.steps):
            if worked or stage.kind == "sampling":
                section = teacher.section(stage)
                sections.append(section if worked else replace(section, number=None))
    text = Paragraph((_quoted(generated.text),)), Paragraph((generated.ending,))
    sections.append(Section(None, "The text", text))
    return Document(generated.turns[0].trace.scenario.title, (), tuple(sections))


def _turn(turn: Turn) -> list[Block]:
    said = turn.trace.value("prediction").array
    names = distinct(turn.trace.tokens)[-len(said) :]
    before = len(turn.trace.tokens) - len(said)
    outputs = [*said[:-1], turn.word]
    rows = tuple(
        (
            *(Name(str(before + i + 1)), Name(name)),
            *(Name(word), Name(KEPT if i == len(outputs) - 1 else DISCARDED)),
        )
        for i, (name, word) in enumerate(zip(names, outputs, strict=True))
    )
    written: list[Block] = []
    if before:
        reused = ("Only the last token goes through the layers; the keys and values of ",)
        earlier = tuple(turn.trace.tokens[:before])
        written.append(Paragraph((*reused, _quoted(earlier), " are reused from the turns before.")))
    written.append(Table(("position", "input", "output", ""), rows, len(rows) - 1))
    return written


def _quoted(tokens: Sequence[str]) -> Name:
    return Name(" ".join(tokens))
