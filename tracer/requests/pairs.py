"""Read a file of pairs of texts: the pairs themselves, or names for templates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from tracer.files.reading import read_file
from tracer.scenario.fields import Frozen, Text, described
from tracer.scenario.problems import validated
from tracer.scenario.reader import read

LEAST_PAIRS = 2
"""A spread needs as many."""
PLACE = "{}"
"""The place of the name in a template."""

Pair = Annotated[tuple[Text, ...], Field(min_length=2, max_length=2)]


class PairsFile(Frozen):
    """Pairs of texts; each template with each pair of names makes a pair."""

    pairs: tuple[Pair, ...] = described(
        "The first text and the second.", "[[I like tea, I like coffee]]", ()
    )
    templates: tuple[Text, ...] = described("Texts with {} for a name.", '["I like {}"]', ())
    names: tuple[Pair, ...] = described("The names of each pair.", "[[tea, coffee]]", ())

    @model_validator(mode="after")
    def _are_pairs(self) -> Self:
        if bool(self.templates) != bool(self.names):
            raise ValueError("expected both templates and names, or neither")
        if any(PLACE not in template for template in self.templates):
            raise ValueError(f"expected {PLACE} for the name in each template")
        if len(self.all) < LEAST_PAIRS:
            raise ValueError(f"expected at least {LEAST_PAIRS} pairs, as a spread needs")
        return self

    @property
    def all(self) -> tuple[tuple[str, ...], ...]:
        """The pairs, and those of each template with each pair of names."""
        made = (
            tuple(template.replace(PLACE, name) for name in names)
            for template in self.templates
            for names in self.names
        )
        return (*self.pairs, *made)


def read_pairs(path: Path) -> tuple[tuple[str, ...], ...]:
    """Read the pairs of a file.

    Raises:
        TracerError: it cannot be read or has another form.
    """
    content = read_file(path)
    return validated(PairsFile, read(content, str(path), "pairs of texts"), content).all
