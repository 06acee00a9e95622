"""A request → what is computed for it: a scenario with its overrides, and a pass or a training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.errors import Problem, TracerError
from tracer.lesson.selection import position_of
from tracer.request import Request
from tracer.scenario.carry import Carry
from tracer.scenario.loading import Loaded, load, parse_given

if TYPE_CHECKING:
    from tracer.decoder.training import Training


OPTIMIZER_SETTINGS = ("learning_rate", "momentum", "weight_decay", "clip")


@dataclass(frozen=True)
class Subject:
    """A scenario by name, its overrides, and what a pass of it records.

    Requests that show the same numbers in different ways have the same subject.
    """

    scenario: str
    folder: Path
    options: PassOptions
    vary: int | None
    decimals: int | None
    carry: Carry | None
    given: tuple[str, ...]
    sequence: int | None
    example: int | None


def subject_of(request: Request) -> Subject:
    """The subject of a request; no file is read."""
    asked = PassOptions.recording([word.partition("[")[0] for word in request.entry[:1]])
    learns = asked.gradients or request.command == "train"
    options = PassOptions(
        unmasked=asked.unmasked or request.no_mask,
        loss=asked.loss or learns or request.command == "loss",
        gradients=learns,
        lens=asked.lens or request.command == "lens",
    )
    return Subject(
        request.scenario,
        request.folder,
        options,
        request.vary,
        request.decimals,
        request.carry,
        request.given,
        request.sequence,
        request.example,
    )


def resolve(subject: Subject) -> Loaded:
    """The scenario with its overrides: numbers, rounding, pinned values and tokens.

    Raises:
        TracerError: there is no such scenario, or an override does not fit it.
    """
    loaded = load(subject.scenario, subject.folder)
    scenario, changes = loaded.scenario, dict[str, Any]()
    if subject.vary is not None:
        from tracer.decoder.variant import variant

        scenario = variant(loaded.name, scenario, subject.vary)
    if subject.decimals is not None:
        changes["decimals"] = subject.decimals
    if subject.carry is not None:
        changes["carry"] = subject.carry
    rounding = scenario.rounding.model_copy(update=changes)
    if scenario.arithmetic == "float64" and rounding.carry is not Carry.NEVER:
        message = "the scenario computes with float64, which goes with `never` only"
        raise TracerError(Problem(message, address="--carry"))
    pinned = {**scenario.given, **dict(map(parse_given, subject.given))}
    scenario = scenario.model_copy(update={"rounding": rounding, "given": pinned})
    if subject.sequence is not None:
        _check_number(subject.sequence, "sequence", len(scenario.batch), "--sequence")
        scenario = scenario.reading(scenario.batch[subject.sequence - 1])
    reads_example = subject.options.loss and not subject.options.gradients
    if reads_example and (subject.example or scenario.training):
        number = subject.example or 1
        _check_number(number, "training example", len(scenario.training), "--example")
        scenario = scenario.reading_example(scenario.training[number - 1])
    return replace(loaded, scenario=scenario)


def _check_number(number: int, what: str, there: int, option: str) -> None:
    """Raise a TracerError if there are fewer than `number`."""
    if number > there:
        last = f"no {what} {number}, the last is {there}"
        raise TracerError(
            Problem(last if there else f"the scenario has no {what}s", address=option)
        )


def run_pass(subject: Subject, *, in_summary: bool = False) -> Trace:
    """The pass of a subject; with gradients, the first step of its training.

    With `in_summary`, the pass of a trained model records the lens, too.
    """
    options = subject.options
    if options.gradients:
        return run_training(subject).steps[0]
    loaded = resolve(subject)
    lens = options.lens or (in_summary and loaded.scenario.on_demand)
    with loaded.telling():
        options = replace(options, lens=lens, located=loaded.located)
        return trace(loaded.name, loaded.scenario, options)


def run_training(
    subject: Subject,
    optimizer: str | None = None,
    settings: Mapping[str, Any] | None = None,
    steps: int = 1,
) -> Training:
    """Some steps of training; the optimizer and its settings override those of the scenario.

    Raises:
        TracerError: there is no such example, the scenario is a trained model, or it has no loss.
    """
    from tracer.decoder.training import TrainingOptions, train

    loaded = resolve(subject)
    scenario = loaded.scenario
    changed = scenario.optimizer.changed(optimizer, settings or {})
    if subject.example is not None:
        _check_number(subject.example, "training example", len(scenario.training), "--example")
    if scenario.on_demand:
        message = "a model of this size is not trained here; only its passes are worked"
        raise TracerError(Problem(message, subject.scenario))
    with loaded.telling():
        options = TrainingOptions(changed, steps, subject.example)
        return train(loaded.name, scenario, options, loaded.located)


@dataclass(frozen=True)
class Computed:
    """A pass, and the training that is explained with it."""

    trace: Trace
    training: Training | None = None


def compute(request: Request) -> Computed:
    """The pass that is asked for, and its training where that is explained, too."""
    subject = subject_of(request)
    if subject.options.gradients:
        training = training_of(request)
        return Computed(training.steps[0], training)
    found = run_pass(subject, in_summary=request.is_whole_text)
    if not request.trains:
        return Computed(found)
    if request.token is not None:  # a mistake in it is reported before a training that takes long
        position_of(request.token, found.tokens)
    return Computed(found, training_of(request))


def training_of(request: Request) -> Training:
    """The training that is asked for."""
    settings = {name: getattr(request, name) for name in OPTIMIZER_SETTINGS}
    return run_training(subject_of(request), request.optimizer, settings, request.steps or 1)
