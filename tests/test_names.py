"""Words around names: names that occur twice can be told apart, in every text."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tests.helpers.command import printed, run_json
from tracer.names import distinct


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ("a|b|c", "a|b|c"),
        ("the|cat|the", "the (1)|cat|the (3)"),
        ("a|a|a (1)", "a (1)|a (2)|a (1) (3)"),
        ("a (2)|a|a", "a (2) (1)|a (2)|a (3)"),
    ],
)
def test_names_that_occur_twice_have_their_positions(names: str, shown: str) -> None:
    assert "|".join(distinct(tuple(names.split("|")))) == shown


LIKE_A_POSITION = st.sampled_from(("a", "a (1)", "a (2)", "a (3)", "a (1) (1)", "a (1) (3)", "b"))


@given(st.lists(LIKE_A_POSITION, max_size=6))
def test_names_are_distinct_whatever_they_are(names: list[str]) -> None:
    shown = distinct(tuple(names))
    assert len(set(shown)) == len(names)
    assert all(new.startswith(name) for new, name in zip(shown, names, strict=True))


TOKENS = ["a", "a", "a (1)"]
TWINS = f"title: twins\ntokens: {TOKENS}\nembeddings: [[1], [2], [3]]\n"


@pytest.mark.parametrize("form", ["terminal", "markdown", "latex"])
def test_no_text_has_two_rows_of_one_name(form: str) -> None:
    text = printed("step", "input", "-s", "-", "--format", form, stdin=TWINS)
    assert all(name in text for name in distinct(tuple(TOKENS)))


def test_labels_stay_as_they_were_typed() -> None:
    values = {value["address"]: value for value in run_json("-", stdin=TWINS)["values"]}
    assert values["input"]["axes"][0]["labels"] == TOKENS
