"""What a text says first: the predicted word, the nearest vector, the largest feature."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from tests.helpers.claims_of_steps import prediction
from tests.helpers.judge import NOISE, UNNAMED, Check, Judge, Said, number


def share(said: str, shown: str) -> bool:
    return abs(number(said) / 100 - number(shown)) < NOISE


def predicted_first(at: Judge, said: Said) -> None:
    if at.heading:  # the prediction's own step says no more of a word that is certain
        assert said["p"] is None and said["next"] is None
        at.made["prediction"] += 1
        return prediction(at, said)
    assert said["who"] == at.who and not at.pinned("probabilities")
    assert at.tokens[at.followed] != at.padding
    row = at.row(at.values["probabilities"])
    clear = row.clear()
    assert row.labels[clear[0]] == said["word"]
    sure = number(row.shown[clear[0]]) == 1
    assert (said["p"] is None) == sure
    assert said["p"] is None or share(said["p"], row.shown[clear[0]])
    assert (said["next"] is None) == (sure or len(clear) == 1)
    if said["next"] is not None:
        assert row.labels[clear[1]] == said["next"] and share(said["q"], row.shown[clear[1]])


def nearest(at: Judge, said: Said) -> None:
    same = at.values.get("embedding", {}).get("data", [])
    same = [at.names[i] for i, row in enumerate(same) if row == same[at.followed]]
    inputs = dict(zip(at.names, at.values["input"]["data"], strict=True))
    told = said["equal"] is not None
    if told:
        assert said["own"] == at.who and sorted(same) == sorted([said["own"], said["twin"]])
        assert "position" in at.values or "position_table" in at.values
    differ = {str(inputs[name]) for name in same}
    words = {at.tokens[at.names.index(name)] for name in same}
    assert told == (len(same) == len(differ) == len(words) == 2)
    assert not at.heading and said["who"] == at.who and "probabilities" not in at.values
    ends = (("input", said["near"], "first"), ("output", said["then"] or said["near"], "last"))
    for address, name, end in ends:
        rows = np.array(at.values[address]["data"], dtype=float)
        distances = np.sqrt(((rows - rows[at.followed]) ** 2).sum(axis=1))
        if told:
            is_rounded(said[f"own_{end}"], distances[at.names.index(said["twin"])])
        distances[at.followed] = np.inf
        is_rounded(said[end], distances.min())
        assert at.names[int(distances.argmin())] == name and not at.pinned(address)
    assert said["then"] != said["near"]
    if said["feature"] is not None:
        largest(at, said)


def is_rounded(shown: str, distance: float) -> None:
    digits = shown.partition("×")[0]
    unit = Decimal(digits).as_tuple().exponent
    assert isinstance(unit, int)
    power = number(shown) / number(digits) if "×" in shown else 1
    assert abs(number(shown) - distance) <= 0.51 * 10.0**unit * power + 1e-9


def largest(at: Judge, said: Said) -> None:
    assert not at.heading and "probabilities" not in at.values
    for address, name, shown in (("input", "feature", "x"), ("output", "other", "y")):
        row = at.row(at.values[address])
        column = row.clear()[0]
        assert row.labels[column] == said[name] and row.shown[column] == said[shown]
    assert not UNNAMED.fullmatch(said["feature"])


LARGEST = (
    "The largest feature is “{feature:name}” ({x}) at the input of the first layer and “{other:name}” ({y}) at the "
    "output."
)
CLAIMS: dict[str, Check] = {
    "After “{who:name}”, the model predicts “{word:name}”[ ({p} %)][; the next most probable word is “{next:name}” ({q} %)].": predicted_first,
    "[equal:The embeddings of “{own:name}” and “{twin:name}” are equal; their positions tell them apart. Their distance is {own_first:word} at the input of the first layer and {own_last:word} at the output. ]The vector of “{who:name}” is closest to that of “{near:name}” at the input of the first layer (Euclidean distance {first:word}) and [to that of “{then:name}” ]at the output ({last:word})."
    f"[ {LARGEST}]": nearest,
    LARGEST: largest,
}
