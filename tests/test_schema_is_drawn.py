"""Every key and choice of the schema is drawn by the scenarios that the judges read.

A key that is new in the schema is red here until `tests/helpers/whole_scenarios.py` draws it; then
the judges of equations, agreement, continuity and sentences read what is printed of it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

from tests.helpers.command import printed
from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.reference import ACTIVATIONS
from tests.helpers.schema_choices import Choices
from tests.helpers.whole_scenarios import from_sizes, whole_scenarios

OF_ANY_KIND, WITH_ENCODER, OF_LOSSES, OF_SIZES = 320, 500, 30, 60
"""How many are drawn; those with rare parts more often than among the others."""

NOT_DRAWN = {
    r"(Trained|InPackage)\..*": "needs a checkpoint: tests/scenario/test_trained.py",
    r"ContrastText\..*": "needs a checkpoint: tests/lesson/texts/test_model_tutorial.py",
    r"EncoderText\..*": "needs a checkpoint with an encoder: tests/checkpoints/test_marian.py",
    r"Scenario\.given: string": "needs a file of arrays: tests/scenario/test_activations.py",
    r"encoder Layer\.cross_attention": "refused: nothing is above the encoder",
    r"encoder (Attention\.mask|Window).*": "refused: an encoder's tokens see each other",
    r"encoder (Attention\.(kind|gate|beta|feature_map|normalizer|unit_length|chunk)|Gate|Strength|"
    r"UnitLength).*": "refused: a state reads the tokens one after the other",
    r"encoder (Head\.conv_[QKV]|Attention\.conv_activation).*": "refused: a convolution reads "
    "earlier tokens only",
    r"encoder Head\.[QKV]": "refused: only the decoder starts with typed queries",
    r"Pinned\[\](: -inf.*| = -.*)": "refused: no vector hides anything, only the rows of a mask",
}
"""Patterns of choices, why no random scenario makes them, and which test does."""


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed("schema"))
    return found


def drawn(choices: Choices, strategy: st.SearchStrategy[Any], number: int) -> Counter[str]:
    """How often each choice is made in so many draws; nothing is computed."""
    found: Counter[str] = Counter()

    @seed(8)  # with which few draws make every choice
    @settings(
        max_examples=number,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(spec=strategy)
    def count(spec: dict[str, Any]) -> None:
        found.update(choices.made_by(spec))

    count()
    return found


@pytest.fixture(scope="module")
def made(schema: dict[str, Any]) -> Counter[str]:
    choices = Choices(schema)
    return (
        drawn(choices, whole_scenarios(), OF_ANY_KIND)
        + drawn(choices, whole_scenarios(encoder=True, encodes=True), WITH_ENCODER)
        + drawn(choices, learning_scenarios(any_loss=True), OF_LOSSES)
        + drawn(choices, from_sizes(), OF_SIZES)
    )


def missing(schema: dict[str, Any], made: Counter[str]) -> list[str]:
    """What the schema has, and no draw."""
    allowed = re.compile("|".join(f"(?:{pattern})" for pattern in NOT_DRAWN))
    return sorted(c for c in Choices(schema).all() - set(made) if not allowed.fullmatch(c))


def test_every_choice_is_drawn(schema: dict[str, Any], made: Counter[str]) -> None:
    assert missing(schema, made) == []


def test_what_is_not_drawn_is_in_the_schema(schema: dict[str, Any], made: Counter[str]) -> None:
    """And it is not drawn after all."""
    for pattern in NOT_DRAWN:
        fitting = {c for c in Choices(schema).all() if re.fullmatch(pattern, c)}
        assert fitting, pattern
        assert not fitting & set(made), pattern


def test_nothing_is_drawn_that_the_schema_does_not_have(
    schema: dict[str, Any], made: Counter[str]
) -> None:
    assert set(made) <= Choices(schema).all()


NEW = {
    "a key": (("Head", "properties", "gate"), {"type": "number"}, ["Head.gate"]),
    "a key of a new kind": (
        ("Layer", "properties", "looped"),
        {"type": "boolean"},
        ["Layer.looped", "Layer.looped = false", "Layer.looped = true"],
    ),
    "a word": (
        ("FFN", "properties", "activation", "enum"),
        [*ACTIVATIONS, "softplus"],
        ["FFN.activation = softplus"],
    ),
    "a form": (
        ("Attention", "properties", "W_O"),
        {"anyOf": [{"$ref": "#/$defs/Matrix"}, {"const": "eye"}]},
        ["Attention.W_O: eye"],
    ),
}


@pytest.mark.parametrize("name", NEW)
def test_what_is_new_is_missed(name: str, schema: dict[str, Any], made: Counter[str]) -> None:
    """In the encoder, too, where it has the part."""
    (*way, last), value, expected = NEW[name]
    changed = deepcopy(schema)
    part = changed["$defs"]
    for step in way:
        part = part[step]
    part[last] = value
    found = [c for c in missing(changed, made) if not c.startswith("encoder ")]
    assert found == expected
