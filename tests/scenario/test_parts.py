"""The table of parameters has all that the schema can say, and all of it is checked and counted."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from decimal import Decimal
from math import prod
from typing import Any, get_args, get_origin

import pytest
import yaml
from hypothesis import given, reject, settings
from pydantic import BaseModel

from tests.helpers.learned_numbers import numbers_learned
from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.random_scenarios import to_yaml
from tracer.decoder.training import TrainingOptions, train
from tracer.errors import TracerError
from tracer.parts.lora.scenario import Lora
from tracer.parts.quantized.scenario import Quantized
from tracer.scenario.loading import parse
from tracer.scenario.model import Scenario
from tracer.scenario.optimizer import Optimizer
from tracer.scenario.part import scenario_parts
from tracer.scenario.parts import address, declared, forms, forms_in, learned, numbers_of
from tracer.scenario.varying import varied

NOT_DECLARED = {
    ("Scenario", "mask"),
    ("Rotary", "factors"),
    ("RotaryOfLayer", "factors"),
    ("RotaryScaling", "short_factor"),
    ("RotaryScaling", "long_factor"),
    ("Loss", "target"),
}
"""Rows of numbers that are settings."""

NOT_LEARNED = {
    ("Scenario", "given"),
    ("Example", "given"),
    ("Encoder", "vectors"),
    ("Head", "Q"),
    ("Head", "K"),
    ("Head", "V"),
    *(("Attention", "gate"), ("Attention", "beta")),
    ("Lora", "frozen"),
    ("Quantized", "of"),
}
"""Rows of numbers that training leaves alone."""


def has_rows(annotation: Any, *, inside: bool = False) -> bool:
    """Whether a type holds numbers in rows, other than in a part of its own."""
    if annotation is Decimal:
        return inside
    inside = inside or get_origin(annotation) in (tuple, dict)
    return any(has_rows(each, inside=inside) for each in get_args(annotation))


def test_every_parameter_of_the_schema_is_declared() -> None:
    found = {
        (form, name)
        for form in forms(Scenario)
        for name, field in form.model_fields.items()
        if has_rows(field.annotation)
    }
    shapes = {(form.__name__, name): declared(form).get(name) for form, name in found}
    assert {each for each, shape in shapes.items() if shape is None} == NOT_DECLARED
    assert {each for each, shape in shapes.items() if shape and not shape.learned} == NOT_LEARNED


NORM = "{gain: [1, 3], shift: [0, 3]}"
NORMS = f"norm: {NORM.replace('{', '{placement: pre, ')}, norm_after: {NORM}"
OF_HEADS = "{gain: [1, 3, 6], shift: [0, 3, 5]}"
HEAD = """{
  sink: 0.5,
  W_Q: [[1, 2, 3], [4, 5, 6]], b_Q: [1, 2, 4],
  W_K: [[1, 3, 5], [2, 4, 6]], b_K: [1, 2, 5],
  W_V: [[1, 2, 3, 4], [5, 6, 7, 8]], b_V: [1, 2, 3, 6]}"""
ATTENTION = f"""{{
  heads: [{HEAD}], W_O: [[1, 2], [3, 4], [5, 6], [7, 8]], b_O: [1, 7], {NORMS},
  query_norm: {OF_HEADS}, key_norm: {OF_HEADS}}}"""
FFN = f"""{{
  W_1: [[1, 2, 3], [4, 5, 6]], b_1: [1, 2, 3], W_3: [[3, 2, 1], [6, 5, 4]], b_3: [3, 2, 1],
  W_2: [[1, 2], [3, 4], [5, 6]], b_2: [1, 9], {NORMS}}}"""
TOWER = f"""tokens: [a, b], embeddings: [[1, 2], [3, 5]], positions: {{table: [[0, 1], [1, 0]]}},
  embedding_norm: {NORM},
  final_norm: {NORM}"""
BOTH = f"attention: {ATTENTION}, ffn: {FFN}"
PLAIN = f"{{{NORMS}, ffn: {{W_1: [[1, 2], [3, 4]], W_2: [[1, 2], [3, 4]]}}}}"
EXPERT = FFN.replace(f", {NORMS}", "")
EXPERTS = f"""{{ffn: {{
  router: [[1, 2], [4, 3]], router_bias: [0, 1], experts: [{EXPERT}, {EXPERT}],
  shared: {EXPERT}, shared_gate: [[1], [3]], {NORMS}}}}}"""
EVERY_PARAMETER = f"""{{{TOWER},
  encoder: {{{TOWER}, layers: [{{{BOTH}}}, {PLAIN}, {EXPERTS}]}},
  layers: [{{{BOTH}, cross_attention: {ATTENTION}}},
    {PLAIN}, {EXPERTS}],
  vocabulary: [a, b, c], unembedding: {{W_U: [[1, 2, 3], [5, 6, 7]], b_U: [1, 2, 3]}}}}"""
EVERY_KEY = yaml.load(EVERY_PARAMETER, yaml.BaseLoader)


def parameters(scenario: Scenario) -> dict[tuple[int | str, ...], Any]:
    return {n.place: n.value for n in numbers_of(scenario) if n.declared.learned}


PLACES = [*parameters(parse(EVERY_PARAMETER, "f.yaml"))]


def paths(form: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The keys that lead to each parameter of a part."""
    for name, field in form.model_fields.items():
        if name in declared(form) and declared(form)[name].learned:
            yield (*path, name)
        for part in forms_in(field.annotation):
            if part not in (Lora, Quantized):  # which takes the place of rows
                yield from paths(part, (*path, name))


