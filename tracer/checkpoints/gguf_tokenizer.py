"""The tokenizer that a GGUF file holds: vocabulary, merges, and a name of how text is split."""

from __future__ import annotations

from tracer.checkpoints.extras import extra
from tracer.checkpoints.gguf_file import GGUFFile
from tracer.checkpoints.settings import Settings
from tracer.errors import Problem, TracerError
from tracer.tokenization.alphabets import ByteLetters
from tracer.tokenization.library import Library
from tracer.tokenization.tokenizer import Tokenizer

PREFIX, EOS = "tokenizer.ggml.", "eos_token_id"
LLAMA_3, QWEN_2 = "llama-bpe", "qwen2"
WHOLE = (3, 4)
"""Types of the tokens that a text may hold as a whole: those for control, and a user's."""

WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""GPT-2's: endings; words, numbers and signs, each with a space before it; other spaces."""
LATER_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,DIGITS}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Llama 3's and Qwen2's: a word may have any sign before it, a number has few digits."""
PATTERNS = {
    "gpt-2": [WORDS],
    "smollm": [r"\p{N}", WORDS],
    LLAMA_3: [LATER_WORDS.replace("DIGITS", "3")],
    QWEN_2: [LATER_WORDS.replace("DIGITS", "1")],
    "default": [r"[\p{P}\$\+<=>\^~\|]+", WORDS, r"\p{N}+", "[0-9][0-9][0-9]"],
}
"""What parts a text, one after the other, by the name that a file has for it."""


def ends(read: GGUFFile) -> tuple[int, ...]:
    """The number of the token that ends a text, if the file names one.

    Raises:
        TracerError: what it names is no number.
    """
    settings = Settings(read.file, read.values, PREFIX)
    found = () if settings.get(EOS) is None else (settings.whole(EOS, least=0),)
    settings.check()
    return found


def tokenizer_of(read: GGUFFile) -> Tokenizer:
    """The tokenizer, of byte-level merges; none of another kind is known.

    Raises:
        TracerError: it is of another kind or damaged, or the tokenizers library is missing.
    """
    settings = Settings(read.file, read.values, PREFIX)
    settings.one_of("model", {"gpt2": None})
    name = settings.one_of("pre", {name: name for name in PATTERNS}, "default")
    words, joined = settings.entries("tokens", str), settings.entries("merges", str)
    types = settings.entries("token_type", int)
    settings.only("add_eos_token", False)
    begins = settings.flag("add_bos_token", name == LLAMA_3)
    first = settings.whole("bos_token_id", least=0, most=len(words) - 1) if begins else None
    settings.check()

    merges = [(left, right) for left, _, right in (text.partition(" ") for text in joined)]
    whole = [word for word, kind in zip(words, types, strict=False) if kind in WHOLE]
    with extra("tokenizers"):
        import tokenizers
        from tokenizers import pre_tokenizers
    try:
        vocabulary = {word: id for id, word in enumerate(words)}
        library = tokenizers.Tokenizer(
            tokenizers.models.BPE(vocabulary, merges, ignore_merges=name == LLAMA_3)
        )
        library.add_tokens([tokenizers.AddedToken(word, normalized=False) for word in whole])
    except Exception as error:  # the library raises no other
        raise TracerError(Problem(str(error), read.file, address="tokenizer.ggml")) from None
    if name == QWEN_2:
        library.normalizer = tokenizers.normalizers.NFC()
    splits = [
        pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated") for pattern in PATTERNS[name]
    ]
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    library.pre_tokenizer = pre_tokenizers.Sequence([*splits, letters])
    library.decoder = tokenizers.decoders.ByteLevel()
    served = Library(library, first)
    return Tokenizer(served, vocabulary, merges, ByteLetters(), whole_first=name == LLAMA_3)
