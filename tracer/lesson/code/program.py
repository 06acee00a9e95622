"""A pass as a program: parameters, the lines of each step, and what each step prints."""

from __future__ import annotations

import json
import math
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from tracer.decoder import operations as op
from tracer.decoder.forward import Trace
from tracer.decoder.value import Value
from tracer.errors import Problem, TracerError
from tracer.lesson.code.autograd import with_autograd
from tracer.lesson.code.library import WORDS, Library, Words
from tracer.lesson.code.lines import SHOWN, Layout, LineWriter, array, entries
from tracer.lesson.code.rounding import NOISE, ProgramRounding
from tracer.lesson.code.snippet import Snippet
from tracer.lesson.steps.kind import Step
from tracer.lesson.texts.selection import steps_of_batch

LARGEST, SMALLEST = Decimal("1e300"), Decimal("1e-300")
"""Programs compute with numbers of sizes between these."""

WIDTH = 96
"""The most characters of a line of numbers that is not broken."""

ROUNDED = '''
def rounded(x, *decimals, significant=0, noise={noise}):
    """Round half away from zero, by default to {decimals} decimals."""

    def places_of(number, decimals):
        first = number.adjusted()  # the place of the first digit: -2 of 0.025
        vanishes = decimals > 4 or abs(number) < Decimal(5).scaleb(-decimals - 1)
        return 1 - first if first < -decimals and vanishes else decimals

    def one(number):
        # Without the rounding error of float64.
        exact = Decimal(f"{{round(number, 13) if noise else number:.14g}}")
        if not exact.is_finite():
            return number
        if abs(exact) < noise or not exact:
            return 0.0
        first = exact.adjusted()
        places = [places_of(exact, each) for each in decimals]
        places += [max(0, significant - 1 - first)] if significant else []
        last = max(places or [places_of(exact, {decimals})])
        if first >= 12:
            last = (significant or 4) - 1 - first
        return float(exact.quantize(Decimal(1).scaleb(-last), ROUND_HALF_UP))

    return {map}
'''

SHARED = '''
def shared(x, rows=None):
    """Round each row to the decimals with which its largest number has {digits} digits."""

    def decimals_of(row):
        largest = Decimal(f"{{max(row.tolist(), default=0):.14g}}")
        return max(0, {last} - largest.adjusted()) if largest else {decimals}

    of = x if rows is None else rows
    return {module}.stack(
        [rounded(numbers, decimals_of(row), noise=0) for numbers, row in zip(x, of)]
    )
'''

MATMUL = '''
def matmul(x, W, *digits, **more):
    """x @ W with each product rounded."""
    return rounded(x[:, :, None] * W[None, :, :], *digits, **more).sum({axis}=1)
'''

NORMAL = """
normal_cdf = np.vectorize(lambda x: math.erfc(-x / math.sqrt(2)) / 2, otypes=[float])
"""

FOUR_BITS = '''
def e2m1(x):
    """The nearest number of four bits; of two equally near ones, that with an even mantissa."""
    numbers = {array}([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    far = {module}.abs({module}.abs(x)[..., None] - numbers)
    near = (far + 1e-9 * ({module}.arange(8) % 2)).argmin(-1)
    return {module}.sign(x) * numbers[near]
'''

SHOW = '''
def show(title, x):
    """Print the result of a step."""

    def text(number):
        short = f"{{number:.{decimals}f}}"
        return short if float(short) == number else str(number)

    print(f"\\n{{title}}")
    if isinstance(x, list):  # words
        print(" ", *x)
    else:
        for row in {module}.atleast_2d({tensor}).tolist():
            print(" ", *(f"{{text(number):>9}}" for number in row))
'''

BY_EACH = {
    Library.NUMPY: "np.vectorize(one, otypes=[float])(x)",
    Library.PYTORCH: "torch.as_tensor(x).detach().clone().apply_(one)",
}
"""A function of each number."""


