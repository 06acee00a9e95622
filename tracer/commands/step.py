"""Print a step or a group of steps: softmax, norm, attention, ffn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tracer.decoder.forward import Trace
from tracer.lesson.code.library import Library
from tracer.lesson.document import Section
from tracer.lesson.texts.given_changes import what_changes_in
from tracer.lesson.texts.selection import of_encoder
from tracer.lesson.working.sums import Terms
from tracer.requests import completion, options, values
from tracer.requests.resolve import Computed
from tracer.requests.worksheets import WorksheetRequest


@dataclass(kw_only=True)
class Step(options.Illustrated, WorksheetRequest):
    examples = (
        "step softmax --head 1",
        "step attention --blanks --level 1 --key key.md",
    )
    most_pages = 1
    prints_arrays = True
    is_whole = False

    name: str = values.argument(
        "A step (softmax), a group of steps (attention, ffn) or an address (layer1.ffn).",
        *("NAME", str),
        offers=completion.steps,
    )
    scenario: str = options.DEFAULT_SCENARIO
    token: str | None = options.TOKEN
    layer: int | None = options.LAYER
    head: int | None = options.HEAD
    sequence: int | None = options.SEQUENCE
    no_mask: bool = options.NO_MASK
    terms: Terms | None = options.TERMS
    code: Library | None = options.CODE
    given: tuple[str, ...] = options.GIVEN
    blanks: bool = options.BLANKS
    level: int | None = options.LEVEL
    seed: int | None = options.SEED
    key: Path | None = options.KEY

    @property
    def selected(self) -> str | None:
        """The name on the command line."""
        return self.name

    def changes(self, computed: Computed, plain: Trace) -> Section:
        """Return what given values change in these steps."""
        found = computed.trace
        chosen, encoder = self.chosen(found), found.scenario.encoder
        tokens = found.tokens, encoder.tokens if encoder else found.tokens
        decodes = encoder is None or not of_encoder(chosen)
        own = self.position(found, in_encoder=not decodes)
        usual = found.scenario.followed(tokens[0]), len(tokens[1]) - 1
        followed = (own, usual[1]) if decodes else (usual[0], own)
        return what_changes_in(chosen, plain, found, followed)
