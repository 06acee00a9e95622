"""Requests for a worksheet about a pass, and its key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from tracer.decoder.forward import Trace
from tracer.errors import Problem, TracerError
from tracer.lesson.document import Document
from tracer.lesson.texts.blanks import RESULTS, WHOLE_NUMBERS
from tracer.lesson.texts.selection import of_encoder, steps
from tracer.lesson.texts.teacher import Teacher
from tracer.lesson.texts.training_teacher import TrainingTeacher
from tracer.lesson.texts.training_text import parameter_worked
from tracer.lesson.texts.worksheet import Worksheet, worksheet, worksheet_of
from tracer.requests.passes import ForwardRequest
from tracer.requests.request import Answer
from tracer.requests.resolve import Computed, Engine, Subject

DEFAULT_SEED = 1
QUESTIONS = 8
"""The cost of the questions about changes, in passes."""


class WorksheetRequest(ForwardRequest):
    """A request about steps that can leave out numbers, to be worked out by the reader."""

    most_pages: ClassVar[int]

    blanks: bool = False
    level: int | None = None
    seed: int | None = None
    key: Path | None = None

    @property
    def files(self) -> list[Path | None]:
        """The output and the key of a worksheet."""
        return [self.output, self.key]

    @property
    def subject(self) -> Subject:
        """At the easiest level, the scenario with small whole numbers."""
        easiest = self.blanks and self.level == WHOLE_NUMBERS
        return replace(super().subject, easy=self.drawn_from if easiest else None)

    @property
    def drawn_from(self) -> int:
        """The seed of a worksheet."""
        return DEFAULT_SEED if self.seed is None else self.seed

    def answer(self, engine: Engine) -> Answer:
        """Explain the pass, or make a worksheet about it."""
        if not self.blanks:
            return super().answer(engine)
        if self.code:
            raise TracerError(Problem("works only without --blanks", address="--code"))
        length = len(engine.load(self.subject).scenario.tokens)
        engine.charge(self.subject, QUESTIONS + engine.text, length)
        computed = self.with_training(self.compute(engine), engine)
        with computed.loaded.locating_problems():
            made = self.worksheet(computed)
        return Answer(made.sheet, beside=[(self.key, made.key)] if self.key else ())

    def worksheet(self, computed: Computed) -> Worksheet:
        """Return a worksheet about the requested steps and its key."""
        level = RESULTS if self.level is None else self.level
        found, chosen = computed.trace, self.chosen(computed.trace)
        if found.scenario.on_demand and len(chosen) == len(steps(found.records)):
            text = self.explain(computed)
            assert isinstance(text, Document)
            return worksheet_of(text, level, self.drawn_from)
        teacher = self._teacher(found)
        if computed.training:
            first = computed.training.steps[0]
            worked = parameter_worked(first, None)
            teacher = TrainingTeacher(first, teacher.ctx.token, worked, full=False)
            chosen = teacher.steps
        return worksheet(teacher, chosen, level=level, seed=self.drawn_from, pages=self.most_pages)

    def _teacher(self, found: Trace) -> Teacher:
        """Return who explains the requested token; where only the encoder is shown, one of its."""
        if of_encoder(self.chosen(found)) and found.scenario.encoder:
            token = self.position(found, in_encoder=True)
            return Teacher(found, None, token, full=False, terms=self.terms)
        return Teacher(found, self.position(found), full=False, terms=self.terms)
