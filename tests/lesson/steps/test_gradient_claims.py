"""What a gradient says of one weight is what happens to the loss if that weight is raised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from tests.helpers.learning import batch_of, way_back, way_back_or_rejected
from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.raised_weights import change_of_loss, is_true_of_raising
from tests.helpers.random_scenarios import Scenario as Spec
from tracer.decoder.forward import Trace
from tracer.decoder.value import Value
from tracer.lesson.document import Name, Sentence
from tracer.lesson.steps.gradient_claims import effect_of_raising
from tracer.lesson.texts.teacher import Teacher
from tracer.renderers.text import text
from tracer.scenario.loading import load
from tracer.scenario.writer import written

few = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


def claims(found: Trace) -> Iterator[tuple[str, Value]]:
    """What each step of the way back says of a weight, and the gradient that it speaks of."""
    teacher = Teacher(found)
    tied = {"gradient.unembedding.W_U"} if found.scenario.is_tied else set()
    for step in teacher.steps:
        if sentence := effect_of_raising(step, teacher.ctx):
            outputs = [r.output for r in step.records if r.output.address not in tied]
            weights = [output for output in outputs if is_of_weight(output)]
            yield plain(sentence), max(weights, key=lambda value: abs(value.array).max())


def is_of_weight(value: Value) -> bool:
    of = value.role.of
    return value.role.derivation == "gradient" and of is not None and of.parameter


def plain(sentence: Sentence) -> str:
    def shown(part: Any) -> str:
        return part if isinstance(part, str) else text(part)

    return "".join(f"“{p.text}”" if isinstance(p, Name) else shown(p) for p in sentence)


def assert_true(found: Trace, spec: Spec) -> int:
    told = list(claims(found))
    for sentence, gradient in told:
        address = gradient.address.removeprefix("gradient.")
        labels = [axis.labels for axis in gradient.axes]
        assert is_true_of_raising(sentence, spec, address, gradient.array, labels), sentence
    return len(told)


@pytest.mark.parametrize(("name", "times"), [("science", 6), ("pizza", 12), ("comics", 9)])
def test_bundled_scenarios(name: str, times: int) -> None:
    scenario = load(name).scenario
    batch = [scenario.reading_example(each) for each in scenario.training] or [scenario]
    spec: Any = yaml.load(written(scenario), yaml.SafeLoader)
    assert assert_true(way_back(batch), spec) >= times


@few
@given(learning_scenarios(max_layers=2))
def test_random_scenarios(spec: Spec) -> None:
    assert_true(way_back_or_rejected(batch_of(spec)), spec)


def test_the_judge_knows_a_falsehood() -> None:
    scenario = load("science").scenario
    spec: Any = yaml.load(written(scenario), yaml.SafeLoader)
    found = way_back([scenario])["gradient.unembedding.W_U"]
    labels = [axis.labels for axis in found.axes]

    def is_true(sentence: str) -> bool:
        return is_true_of_raising(sentence, spec, "unembedding.W_U", found.array, labels)

    change = change_of_loss(spec, "unembedding.W_U", (0, 0))
    shown = f"{-change:.2g}"
    assert is_true(f"Raising W_U at “d₀”, “projects” by 0.01 would lower the loss by {shown}.")
    assert not is_true(f"Raising W_U at “d₀”, “projects” by 0.01 would raise the loss by {shown}.")
    assert not is_true("Raising W_U at “d₀”, “projects” by 0.01 would lower the loss by 0.06.")
    assert not is_true(f"Raising W_U at “d₁”, “projects” by 0.01 would lower the loss by {shown}.")


def test_a_tied_projection_leaves_the_claim_to_the_offset() -> None:
    spec: Spec = {
        "title": "tied",
        **{"tokens": ["a", "b"], "vocabulary": ["a", "b"], "targets": ["b", "a"]},
        "embeddings": {"a": [3, 1], "b": [-1, 2]},
        "unembedding": {"W_U": "tied", "b_U": [0, 1]},
    }
    found = way_back(batch_of(spec))
    of_logits = [told for told, _ in claims(found) if "b_U" in told or "W_U" in told]
    assert of_logits
    assert assert_true(found, spec) == 2
