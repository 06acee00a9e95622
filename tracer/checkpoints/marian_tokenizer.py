"""The tokenizers of a Marian folder: source.spm for the encoder, target.spm for the decoder.

Both have the ids of vocab.json. As in transformers 5, tokenizer.json is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tracer.checkpoints.extras import isolated_library
from tracer.checkpoints.json_file import read_json
from tracer.checkpoints.settings import CheckpointSettings
from tracer.checkpoints.spm_file import scores_in
from tracer.checkpoints.tensor import mapped
from tracer.checkpoints.tokenizer_folder import BESIDE
from tracer.tokenization.added import WholeTokens
from tracer.tokenization.alphabets import Alphabet, Characters
from tracer.tokenization.bpe import Merging
from tracer.tokenization.marian import UNKNOWN, MarianPieces
from tracer.tokenization.tokenizer import Tokenizer, tokenizer_of_ids

VOCABULARY, SOURCE, TARGET = "vocab.json", "source.spm", "target.spm"
END, PADDING = "</s>", "<pad>"
_SPECIAL = {"eos_token": END, "unk_token": UNKNOWN, "pad_token": PADDING}


def tokenizer_of(folder: Path, start: int | None = None) -> Tokenizer:
    """Return the decoder's tokenizer, which puts `start` before a text; without it, the encoder's.

    The encoder's puts the end token after a text. Without files, a tokenizer knows only ids;
    without a .spm file, it also knows the words.

    Raises:
        TracerError: a file is damaged or of another kind, or the sentencepiece library is missing.
    """
    if not (folder / VOCABULARY).exists():
        return tokenizer_of_ids(f"the folder has no {VOCABULARY}")
    vocabulary = _vocabulary(folder / VOCABULARY)
    _check_settings(folder / BESIDE)
    alphabet = Characters(vocabulary)
    path = folder / (SOURCE if start is None else TARGET)
    if not path.exists():
        without = Merging({}, Alphabet())
        missing = f"the folder has no {path.name}"
        return Tokenizer(None, vocabulary, {}, without, alphabet, missing=missing)
    content = bytes(mapped(path))
    scores = scores_in(content, str(path))
    library = isolated_library("sentencepiece", str(path))
    library.serve(content)
    added = {name: vocabulary[name] for name in _SPECIAL.values() if name in vocabulary}
    content_of = {
        id: word.encode() if word in added else alphabet.content(word)
        for word, id in vocabulary.items()
    }
    surrounded = MarianPieces(
        library,
        WholeTokens(added),
        vocabulary,
        content_of,
        {*added.values()},
        () if start is None else (start,),
        (vocabulary[END],) if start is None else (),
    )
    return Tokenizer(surrounded, vocabulary, added, scores, alphabet, UNKNOWN)


def _vocabulary(path: Path) -> Mapping[str, int]:
    vocabulary = read_json(path)
    settings = CheckpointSettings(str(path), vocabulary)
    for word in vocabulary:
        settings.whole(word, least=0)
    for word in (END, UNKNOWN):
        if word not in vocabulary:
            settings.refuse(word, "missing, expected its id")
    settings.check()
    return vocabulary


def _check_settings(path: Path) -> None:
    """Check that tokenizer_config.json changes nothing.

    Raises:
        TracerError: it does, or it cannot be read.
    """
    if not path.exists():
        return
    settings = CheckpointSettings(str(path), read_json(path))
    settings.only("separate_vocabs", False, "the decoder has its own ids")
    for key, known in _SPECIAL.items():
        value = settings.get(key)
        written = value.get("content") if isinstance(value, dict) else value
        if written not in (None, known):
            settings.wrong(key, f"supported is {known}")
    if settings.get("sp_model_kwargs"):
        settings.wrong("sp_model_kwargs", "supported is {}")
    settings.check()
