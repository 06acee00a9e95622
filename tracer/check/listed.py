"""Read a figures file, which lists what a text prints and where; report every problem in it.

The author of the text writes it; `tracer.check.figures` finds its numbers in a trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from tracer.check.printed import Printed, printed
from tracer.errors import Problem
from tracer.files.reading import read_file
from tracer.scenario import fields
from tracer.scenario.fields import Frozen, WholeNumber, Word, described
from tracer.scenario.problems import validated
from tracer.scenario.reader import ScenarioSource, YamlPath, read

LEFT_OUT = "_"
"""Replaces a number that the text does not print."""


def _printed(text: Any) -> Any:
    if text == LEFT_OUT:
        return None
    found = printed(text) if isinstance(text, str) else None
    if found is None:
        raise PydanticCustomError(fields.OWN_MESSAGE, "expected a number as printed, or _")
    return found


Number: TypeAlias = Annotated[Any, BeforeValidator(_printed)]
_Row: TypeAlias = Annotated[tuple[Number, ...], Field(min_length=1)]
Numbers: TypeAlias = Annotated[
    Annotated[Number, Tag(fields.NUMBER)]
    | Annotated[_Row, Tag(fields.ROW)]
    | Annotated[tuple[_Row, ...], Field(min_length=1), Tag(fields.ROWS)],
    Discriminator(fields.kind_of_numbers),
]


class Listed(Frozen):
    """What a text prints in one place: a number, a row or rows of a value."""

    where: Word = described("Where in the text, in a few words.", "the first score", "")
    line: WholeNumber | None = described("The line of the text.", "77", None)
    address: Word | None = described(
        "The address of the value, as `steps` prints it.", "layer1.attention.head1.scores", None
    )
    row: Word | None = described("The row: a label, or a number from 1.", "Alex", None)
    column: Word | None = described("The column: a label, or a number from 1.", "Frank", None)
    part: Literal["value", "products", "sum", "shape", "parameters"] = described(
        "Which part: the value; the products in its line, or their sum before the division; its "
        "shape; the number of parameters under the address.",
        "products",
        "value",
    )
    printed: Numbers = described(
        "The digits as printed; `_` for a number that the text leaves out.",
        "[0.964, 0.026, _, 0.6%]",
    )
    example: fields.AtLeastOne | None = described(
        "The training example, counted from 1.", "1", None
    )
    unknown: Word | None = described(
        "Instead of an address: why the scenario has no such value.", "a setting", None
    )

    @model_validator(mode="after")
    def _has_a_place(self) -> Listed:
        if (self.address is None) == (self.unknown is None):
            raise ValueError("expected address, or unknown with a reason")
        return self

    @property
    def rows(self) -> tuple[tuple[Printed | None, ...], ...]:
        """The numbers as rows."""
        found = self.printed
        if not isinstance(found, tuple):
            return ((found,),)
        return found if isinstance(found[0], tuple) else (found,)

    @property
    def text(self) -> str:
        """All its numbers as printed."""
        return " ".join(n.text if n else LEFT_OUT for row in self.rows for n in row)


class FiguresFile(Frozen):
    """The figures of a text."""

    text: Word | None = described("The title of the text.", "The decoder, step by step", None)
    figures: Annotated[tuple[Listed, ...], Field(min_length=1)] = described(
        "What it prints, in order.", "[{line: 77, address: output, printed: [[0.1, 0.2]]}]"
    )


@dataclass(frozen=True)
class ReadFigures:
    """A figures file as read."""

    title: str | None
    listed: tuple[Listed, ...]
    source: ScenarioSource
    content: str

    def problem(self, number: int, key: str, problem: Problem) -> Problem:
        """A problem with a key of the figure of that number, counted from 0."""
        place: YamlPath = ("figures", number, key)
        return self.source.problem(place, problem.message, problem.address)


def read_figures(path: Path) -> ReadFigures:
    """Read a figures file.

    Raises:
        TracerError: it cannot be read or has another form.
    """
    return parse_figures(read_file(path), str(path))


def parse_figures(content: str, name: str) -> ReadFigures:
    """Parse the content of a figures file; `name` is its name in messages.

    Raises:
        TracerError: it has another form.
    """
    source = read(content, name, "figures of a text")
    found = validated(FiguresFile, source, content)
    return ReadFigures(found.text, found.figures, source, content)
