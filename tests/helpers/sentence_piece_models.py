"""Models that the sentencepiece library learns from a few sentences, and texts for them."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from tests.helpers import ten_scripts

CORPUS = (
    "the cat sat on the mat, and the other cat ate 1234 naïve mice; don't sit, it's hot!",
    "der Hund läuft über die Straße und bellt 42 mal; le chat mange des souris à midi",
    "быстрая лиса прыгает через ленивую собаку; η γάτα κοιμάται στο χαλί",
    "猫が マットの 上に 座っている; 고양이가 매트 위에 앉아 있다; القط على السجادة",
    "def f(x):\n    return  x + 1\n\n\tif x == 2:\n        print('  spaces   ')",
)
TEXTS = 300


@cache
def trained(**options: Any) -> bytes:
    """The content of a model file; by default, as Llama's."""
    library = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    found = io.BytesIO()
    usual = {
        "model_type": "bpe",
        "vocab_size": 700,
        "byte_fallback": True,
        "split_digits": True,
        "allow_whitespace_only_pieces": True,
        "remove_extra_whitespaces": False,
        "normalization_rule_name": "identity",
        "hard_vocab_limit": False,
        "minloglevel": 2,
    }
    library.SentencePieceTrainer.train(
        sentence_iterator=iter([*CORPUS, *ten_scripts.WORDS]),
        model_writer=found,
        **(usual | options),
    )
    return found.getvalue()


def mixed_texts(special: Sequence[str] = ()) -> list[str]:
    """Texts of words, spaces and signs; `special` are tokens that some of them contain."""
    words = [word for line in CORPUS for word in line.split(" ")]
    others = [" ", "  ", "\n", "\t", "😀", "ab", "aaa", "日本", "e\u0301", "ﬁ", "①", "\u200b"]
    drawn = random.Random(1)
    return [
        "",
        *(
            drawn.choice(["", " "]).join(
                drawn.choice([*words, *others, *special, *special])
                for _ in range(drawn.randrange(1, 9))
            )
            for _ in range(TEXTS - 1)
        ),
    ]
