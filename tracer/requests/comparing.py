"""Run `compare`: two passes side by side, with some values of the second in the first."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from tracer.decoder.comparison import Comparison, compare, predicted
from tracer.decoder.forward import FORWARD, Trace
from tracer.decoder.generation import with_tokens
from tracer.decoder.patches import Experiment, Site, heads, layers, patched, sweep, tokens
from tracer.errors import Problem, TracerError
from tracer.lesson.texts.lookup import suggestion
from tracer.names import count, position_of
from tracer.requests.given import with_given, without_given
from tracer.requests.request import Request, Sweep
from tracer.requests.resolve import Subject, resolve, run_pass, subject_of, training_of
from tracer.scenario.loading import Loaded

SITES = {Sweep.HEADS: heads, Sweep.LAYERS: layers, Sweep.TOKENS: tokens}


def experiment(
    request: Request, loaded: Loaded, opened: Callable[[Subject], Loaded] = resolve
) -> Experiment:
    """Return the two passes and what is patched; `opened` returns the scenario of a subject.

    Raises:
        TracerError: a pass has no result, the texts cannot be aligned, or a patch does not fit.
    """
    other, name = _second(request, loaded, opened)
    first, second = run_pass(loaded, FORWARD), run_pass(other, FORWARD)
    with loaded.locating_problems():
        token = None if request.token is None else position_of(request.token, first.tokens)
        found = compare(first, second, token)
        names = (first.name, name)
        sites = tuple(_site(first, asked) for asked in request.patch)
        if sites and predicted(first) is None:
            message = "the first run predicts no words, so a patch has no effect on an answer"
            raise TracerError(Problem(message, address="--patch"))
        run = patched(found, sites, loaded.located) if sites else None
        if request.sweep is None:
            return Experiment(found, names, sites, run)
        _check_answers(found)
        effects = sweep(found, tuple(SITES[request.sweep](found)), loaded.located)
        return Experiment(found, names, sites, run, tuple(effects))


def _second(
    request: Request, loaded: Loaded, opened: Callable[[Subject], Loaded]
) -> tuple[Loaded, str]:
    """Return the scenario to compare with, and its name."""
    if request.other is not None:
        other = opened(replace(subject_of(request), scenario=request.other))
        return other, other.name
    if request.text is not None:
        with loaded.locating_problems():
            read = loaded.scenario.tokens_of(request.text)
            if not read:
                raise TracerError(Problem("a text without tokens", address="--text"))
            plain = without_given(loaded)
            other = replace(plain, scenario=with_tokens(plain.scenario, read))
            return with_given(other, request.given), loaded.name
    trained = training_of(request, loaded).trained.without_words()
    steps = count(request.steps or 1, "training step")
    return replace(loaded, scenario=trained), f"{loaded.name} after {steps}"


def _site(first: Trace, asked: str) -> Site:
    """Return the site that `ADDRESS` or `ADDRESS[TOKEN]` names."""
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


def _check_answers(found: Comparison) -> None:
    """Raise a TracerError if there are no two answers to tell apart."""
    if found.answers is None:
        message = "the runs must predict different words of the same vocabulary"
        raise TracerError(Problem(message, address="--sweep"))
