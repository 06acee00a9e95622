"""The arrows of a picture are the tape's: from box to box, through what has no box."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, reject, settings

from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.random_scenarios import Scenario, scenarios, to_yaml
from tests.helpers.traces import traced_or_rejected
from tracer.decoder.forward import Trace
from tracer.decoder.training import TrainingOptions, train
from tracer.errors import TracerError
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.texts.picture import picture, picture_back
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.symbols import symbols
from tracer.node import found
from tracer.scenario.loading import parse
from tracer.scenario.optimizer import Optimizer

several = settings(
    phases=[Phase.generate],
    database=None,
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
Draw = Callable[..., doc.Picture]


def drawn(trace: Trace, draw: Draw = picture) -> doc.Picture:
    ahead = [step for step in steps(trace.records) if step.place.phase == "forward"]
    shown = ahead if draw is picture else steps(trace.records)
    return draw(LessonContext(trace, 0, symbols(trace.records)), shown)


def learned(scenario: Scenario) -> Trace:
    """The pass of the first step of training."""
    try:
        options = TrainingOptions(Optimizer())
        return train("t", parse(to_yaml(scenario), "t.yaml"), options).steps[0]
    except TracerError:
        reject()


def pairs(of: doc.Picture) -> set[tuple[int, int]]:
    return {(wire.source, wire.reader) for wire in of.wires}


def boxes(of: doc.Picture) -> dict[int, doc.Box]:
    return {box.step: box for box in found((of.encoder or (), of.decoder), doc.Box)}


def expected(trace: Trace, of: doc.Picture) -> set[tuple[int, int]]:
    """Each value carries on the boxes that it comes from, until a box takes their place."""
    shown = boxes(of)
    box_of = {r.output: step.number for step in steps(trace.records) for r in step.records}
    carried: dict[object, set[int]] = {}
    arrows = set()
    for record in trace.records:
        own = box_of.get(record.output)
        # Inside a step, each record also carries what the step itself reads.
        read = {box for value in record.inputs for box in carried.get(value, set())}
        if own in shown:
            arrows |= {(box, own) for box in read if box != own and not shown[box].aside}
            read = {own}
        carried[record.output] = read
    return arrows


@several
@given(scenario=scenarios(epsilons=("0.1",)))
def test_each_arrow_is_one_of_the_tape(scenario: Scenario) -> None:
    trace = traced_or_rejected(scenario)
    of = drawn(trace)
    if not of.folded:
        assert pairs(of) == expected(trace, of)


@several
@given(scenario=learning_scenarios())
def test_gradients_flow_along_arrows(scenario: Scenario) -> None:
    trace = learned(scenario)
    of = drawn(trace, picture_back)
    if not of.folded:
        assert pairs(of) == expected(trace, of)
    assert all(source < reader for source, reader in pairs(of))


LAYER = "  - ffn: {W_1: [[1], [2]], W_2: [[1, 2]], norm: {epsilon: 0.1, placement: pre}}\n"
YAML = "title: T\ntokens: [a, b]\nembeddings: [[1, 2], [0, 3]]\nlayers:\n"
WORDS = "vocabulary: [a, b]\nunembedding: {W_U: [[1, 0], [0, 1]]}\ntargets: [b, a]\n"


@pytest.mark.parametrize("draw", [picture, picture_back])
@pytest.mark.parametrize("layers", [2, 3, 12])
def test_layers_that_are_drawn_once_have_the_arrows_of_one(layers: int, draw: Draw) -> None:
    """Nothing leads from a layer that is not drawn back into the one that stands for it."""

    def of(number: int) -> doc.Picture:
        scenario = parse(YAML + LAYER * number + WORDS, "t.yaml")
        return drawn(train("t", scenario, TrainingOptions(Optimizer())).steps[0], draw)

    def by_place(each: doc.Picture) -> set[tuple[int, int]]:
        place = {step: i for i, step in enumerate(sorted(boxes(each)))}
        return {(place[source], place[reader]) for source, reader in pairs(each)}

    one, several = of(1), of(layers)
    assert by_place(several) == by_place(one)
    (layer,) = several.decoder.layers
    assert layer.others
    assert {box for _, box in several.folded} == {box.step for box in found(layer, doc.Box)}
    first, last = layer.others
    assert all(first <= step <= last for step, _ in several.folded)
    assert len(several.folded) == (layers - 1) * len(list(found(layer, doc.Box)))
