"""What the temperature does to a draw: the probabilities and the word at several temperatures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from tracer.decoder import roles
from tracer.decoder.forward import Trace, arithmetic_of
from tracer.decoder.sampling import Sampling, sample
from tracer.decoder.tape import Tape
from tracer.formula.expression import Number
from tracer.lesson import document as doc, entries
from tracer.lesson.steps.illustrations import MOST_WORDS
from tracer.names import name_text

TEMPERATURES = (Decimal("0.5"), Decimal(1), Decimal(2))
AT_SEVERAL = "words at several temperatures T, and the word that the same random number selects:"
NOT_KEPT = "A word that is not kept has the probability 0."


@dataclass(frozen=True)
class Draw:
    """The probabilities of the words that are kept at a temperature, and the word drawn."""

    temperature: str
    probabilities: Mapping[str, Number]
    word: str

    def row(self, words: Sequence[str]) -> tuple[Number, ...]:
        """The probabilities of words, 0 if they are not kept."""
        return tuple(self.probabilities.get(word, Number.of(0)) for word in words)


def temperatures(trace: Trace, sampling: Sampling) -> tuple[doc.Section, ...]:
    """A table of the probabilities at several temperatures; nothing where one word is left."""
    every = sorted({*TEMPERATURES, sampling.temperature})
    draws = [_draw(trace, replace(sampling, temperature=each)) for each in every]
    kept = [len(draw.probabilities) for draw in draws]
    if max(kept) == 1:
        return ()
    logits, excluded = trace[roles.LOGITS.name], trace.scenario.excluded
    order = np.argsort(-logits.read_computed(-1), kind="stable")
    allowed = [word for i in order if (word := logits.axes[1].labels[i]) not in excluded]
    words = tuple(allowed[:MOST_WORDS])
    most = "most probable " * (len(words) < len(allowed))
    left_out = (NOT_KEPT,) if min(kept) < len(allowed) else None
    said: doc.Sentence = (f"The probabilities of the {most}{AT_SEVERAL}",)
    columns = [(draw.temperature, *draw.row(words), draw.word) for draw in draws]
    header, *rows = zip(("word", *words, "drawn"), *columns, strict=True)
    table = doc.Table.of(header, rows)
    drawn = ", ".join(f"{draw.temperature}: {name_text(draw.word)}" for draw in draws)
    figure = doc.Figure(f"{trace.name}.temperatures", f"The word drawn at {drawn}")
    groups = tuple(doc.Group((draw.temperature,), draw.row(words)) for draw in draws)
    bars = doc.Groups(figure, words, groups, alike=True)
    texts = doc.paragraphs(left_out, said)
    return (doc.Section(None, "Other temperatures", (*texts, table, bars)),)


def _draw(trace: Trace, sampling: Sampling) -> Draw:
    """Draw again from the last token's logits."""
    scenario = trace.scenario
    tape = Tape(arithmetic_of(scenario), trace.pencil)
    with tape.computing():
        shifted, logits = scenario.softmax == "shifted", trace[roles.LOGITS.name]
        sample(tape, logits, sampling, shifted=shifted, excluded=scenario.excluded)
        values = {record.output.role: record.output for record in tape.records}
        kept = values.get(roles.RENORMALIZED, values[roles.CANDIDATES])
        (row,) = entries.rows(trace.pencil, kept, [0], range(kept.shape[1]))
        word = str(values[roles.WORD].numbers[-1])
    numbers = dict(zip(kept.axes[1].labels, row, strict=True))
    return Draw(f"T = {sampling.temperature:f}", numbers, word)
