"""The values of a pass that a text may print: their numbers by row and column, and their names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import TypeAlias

import numpy as np

from tracer.check.figures import step_in
from tracer.check.passes import Pass
from tracer.decoder.comparison import Floats
from tracer.decoder.operations import Dot, MatMul, Mean
from tracer.decoder.value import Entry, Value
from tracer.formula.expression import Symbol
from tracer.lesson.texts.sentences import title
from tracer.lesson.texts.symbols import symbols
from tracer.names import distinct

MOST_NUMBERS, MOST_TOGETHER = 5_000, 200_000
"""The numbers of larger values are not searched, nor all those of a large model."""

OTHER_WORDS = {
    "exp": "e exponential exponentials exponentiate",
    "exp_sum": "sum denominator",
    "weights": "softmax α probabilities",
    "probabilities": "softmax p",
    "scores": "score scaled",
    "dot": "raw unscaled product",
    "mean": "μ average",
    "variance": "σ2",
    "std": "σ deviation √ sqrt",
    "scale": "√ sqrt",
    "deviation": "centered deviations subtract",
    "squared": "square squares",
    "hidden": "h hidden",
    "activation": "relu gelu activated",
    "output": "output result",
    "residual": "residual add skip",
    "norm": "layernorm normalization normalized normalize",
    "input": "x input",
    "embedding": "embedding embeddings embed e",
    "position": "pe positional position encoding",
    "query": "q queries",
    "key": "k keys",
    "value": "v values",
    "concat": "concatenate concatenated",
    "logits": "z logit",
    "loss": "l cross-entropy",
    "token": "loss log ln",
    "index": "position positions",
    "token_ids": "token id ids index",
    "mask": "masked block",
    "W_U": "unembedding lm head vocab vocabulary wo",
    "W_1": "ffn",
    "W_2": "ffn",
}
"""What texts call a value, by the last part of its address."""


@dataclass(frozen=True)
class Candidate:
    """A row, a column or a number of a value, or the products in the line of a number.

    `at` has an index for each axis; None for the whole axis. `shown` says
    for each product whether it is printed.
    """

    value: Value
    at: tuple[int | None, ...]
    part: str = "value"
    shown: tuple[bool, ...] = ()

    @property
    def first(self) -> Entry:
        """Its first number."""
        return Entry(self.value, tuple(i or 0 for i in self.at))


Table: TypeAlias = tuple[Floats, list[Candidate]]
"""Rows of numbers, and the candidate of each."""


class Candidates:
    """The candidates of a pass, or of that of a training example: those with some addresses."""

    def __init__(
        self, within: Pass, example: int | None = None, prefixes: tuple[str, ...] = ("",)
    ) -> None:
        self.within, self.trace, self.example = within, within.trace, example
        every = [
            value
            for value in self.trace.values.values()
            if not value.role.words and 0 < prod(value.shape) <= MOST_NUMBERS
            if value.address.startswith(prefixes)
        ]
        together = np.cumsum([prod(value.shape) for value in every])
        self.values = every[: int((together <= MOST_TOGETHER).sum())]
        self.arrays = {value: np.asarray(value.computed, np.float64) for value in self.values}
        self.places = {value: place for place, value in enumerate(self.values)}

    @cached_property
    def rows(self) -> dict[int, Table]:
        """Rows and columns by their length."""
        return _by_length(self._rows())

    @cached_property
    def products(self) -> dict[int, Table]:
        """The products in the lines of numbers, by their number."""
        return _by_length(self._products())

    @cached_property
    def numbers(self) -> Table:
        """Single numbers, and the sums that are divided in a line."""
        every = list(self._numbers())
        return np.array([number for number, _ in every]), [each for _, each in every]

    def _rows(self) -> Iterator[tuple[Floats, Candidate]]:
        for value, array in self.arrays.items():
            if array.ndim == 1:
                yield array, Candidate(value, (None,))
            elif array.ndim == 2:
                yield from ((row, Candidate(value, (i, None))) for i, row in enumerate(array))
                yield from ((row, Candidate(value, (None, j))) for j, row in enumerate(array.T))

    def _products(self) -> Iterator[tuple[Floats, Candidate]]:
        for value in self.values:
            record = self.trace.producers[value]
            if not isinstance(record.operation, MatMul | Dot) or len(record.inputs) < 2:
                continue
            if not set(record.inputs[:2]) <= set(self.values):
                continue
            x, w = (each.array for each in record.inputs[:2])  # as the line prints them
            if x.ndim != 2 or w.ndim != 2:
                continue
            w = w if isinstance(record.operation, Dot) else w.T
            if len(x) * w.size > MOST_NUMBERS:
                continue
            for i, row in enumerate(x):
                for j, column in enumerate(w):
                    with np.errstate(invalid="ignore"):
                        found = row * column
                    yield found, Candidate(value, (i, j), "products", (True,) * len(found))
                    if any(found) and not all(found):  # those with 0 may be left out
                        shown = tuple(map(bool, found))
                        yield found[found != 0], Candidate(value, (i, j), "products", shown)

    def _numbers(self) -> Iterator[tuple[float, Candidate]]:
        for value, array in self.arrays.items():
            yield from ((float(array[at]), Candidate(value, at)) for at in np.ndindex(array.shape))
            record = self.trace.producers[value]
            if isinstance(record.operation, Mean) and record.inputs[0] in self.arrays:
                sums = self.arrays[record.inputs[0]].sum(axis=-1)
                every = np.ndindex(array.shape)
                yield from ((float(sums[at]), Candidate(value, at, "sum")) for at in every)

    # --- their names -----------------------------------------------------------------------------

    @cached_property
    def names(self) -> dict[Value, tuple[str, frozenset[str], frozenset[str]]]:
        """The symbol of each value, what texts call it, and the words of its step's title."""
        written, teacher = symbols(self.trace.records), self.within.origins.teacher
        found = {}
        for value in self.values:
            symbol, step = written.get(value.address), step_in(teacher, value)
            own = value.address.split(".")[-1]
            called = {own.lower(), *own.lower().split("_"), *OTHER_WORDS.get(own, "").split()}
            of_step = words(title(step, teacher.ctx)) if step else frozenset()
            sign = ""
            if isinstance(symbol, Symbol):
                sign = plain(symbol.base + symbol.below + symbol.above)[0]
            found[value] = (sign, frozenset(called), of_step - {"the", "of", "after"})
        return found

    @cached_property
    def functions(self) -> dict[Value, tuple[frozenset[str], frozenset[str]]]:
        """What each value is called as the result of a function, and what uses it."""
        names = self.names
        own = {v: names[v][1] | names[v][2] | set(v.address.split(".")) for v in self.values}
        users: dict[Value, set[str]] = {value: set() for value in self.values}
        for record in self.trace.records:
            for value in record.inputs:
                if value in users and record.output in own:
                    users[value] |= own[record.output]
        return {value: (own[value], frozenset(users[value])) for value in self.values}

    def followed(self, candidate: Candidate) -> Entry:
        """Return where the first number of a candidate was computed; it may be a copy."""
        return self.within.origins.followed(candidate.first)

    def origin(self, candidate: Candidate) -> tuple[object, ...]:
        """Return a key that is equal for candidates of which one copies the other."""
        origin = self.followed(candidate)
        both = zip(origin.at, candidate.at, strict=False)
        kept = tuple(None if index is None else i for i, index in both)
        return origin.value.address, kept, candidate.part


