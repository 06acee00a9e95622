"""What `import tracer` offers to programs and notebooks: load, trace, explain, render."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracer.decoder import forward
from tracer.lesson import document as doc
from tracer.lesson.texts import author, forward_pass
from tracer.lesson.texts.selection import position_of, select, steps
from tracer.lesson.texts.symbols import symbols
from tracer.names import closest
from tracer.renderers import Format, render as rendered
from tracer.renderers.quote import printed
from tracer.renderers.text import name_text, text
from tracer.scenario import loading
from tracer.scenario.model import Scenario

FRAME = (
    '<iframe title="The calculation" srcdoc="{}" sandbox="allow-scripts" allow="fullscreen" '
    'style="width: 100%; height: 40em; border: 1px solid"></iframe>'
)


@dataclass(frozen=True, eq=False)
class Value:
    """A value of a pass: an array of floats with a name and labels for each axis.

    `printed` has the same shape: each number as every text of the pass prints it.
    """

    address: str
    symbol: str
    axes: tuple[tuple[str, tuple[str, ...]], ...]
    array: NDArray[np.float64]
    printed: NDArray[Any]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.array, dtype=dtype)

    def _repr_html_(self) -> str:
        """A table; numbers for each token below each other, other single rows side by side."""
        corner = f"<th>{escape(self.symbol)}</th>"
        if self.printed.ndim == 0:
            return f"<table><tr>{corner}<td>{escape(str(self.printed))}</td></tr></table>"
        columns = self.axes[-1][1]
        rows = self.axes[0][1] if self.printed.ndim == 2 else ("",)
        cells = self.printed.reshape(len(rows), len(columns))
        head = "".join(f"<th>{escape(name_text(label))}</th>" for label in columns)
        body = "".join(
            f"<tr><th>{escape(name_text(label)) if label else ''}</th>"
            + "".join(f"<td>{escape(str(cell))}</td>" for cell in line)
            + "</tr>"
            for label, line in zip(rows, cells, strict=True)
        )
        return f"<table><tr>{corner}{head}</tr>{body}</table>"


class Trace(Mapping[str, Value]):
    """A pass on record: its values by address, in the order of computation."""

    def __init__(self, run: forward.Trace) -> None:
        self._run = run

    def __getitem__(self, address: str) -> Value:
        """The value at an address; a KeyError with the nearest one where there is none."""
        if address not in self._run.values:
            raise KeyError(f"{address}: no such value{closest(address, self)}")
        value = self._run[address]
        numbers = np.empty(value.shape, object)
        for index in np.ndindex(value.shape):
            numbers[index] = printed(self._run, value, index)
        axes = tuple((axis.name, axis.labels) for axis in value.axes)
        floats = np.zeros(numbers.shape) if value.role.words else value.array
        return Value(address, text(self._symbols[address]), axes, floats, numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._run.values)

    def __len__(self) -> int:
        return len(self._run.values)

    @property
    def scenario(self) -> Scenario:
        """What was run."""
        return self._run.scenario

    @cached_property
    def _symbols(self) -> dict[str, Any]:
        return symbols(self._run.records)


class Document(doc.Document):
    """A text about a pass; a notebook shows it in a frame, as a page to explore, or as text."""

    def _repr_html_(self) -> str:
        from tracer.lesson.texts.page import page_of
        from tracer.renderers.page.as_html import render

        return FRAME.format(escape(render(page_of(self))))

    def _repr_markdown_(self) -> str:
        return rendered(self, Format.MARKDOWN, math=True)


def load(path: str | Path) -> Scenario:
    """A scenario from a file, or the bundled one of that name.

    Raises:
        TracerError: no such scenario, or what is wrong in it: `error.problems` has each.
    """
    return loading.load(str(path)).scenario


def trace(scenario: Scenario, *, name: str = "scenario", unmasked: bool = False) -> Trace:
    """Run a decoder; with `unmasked`, each softmax a second time without the mask.

    Raises:
        TracerError: a division by zero, numbers beyond all bounds, a pin that does not fit, or a
            step or a number that the author's notes name and that is not there.
    """
    run = forward.trace(name, scenario, forward.PassOptions(unmasked))
    author.check(run)
    return Trace(run)


def explain(
    trace: Trace,
    step: str | None = None,
    *,
    token: str | int | None = None,
    layer: int | None = None,
    head: int | None = None,
) -> Document:
    """Every step of a pass worked for one token, or those that `step` names.

    The token is given by its position, counted from 1, or its text; the last if not given.

    Raises:
        TracerError: no such step, token, layer or head.
    """
    run = trace._run
    position = len(run.tokens) - 1 if token is None else position_of(str(token), run.tokens)
    chosen = select(steps(run.records), step, layer, head)
    told = forward_pass.forward_pass(run, chosen, position, whole=step is None)
    return Document(told.scenario, told.title, told.introduction, told.sections, told.whole)


def render(document: doc.Document, format: str = "terminal", *, math: bool = False) -> str:
    """A document as text: `terminal`, `markdown` (with `math` if wanted) or `latex`.

    Raises:
        ValueError: another format.
    """
    return rendered(document, Format(format), math=math)
