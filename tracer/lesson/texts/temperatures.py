"""What the temperature does to a draw: the probabilities and the word at several temperatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from tracer.decoder import roles
from tracer.decoder.forward import Trace, arithmetic_of
from tracer.decoder.pencil import Pencil
from tracer.decoder.sampling import Sampling, sample
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.formula.expression import Number
from tracer.lesson import document as doc, entries
from tracer.lesson.steps.illustrations import MOST_WORDS
from tracer.names import name_text

TEMPERATURES = (Decimal("0.5"), Decimal(1), Decimal(2))

THESE = "have these probabilities, and the same random number selects the words in the last row:"
NOT_KEPT: doc.Sentence = ("A word that is not kept has the probability 0.",)


@dataclass(frozen=True)
class Draw:
    """The probabilities of the words that are kept at a temperature, and the word drawn."""

    temperature: str
    kept: Value
    word: str

    @property
    def words(self) -> Sequence[str]:
        """The words that are kept, the most probable first."""
        return self.kept.axes[1].labels

    def row(self, words: Sequence[str], pencil: Pencil) -> tuple[Number, ...]:
        """The probabilities of words, 0 if they are not kept."""
        return tuple(
            entries.number(pencil, self.kept, (0, self.words.index(word)))
            if word in self.words
            else Number.of(0)
            for word in words
        )


def temperatures(trace: Trace, sampling: Sampling) -> tuple[doc.Section, ...]:
    """A table of the probabilities at several temperatures; nothing where one word is left."""
    every = sorted({*TEMPERATURES, sampling.temperature})
    draws = [_draw(trace, replace(sampling, temperature=each)) for each in every]
    kept = max((draw.words for draw in draws), key=len)
    if len(kept) == 1:
        return ()
    words = tuple(kept[:MOST_WORDS])
    numbers = [draw.row(words, trace.pencil) for draw in draws]
    most = "most probable " * (len(words) < len(kept))
    cut = " that are kept" * (sampling.top_k is not None or sampling.top_p is not None)
    said: doc.Sentence = (f"At several temperatures T, the {most}words{cut} {THESE}",)
    left_out = NOT_KEPT if any(set(words) - set(draw.words) for draw in draws) else None
    header = ("word", *(draw.temperature for draw in draws))
    rows = [*zip(words, *numbers, strict=True), ("drawn", *(draw.word for draw in draws))]
    which = ", ".join(f"{draw.temperature}: {name_text(draw.word)}" for draw in draws)
    figure = doc.Figure(f"{trace.name}.temperatures", f"The word drawn at {which}")
    groups = tuple(
        doc.Group((draw.temperature,), row) for draw, row in zip(draws, numbers, strict=True)
    )
    bars = doc.Groups(figure, words, groups, alike=True)
    texts = doc.paragraphs(left_out, said)
    return (doc.Section(None, "Other temperatures", (*texts, doc.Table.of(header, rows), bars)),)


def _draw(trace: Trace, sampling: Sampling) -> Draw:
    """Draw again from the last token's logits."""
    scenario = trace.scenario
    tape = Tape(arithmetic_of(scenario), trace.pencil)
    with tape.computing():
        shifted, logits = scenario.softmax == "shifted", trace[roles.LOGITS.name]
        sample(tape, logits, sampling, shifted=shifted, excluded=scenario.excluded)
        values = {record.output.role: record.output for record in tape.records}
        kept = values.get(roles.RENORMALIZED, values[roles.CANDIDATES])
        word = str(values[roles.WORD].numbers[-1])
    return Draw(f"T = {sampling.temperature:f}", kept, word)
