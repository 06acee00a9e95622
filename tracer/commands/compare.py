"""Compare two runs, and patch values of one into the other.

The second run is another scenario, or the same with another --text, after training (--train) or
with quantized weights (--quantize). By default it is the scenario's contrast, if it has one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from tracer.data import as_json
from tracer.decoder.comparison import Comparison, compare, predicted
from tracer.decoder.forward import FORWARD, Trace
from tracer.decoder.generation import with_tokens
from tracer.decoder.patches import Site, patched
from tracer.decoder.sweeps import Experiment, Pairs, Sweep, sites_of, sweep
from tracer.errors import Problem, TracerError
from tracer.lesson.texts.comparison import comparison_text
from tracer.lesson.texts.lookup import suggestion, with_own_address
from tracer.lesson.texts.pairs import pairs_text
from tracer.names import count, position_of
from tracer.requests import completion, options, values
from tracer.requests.given import with_given, without_given
from tracer.requests.pairs import read_pairs
from tracer.requests.request import Answer, Request
from tracer.requests.resolve import Engine, Subject, run_pass
from tracer.scenario.fields import Names
from tracer.scenario.loading import Loaded
from tracer.scenario.quantizing import with_quantized_weights
from tracer.scenario.trained import FromCheckpoint

ONE_SECOND_RUN = (
    "expected one second run: another scenario, --text, --train, --quantize, --pairs, or contrast "
    "in the scenario of a trained model"
)


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
    quantize: str | None = values.option(
        "Compare with the same model after quantizing its weights: to 8 or fewer bits, to mxfp4, "
        "or as in a scenario: '{bits: 4, group: 2}'.",
        *("HOW", values.some("8, 4, mxfp4 or '{bits: 4, group: column}'")),
    )
    patch: tuple[str, ...] = values.option(
        "Run the first again, with the second's numbers at this address or in this token's row: "
        "layer1.ffn.output[2]. Repeat the option for several.",
        *("ADDRESS[TOKEN]", None, ()),
        offers=completion.addresses,
    )
    sweep: Sweep | None = values.choice(
        "Patch each of these in turn, and rank how much of the second run's answer it restores: "
        "the output of each head (heads), FFN (ffns) or attention (attentions); the queries, keys, "
        "values or attention weights (patterns) of each head; the last token's row after each "
        "layer (layers), or the row of each token (layers-tokens); the input row of each token "
        "(tokens). Or set each head and FFN to 0 (ablations), or to the mean over the tokens "
        "(mean-ablations).",
        *("WHAT", Sweep),
    )
    pairs: Path | None = values.option(
        "Compare the pairs of texts in this file, and print means over the pairs: pairs lists the "
        "first and the second text of each; or each of the templates gets each pair of names.",
        *("FILE", values.some("a file of pairs", Path)),
    )
    pair: int | None = values.count(
        "Compare only this pair of the file.",
        rule=values.Rule("--pairs", lambda r: r.pairs is not None),
    )
    figures: Path | None = options.FIGURES
    given: tuple[str, ...] = options.GIVEN

    def problems(self) -> Iterable[Problem]:
        """There are no three runs."""
        given = (self.other, self.text, self.quantize)
        second = (*(each is not None for each in given), self.train, bool(self.pairs))
        if sum(second) > 1:
            yield Problem(ONE_SECOND_RUN, address="compare")

    def answer(self, engine: Engine) -> Answer:
        """Compare the runs; the costs are the passes, their text, and each patched pass."""
        if self.pairs and self.pair is None:
            pairs = self.experiments(engine, self.pairs)
            return Answer(as_json.pairs(pairs) if self.format.is_data else pairs_text(pairs))
        found = self.experiment(engine)
        return Answer(as_json.compared(found) if self.format.is_data else comparison_text(found))

    def experiment(self, engine: Engine) -> Experiment:
        """Return the two passes and what is patched.

        Raises:
            TracerError: a pass has no result, the texts cannot be aligned, or a patch does not fit.
        """
        if self.pairs:
            return self.experiments(engine, self.pairs).experiments[0]
        loaded = engine.load(self.subject)
        self._charge(engine, self.subject, len(loaded.scenario.tokens))
        other, name = self._second(loaded, engine)
        return self._patched(engine, *self._compared(loaded, other), name)

    def experiments(self, engine: Engine, file: Path) -> Pairs:
        """Return the passes of the chosen pairs of texts in a file, and what is patched.

        Raises:
            TracerError: as for one pair; the problems name the pairs.
        """
        texts = dict(enumerate(read_pairs(self.folder / file), 1))
        if self.pair is not None:
            if self.pair not in texts:
                message = f"no pair {self.pair}, the last is {len(texts)}"
                raise TracerError(Problem(message, address="--pair"))
            texts = {self.pair: texts[self.pair]}
        problems, compared = list[Problem](), list[tuple[Loaded, Comparison]]()
        for number, pair in texts.items():
            try:
                compared.append(self._of_pair(engine, pair))
            except TracerError as error:
                problems += [
                    replace(p, message=f"pair {number}: {p.message}") for p in error.problems
                ]
        if problems:  # those of all pairs, before patches take their time
            raise TracerError(*problems)
        words = (
            *("decoder-trace", "compare", self.scenario, "--pairs", str(file)),
            *(("--token", self.token) if self.token else ()),
            *chain.from_iterable(("--patch", each) for each in self.patch),
            *(("--sweep", self.sweep) if self.sweep else ()),
            *chain.from_iterable(("--given", each) for each in self.given),
            *(("--decimals", str(self.decimals)) if self.decimals is not None else ()),
            *(("--carry", self.carry) if self.carry else ()),
        )
        found = [self._patched(engine, *each) for each in compared]
        return Pairs(found, tuple(texts.values()), shlex.join(words))

    def _of_pair(self, engine: Engine, texts: tuple[str, ...]) -> tuple[Loaded, Comparison]:
        """Return the passes over two texts, and the scenario with the first."""
        loaded = engine.load(self.subject)
        first, second = (
            self._reading(engine, loaded, self._tokens(loaded, text, "--pairs")) for text in texts
        )
        return self._compared(first, second)

    def _compared(self, loaded: Loaded, other: Loaded) -> tuple[Loaded, Comparison]:
        """Return the passes of two scenarios, and the first scenario."""
        first, second = run_pass(loaded, FORWARD), run_pass(other, FORWARD)
        with loaded.locating_problems():
            token = None if self.token is None else position_of(self.token, first.tokens)
            found = compare(first, second, token)
            has_effects = self.sweep or (self.pairs and self.patch)
            if has_effects and found.answers is None:
                message = "the runs must predict different words of the same vocabulary"
                option = "--sweep" if self.sweep else "--patch"
                raise TracerError(Problem(message, address=option))
            return loaded, found

    def _patched(
        self, engine: Engine, loaded: Loaded, found: Comparison, name: str | None = None
    ) -> Experiment:
        """Return two passes with what is patched; `name` is that of the second."""
        first, length = found.first, len(found.first.tokens)
        with loaded.locating_problems():
            names = (first.name, name or first.name)
            sites = tuple(_site(first, asked) for asked in self.patch)
            if sites and predicted(first) is None:
                message = "the first run predicts no words, so a patch has no effect on an answer"
                raise TracerError(Problem(message, address="--patch"))
            engine.charge(self.subject, len(sites[:1]), length)
            run = patched(found, sites, loaded.located) if sites else None
            if self.sweep is None:
                return Experiment(found, names, sites, run)
            swept = sites_of(self.sweep, found)
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
        if self.quantize is not None:
            self._charge(engine, subject, len(loaded.scenario.tokens))
            scenario = with_quantized_weights(loaded.scenario, self.quantize)
            return replace(loaded, scenario=scenario), f"{loaded.name}, quantized"
        if not self.train:
            return self._reading(engine, loaded, self._tokens_of_second(loaded)), loaded.name
        self._charge(engine, subject, len(loaded.scenario.tokens))
        trained = engine.train(subject, self.steps).trained.without_words()
        steps = count(self.steps or 1, "training step")
        return replace(loaded, scenario=trained), f"{loaded.name} after {steps}"

    def _reading(self, engine: Engine, loaded: Loaded, tokens: Names) -> Loaded:
        """Return the scenario with other tokens and the same given values."""
        with loaded.locating_problems():
            self._charge(engine, self.subject, len(tokens))
            plain = without_given(loaded)
            other = replace(plain, scenario=with_tokens(plain.scenario, tokens))
            return with_given(other, self.given)

    def _tokens(self, loaded: Loaded, text: str, option: str) -> Names:
        """Return the tokens of a text of an option.

        Raises:
            TracerError: there are none.
        """
        with loaded.locating_problems():
            read = loaded.scenario.tokens_of(text)
            if not read:
                raise TracerError(Problem("a text without tokens", address=option))
            return read

    def _tokens_of_second(self, loaded: Loaded) -> Names:
        """Return the tokens of --text, or those of the scenario's `contrast`.

        Raises:
            TracerError: there are none.
        """
        if self.text is not None:
            return self._tokens(loaded, self.text, "--text")
        scenario = loaded.scenario
        contrast = scenario.contrast if isinstance(scenario, FromCheckpoint) else None
        if contrast is None:
            raise TracerError(Problem(ONE_SECOND_RUN, address="compare"))
        return contrast

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
