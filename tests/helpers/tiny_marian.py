"""Tiny Marian models, and SentencePiece's files with a handful of pieces.

Sizes: 2 layers in each tower, d = 32, an encoder with 4 heads and 48 hidden units, a decoder with
2 heads and 40 hidden units, 16 positions, 40 words.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

Tensors = dict[str, NDArray[Any]]

D, LAYERS, WORDS, CONTEXT, HEADS = 32, 2, 40, 16, {"encoder": 4, "decoder": 2}
HIDDEN = {"encoder": 48, "decoder": 40}
PAD = WORDS - 1
CONFIG: Mapping[str, Any] = {
    **{"model_type": "marian", "vocab_size": WORDS, "decoder_vocab_size": WORDS, "d_model": D},
    **{"max_position_embeddings": CONTEXT, "activation_function": "swish"},
    **{f"{tower}_layers": LAYERS for tower in HEADS},
    **{f"{tower}_attention_heads": heads for tower, heads in HEADS.items()},
    **{f"{tower}_ffn_dim": hidden for tower, hidden in HIDDEN.items()},
    **{"scale_embedding": True, "share_encoder_decoder_embeddings": True},
    **{"decoder_start_token_id": PAD, "pad_token_id": PAD, "eos_token_id": 0},
    **{"is_encoder_decoder": True, "tie_word_embeddings": True},
}
OPUS: Mapping[str, Any] = {
    **{"add_bias_logits": False, "add_final_layer_norm": False, "normalize_before": False},
    **{"normalize_embedding": False, "static_position_embeddings": True, "num_beams": 4},
    **{"num_hidden_layers": LAYERS, "force_bos_token_to_be_generated": False, "init_std": 0.02},
    **{"classif_dropout": 0.0, "max_length": 512, "bad_words_ids": [[PAD]], "bos_token_id": 0},
}
"""Other keys of the models that Helsinki-NLP published."""

PIECES: Mapping[str, float] = {
    **{letter: -4.0 - i / 8 for i, letter in enumerate("▁abcdehlorw.")},
    **{"▁a": -3.0, "▁hello": -5.5, "lo": -3.25, "▁world": -6.0, "he": -4.5, "ll": -4.75},
}
VOCABULARY = {
    **{"</s>": 0, "<unk>": 1},
    **{piece: id for id, piece in enumerate(PIECES, 2) if piece not in ("w", "ll")},
    **{">>fra<<": 30, "é": 31, "<pad>": PAD},
}


def tensors(seed: int = 1, *, extra: bool = True) -> Tensors:
    """The weights; with `extra`, also a bias of the logits."""
    random = np.random.default_rng(seed)

    def named(name: str, *shape: int) -> Iterator[tuple[str, NDArray[Any]]]:
        yield f"{name}.weight", random.normal(0, 0.3, shape)
        yield f"{name}.bias", random.normal(0, 0.3, shape[:1])

    found = {"model.shared.weight": random.normal(0, 0.3, (WORDS, D))}
    for tower, hidden in HIDDEN.items():
        parts = ["self_attn", *(["encoder_attn"] if tower == "decoder" else [])]
        for layer in range(LAYERS):
            place = f"model.{tower}.layers.{layer}"
            for part in parts:
                for each in "qkv":
                    found |= named(f"{place}.{part}.{each}_proj", D, D)
                found |= named(f"{place}.{part}.out_proj", D, D)
                found |= named(f"{place}.{part}_layer_norm", D)
            found |= named(f"{place}.fc1", hidden, D)
            found |= named(f"{place}.fc2", D, hidden)
            found |= named(f"{place}.final_layer_norm", D)
    if extra:
        found["final_logits_bias"] = random.normal(0, 0.3, (1, WORDS))
    return {name: numbers.astype(np.float32) for name, numbers in found.items()}


def write_folder(
    folder: Path,
    values: Mapping[str, Any] | None = None,
    weights: Tensors | None = None,
    *,
    words: bool = True,
) -> Path:
    """A folder as transformers saves it; with `words`, it has a tokenizer."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**CONFIG, **(values or {})}), encoding="utf-8")
    save_file(tensors() if weights is None else weights, folder / "model.safetensors")
    if words:
        (folder / "vocab.json").write_text(json.dumps(VOCABULARY), encoding="utf-8")
        for name in ("source.spm", "target.spm"):
            (folder / name).write_bytes(spm())
    return folder


def spm(
    pieces: Mapping[str, float] = PIECES,
    replacements: Mapping[str, str] | None = None,
    *,
    kind: int = 1,
    others: Iterable[tuple[str, int]] = (("<unk>", 2), ("<s>", 3), ("</s>", 3)),
    normalizer: Mapping[int, int] | None = None,
) -> bytes:
    """A .spm file: scores of pieces, the kinds of other pieces, what is replaced in a text."""
    typed = [*((text, 0.0, kind) for text, kind in others), *((t, s, 1) for t, s in pieces.items())]
    written = b"".join(
        _field(1, _field(1, text.encode()) + _float(2, score) + _number(3, type))
        for text, score, type in typed
    )
    rules = _field(2, charsmap(replacements)) if replacements else b""
    flags = b"".join(_number(key, value) for key, value in (normalizer or {}).items())
    return written + _field(2, _number(3, kind)) + _field(3, rules + flags)


def _varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def _field(key: int, content: bytes) -> bytes:
    return _varint(key << 3 | 2) + _varint(len(content)) + content


def _number(key: int, number: int) -> bytes:
    return _varint(key << 3) + _varint(number)


def _float(key: int, number: float) -> bytes:
    return _varint(key << 3 | 5) + struct.pack("<f", number)


def charsmap(replacements: Mapping[str, str]) -> bytes:
    """The trie of a double array, each node's children in 256 units of their own, and the texts."""
    texts, at = b"", dict[str, int]()
    for text, new in replacements.items():
        at[text] = len(texts)
        texts += new.encode() + b"\0"
    units, blocks = {0: 0}, count(1)

    def place(node: int, label: int, suffixes: Mapping[bytes, int]) -> None:
        base = 256 * next(blocks)
        units[node] = (node ^ base) << 10 | (b"" in suffixes) << 8 | label
        if b"" in suffixes:
            units[base] = 1 << 31 | suffixes[b""]
        for byte in {suffix[0] for suffix in suffixes if suffix}:
            rest = {s[1:]: value for s, value in suffixes.items() if s[:1] == bytes([byte])}
            place(base ^ byte, byte, rest)

    place(0, 0, {text.encode(): value for text, value in at.items()})
    trie = np.zeros(256 * next(blocks), "<u4")
    trie[[*units]] = [*units.values()]
    return struct.pack("<I", trie.nbytes) + trie.tobytes() + texts
