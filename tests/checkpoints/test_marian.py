"""A Marian folder: an encoder and a decoder, computed here with plain NumPy, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from tests.helpers import tiny_marian
from tests.helpers.command import run
from tests.helpers.tiny_marian import CONFIG, HEADS, LAYERS, OPUS, PAD, WORDS, D, write_folder
from tests.helpers.tiny_models import model, naming
from tracer.checkpoints.hugging_face import architecture_of
from tracer.checkpoints.opening import open_checkpoint
from tracer.decoder.forward import trace
from tracer.decoder.generation import GenerationOptions, choice, generate
from tracer.errors import TracerError
from tracer.scenario.loading import load
from tracer.scenario.parts import learned

SOURCE, TARGET = [3, 1, 4, 1, 5, 0], [PAD, 7, 2]
Array = NDArray[Any]


def written(folder: Path, **said: Any) -> str:
    """A scenario of a model in this folder."""
    return naming(folder, **{"encoder": {"token_ids": SOURCE}, **said})


# --- numbers ---------------------------------------------------------------------------------


def reference(weights: tiny_marian.Tensors, source: list[int], target: list[int]) -> Array:
    """The logits, by the equations of Vaswani et al. 2017 with post-norm and SiLU."""

    def linear(name: str, x: Array) -> Array:
        return np.asarray(x @ weights[f"{name}.weight"].T.astype(float) + weights[f"{name}.bias"])

    def norm(name: str, x: Array) -> Array:
        x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
        return np.asarray(x * weights[f"{name}.weight"] + weights[f"{name}.bias"])

    def attention(name: str, x: Array, others: Array, heads: int, causal: bool) -> Array:
        q, k, v = (
            linear(f"{name}.{p}_proj", y) for p, y in zip("qkv", (x, others, others), strict=True)
        )
        found = []
        for one in np.split(np.arange(D), heads):
            scores = q[:, one] @ k[:, one].T / np.sqrt(len(one))
            if causal:
                scores[np.triu_indices(len(x), 1)] = -np.inf
            p = np.exp(scores - scores.max(1, keepdims=True))
            found.append(p / p.sum(1, keepdims=True) @ v[:, one])
        return linear(f"{name}.out_proj", np.hstack(found))

    def inputs(ids: list[int]) -> Array:
        waves = [[10000 ** (-2 * i / D) * pos for i in range(D // 2)] for pos in range(len(ids))]
        p = np.float32(np.hstack([np.sin(waves), np.cos(waves)]))
        return np.asarray(weights["model.shared.weight"][ids].astype(float) * np.sqrt(D) + p)

    def tower(name: str, x: Array, encoded: Array | None) -> Array:
        for layer in range(LAYERS):
            at, heads = f"model.{name}.layers.{layer}", HEADS[name]
            change = attention(f"{at}.self_attn", x, x, heads, encoded is not None)
            x = norm(f"{at}.self_attn_layer_norm", x + change)
            if encoded is not None:
                change = attention(f"{at}.encoder_attn", x, encoded, heads, False)
                x = norm(f"{at}.encoder_attn_layer_norm", x + change)
            hidden = linear(f"{at}.fc1", x)
            change = linear(f"{at}.fc2", hidden / (1 + np.exp(-hidden)))
            x = norm(f"{at}.final_layer_norm", x + change)
        return x

    output = tower("decoder", inputs(target), tower("encoder", inputs(source), None))
    bias = weights.get("final_logits_bias", 0.0)
    return np.asarray(output @ weights["model.shared.weight"].T + bias)


@pytest.mark.parametrize("extra", [False, True])
def test_logits_are_those_of_the_equations(extra: bool, tmp_path: Path) -> None:
    weights = tiny_marian.tensors(extra=extra)
    scenario = load(written(write_folder(tmp_path / "x", OPUS, weights), token_ids=TARGET)).scenario
    expected = reference(weights, SOURCE, TARGET)
    assert_allclose(trace("tiny", scenario)["logits"].numbers, expected, atol=1e-10)


def test_a_decoder_begins_with_its_start_token(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x")
    scenario = load(written(folder)).scenario
    assert (scenario.tokens, scenario.token_ids) == (("<pad>",), (PAD,))
    text = load(written(folder, text="hello a")).scenario
    assert text.tokens == ("<pad>", " hello", " a")
    assert text.written(text.tokens) == "<pad> hello a"


def test_positions_of_the_file_count(tmp_path: Path) -> None:
    weights = tiny_marian.tensors()
    plain = trace("x", load(written(write_folder(tmp_path / "x"))).scenario)
    table = np.array(plain["encoder.position"].numbers)
    whole = np.zeros((tiny_marian.CONTEXT, D), np.float32)
    whole[: len(SOURCE)] = table[::-1]
    weights["model.encoder.embed_positions.weight"] = whole
    changed = trace("y", load(written(write_folder(tmp_path / "y", None, weights))).scenario)
    assert_allclose(changed["encoder.position"].numbers, table[::-1])
    assert_allclose(changed["position"].numbers, plain["position"].numbers)


def test_shared_numbers_are_counted_once(tmp_path: Path) -> None:
    weights = tiny_marian.tensors()
    counted = learned(load(written(write_folder(tmp_path / "x", None, weights))).scenario)
    numbers = sum(int(np.prod(shape)) for shape in counted.values())
    assert numbers == sum(each.size for each in weights.values())


# --- generation ------------------------------------------------------------------------------


def of_padding(folder: Path, values: dict[str, Any], beside: dict[str, Any] | None) -> str:
    """A model for which padding is always the most probable word."""
    weights = tiny_marian.tensors()
    weights["final_logits_bias"][0, PAD] = 99
    path = write_folder(folder / "x", values, weights)
    if beside is not None:
        (path / "generation_config.json").write_text(json.dumps(beside), encoding="utf-8")
    return written(path)


@pytest.mark.parametrize(("values", "beside", "is_excluded"), [
    ({}, None, False),
    ({"bad_words_ids": [[PAD]]}, None, True),
    ({}, {"bad_words_ids": [[PAD]]}, True),
    ({"bad_words_ids": [[PAD]]}, {}, False),
])  # fmt: skip
def test_an_excluded_word_is_never_generated(
    values: dict[str, Any], beside: dict[str, Any] | None, is_excluded: bool, tmp_path: Path
) -> None:
    path = of_padding(tmp_path, values, beside)
    scenario = load(path).scenario
    for chosen in (None, choice(1, None, None, None)):
        for cached in (False, True):
            options = GenerationOptions(scenario.beginning, 3, chosen, cached)
            text = generate("tiny", scenario, options).text
            assert ("<pad>" in text[1:]) != is_excluded
    ran = run("generate", path, "--max-tokens", "2")
    note = "“<pad>” is more probable, but the model never generates it."
    assert (note in ran.stdout) == is_excluded
    best = np.argsort(reference(tiny_marian.tensors(), SOURCE, [PAD])[-1])[::-1]
    expected = next(int(id) for id in best if id != PAD) if is_excluded else PAD
    found = generate("tiny", scenario, GenerationOptions(scenario.beginning, 1)).text[1]
    assert found == (scenario.vocabulary or ())[expected]


def test_a_translation_ends_with_the_end_token(tmp_path: Path) -> None:
    weights = tiny_marian.tensors()
    weights["final_logits_bias"][0, 0] = 99
    scenario = load(written(write_folder(tmp_path / "x", None, weights))).scenario
    found = generate("tiny", scenario, GenerationOptions(scenario.beginning, 5))
    assert (found.text, found.ended) == (("<pad>", "</s>"), True)


@pytest.mark.parametrize(("beside", "message"), [
    ({"bad_words_ids": [[1, 2]]}, "bad_words_ids: got [[1, 2]], expected lists of one id each"),
    ({"bad_words_ids": 7}, "bad_words_ids: got 7, expected a list of lists"),
    ({"decoder_start_token_id": 3},
     "decoder_start_token_id: got 39, generation_config.json has 3"),
])  # fmt: skip
def test_what_changes_generation_is_read_or_refused(
    beside: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(TracerError) as caught:
        load(of_padding(tmp_path, {}, beside))
    assert message in str(caught.value)


# --- commands --------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [
    ("run",), ("shapes",), ("generate", "--max-tokens", "1", "--kv-cache"), ("lens",),
    ("step", "cross_attention", "--layer", "2"), ("why", "logits[<pad>,é]", "--depth", "1"),
])  # fmt: skip
def test_commands_show_a_translation(command: tuple[str, ...], tmp_path: Path) -> None:
    path = naming(write_folder(tmp_path / "x"), encoder={"text": "hello world."})
    takes_option = command[0] in ("step", "why")
    name, *rest = command
    ran = run(name, *rest, *(("-s", path) if takes_option else (path,)))
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "<pad>" in ran.stdout or "pad" in ran.stdout


def test_positions_are_not_said_to_be_learned(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "x")
    ran = run("step", "position", "-s", written(folder, token_ids=TARGET))
    assert ran.exit_code == 0
    assert "order" in ran.stdout
    assert "can learn" not in ran.stdout


@pytest.mark.parametrize("wrong", [False, True])
def test_a_dump_is_compared(wrong: bool, tmp_path: Path) -> None:
    """One layer in each tower: the search for a cause tries all values before the wrong one."""
    first = {name: rows for name, rows in tiny_marian.tensors().items() if "layers.1" not in name}
    one = {"encoder_layers": 1, "decoder_layers": 1}
    path = written(write_folder(tmp_path / "x", one, first), token_ids=TARGET)
    taped = trace("tiny", load(path).scenario)
    addresses = ["encoder.output", "layer1.cross_attention.head2.weights", "logits"]
    dump: dict[str, Any] = {address: np.array(taped[address].numbers) for address in addresses}
    dump["layer1.cross_attention.head2.weights"] += wrong * 0.1
    np.savez(tmp_path / "theirs.npz", **dump)
    ran = run("check", path, "--against", str(tmp_path / "theirs.npz"))
    assert ran.exit_code == wrong
    assert (
        "3 values of “theirs.npz” compared with the scenario: all agree." in ran.stdout
    ) != wrong


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize("said", [
    {"share_encoder_decoder_embeddings": False},
    {"tie_word_embeddings": False},
    {"static_position_embeddings": False},
    {"normalize_before": True},
    {"normalize_embedding": True},
    {"add_final_layer_norm": True},
    {"add_bias_logits": True},
    {"is_encoder_decoder": False},
    {"decoder_vocab_size": 41},
    {"num_hidden_layers": 3},
    {"encoder_attention_heads": 3},
    {"activation_function": "tanh"},
    {"scale_embedding": None},
    {"d_model": 0},
    {"relative_attention_num_buckets": 32},
])  # fmt: skip
def test_a_key_that_changes_the_computation_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(TracerError) as caught:
        architecture_of({**CONFIG, **said}, "config.json")
    assert f"config.json: {next(iter(said))}: " in str(caught.value)


def test_keys_of_published_models_change_nothing() -> None:
    assert architecture_of({**CONFIG, **OPUS}, "x") == architecture_of(CONFIG, "x")


@pytest.mark.parametrize(("name", "shape", "message"), [
    ("model.encoder.layers.1.fc1.bias", None, "missing, expected 48: encoder.layer2.ffn.b_1"),
    ("model.decoder.layers.0.encoder_attn.k_proj.weight", None,
     "missing, expected 32 × 32: layer1.cross_attention.W_K"),
    ("model.encoder.layers.0.fc1.weight", (40, D), "40 × 32, expected 48 × 32: encoder.layer1"),
    ("model.encoder.embed_tokens.weight", (WORDS, D),
     "expected the same numbers as in model.shared.weight"),
    ("model.encoder.layer_norm.weight", (D,), "this architecture has no such tensor"),
    ("final_logits_bias", (2, WORDS), "2 × 40, expected 40: unembedding.b_U"),
])  # fmt: skip
def test_wrong_tensors_are_named(
    name: str, shape: tuple[int, ...] | None, message: str, tmp_path: Path
) -> None:
    weights = tiny_marian.tensors()
    weights.pop(name, None)
    if shape:
        weights[name] = np.ones(shape, np.float32)
    with pytest.raises(TracerError) as caught:
        open_checkpoint(write_folder(tmp_path / "x", None, weights))
    assert f"model.safetensors: {name}: " in str(caught.value) or f"x: {name}: " in str(
        caught.value
    )
    assert message in str(caught.value)


def test_copies_of_the_embeddings_may_be_there(tmp_path: Path) -> None:
    weights = tiny_marian.tensors()
    for tower in HEADS:
        weights[f"model.{tower}.embed_tokens.weight"] = weights["model.shared.weight"].copy()
    plain = open_checkpoint(write_folder(tmp_path / "x"))
    more = open_checkpoint(write_folder(tmp_path / "y", None, weights))
    assert more.parameters.keys() == plain.parameters.keys()


@pytest.mark.parametrize(("said", "message"), [
    ({"encoder": None}, "encoder: missing, expected {text: …}, since this model has an encoder"),
    ({"encoder": {}}, "encoder: expected either text or token_ids"),
    ({"encoder": {"token_ids": [3, 40, 41]}}, "encoder.token_ids: 41, expected 0 to 39"),
    ({"encoder": {"token_ids": [3] * 17}},
     "encoder.token_ids: 17 tokens, expected 1 to 16 (one for each position)"),
    ({"token_ids": [40]}, "token_ids: 40, expected 0 to 39"),
    ({"text": "a", "token_ids": [3]}, "expected either text or token_ids"),
])  # fmt: skip
def test_wrong_texts_are_told(said: dict[str, Any], message: str, tmp_path: Path) -> None:
    said = {"text": "a", **said} if said == {"encoder": None} else said
    with pytest.raises(TracerError) as caught:
        load(written(write_folder(tmp_path / "x"), **said))
    assert message in str(caught.value)


def test_a_text_for_an_encoder_needs_a_model_that_has_one(tmp_path: Path) -> None:
    with pytest.raises(TracerError, match="encoder: this model has no encoder"):
        load(naming(model(tmp_path, "folder gpt2"), text="the", encoder={"text": "the"}))


@pytest.mark.parametrize("family", ["bart", "mbart", "t5", "mt5", "whisper"])
def test_other_models_with_an_encoder_are_refused_by_name(family: str) -> None:
    with pytest.raises(TracerError, match=f"model_type: got '{family}', which needs "):
        architecture_of({**CONFIG, "model_type": family}, "x")