class Program:
    """The program of a pass, and the lines of each of its steps beside the text."""

    def __init__(self, trace: Trace, library: Library) -> None:
        self.trace, self.library = trace, library
        self.rounding = ProgramRounding(trace.pencil)

    @cached_property
    def layout(self) -> Layout:
        """The layout of the program, which rounds where the text rounds.

        The gradients that PyTorch computes have all digits, so rounded ones are computed by their
        formulas.
        """
        return self._layout(rounds=self.trace.pencil.rounds)

    @cached_property
    def beside(self) -> Layout:
        """The layout of the lines beside the text, which have all digits."""
        return self._layout(rounds=False)

    def _layout(self, *, rounds: bool) -> Layout:
        every = steps_of_batch(self.trace.records)
        if self.library is Library.PYTORCH and not rounds:
            every = with_autograd(every)
        return Layout(self.trace, every)

    def lines(self, step: Step) -> list[str]:
        """Return the lines that compute a step, or some records of one, with all digits."""
        own = next(each for each in self.beside.steps if each.number == step.number)
        outputs = {record.output for record in step.records}
        if any(record.output not in outputs for record in own.records):
            chosen = tuple(record for record in own.records if record.output in outputs)
            own = replace(own, records=chosen)
        return LineWriter(self.beside, self.words).lines(own)

    @property
    def _what(self) -> str:
        """What the program computes."""
        trains = any(step.place.phase != "forward" for step in self.layout.steps)
        return "a step of training" if trains else "the forward pass"

    @property
    def words(self) -> Words:
        """The words of the library."""
        return WORDS[self.library]

    def text(self, titles: Mapping[Step, str]) -> str:
        """Return a program that prints the results of the steps that have a title.

        It has all steps that these read.

        Raises:
            TracerError: a number of the text is beyond the range of float64.
        """
        for value in self.layout.records:
            if not value.role.words and not all(map(_is_float, value.numbers.flat)):
                message = "a number is beyond the range of float64, with which the code computes"
                raise TracerError(Problem(message, address=value.address))
        writer = LineWriter(self.layout, self.words, self.rounding)
        body: list[str] = []
        needed = self._needed({step.number for step in titles})
        title_of = {step.number: title for step, title in titles.items()}
        for step in needed:
            lines = writer.lines(step)
            title = title_of.get(step.number)
            shown = list(self._shown(step, title)) if title else []
            if lines or shown:
                body += ["", *lines, *shown]
        given = list(self._given(needed))
        helpers = self._helpers("\n".join([*given, *body]))
        return "\n".join([*helpers, *given, *body]) + "\n"

    def _shown(self, step: Step, title: str) -> Iterator[str]:
        """The results of a step; the gradients and the new weights have their names."""
        own = [r.output for r in step.records if r.output.role.derivation in SHOWN]
        for value in own:
            yield from self._shows(value, f"{title}: {self.layout.names[value]}")
        is_word = isinstance(step.last.operation, op.Chosen)
        if not own and (is_word or not step.last.output.role.words):
            yield from self._shows(step.last.output, title)

    def _shows(self, value: Value, title: str) -> Iterator[str]:
        if 0 in value.shape:
            return
        name, printed = self.layout.names[value], self.rounding.printed(value)
        own = str(value.numbers[()]) if self.layout.is_given(value) and not value.shape else name
        shown = printed.around(Snippet(own)).text if printed else own
        yield f"show({quoted(title)}, {shown})"

    def _needed(self, chosen: Container[int]) -> list[Step]:
        """The steps with the chosen numbers and those that they read."""
        every = self.layout.steps
        step_of = {record.output: step for step in every for record in step.records}
        found, waiting = set[Step](), [step for step in every if step.number in chosen]
        while waiting:
            step = waiting.pop()
            if step not in found:
                found.add(step)
                read = (value for record in step.records for value in record.inputs)
                waiting += [step_of[value] for value in read if value in step_of]
        return [step for step in every if step in found]

    def _given(self, steps: Iterable[Step]) -> Iterator[str]:
        """The numbers that the scenario gives, and the vocabulary."""
        yield from ("", "# Inputs and parameters")
        scenario = self.trace.scenario
        records = [record for step in steps for record in step.records]
        if scenario.vocabulary and any(isinstance(r.operation, op.Chosen) for r in records):
            yield f"vocabulary = [{', '.join(map(quoted, scenario.vocabulary))}]"
        given = dict.fromkeys(
            value
            for record in records
            for value in (*record.inputs, record.output)
            if self.layout.is_given(value) and value not in self.layout.inside
        )
        for value in given:
            if value.shape and not value.role.words:
                yield from self._literal(value)
        if learned := [value for value in self.layout.with_gradients if value in given]:
            yield f"for value in [{', '.join(self.layout.names[value] for value in learned)}]:"
            yield "    value.requires_grad_()"

    def _literal(self, value: Value) -> list[str]:
        name, words = self.layout.names[value], self.words
        if causal := self._causal(value):
            return [f"{name} = {causal}"]
        line = f"{name} = {array(value.numbers, words)}"
        if len(line) <= WIDTH or value.numbers.ndim == 1:
            return [line]
        rows = map(", ".join, entries(value.numbers, words))
        return [f"{name} = {words.array}([", *(f"    [{row}]," for row in rows), "])"]

    def _causal(self, value: Value) -> str | None:
        """A mask that hides later tokens as a triangle."""
        if not value.role.hides or len({*value.shape}) != 1:
            return None
        n, module = len(value.numbers), self.words.module
        later = np.triu(np.ones((n, n), bool), 1)
        numbers = value.array
        if not (np.isneginf(numbers) == later).all() or numbers[~later].any():
            return None
        hidden = f"{module}.full(({n}, {n}), -{module}.inf)"
        return f"{module}.triu({hidden}, {self.words.rows_of_triangle}=1)"

    def _helpers(self, body: str) -> list[str]:
        """The imports and functions that a program uses."""
        rounding, words = self.trace.pencil.rounding, self.words
        is_numpy = self.library is Library.NUMPY
        found = ""
        if "rounded(" in body or "shared(" in body:
            found += ROUNDED.format(
                decimals=rounding.decimals, noise=f"{NOISE:.0e}", map=BY_EACH[self.library]
            )
        if "shared(" in body:
            digits = rounding.decimals + 3
            found += "\n" + SHARED.format(
                digits=digits, last=digits - 1, decimals=rounding.decimals, module=words.module
            )
        if "matmul(" in body:
            found += "\n" + MATMUL.format(axis=words.axis)
        if "normal_cdf(" in body:
            found += "\n" + NORMAL
        if "e2m1(" in body:
            found += "\n" + FOUR_BITS.format(array=words.array, module=words.module)
        tensor = "x" if is_numpy else "torch.as_tensor(x)"
        found += "\n" + SHOW.format(decimals=rounding.decimals, module=words.module, tensor=tensor)
        whole = found + body
        imports = ["import math"] if "math." in whole else []
        imports += ["from decimal import ROUND_HALF_UP, Decimal"] if "Decimal" in whole else []
        imports += [""] if imports else []
        module = ["import numpy as np"] if is_numpy else ["import torch", "", *_DOUBLE]
        title = f"{self.trace.scenario.title}: {self._what} in {words.title}."
        return [f'"""{quoted(title)[1:-1]}"""', "", *imports, *module, "", found]


def _is_float(number: Any) -> bool:
    """Whether a number is 0, infinite, or in the range of float64, even if it is squared."""
    size = abs(number)
    return not size or size == math.inf or SMALLEST < size < LARGEST


def quoted(text: str) -> str:
    """A string as it is typed."""
    return json.dumps(text, ensure_ascii=False)


_DOUBLE = ["torch.set_default_dtype(torch.float64)"]
