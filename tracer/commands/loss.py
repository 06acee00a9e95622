"""Print the predictions beside the targets, and the loss."""

from __future__ import annotations

from dataclasses import dataclass

from tracer.decoder.forward import PassOptions, Trace
from tracer.lesson.document import Section
from tracer.lesson.steps.kind import Step
from tracer.lesson.steps.training import LOSS_STEP
from tracer.lesson.texts.given_changes import what_changes_in
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.training_pass import training_pass
from tracer.requests import options
from tracer.requests.given import without_given
from tracer.requests.passes import PassRequest
from tracer.requests.request import Content
from tracer.requests.resolve import Computed, run_pass


@dataclass(kw_only=True)
class Loss(options.Text, PassRequest):
    examples = ("loss pizza", "loss pizza --format markdown")
    records = PassOptions(loss=True)
    prints_arrays, is_of_loss = True, True

    scenario: str = options.SCENARIO
    token: str | None = options.TOKEN
    example: int | None = options.EXAMPLE
    given: tuple[str, ...] = options.GIVEN

    def explain(self, computed: Computed) -> Content:
        """Explain the loss."""
        found = computed.trace
        token = None if self.token is None else self.position(found)
        if self.format.is_data:
            return self.data(computed, token=token, explained=_loss_steps(found))
        return training_pass(found, token, full=not self.brief)

    def changes(self, computed: Computed, plain: Trace) -> Section:
        """Return what given values change in the loss, which `plain` has not recorded."""
        plain = run_pass(without_given(computed.loaded), self.records)
        return what_changes_in(_loss_steps(computed.trace), plain, computed.trace, (0, 0))


def _loss_steps(found: Trace) -> list[Step]:
    return [step for step in steps(found.records) if step.kind is LOSS_STEP]
