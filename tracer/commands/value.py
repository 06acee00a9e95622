"""Print one number, for a sentence of your own.

Append `as percent` to print a share as a percentage.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracer.data.quote import quoted
from tracer.renderers import Format
from tracer.requests import options
from tracer.requests.passes import EntryRequest
from tracer.requests.request import Answer, Content
from tracer.requests.resolve import Computed, Engine


@dataclass(kw_only=True)
class Value(options.Rounded, EntryRequest):
    examples = ('value "output[Alex,spicy]"', 'value "probabilities[3,1]" -s science')
    format = Format.MARKDOWN  # its number is woven into a sentence as it is

    entry: tuple[str, ...] = options.ENTRY
    scenario: str = options.DEFAULT_SCENARIO
    sequence: int | None = options.SEQUENCE
    example: int | None = options.EXAMPLE
    given: tuple[str, ...] = options.GIVEN

    def answer(self, engine: Engine) -> Answer:
        """Print the number; besides its pass it costs nothing."""
        return Answer(self.text_about(engine.compute(self.subject)))

    def explain(self, computed: Computed) -> Content:
        """Return the number as all texts print it."""
        return quoted(computed.trace, self.entry)
