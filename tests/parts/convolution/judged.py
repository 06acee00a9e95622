"""Convolutions along the tokens in random scenarios, and what is said of them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.helpers.claims_of_learning import steepest
from tests.helpers.claims_of_reasons import part_of, partly_given
from tests.helpers.judge import Judge, Said
from tests.helpers.judged_part import JudgedPart
from tests.helpers.random_parts import matrix
from tests.helpers.scenario_yaml import Scenario

Array = NDArray[np.float64]

LETTERS = {"query": "Q", "key": "K", "value": "V"}
SEVERAL = {"query": "queries", "key": "keys", "value": "values"}
ONE = {several: one for one, several in SEVERAL.items()}


def draw(spec: Scenario, rng: random.Random, share: float = 0.25) -> None:
    """Filters of some attentions of the decoder, where tokens read in order."""
    if "padding" in spec:
        return
    for layer in spec.get("layers", ()):
        part = layer.get("attention", {"latent": None})
        mask = part.get("mask", spec.get("mask", "causal"))
        in_order = mask == "causal" or (isinstance(mask, dict) and "window" in mask)
        if "latent" not in part and in_order and rng.random() < share:
            with_filters(part, rng)


def with_filters(part: Scenario, rng: random.Random) -> None:
    """Draw the filters of an attention, one at least."""
    heads = part["heads"]
    if any("W_Q" not in head for head in heads):
        return
    places = [
        (head, letter)
        for head in heads
        for letter in LETTERS.values()
        if letter == "Q" or "shares" not in head
    ]
    for head, letter in rng.sample(places, rng.randint(1, len(places))):
        head[f"conv_{letter}"] = matrix(rng.randint(1, 3), len(head[f"W_{letter}"][0]), rng)
    if rng.random() < 0.7:
        part["conv_activation"] = rng.choice(("silu", "none"))


def projected(
    attention: Mapping[str, Any], *rows: Sequence[Array]
) -> tuple[dict[str, Array], list[list[Array]]]:
    """What is computed of the convolutions, and the queries, keys and values behind them.

    The sums are products with a band matrix for each column, which is zero above its diagonal.
    """
    found: dict[str, Array] = {}
    behind = [list(each) for each in rows]
    for h, head in enumerate(attention["heads"]):
        owner = attention["heads"][head["shares"] - 1] if "shares" in head else head
        for (name, letter), changed in zip(LETTERS.items(), behind, strict=True):
            from_head = head if name == "query" else owner
            if f"conv_{letter}" not in from_head:
                continue
            w, x = np.array(from_head[f"conv_{letter}"], np.float64), changed[h]
            n, k = len(x), len(w)
            sums = np.column_stack(
                [
                    sum(np.eye(n, k=j + 1 - k) * w[j, column] for j in range(k)) @ x[:, column]
                    for column in range(x.shape[1])
                ]
            )
            silu = attention.get("conv_activation", "silu") == "silu"
            changed[h] = sums * (1 + np.tanh(sums / 2)) / 2 if silu else sums
            if name != "query" and "shares" in head:
                continue
            at = f"head{h + 1}.conv_{name}"
            found[at] = changed[h]
            if silu:
                found[f"{at}.sums"] = sums
            if k > 1:
                found[f"{at}.rows"] = np.vstack([np.zeros((k - 1, x.shape[1])), x])
    return found, behind


# --- checks --------------------------------------------------------------------------------------


def window(at: Judge, name: str) -> int:
    """How many rows the filter of a step has."""
    assert at.address.endswith(f".conv_{name}") and not partly_given(at)
    return len(at.values[at.address.replace(f"conv_{name}", f"conv_{LETTERS[name]}")]["data"])


def replaced(at: Judge, said: Said) -> None:
    name = said["what"]
    own = at.values[at.address.replace(f"conv_{name}", f"conv_{LETTERS[name]}")]
    others, before = said["others"].split(), window(at, name) - 1
    assert others == ([name] if before == 1 else [str(before), SEVERAL[name]])
    assert said["filter"] == own["symbol"] and before > 0
    silu(at, said)


def multiplied(at: Judge, said: Said) -> None:
    name = ONE[said["several"]]
    own = at.values[at.address.replace(f"conv_{name}", f"conv_{LETTERS[name]}")]
    assert window(at, name) == 1 and said["filter"] == own["symbol"]
    silu(at, said)


def silu(at: Judge, said: Said) -> None:
    assert bool(said["silu"]) == (part_of(at).get("conv_activation", "silu") == "silu")


def causal(at: Judge, said: Said) -> None:
    name = at.address.rpartition("conv_")[2]
    assert window(at, name) > 1


def cached(at: Judge, said: Said) -> None:
    name = at.address.rpartition("conv_")[2]
    before = window(at, name) - 1
    assert said["last"] == (name if before == 1 else f"{before} {SEVERAL[name]}")


def zeros(at: Judge, said: Said) -> None:
    assert int(said["number"]) == window(at, ONE[said["several"]]) - 1


def gradient(at: Judge, said: Said) -> None:
    assert at.address.startswith("gradient.") and at.address.endswith(f".conv_{said['what']}")
    assert bool(said["weights"]) == (steepest(at) is not None)


WORDS = "query|key|value"
SILU = "{silu:(?: SiLU is applied to each (?:sum|product)\\.)?}"

PART = JudgedPart(
    draw=draw,
    projected=projected,
    inside={
        rf"\.conv_{name}": tuple(f"conv_{name}.{end}" for end in ("before", "rows", "sums"))
        for name in LETTERS
    },
    titles_of_heads={f"Convolved {name}": f"conv_{name}" for name in LETTERS},
    phrases={
        f"Each {name}, mixed with those of the tokens just before.": f"conv_{name}"
        for name in LETTERS
    },
    captions={
        "The weighted sums:": r"conv_(query|key|value)(\.sums)?",
        "SiLU of each sum:": r"conv_(query|key|value)",
    },
    claims={
        f"Each {{what:{WORDS}}} is replaced by a weighted sum of itself and the {{others:(?:\\d+ )?\\w+}} before it. Each column has its own weights, a column of the filter {{filter}}.{SILU}": replaced,
        f"Each column of the {{several:queries|keys|values}} is multiplied by its weight in the filter {{filter}}.{SILU}": multiplied,
        "The convolution is causal: no sum reads a later token.": causal,
        "A cache keeps the last {last:(?:\\d+ )?\\w+} before the convolution, which the next sums read.": cached,
        "The {several:queries|keys|values} below {number:int} row{:s?} of zeros:": zeros,
        f"Compute the gradient at each convolved {{what:{WORDS}}}[weights: and at the weights that produce it].": gradient,
    },
    learned={rf"conv_{name}": f"conv_{letter}" for name, letter in LETTERS.items()},
    symbols={f"F_{letter}": f"conv_{letter}" for letter in LETTERS.values()},
)
