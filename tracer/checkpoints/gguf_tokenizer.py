"""The tokenizer in a GGUF file: vocabulary, and merges with a splitting rule or scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tracer.checkpoints.gguf_file import GGUFFile
from tracer.checkpoints.settings import CheckpointSettings
from tracer.checkpoints.splitting import SPLITTINGS
from tracer.checkpoints.tokenizer_json import (
    FLAGS,
    byte_letters,
    described_tokenizer,
    in_order,
    put_around,
    split,
)
from tracer.tokenization.added import WholeTokens
from tracer.tokenization.alphabets import BYTE, Characters
from tracer.tokenization.bpe import Merging
from tracer.tokenization.sentence_piece import SentencePiece, TokenRanks
from tracer.tokenization.tokenizer import Tokenizer, tokenizer_of_ids

PREFIX = "tokenizer.ggml."
ENDS = ("eos_token_id", "eot_token_id", "eom_token_id")
"""The tokens that end a text, a turn and a message."""
WHOLE = (2, 3, 4)
"""Types of tokens that are matched as a whole: unknown, control and user-defined ones."""
_OF_CODE = ("pre", "suf", "mid", "pad", "rep", "sep")
HARMLESS = frozenset({
    *(f"{name}_token_id" for name in ("unknown", "padding", "separator", "cls", "mask")),
    *(f"{name}_token_id" for name in ("prefix", "suffix", "middle", "seperator")),
    *(f"fim_{name}_token_id" for name in _OF_CODE),
    *("token_type_count", *ENDS[1:]),
})  # fmt: skip
"""Keys that name tokens, which changes neither how a text is split nor where it ends."""


def end_token_ids(read: GGUFFile) -> tuple[int, ...]:
    """Return the ids of the end tokens that the file names.

    Raises:
        TracerError: an id is not a number.
    """
    settings = CheckpointSettings(read.file, read.values, PREFIX)
    named = [settings.whole(key, least=0) for key in ENDS if settings.get(key) is not None]
    settings.check()
    return tuple(dict.fromkeys(named))


def tokenizer_of(read: GGUFFile) -> Tokenizer:
    """Return the tokenizer: byte-level BPE, or SentencePiece's; without one, it knows only ids.

    Raises:
        TracerError: it is of another kind or damaged, or the tokenizers library is missing.
    """
    settings = CheckpointSettings(read.file, read.values, PREFIX)
    if settings.get("model") in (None, "none", "no_vocab"):
        return tokenizer_of_ids("the file has no tokenizer")
    made = settings.one_of("model", _KINDS)
    settings.check()
    return made(settings, read)


def _byte_level(settings: CheckpointSettings, read: GGUFFile) -> Tokenizer:
    name = settings.one_of("pre", {name: name for name in SPLITTINGS}, "default")
    splitting = SPLITTINGS[name]
    vocabulary, added = _vocabulary(settings)
    joined = settings.entries("merges", str)
    before, after = _around(settings, len(vocabulary), begins=splitting.begins)
    settings.get("scores")  # which only SentencePiece uses
    settings.only("add_space_prefix", False)
    _check_all(settings)

    steps = [*map(split, splitting.patterns), byte_letters(use_regex=False)]
    words = [*vocabulary]
    described = {
        "added_tokens": [
            {"id": id, "content": word, **dict.fromkeys(FLAGS, False)} for word, id in added.items()
        ],
        "normalizer": {"type": "NFC"} if splitting.composed else None,
        "pre_tokenizer": in_order("pretokenizers", steps),
        "post_processor": put_around(
            [(words[id], id) for id in before], [(words[id], id) for id in after]
        ),
        "decoder": byte_letters(use_regex=True),
        "model": {
            "type": "BPE",
            "vocab": vocabulary,
            "merges": joined,
            "ignore_merges": splitting.whole_first,
        },
    }
    return described_tokenizer(described, read.file, "tokenizer.ggml")


def _sentence_piece(settings: CheckpointSettings, read: GGUFFile) -> Tokenizer:
    """Return the tokenizer of Llama 2, Mistral 7B, TinyLlama and others; it needs no library."""
    vocabulary, added = _vocabulary(settings)
    scores = settings.entries("scores", float, len(vocabulary))
    space_first = settings.flag("add_space_prefix", True)
    before, after = _around(settings, len(vocabulary), begins=True, begin=1, end=2)
    for key in ("pre", "merges"):  # which only byte-level BPE uses
        settings.get(key)
    _check_all(settings)

    score_of = {
        word: score
        for word, score in zip(vocabulary, scores, strict=True)
        if word not in added and not BYTE.fullmatch(word)
    }
    alphabet = Characters(frozenset("".join(score_of)))
    content_of = {
        id: word.encode() if word in added else alphabet.content(word)
        for word, id in vocabulary.items()
    }
    merging = Merging(TokenRanks(score_of), alphabet, method="scores")
    whole = WholeTokens(added)
    library = SentencePiece(merging, whole, content_of, before, after, space_first)
    return Tokenizer(library, vocabulary, added, merging, alphabet)


_KINDS: Mapping[str, Callable[[CheckpointSettings, GGUFFile], Tokenizer]] = {
    "gpt2": _byte_level,
    "llama": _sentence_piece,
}


def _vocabulary(settings: CheckpointSettings) -> tuple[dict[str, int], dict[str, int]]:
    """Return the id of each token, and of those that are matched as a whole.

    Raises:
        TracerError: two tokens are the same, or a token has no type.
    """
    words = settings.entries("tokens", str)
    settings.check()
    vocabulary = {word: id for id, word in enumerate(words)}
    if len(vocabulary) < len(words):
        twice = next(word for id, word in enumerate(words) if vocabulary[word] != id)
        settings.refuse("tokens", f"{twice!r} occurs twice")
    if not settings.says("token_type"):
        return vocabulary, {}
    types = settings.entries("token_type", int, len(words))
    settings.check()
    whole = (word for word, kind in zip(words, types, strict=True) if kind in WHOLE)
    return vocabulary, {word: vocabulary[word] for word in whole}


def _around(
    settings: CheckpointSettings,
    words: int,
    *,
    begins: bool,
    begin: int | None = None,
    end: int | None = None,
) -> tuple[list[int], list[int]]:
    """Return the ids that are added before and after each text.

    `begins`: whether a token is added before a text if the file does not say; `begin` and `end`:
    the ids of the tokens if the file does not say.
    """
    found = []
    for adds, key, default_adds, default in (
        ("add_bos_token", "bos_token_id", begins, begin),
        ("add_eos_token", "eos_token_id", False, end),
    ):
        is_added = settings.flag(adds, default_adds)
        settings.get(key)
        found.append([settings.whole(key, default, least=0, most=words - 1)] if is_added else [])
    return found[0], found[1]


def _check_all(settings: CheckpointSettings) -> None:
    """Raise all problems, also for keys that are not understood."""
    for key in ("add_sep_token", "remove_extra_whitespaces"):
        settings.only(key, False)
    settings.nothing_else(HARMLESS)
    settings.check()
