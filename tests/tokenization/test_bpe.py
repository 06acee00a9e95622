"""Merges are those of a pencil, and for any text and any list of merges those of the library."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings, strategies as st
from tokenizers.models import BPE

from tracer.tokenization.bpe import Merge, bpe, merged, ranks

LEARNED = [("l", "o"), ("lo", "w"), ("e", "r"), ("low", "er")]


def test_neighbors_learned_first_are_joined_first() -> None:
    steps = list(bpe("lower", ranks(LEARNED)))
    assert steps == [
        Merge("l", "o", 1, (0, 1)),
        Merge("lo", "w", 2, (0, 2)),
        Merge("e", "r", 3, (3, 4)),
        Merge("low", "er", 4, (0, 3)),
    ]
    assert [step.joined for step in steps] == ["lo", "low", "er", "lower"]
    assert [merged("lower", steps[:done]) for done in range(5)] == [
        ("l", "o", "w", "e", "r"),
        ("lo", "w", "e", "r"),
        ("low", "e", "r"),
        ("low", "er"),
        ("lower",),
    ]


def test_of_equal_ones_the_leftmost_is_joined() -> None:
    steps = list(bpe("aaa", ranks([("a", "a")])))
    assert steps == [Merge("a", "a", 1, (0, 1))]
    assert merged("aaa", steps) == ("aa", "a")


def test_what_was_not_learned_stays_apart() -> None:
    assert list(bpe("we", ranks(LEARNED))) == []
    assert list(bpe("", ranks(LEARNED))) == []


@st.composite
def learned(draw: st.DrawFn, letters: str = "abc") -> list[tuple[str, str]]:
    """Merges of what is known by then, in any order, be it one that no text would teach."""
    known, merges = list(letters), list[tuple[str, str]]()
    for _ in range(draw(st.integers(0, 8))):
        pair = (draw(st.sampled_from(known)), draw(st.sampled_from(known)))
        if pair not in merges:
            merges.append(pair)
            known.append("".join(pair))
    return draw(st.permutations(merges))


@settings(max_examples=100, deadline=None)
@given(learned(), st.text("abc", max_size=20))
def test_the_library_joins_the_same(merges: list[tuple[str, str]], text: str) -> None:
    symbols = dict.fromkeys(["a", "b", "c", *("".join(pair) for pair in merges)])
    theirs = BPE({symbol: id for id, symbol in enumerate(symbols)}, merges).tokenize(text)
    steps = list(bpe(text, ranks(merges)))
    assert merged(text, steps) == tuple(token.value for token in theirs)
    for done, step in enumerate(steps):
        now = merged(text, steps[:done])
        known = [pair for pair in pairwise(now) if pair in merges]
        assert (step.left, step.right) == min(known, key=merges.index)
        assert merges[step.rank - 1] == (step.left, step.right)


def test_a_long_piece_takes_no_longer_than_its_merges() -> None:
    """65,535 merges: to look at the whole piece for each would take minutes."""
    doubled = [("a" * 2**power, "a" * 2**power) for power in range(17)]
    steps = list(bpe("a" * 2**16, ranks(doubled)))
    assert len(steps) == 2**16 - 1
    assert merged("a" * 2**16, steps) == ("a" * 2**16,)
