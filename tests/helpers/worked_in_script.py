"""Worked lines that the script of a page writes, in Node, beside those of the program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.helpers.script_in_node import Script
from tests.helpers.traces import writer
from tracer.data import as_tape, typed
from tracer.decoder.forward import FORWARD, PassOptions, Trace
from tracer.decoder.tape import Record
from tracer.decoder.value import Entry, Form, Index
from tracer.errors import TracerError
from tracer.formula.expression import Number, Rest
from tracer.lesson import entries
from tracer.lesson.texts.origins import Origins
from tracer.lesson.texts.page import place_name
from tracer.lesson.working.lines import is_worked
from tracer.renderers.notation import Marking, pieces
from tracer.renderers.text import number_text, sides, text
from tracer.requests.resolve import run_pass
from tracer.scenario.loading import Loaded, Origin, load_text
from tracer.scenario.nodes import Nodes

RUNNER = Path(__file__).with_suffix(".js")

Answer = Any
"""The entries of each value: a number, with its line in pieces or the entry that it copies."""


def evaluated(tape: Any, trace: Trace) -> Any:
    """The tape with the numbers that the program computes, so that lines are compared alone."""
    for data, record in zip(tape["values"], trace.records, strict=True):
        value = record.output
        data["numbers"] = [str(number) for number in np.ravel(value.numbers).tolist()]
        data["asTheyAre"] = value.form is Form.AS_THEY_ARE
        data["words"] = value.role.words
    return tape


class Program:
    """The entries of a pass as the program writes them, in the form of the script's."""

    def __init__(self, trace: Trace) -> None:
        self.writer, self.origins = writer(trace), Origins(trace)
        self.places = {record.output: i for i, record in enumerate(trace.records)}
        self.marking = Marking(self._names)

    def entry(self, record: Record, at: Index) -> Answer:
        """Return a number with its line in pieces, or with what it copies."""
        number = entries.number(self.writer.pencil, record.output, at)
        entry: Answer = {"number": number_text(number)}
        chain = self.writer.chain(record, at) if is_worked(record, at) else None
        if chain is None or not chain.relations:
            copied = [self._name(each) for each in self.origins.inputs_of(Entry(record.output, at))]
            return entry | ({"is": copied[-1]} if copied else {})
        marked = " ".join(sides(chain, self.marking.write)[:-1])
        entry["work"] = [[words, *names] if names else words for words, names in pieces(marked)]
        return entry | {"sign": chain.relations[-1], "result": text(chain.sides[-1])}

    def _names(self, of: Number | Rest) -> list[str]:
        found = [of.entry] if isinstance(of, Number) else of.hidden() if of.hidden else []
        return [self._name(entry) for entry in found if entry]

    def _name(self, entry: Entry) -> str:
        return f"{self.places[entry.value]}:{place_name(entry.at)}"


def written(trace: Trace) -> list[list[Answer]]:
    """Return the entries of each value; words have none."""
    by = Program(trace)
    return [
        [
            by.entry(record, at)
            for at in np.ndindex(record.output.shape)
            if not record.output.role.words
        ]
        for record in trace.records
    ]


def with_loss(found: Loaded) -> Trace:
    """The forward pass of a scenario, with the loss if it has one."""
    try:
        return run_pass(found, PassOptions(loss=True))
    except TracerError:
        return run_pass(found, FORWARD)


@dataclass(frozen=True)
class Compared:
    """How many lines are compared, how many of them leave terms out, and what differs."""

    lines: int
    long: int
    differences: list[str]


def compare(script: Script, scenario: str) -> Compared:
    """Compare the entries of all values of a scenario; none if the script cannot compute it.

    Raises:
        TracerError: the program refuses the scenario.
    """
    found = load_text(scenario, Origin("scenario", "scenario.yaml", Path()))
    trace = with_loss(found)
    tape = as_tape.tape_data(trace, typed.TypedNumbers(trace, Nodes(found.text)))
    if tape is None:
        return Compared(0, 0, [])
    wanted = written(trace)
    lines = [entry["work"] for each in wanted for entry in each if "work" in entry]
    differing = [
        f"{record.output.address}: {said} in place of {expected}"
        for record, own, others in zip(
            trace.records, script.answer(evaluated(tape, trace)), wanted, strict=True
        )
        for said, expected in zip(own, others, strict=True)
        if said != expected
    ]
    return Compared(len(lines), sum("more: " in str(line) for line in lines), differing)
