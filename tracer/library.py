"""The library, `import tracer`: load, trace, explain, render."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracer.check.checking import check_against, check_figures, differences
from tracer.check.differences import Differences
from tracer.check.dumps import dump_of
from tracer.check.report import Report
from tracer.check.report_text import report_text
from tracer.data.quote import printed
from tracer.decoder import forward
from tracer.decoder.attribution import Attribution
from tracer.decoder.generation import with_tokens
from tracer.decoder.score_attribution import ScoreAttribution
from tracer.decoder.sweeps import Experiment
from tracer.errors import Problem, TracerError
from tracer.lesson import document as doc
from tracer.lesson.texts import author, forward_pass
from tracer.lesson.texts.attribution import attribution_text
from tracer.lesson.texts.comparison import comparison_text
from tracer.lesson.texts.lookup import Part, find, find_part, suggestion, with_own_address
from tracer.lesson.texts.score_attribution import score_text
from tracer.lesson.texts.selection import select, steps
from tracer.lesson.texts.symbols import symbols
from tracer.names import count, name_text, position_of
from tracer.renderers import Format, render as rendered
from tracer.renderers.rows import cells, shortened
from tracer.renderers.text import text
from tracer.requests.given import Passed, with_given, with_pass
from tracer.requests.loader import parse
from tracer.requests.resolve import Engine, Subject, run_pass
from tracer.scenario import loading
from tracer.scenario.activations import DumpedArray, dumped_array
from tracer.scenario.model import Scenario

SCENARIO = "a Scenario, which tracer.load() returns"
TRACE = "a Trace, which tracer.trace() returns"

MOST_LISTED = 40
"""The most values that the representation of a pass lists."""
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
        """Return the value at an address, or a row, a column or an entry of it.

        `ADDRESS[Alex]` is a row, `ADDRESS[,Frank]` a column, `ADDRESS[Alex,Frank]` an entry; a
        KeyError names the most similar addresses.
        """
        if not isinstance(address, str):
            raise KeyError(f"{address!r}: expected an address")
        try:
            address = with_own_address(self._run, address)
        except TracerError as error:
            raise KeyError(str(error.problems[0])) from None
        if address not in self._run.values and "[" not in str(address):
            raise KeyError(f"{address}: no such value{suggestion(self._run, address)}")
        try:
            value, at = self._part(address)
        except TracerError as error:
            raise KeyError(str(error)) from None
        axes = zip(value.axes, at, strict=True)
        kept = tuple((axis.name, axis.labels) for axis, i in axes if i is None)
        picked = tuple(slice(None) if i is None else i for i in at)
        numbers = np.zeros(value.shape)[picked] if value.role.words else value.read(picked)

        def as_printed(within: tuple[int, ...]) -> str:
            left = iter(within)
            index = tuple(next(left) if i is None else i for i in at)
            return printed(self._run, value, index)

        symbol = partial(self._symbol, value.address)
        return Value(address, kept, np.asarray(numbers, np.float64), as_printed, symbol)

    def _part(self, address: str) -> Part:
        """Return the value, the row, the column or the entry at an address."""
        if address in self._run.values:
            value = self._run[address]
            return Part(value, (None,) * len(value.axes))
        try:
            return Part(*find(self._run, address))
        except TracerError:
            if "," in address.partition("[,")[0]:
                raise
            return find_part(self._run, address)

    def __iter__(self) -> Iterator[str]:
        return iter(self._run.values)

    def __len__(self) -> int:
        return len(self._run.values)

    def __repr__(self) -> str:
        title, tokens = self._run.scenario.title, count(len(self._run.tokens), "token")
        return f"<Trace of {title!r}: {tokens}, {count(len(self), 'value')}>"

    def _repr_html_(self) -> str:
        """Return a table of the first values, with address, symbol and shape."""
        rows = "".join(
            f"<tr>{_th(address)}<td>{escape(self._symbol(address))}</td>"
            f"<td>{escape(' × '.join(map(str, self._run[address].shape)))}</td></tr>"
            for address in islice(self, MOST_LISTED)
        )
        more = f"<p>… {len(self) - MOST_LISTED:,} more</p>" if len(self) > MOST_LISTED else ""
        head = _th("address") + _th("symbol") + _th("shape")
        return f"<p>{escape(repr(self))}</p><table><tr>{head}</tr>{rows}</table>{more}"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

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


def load(source: str | Path | Mapping[str, Any]) -> Scenario:
    """Load a scenario from a file, a bundled one by its name, from YAML text or from its keys.

    A string with a line break, or one that begins with `{`, is YAML text.

    Raises:
        TracerError: there is no such scenario, or it has problems; `error.problems` lists them.
    """
    match source:
        case Mapping():
            return loading.load_data(source).scenario
        case str() if "\n" in source or source.startswith("{"):
            return loading.parse(source, "<text>")
        case str() | Path():
            return loading.load(str(source)).scenario
    raise _unexpected(source, "a path, YAML text or a mapping")


def trace(scenario: Scenario, *, name: str = "scenario", unmasked: bool = False) -> Trace:
    """Run a decoder; with `unmasked`, compute each softmax a second time without the mask.

    Raises:
        TracerError: a division by zero, a number out of range, a given value that does not fit, or
            an author's note about a step or a number that does not exist.
    """
    _check_type(scenario, Scenario, SCENARIO)
    _check_type(name, str, "a name")
    run = forward.trace(name, scenario, forward.PassOptions(unmasked))
    author.check_names(run)
    return Trace(run)


Result: TypeAlias = Attribution | Experiment | Report | Differences
"""What `attribute`, `compare` and `check` return."""


def explain(
    trace: Trace | Result,
    step: str | None = None,
    *,
    token: str | int | None = None,
    layer: int | None = None,
    head: int | None = None,
) -> Document:
    """Explain every step of a pass, or those that `step` names, worked for one token.

    The result of `attribute`, `compare` or `check` is explained as the command does.
    `token` is a position, counted from 1, or the token's text; by default the last
    token, or the first mask if the model predicts masked words.

    Raises:
        TracerError: there is no such step, token, layer or head.
    """
    if isinstance(trace, Result):
        found = _text_of(trace)
    else:
        _check_type(trace, Trace, TRACE)
        _check_type(step, str | None, "the name of a step")
        run = trace._run
        usual = run.scenario.followed(run.tokens)
        position = usual if token is None else position_of(str(token), run.tokens)
        chosen = select(steps(run.records), step, layer, head, run.scenario)
        found = forward_pass.forward_pass(run, chosen, position, whole=step is None)
    return Document(found.scenario, found.title, found.introduction, found.sections, found.whole)


def render(document: doc.Document, format: str = "terminal", *, math: bool = False) -> str:
    """Render a document as text: `terminal`, `markdown` (with `math`, LaTeX formulas) or `latex`.

    Raises:
        ValueError: there is no such format.
    """
    _check_type(document, doc.Document, "a Document, which tracer.explain() returns")
    if format not in list(Format):
        expected = [each for each in Format if not each.is_data]
        raise ValueError(f"{format!r} is not a valid Format, expected {', '.join(expected)}")
    return rendered(document, Format(format), math=math)


# --- what the commands do -------------------------------------------------------------------------


def _text_of(found: Result) -> doc.Document:
    match found:
        case ScoreAttribution():
            return score_text(found)
        case Attribution():
            return attribution_text(found)
        case Experiment():
            return comparison_text(found)
        case Report():
            return report_text(found)
        case Differences():
            return found.document()


def given(trace: Trace, values: Mapping[str, Any]) -> Trace:
    """Return the pass with some numbers replaced; what does not depend on them is not recomputed.

    The keys are addresses, or `ADDRESS[TOKEN]` for a row. A value is an array, one number that
    fills it, or "mean", the mean over the tokens; as with the option `--given`.

    Raises:
        TracerError: there is no such value or token, or the numbers do not fit.
    """
    _check_type(trace, Trace, TRACE)
    _check_type(values, Mapping, "numbers by address")
    texts = (f"{address}={_as_text(numbers)}" for address, numbers in values.items())
    return Trace(run_pass(with_given(with_pass(trace._run), texts), forward.FORWARD))


def attribute(
    trace: Trace,
    entry: str,
    *,
    token: str | int | None = None,
    instead_of: str | None = None,
    by: str = "part",
) -> Attribution:
    """Split an entry, such as `logits[la,pizza]`, into what each part of the model adds.

    With `token`, as in `explain`, the entry may leave out its row: `logits[,pizza]`. With
    `instead_of`, it is the difference from another word's logit. `by` is part, token or neuron.

    Raises:
        TracerError: there is no such entry, it is no sum of parts, or an option does not fit.
    """
    _check_type(trace, Trace, TRACE)
    _check_type(entry, str, "the address of an entry")
    options = {"--token": token, "--instead-of": instead_of, "--by": by}
    words = [f"{name}={given}" for name, given in options.items() if given is not None]
    request: Any = parse(["attribute", entry, *words])
    found: Attribution = request.parts(trace._run)
    return found


def compare(
    first: Trace,
    second: Trace,
    *,
    token: str | int | None = None,
    patch: Sequence[str] = (),
    sweep: str | None = None,
) -> Experiment:
    """Compare two passes, and patch numbers of the second into the first.

    `patch` lists addresses, or `ADDRESS[TOKEN]`; `sweep` patches each of the heads, layers or
    tokens in turn, as the command `compare` does.

    Raises:
        TracerError: the texts cannot be aligned, or a patch does not fit.
    """
    for each in (first, second):
        _check_type(each, Trace, TRACE)
    _check_type(patch, Sequence, "addresses")
    words = [f"--patch={each}" for each in ([patch] if isinstance(patch, str) else patch)]
    words += [] if token is None else [f"--token={token}"]
    words += [] if sweep is None else [f"--sweep={sweep}"]
    request: Any = parse(["compare", "first", "second", *words])
    found: Experiment = request.experiment(_Computed(first=first._run, second=second._run))
    return found


def check(
    scenario: Scenario,
    figures: str | Path | None = None,
    *,
    against: str | Path | Mapping[str, Any] | None = None,
    tolerance: float | None = None,
) -> Report | Differences:
    """Compare the figures of a text, or another program's arrays, with a scenario.

    `figures` is a file of figures; `against` is a file of arrays, or arrays by their names. The
    result `holds` if nothing is wrong.

    Raises:
        TracerError: a file cannot be read, or names something that is not in the scenario.
    """
    _check_type(scenario, Scenario, SCENARIO)
    if (figures is None) == (against is None):
        raise TypeError("expected either figures or against")
    if tolerance is not None and not 0 <= tolerance <= 1:
        raise ValueError(f"got a tolerance of {tolerance}, expected a number from 0 to 1")
    loaded = loading.without_a_file(scenario)
    if figures is not None:
        _check_type(figures, str | Path, "the path of a file of figures")
        return check_figures(loaded, Path(figures))
    if isinstance(against, Trace) or not isinstance(against, Mapping):
        _check_type(against, str | Path, "a path or arrays; tracer.compare() compares two passes")
        return check_against(loaded, Path(str(against)), tolerance, None)
    dump = dump_of(_dumped(against), scenario, "the arrays")
    return differences(loaded, dump, "the arrays", tolerance, None)


def _dumped(arrays: Mapping[str, Any]) -> Iterator[DumpedArray]:
    for name, numbers in arrays.items():
        _check_type(name, str, "the name of an array")
        try:
            array = np.asarray(numbers)
        except ValueError:
            message = "rows of different lengths"
            raise TracerError(Problem(message, "the arrays", address=name)) from None
        yield dumped_array(name, array, "the arrays")


class Session:
    """A scenario and its passes, each of which is computed once.

    The passes share the model: another text, or other numbers, costs no further loading.
    """

    def __init__(self, scenario: Scenario) -> None:
        _check_type(scenario, Scenario, SCENARIO)
        self.scenario = scenario
        self._kept: dict[object, Trace] = {}

    def trace(self, text: str | None = None, given: Mapping[str, Any] | None = None) -> Trace:
        """Return the pass over the scenario's text or another one, with some numbers replaced.

        Raises:
            TracerError: a text without tokens, or as `tracer.given`.
        """
        _check_type(text, str | None, "a text")
        _check_type(given, Mapping | None, "numbers by address")
        key = text, *((address, _as_text(numbers)) for address, numbers in (given or {}).items())
        if key not in self._kept:
            self._kept[key] = self._with_given(text, given) if given else self._reading(text)
        return self._kept[key]

    def _with_given(self, text: str | None, values: Mapping[str, Any]) -> Trace:
        return given(self.trace(text), values)

    def _reading(self, text: str | None) -> Trace:
        if text is None:
            return trace(self.scenario)
        tokens = self.scenario.tokens_of(text)
        if not tokens:
            raise TracerError(Problem("a text without tokens"))
        return trace(with_tokens(self.scenario, tokens))


def session(scenario: Scenario) -> Session:
    """Return a session, which keeps the passes of a scenario."""
    return Session(scenario)


class _Computed(Engine):
    """Hands a request passes that are computed already, by the names of their scenarios."""

    def __init__(self, **passes: forward.Trace) -> None:
        super().__init__()
        self.passes = passes

    def charge(self, subject: Subject, passes: int, length: int, copies: int = 1) -> None:
        """Allow everything: a program sets its own limits."""

    def _load(self, subject: Subject) -> Passed:
        return with_pass(self.passes[subject.scenario])


def _as_text(numbers: Any) -> str:
    """Return numbers as `--given` reads them."""
    if isinstance(numbers, np.ndarray | np.generic | Value):
        numbers = np.asarray(numbers).tolist()
    if isinstance(numbers, list | tuple):
        return f"[{', '.join(map(_as_text, numbers))}]"
    return str(numbers)


def _check_type(came: object, kind: Any, expected: str) -> None:
    if not isinstance(came, kind):
        raise _unexpected(came, expected)


def _unexpected(came: object, expected: str) -> TypeError:
    return TypeError(f"got {type(came).__name__} {shortened(repr(came))}, expected {expected}")
