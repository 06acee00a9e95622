"""List the steps with their numbers, names, shapes and addresses."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tracer.data import as_json
from tracer.decoder.forward import PassOptions
from tracer.decoder.routing import has_chosen_rows
from tracer.formula.arithmetic import SHAPES
from tracer.lesson.texts.forward_pass import contents
from tracer.lesson.texts.listing import value_lists
from tracer.renderers import Format
from tracer.requests import options, values
from tracer.requests.request import Answer, Request
from tracer.requests.resolve import Engine, run_pass


@dataclass(kw_only=True)
class Steps(options.Written, Request):
    examples = ("steps alex.yaml", "steps my.yaml --all --names")

    scenario: str = options.SCENARIO
    all: bool = values.flag(
        "List every value of the forward pass with its formula, also dot, exp and variance."
    )
    names: bool = values.flag(
        "List the names of TransformerLens and Hugging Face. They are accepted as addresses."
    )
    format: Format = options.FORMAT
    standalone: bool = options.STANDALONE

    def answer(self, engine: Engine) -> Answer:
        """List the steps of a pass, computed with shapes alone."""
        loaded = engine.load(self.subject)
        engine.charge(self.subject, 1, 0)
        recorded = PassOptions(standardized=self.all or self.names)
        found = run_pass(loaded, replace(recorded, arithmetic=SHAPES))
        if loaded.scenario.has_numbers and any(map(has_chosen_rows, found.values.values())):
            found = run_pass(loaded, recorded)  # the numbers decide which rows those are
        if self.format.is_data:
            return Answer(as_json.contents(found, every=self.all, names=self.names))
        if self.all or self.names:
            return Answer(value_lists(found, formulas=self.all, names=self.names))
        return Answer(contents(found))
