"""What is said of trained models alone: what each layer would say, what is left out of a text."""

from __future__ import annotations

import re
from typing import Any

from tests.helpers.claims_of_reasons import layers
from tests.helpers.judge import Judge, Row, as_shown, form

LONG, COLUMNS = 24, 8
"""Rows of more numbers are shown in part, and so many of them are."""


@form(r"Only the last layer predicts “(?P<word>.*)” after “(?P<who>.*)”\.")
@form(r"From layer (?P<since>\d+) on, every layer predicts “(?P<word>.*)” after “(?P<who>.*)”\.")
def since_when(at: Judge, said: dict[str, Any]) -> None:
    words = [at.values[f"layer{n}.lens.prediction"]["data"] for n in range(1, at.layers + 1)]
    mine = [layer[at.followed - len(at.tokens)] for layer in words]
    since = int(said.get("since") or len(mine))
    assert 1 < since <= len(mine) and bool(said.get("since")) == (since < len(mine))
    assert {as_shown(word) for word in mine[since - 1 :]} == {said["word"]}
    assert as_shown(mine[since - 2]) != said["word"] and said["who"] == at.who


@form(
    r"The largest share of its attention that “(?P<who>.*)” gives to each earlier token in any "
    r"head, and the heads with the largest shares\."
)
def looked_at(at: Judge, said: dict[str, Any]) -> None:
    assert at.followed > 0 and said["who"] == at.who
    assert any(address.endswith(".weights") for address in at.values)


@form(
    r"A row of more than (?P<long>\d+) numbers is cut to (?P<columns>\d+) numbers: the largest "
    r"in magnitude for “(?P<who>.*)”; for words of the vocabulary, the highest; in a row that "
    r"belongs to no token, the first\.(?P<rows> With more than (?P<tokens>\d+) tokens, a matrix "
    r"shows only the row of “(?P<one>.*)”\.)? A sum of more than (?P<most>\d+) terms is cut to "
    r"(?P<terms>\d+) terms?: the (?:first|largest) products, or the largest numbers of a row\. "
    r"The brackets after them contain the number of the other terms and their sum; for a "
    r"maximum, the largest of the others\."
)
def excerpts(at: Judge, said: dict[str, Any]) -> None:
    assert (int(said["long"]), int(said["columns"]), said["who"]) == (LONG, COLUMNS, at.who)
    assert bool(said["rows"]) == (len(at.tokens) > LONG)
    assert int(said["terms"]) <= int(said["most"])


@form(
    r"(?P<adds>Every layer adds to the same vector, so the vector can be read before the last "
    r"layer\. )?The logit lens treats the output of each layer as if it were that of the last one\."
    r"(?P<found> This shows in which layer a word appears\.)?"
)
def through_the_lens(at: Judge, said: dict[str, Any]) -> None:
    parts = [
        (layer, layer[name])
        for layer in layers(at)
        for name in ("attention", "cross_attention", "ffn")
        if name in layer
    ]
    norms = [part.get("norm", layer.get("norm", "none")) for layer, part in parts]
    adds = all(part.get("residual", True) for _, part in parts) and all(
        norm in ("none", None) or norm.get("placement") == "pre" for norm in norms
    )
    assert bool(said["adds"]) == bool(said["found"]) == adds


@form(r"The weights of these steps are (?P<n>\d+) parameters\.")
def parameters_of_steps(at: Judge, said: dict[str, Any]) -> None:
    assert int(said["n"]) > 0


def shown_columns(row: Row, *, of_words: bool) -> set[str]:
    """The labels of the columns that are shown of a row."""
    if len(row.data) <= LONG:
        return set(row.labels)
    sizes = row.data if of_words else list(map(abs, row.data))
    order = sorted(range(len(sizes)), key=lambda column: -sizes[column])
    return {row.labels[column] for column in order[:COLUMNS]}


def bracketed(text: str) -> list[int]:
    """How many terms each sum leaves out."""
    return [int(number) for number in re.findall(r"\[(\d+) more: ", text)]
