"""Find the figures of a file in a trace; report those that are not there with file and line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product
from math import prod

from tracer.check.listed import Listed, ReadFigures
from tracer.check.passes import Pass, is_trained, missing_loss
from tracer.check.printed import Printed
from tracer.decoder.forward import PassOptions, Trace
from tracer.decoder.operations import Dot, MatMul, Mean, MeanOf
from tracer.decoder.roles import LOSS
from tracer.decoder.tape import Record
from tracer.decoder.value import Entry, Value
from tracer.errors import Problem, TracerError
from tracer.formula.numbers import as_decimal
from tracer.lesson.entries import index_of, name as name_of
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts import sentences
from tracer.lesson.texts.lookup import suggestion
from tracer.lesson.texts.teacher import Teacher
from tracer.names import count
from tracer.scenario.loading import Loaded
from tracer.scenario.other_names import names_of, own_address
from tracer.scenario.reader import with_excerpts


@dataclass(frozen=True, eq=False)
class CheckedFigure:
    """Something that a text prints: a number, the shape of a value, a number of parameters.

    `entry` is the entry of the number, or any of the value with the shape; `term` is the index of
    the product in its line.
    """

    listed: Listed
    within: Pass | None = None
    printed: Printed | None = None
    entry: Entry | None = None
    term: int | None = None

    @property
    def text(self) -> str:
        """The figure as printed."""
        return self.printed.text if self.printed else self.listed.text.replace(" ", "×")

    @property
    def name(self) -> str:
        """The name of its entry or value: `layer1.attention.head1.weights[Alex,Frank]`."""
        part = self.listed.part
        of = str(self.listed.address or "")
        if self.entry is not None and part not in ("shape", "parameters"):
            of = name_of(self.entry)
        if self.term is not None:
            return f"product {self.term + 1} of {of}"
        return of if part == "value" else f"{part} of {of}"

    @property
    def step(self) -> Step | None:
        """The step that explains it."""
        if self.within is None or self.entry is None:
            return None
        return step_in(self.within.origins.teacher, self.entry.value)

    @property
    def title(self) -> str:
        """The title of that step."""
        if self.within is None or self.step is None:
            return ""
        ctx = self.within.origins.teacher.ctx
        return sentences.title(self.step, ctx.at(self.step.place))


@dataclass(frozen=True, eq=False)
class NumberFigure(CheckedFigure):
    """A number of a value, of its line, or of the sum in the line."""

    within: Pass
    printed: Printed
    entry: Entry

    def comes_to(self, trace: Trace) -> list[Decimal]:
        """Return its number in a trace: unrounded, and as used in later calculations.

        None where its token goes to another network.
        """
        value, at = trace[self.entry.value.address], self.entry.at
        own, other = (v.axes[0].positions if v.axes else None for v in (self.entry.value, value))
        if own is not None and other is not None:
            if own[at[0]] not in other:
                return []
            at = (other.index(own[at[0]]), *at[1:])
        match self.listed.part:
            case "products":
                assert self.term is not None
                return [_products(trace.producers[value], at)[self.term]]
            case "sum":
                return [_sum(trace.producers[value], at)]
            case _:
                return [as_decimal(value.computed[at]), as_decimal(value.numbers[at])]


def step_in(teacher: Teacher, value: Value) -> Step | None:
    """Return the step of a value; for a parameter the step that uses it."""
    steps = teacher.step_of
    if value.address in steps:
        return steps[value.address]
    users = (r.output.address for r in teacher.trace.records if value in r.inputs)
    return next((steps[address] for address in users if address in steps), None)


def _products(record: Record, at: tuple[int, ...]) -> list[Decimal]:
    x, w = (value.numbers for value in record.inputs[:2])
    column = w[at[1]] if isinstance(record.operation, Dot) else w[:, at[1]]
    return [as_decimal(a * b) for a, b in zip(x[at[0]], column, strict=True)]


def _sum(record: Record, at: tuple[int, ...]) -> Decimal:
    numbers = record.inputs[0].numbers
    if isinstance(record.operation, MeanOf):
        return sum((as_decimal(numbers[i]) for i in record.operation.counted), Decimal(0))
    return sum(map(as_decimal, numbers[at[0]]), Decimal(0))


def figures(read: ReadFigures, loaded: Loaded) -> list[CheckedFigure]:
    """Return the figures of a file, in its order, each with its entry in a pass of the scenario.

    Raises:
        TracerError: some of them do not exist.
    """
    addresses = [listed.address or "" for listed in read.listed]
    passes, problems = Passes(addresses, loaded), list[Problem]()
    found: list[CheckedFigure] = []
    for number, listed in enumerate(read.listed):
        try:
            found += _figures_of(_with_own_address(listed, loaded), passes)
        except MissingValueError as error:
            problems.append(read.problem(number, error.key, error.problem))
    if problems:
        raise TracerError(*with_excerpts(problems, read.content))
    return found


def _with_own_address(listed: Listed, loaded: Loaded) -> Listed:
    """Return a figure with the address in place of another program's name for the value."""
    if listed.address is None:
        return listed
    try:
        address = own_address(listed.address, names_of(loaded.scenario))
    except TracerError as error:
        raise MissingValueError("address", error.problems[0].message, listed.address) from None
    return listed.model_copy(update={"address": address})


