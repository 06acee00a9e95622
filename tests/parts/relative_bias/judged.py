"""Relative biases in random scenarios, and what is said of them."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

from tests.helpers.judge import Judge, Said, number
from tests.helpers.judged_part import JudgedPart
from tests.helpers.random_parts import matrix
from tests.helpers.relative_biases import bucket_of, is_bidirectional
from tests.helpers.scenario_yaml import Scenario


def draw(spec: Scenario, rng: random.Random) -> None:
    """A table for a tower whose attentions have equally many heads, in place of its positions."""
    for tower in (spec, spec.get("encoder", {})):
        attentions = [each["attention"] for each in tower.get("layers", ()) if "attention" in each]
        heads = {len(each["heads"]) for each in attentions}
        positions = tower.get("positions", "none")
        is_rotary = positions != "none" and "rotary" in positions
        has_states = any(each.get("kind", "softmax") != "softmax" for each in attentions)
        if len(heads) == 1 and not (is_rotary or has_states) and rng.random() < 0.3:
            tower["positions"] = {"relative_bias": _biases(heads.pop(), rng)}


def _biases(heads: int, rng: random.Random) -> Scenario:
    rows = rng.choice((4, 4, 6, 8, 12))
    own: Scenario = {"table": matrix(rows, heads, rng)}
    if rng.random() < 0.7:
        own["max_distance"] = rows // 2 + rng.randint(1, 4)
    if rng.random() < 0.3:
        own["buckets"] = rows
    if rng.random() < 0.3:
        own["bidirectional"] = rng.random() < 0.5
    return own


# --- what is said of them ------------------------------------------------------------------------


def keys(at: Judge) -> Mapping[str, Any]:
    """The keys of the tower of a section."""
    found: Mapping[str, Any] = at.spec["positions"]["relative_bias"]
    return found


def sees_later(at: Judge) -> bool:
    return at.outside is not None or at.spec.get("mask") == "none"


def buckets(at: Judge) -> int:
    """The buckets of one direction."""
    return len(keys(at)["table"]) // (1 + is_bidirectional(keys(at), sees_later=sees_later(at)))


def of_offsets(at: Judge, said: Said) -> None:
    own, both = keys(at), is_bidirectional(keys(at), sees_later=sees_later(at))
    assert at.address.endswith("position.bias")

    def bucket(offset: int) -> int:
        return bucket_of(offset, own, sees_later=sees_later(at))

    exact = buckets(at) // 2
    assert [bucket(-distance) for distance in range(exact)] == list(range(exact))
    assert int(said["exact"] or 1) == exact
    if said["both"]:
        assert both and int(said["both"]) == bucket(1) - bucket(-1)
    else:
        assert not both and bucket(1) == bucket(5) == bucket(0) == 0
    name = at.address.removesuffix("bias") + "logarithmic"
    assert (said["d"] is not None) == (name in at.values)
    if said["d"] is None:
        return
    far = at.values[at.address.removesuffix("bias") + "far"]["data"]
    logarithms = at.values[name]
    assert (int(said["from"]), int(said["last"])) == (own.get("max_distance", 128), exact_last(at))
    assert bucket(-int(said["from"])) == bucket(-9999) == int(said["last"])
    printed = [math.floor(number(shown)) for shown in logarithms["printed"]]
    are_rounded_down = printed == [bucket(-int(float(distance))) for distance in far]
    assert are_rounded_down == (said["l"] is not None)


def exact_last(at: Judge) -> int:
    return buckets(at) - 1


def enough(at: Judge, said: Said) -> None:
    assert at.address.endswith("position.bias") and int(said["rows"]) == len(keys(at)["table"])


def from_column(at: Judge, said: Said) -> None:
    """A head reads the column of its number; the first layer that has it."""
    assert at.address.endswith(".scores_and_bias")
    _, bias = at.result["operands"]
    assert at.near("relative_bias")["symbol"] == at.values[bias]["symbol"]
    head = at.address.rpartition("head")[2].partition(".")[0]
    assert said["column"] == (head if len(keys(at)["table"][0]) > 1 else None)


def same(at: Judge, said: Said) -> None:
    """All layers add the matrix of the first one."""
    assert at.address.endswith(".scores_and_bias")
    _, bias = at.result["operands"]
    assert said["symbol"] == at.values[bias]["symbol"]
    assert bias.rpartition(".")[0] != at.address.rpartition(".")[0]


def of_offset(at: Judge, said: Said) -> None:
    """Equal offsets have equal biases, whatever the tokens are."""
    assert at.address.endswith(".scores_and_bias")
    rows = at.values[at.result["operands"][1]]["data"]
    known: dict[int, str] = {}
    for query, row in enumerate(rows):
        for key, bias in enumerate(row):
            assert known.setdefault(key - query, bias) == bias


def own_columns(at: Judge, said: Said) -> None:
    assert at.address.endswith(".scores_and_bias") and len(keys(at)["table"][0]) > 1


def gradient(at: Judge, said: Said) -> None:
    assert at.address.startswith("gradient.") and at.address.endswith("position.bias")
    learned = at.address.replace("position.bias", "positions.relative_bias.table")
    assert (said["table"] is not None) == (learned in at.values)


PART = JudgedPart(
    draw=draw,
    titles_of_heads={"Relative bias": "scores_and_bias"},
    titles_outside={"Biases of the offsets": "position.bias"},
    backward_titles={
        "the biases of the offsets": "Biases of the offsets",
        "the scores with their bias": "Relative bias",
    },
    phrases={
        "The bias of each offset.": r"position\.bias",
        "The scores plus the bias of each offset.": "scores_and_bias",
    },
    backward={"Compute the gradient at each score with its bias.": "scores_and_bias"},
    captions={
        "The larger distances on a logarithmic scale:": r"position\.logarithmic",
        "The bias of each offset, for each head:": r"position\.bias",
        "The bias of each pair of tokens:": "relative_bias",
        "Each score plus its bias:": "scores_and_bias",
    },
    claims={
        "The offset is the key's position minus the query's: −1 is the token before. The offset decides which bucket of the table a score's bias comes from. {:Distance 0 has|Each distance below (?P<exact>\\d+) has} a bucket of its own.[ The bucket of a larger distance {d} is the whole part of {:(?P<l>ℓᴱ?)|the unrounded number}, and from {from:int} on, it is {last:int}, the last one.]{: For later tokens, (?P<both>\\d+) is added\\.| All later tokens have bucket 0, like the token itself\\.}": of_offsets,
        "Distant tokens share buckets, so the {rows:int} rows of {table} are enough for a text of any length.": enough,
        "Each score gets the bias of its offset, from [column {column:int} of ]{biases}.": from_column,
        "Each score gets the bias of its offset. {symbol} is the same in all layers.": same,
        "The bias of two tokens depends only on how far apart they are and which comes first, not on what they are.": of_offset,
        "Each head has its own biases, so that one head can favor the token before and another one distant tokens.": own_columns,
        "Compute the gradient at the bias of each offset.[table: Each entry of the table adds up the gradients of its bucket's offsets.]": gradient,
    },
    learned={r"position\.bias": "positions.relative_bias.table"},
    symbols={"T": "positions.relative_bias.table"},
)
