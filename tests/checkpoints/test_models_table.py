"""`.github/docs/models.md`: a row is written only for a family whose logits equal transformers'.

UPDATE_MODELS=1 python -m pytest -n 0 tests/checkpoints/test_models_table.py
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer as Library, models, normalizers, pre_tokenizers

from tests.checkpoints.test_image_wrappers import CONFIGS
from tests.helpers import tiny_marian
from tracer.checkpoints import gguf_families
from tracer.checkpoints.hugging_face_families import FAMILIES
from tracer.checkpoints.hugging_face_tokenizer import tokenizer_of
from tracer.checkpoints.image_wrappers import WRAPPERS
from tracer.checkpoints.parameters import TRANSFORM

WRAPPED = ", ".join(sorted(WRAPPERS))
TABLE = Path(__file__).parents[2] / ".github" / "docs" / "models.md"
INTRODUCTION = f"""\
# Trained models

Each of these families is computed as transformers computes it: a tiny model of the family with
random weights has the same logits in float64. Every other family, and every setting that is not
supported, is refused with the name of the missing part. Tokenizers are read from `tokenizer.json`,
from the older files [below](#tokenizers), from Marian's `.spm` files, or from the GGUF file.

Of a model that also reads images, the text half is opened, and a note says so: {WRAPPED}.

| `model_type` | parts | GGUF | compared with |
|---|---|---|---|
"""
ALSO_CALLED = {
    **{"gemma3_text": "gemma3", "gpt_neox": "gptneox", "mistral": "llama"},
    **{"gpt_oss": "gpt-oss", "mixtral": "llama", "qwen3_moe": "qwen3moe"},
}
"""What GGUF files call a family."""


ROTATES_PART = (
    "codegen",
    "glm",
    "glm4",
    "gpt_neox",
    "gptj",
    "nemotron",
    "phi",
    "qwen3_next",
    "stablelm",
)
HAS_WINDOWS = (
    *(
        "cohere2",
        "exaone4",
        "gemma2",
        "gemma3_text",
        "gpt_neo",
        "gpt_oss",
        "ministral",
        "mistral",
        "olmo3",
    ),
    *("qwen2", "qwen2_5_vl_text", "qwen2_moe", "qwen2_vl_text", "qwen3", "vaultgemma"),
)


def split_at_tokenizers() -> tuple[str, str]:
    """The table, and what is written by hand below it."""
    table, heading, below = TABLE.read_text(encoding="utf-8").partition("\n## Tokenizers\n")
    return table, heading + below


def parts(family: str) -> Iterator[str]:
    """The parts of a family, beside attention and FFN."""
    declared = FAMILIES[family]
    yield "RMSNorm" if declared.norm == "rms_norm" else "LayerNorm"
    if declared.alibi:
        yield "ALiBi"
    elif declared.sinusoidal:
        yield "sinusoidal positions"
    else:
        yield "rotary positions" if declared.rotary else "a table of positions"
    if declared.causal is not None:
        yield "attention to later tokens"
    if declared.encoder:
        yield "an encoder with cross-attention"
    if declared.gated:
        yield "a gated FFN"
    if declared.shares_keys or declared.multi_query:
        yield "shared keys"
    found = {
        "a norm of queries and keys": declared.query_key_norm and not declared.normalizes_rotated,
        "a norm of queries and keys after rotary positions": declared.normalizes_rotated,
        "norms with 1 + γ": declared.unit_offset,
        "embeddings times √d": declared.scales_embeddings or declared.embedding_scale,
        "norms after the residual connections": declared.placement == "post",
        "rotary positions in part of each head": family in ROTATES_PART,
        "rotary pairs of adjacent columns": declared.rotary_layout == "pairs",
        "norms without γ": not any(".gain" in key for key in declared.layout.names),
        "one norm for attention and FFN": declared.shares_norm,
        "a norm of the embeddings": "embedding_norm.gain" in declared.layout.names,
        "norms of outputs": declared.norm_after,
        "no norms of inputs": declared.placement is None,
        "its own score scale": declared.squared_divisor or declared.factors,
        "a factor of the embeddings": declared.factors,
        "a factor of what each sub-layer adds": declared.factors,
        "a scale of the logits": declared.factors or declared.logit_factor,
        "soft caps": declared.score_cap,
        "windows in some layers": family in HAS_WINDOWS,
        "two rotary bases": family == "gemma3_text",
        "layers without rotary positions": family in ("cohere2", "exaone4", "smollm3"),
        "attention and FFN in parallel": declared.parallel,
        "a mixture of experts": declared.experts,
        "the gated delta rule with short convolutions in most layers": any(
            ".delta." in key for key in declared.layout.names
        ),
        "gates of the heads' outputs": declared.output_gate,
        "a clamped gate": declared.gate,
        "attention sinks": "layer.attention.sink" in declared.layout.names,
        "a shared expert with a gate": declared.shared,
        "a position table that starts at row 2": declared.first_position,
        "a position table that starts behind the padding token": declared.padding,
        "token types": declared.types,
        "a hidden layer before the logits": TRANSFORM in declared.layout.names,
        "a fused FFN matrix": "layer.ffn.W_13" in declared.layout.names,
    }
    yield from (part for part, has in found.items() if has)


def begins(family: str) -> str:
    """The row of a family without the version that it was compared with."""
    in_gguf = "yes" if ALSO_CALLED.get(family, family) in gguf_families.FAMILIES else "–"
    return f"| {family} | {', '.join(parts(family))} | {in_gguf} | "


@pytest.mark.parametrize("family", FAMILIES)
def test_a_row_is_true(family: str, tmp_path: Path) -> None:
    table, below = split_at_tokenizers()
    rows = table.splitlines()
    if not find_spec("torch") or not find_spec("transformers"):
        assert any(row.startswith(begins(family)) for row in rows)
        pytest.skip("transformers is not installed: the logits were compared when it was written")
    transformers = pytest.importorskip("transformers")
    if family == "marian":
        from tests.checkpoints import test_transformers_marian as of_marian

        assert of_marian.check(tiny_marian.write_folder(tmp_path))
    else:
        from tests.checkpoints.test_transformers_configs import BASE, check, drawn, save

        config = BASE.get(family) or next(
            {**CONFIGS[name], "model_type": name}
            for name, wrapper in WRAPPERS.items()
            if wrapper.text == family
        )
        folder = tmp_path / "model"
        folder.mkdir()
        save(drawn(folder, config), folder / "model.safetensors")
        assert check(folder, config) == (True, set())
    row = f"{begins(family)}transformers {transformers.__version__} |"
    if os.environ.get("UPDATE_MODELS"):
        others = {line for line in rows if line.startswith("| ") and "`model_type`" not in line}
        written = {line.split(" ")[1]: line for line in others} | {family: row}
        lines = [written[name] for name in sorted(written) if name in FAMILIES]
        TABLE.write_text(INTRODUCTION + "\n".join([*lines, ""]) + below, encoding="utf-8")
    else:
        assert row in rows


def test_there_are_no_other_rows() -> None:
    rows = split_at_tokenizers()[0].removeprefix(INTRODUCTION).splitlines()
    assert [row.split(" ")[1] for row in rows] == sorted(FAMILIES)


def of_bytes(pattern: str) -> Library:
    """Numbers are merged, if the pattern keeps them together."""
    library = Library(models.BPE({"1": 0, "2": 1, "12": 2}, [("1", "2")]))
    steps = [
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ]
    library.pre_tokenizer = pre_tokenizers.Sequence(steps)
    return library


def of_characters() -> Library:
    """A space is added before each part of a text."""
    library = Library(models.BPE({"▁": 0, "a": 1, "▁a": 2, "<unk>": 3}, [("▁", "a")]))
    steps: list[Any] = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    library.normalizer = normalizers.Sequence(steps)
    library.add_special_tokens(["</s>"])
    return library


SPLITTING: dict[str, tuple[str, Callable[[], Library]]] = {
    "GPT2Tokenizer": ("gpt2", lambda: of_bytes(r"\p{N}")),
    "Qwen2Tokenizer": ("qwen2", lambda: of_bytes(r"\p{N}{1,3}")),
    "LlamaTokenizer": ("llama", of_characters),
    "GemmaTokenizer": ("gemma", of_characters),
}


def rows_of_classes() -> list[tuple[str, str]]:
    """The classes of tokenizers with the rows about them."""
    _, below = split_at_tokenizers()
    return re.findall(r"^(\| (\w+Tokenizer) \|.*)$", below, re.MULTILINE)


def test_each_class_has_a_row() -> None:
    assert {kind for _, kind in rows_of_classes()} == set(SPLITTING)


@pytest.mark.parametrize(("row", "kind"), rows_of_classes())
def test_a_class_splits_a_text_as_its_row_says(row: str, kind: str, tmp_path: Path) -> None:
    (text,), ours, theirs = (re.findall("`(.*?)`", cell) for cell in row.split(" | ")[2:])
    family, described = SPLITTING[kind]
    for name, values in {
        "config.json": json.dumps({"model_type": family}),
        "tokenizer_config.json": json.dumps({"tokenizer_class": kind, "add_bos_token": True}),
        "tokenizer.json": described().to_str(),
    }.items():
        (tmp_path / name).write_text(values, encoding="utf-8")
    assert [token.symbol for token in tokenizer_of(tmp_path).encode(text).tokens] == ours
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    read = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert read.convert_ids_to_tokens(read(text)["input_ids"]) == theirs
