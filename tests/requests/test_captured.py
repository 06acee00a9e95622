"""Texts that begin at the values of a file: what they compute, what they compare and refuse."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.helpers.command import problems, run
from tests.helpers.partial_checkpoints import keep_layer
from tests.helpers.tiny_models import scenario

FOLDERS = ("folder gpt2", "folder llama", "folder mistral")
BEGINS = {1: "input", 2: "layer1.ffn.residual"}
"""What each layer reads."""


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    return made(tmp_path, "folder llama")


def made(folder: Path, name: str) -> Path:
    """A scenario, and beside it values.npz with all numbers of its pass."""
    path = Path(scenario(folder, name))
    ran = run("run", str(path), "-f", "npz", "-o", str(path.with_name("values.npz")))
    assert (ran.exit_code, ran.stderr) == (0, "")
    return path


def values(path: Path) -> dict[str, Any]:
    return dict(np.load(path.with_name("values.npz")))


def save(path: Path, arrays: dict[str, Any]) -> None:
    np.savez(path.with_name("values.npz"), **arrays)


def text(command: str, path: Path, *options: str, begins: bool = True) -> str:
    """What a command prints about a scenario, with the values beside it."""
    words = [command, *options, "-s" if command in ("why", "attribute") else "--no-pager"]
    given = ["--values", str(path.with_name("values.npz"))] if begins else []
    ran = run(*words, str(path), *given)
    assert (ran.exit_code, ran.stderr) == (0, "")
    return ran.stdout


def refused(command: str, path: Path, *options: str) -> list[str]:
    """The problems of a command, without the path of the file."""
    file = str(path.with_name("values.npz"))
    ran = run(command, *options, str(path), "--values", file)
    assert (ran.exit_code, ran.stdout) == (2, "")
    return [problem.removeprefix(f"{file}: ") for problem in problems(ran)]


def steps(printed: str) -> str:
    """The text from its first step on."""
    return re.split(r"^(?:##? )?Layer [12]", printed, maxsplit=1, flags=re.MULTILINE)[1]


def said(printed: str) -> str:
    """The sentences about the file, in one line."""
    found = re.search(
        r"(The calculation begins|\d+ of the computed|No computed)(.|\n)*?\n\n", printed
    )
    assert found
    return re.sub("[“”`]", "", " ".join(found[0].split()))


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("layer", BEGINS)
def test_only_the_weights_of_the_shown_layer_are_read(
    name: str, layer: int, tmp_path: Path
) -> None:
    path = made(tmp_path, name)
    asked = [
        ("run", "--layer", f"{layer}"),
        ("run", "--layer", f"{layer}", "--head", "2", "--token", "2", "--no-mask"),
        ("tutorial", "--layer", f"{layer}", "--brief"),
    ]
    whole = [text(words[0], path, *words[1:], begins=False) for words in asked]
    keep_layer(next(tmp_path.glob("*/config.json")).parent, layer)
    for words, expected in zip(asked, whole, strict=True):
        found = text(words[0], path, *words[1:])
        assert steps(found) == steps(expected)
        begins = f"The calculation begins with numbers of values.npz (float64): {BEGINS[layer]}. "
        assert said(found).startswith(begins)
    ran = run("run", str(path), "--layer", str(layer))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "other.safetensors: no such file" in ran.stderr


def test_each_computed_value_is_compared(llama: Path) -> None:
    arrays = values(llama)
    begin = "layer1.ffn.residual"
    names = (begin, *(name for name in arrays if name.startswith("layer2.")))
    save(llama, {name: arrays[name] for name in names})
    counted = f"{len(names) - 1} of the computed values are there, too. Each agrees, up to"
    assert counted in said(text("run", llama, "--layer", "2"))
    for address in (
        "layer2.attention.head2.query",
        "layer2.attention.head1.scores",
        "layer2.ffn.residual",
    ):
        wrong = np.array(arrays[address])
        wrong[2, 1] *= 1.001
        save(llama, arrays | {address: wrong})
        (told,) = refused("run", llama, "--layer", "2")
        assert told.startswith(f"{address}[")
        assert "from what follows from the numbers before it; check --against looks" in told
    save(llama, {begin: arrays[begin]})
    assert said(text("run", llama, "--layer", "2")).endswith(
        "No computed value is there, too, so none is compared."
    )


def test_what_the_file_lacks_is_listed(llama: Path) -> None:
    arrays = values(llama)
    save(llama, {name: arrays[name] for name in arrays if name.startswith("layer2.")})
    lacks = "missing, and its layer is not computed because it is not shown"
    call = 'tracer.capture(model, inputs, "values.npz", only=["layer1.ffn.residual"])'
    expected = [f"layer1.ffn.residual: {lacks}", f"{call} captures what is needed"]
    assert refused("run", llama, "--layer", "2") == expected
    assert refused("why", llama, "layer2.ffn.hidden[1,1]", "-s") == expected
    # A residual sum is not needed where both of its terms are there.
    terms = {"layer1.attention.residual", "layer1.ffn.output"}
    save(llama, {name: arrays[name] for name in terms})
    assert "layer1.attention.residual, layer1.ffn.output. " in said(
        text("run", llama, "--layer", "2")
    )
    save(llama, {"layer1.ffn.residual": arrays["layer1.ffn.residual"][:, :3]})
    other = "layer1.ffn.residual: another array, expected 5 × 32 finite numbers"
    assert refused("run", llama, "--layer", "2") == [other]


def test_an_attribution_begins_at_what_each_sub_layer_adds(llama: Path) -> None:
    arrays = values(llama)
    ends = [f"layer{i}.{part}.output" for i in (1, 2) for part in ("attention", "ffn")]
    needed = {name: arrays[name] for name in ends}
    save(
        llama,
        needed | {"logits": arrays["logits"], "layer2.ffn.residual": arrays["layer2.ffn.residual"]},
    )
    printed = text("attribute", llama, "logits[5,7]")
    assert "what the embedding, each attention sub-layer and each FFN add." in " ".join(
        printed.split()
    )
    assert "2 of the computed values are there, too." in said(printed)
    document = json.loads(text("attribute", llama, "logits[5,7]", "-f", "json"))
    x = arrays["layer2.ffn.residual"][4]
    weights = load_file(next(llama.parent.glob("*/model.safetensors")))
    gain, of_word = weights["model.norm.weight"], weights["lm_head.weight"][6]
    direction = gain * of_word / np.sqrt((x**2).mean() + 0.5)
    expected = {"embedding": arrays["embedding"][4] @ direction}
    expected |= {name: needed[name][4] @ direction for name in ends}
    found = {part["address"]: part["value"] for part in document["parts"]}
    assert found == pytest.approx(expected)
    assert sum(found.values()) == pytest.approx(arrays["logits"][4, 6])
    del needed["layer1.ffn.output"]
    save(llama, needed)
    first, call = refused("attribute", llama, "logits[5,7]", "-s")
    assert first.startswith("layer1.ffn.output: missing")
    assert all(f'"{name}"' in call for name in ends)


def test_a_number_is_traced_back_to_the_file(llama: Path) -> None:
    printed = text("why", llama, "layer2.attention.norm[3,1]")
    assert re.search(r"layer1\.ffn\.residual, given:", printed)
    assert ": layer1.ffn.residual. " in said(printed)
    assert re.search(r"layer2\.ffn\.residual, given:", text("why", llama, "output[3,1]"))
    assert text("why", llama, "model.layers.1.input_layernorm[3,1]") == printed
    ours, theirs = ("layer2.attention.head1.query[3,1]", "blocks.1.attn.hook_q[0][3,1]")
    assert text("why", llama, theirs) == text("why", llama, ours)


def test_a_typed_scenario_is_computed_and_compared_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "alex"
    rounds = ["--carry", "never"]
    run("run", "alex", *rounds, "-f", "npz", "-o", str(path.with_name("values.npz")))
    arrays = values(path)
    file = str(path.with_name("values.npz"))
    ran = run("run", "alex", "--values", file)
    compared = len(arrays)
    assert said(ran.stdout).startswith(f"{compared} of the computed values are in values.npz.")
    save(path, arrays | {"layer1.ffn.output": arrays["layer1.ffn.output"] + 1e-6})
    ran = run("run", "alex", "--values", file)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert f"{file}: layer1.ffn.output[" in ran.stderr
