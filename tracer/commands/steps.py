"""List the steps with their numbers, names, shapes and addresses."""

from __future__ import annotations

from dataclasses import dataclass

from tracer.data import as_json
from tracer.decoder.forward import PassOptions
from tracer.decoder.routing import has_chosen_rows
from tracer.formula.arithmetic import SHAPES
from tracer.lesson.texts.forward_pass import contents
from tracer.renderers import Format
from tracer.requests import options
from tracer.requests.request import Answer, Request
from tracer.requests.resolve import Engine, run_pass


@dataclass(kw_only=True)
class Steps(options.Written, Request):
    examples = ("steps alex.yaml", "steps my.yaml --format markdown")

    scenario: str = options.SCENARIO
    format: Format = options.FORMAT
    standalone: bool = options.STANDALONE

    def answer(self, engine: Engine) -> Answer:
        """List the steps of a pass, computed with shapes alone."""
        loaded = engine.load(self.subject)
        engine.charge(self.subject, 1, 0)
        found = run_pass(loaded, PassOptions(arithmetic=SHAPES))
        if loaded.scenario.has_numbers and any(map(has_chosen_rows, found.values.values())):
            found = run_pass(loaded, PassOptions())  # the numbers decide which rows those are
        return Answer(as_json.contents(found) if self.format.is_data else contents(found))
