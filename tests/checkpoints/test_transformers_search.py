"""Beam search and greedy speculative decoding write what transformers writes with its defaults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command import printed
from tests.helpers.tiny_models import END, SYMBOLS, naming, tokenizer_json

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

IDS = [3, 1, 4, 1, 5]
LLAMA: dict[str, Any] = {
    **{"vocab_size": len(SYMBOLS), "max_position_embeddings": 32, "hidden_size": 16},
    **{"num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2},
    **{"intermediate_size": 24, "bos_token_id": 0, "eos_token_id": END, "pad_token_id": 0},
}


def model(folder: Path, seed: int, layers: int = 1, likely_end: float = 0.0) -> tuple[Any, str]:
    """A random model that ends its texts more or less often, and a scenario that names it."""
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(**LLAMA | {"num_hidden_layers": layers})
    made = transformers.LlamaForCausalLM._from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for numbers in made.parameters():
            numbers += torch.randn_like(numbers) * 0.3
        made.lm_head.weight[END] *= 1 + likely_end
    folder.mkdir()
    made.save_pretrained(folder)
    (folder / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    path = folder.parent / f"{folder.name}.yaml"
    Path(naming(folder, token_ids=IDS)).rename(path)
    return made.double(), str(path)


def ours(path: str, *options: str) -> Any:
    limits = ("--max-tokens", "6", "--format", "json")
    return json.loads(printed("generate", path, *options, *limits))


def test_beam_search(tmp_path: Path) -> None:
    ended = set[bool]()
    for seed in range(6):
        found, path = model(tmp_path / f"model{seed}", seed, likely_end=seed % 4)
        for width in (1, 2, 3, 5):
            with torch.no_grad():
                theirs = found.generate(
                    torch.tensor([IDS]),
                    **{"num_beams": width, "do_sample": False, "max_new_tokens": 6},
                    **{"return_dict_in_generate": True, "output_scores": True},
                )
            best = ours(path, "--beams", str(width))["finished"][0]
            ids = theirs.sequences[0][len(IDS) :].tolist()
            assert best["words"] == [SYMBOLS[i].replace("Ġ", " ") for i in ids]
            if width > 1:  # with one beam, transformers does not compute it
                assert best["mean"] == pytest.approx(theirs.sequences_scores[0].item(), abs=1e-5)
                ended.add(END in ids)
    assert ended == {True, False}


@pytest.mark.parametrize("seed", range(2))
def test_a_greedy_draft(seed: int, tmp_path: Path) -> None:
    target, path = model(tmp_path / "target", seed, layers=2)
    draft, other = model(tmp_path / "draft", seed, layers=1)
    with torch.no_grad():
        theirs = target.generate(
            torch.tensor([IDS]), assistant_model=draft, do_sample=False, max_new_tokens=6
        )
    document = ours(path, "--draft", other)
    words = [SYMBOLS[i].replace("Ġ", " ") for i in theirs[0][len(IDS) :].tolist()]
    assert document["text"][len(IDS) :] == words
