"""Print one number, a row or a matrix, for your own text.

Append `as percent` to print a share as a percentage. `ADDRESS[ROW] as row` prints the numbers of a
row side by side, `as column` below each other, `as bmatrix` in LaTeX and `as table` with labels.
`ADDRESS[,COLUMN]` names a column, and `ADDRESS` a whole matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracer.data.quote import WITH_LAYOUT, Notation, quoted
from tracer.renderers import Format, HeadingLevel
from tracer.requests import options
from tracer.requests.passes import EntryRequest
from tracer.requests.request import Answer, Content
from tracer.requests.resolve import Computed, Engine

NOTATIONS = {
    Format.TERMINAL: Notation.PLAIN,
    Format.MARKDOWN: Notation.MARKDOWN,
    Format.LATEX: Notation.LATEX,
}


@dataclass(kw_only=True)
class Value(options.Rounded, EntryRequest):
    examples = ('value "output[Alex,spicy]"', 'value "output[Alex] as row"')
    format = Format.TERMINAL  # a mark sets that of the text around it
    heading = HeadingLevel.NONE
    prints_rows = True

    entry: tuple[str, ...] = options.ENTRY
    scenario: str = options.DEFAULT_SCENARIO
    token: str | None = options.TOKEN
    sequence: int | None = options.SEQUENCE
    example: int | None = options.EXAMPLE
    given: tuple[str, ...] = options.GIVEN

    def answer(self, engine: Engine) -> Answer:
        """Print the numbers; one costs nothing besides its pass, several as much as a text."""
        if WITH_LAYOUT.fullmatch(" ".join(self.entry)):
            length = len(engine.load(self.subject).scenario.tokens)
            engine.charge(self.subject, engine.text, length)
        return Answer(self.text_about(engine.compute(self.subject)))

    def explain(self, computed: Computed) -> Content:
        """Return the numbers as all texts print them."""
        notation = Notation.MATHEMATICS if self.math else NOTATIONS[self.format]
        return quoted(computed.trace, [self.asked(computed.trace)], notation)
