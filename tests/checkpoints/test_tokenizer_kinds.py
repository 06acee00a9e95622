"""tokenizer.json of the kinds that popular families use has the ids of the tokenizers library."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer as Library,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from tests.helpers import ten_scripts
from tests.helpers.sentence_piece_models import CORPUS, mixed_texts
from tracer.checkpoints.hugging_face_tokenizer import tokenizer_of
from tracer.checkpoints.splitting import SPLITTINGS

SPECIAL = ["<s>", "</s>"]
USUAL = [*SPECIAL, "<unk>", "<pad>"]
MERGED = 300
"""So many merges has a tokenizer that also takes whole pieces from its vocabulary."""
ByteLevel, Metaspace = pre_tokenizers.ByteLevel, pre_tokenizers.Metaspace


@cache
def learned(*, of_bytes: bool) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """A vocabulary and merges."""
    library = Library(models.BPE(unk_token="<unk>"))
    library.pre_tokenizer = ByteLevel(add_prefix_space=False) if of_bytes else Metaspace()
    all_bytes = [] if of_bytes else [f"<0x{byte:02X}>" for byte in range(256)]
    alphabet: list[str] = ByteLevel.alphabet() if of_bytes else []
    trainer = trainers.BpeTrainer(
        vocab_size=900,
        special_tokens=[*USUAL, *all_bytes],
        initial_alphabet=sorted(alphabet),
        show_progress=False,
    )
    library.train_from_iterator([*CORPUS, *ten_scripts.WORDS], trainer)
    found = json.loads(library.to_str())["model"]
    return found["vocab"], [tuple(pair) for pair in found["merges"]]


def of_bytes(
    splits: Any,
    *,
    normalizer: Any = None,
    added: Sequence[AddedToken] = (),
    processor: Any = None,
    whole_first: bool = False,
) -> Library:
    vocabulary, merges = learned(of_bytes=True)
    kept = merges[: MERGED if whole_first else None]
    library = Library(models.BPE(vocabulary, kept, ignore_merges=whole_first))
    library.normalizer, library.pre_tokenizer = normalizer, splits
    library.decoder = decoders.ByteLevel()
    library.add_special_tokens(SPECIAL)
    library.add_tokens([*added])
    library.post_processor = processor
    return library


def of_characters(
    splits: Any,
    normalizer: Any,
    *,
    added: Sequence[AddedToken] = (),
    fallback: bool = True,
) -> Library:
    vocabulary, merges = learned(of_bytes=False)
    model = models.BPE(vocabulary, merges, unk_token="<unk>", byte_fallback=fallback, fuse_unk=True)
    library = Library(model)
    library.normalizer, library.pre_tokenizer = normalizer, splits
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    library.decoder = decoders.Sequence(steps)
    library.add_special_tokens([*SPECIAL, *(each for each in added if each.special)])
    library.add_tokens([*added])
    return library


def split(name: str) -> Any:
    steps = (pre_tokenizers.Split(Regex(each), "isolated") for each in SPLITTINGS[name].patterns)
    letters = ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([*steps, letters])


def digits() -> Any:
    steps = [pre_tokenizers.Digits(individual_digits=True), ByteLevel(add_prefix_space=False)]
    return pre_tokenizers.Sequence(steps)


def begins() -> Any:
    """The start token before a text."""
    return processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", USUAL.index("<s>"))])


def older_spaces() -> Any:
    steps: list[Any] = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    return normalizers.Sequence(steps)


def unigram() -> Library:
    library = Library(models.Unigram())
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    library.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), spaces])
    library.pre_tokenizer, library.decoder = Metaspace(), decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=400, special_tokens=USUAL, unk_token="<unk>", show_progress=False
    )
    library.train_from_iterator([*CORPUS, *ten_scripts.WORDS], trainer)
    library.post_processor = begins()
    return library


def word_pieces(*, lowercase: bool = True) -> Library:
    """BERT's tokenizer, with tokens before and after a text."""
    library = Library(models.WordPiece(unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    library.pre_tokenizer, library.decoder = (
        pre_tokenizers.BertPreTokenizer(),
        decoders.WordPiece(prefix="##"),
    )
    named = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=500, special_tokens=named, show_progress=False)
    library.train_from_iterator([*CORPUS, *ten_scripts.WORDS], trainer)
    ends = [(name, named.index(name)) for name in named[1:3]]
    library.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    return library


def truncated() -> Library:
    """Its settings for batches concern neither the library's ids nor ours."""
    library = of_bytes(ByteLevel(add_prefix_space=False))
    library.enable_truncation(3)
    library.enable_padding(length=9)
    return library


KINDS: dict[str, Callable[[], Library]] = {
    "GPT-2": lambda: of_bytes(
        ByteLevel(add_prefix_space=False), processor=processors.ByteLevel(trim_offsets=False)
    ),
    "a space before a text": lambda: of_bytes(ByteLevel(add_prefix_space=True)),
    "GPT-NeoX": lambda: of_bytes(
        ByteLevel(add_prefix_space=False, trim_offsets=True),
        normalizer=normalizers.NFC(),
        added=[AddedToken(" " * number, normalized=True) for number in (8, 4, 2)],
    ),
    "Llama 2": lambda: of_characters(None, older_spaces()),
    "Llama 2, one space": lambda: of_characters(
        Metaspace(prepend_scheme="first", split=False), None
    ),
    "Mistral": lambda: of_characters(
        pre_tokenizers.Sequence([Metaspace(prepend_scheme="first", split=False)]), None
    ),
    "Phi-3": lambda: of_characters(
        None,
        older_spaces(),
        added=[AddedToken("<|user|>", rstrip=True, special=True, normalized=False)],
    ),
    "Gemma": lambda: of_characters(
        pre_tokenizers.Split(" ", "merged_with_previous"),
        normalizers.Replace(" ", "▁"),
        added=[AddedToken(each, normalized=False) for each in ("\n\n", "▁▁", "\t", "<b>")],
    ),
    "without bytes": lambda: of_characters(None, older_spaces(), fallback=False),
    "Llama 3": lambda: of_bytes(
        split("llama-bpe"),
        processor=processors.Sequence([processors.ByteLevel(trim_offsets=False), begins()]),
        whole_first=True,
    ),
    "Qwen2": lambda: of_bytes(
        split("qwen2"),
        normalizer=normalizers.NFC(),
        added=[AddedToken("<think>", normalized=False)],
    ),
    "Phi-4": lambda: of_bytes(
        split("gpt-4o"), added=[AddedToken("<|user|>", lstrip=True, rstrip=True)]
    ),
    "Tekken": lambda: of_bytes(split("tekken"), whole_first=True, processor=begins()),
    "DeepSeek": lambda: of_bytes(split("deepseek-coder"), processor=begins()),
    "BLOOM": lambda: of_bytes(split("bloom")),
    "Falcon": lambda: of_bytes(split("falcon")),
    "SmolLM, StarCoder, Granite": lambda: of_bytes(digits(), processor=processors.ByteLevel()),
    "Cohere": lambda: of_bytes(digits(), normalizer=normalizers.NFC(), processor=begins()),
    "RoBERTa's template": lambda: of_bytes(
        ByteLevel(add_prefix_space=False),
        processor=processors.RobertaProcessing(("</s>", 1), ("<s>", 0)),
    ),
    "words and masks": lambda: of_bytes(
        ByteLevel(add_prefix_space=False),
        normalizer=normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]),
        added=[AddedToken("cat", single_word=True), AddedToken("<mask>", lstrip=True)],
    ),
    "XGLM": unigram,
    "BERT": word_pieces,
    "BERT, cased": lambda: word_pieces(lowercase=False),
    "batches": truncated,
}


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_those_of_the_library(kind: str, tmp_path: Path) -> None:
    library = KINDS[kind]()
    (tmp_path / "tokenizer.json").write_text(library.to_str(), encoding="utf-8")
    ours = tokenizer_of(tmp_path)
    library.no_truncation()
    library.no_padding()
    added = [token.content for token in library.get_added_tokens_decoder().values()]
    for text in mixed_texts([*added, "cats", " <s>", "<s> "]):
        assert list(ours.encode(text).ids) == library.encode(text).ids, text