def _by_length(rows: Iterator[tuple[Floats, Candidate]]) -> dict[int, Table]:
    found: dict[int, tuple[list[Floats], list[Candidate]]] = {}
    for row, candidate in rows:
        numbers, candidates = found.setdefault(len(row), ([], []))
        numbers.append(row)
        candidates.append(candidate)
    return {length: (np.stack(n), candidates) for length, (n, candidates) in found.items()}


_LETTERS = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η"},
    **{"mu": "μ", "sigma": "σ", "prime": "'", "hat": "", "bar": ""},
}
_SET = re.compile(
    r"\\(?:text|math[a-z]+|operatorname|begin\{[a-z]+\}|end\{[a-z]+\}|frac|left|right)\*?"
)
"""LaTeX's commands that are no part of a name."""


def plain(text: str) -> list[str]:
    """Return a text in plain characters: with indices attached to their letters, and apart."""
    for name, letter in _LETTERS.items():
        text = re.sub(rf"\\{name}(?![a-z])", letter, text)
    text = unicodedata.normalize("NFKC", _SET.sub("", text)).replace("′", "'")
    return [re.sub(r"[_^{}\\*`$]", by, text) for by in ("", " ")]


@lru_cache(maxsize=10_000)
def words(text: str) -> frozenset[str]:
    """Return the words and symbols of a text, in lower case."""
    every = (re.findall(r"[\w']+", each) for each in plain(text))
    return frozenset(word.lower() for found in every for word in found)


@lru_cache(maxsize=1_000)
def words_of_labels(labels: tuple[str, ...]) -> list[frozenset[str]]:
    """Return the words of each label of an axis."""
    return [words(label) for label in distinct(labels)]
