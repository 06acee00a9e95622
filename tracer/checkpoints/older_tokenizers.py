"""The tokenizer of a folder without tokenizer.json, as transformers 5 builds it.

Such folders are of 2019 to 2023, or were saved with a tokenizer in Python. They have vocab.json and
merges.txt, SentencePiece's tokenizer.model, or BERT's vocab.txt; the class of the tokenizer decides
which, and how a text is split.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from tracer.checkpoints.json_file import read_json
from tracer.checkpoints.settings import CheckpointSettings
from tracer.checkpoints.splitting import SPLITTINGS
from tracer.checkpoints.spm_file import CONTROL, NORMAL, USER_DEFINED, SentencePieceModel, read_spm
from tracer.checkpoints.tensor import mapped
from tracer.checkpoints.tokenizer_folder import (
    ANY,
    DECODER,
    GEMMA,
    GPT_2,
    QWEN_2,
    class_of,
    settings_of,
    whole_tokens,
)
from tracer.checkpoints.tokenizer_json import (
    Description,
    byte_letters,
    described_tokenizer,
    in_order,
    split,
)
from tracer.files.reading import read_file
from tracer.tokenization.alphabets import SPACE
from tracer.tokenization.tokenizer import Tokenizer, tokenizer_of_ids

VOCABULARY, MERGES, MODEL = "vocab.json", "merges.txt", "tokenizer.model"
TEXT_ENDS = "<|endoftext|>"
LLAMA = "LlamaTokenizer"
BERT, WORDS, CONTINUES = "BertTokenizer", "vocab.txt", "##"
OF_BERT = ("unk", "sep", "pad", "cls", "mask")
"""The uses of BERT's special tokens: [UNK], [SEP], …"""


def _gpt_2(folder: Path) -> Description:
    """Return the description of bytes, split as GPT-2 does."""
    settings = settings_of(folder)
    letters = byte_letters(use_regex=True, prefix_space=bool(settings.get("add_prefix_space")))
    usual = dict.fromkeys(("unk_token", "bos_token", "eos_token"), TEXT_ENDS)
    return {**_of_bytes(folder, usual), "pre_tokenizer": letters}


def _qwen_2(folder: Path) -> Description:
    """Return the description of bytes of composed characters, split as Qwen2 does."""
    settings = settings_of(folder)
    letters = byte_letters(use_regex=False, prefix_space=bool(settings.get("add_prefix_space")))
    usual = dict.fromkeys(("unk_token", "eos_token", "pad_token"), TEXT_ENDS)
    return {
        **_of_bytes(folder, usual),
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": in_order(
            "pretokenizers", [*map(split, SPLITTINGS["qwen2"].patterns), letters]
        ),
    }


def _of_bytes(folder: Path, usual: Mapping[str, str]) -> dict[str, Any]:
    vocabulary = read_json(folder / VOCABULARY)
    lines = read_file(folder / MERGES).split("\n")
    merges = [line.rstrip("\r") for line in lines if line and not line.startswith("#version")]
    return {
        **whole_tokens(folder, vocabulary, usual),
        "decoder": byte_letters(use_regex=True),
        "model": {"type": "BPE", "vocab": vocabulary, "merges": merges},
    }


def _llama(folder: Path) -> Description:
    """Return the description of characters, with a space before the text and no other splitting."""
    model, settings = _sentence_piece(folder), settings_of(folder)
    adds_space = settings.get("add_prefix_space") in (None, True)
    scheme = "always" if settings.get("legacy") else "first"
    usual = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    return {
        **_by_id(folder, model, usual),
        "pre_tokenizer": _space_before(scheme if adds_space else "never"),
        "decoder": _decoders(strips=adds_space),
    }


def _gemma(folder: Path) -> Description:
    """Return the description of characters without any splitting."""
    model, settings = _sentence_piece(folder), settings_of(folder)
    usual = {f"{use}_token": f"<{use}>" for use in ("unk", "bos", "eos", "pad", "mask")}
    described = _by_id(folder, model, usual)
    described["model"]["unk_token"] = str(settings.get("unk_token", "<unk>"))
    return {
        **described,
        "normalizer": _replaced({"String": " "}, SPACE),
        "decoder": _decoders(strips=False),
    }


