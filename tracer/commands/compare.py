"""Compare two runs, and patch values of one into the other.

The second run is another scenario, the same with another --text, or the same after training
(--train).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from tracer.data import as_json
from tracer.decoder.comparison import compare, predicted
from tracer.decoder.forward import FORWARD, Trace
from tracer.decoder.generation import with_tokens
from tracer.decoder.patches import Experiment, Site, heads, layers, patched, sweep, tokens
from tracer.errors import Problem, TracerError
from tracer.lesson.texts.comparison import comparison_text
from tracer.lesson.texts.lookup import suggestion, with_own_address
from tracer.names import count, position_of
from tracer.requests import completion, options, values
from tracer.requests.given import with_given, without_given
from tracer.requests.request import Answer, Request
from tracer.requests.resolve import Engine, Subject, run_pass
from tracer.scenario.loading import Loaded


class Sweep(StrEnum):
    """What a sweep patches, one after the other."""

    HEADS = "heads"
    LAYERS = "layers"
    TOKENS = "tokens"


SITES = {Sweep.HEADS: heads, Sweep.LAYERS: layers, Sweep.TOKENS: tokens}


@dataclass(kw_only=True)
class Compare(options.Compared, Request):
    examples = (
        "compare pizza --train --steps 10",
        "compare pizza --text '<START> odio la pizza' --sweep heads",
    )

    scenario: str = options.SCENARIO
    other: str | None = values.argument(
        "Another scenario to compare with.",
        *("OTHER", options.NAME_OF_SCENARIO),
        default=None,
        offers=completion.scenarios,
    )
    text: str | None = values.option(
        "Compare with the same model reading this text.", "TEXT", values.some("a text")
    )
    token: str | None = options.TOKEN
    train: bool = options.TRAIN
    steps: int | None = options.STEPS
    patch: tuple[str, ...] = values.option(
        "Run the first again, with the second's numbers at this address or in this token's row: "
        "layer1.ffn.output[2]. Repeat the option for several.",
        *("ADDRESS[TOKEN]", None, ()),
        offers=completion.addresses,
    )
    sweep: Sweep | None = values.choice(
        "Patch each of these in turn, and rank how much of the second run's answer it restores: "
        "the output of each head (heads), the last token's row after each layer (layers), or the "
        "input row of each token (tokens).",
        *("WHAT", Sweep),
    )
    figures: Path | None = options.FIGURES
    given: tuple[str, ...] = options.GIVEN

    def problems(self) -> Iterable[Problem]:
        """There are exactly two runs."""
        if sum((self.other is not None, self.text is not None, self.train)) != 1:
            message = "expected one second run: another scenario, --text or --train"
            yield Problem(message, address="compare")

    def answer(self, engine: Engine) -> Answer:
        """Compare the runs; the costs are the passes, their text, and each patched pass."""
        found = self.experiment(engine)
        return Answer(as_json.compared(found) if self.format.is_data else comparison_text(found))

    def experiment(self, engine: Engine) -> Experiment:
        """Return the two passes and what is patched.

        Raises:
            TracerError: a pass has no result, the texts cannot be aligned, or a patch does not fit.
        """
        loaded = engine.load(self.subject)
        length = len(loaded.scenario.tokens)
        self._charge(engine, self.subject, length)
        other, name = self._second(loaded, engine)
        first, second = run_pass(loaded, FORWARD), run_pass(other, FORWARD)
        with loaded.locating_problems():
            token = None if self.token is None else position_of(self.token, first.tokens)
            found = compare(first, second, token)
            names = (first.name, name)
            sites = tuple(_site(first, asked) for asked in self.patch)
            if sites and predicted(first) is None:
                message = "the first run predicts no words, so a patch has no effect on an answer"
                raise TracerError(Problem(message, address="--patch"))
            engine.charge(self.subject, len(sites[:1]), length)
            run = patched(found, sites, loaded.located) if sites else None
            if self.sweep is None:
                return Experiment(found, names, sites, run)
            if found.answers is None:
                message = "the runs must predict different words of the same vocabulary"
                raise TracerError(Problem(message, address="--sweep"))
            swept = tuple(SITES[self.sweep](found))
            engine.charge(self.subject, len(swept), length)
            effects = sweep(found, swept, loaded.located)
            return Experiment(found, names, sites, run, tuple(effects))

    def _second(self, loaded: Loaded, engine: Engine) -> tuple[Loaded, str]:
        """Return the scenario to compare with, and its name."""
        subject = self.subject
        if self.other is not None:
            subject = replace(subject, scenario=self.other)
            other = engine.load(subject)
            self._charge(engine, subject, len(other.scenario.tokens))
            return other, other.name
        if self.text is not None:
            with loaded.locating_problems():
                read = loaded.scenario.tokens_of(self.text)
                if not read:
                    raise TracerError(Problem("a text without tokens", address="--text"))
                self._charge(engine, subject, len(read))
                plain = without_given(loaded)
                other = replace(plain, scenario=with_tokens(plain.scenario, read))
                return with_given(other, self.given), loaded.name
        self._charge(engine, subject, len(loaded.scenario.tokens))
        trained = engine.train(subject, self.steps).trained.without_words()
        steps = count(self.steps or 1, "training step")
        return replace(loaded, scenario=trained), f"{loaded.name} after {steps}"

    def _charge(self, engine: Engine, subject: Subject, length: int) -> None:
        """Account for a pass, its text, and the pass without given values."""
        engine.charge(subject, 2 + bool(self.given), length)


def _site(first: Trace, asked: str) -> Site:
    """Return the site that `ADDRESS` or `ADDRESS[TOKEN]` names."""
    asked = with_own_address(first, asked)
    match = re.fullmatch(r"([^\s\[]+)(?:\[(.*)\])?", asked)
    if match is None:
        raise TracerError(Problem(f"got {asked!r}, expected ADDRESS[TOKEN]", address="--patch"))
    address, token = match.groups()
    if address not in first.values:
        raise TracerError(Problem(f"no such value{suggestion(first, address)}", address=address))
    value = first[address]
    if token is None:
        return Site(value)
    if not value.axes:
        raise TracerError(Problem("it has no row for each token", address=address))
    return Site(value, position_of(token, value.axes[0].labels))
