"""A scenario that names a trained model: what it holds, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models

from tests.helpers.command import run
from tests.helpers.tiny_checkpoints import (
    gguf_llama,
    hugging_face_gpt2,
    hugging_face_llama,
    write_folder,
)
from tests.helpers.tiny_models import END, TEXT, model, naming, scenario, tokenizer_json
from tracer.checkpoints.opening import open_checkpoint
from tracer.errors import TracerError
from tracer.scenario.loading import load


@pytest.mark.parametrize("name", ["gguf llama", "folder gpt2"])
def test_a_text_becomes_tokens(name: str, tmp_path: Path) -> None:
    loaded = load(scenario(tmp_path, name)).scenario
    assert loaded.tokens == ("the", " a", ",", " ", "is")
    assert loaded.token_ids == (34, 35, 27, 26, 38)
    assert loaded.title == "tiny"
    assert loaded.beginning == loaded.tokens
    assert loaded.written(loaded.tokens) == TEXT


def test_tokens_may_be_given_by_their_numbers(tmp_path: Path) -> None:
    loaded = load(naming(model(tmp_path), token_ids=[34, 39])).scenario
    assert loaded.tokens == ("the", "<end>")


def test_the_scenario_may_say_how_a_text_begins_and_ends(tmp_path: Path) -> None:
    said = {"start": "the", "end": "is"}
    loaded = load(scenario(tmp_path, generation=said)).scenario
    assert (loaded.beginning, loaded.ends) == (("the",), ("is",))


@pytest.mark.parametrize(
    ("eos", "ends"), [(None, ()), (3, (3,)), ([3, END], (3, END)), (40_000, (40_000,))]
)
def test_a_folder_names_none_one_or_several_ends(eos: Any, ends: Any, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", "llama", hugging_face_llama(), {"eos_token_id": eos})
    assert open_checkpoint(folder).ends == ends
    (folder / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    known = load(naming(folder, text=TEXT)).scenario
    assert len(known.ends) == sum(id < 40 for id in ends)


def test_an_end_that_is_no_number_is_told(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x", "llama", hugging_face_llama(), {"eos_token_id": "x"})
    with pytest.raises(TracerError, match=r"config\.json: eos_token_id: got 'x', expected a whole"):
        open_checkpoint(folder)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"token_ids": [34, 40, -1]}, ["2:17: token_ids: 40, expected 0 to 39", "2:21: "]),
        ({"token_ids": []}, ["2:1: token_ids: empty"]),
        ({}, ["1:1: "]),
        ({"text": "the", "token_ids": [1]}, ["1:1: "]),
        ({"text": "the", "rounding": {"carry": "line"}}, ["3:1: rounding: "]),
        ({"text": "the", "layers": []}, ["3:1: layers: unknown key"]),
    ],
)
def test_what_is_wrong_is_told_at_its_place(
    said: dict[str, Any], told: list[str], tmp_path: Path
) -> None:
    path = naming(model(tmp_path), **said)
    ran = run("run", path)
    assert ran.exit_code == 2
    lines = [line for line in ran.stderr.splitlines() if line.startswith(path)]
    assert len(lines) == len(told), ran.stderr
    for line, start in zip(lines, told, strict=True):
        assert line.startswith(f"{path}:{start}"), line


@pytest.mark.parametrize("command", ["run", "shapes"])
def test_more_tokens_than_positions_are_told(command: str, tmp_path: Path) -> None:
    path = naming(model(tmp_path, "folder gpt2"), token_ids=[34] * 17)
    ran = run(command, path)
    assert (ran.exit_code, ran.stdout) == (2, "")
    told = "token_ids: 17 tokens, expected 1 to 16 (one for each position)"
    assert ran.stderr.startswith(f"{path}:2:1: {told}")


def test_a_text_without_tokens_is_told(tmp_path: Path) -> None:
    folder = model(tmp_path, "folder gpt2")
    strips = {"type": "Strip", "strip_left": True, "strip_right": True}
    said = json.loads(tokenizer_json()) | {"normalizer": strips}
    (folder / "tokenizer.json").write_text(json.dumps(said), encoding="utf-8")
    ran = run("run", naming(folder, text=" "))
    assert ran.exit_code == 2
    assert "text: 0 tokens, expected 1 to 16" in ran.stderr


def test_tokens_may_have_numbers_alone(tmp_path: Path) -> None:
    folder = model(tmp_path, "folder gpt2")
    (folder / "tokenizer.json").unlink()
    loaded = load(naming(folder, token_ids=[34, 39])).scenario
    assert loaded.tokens == ("[34]", "[39]")
    assert loaded.written(("[3]", "[4]")) == "[3][4]"
    ran = run("run", naming(folder, token_ids=[34, 39]))
    assert (ran.exit_code, ran.stderr) == (0, "")
    ran = run("run", naming(folder, text="the"))
    assert ran.exit_code == 2
    assert "the folder has no tokenizer.json, nor vocab.json and merges.txt, which" in ran.stderr


def test_the_unknown_token_of_a_model_has_no_corpus(tmp_path: Path) -> None:
    folder = model(tmp_path, "folder gpt2")
    vocabulary = {"[UNK]": 0, "a": 1, "b": 2, "ab": 3}
    library = Tokenizer(models.BPE(vocabulary, [("a", "b")], unk_token="[UNK]"))
    (folder / "tokenizer.json").write_text(library.to_str(), encoding="utf-8")
    path = naming(folder, text="abéa")
    assert load(path).scenario.token_ids == (3, 0, 1)
    ran = run("run", path)
    assert ran.exit_code == 0
    assert "does not occur in the corpus" not in ran.stdout


def test_embeddings_may_have_more_rows_than_there_are_tokens(tmp_path: Path) -> None:
    folder = model(tmp_path, "folder gpt2")
    tensors = hugging_face_gpt2()
    tensors["wte.weight"] = np.concatenate([tensors["wte.weight"]] * 2)
    write_folder(folder, "gpt2", tensors, {"vocab_size": 80})
    loaded = load(naming(folder, text=TEXT)).scenario
    assert loaded.tokens == ("the", " a", ",", " ", "is")
    assert loaded.vocabulary is not None
    assert loaded.vocabulary[39:42] == ("<end>", "[40]", "[41]")
    assert run("generate", naming(folder, text=TEXT), "--max-tokens", "1").exit_code == 0


COMMANDS = [
    *[("run",), ("lens",), ("generate",), ("loss",), ("tutorial",), ("step", "softmax")],
    *[("why", "logits[the,the]"), ("value", "logits[the,the]")],
    ("value", "layer1.attention.norm.gain[d₀]"),
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_no_number_is_told_by_every_command(
    command: tuple[str, ...], wrong: float, tmp_path: Path
) -> None:
    tensors = gguf_llama()
    tensors["blk.0.attn_norm.weight"] = np.full_like(tensors["blk.0.attn_norm.weight"], wrong)
    said = {"text": "the", "targets": ["the"]} if command == ("loss",) else {"text": "the"}
    path = naming(model(tmp_path, tensors=tensors), **said)
    ran = run(*command, "-s", path) if len(command) > 1 else run(*command, path)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert f"holds {wrong}, expected a finite number: " in ran.stderr


def test_an_unknown_package_is_told_where_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("checkpoint: {package: no_weights, file: x.gguf}\ntext: a\n", encoding="utf-8")
    ran = run("run", str(path))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"{path}:1:1: the package no_weights is not installed: pip ")
