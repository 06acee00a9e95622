"""Two scenarios as draft model and target model: each guess is a row of a pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from tracer.decoder.axes import Axis
from tracer.decoder.forward import (
    EarlierPasses,
    PassOptions,
    Trace,
    arithmetic_of,
    check_writes,
    trace,
)
from tracer.decoder.generation import CannotContinueError, Choice, most_probable, with_tokens
from tracer.decoder.roles import LOGITS
from tracer.decoder.sampling import Sampling, kept_probabilities
from tracer.decoder.shares import shares
from tracer.decoder.speculation import Guess, SpeculationOptions
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.errors import Located, Problem, TracerError
from tracer.formula.arithmetic import SHAPES
from tracer.formula.numbers import as_decimal
from tracer.scenario.model import Scenario

DRAFT = "--draft"
MOST_KEPT = 4
"""The number of earlier passes of the draft model that are kept."""


@dataclass
class DraftAndTarget:
    """Two scenarios as models: each guess is a row of a pass.

    `cached` lets the draft model reuse the keys and values of the words before; the `located` find
    a problem's place in the file of the target and of the draft.
    """

    target: tuple[str, Scenario]
    draft: tuple[str, Scenario]
    choice: Choice | None = None
    cached: bool = False
    located: tuple[Located, Located] = (tuple, tuple)
    _drafted: list[Trace] = field(default_factory=list)
    """The last passes of the draft model, from which it can go on."""
    _first: dict[int, Trace] = field(default_factory=dict)
    """The first pass of each model, which has computed its encoder."""

    def __post_init__(self) -> None:
        """Check that the models can be used together.

        Raises:
            TracerError: one has no vocabulary or no numbers, the vocabularies differ, or a token
                sees later ones.
        """
        (name, target), (other, draft) = self.target, self.draft
        for of, scenario, said in ((name, target, "vocabulary"), (other, draft, DRAFT)):
            check_writes(scenario)
            if scenario.vocabulary is None:
                message = f"{of} has no vocabulary, which speculative decoding needs"
                raise TracerError(Problem(message, address=said))
        if target.looks_ahead:
            message = "the mask shows later tokens, so drafted words would change the earlier ones"
            raise TracerError(Problem(message, address="mask", yaml_path=("mask",)))
        words, others = set(target.vocabulary or ()), set(draft.vocabulary or ())
        if words != others:
            lacks, has = (other, name) if words - others else (name, other)
            several = words - others or others - words
            word = min(several)
            message = (
                f"{lacks} has no word {word!r} in its vocabulary, and {has} has it; both models "
                "need the same words"
            )
            raise TracerError(Problem(message, address=DRAFT))

    def check_length(self, options: SpeculationOptions) -> None:
        """Check that a longer text leaves the target's earlier rows as they are.

        Raises:
            TracerError: a part of the model computes them from the number of tokens.
        """
        if options.most == 1:
            return  # nothing is drafted
        name, target = self.target
        shapes = PassOptions(arithmetic=SHAPES)
        longest = (*options.start, *(options.start[-1:] * (options.most - 1)))
        try:
            short = trace(name, with_tokens(target, options.start), shapes)
            trace(name, with_tokens(target, longest), shapes, earlier=EarlierPasses(short))
        except CannotContinueError:
            return  # the text ends before
        except TracerError as error:
            reasons = "; ".join(problem.message for problem in error.problems)
            message = f"the target cannot read drafted words together with the text: {reasons}"
            raise TracerError(Problem(message, address=DRAFT)) from None

    def ends(self, word: str) -> bool:
        """Whether a word ends the text, which the target decides."""
        return word in self.target[1].ends

    def can_follow(self, word: str) -> bool:
        """Whether both models have an embedding of a word that does not end the text."""
        tables = (self.target[1].embeddings, self.draft[1].embeddings)
        known = all(not isinstance(table, Mapping) or word in table for table in tables)
        return known and not self.ends(word)

    def propose(self, text: tuple[str, ...]) -> Guess:
        """What the draft model says of the word after a text, in a pass over it."""
        before = [found for found in self._drafted if text[: len(found.tokens)] == found.tokens]
        shorter = [found for found in before if len(found.tokens) < len(text)]
        cache = shorter[-1] if self.cached and shorter else None
        found = self._pass(1, text, cache)
        self._drafted = [*before[-MOST_KEPT:], found]
        with self._locating(1):
            return self._guess(found, -1)

    def score(self, text: tuple[str, ...], drafted: tuple[str, ...]) -> list[Guess]:
        """What the target says of each drafted word and of the next, in one pass over all."""
        read = drafted if not drafted or self.can_follow(drafted[-1]) else drafted[:-1]
        found = self._pass(0, (*text, *read), None)
        with self._locating(0):
            return [self._guess(found, row - len(read) - 1) for row in range(len(read) + 1)]

    def _pass(self, which: int, text: tuple[str, ...], cache: Trace | None) -> Trace:
        name, scenario = (self.target, self.draft)[which]
        options = PassOptions(located=self.located[which])
        with self._locating(which):
            earlier = EarlierPasses(cache, self._first.get(which))
            found = trace(name, with_tokens(scenario, text), options, earlier=earlier)
        self._first.setdefault(which, found)
        return found

    @contextmanager
    def _locating(self, which: int) -> Iterator[None]:
        """Raise problems again with their places in the file of a model."""
        try:
            yield
        except TracerError as error:
            raise TracerError(*self.located[which](error.problems)) from None

    def _guess(self, found: Trace, row: int) -> Guess:
        """The guess of a row, counted from the end."""
        logits = found[LOGITS.name]
        at = logits.shape[0] + row
        likeliest = most_probable(found, row)
        choice, scenario = self.choice, found.scenario
        if choice is None:
            return Guess(found, row, likeliest)
        tape = Tape(arithmetic_of(scenario), found.pencil)
        sampling = Sampling(Decimal(0), choice.temperature, choice.top_k, choice.top_p)
        with tape.computing():
            p = kept_probabilities(
                *(tape, _one_row(logits, at), sampling),
                shifted=scenario.softmax == "shifted",
                excluded=scenario.excluded,
            )
            exact = [as_decimal(number) for number in p.numbers[0]]
        rounded = shares(p.axes[1].labels, exact, self.places)
        return Guess(found, row, likeliest, rounded, tuple(tape.records))

    @property
    def places(self) -> int:
        """The decimals of both models' probabilities: those of print, or more for many words."""
        decimals = (scenario.rounding.decimals for _, scenario in (self.target, self.draft))
        return max(*decimals, len(str(len(self.target[1].vocabulary or ()))) + 1)


def _one_row(logits: Value, row: int) -> Value:
    """The logits after one token: (1, words)."""
    tokens, words = logits.axes
    numbers = np.asarray(logits.read((row,)))[np.newaxis]
    computed = np.asarray(logits.read_computed(row))[np.newaxis]
    axes = (Axis(tokens.name, tokens.labels[row : row + 1]), words)
    return Value(logits.role, logits.place, logits.address, numbers, axes, logits.form, computed)
