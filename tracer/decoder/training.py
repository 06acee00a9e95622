"""Training: forward pass, loss, backward pass and update, for some steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tracer.console import progress
from tracer.decoder import roles
from tracer.decoder.forward import PassOptions, Trace, arithmetic_of, trace
from tracer.decoder.operations import Given
from tracer.decoder.optimizers import OptimizerState, update
from tracer.decoder.tables import tables, towers
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.errors import Located, Problem, TracerError
from tracer.scenario.model import Scenario
from tracer.scenario.optimizer import Optimizer
from tracer.scenario.reader import YamlPath
from tracer.scenario.replacing import with_parameters


@dataclass(frozen=True)
class Training:
    """Traces of the training steps, each up to the new weights, and of the pass after the last.

    With given gradients they have no loss.
    """

    optimizer: Optimizer
    steps: tuple[Trace, ...]
    after: Trace
    trained: Scenario

    @property
    def passes(self) -> tuple[Trace, ...]:
        """Every trace, in order."""
        return (*self.steps, self.after)


@dataclass(frozen=True)
class TrainingOptions:
    """How weights are updated, how often, and on which example, counted from 1; None for all."""

    optimizer: Optimizer
    steps: int = 1
    example: int | None = None


def train(
    name: str, scenario: Scenario, options: TrainingOptions, located: Located = tuple
) -> Training:
    """Train a scenario for some steps: on its examples together, on one of them, or its tokens.

    A step is the forward pass, the loss, the gradients and the update of every parameter.

    Raises:
        TracerError: it has no loss, or nothing in it is learned; or numbers go beyond all bounds;
            or a gradient is given for more than one step.
    """
    if scenario.upstream and options.steps > 1:
        message = "a given gradient holds for one step only, expected 1"
        raise TracerError(Problem(message, address="--steps"))
    done: list[Trace] = []
    state = OptimizerState()
    gradients = PassOptions(gradients=True, located=located)
    for step in range(1, options.steps + 1):
        progress.report(f"step {step} of {options.steps}")
        worked, others = _batch(scenario, options.example)
        found = trace(name, worked, gradients, others=others)
        found, new, state = _updated(found, options.optimizer, state, gradients)
        done.append(found)
        scenario = with_parameters(scenario, _by_yaml_path(found.scenario, new))
    worked, others = _batch(scenario, options.example)
    options_after = PassOptions(loss=not scenario.upstream, located=located)
    after = trace(name, worked, options_after, others=others)
    return Training(options.optimizer, tuple(done), after, scenario)


def first_step(name: str, scenario: Scenario, options: PassOptions) -> Trace:
    """Return the first step of a training with the scenario's optimizer.

    Raises:
        TracerError: as in `train`.
    """
    worked, others = _batch(scenario, None)
    found = trace(name, worked, options, others=others)
    return _updated(found, scenario.optimizer, OptimizerState(), options)[0]


def _batch(scenario: Scenario, example: int | None) -> tuple[Scenario, dict[int, Scenario]]:
    """The example to explain, the first without pinned values, and the others by number."""
    examples = [scenario.reading_example(each) for each in scenario.training]
    if not examples:
        return scenario, {}
    if example is not None:
        return examples[example - 1], {}
    worked = next((i for i, each in enumerate(scenario.training) if not each.given), 0)
    others = {i: each for i, each in enumerate(examples, 1) if i != worked + 1}
    return examples[worked], others


def _updated(
    found: Trace, optimizer: Optimizer, state: OptimizerState, options: PassOptions
) -> tuple[Trace, dict[Value, Value], OptimizerState]:
    """The trace with its update, the new value of each parameter, and the optimizer's state."""
    tape = Tape(
        options.arithmetic or arithmetic_of(found.scenario),
        found.pencil,
        overrides=options.overrides or {},
        located=options.located,
        records=list(found.records),
    )
    with tape.computing():
        new, state = update(tape, optimizer, _gradients(tape, found), state)
    return replace(found, records=tuple(tape.records)), new, state


def _by_yaml_path(scenario: Scenario, new: Mapping[Value, Value]) -> dict[YamlPath, object]:
    """The new parameters by their YAML paths, in the scenario's form."""
    return {
        yaml_path_of(old.place, old.role): _as_typed(scenario, old, value)
        for old, value in new.items()
    }


def _gradients(tape: Tape, found: Trace) -> dict[Value, Value]:
    """The gradient of each parameter that has one, embedding and position tables included."""
    gradients = {r.output.address: r.output for r in found.records}
    parameters = [
        record.output
        for record in found.records
        if record.output.role.parameter and isinstance(record.operation, Given)
    ]
    scenario = found.scenario
    if scenario.is_tied:
        parameters = [value for value in parameters if value.role is not roles.W_U]
    for place, tower in towers(scenario):
        for role, rows in tables(tower).items():
            gradient = gradients.get(replace(place, phase="gradient").address(role))
            if gradient:
                with tape.within(place):
                    parameters.insert(0, tape.given(role, rows, gradient.axes))
    at = {value: replace(value.place, phase="gradient").address(value.role) for value in parameters}
    return {value: gradients[at[value]] for value in parameters if at[value] in gradients}


def yaml_path_of(place: roles.Place, parameter: roles.Role) -> YamlPath:
    """The YAML path of a parameter."""
    keys = parameter.name.split(".")
    return (*place.yaml_path, *(keys[1:] if place.tower_norm else keys))


def _as_typed(scenario: Scenario, parameter: Value, new: Value) -> object:
    """The new numbers in the scenario's form: embeddings by word stay a mapping."""
    tower = scenario.encoder if parameter.place.encoder else scenario
    if parameter.role is roles.EMBEDDINGS and tower and isinstance(tower.embeddings, Mapping):
        return dict(zip(tower.embeddings, new.numbers, strict=True))
    return new.numbers
