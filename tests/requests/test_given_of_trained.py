"""Given values and attributed scores of trained models, whose values are computed on demand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.decoder.test_score_attribution import faults_of_parts
from tests.helpers.tiny_models import MODELS, scenario
from tracer.data import as_json
from tracer.decoder.forward import FORWARD, Trace, trace
from tracer.decoder.score_attribution import attribute_score
from tracer.decoder.value import Entry
from tracer.requests.given import with_given
from tracer.requests.resolve import run_pass
from tracer.scenario.loading import load

HEAD = "layer2.attention.head1.output"


def logits(found: Trace) -> Any:
    return np.array(found["logits"].numbers)


@pytest.mark.parametrize("name", MODELS)
def test_given_values_are_those_that_are_typed(name: str, tmp_path: Path) -> None:
    loaded = load(scenario(tmp_path, name))
    plain = trace("tiny", loaded.scenario)
    head = np.array(plain[HEAD].numbers)
    mean = np.broadcast_to(head.mean(axis=0), head.shape)
    changed = np.array(head)
    changed[1] = 0.5
    for argument, numbers in (
        (f"{HEAD}=0", np.zeros(head.shape)),
        (f"{HEAD}=mean", mean),
        (f"{HEAD}[2]=0.5", changed),
    ):
        found = run_pass(with_given(loaded, [argument]), FORWARD)
        pinned = loaded.scenario.model_copy(update={"given": {HEAD: numbers}})
        assert np.abs(logits(found) - logits(trace("tiny", pinned))).max() <= 1e-12
        assert not np.array_equal(logits(found), logits(plain))


@pytest.mark.parametrize("name", MODELS)
def test_the_parts_of_a_score(name: str, tmp_path: Path) -> None:
    found = trace("tiny", load(scenario(tmp_path, name)).scenario)
    value = found["layer2.attention.head2.scores"]
    document = json.loads(as_json.attribution(attribute_score(found, Entry(value, (3, 1)))))
    assert faults_of_parts(found, value.address, (3, 1), document) == []
    total = sum(each["value"] for each in document["parts"])
    assert total == pytest.approx(document["value"], abs=1e-9)
    assert len(document["parts"]) > 9
