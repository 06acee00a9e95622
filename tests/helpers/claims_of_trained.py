"""What is said of trained models alone: what each layer would say, what is left out of a text."""

from __future__ import annotations

import re

from tests.helpers.claims_of_reasons import layers
from tests.helpers.judge import Check, Judge, Row, Said, as_shown

LONG, COLUMNS = 24, 8
"""Rows of more numbers are shown in part, and so many of them are."""


def since_when(at: Judge, said: Said) -> None:
    words = [at.values[f"layer{n}.lens.prediction"]["data"] for n in range(1, at.layers + 1)]
    mine = [layer[at.followed - len(at.tokens)] for layer in words]
    since = int(said.get("since") or len(mine))
    assert 1 < since <= len(mine) and bool(said.get("since")) == (since < len(mine))
    assert {as_shown(word) for word in mine[since - 1 :]} == {said["word"]}
    assert as_shown(mine[since - 2]) != said["word"] and said["who"] == at.who


def through_the_lens(at: Judge, said: Said) -> None:
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


CLAIMS: dict[str, Check] = {
    "Only the last layer predicts “{word:any}” after “{who:any}”.": since_when,
    "From layer {since:int} on, every layer predicts “{word:any}” after “{who:any}”.": since_when,
    "The largest share of its attention that “{who:any}” gives to each earlier token in any head, and the heads with the largest shares.": lambda at, said: (
        at.followed > 0
        and said["who"] == at.who
        and any(address.endswith(".weights") for address in at.values)
    ),
    "A row of more than {long:int} numbers is cut to {columns:int} numbers: the largest in magnitude for “{who:any}”; for words of the vocabulary, the highest; in a row that belongs to no token, the first.[rows: With more than {tokens:int} tokens, a matrix shows only the row of “{one:any}”.][sums: A sum of more than {most:int} terms is cut to {terms:int} term[s]: the {:first|largest} products, or the largest numbers of a row. The brackets after them contain the number of the other terms and their sum; for a maximum, the largest of the others.]": lambda at, said: (
        (int(said["long"]), int(said["columns"]), said["who"]) == (LONG, COLUMNS, at.who)
        and bool(said["rows"]) == (len(at.tokens) > LONG)
        and (not said["sums"] or int(said["terms"]) <= int(said["most"]))
    ),
    "[adds:Every layer adds to the same vector, so the vector can be read before the last layer. ]The logit lens treats the output of each layer as if it were that of the last one.[found: This shows in which layer a word appears.]": through_the_lens,
    "The weights of these steps are {n:int} parameters.": lambda at, said: int(said["n"]) > 0,
}
