"""Patched passes of trained models: the same as with pinned numbers, and weights are read once."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType, quantize, quants

from tests.helpers.tiny_checkpoints import gguf_llama
from tests.helpers.tiny_models import MODELS, TEXT, model, naming, scenario
from tracer.decoder.comparison import Comparison, compare
from tracer.decoder.forward import Trace, trace
from tracer.decoder.patches import Site, patched
from tracer.decoder.sweeps import Sweep, sites_of, sweep
from tracer.scenario.given import GivenRows, Repeated
from tracer.scenario.loading import load


def both(folder: Path, name: str) -> Comparison:
    read = load(scenario(folder, name)).scenario
    return compare(trace("tiny", read), trace("tiny", read.reading(read.tokens[::-1])))


def pinned(found: Trace, address: str, numbers: Any) -> Trace:
    return trace("tiny", found.scenario.model_copy(update={"given": {address: numbers}}))


@pytest.mark.parametrize("name", MODELS)
def test_a_patch_is_a_pinned_value(name: str, tmp_path: Path) -> None:
    pair = both(tmp_path, name)
    ours = sites_of(Sweep.HEADS, pair)[0].value
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
    last = sites_of(Sweep.LAYERS, pair)
    one = patched(pair, [last[0]])
    again = patched(pair, [last[0], Site(last[-1].value, 0)])
    assert np.array_equal(again["logits"].numbers[-1], one["logits"].numbers[-1])
    assert not np.array_equal(again["logits"].numbers[0], one["logits"].numbers[0])


def test_a_sweep_decodes_each_weight_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the two passes that are compared: once more, to keep it."""
    decoded, decode = list[int](), quants.Q8_0.dequantize_blocks

    def noted(blocks: Any) -> Any:
        decoded.append(blocks.size)
        return decode(blocks)

    monkeypatch.setattr(quants.Q8_0, "dequantize_blocks", noted)
    tensors = gguf_llama()
    matrices = [name for name in tensors if tensors[name].ndim == 2 and name != "token_embd.weight"]
    kinds = dict.fromkeys(matrices, GGMLQuantizationType.Q8_0)
    read = load(naming(model(tmp_path, kinds=kinds), text=TEXT)).scenario
    others = (read.reading((*read.tokens[:-1], word)) for word in sorted(read.vocabulary or ()))
    first = trace("tiny", read)
    pair = next(each for other in others if (each := compare(first, trace("tiny", other))).answers)
    one_pass = sum(quantize(tensors[name], kinds[name]).nbytes for name in matrices)
    sites = sites_of(Sweep.HEADS, pair)
    decoded.clear()
    effects = sweep(pair, sites)
    assert sum(decoded) <= one_pass
    decoded.clear()
    assert len(effects) == len(sites) > 1 and sweep(pair, sites) == effects
    assert not decoded


def different_answers(folder: Path, name: str, given: dict[str, Any] | None = None) -> Comparison:
    """A model with two texts after which it predicts different words."""
    read = load(scenario(folder, name)).scenario
    read = read.model_copy(update={"given": given or {}})
    for word in sorted(read.vocabulary or ()):
        for at in (0, len(read.tokens) - 1):
            words = (*read.tokens[:at], word, *read.tokens[at + 1 :])
            both = compare(trace("tiny", read), trace("tiny", read.reading(words, given=given)))
            if both.answers:
                return both
    raise AssertionError("the model always predicts the same")


@pytest.mark.parametrize("name", MODELS)
def test_a_sweep_does_what_pinned_values_do(name: str, tmp_path: Path) -> None:
    """The patched passes of a sweep share computations; each pinned one is computed alone."""
    both = different_answers(tmp_path, name)
    ours, theirs = both.margin(both.first), both.margin(both.second)
    for what in Sweep:
        chosen = sites_of(what, both)[::3]
        for each in sweep(both, chosen):
            value = each.site.value
            numbers = np.array(value.numbers)
            if each.site.source != "second pass":
                numbers[:] = 0 if each.site.source == "zeros" else numbers.mean(axis=0)
            else:
                rows = slice(None) if each.site.token is None else each.site.token
                numbers[rows] = both.second[value.address].numbers[rows]
            margin = both.margin(pinned(both.first, value.address, numbers))
            assert each.share == pytest.approx((margin - ours) / (theirs - ours), abs=1e-9)


def test_a_sweep_keeps_given_values(tmp_path: Path) -> None:
    name = next(iter(MODELS))
    given = {
        "layer1.attention.head1.output": GivenRows({"1": Repeated(0)}),
        "layer2.attention.head1.weights": Repeated(Decimal("0.1")),
    }
    both = different_answers(tmp_path, name, given)
    ours, theirs = both.margin(both.first), both.margin(both.second)
    address = "layer1.ffn.output"
    (found,) = sweep(both, [Site(both.first[address])])
    scenario = both.first.scenario
    pins = {**given, address: np.array(both.second[address].numbers)}
    margin = both.margin(trace("tiny", scenario.model_copy(update={"given": pins})))
    assert found.share == pytest.approx((margin - ours) / (theirs - ours), abs=1e-9)
