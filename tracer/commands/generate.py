"""Generate a text, one word per turn.

Each turn appends the most probable word. With --temperature, --top-k, --top-p or --seed it
draws a word instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from tracer.data import as_json
from tracer.decoder.generation import GenerationOptions, choice, generate
from tracer.errors import Problem, TracerError
from tracer.lesson.texts.generated_text import generated_text
from tracer.names import closest
from tracer.requests import options, values
from tracer.requests.request import Answer, Request
from tracer.requests.resolve import Engine, check_author

_TEMPERATURE = values.number("a number from 0.001 to 1000", lambda t: Decimal("0.001") <= t <= 1000)
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
    kv_cache: bool = values.flag(
        "Cache keys and values: each turn computes only the new token's row. Without a "
        "vocabulary, read the scenario's own tokens, one per turn."
    )
    worked: bool = values.flag("Show every step of each turn.")

    def answer(self, engine: Engine) -> Answer:
        """Generate the words, and explain the turns."""
        loaded = engine.load(self.subject)
        scenario, worked, cached = loaded.scenario, self.worked, self.kv_cache
        start = self.start or scenario.beginning
        turns = self.max_tokens or scenario.generation.max_tokens
        passes = turns * (engine.text if worked else 1)
        engine.charge(self.subject, passes, len(start) + turns)
        check_author(loaded)
        for token in self.start:
            table = scenario.embeddings
            if isinstance(table, Mapping) and token not in table:
                message = f"no embedding for the token {token!r}{closest(token, table)}"
                raise TracerError(Problem(message, address="--start"))
        settings = GenerationOptions(
            start,
            turns,
            choice(self.seed, self.temperature, self.top_k, self.top_p),
            # Rows that are not printed are not computed again.
            cached=cached or not (worked or scenario.looks_ahead or scenario.vocabulary is None),
        )
        with loaded.locating_problems():
            found = generate(loaded.name, scenario, settings, loaded.located)
        if self.format.is_data:
            return Answer(as_json.generated(found, worked=worked, cached=cached))
        return Answer(generated_text(found, worked=worked, cached=cached, full=not self.brief))
