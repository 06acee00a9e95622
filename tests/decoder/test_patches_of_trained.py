"""Patched passes of trained models: the same as with pinned numbers, and weights are read once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.decoder.test_trained import reads  # noqa: F401  # a fixture
from tests.helpers.tiny_models import MODELS, scenario
from tracer.decoder.comparison import Comparison, compare
from tracer.decoder.forward import Trace, trace
from tracer.decoder.patches import Site, heads, layers, patched, sweep
from tracer.scenario.loading import load


def both(folder: Path, name: str) -> Comparison:
    read = load(scenario(folder, name)).scenario
    return compare(trace("tiny", read), trace("tiny", read.reading(read.tokens[::-1])))


def pinned(found: Trace, address: str, numbers: Any) -> Trace:
    return trace("tiny", found.scenario.model_copy(update={"given": {address: numbers}}))


@pytest.mark.parametrize("name", MODELS)
def test_a_patch_is_a_pinned_value(name: str, tmp_path: Path) -> None:
    pair = both(tmp_path, name)
    ours = next(heads(pair)).value
    mixed = np.array(ours.numbers)
    mixed[1] = pair.second[ours.address].numbers[1]
    for token, numbers in ((None, pair.second[ours.address].numbers), (1, mixed)):
        again = patched(pair, [Site(ours, token)])
        plain = pinned(pair.first, ours.address, np.array(numbers))
        off = np.abs(again["logits"].numbers - plain["logits"].numbers)
        assert off.max() <= 1e-12
        assert not np.array_equal(again["logits"].numbers, pair.first["logits"].numbers)


def test_patches_in_two_layers_follow_each_other(tmp_path: Path) -> None:
    pair = both(tmp_path, next(iter(MODELS)))
    last = list(layers(pair))
    one = patched(pair, [last[0]])
    again = patched(pair, [last[0], Site(last[-1].value, 0)])
    assert np.array_equal(again["logits"].numbers[-1], one["logits"].numbers[-1])
    assert not np.array_equal(again["logits"].numbers[0], one["logits"].numbers[0])


def test_a_sweep_reads_each_weight_once(tmp_path: Path, reads: list[str]) -> None:  # noqa: F811
    read = load(scenario(tmp_path)).scenario
    others = (read.reading((*read.tokens[:-1], word)) for word in sorted(read.vocabulary or ()))
    first = trace("tiny", read)
    pairs = (compare(first, trace("tiny", other)) for other in others)
    pair = next(each for each in pairs if each.answers)
    sites = list(heads(pair))
    effects = sweep(pair, sites)
    before = len(reads)
    assert len(effects) == len(sites) > 1 and sweep(pair, sites) == effects
    assert {*reads[before:]} <= {"token_embd.weight"}  # the rows of the tokens
