"""Print what each layer would predict if it were the last.

Then print the rank, the logit and the probability of a word after each sub-layer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tracer.data import as_json
from tracer.decoder.comparison import predicted
from tracer.decoder.forward import FORWARD, PassOptions, Trace
from tracer.decoder.lens_of_rows import to_words_of
from tracer.decoder.word_path import word_path
from tracer.lesson.document import Section
from tracer.lesson.entries import index_of
from tracer.lesson.texts.given_changes import what_changes
from tracer.lesson.texts.lens import lens
from tracer.requests import completion, options, values
from tracer.requests.passes import PassRequest
from tracer.requests.request import Content
from tracer.requests.resolve import Computed, Engine


@dataclass(kw_only=True)
class Lens(options.Illustrated, PassRequest):
    examples = ("lens pizza --word la", "lens science --token like")
    records = PassOptions(lens=True)
    prints_arrays = True

    scenario: str = options.SCENARIO
    token: str | None = options.TOKEN
    word: str | None = values.option(
        "Follow this word. Default: the one that the model predicts.",
        *("WORD", str),
        offers=completion.words,
        rule=values.Rule("a text or --format json, not {format}", lambda r: not r.format.is_binary),
    )
    sequence: int | None = options.SEQUENCE
    given: tuple[str, ...] = options.GIVEN

    def compute(self, engine: Engine) -> Computed:
        """Compute the pass; a text about a trained model needs only the words of some rows."""
        some = not self.format.is_data and engine.load(self.subject).scenario.on_demand
        subject = replace(self.subject, options=FORWARD) if some else self.subject
        return engine.compute(subject)

    def explain(self, computed: Computed) -> Content:
        """Explain the predictions, and the path of the word."""
        found = computed.trace
        seen = [r for r in found.records if r.output.place.sub_layer == "lens"]
        if self.format.is_binary:
            return self.data(computed, seen)
        words, token = to_words_of(found)[0].axes[1], self.position(found)
        answer = predicted(found, token)
        assert answer
        column = answer.at[1] if self.word is None else index_of(words, self.word, "--word")
        path = word_path(found, token, column)
        return as_json.lens(found, seen, path) if self.format.is_data else lens(found, path)

    def changes(self, computed: Computed, plain: Trace) -> Section:
        """Return what given values change."""
        found = computed.trace
        return what_changes(plain, found, self.position(found))
