"""Generate a text, one word per turn.

Each turn appends the most probable word. With --temperature, --top-k, --top-p or --seed it
draws a word instead. With --draft, a smaller model proposes several words, and the model checks
them in one pass (speculative decoding). With --beams, it keeps several texts in each turn and
appends to each (beam search).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from tracer.data import as_json
from tracer.data.speculated import searched, speculated
from tracer.decoder.beams import BeamOptions, search
from tracer.decoder.draft_and_target import DraftAndTarget
from tracer.decoder.generation import GenerationOptions, choice, generate
from tracer.decoder.speculation import DRAFTED, SpeculationOptions, speculate
from tracer.errors import Problem, TracerError
from tracer.lesson.texts.beams import beams_text
from tracer.lesson.texts.generated_text import generated_text
from tracer.lesson.texts.speculation import speculation_text
from tracer.names import closest
from tracer.requests import completion, options, values
from tracer.requests.request import Answer, Request
from tracer.requests.resolve import Engine, check_author
from tracer.requests.values import Rule
from tracer.scenario.loading import Loaded

_TEMPERATURE = values.number("a number from 0.001 to 1000", lambda t: Decimal("0.001") <= t <= 1000)
_ALONE = Rule(
    "the most probable words, not --draft, --temperature, --top-k, --top-p or --seed",
    lambda r: (
        r.draft is None and (r.seed, r.temperature, r.top_k, r.top_p) == (None, None, None, None)
    ),
)
_DRAFT = Rule("--draft", lambda r: r.draft is not None)
_NO_DRAFT = Rule("one word per pass, not --draft", lambda r: r.draft is None)
_SHARE = values.number("a number above 0, at most 1", lambda p: 0 < p <= 1)


@dataclass(kw_only=True)
class Generate(options.Text, Request):
    examples = ("generate pizza", "generate pizza --temperature 0.8 --seed 1")

    scenario: str = options.SCENARIO
    start: tuple[str, ...] = values.option(
        "Begin with this token. Repeat the option for several tokens.", "TOKEN", None, ()
    )
    max_tokens: int | None = values.count("Generate at most this many words.")
    temperature: Decimal | None = values.option(
        "Draw words, with the logits divided by T.", "T", _TEMPERATURE
    )
    top_k: int | None = values.count("Draw words from the K most probable ones.", takes="K")
    top_p: Decimal | None = values.option(
        "Draw words from the smallest set with a total probability of at least P.", "P", _SHARE
    )
    seed: int | None = options.SEED
    draft: str | None = values.option(
        "Let this scenario draft words, and check them (speculative decoding). It needs the same "
        "words in its vocabulary.",
        *("SCENARIO", options.NAME_OF_SCENARIO),
        offers=completion.scenarios,
    )
    draft_tokens: int | None = values.count(
        f"Draft at most this many words in a round. Default: {DRAFTED}.", rule=_DRAFT
    )
    beams: int | None = values.count(
        "Keep the N most probable texts in each turn (beam search).", rule=_ALONE
    )
    kv_cache: bool = values.flag(
        "Cache keys and values: each turn computes only the new token's row. Without a "
        "vocabulary, read the scenario's own tokens, one per turn.",
        rule=_NO_DRAFT,
    )
    worked: bool = values.flag("Show every step of each turn.")

    def answer(self, engine: Engine) -> Answer:
        """Generate the words, and explain the turns."""
        loaded = engine.load(self.subject)
        scenario, worked, cached = loaded.scenario, self.worked, self.kv_cache
        start = self.start or scenario.beginning
        turns = self.max_tokens or scenario.generation.max_tokens
        passes = turns * (self.beams or 1) * (engine.text if worked else 1)
        engine.charge(self.subject, passes, len(start) + turns)
        check_author(loaded)
        for token in self.start:
            table = scenario.embeddings
            if isinstance(table, Mapping) and token not in table:
                message = f"no embedding for the token {token!r}{closest(token, table)}"
                raise TracerError(Problem(message, address="--start"))
        chosen = choice(self.seed, self.temperature, self.top_k, self.top_p)
        if self.draft is not None:
            how = SpeculationOptions(start, turns, chosen, self.draft_tokens or DRAFTED)
            return self._speculated(engine, loaded, self.draft, how)
        # Rows that are not printed are not computed again.
        reuses = cached or not (worked or scenario.looks_ahead or scenario.vocabulary is None)
        if self.beams is not None:
            return self._searched(loaded, BeamOptions(start, turns, self.beams, cached=reuses))
        settings = GenerationOptions(start, turns, chosen, cached=reuses)
        with loaded.locating_problems():
            found = generate(loaded.name, scenario, settings, loaded.located)
        if self.format.is_data:
            return Answer(as_json.generated(found, worked=worked, cached=cached))
        return Answer(generated_text(found, worked=worked, cached=cached, full=not self.brief))

    def _searched(self, loaded: Loaded, how: BeamOptions) -> Answer:
        """Search for a probable text."""
        with loaded.locating_problems():
            found = search(loaded.name, loaded.scenario, how, loaded.located)
        if self.format.is_data:
            return Answer(searched(found, worked=self.worked))
        return Answer(beams_text(found, worked=self.worked, full=not self.brief))

    def _speculated(
        self, engine: Engine, target: Loaded, name: str, how: SpeculationOptions
    ) -> Answer:
        """Draft words with another scenario and check them."""
        subject = replace(self.subject, scenario=name)
        draft = engine.load(subject)
        passes = how.most * how.drafted * (engine.text if self.worked else 1)
        engine.charge(subject, passes, len(how.start) + how.most)
        other = draft.name if draft.name != target.name else f"{draft.name} (draft)"
        for token in how.start:
            table = draft.scenario.embeddings
            if isinstance(table, Mapping) and token not in table:
                message = f"{other} has no embedding for the token {token!r}"
                raise TracerError(Problem(message, address="--draft"))
        models = DraftAndTarget(
            (target.name, target.scenario),
            (other, draft.scenario),
            how.choice,
            cached=not (self.worked or draft.scenario.looks_ahead),
            located=(target.located, draft.located),
        )
        models.check_length(how)
        found = speculate(models, how)
        if self.format.is_data:
            return Answer(speculated(found, worked=self.worked))
        return Answer(speculation_text(found, worked=self.worked, full=not self.brief))