class MissingValueError(Exception):
    """A figure names something that does not exist: the key that names it, and the message."""

    def __init__(self, key: str, message: str, address: str | None = None) -> None:
        self.key, self.problem = key, Problem(message, address=address)
        self.problems = (self.problem,)


class Passes:
    """The passes that figures with these addresses need, each computed once."""

    def __init__(self, addresses: Sequence[str], loaded: Loaded) -> None:
        options = PassOptions.recording(addresses)
        self.trained = Pass(loaded, options)
        """The first step of training, on all examples if there are any."""
        self.missing = missing_loss(loaded.scenario) if options.gradients else ""
        forward = Pass(loaded, replace(options, loss=False, gradients=False))
        self.plain = forward if loaded.scenario.training or self.missing else self.trained
        self.examples: dict[int, Pass] = {}

    def of(self, address: str, example: int | None = None) -> Pass:
        """Return the pass that computes a value, in a training example if one is named.

        Raises:
            MissingValueError: there is no such training example.
        """
        examples = self.plain.loaded.scenario.training
        if is_trained(address):
            if self.missing:
                raise MissingValueError("address", self.missing, address)
            if example is None:
                return self.trained
        is_of_loss = address.split(".")[0] == LOSS.name
        number = example or (1 if examples and is_of_loss else None)
        if number is None:
            return self.plain
        if number > len(examples):
            there = f"the last is {len(examples)}" if examples else "there are none"
            raise MissingValueError("example", f"no training example {number}, {there}")
        if number not in self.examples:
            loaded = self.plain.loaded
            read = loaded.scenario.reading_example(examples[number - 1])
            read = read.model_copy(update={"training": ()})
            options = replace(self.trained.options, loss=True)
            self.examples[number] = Pass(replace(loaded, scenario=read), options)
        return self.examples[number]


def _figures_of(listed: Listed, passes: Passes) -> Iterator[CheckedFigure]:
    """Yield the figures of one place in a text."""
    if listed.address is None:
        yield CheckedFigure(listed)
        return
    within = passes.of(listed.address, listed.example)
    trace = within.trace
    if listed.part == "parameters":
        if not parameters(trace, listed.address):
            raise MissingValueError("address", "no parameters under this address", listed.address)
        yield CheckedFigure(listed, within, _only_number(listed))
        return
    if listed.address not in trace.values:
        hint = suggestion(trace, listed.address)
        raise MissingValueError("address", f"no such value{hint}", listed.address)
    value = trace[listed.address]
    if listed.part == "shape":
        _only_row(listed)
        yield CheckedFigure(listed, within, None, Entry(value, ()))
    elif value.role.words:
        raise MissingValueError("address", "these are words; only numbers can be checked")
    elif listed.part == "value":
        yield from _of_value(listed, within, value)
    else:
        yield from _of_line(listed, within, value)


