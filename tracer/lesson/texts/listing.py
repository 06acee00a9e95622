"""Lists of the values of a pass: each with its formula, or with its names in other programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from tracer.decoder.forward import Trace
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.formula.expression import Expression
from tracer.lesson import document as doc
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.symbols import symbols
from tracer.lesson.working.formulas import formula
from tracer.names import shape_text
from tracer.scenario.other_names import family_of, hugging_face, names_by_address, transformer_lens

NONE = "–"


@dataclass(frozen=True)
class ListedValue:
    """A value, the step that explains it, and what it is called in other programs."""

    step: int
    value: Value
    symbol: Expression
    formula: Expression | None
    """How it is computed; None where it is given or its symbol says it."""
    transformer_lens: Sequence[str]
    hugging_face: Sequence[str]

    @property
    def has_names(self) -> bool:
        """Whether another program has a name for it."""
        return bool(self.transformer_lens or self.hugging_face)


def listed_values(trace: Trace) -> list[ListedValue]:
    """Return all values of a pass in the order of computation."""
    number_of = _steps_of_values(steps(trace.records))
    named = symbols(trace.records)
    of_lens, of_faces = transformer_lens(trace.scenario), hugging_face(trace.scenario)
    lens, faces = names_by_address(of_lens), names_by_address(of_faces)
    return [
        ListedValue(
            *(number_of[address], record.output, named[address], _formula(record, named)),
            *(lens.get(address, ()), faces.get(address, ())),
        )
        for address, record in trace.by_address.items()
    ]


def _formula(record: Record, named: Mapping[str, Expression]) -> Expression | None:
    found = formula(record, named)
    return found.sides[-1] if found else None


def _steps_of_values(explained: Sequence[Step]) -> dict[str, int]:
    """Return the number of each value's step; of a parameter, that of the first that reads it."""
    found = {r.output.address: step.number for step in explained for r in step.records}
    for step in explained:
        for record in step.records:
            for value in record.inputs:
                found.setdefault(value.address, step.number)
    return found


def value_lists(trace: Trace, *, formulas: bool, names: bool) -> doc.Document:
    """Return a table of all values with their formulas, one of those with names, or both."""
    values = listed_values(trace)
    blocks: list[doc.Block] = []
    if formulas:
        columns = ("step", "shape", "address", "symbol", "formula")
        blocks.append(doc.Table.of(columns, map(_with_formula, values), is_whole=True))
    if names:
        blocks += doc.paragraphs(_about_names(trace))
        header = ("address", "TransformerLens", "Hugging Face")
        blocks.append(doc.Table.of(header, _with_names(values), is_whole=True))
    return doc.Document(trace.name, trace.scenario.title, tuple(blocks), ())


def _with_formula(found: ListedValue) -> tuple[str | doc.Cell, ...]:
    value, formula = found.value, found.formula or NONE
    return (str(found.step), shape_text(value.shape, "1"), value.address, found.symbol, formula)


def _with_names(values: Sequence[ListedValue]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of each value with names; several if a program has several names for it."""
    for each in values:
        pairs = zip_longest(each.transformer_lens, each.hugging_face, fillvalue=NONE)
        yield from ((each.value.address, *names) for names in pairs)


def _about_names(trace: Trace) -> doc.Sentence:
    family = family_of(trace.scenario)
    if family is None:
        return (
            "For Hugging Face, the list has only what a model returns: the names of its modules "
            "and weights depend on the family.",
        )
    return ("The names of Hugging Face are those of the family ", doc.Name(family), ".")