def _bert(folder: Path) -> Description:
    """Return the description of words, of each of which the longest token is taken first."""
    lines = read_file(folder / WORDS).replace("\r\n", "\n").removesuffix("\n").split("\n")
    vocabulary = {word: id for id, word in enumerate(lines)}
    settings, usual = settings_of(folder), {f"{use}_token": f"[{use.upper()}]" for use in OF_BERT}
    around = whole_tokens(folder, vocabulary, usual, always=("cls_token", "sep_token"))
    unknown = settings.get("unk_token", usual["unk_token"])
    strips = settings.get("strip_accents")
    if strips is not None:
        settings.flag("strip_accents", False)
    normalizer = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": settings.flag("tokenize_chinese_chars", True),
        "strip_accents": strips,
        "lowercase": settings.flag("do_lower_case", True),
    }
    settings.check()
    return {
        **around,
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": CONTINUES, "cleanup": True},
        "model": {
            **{"type": "WordPiece", "vocab": vocabulary, "continuing_subword_prefix": CONTINUES},
            "unk_token": unknown["content"] if isinstance(unknown, dict) else unknown,
            "max_input_chars_per_word": 100,
        },
    }


def _by_id(folder: Path, model: SentencePieceModel, usual: Mapping[str, str]) -> dict[str, Any]:
    """Return the description of pieces of which the one with the lowest id is merged first."""
    vocabulary = {text: id for id, (text, _, _) in enumerate(model.pieces)}
    merges = sorted(
        (id, len(left), left, right)
        for text, id in vocabulary.items()
        for left, right in _halves(text, vocabulary)
    )
    own = [text for text, _, kind in model.pieces if kind in (CONTROL, USER_DEFINED)]
    return {
        **whole_tokens(folder, vocabulary, usual, own),
        "model": {
            **{"type": "BPE", "vocab": vocabulary, "fuse_unk": True, "byte_fallback": True},
            "merges": [(left, right) for *_, left, right in merges],
        },
    }


def _as_the_model_says(folder: Path) -> Description:
    """Return the description of what the SentencePiece library does with the model."""
    model, settings = _sentence_piece(folder), settings_of(folder)
    _check_names(settings, model)
    scheme = "always" if settings.get("legacy", True) else "first"
    vocabulary = {text: id for id, (text, _, _) in enumerate(model.pieces)}
    named = {"unk_token": model.unknown, "bos_token": model.begin, "eos_token": model.end}
    usual = {use: text for use, text in named.items() if text is not None}
    own = [text for text, _, kind in model.pieces if kind == CONTROL]
    around = whole_tokens(folder, vocabulary, usual, own)
    if model.space_first:  # these tokens are found before spaces are added
        around["added_tokens"] = [
            {**token, "normalized": False} for token in around["added_tokens"]
        ]
    return {
        **around,
        "normalizer": in_order("normalizers", _normalizers(model, scheme)),
        "pre_tokenizer": in_order("pretokenizers", _splits(model, scheme)),
        "decoder": _decoders(strips=model.space_first),
        "model": (
            _unigram(model) if model.model_type == "unigram" else _by_score(model, vocabulary)
        ),
    }


def _check_names(settings: CheckpointSettings, model: SentencePieceModel) -> None:
    """Check that added tokens have the names of the model's pieces with their ids.

    Raises:
        TracerError: another name would take the place of a piece's.
    """
    added = settings.within(DECODER)
    for id, (text, _, _) in enumerate(model.pieces):
        if added.says(str(id)):
            added.within(str(id)).only("content", text, "it is another name of this piece")
    settings.check()


def _unigram(model: SentencePieceModel) -> Description:
    words = [text for text, _, _ in model.pieces]
    return {
        "type": "Unigram",
        "vocab": [(text, score) for text, score, _ in model.pieces],
        "unk_id": words.index(model.unknown) if model.unknown in words else None,
        "byte_fallback": model.byte_fallback,
    }


