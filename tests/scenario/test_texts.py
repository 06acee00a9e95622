"""A text with merges stands in place of tokens: what is written out, and what is wrong with it."""

from __future__ import annotations

import pytest

from tests.helpers.small_scenario import END, problems, scenario
from tracer.scenario.loading import parse
from tracer.scenario.writer import written

TEXT = 'text: "ab a"\nmerges: [[" ", a]]'
EMBEDDED = "  a: [1, 2]\n"
WITH_A_SPACE = (EMBEDDED, '  a: [1, 2]\n  " a": [0, 1]\n')
WORDS = 'vocabulary: [" a", b, a]\nunembedding: tied\n'


def typed(text: str) -> tuple[str, str]:
    return ("tokens: [a, b]", text)


def test_the_tokens_are_what_is_left() -> None:
    found = scenario(typed(TEXT), WITH_A_SPACE)
    assert found.tokens == ("a", "b", " a")
    assert found.token_ids is None
    tokenization = found.tokenization
    assert tokenization is not None
    assert [piece.text for piece in tokenization.pieces] == ["ab", " a"]


def test_a_merge_may_be_a_text_of_two_symbols() -> None:
    found = scenario(typed("text: ab\nmerges: [a b]"), ("  b: [3, 4]", "  ab: [3, 4]"))
    assert found.tokens == ("ab",)
    assert found.merges == (("a", "b"),)


def test_without_merges_every_character_is_a_token() -> None:
    assert scenario(typed("text: abba\nmerges: []")).tokens == ("a", "b", "b", "a")


def test_ids_are_places_in_the_vocabulary_where_it_has_all() -> None:
    whole = scenario(typed(TEXT), WITH_A_SPACE, (END, END + WORDS))
    assert whole.token_ids == (2, 1, 0)
    given = scenario(typed(f"{TEXT}\ntoken_ids: [7, 8, 9]"), WITH_A_SPACE, (END, END + WORDS))
    assert given.token_ids == (7, 8, 9)
    less = WORDS.replace(", b,", ",")
    assert scenario(typed(TEXT), WITH_A_SPACE, (END, END + less)).token_ids is None


def test_other_tokens_have_no_text() -> None:
    assert scenario(typed(TEXT), WITH_A_SPACE).reading(("b",)).tokenization is None
    assert scenario().tokenization is None


CORPUS = "corpus: {ab: 3, b: 2}"


def test_merges_are_learned_from_a_corpus() -> None:
    found = scenario(typed(f'text: "ab  b"\n{CORPUS}\nmerges: 1'), ("  a: [1", "  ab: [1"))
    assert found.merges == (("a", "b"),)
    assert found.tokens == ("ab", "b")


def test_a_character_that_the_corpus_does_not_have_is_unknown() -> None:
    found = scenario(
        typed(f"text: xab €\n{CORPUS}\nmerges: 1"),
        ("  a: [1, 2]", "  ab: [1, 2]\n  '[UNK]': [0, 0]"),
    )
    assert found.tokens == ("[UNK]", "ab", "[UNK]")


def test_what_is_learned_is_written_as_it_was_typed() -> None:
    found = scenario(typed(f"text: ab b\n{CORPUS}\nmerges: 1"), ("  a: [1", "  ab: [1"))
    again = written(found)
    assert "merges: 1\n" in again and parse(again, "f.yaml") == found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "text: ab",
            "2:1: text: a text without merges, expected merges: [[l, o], [lo, w]], or tokens in "
            "place of the text",
        ),
        (
            "text: ab\nmerges: []\ntokens: [a]",
            "2:1: text: text and tokens, expected only one of them",
        ),
        (
            "merges: [[a, b]]\ntokens: [a]",
            "2:1: merges: merges without a text, expected text: low lower lowest",
        ),
        (
            "text: ab\nmerges: [[ab, a], [a, b]]",
            "3:10: merges entry 1: 'ab' is neither a character nor the result of an earlier merge",
        ),
        (
            "text: ab\nmerges: [[l, o], [lo, w], [lwo, a]]",
            "3:27: merges entry 3: 'lwo' is neither a character nor the result of an earlier "
            "merge; did you "
            "mean 'lo' or 'low'?",
        ),
        ("text: ab\nmerges: [[a, a], a a]", "3:18: merges entry 2: the same as entry 1"),
        *(
            (
                f"text: ab\nmerges: [{merge}]",
                "3:10: merges entry 1: expected two symbols that are joined, such as [l, o], "
                f"got {came}",
            )
            for merge, came in [
                ("a", "'a'"),
                ("a b c", "'a b c'"),
                ('"a  b"', "'a  b'"),
                ("[a]", "a list"),
                ('[a, ""]', "a list"),
                ("[[a], b]", "a list"),
                ("{a: b}", "a mapping"),
            ]
        ),
        (
            "text: ab\nmerges: a b",
            "3:1: merges: expected a list, such as merges: [[l, o], [lo, w]], got 'a b'",
        ),
        (
            "text: ab\nmerges: 2",
            "3:1: merges: a number of merges without a corpus, expected corpus: {hug: 10, pug: 5} "
            "or pairs, such as [[l, o], [lo, w]]",
        ),
        (
            f"text: ab\n{CORPUS}\nmerges: [[a, b]]",
            "4:1: merges: with a corpus, expected how many merges to learn, such as merges: 3",
        ),
        (f"text: ab\n{CORPUS}\nmerges: 0", "4:1: merges: 0, expected at least 1"),
        (
            f"text: ab\n{CORPUS}\nmerges: 2",
            "4:1: merges: 2, expected at most 1: no more can be learned from this corpus",
        ),
        (
            "text: ab\ncorpus: {a b: 3, ab: 1}\nmerges: 1",
            "3:10: corpus.a b: 'a b', expected a word without spaces",
        ),
        (
            "text: ab\ncorpus: {ab: 0}\nmerges: 1",
            "3:10: corpus.ab: expected at least 1, got '0'",
        ),
        (f"tokens: [a]\n{CORPUS}", "3:1: corpus: a corpus without a text, expected text: hug pug"),
        ("text: [ab]\nmerges: []", "2:1: text: expected text, got a list"),
        ('text: ""\nmerges: []', "2:1: text: empty, expected at least one entry"),
        (f"text: ' '\n{CORPUS}\nmerges: 1", "2:1: tokens: empty, expected at least one entry"),
        (
            "text: abc\nmerges: []",
            "2:7: tokens entry 3: no embedding for the token 'c', expected c: [0.9, 0.1] in "
            "embeddings",
        ),
        (
            "text: ab\nmerges: []\ntoken_ids: [1]",
            "4:1: token_ids: 1 entry, expected 2 (one per token)",
        ),
    ],
)
def test_what_is_wrong_is_told_at_its_place(text: str, told: str) -> None:
    assert problems(typed(text)) == [f"f.yaml:{told}"]
