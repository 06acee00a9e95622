"""Write the complete text: the question, every step, a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tracer.errors import Problem, TracerError
from tracer.lesson.code.library import Library
from tracer.lesson.detail import Detail
from tracer.lesson.document import Document
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.tutorial import MOST_TURNS, tutorial
from tracer.renderers import Format
from tracer.requests import options
from tracer.requests.request import Answer
from tracer.requests.resolve import Computed, Engine
from tracer.requests.worksheets import WorksheetRequest


@dataclass(kw_only=True)
class Tutorial(options.Illustrated, WorksheetRequest):
    examples = (
        "tutorial my.yaml --figures pictures -o my.md",
        "tutorial alex --blanks --key key.md",
    )
    is_tutorial = True
    most_pages = 6

    scenario: str = options.SCENARIO
    token: str | None = options.TOKEN
    layer: int | None = options.LAYER
    head: int | None = options.HEAD
    train: bool = options.TRAIN
    code: Library | None = options.CODE
    given: tuple[str, ...] = options.GIVEN
    values: Path | None = options.VALUES
    blanks: bool = options.BLANKS
    level: int | None = options.LEVEL
    seed: int | None = options.SEED
    key: Path | None = options.KEY
    vary: int | None = options.VARY
    detail: Detail = field(default=Detail.NORMAL, metadata=options.DETAIL.metadata)
    format: Format = field(default=Format.MARKDOWN, metadata=options.FORMAT.metadata)

    def answer(self, engine: Engine) -> Answer:
        """Explain the pass, a pass without the mask, the loss, and a generated text."""
        if self.blanks:
            if self.detail is not Detail.NORMAL:
                message = "works only with a text, not with --blanks"
                raise TracerError(Problem(message, address="--detail"))
            return super().answer(engine)
        length = len(engine.load(self.subject).scenario.tokens)
        passes = MOST_TURNS + 3
        engine.charge(self.subject, passes - 1 + engine.text, length + passes)
        computed = engine.compute(self.subject)
        return Answer(self.text_about(self.with_training(computed, engine)))

    def worked(self, computed: Computed, chosen: Sequence[Step], token: int) -> Document:
        """Return the text, with the training if requested."""
        found, training = computed.trace, computed.training
        full = not self.brief
        if self.detail is Detail.SHORT:
            return super().worked(computed, chosen, token)
        return tutorial(found, chosen, token, training=training, full=full, detail=self.detail)