def test_the_scenario_has_every_parameter() -> None:
    had = {tuple(step for step in place if isinstance(step, str)) for place in PLACES}
    crossed = ("encoder", "layers", "cross_attention")  # an encoder has none
    of_parts = {  # their own tests have them
        key for part in scenario_parts() for keys in part.keys.values() for key in keys.model_fields
    }
    expected = {path for path in paths(Scenario) if path[:3] != crossed}
    assert had == {path for path in expected if of_parts.isdisjoint(path)} | {
        path for path in had if not of_parts.isdisjoint(path)
    }


@pytest.mark.parametrize("place", [p for p in PLACES if p[-1] != "sink"], ids=address)
@pytest.mark.parametrize("whole_row", [False, True])
def test_what_is_too_short_is_refused(place: tuple[int | str, ...], whole_row: bool) -> None:
    data = part = deepcopy(EVERY_KEY)
    for step in place:
        part = part[step]
    (part if whole_row or isinstance(part[0], str) else part[-1]).pop()
    with pytest.raises(TracerError) as caught:
        parse(to_yaml(data), "f.yaml")
    assert any(
        str(problem.address).split()[0] == address(place) for problem in caught.value.problems
    )


def test_all_that_is_learned_is_varied_but_positions() -> None:
    scenario = parse(EVERY_PARAMETER, "f.yaml")
    others = [parameters(varied(scenario, seed)) for seed in "12345"]
    stayed = {
        place
        for place, numbers in parameters(scenario).items()
        if all(other[place] == numbers for other in others)
    }
    assert {place[-1] for place in stayed} == {"table", "sink"}  # of a single number


@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(learning_scenarios())
def test_what_is_learned_is_what_training_changes(spec: dict[str, Any]) -> None:
    scenario = parse(to_yaml(spec), "f.yaml")
    try:
        found = train("f", scenario, TrainingOptions(Optimizer())).steps[0]
    except TracerError:
        reject()
    updated = {
        record.output.address.removeprefix("update."): record.output.shape
        for record in found.records
        if record.output.role.derivation == "new"
    }
    counted = learned(scenario)
    assert sum(map(prod, counted.values())) == numbers_learned(spec)
    if not any("cross_attention" in layer for layer in spec["layers"]):
        # Nothing reads what the encoder returns, so no gradient reaches it.
        counted = {name: shape for name, shape in counted.items() if "encoder." not in name}
    assert updated == counted
