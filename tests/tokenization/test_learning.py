"""Learned merges are those of a published example, of the library, and of a plain recount."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import given, settings, strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from tests.helpers.learned_merges import recounted
from tracer.tokenization.learning import learn

HUGS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
"""The corpus of a course on tokenizers; its pairs are counted by hand."""


def test_the_counts_are_those_by_hand() -> None:
    first, second, third = learn(HUGS, 3)
    assert {"".join(pair): sum(counts) for pair, counts in first.counts.items()} == {
        **{"hu": 10 + 5, "ug": 10 + 5 + 5, "pu": 5 + 12, "un": 12 + 4, "bu": 4, "gs": 5},
    }
    assert [(each.pair, each.count) for each in (first, second, third)] == [
        (("u", "g"), 20),
        (("u", "n"), 16),
        (("h", "ug"), 15),
    ]
    assert third.before[0] == ("h", "ug") and third.after[0] == ("hug",)


def test_it_ends_when_no_pair_remains() -> None:
    assert [merge.pair for merge in learn({"ab": 1, "c": 5}, 9)] == [("a", "b")]
    assert list(learn({"c": 5}, 9)) == []


CORPORA = st.dictionaries(st.text("abcd", min_size=1, max_size=6), st.integers(1, 9), min_size=1)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(CORPORA, st.integers(1, 12))
def test_a_plain_recount_learns_the_same(corpus: dict[str, int], number: int) -> None:
    found = [(*each.pair, each.count) for each in learn(corpus, number)]
    assert found == [
        (left, right, counts[left, right]) for left, right, counts in recounted(corpus, number)
    ]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(CORPORA)
def test_the_library_learns_the_same_up_to_a_tie(corpus: dict[str, int]) -> None:
    # Of equal counts, and of neighbors that overlap as in aaa, the library takes others.
    corpus = {w: n for w, n in corpus.items() if len({*w}) == len(w)}
    ours = list(learn(corpus, 12))
    clear = 0
    for each in ours:
        counts = Counter({pair: sum(found) for pair, found in each.counts.items()})
        (_, most), *others = counts.most_common(2)
        if others and others[0][1] == most:
            break
        clear += 1
    assert [list(each.pair) for each in ours[:clear]] == library(corpus)[:clear]


def library(corpus: dict[str, int]) -> list[list[str]]:
    """The merges that the library learns."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=100, min_frequency=1, show_progress=False)
    words = [word for word, count in corpus.items() for _ in range(count)]
    tokenizer.train_from_iterator(words, trainer)
    found: dict[str, Any] = json.loads(tokenizer.to_str())
    return [list(pair) for pair in found["model"]["merges"]]
