"""How often a reader meets the same sentence: twice in one text, or in nearly all of ten texts.

A sentence of more than three words counts. `python -m tests.lesson.texts.test_repeated_sentences`
prints the counts.
"""

from __future__ import annotations

import re
import sys
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


def repeated(name: str) -> list[str]:
    """The sentences of a text that have stood in it before."""
    times = Counter(sentences(name))
    return list((times - Counter(set(times))).elements())


def shared() -> list[str]:
    """The sentences that stand in nearly all texts."""
    texts = Counter(each for name in TEXTS for each in set(sentences(name)))
    return [each for each, times in texts.items() if times >= MOST_TEXTS]


@pytest.mark.parametrize("name", TEXTS)
def test_few_sentences_stand_twice_in_a_text(name: str) -> None:
    every = len(sentences(name))
    assert every > 30 and len(repeated(name)) <= MOST_TWICE * every, repeated(name)


def test_few_sentences_stand_in_nearly_all_texts() -> None:
    assert 0 < len(shared()) <= MOST_SHARED, shared()


if __name__ == "__main__":
    counts = [f"{name}: {len(repeated(name))} of {len(sentences(name))}" for name in TEXTS]
    sys.stdout.write("\n".join([*counts, f"{len(shared())} shared:", *shared(), ""]))
