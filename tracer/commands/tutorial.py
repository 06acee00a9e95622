"""Write the complete text: the question, every step, a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tracer.decoder.forward import Trace
from tracer.lesson.code.library import Library
from tracer.lesson.document import Document, Section, Sentence
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.questions import with_questions
from tracer.lesson.texts.selection import of_encoder
from tracer.lesson.texts.tutorial import MOST_TURNS, tutorial
from tracer.lesson.texts.worksheet import RESULTS, key, worksheet
from tracer.renderers import Format
from tracer.requests import options, values
from tracer.requests.passes import ForwardRequest
from tracer.requests.request import Answer, Content
from tracer.requests.resolve import Computed, Engine

DEFAULT_SEED = 1
"""The seed of a worksheet."""


@dataclass(kw_only=True)
class Tutorial(options.Illustrated, ForwardRequest):
    examples = (
        "tutorial my.yaml --figures pictures -o my.md",
        "tutorial alex --blanks --key key.md",
    )
    is_tutorial = True

    scenario: str = options.SCENARIO
    token: str | None = options.TOKEN
    layer: int | None = options.LAYER
    head: int | None = options.HEAD
    train: bool = options.TRAIN
    code: Library | None = options.CODE
    given: tuple[str, ...] = options.GIVEN
    blanks: bool = values.flag("Leave out numbers: a worksheet to fill in.", rule=options.TEXT)
    level: int | None = values.count(
        "What a worksheet leaves out: the results of lines (1), also products (2), also the "
        "matrix of one step (3). Default: 1.",
        most=3,
        rule=options.BLANKS,
    )
    seed: int | None = options.SEED
    key: Path | None = values.option(
        *("Write the key of the worksheet to this file.", "FILE", values.file_name),
        rule=options.BLANKS,
    )
    vary: int | None = options.VARY
    format: Format = field(default=Format.MARKDOWN, metadata=options.FORMAT.metadata)

    @property
    def files(self) -> list[Path | None]:
        """The output and the key of a worksheet."""
        return [self.output, self.key]

    def answer(self, engine: Engine) -> Answer:
        """Explain the pass, a pass without the mask, the loss, and a generated text."""
        length = len(engine.load(self.subject).scenario.tokens)
        passes = MOST_TURNS + 3
        engine.charge(self.subject, passes - 1 + engine.text, length + passes)
        computed = engine.compute(self.subject)
        content = self.text_about(self.with_training(computed, engine))
        if self.key is None or not isinstance(content, Document):
            return Answer(content)
        return Answer(content, beside=[(self.key, key(content))])

    def explain(self, computed: Computed) -> Content:
        """Return the text, as a worksheet with questions if requested."""
        content, found = super().explain(computed), computed.trace
        if not self.blanks or not isinstance(content, Document):
            return content
        seed = DEFAULT_SEED if self.seed is None else self.seed
        if not found.scenario.on_demand and not of_encoder(self.chosen(found)):
            content = with_questions(content, found, self.position(found.tokens), seed)
        return worksheet(content, self.level or RESULTS, seed)

    def worked(self, computed: Computed, chosen: Sequence[Step], token: int) -> Document:
        """Return the text, with the training if requested."""
        found, training = computed.trace, computed.training
        return tutorial(found, chosen, token, training=training, full=not self.brief)

    def changes(self, computed: Computed, plain: Trace) -> Section | Sentence | None:
        """Return what given values change; nothing in a worksheet."""
        return None if self.blanks else super().changes(computed, plain)
