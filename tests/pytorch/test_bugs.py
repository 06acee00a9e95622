"""Bugs in a GPT, a Llama and an encoder-decoder of plain PyTorch, as `capture` sees them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.check.test_steps import (
    KINDS,
    Dump,
    compared,
    first_of,
    is_located,
    is_named,
    of_heads,
)
from tests.checkpoints.test_transformers_configs import BASE
from tests.helpers import tiny_marian
from tests.helpers.buggy_models import Bug
from tests.helpers.buggy_torch_models import BUGS_OF_PYTORCH, MODELS, Model
from tests.helpers.torch_models import NanoGPT, of_transformers, shaken, torch
from tracer.pytorch.capture import capture
from tracer.testing import assert_matches


def captured(model: str, kind: str = "float64", bug: str = "", outlier: bool = False) -> Dump:
    """What the modules of a model compute."""
    own = Model(model, bug, outlier).to(getattr(torch, kind))
    own.train(bug.startswith("dropout"))
    return of_heads(capture(own, own.inputs, names=own.names).dumped(), model)


@pytest.mark.parametrize("outlier", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_a_model_that_is_right_agrees(model: str, kind: str, outlier: bool) -> None:
    found = compared(model, captured(model, kind, outlier=outlier), outlier)
    assert [each.value.address for each in found.wrong] == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "family", ["gpt2", "llama", "mixtral", "gemma", "gpt_neox", "qwen2", "bloom", "marian", "nano"]
)
def test_a_model_of_transformers_that_is_right_agrees(family: str, kind: str) -> None:
    inputs: Any = [3, 1, 4, 1, 5]
    if family == "marian":
        model = of_transformers(tiny_marian.CONFIG, "AutoModelForSeq2SeqLM")
        ids = torch.tensor([[7, 2, 5, 9, 0]]), torch.tensor([inputs])
        inputs = dict(zip(("input_ids", "decoder_input_ids"), ids, strict=True))
    else:
        model = shaken(NanoGPT()) if family == "nano" else of_transformers(BASE[family])
    model = model.to(getattr(torch, kind))
    assert_matches(model, model, inputs)


@pytest.mark.parametrize("bug", BUGS_OF_PYTORCH, ids=lambda bug: bug.name)
def test_a_bug_is_found_where_it_is_with_its_cause(bug: Bug) -> None:
    right, wrong = captured(bug.model), captured(bug.model, bug=bug.name)
    found = compared(bug.model, wrong)
    assert is_located(first_of(right, wrong, bug.model), found), found.first
    assert is_named(bug, found), found.causes


def interleaved(columns: Any) -> Any:
    return columns.unflatten(-1, (8, 4)).transpose(-1, -2).flatten(-2)


@pytest.mark.parametrize(
    ("split", "cause"),
    [
        (interleaved, "with the columns of heads interleaved"),
        (lambda columns: columns.T.clone(), "with the weights of all heads transposed"),
    ],
)
def test_heads_of_a_checkpoint_may_be_split_in_another_way(split: Any, cause: str) -> None:
    """Their weights are not typed, but read from the model when they are needed."""
    right, wrong = shaken(NanoGPT()), NanoGPT()
    wrong.load_state_dict(right.state_dict())
    with torch.no_grad():
        for block in wrong.transformer["h"]:
            for rows in block.attn.c_attn.weight.split(32):
                rows.copy_(split(rows.T.clone()).T)
    with pytest.raises(AssertionError) as caught:
        assert_matches(wrong, right, [3, 1, 4, 1, 5])
    message = " ".join(str(caught.value).split())
    assert f"It agrees in all 40 numbers {cause}. So do 23 other wrong values." in message


LEAST = {
    ("float32", False): (66, 66),
    ("float16", False): (61, 61),
    ("bfloat16", False): (60, 60),
    ("float64", True): (66, 66),
    ("float32", True): (63, 63),
    ("float16", True): (59, 57),
    ("bfloat16", True): (59, 58),
}
"""How many of the bugs are at least located, and named; by type, with an outlier or without."""


@pytest.mark.fuzz
@pytest.mark.parametrize(("kind", "outlier"), LEAST)
def test_most_bugs_are_found_in_other_types_and_beside_an_outlier(kind: str, outlier: bool) -> None:
    """What is not found is hidden, and the report does not say that all agree."""
    missed, located, named = list[str](), 0, 0
    for bug in BUGS_OF_PYTORCH:
        found = compared(bug.model, captured(bug.model, kind, bug.name, outlier), outlier)
        first = first_of(captured(bug.model), captured(bug.model, bug=bug.name), bug.model)
        if is_located(first, found):
            located, named = located + 1, named + is_named(bug, found)
        else:
            missed.append(bug.name)
            text = " ".join(map(str, found.document().introduction))
            assert not outlier or "all agree" not in text, bug.name
    least = LEAST[kind, outlier]
    assert located >= least[0] and named >= least[1], (located, named, missed)
