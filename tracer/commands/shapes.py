"""Print all shapes; count parameters, multiply-adds and bytes."""

from __future__ import annotations

from dataclasses import dataclass

from tracer.data import as_json
from tracer.lesson.texts.cache_kinds import caches
from tracer.lesson.texts.caches import caches_text
from tracer.lesson.texts.shapes import shapes
from tracer.lesson.texts.survey import survey
from tracer.renderers import Format, HeadingLevel
from tracer.requests import options, values
from tracer.requests.request import Answer, Request
from tracer.requests.resolve import Engine, check_author

MOST_TOKENS = 1_000_000
"""The most tokens: each has a label."""


@dataclass(kw_only=True)
class Shapes(options.Written, Request):
    examples = ("shapes gpt2-small --length 100", "shapes gpt2-small --caches")

    scenario: str = options.SCENARIO
    length: int | None = values.count(
        "Count for a text of this many tokens. Default: the scenario's.", most=MOST_TOKENS
    )
    caches: bool = values.flag(
        "Compare what kinds of attention keep in a cache, with the scenario's dimensions: bytes "
        "for each token, for 1,000 tokens (or --length) and for 100,000."
    )
    format: Format = options.FORMAT
    heading: HeadingLevel | None = options.HEADING
    standalone: bool = options.STANDALONE

    def answer(self, engine: Engine) -> Answer:
        """Survey the scenario, computed with shapes alone."""
        loaded = engine.load(self.subject)
        engine.charge(self.subject, 1, 0)
        check_author(loaded)
        with loaded.locating_problems():
            found = survey(loaded.name, loaded.scenario, self.length)
            kinds = caches(found, loaded.scenario, self.length) if self.caches else None
        if kinds and self.format is not Format.JSON:
            return Answer(caches_text(kinds, found.trace))
        return Answer(as_json.shapes(found, kinds) if self.format is Format.JSON else shapes(found))
