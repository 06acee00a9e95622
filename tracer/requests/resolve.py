"""A request → what is computed for it: a scenario with its overrides, and a pass or a training."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tracer.decoder.forward import EarlierPasses, PassOptions, Trace, trace
from tracer.errors import Problem, TracerError
from tracer.formula.arithmetic import SHAPES
from tracer.lesson.texts import author
from tracer.names import position_of
from tracer.requests.given import plain_pass, with_given
from tracer.requests.request import Request
from tracer.scenario.carry import Carry
from tracer.scenario.loading import Loaded, load

if TYPE_CHECKING:
    from tracer.decoder.training import Training, TrainingOptions

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
    """Return the subject of a request; no file is read."""
    asked = PassOptions.recording([word.partition("[")[0] for word in request.entry[:1]])
    learns = asked.gradients or request.command == "train"
    options = PassOptions(
        unmasked=asked.unmasked or request.no_mask,
        loss=asked.loss or learns or request.command == "loss",
        gradients=learns,
        lens=asked.lens or request.command == "lens",
        standardized=asked.standardized,
    )
    same = {
        each.name: getattr(request, each.name) for each in fields(Subject) if each.name != "options"
    }
    return Subject(options=options, **same)


def resolve(subject: Subject) -> Loaded:
    """Return the scenario with its overrides: numbers, rounding, given values and tokens.

    Raises:
        TracerError: there is no such scenario, or an override does not fit it.
    """
    return overridden(load(subject.scenario, subject.folder), subject)


def overridden(loaded: Loaded, subject: Subject) -> Loaded:
    """Return a loaded scenario with the overrides of a subject.

    Raises:
        TracerError: an override does not fit it.
    """
    scenario = loaded.scenario
    if subject.vary is not None:
        from tracer.decoder.variant import variant

        scenario = variant(loaded.name, scenario, subject.vary)
    asked = {"decimals": subject.decimals, "carry": subject.carry}
    changes = {name: setting for name, setting in asked.items() if setting is not None}
    rounding = scenario.rounding.model_copy(update=changes)
    if scenario.arithmetic == "float64" and rounding.carry is not Carry.NEVER:
        message = "the scenario computes with float64, which works only with never"
        raise TracerError(Problem(message, address="--carry"))
    scenario = scenario.model_copy(update={"rounding": rounding})
    if subject.sequence is not None:
        _check_number(subject.sequence, "sequence", len(scenario.batch), "--sequence")
        scenario = scenario.reading(scenario.batch[subject.sequence - 1])
    reads_example = subject.options.loss and not subject.options.gradients
    if reads_example and (subject.example or scenario.training):
        number = subject.example or 1
        _check_number(number, "training example", len(scenario.training), "--example")
        scenario = scenario.reading_example(scenario.training[number - 1])
    return with_given(replace(loaded, scenario=scenario), subject.given)


def _check_number(number: int, what: str, there: int, option: str) -> None:
    """Raise a TracerError if there are fewer than `number`."""
    if number > there:
        last = f"no {what} {number}, the last is {there}"
        raise TracerError(
            Problem(last if there else f"the scenario has no {what}s", address=option)
        )


def run_pass(loaded: Loaded, options: PassOptions) -> Trace:
    """Return the pass of a scenario; a problem names its place in the scenario's file.

    What given values of the command line do not change is taken from the pass without them.
    """
    plain = None if options.arithmetic else plain_pass(loaded)
    with loaded.locating_problems():
        options = replace(options, located=loaded.located)
        found = trace(loaded.name, loaded.scenario, options, earlier=EarlierPasses(unpatched=plain))
        author.check_names(found)
        return found


def check_author(loaded: Loaded) -> None:
    """Look up what the author's words name, in the shapes of a pass.

    Raises:
        TracerError: some of it is not there.
    """
    scenario = loaded.scenario
    if scenario.intro or scenario.notes or scenario.summary:
        run_pass(loaded, PassOptions(arithmetic=SHAPES))


def run_training(loaded: Loaded, options: TrainingOptions) -> Training:
    """Return the training of a scenario; a problem names its place in the scenario's file.

    Raises:
        TracerError: there is no such example, the scenario is a trained model, or it has no loss.
    """
    from tracer.decoder.training import train

    scenario = loaded.scenario
    if options.example is not None:
        there = len(scenario.training)
        _check_number(options.example, "training example", there, "--example")
    with loaded.locating_problems():
        if scenario.on_demand:
            message = "this version cannot train a model of this size, only trace its passes"
            raise TracerError(Problem(message, yaml_path=("checkpoint",)))
        found = train(loaded.name, scenario, options, loaded.located)
        author.check_names(found.steps[0])
        return found


@dataclass(frozen=True)
class Computed:
    """A pass of a scenario, and the training that is explained with it."""

    loaded: Loaded
    trace: Trace
    training: Training | None = None

    @property
    def plain(self) -> Trace | None:
        """The pass without given values of the command line; None if it has no result."""
        return plain_pass(self.loaded)


def compute(request: Request, loaded: Loaded) -> Computed:
    """Return the requested pass, and its training if that is explained."""
    subject = subject_of(request)
    if subject.options.gradients:
        training = training_of(request, loaded)
        return Computed(loaded, training.steps[0], training)
    options = subject.options
    if loaded.scenario.on_demand and not request.format.is_data and request.command == "lens":
        options = replace(options, lens=False)  # only the rows that are shown are read
    found = run_pass(loaded, options)
    if not request.trains:
        return Computed(loaded, found)
    if request.token is not None:  # a mistake in it is reported before a training that takes long
        position_of(request.token, found.tokens)
    return Computed(loaded, found, training_of(request, loaded))


def training_of(request: Request, loaded: Loaded) -> Training:
    """Return the requested training; options override the optimizer's settings."""
    from tracer.decoder.training import TrainingOptions

    settings = {name: getattr(request, name) for name in OPTIMIZER_SETTINGS}
    optimizer = loaded.scenario.optimizer.changed(request.optimizer, settings)
    return run_training(loaded, TrainingOptions(optimizer, request.steps or 1, request.example))
