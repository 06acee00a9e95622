"""The library, `import tracer`: load, trace, explain, render."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracer.data.quote import printed
from tracer.decoder import forward
from tracer.errors import TracerError
from tracer.lesson import document as doc
from tracer.lesson.texts import author, forward_pass
from tracer.lesson.texts.lookup import suggestion, with_own_address
from tracer.lesson.texts.selection import select, steps
from tracer.lesson.texts.symbols import symbols
from tracer.names import count, name_text, position_of
from tracer.renderers import Format, render as rendered
from tracer.renderers.text import text
from tracer.scenario import loading
from tracer.scenario.model import Scenario

MOST_SHOWN = 8
"""The most rows and columns that the representation of a value shows."""


@dataclass(frozen=True, eq=False)
class Value:
    """A value of a pass: an array of floats with a name and labels for each axis."""

    address: str
    axes: tuple[tuple[str, tuple[str, ...]], ...]
    array: NDArray[np.float64]
    _printed: Callable[[tuple[int, ...]], str]
    _symbol: Callable[[], str]

    @property
    def symbol(self) -> str:
        """How texts write the value."""
        return self._symbol()

    @cached_property
    def printed(self) -> NDArray[Any]:
        """Each number as every text of the pass prints it, in the shape of the array."""
        numbers = np.empty(self.array.shape, object)
        for index in np.ndindex(self.array.shape):
            numbers[index] = self._printed(index)
        return numbers

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.array, dtype=dtype)

    def __repr__(self) -> str:
        """Return symbol, address and axes, then the printed numbers with their labels."""
        from tracer.renderers.rows import cells, shortened

        if not self.axes:
            return f"{self.symbol}, {self.address}: {self._printed(())}"
        table = [[shortened(cell) if cell else "" for cell in row] for row in self._table()]
        widths = [max(map(cells, column)) for column in zip(*table, strict=True)]
        axes = " × ".join(count(len(labels), name) for name, labels in self.axes)
        rows = (
            "  ".join(" " * (w - cells(c)) + c for c, w in zip(row, widths, strict=True))
            for row in table
        )
        return "\n".join([f"{self.symbol}, {self.address}: {axes}", *rows])

    def _repr_html_(self) -> str:
        """Return a table; a vector is one row."""
        if not self.axes:
            return f"<table><tr>{_th(self.symbol)}<td>{escape(self._printed(()))}</td></tr></table>"
        (_, *columns), *rows = self._table()
        head = _th(self.symbol) + "".join(map(_th, columns))
        body = "".join(
            f"<tr>{_th(label)}{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
            for label, *row in rows
        )
        return f"<table><tr>{head}</tr>{body}</table>"

    def _table(self) -> list[list[str]]:
        """The labels of the columns, then each row with its label; … for those left out."""
        *rows, columns = (labels for _, labels in self.axes)
        more = ["…"] * (len(columns) > MOST_SHOWN)
        table = [["", *map(name_text, columns[:MOST_SHOWN]), *more]]
        for i, label in enumerate(rows[0][:MOST_SHOWN] if rows else ("",)):
            places = [(i, j) if rows else (j,) for j in range(len(columns))[:MOST_SHOWN]]
            table.append([name_text(label) if label else "", *map(self._printed, places), *more])
        if rows and len(rows[0]) > MOST_SHOWN:
            table.append(["…"] * len(table[0]))
        return table


def _th(label: str) -> str:
    return f"<th>{escape(label)}</th>"


class Trace(Mapping[str, Value]):
    """A recorded pass: its values by address, in the order of computation."""

    def __init__(self, run: forward.Trace) -> None:
        self._run = run

    def __getitem__(self, address: str) -> Value:
        """Return the value at an address; a KeyError names the most similar addresses."""
        try:
            address = with_own_address(self._run, address)
        except TracerError as error:
            raise KeyError(str(error.problems[0])) from None
        if address not in self._run.values:
            raise KeyError(f"{address}: no such value{suggestion(self._run, address)}")
        value = self._run[address]
        axes = tuple((axis.name, axis.labels) for axis in value.axes)
        floats = np.zeros(value.shape) if value.role.words else value.array
        as_printed = partial(printed, self._run, value)
        return Value(address, axes, floats, as_printed, partial(self._symbol, address))

    def __iter__(self) -> Iterator[str]:
        return iter(self._run.values)

    def __len__(self) -> int:
        return len(self._run.values)

    def __repr__(self) -> str:
        title, tokens = self._run.scenario.title, count(len(self._run.tokens), "token")
        return f"<Trace of {title!r}: {tokens}, {count(len(self), 'value')}>"

    @property
    def scenario(self) -> Scenario:
        """The scenario of the pass."""
        return self._run.scenario

    def _symbol(self, address: str) -> str:
        return text(self._symbols[address])

    @cached_property
    def _symbols(self) -> Mapping[str, Any]:
        return symbols(self._run.records)


class Document(doc.Document):
    """A text about a pass; a notebook shows it as an interactive page or as text."""

    def _repr_html_(self) -> str:
        from tracer.lesson.texts.page import page_of
        from tracer.renderers.page.as_html import framed

        return framed(page_of(self), whole=self.whole)

    def _repr_markdown_(self) -> str:
        return rendered(self, Format.MARKDOWN, math=True)


def load(path: str | Path) -> Scenario:
    """Load a scenario from a file, or the bundled scenario of that name.

    Raises:
        TracerError: there is no such scenario, or it has problems; `error.problems` lists them.
    """
    return loading.load(str(path)).scenario


def trace(scenario: Scenario, *, name: str = "scenario", unmasked: bool = False) -> Trace:
    """Run a decoder; with `unmasked`, compute each softmax a second time without the mask.

    Raises:
        TracerError: a division by zero, a number out of range, a given value that does not fit, or
            an author's note about a step or a number that does not exist.
    """
    run = forward.trace(name, scenario, forward.PassOptions(unmasked))
    author.check_names(run)
    return Trace(run)


def explain(
    trace: Trace,
    step: str | None = None,
    *,
    token: str | int | None = None,
    layer: int | None = None,
    head: int | None = None,
) -> Document:
    """Explain every step of a pass, or those that `step` names, worked for one token.

    `token` is a position, counted from 1, or the token's text; by default the last token.

    Raises:
        TracerError: there is no such step, token, layer or head.
    """
    run = trace._run
    position = len(run.tokens) - 1 if token is None else position_of(str(token), run.tokens)
    chosen = select(steps(run.records), step, layer, head, run.scenario)
    found = forward_pass.forward_pass(run, chosen, position, whole=step is None)
    return Document(found.scenario, found.title, found.introduction, found.sections, found.whole)


def render(document: doc.Document, format: str = "terminal", *, math: bool = False) -> str:
    """Render a document as text: `terminal`, `markdown` (with `math`, LaTeX formulas) or `latex`.

    Raises:
        ValueError: there is no such format.
    """
    if format not in list(Format):
        expected = [each for each in Format if not each.is_data]
        raise ValueError(f"{format!r} is not a valid Format, expected {', '.join(expected)}")
    return rendered(document, Format(format), math=math)
