"""Merges are those of a pencil, and for any text and any list of merges those of the library."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers.models import BPE

from tracer.tokenization.bpe import Merge, bpe, ranks

LEARNED = [("l", "o"), ("lo", "w"), ("e", "r"), ("low", "er")]


def test_neighbours_learned_first_are_joined_first() -> None:
    steps = list(bpe("lower", ranks(LEARNED)))
    assert steps == [
        Merge("l", "o", 1, ("lo", "w", "e", "r")),
        Merge("lo", "w", 2, ("low", "e", "r")),
        Merge("e", "r", 3, ("low", "er")),
        Merge("low", "er", 4, ("lower",)),
    ]
    assert [step.joined for step in steps] == ["lo", "low", "er", "lower"]


def test_of_equal_ones_the_leftmost_is_joined() -> None:
    steps = list(bpe("aaa", ranks([("a", "a")])))
    assert steps == [Merge("a", "a", 1, ("aa", "a"))]


def test_what_was_not_learned_stays_apart() -> None:
    assert list(bpe("we", ranks(LEARNED))) == []
    assert list(bpe("", ranks(LEARNED))) == []


@st.composite
def learned(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Merges of what is known by then, in any order, be it one that no text would teach."""
    known, merges = list("abc"), list[tuple[str, str]]()
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
    last = steps[-1].symbols if steps else tuple(text)
    assert last == tuple(token.value for token in theirs)
    assert all("".join(step.symbols) == text for step in steps)
