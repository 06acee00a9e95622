"""Random texts in more than ten scripts, with special tokens, spaces and marks between words."""

from __future__ import annotations

import random
from collections.abc import Sequence

WORDS = (
    "the cat sat on naïve mats, isn't it? IT'S 1234.56 née; don't",
    "der Hund läuft über die Straße ÄÖÜ",
    "быстрая лиса прыгает через ленивую собаку",
    "η γρήγορη αλεπού πηδάει",
    "الثعلب السريع يقفز فوق الكلب",
    "השועל המהיר קופץ מעל הכלב",
    "तेज़ लोमड़ी आलसी कुत्ते के ऊपर कूदती है",
    "敏捷的棕色狐狸跳过懒狗",
    "すばやい茶色のキツネが怠け者の犬を飛び越える",
    "빠른 갈색 여우가 게으른 개를 뛰어넘는다",
    "สุนัขจิ้งจอกสีน้ำตาล",
    "def f(x):\n\treturn x**2  # ok\n\n",
)
SPACES = ["", " ", " ", " ", "  ", "\n", "\t", "e\u0301", "\u00a0", "😀", "12345"]
TEXTS = 500


def texts(special: Sequence[str] = ()) -> list[str]:
    """The texts; `special` are tokens that some of them contain."""
    chance = random.Random(1)
    parts = [*(word for line in WORDS for word in line.split(" ")), *special]
    return [
        "".join(chance.choice(parts) + chance.choice(SPACES) for _ in range(chance.randrange(1, 8)))
        for _ in range(TEXTS)
    ]
