"""Print the backward pass and the update of the weights."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path

from tracer.data import as_json
from tracer.decoder.forward import PassOptions
from tracer.lesson.code.beside import program, with_code
from tracer.lesson.code.library import Library
from tracer.lesson.detail import Detail
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.training_text import training_text
from tracer.renderers import Format
from tracer.requests import options, values
from tracer.requests.given import filled_out
from tracer.requests.passes import PassRequest
from tracer.requests.request import Answer, Content
from tracer.requests.resolve import Computed, Engine
from tracer.scenario.writer import written


class OptimizerKind(StrEnum):
    """The kind of optimizer."""

    SGD = "sgd"
    ADAM = "adam"
    ADAMW = "adamw"


_POSITIVE = values.number("a number above 0", lambda x: x > 0)
_MOMENTUM = values.number("a number from 0 to below 1", lambda m: 0 <= m < 1)
_DECAY = values.number("a number from 0 on", lambda d: d >= 0)
SETTINGS = ("learning_rate", "momentum", "weight_decay", "clip")
"""The options that replace settings of the scenario's optimizer."""


@dataclass(kw_only=True)
class Train(options.Illustrated, PassRequest):
    examples = ("train pizza", "train pizza --steps 10 --save trained.yaml")
    records = PassOptions(loss=True, gradients=True)
    prints_arrays, is_of_loss = True, True

    scenario: str = options.SCENARIO
    token: str | None = options.TOKEN
    parameter: str | None = values.option(
        "Work out the gradient of this parameter, such as layer1.ffn.W_1. Default: the first.",
        *("ADDRESS", str),
    )
    example: int | None = options.EXAMPLE
    steps: int | None = options.STEPS
    optimizer: str | None = values.choice(
        "The optimizer: sgd, adam or adamw. Default: the scenario's.",
        *("KIND", OptimizerKind),
    )
    learning_rate: Decimal | None = values.option("The learning rate.", "RATE", _POSITIVE)
    momentum: Decimal | None = values.option("The momentum of sgd.", "SHARE", _MOMENTUM)
    weight_decay: Decimal | None = values.option("The weight decay.", "RATE", _DECAY)
    clip: Decimal | None = values.option("Clip the gradients to this norm.", "NORM", _POSITIVE)
    save: Path | None = values.option(
        "Write the trained scenario to this file, as YAML that runs.", "FILE", values.file_name
    )
    code: Library | None = options.CODE
    detail: Detail = options.DETAIL
    given: tuple[str, ...] = options.GIVEN

    @property
    def files(self) -> list[Path | None]:
        """The output and the trained scenario."""
        return [self.output, self.save]

    def answer(self, engine: Engine) -> Answer:
        """Train the scenario, and explain the first step."""
        loaded, settings = engine.load(self.subject), {name: vars(self)[name] for name in SETTINGS}
        optimizer = loaded.scenario.optimizer.changed(self.optimizer, settings)
        training = engine.train(self.subject, self.steps, optimizer)
        found = training.steps[0]
        content = self.text_about(Computed(loaded, found, training))
        if self.save is None:
            return Answer(content)
        trained = filled_out(training.trained.without_words(), found)
        return Answer(content, beside=[(self.save, written(trained))])

    def explain(self, computed: Computed) -> Content:
        """Explain the first step of the training."""
        assert computed.training
        if self.format.is_binary:
            return self.data(computed)
        if self.format is Format.JSON:
            return as_json.training(computed.training)
        found = computed.trace
        if self.code and self.format is Format.CODE:
            return program(found, steps(found.records), self.code)
        token = None if self.token is None else self.position(found)
        full, detail = not self.brief, self.detail
        text = training_text(computed.training, token, self.parameter, full=full, detail=detail)
        return with_code(text, found, self.code, found) if self.code else text