def _of_line(listed: Listed, within: Pass, value: Value) -> Iterator[NumberFigure]:
    """Yield the products in a number's line, or the sum that is divided there."""
    record, at = within.trace.producers[value], _place(listed, value)
    if any(isinstance(axis, range) for axis in at):
        raise MissingValueError("part", f"needs a single number: expected {_keys(value)}")
    entry = Entry(value, tuple(i for axis in at for i in axis))
    if listed.part == "sum":
        if not isinstance(record.operation, Mean | MeanOf):
            raise MissingValueError("part", "its line divides no sum")
        yield NumberFigure(listed, within, _only_number(listed), entry)
        return
    if not isinstance(record.operation, MatMul | Dot):
        raise MissingValueError("part", "its line has no products")
    _check_count(listed, record.inputs[0].shape[1], "product")
    for term, number in enumerate(listed.rows[0]):
        if number is not None:
            yield NumberFigure(listed, within, number, entry, term)


def _of_value(listed: Listed, within: Pass, value: Value) -> Iterator[NumberFigure]:
    """Yield the numbers of a value, or of a row, a column or an entry of it."""
    at, rows = _place(listed, value), listed.rows
    indices = list(product(*at))
    if all(isinstance(axis, range) for axis in at) and len(at) == 2:
        shape = value.shape
        if len(rows) != shape[0]:
            raise MissingValueError("printed", f"{count(len(rows), 'row')}, expected {shape[0]}")
        for row in rows:
            if len(row) != shape[1]:
                raise MissingValueError("printed", f"a row of {len(row)}, expected {shape[1]}")
    else:
        _check_count(listed, len(indices), "number")
    for index, number in zip(indices, [n for row in rows for n in row], strict=True):
        if number is not None:
            yield NumberFigure(listed, within, number, Entry(value, index))


def _only_number(listed: Listed) -> Printed:
    _check_count(listed, 1, "number")
    [number] = listed.rows[0]
    if number is None:
        raise MissingValueError("printed", "got _, expected a number")
    return number


def _only_row(listed: Listed) -> tuple[Printed | None, ...]:
    if len(listed.rows) > 1:
        raise MissingValueError("printed", f"{len(listed.rows)} rows, expected one")
    return listed.rows[0]


def _check_count(listed: Listed, expected: int, what: str) -> None:
    row = _only_row(listed)
    if len(row) != expected:
        came = count(len(row), what)
        raise MissingValueError("printed", f"{came}, expected {expected}", listed.address)


def _place(listed: Listed, value: Value) -> list[range | list[int]]:
    """Return for each axis the index of the named row or column, or the whole range."""
    given = {"row": listed.row, "column": listed.column}
    named = [key for key, label in given.items() if label is not None]
    if len(named) > len(value.axes):
        raise MissingValueError(named[-1], f"expected {_keys(value)}", listed.address)
    keys = named if len(value.axes) == 1 and named else ["row", "column"][: len(value.axes)]
    found: list[range | list[int]] = []
    for key, axis, length in zip(keys, value.axes, value.shape, strict=True):
        label = given[key]
        try:
            known = label is not None and [
                index_of(axis, label, value.address, value.place.network)
            ]
        except TracerError as error:
            raise MissingValueError(key, error.problems[0].message, value.address) from None
        found.append(known or range(length))
    return found


def _keys(value: Value) -> str:
    return ("no row or column", "only a row", "a row and a column")[len(value.axes)]


def parameters(trace: Trace, address: str) -> int:
    """Return the number of parameters at or under an address."""
    values = [record.output for record in trace.records if record.output.role.parameter]
    return sum(prod(v.shape) for v in values if f"{v.address}.".startswith(f"{address}."))
