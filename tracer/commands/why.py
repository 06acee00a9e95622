"""Trace one number back to the numbers that were typed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tracer.decoder.forward import Trace
from tracer.lesson.document import Sentence
from tracer.lesson.texts.given_changes import without_given
from tracer.lesson.texts.why import records_needed, why
from tracer.lesson.working.sums import Terms
from tracer.requests import options, values
from tracer.requests.passes import EntryRequest
from tracer.requests.request import Content
from tracer.requests.resolve import Computed


@dataclass(kw_only=True)
class Why(options.Text, EntryRequest):
    examples = ('why "output[Alex,spicy]"', 'why "layer1.ffn.norm[4,1]" --depth 2')

    entry: tuple[str, ...] = options.ENTRY
    scenario: str = options.DEFAULT_SCENARIO
    token: str | None = options.TOKEN
    depth: int | None = values.count(
        "Go back this many steps. Default: all the way; in a trained model, 3.",
        least=0,
        rule=options.TEXT,
    )
    terms: Terms | None = options.TERMS
    sequence: int | None = options.SEQUENCE
    example: int | None = options.EXAMPLE
    given: tuple[str, ...] = options.GIVEN
    values: Path | None = options.VALUES

    def explain(self, computed: Computed) -> Content:
        """Explain the steps that lead to the number."""
        found, entry = computed.trace, self.found(computed.trace)
        if self.format.is_data:
            return self.data(computed, records_needed(found, entry))
        return why(found, entry, self.depth, self.terms)

    def changes(self, computed: Computed, plain: Trace) -> Sentence | None:
        """Return what the number is without given values."""
        return without_given(plain, self.found(computed.trace))
