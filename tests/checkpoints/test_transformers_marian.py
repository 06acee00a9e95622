"""Marian models in transformers: equal numbers, equal words, or refused."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers import ten_scripts, tiny_marian
from tests.helpers.tiny_marian import CONFIG, HEADS, OPUS, PAD, WORDS, Tensors, write_folder
from tests.helpers.tiny_models import naming
from tracer.checkpoints.marian_tokenizer import tokenizer_of
from tracer.decoder.forward import trace
from tracer.decoder.generation import GenerationOptions, generate
from tracer.errors import TracerError
from tracer.scenario.loading import load

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
torch.set_num_threads(1)

SOURCE, TARGET, MOST = [3, 1, 4, 1, 5, 0], [PAD, 7, 2], 5
TOLERANCE = 1e-9
Edit = Callable[[Tensors], Any]


def opened(folder: Path) -> Any:
    """The model; None if transformers does not load it."""
    try:
        return transformers.MarianMTModel.from_pretrained(
            folder, dtype=torch.float64, attn_implementation="eager"
        ).eval()
    except Exception:
        return None


def check(folder: Path) -> bool:
    """Compare what both compute; return whether it is computed here."""
    model = opened(folder)
    said = {"encoder": {"token_ids": SOURCE}}
    try:
        taped = trace("tiny", load(naming(folder, **said, token_ids=TARGET)).scenario)
        scenario = load(naming(folder, **said)).scenario
    except TracerError:
        return False
    assert model is not None
    model.generation_config.forced_eos_token_id = None  # which replaces the word at the limit
    ids = torch.tensor([SOURCE])
    with torch.no_grad():
        theirs = model(
            input_ids=ids, decoder_input_ids=torch.tensor([TARGET]), output_attentions=True
        )
        words = model.generate(ids, max_new_tokens=MOST, num_beams=1, do_sample=False)[0].tolist()
    assert np.abs(taped["logits"].numbers - theirs.logits[0].numpy()).max() < TOLERANCE
    for address, layers in (
        ("encoder.layer{}.attention", theirs.encoder_attentions),
        ("layer{}.attention", theirs.decoder_attentions),
        ("layer{}.cross_attention", theirs.cross_attentions),
    ):
        for layer, heads in enumerate(layers, 1):
            for head, weights in enumerate(heads[0].numpy(), 1):
                ours = taped[f"{address.format(layer)}.head{head}.weights"].numbers
                assert np.abs(ours - weights).max() < TOLERANCE
    vocabulary = scenario.vocabulary or ()
    for cached in (False, True):
        options = GenerationOptions(scenario.beginning, MOST, cached=cached)
        text = generate("tiny", scenario, options).text
        assert text == tuple(vocabulary[id] for id in words)
    return True


@pytest.mark.parametrize(("said", "is_computed"), [
    ({}, True),
    (OPUS, True),
    ({"scale_embedding": False}, True),
    *(({"activation_function": name}, True) for name in ("gelu", "relu", "silu", "gelu_new")),
    ({"activation_function": "tanh"}, False),
    ({"encoder_attention_heads": 1, "decoder_attention_heads": 8}, True),
    ({"encoder_attention_heads": 5}, False),
    ({"num_hidden_layers": 1}, False),
    ({"share_encoder_decoder_embeddings": False}, False),
    ({"tie_word_embeddings": False}, False),
    ({"is_encoder_decoder": False}, False),
    ({"return_dict": False}, False),
])  # fmt: skip
def test_a_configuration_is_computed_or_refused(
    said: dict[str, Any], is_computed: bool, tmp_path: Path
) -> None:
    assert check(write_folder(tmp_path / "x", said)) == is_computed


def copies(weights: Tensors) -> None:
    for tower in HEADS:
        weights[f"model.{tower}.embed_tokens.weight"] = weights["model.shared.weight"].copy()


def positions(weights: Tensors) -> None:
    for i, tower in enumerate(HEADS):
        shape = tiny_marian.CONTEXT, tiny_marian.D
        table = np.random.default_rng(i).normal(0, 1, shape).astype(np.float32)
        weights[f"model.{tower}.embed_positions.weight"] = table


def added(name: str, *shape: int) -> Edit:
    return lambda weights: weights.update({name: np.ones(shape, np.float32)})


def half(weights: Tensors) -> None:
    weights.update({name: numbers.astype(np.float16) for name, numbers in weights.items()})


@pytest.mark.parametrize(("edit", "is_computed"), [
    (copies, True),
    (positions, True),
    (half, True),
    (lambda weights: weights.pop("final_logits_bias"), True),
    (added("lm_head.weight", WORDS, tiny_marian.D), True),
    (added("model.encoder.embed_tokens.weight", WORDS, tiny_marian.D), False),
    (lambda weights: weights.pop("model.encoder.layers.0.fc1.bias"), False),
])  # fmt: skip
def test_weights_are_read_or_refused(edit: Edit, is_computed: bool, tmp_path: Path) -> None:
    weights = tiny_marian.tensors()
    edit(weights)
    assert check(write_folder(tmp_path / "x", None, weights)) == is_computed


@pytest.mark.parametrize("beside", [False, True])
def test_excluded_words_are_those_of_transformers(beside: bool, tmp_path: Path) -> None:
    weights = tiny_marian.tensors()
    weights["final_logits_bias"][0, [PAD, 5]] = 99
    never = {"bad_words_ids": [[PAD], [5]], "decoder_start_token_id": PAD, "eos_token_id": 0}
    folder = write_folder(tmp_path / "x", {} if beside else never, weights)
    if beside:
        (folder / "generation_config.json").write_text(json.dumps(never), encoding="utf-8")
    assert check(folder)


def test_every_key_of_transformers_is_understood_or_changes_nothing(tmp_path: Path) -> None:
    whole = transformers.AutoConfig.for_model(**CONFIG).to_dict()
    assert check(write_folder(tmp_path / "x", whole))


@pytest.mark.filterwarnings("ignore:Recommended")
def test_tokens_are_those_of_transformers(tmp_path: Path) -> None:
    library = pytest.importorskip("sentencepiece")
    text = [*Path(__file__).read_text(encoding="utf-8").splitlines(), *ten_scripts.WORDS]
    (tmp_path / "text").write_text("\n".join([*text, "Grüße ﬁ ½ où これは です как дела?"]))
    folder = write_folder(tmp_path / "x")
    vocabulary, draws = {"</s>": 0, "<unk>": 1}, random.Random(1)
    for name, size in (("source", 320), ("target", 300)):
        library.SentencePieceTrainer.train(
            input=str(tmp_path / "text"), model_prefix=str(tmp_path / name), vocab_size=size,
            model_type="unigram", character_coverage=0.98, minloglevel=2,
        )  # fmt: skip
        model = (tmp_path / f"{name}.model").rename(folder / f"{name}.spm")
        pieces = library.SentencePieceProcessor(model_file=str(model))
        for piece in map(pieces.id_to_piece, range(size)):
            if draws.random() < 0.9:
                vocabulary.setdefault(piece, len(vocabulary))
    for word in (">>fra<<", "ß", "<pad>"):
        vocabulary.setdefault(word, len(vocabulary))
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    theirs = transformers.MarianTokenizer.from_pretrained(str(folder))
    encoder, decoder = tokenizer_of(folder), tokenizer_of(folder, vocabulary["<pad>"])
    letters = " ▁ aeinrst.,ﬁ½Ⅷｱが́ñéß中🙂\u200b\u00a0\u3000\tÀ̀한>f<" + "".join(text)[::7]
    texts = ["", ">>fra<< a", ">>xyz<<a", "a >>fra<<", "a</s> b", "  a  b ", "<pad>a<unk>"]
    texts += ten_scripts.texts((">>fra<<", "</s>", "<unk>"))
    texts += ["".join(draws.choices(letters, k=draws.randint(1, 40))) for _ in range(500)]
    for each in texts:
        assert [*encoder.encode(each).ids] == theirs(each).input_ids
        ids = theirs(text_target=each).input_ids[:-1]
        assert [*decoder.encode(each).ids] == [vocabulary["<pad>"], *ids]
        assert decoder.decode(ids).strip() == theirs.decode(ids).strip()