def _by_score(model: SentencePieceModel, vocabulary: Mapping[str, int]) -> Description:
    """Return the description of pieces of which the one with the highest score is merged first."""
    normal = {text: score for text, score, kind in model.pieces if kind == NORMAL}
    merges = sorted(
        (-score, vocabulary[text], left, right)
        for text, score in normal.items()
        for left, right in _halves(text, normal)
    )
    return {
        **{"type": "BPE", "vocab": vocabulary, "fuse_unk": True},
        "unk_token": model.unknown,
        "byte_fallback": model.byte_fallback,
        "ignore_merges": USER_DEFINED in {kind for _, _, kind in model.pieces},
        "merges": [(left, right) for *_, left, right in merges],
    }


def _halves(text: str, known: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield the known parts that two merged parts of a piece can be."""
    halves = ((text[:at], text[at:]) for at in range(1, len(text)))
    return (both for both in halves if both[0] in known and both[1] in known)


def _normalizers(model: SentencePieceModel, scheme: str) -> Iterator[Description]:
    if model.replaced:
        rules = base64.b64encode(model.replaced).decode()
        yield {"type": "Precompiled", "precompiled_charsmap": rules}
    if model.removes_spaces:
        yield _replaced({"Regex": r"\A +| +\z"}, "")
        yield _replaced({"Regex": " {2,}"}, " ")
    yield _replaced({"String": " "}, SPACE)
    if model.space_first and scheme == "always":  # a text may begin with a space of its own
        yield _replaced({"Regex": rf"\A{SPACE}"}, SPACE * 2)


def _splits(model: SentencePieceModel, scheme: str) -> Iterator[Description]:
    if model.space_first:
        yield _space_before(scheme)
    defined = [text for text, _, kind in model.pieces if kind == USER_DEFINED]
    if defined:
        yield split("|".join(map(re.escape, sorted(defined, key=len, reverse=True))))


def _space_before(scheme: str) -> Description:
    """Return the step that adds a space before each part (always), the text (first), or nothing."""
    return {
        **{"type": "Metaspace", "replacement": SPACE},
        **{"prepend_scheme": scheme, "split": False},
    }


def _replaced(pattern: Mapping[str, str], content: str) -> Description:
    return {"type": "Replace", "pattern": pattern, "content": content}


def _decoders(*, strips: bool) -> Description:
    """Return the steps from tokens to text; `strips`: whether a space at the beginning is removed.

    Without tokens of bytes, their step changes nothing.
    """
    steps = [_replaced({"String": SPACE}, " "), {"type": "ByteFallback"}, {"type": "Fuse"}]
    first = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    return in_order("decoders", [*steps, first] if strips else steps)


def _sentence_piece(folder: Path) -> SentencePieceModel:
    path = folder / MODEL
    return read_spm(bytes(mapped(path)), str(path))


_KINDS: Mapping[str, tuple[tuple[str, ...], Callable[[Path], Description]]] = {
    GPT_2: ((VOCABULARY, MERGES), _gpt_2),
    "CodeGenTokenizer": ((VOCABULARY, MERGES), _gpt_2),
    QWEN_2: ((VOCABULARY, MERGES), _qwen_2),
    LLAMA: ((MODEL,), _llama),
    GEMMA: ((MODEL,), _gemma),
    BERT: ((WORDS,), _bert),
    ANY: ((MODEL,), _as_the_model_says),
}
"""The files of each class, and how they are read."""


def older_tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer; without its files, or of another class, it knows only ids.

    Raises:
        TracerError: a file is damaged or of another kind, or the tokenizers library is missing.
    """
    kind = class_of(folder)
    if kind not in _KINDS:
        message = f"without it, {kind} is not supported"
        return tokenizer_of_ids(f"the folder has no tokenizer.json ({message})")
    files, describe = _KINDS[kind]
    missing = [name for name in files if not (folder / name).exists()]
    if missing:
        return tokenizer_of_ids(f"the folder has no tokenizer.json, nor {' and '.join(missing)}")
    return described_tokenizer(describe(folder), str(folder / files[0]))
