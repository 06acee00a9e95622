"""How often a reader meets the same sentence: twice in one text, or in nearly all of ten texts.

A sentence of more than three words counts. The counts are printed (`pytest -s`).
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest

from tests.helpers.command import printed

TEXTS = (
    *("alex", "pizza", "science", "comics", "picture", "experts", "lora", "blocks"),
    *("alex-learns", "gpt2-small"),
)
MOST_TWICE = 0.02
"""The share of the sentences of a text that have stood in it before."""
MOST_TEXTS, MOST_SHARED = 8, 15
"""So many sentences may stand in 8 or more of the ten texts."""


@cache
def sentences(name: str) -> tuple[str, ...]:
    """The sentences of a tutorial, without those of tables, formulas, lists and worked lines."""
    text = re.sub("```.*?```", "", printed("tutorial", name, "-f", "markdown"), flags=re.DOTALL)
    blocks = (re.sub(r"^<a.*?>\n?", "", block.strip()) for block in text.split("\n\n"))
    prose = [block for block in blocks if block and not re.match(r"[|#>!<-]", block)]
    found = [each for block in prose for each in re.split(r"(?<=[.?!:])\s+(?=[A-Z`*“])", block)]
    return tuple(each for each in found if len(each.split()) > 3)


@pytest.mark.parametrize("name", TEXTS)
def test_few_sentences_stand_twice_in_a_text(name: str) -> None:
    found = sentences(name)
    twice = [each for each, times in Counter(found).items() for _ in range(times - 1)]
    print(f"{name}: {len(twice)} of {len(found)}")
    assert len(found) > 50 and len(twice) <= MOST_TWICE * len(found), twice


def test_few_sentences_stand_in_nearly_all_texts() -> None:
    texts = Counter(each for name in TEXTS for each in set(sentences(name)))
    shared = [each for each, times in texts.items() if times >= MOST_TEXTS]
    print(*shared, len(shared), sep="\n")
    assert 0 < len(shared) <= MOST_SHARED
