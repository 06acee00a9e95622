"""What requests compute: scenarios with their overrides, passes and trainings."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from tracer.check.captured import CapturedPart, Shown
from tracer.check.dumps import read_dump
from tracer.decoder.forward import FORWARD, EarlierPasses, PassOptions, Trace, trace
from tracer.errors import Problem, TracerError
from tracer.formula.arithmetic import SHAPES
from tracer.lesson.texts import author
from tracer.requests.captured import captured_part, with_values
from tracer.requests.cost import (
    PRODUCTS_OF_A_RECORD,
    STEP_OF_TRAINING,
    TEXT,
    Cost,
    check_limits,
    cost,
)
from tracer.requests.given import Passed, plain_pass, with_given
from tracer.scenario.carry import Carry
from tracer.scenario.loading import Loaded, load

if TYPE_CHECKING:
    from tracer.checkpoints.opening import Checkpoint
    from tracer.decoder.training import Training
    from tracer.scenario.optimizer import Optimizer

_Asked = TypeVarTuple("_Asked")
_Made = TypeVar("_Made")


@dataclass(frozen=True)
class Subject:
    """A scenario by name, its overrides, and what a pass of it records.

    Requests that show the same numbers in different ways have the same subject.
    """

    scenario: str
    folder: Path = Path()
    options: PassOptions = FORWARD
    vary: int | None = None
    easy: int | None = None
    """The seed of the small whole numbers of a worksheet."""
    decimals: int | None = None
    carry: Carry | None = None
    given: tuple[str, ...] = ()
    sequence: int | None = None
    example: int | None = None
    values: Path | None = None
    """A file of values that another program computed."""
    shown: Shown | None = None
    """What is computed of a pass that begins at these values; None for all of it."""


def overridden(loaded: Loaded, subject: Subject) -> Loaded:
    """Return a loaded scenario with the overrides of a subject.

    Raises:
        TracerError: an override does not fit it.
    """
    scenario = loaded.scenario
    if subject.vary is not None:
        from tracer.decoder.variant import variant

        scenario = variant(loaded.name, scenario, subject.vary)
    if subject.easy is not None:
        from tracer.decoder.variant import easy_variant

        scenario = easy_variant(loaded.name, scenario, f"{subject.easy} {subject.vary}")
    asked = {"decimals": subject.decimals, "carry": subject.carry}
    changes = {name: setting for name, setting in asked.items() if setting is not None}
    dump = read_dump(subject.folder / subject.values, scenario) if subject.values else None
    rounding = (dump or scenario).rounding.model_copy(update=changes)
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
    loaded = replace(loaded, scenario=scenario)
    if dump and subject.values:
        return with_values(loaded, dump, subject.values, subject.shown, subject.options)
    return with_given(loaded, subject.given)


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
    if isinstance(loaded, Passed) and options == FORWARD:
        return loaded.passed
    plain = None if options.arithmetic else plain_pass(loaded)
    with loaded.locating_problems():
        part = captured_part(loaded)
        routing = part.routing if part else options.routing
        options = replace(options, located=loaded.located, routing=routing)
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


@dataclass(frozen=True)
class Computed:
    """A pass of a scenario, and the training that is explained with it."""

    loaded: Loaded
    trace: Trace
    training: Training | None = None

    @property
    def trained(self) -> Trace | None:
        """The step of training that is explained."""
        return self.training.steps[0] if self.training else None

    @property
    def part(self) -> CapturedPart | None:
        """What is computed of the pass, if it begins at values of a file."""
        return captured_part(self.loaded)

    @property
    def plain(self) -> Trace | None:
        """The pass without given values of the command line; None if it has no result."""
        return plain_pass(self.loaded)


class Engine:
    """Reads scenarios and computes their passes; each is read and computed only once.

    What a command costs is limited; the marks of a file share other limits.
    """

    text = TEXT
    """A text about a pass costs as much as this many passes."""

    def __init__(self) -> None:
        self.read = once(self._read)
        self.load = once(self._load)
        self.compute = once(self._compute)
        self.opened: dict[Path, Checkpoint] = {}
        self.costs: dict[Subject, Cost] = {}
        self.products = 0

    def charge(self, subject: Subject, passes: int, length: int, copies: int = 1) -> None:
        """Account for so many passes over so many tokens before they are computed.

        Their numbers are kept so many times.

        Raises:
            LimitError: too much is computed, or kept.
        """
        subject = replace(subject, vary=None)
        try:
            found = self.costs.get(subject) or self._cost(subject, self.load(subject))
        except TracerError:
            return  # the pass reports what is wrong
        products, numbers = found.at(length)
        products += found.records * PRODUCTS_OF_A_RECORD
        self._spend(subject, products * passes, numbers * copies)

    def _cost(self, subject: Subject, loaded: Loaded) -> Cost:
        with loaded.locating_problems():
            found = cost(loaded.scenario, lens=subject.options.lens)
        self.costs[subject] = found
        return found

    def _spend(self, subject: Subject, products: int, numbers: int) -> None:
        """Allow for products, and for the floats that are kept."""
        self.products += products
        check_limits(self.load(subject), self.products, numbers)

    def train(
        self, subject: Subject, steps: int | None = None, optimizer: Optimizer | None = None
    ) -> Training:
        """Train a scenario, by default for one step and with its own optimizer.

        Raises:
            TracerError: there is no such example, the scenario is a trained model, or it has no
                loss.
        """
        from tracer.decoder.training import TrainingOptions, train

        loaded = self.load(subject)
        scenario = loaded.scenario
        for tokens in [each.tokens for each in scenario.training] or [scenario.tokens]:
            self.charge(subject, STEP_OF_TRAINING * ((steps or 1) + 1), len(tokens), steps or 1)
        if subject.example is not None:
            there = len(scenario.training)
            _check_number(subject.example, "training example", there, "--example")
        with loaded.locating_problems():
            if scenario.on_demand:
                message = "this version cannot train a model of this size, only trace its passes"
                raise TracerError(Problem(message, yaml_path=("checkpoint",)))
            options = TrainingOptions(optimizer or scenario.optimizer, steps or 1, subject.example)
            found = train(loaded.name, scenario, options, loaded.located)
            author.check_names(found.steps[0])
            return found

    def _read(self, scenario: str, folder: Path) -> Loaded:
        return load(scenario, folder, self.opened)

    def _load(self, subject: Subject) -> Loaded:
        return overridden(self.read(subject.scenario, subject.folder), subject)

    def _compute(self, subject: Subject) -> Computed:
        loaded = self.load(subject)
        if not subject.options.gradients:
            # What --given changes is shown, too.
            self.charge(subject, 2 if loaded.overrides else 1, len(loaded.scenario.tokens))
            return Computed(loaded, run_pass(loaded, subject.options))
        training = self.train(subject)
        return Computed(loaded, training.steps[0], training)


def once(make: Callable[[*_Asked], _Made]) -> Callable[[*_Asked], _Made]:
    """Cache the results of a function, and raise the error of a failed call again."""
    made: dict[Hashable, _Made | TracerError] = {}

    def known(*asked: *_Asked) -> _Made:
        if asked not in made:
            try:
                made[asked] = make(*asked)
            except TracerError as error:
                made[asked] = error
        found = made[asked]
        if isinstance(found, TracerError):
            raise found.with_traceback(None)
        return found

    return known
