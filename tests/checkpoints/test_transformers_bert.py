"""Models that predict masked words: all hidden states and logits are those of transformers.

What the tensors are called, what is left out or added, and the tokens of a text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numpy.testing import assert_allclose
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from tests.checkpoints.test_transformers_configs import BASE, drawn, save
from tests.helpers.command import printed
from tests.helpers.of_transformers import OF_MASKED_WORDS, logits
from tests.helpers.tiny_models import naming
from tracer.decoder.forward import Trace, trace
from tracer.errors import TracerError
from tracer.scenario.loading import load

torch: Any = pytest.importorskip("torch")
transformers: Any = pytest.importorskip("transformers")

IDS = [3, 1, 4, 1, 5, 9, 2, 6]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "capital", "of", "fr", "##ance", "is"]
Weights = dict[str, Any]
BERT = BASE["bert"] | {"layer_norm_eps": 1e-12}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    path.mkdir()
    return path


def passed(folder: Path, **said: Any) -> Trace:
    return trace("tiny", load(naming(folder, **(said or {"token_ids": IDS}))).scenario)


@pytest.mark.parametrize("family", OF_MASKED_WORDS)
def test_every_hidden_state_and_the_logits(family: str, folder: Path) -> None:
    weights = drawn(folder, BASE[family])
    save(weights, folder / "model.safetensors")
    model = transformers.AutoModelForMaskedLM.from_pretrained(
        folder, dtype=torch.float64, attn_implementation="eager"
    )
    with torch.no_grad():
        theirs = model.eval()(torch.tensor([IDS]), output_hidden_states=True)
    found = passed(folder)
    addresses = ["input", "layer1.ffn.norm", "layer2.ffn.norm"]
    for address, state in zip(addresses, theirs.hidden_states, strict=True):
        assert_allclose(found[address].array, state[0].numpy(), atol=1e-12, err_msg=address)
    assert_allclose(found["logits"].array, theirs.logits[0].numpy(), atol=1e-12)


def older_names(weights: Weights) -> Weights:
    """As in the files of 2018, also with what only the training of BERT needs."""
    renamed = {
        name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): each
        for name, each in weights.items()
        if ".decoder." not in name
    }
    further = {
        "bert.pooler.dense.weight": torch.ones(32, 32),
        "bert.pooler.dense.bias": torch.ones(32),
        "cls.seq_relationship.weight": torch.ones(2, 32),
        "cls.seq_relationship.bias": torch.ones(2),
        "bert.embeddings.position_ids": torch.arange(16)[None],
    }
    return renamed | further


@pytest.mark.parametrize("edit", [older_names, dict])
def test_files_with_older_names_and_with_copies_are_read(
    edit: Callable[[Weights], Weights], folder: Path
) -> None:
    save(edit(drawn(folder, BERT)), folder / "model.safetensors")
    assert_allclose(passed(folder)["logits"].array, logits(folder, IDS), atol=1e-12)


def test_an_own_unembedding_is_read(folder: Path) -> None:
    weights = drawn(folder, BERT)
    weights["cls.predictions.decoder.weight"] = torch.ones(40, 32) * 0.1
    save(weights, folder / "model.safetensors")
    assert_allclose(passed(folder)["logits"].array, logits(folder, IDS), atol=1e-12)


def without_head(weights: Weights) -> Weights:
    return {name: each for name, each in weights.items() if "cls." not in name}


@pytest.mark.parametrize(("edit", "message"), [
    (without_head, "cls.predictions.transform.dense.weight: missing"),
    (lambda weights: without_head(weights) | {"classifier.weight": torch.ones(2, 32)},
     "classifier.weight: 2 × 32, but this architecture has no such tensor: it belongs to a head"),
    (lambda weights: weights | {"cls.predictions.decoder.bias": torch.ones(40)},
     "cls.predictions.decoder.bias: expected the same numbers as in cls.predictions.bias"),
    (lambda weights: weights | {
        "bert.encoder.layer.0.attention.self.distance_embedding.weight": torch.ones(31, 8)},
     "distance_embedding.weight: 31 × 8, but this architecture has no such tensor"),
])  # fmt: skip
def test_what_is_missing_or_unknown_is_named(
    edit: Callable[[Weights], Weights], message: str, folder: Path
) -> None:
    save(edit(drawn(folder, BERT)), folder / "model.safetensors")
    with pytest.raises(TracerError) as caught:
        passed(folder)
    assert message in str(caught.value)


def test_the_padding_token_of_roberta_has_no_position(folder: Path) -> None:
    config = BASE["roberta"] | {"pad_token_id": 1}
    save(drawn(folder, config), folder / "model.safetensors")
    with pytest.raises(TracerError, match="1, the padding token, which has no position"):
        passed(folder)
    ids = [each for each in IDS if each != 1]
    assert_allclose(passed(folder, token_ids=ids)["logits"].array, logits(folder, ids), atol=1e-12)


def test_a_decoder_with_the_tensors_of_bert_is_causal(folder: Path) -> None:
    save(drawn(folder, BERT | {"is_decoder": True}), folder / "model.safetensors")
    found = passed(folder)
    assert found.masks
    assert_allclose(found["logits"].array, logits(folder, IDS), atol=1e-12)


def test_a_text_is_split_and_its_masked_word_predicted(folder: Path) -> None:
    """[CLS] and [SEP] are put around it, and France is two tokens."""
    library = Tokenizer(models.WordPiece({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer()
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.decoder = decoders.WordPiece()
    library.add_special_tokens(WORDS[:5])
    library.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    weights = drawn(folder, BERT | {"vocab_size": len(WORDS)})
    for name in ("bert.embeddings.word_embeddings", "cls.predictions.decoder"):
        weights[f"{name}.weight"][0] = 0  # as of a padding token
    for name in ("cls.predictions", "cls.predictions.decoder"):
        weights[f"{name}.bias"][0] = 0
    save(weights, folder / "model.safetensors")
    (folder / "tokenizer.json").write_text(str(library.to_str()), encoding="utf-8")
    beside = json.dumps({"tokenizer_class": "BertTokenizer"})
    (folder / "tokenizer_config.json").write_text(beside, encoding="utf-8")
    text = "The capital of France is [MASK]"
    found = passed(folder, text=text)
    ids = transformers.AutoTokenizer.from_pretrained(folder)(text)["input_ids"]
    assert [WORDS.index(token) for token in found.tokens] == ids
    best = logits(folder, ids)[7].argmax()
    assert found["prediction"].numbers[7] == WORDS[best]
    # A column of zeros has no direction, so that no word is similar to it.
    title = printed("tutorial", str(naming(folder, text=text))).split("## ")[1].splitlines()[0]
    assert title.startswith(f"Why “{WORDS[best]}”") and "PAD" not in title


def test_each_token_has_its_type(folder: Path) -> None:
    save(drawn(folder, BERT), folder / "model.safetensors")
    types = [0, 0, 0, 0, 1, 1, 1, 1]
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float64)
    with torch.no_grad():
        theirs = model.eval()(torch.tensor([IDS]), token_type_ids=torch.tensor([types]))
    found = passed(folder, token_ids=IDS, token_types=types)
    assert_allclose(found["logits"].array, theirs.logits[0].numpy(), atol=1e-12)
    assert abs(found["logits"].array - passed(folder)["logits"].array).max() > 0.01


@pytest.mark.parametrize(("family", "types", "message"), [
    ("bert", [0], "token_types: 1 entry, expected 8 (one per token)"),
    ("bert", [0, 0, 2, 0, 0, 0, 0, 3], "token_types: 2, expected 0 to 1"),
    ("distilbert", [0] * 8, "token_types: this model has no token types"),
])  # fmt: skip
def test_types_that_the_model_does_not_have(
    family: str, types: list[int], message: str, folder: Path
) -> None:
    save(drawn(folder, BASE[family]), folder / "model.safetensors")
    with pytest.raises(TracerError) as caught:
        passed(folder, token_ids=IDS, token_types=types)
    assert message in str(caught.value)
