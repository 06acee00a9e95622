"""An independent reading of a word after each sub-layer, and the judge of what is said of it.

It reads the JSON of a pass: the vectors that each sub-layer leaves, W_U and the final norm; it
shares no code with the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.helpers.judge import as_shown, exact, pattern_of
from tests.helpers.reference import activated

Values = Mapping[str, Any]
Array = NDArray[np.float64]

TRANSFORM = "unembedding.transform."
"""The beginning of the addresses of what lies between the output and W_U."""
NAMES = {"attention": "attention", "cross_attention": "cross-attention", "ffn": "the FFN"}
SUB_LAYER = re.compile(r"layer(\d+)\.(attention|cross_attention|ffn)\..*")
WHERE = r"(?:before the first layer|after .+? ?in layer \d+|after layer \d+)"
FORMS = tuple(
    form.replace("WHERE", WHERE)
    for form in (
        "“{word:any}” has rank 1 {every:(?:before the first layer and )?after each sub-layer}.",
        "“{word:any}” has rank 1 {only:only at the end}, {first:WHERE}.",
        "“{word:any}” first has rank 1 {first:WHERE}, {kept:and keeps it}.",
        "“{word:any}” first has rank 1 {first:WHERE}, and has it again, to keep it, {again:WHERE}.",
        "“{word:any}” first has rank 1 {first:WHERE}, {lost:but not at the end}.",
        "“{word:any}” never has rank 1. Its best rank is {best:int}, first reached {when:WHERE}.",
    )
)
ENDS = (
    "After “{who:any}”, “{word:any}” ends with rank {rank:int} and a probability of {share} %"
    "[; the most probable word is “{most:any}”]."
)
MOVED = "The rank changes by the largest factor through {where:text}: from {a:int} to {b:int}."


@dataclass(frozen=True)
class Read:
    """What a vector says: the place of its sub-layer in words, and its logits."""

    address: str
    where: str
    logits: Array

    def rank(self, column: int) -> int:
        """1 and the number of larger logits."""
        return 1 + int((self.logits > self.logits[column]).sum())

    def probability(self, column: int) -> float:
        """The share of e to the power of a logit."""
        powers = np.exp(self.logits - self.logits.max())
        return float(powers[column] / powers.sum())

    @property
    def gap(self) -> float:
        """The smallest difference of two logits."""
        return float(np.diff(np.sort(self.logits)).min()) if len(self.logits) > 1 else 1.0


def read(values: Values, layers: Sequence[Any], row: int) -> list[Read]:
    """What the vectors of a token say, counted from the end: -1 is the last."""
    found = []
    for address, where in points(values, layers):
        x = _data(values[address])[row]
        if x.shape[0] == values.get(TRANSFORM + "W_M", values["unembedding.W_U"])["shape"][0]:
            found.append(Read(address, where, _logits(values, x)))
    return found


def points(values: Values, layers: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """The address of each vector, and where it is in words."""
    if "input" in values:
        yield "input", "before the first layer"
    last: dict[str, str] = {}
    for address in values:
        if match := SUB_LAYER.fullmatch(address):
            number, name = match.groups()
            parallel = layers[int(number) - 1].get("parallel") if layers else False
            last[f"layer {number}" if parallel else f"{NAMES[name]} in layer {number}"] = address
    yield from ((address, f"after {where}") for where, address in last.items())


def _data(value: Any) -> Array:
    return np.array(value["data"], np.float64)


def _logits(values: Values, x: Array) -> Array:
    """The logits of a vector, after the final norm, a division and a soft cap if there are any."""
    if "final_norm" in values:
        x = _normalized(values, x, "final_norm")
    if f"{TRANSFORM}W_M" in values:
        x = _transformed(values, x)
    z: Array = x @ _data(values["unembedding.W_U"])
    if "unembedding.b_U" in values:
        z = z + _data(values["unembedding.b_U"])
    if "logits.unscaled" in values:
        divided = values.get("logits.uncapped", values["logits"])
        z = z / float(divided["parameters"]["divisor"])
    if "logits.uncapped" in values:
        cap = float(values["logits"]["parameters"]["cap"])
        z = cap * np.tanh(z / cap)
    return z


def _transformed(values: Values, x: Array) -> Array:
    x = x @ _data(values[f"{TRANSFORM}W_M"])
    if f"{TRANSFORM}b_M" in values:
        x = x + _data(values[f"{TRANSFORM}b_M"])
    function = values[f"{TRANSFORM}activation"]["parameters"]["function"]
    x = activated(function, x)
    return _normalized(values, x, f"{TRANSFORM}norm") if f"{TRANSFORM}norm" in values else x


def _normalized(values: Values, x: Array, name: str) -> Array:
    is_rms = f"{name}.rms" in values
    root = values[f"{name}.rms" if is_rms else f"{name}.std"]["parameters"]
    x = x if is_rms else x - x.mean()
    sample = not is_rms and values[f"{name}.variance"]["parameters"]["sample"]
    spread = (x**2).sum() / (len(x) - sample)
    epsilon = float(root["epsilon"])
    divisor = np.sqrt(spread) + epsilon if root["outside"] else np.sqrt(spread + epsilon)
    asked = values[name]["parameters"]
    y: Array = x / divisor
    if asked["gain"]:
        y = y * (_data(values[f"{name}.gain"]) + bool(asked.get("unit_offset")))
    return y + _data(values[f"{name}.shift"]) if asked["shift"] else y


# --- claims --------------------------------------------------------------------------------------


def faults(
    said: Sequence[str], word: str, path: Sequence[tuple[str, int]], *, whole: bool = True
) -> list[str]:
    """What is wrong with the sentences of a text about ranks, each with where it is in words.

    One says where the word leads. Another names the largest factor, if only one is the largest and
    the path is whole.
    """
    of_leads = [line for line in said if any(pattern_of(form).fullmatch(line) for form in FORMS)]
    expected = leads(as_shown(word), path)
    found = [] if of_leads == [expected] else [f"{of_leads}, not {expected}"]
    moves = [line for line in said if pattern_of(MOVED).fullmatch(line)]
    due = moved(path) if whole else []
    return found if moves == due else [*found, f"{moves}, not {due}"]


def is_the_end(line: str, token: str, word: str, point: Mapping[str, Any]) -> bool:
    """Whether a sentence has the rank and the probability of a word at the last point."""
    match = pattern_of(ENDS).fullmatch(line)
    if match is None or (match["who"], match["word"]) != (as_shown(token), as_shown(word)):
        return False
    shown = exact(match["share"]) == 100 * exact(point["probability"]["printed"])
    most = as_shown(point["prediction"]) if point["rank"] > 1 else None
    return shown and int(match["rank"]) == point["rank"] and match["most"] == most


def leads(word: str, path: Sequence[tuple[str, int]]) -> str:
    """The sentence that says where a word has rank 1."""
    ranks = [rank for _, rank in path]
    if set(ranks) == {1}:
        start = "before the first layer and " if path[0][0] == "before the first layer" else ""
        return f"“{word}” has rank 1 {start}after each sub-layer."
    if 1 not in ranks:
        best = min(ranks)
        where = path[ranks.index(best)][0]
        return f"“{word}” never has rank 1. Its best rank is {best}, first reached {where}."
    first = ranks.index(1)
    begins = f"“{word}” first has rank 1 {path[first][0]}"
    if ranks[-1] != 1:
        return f"{begins}, but not at the end."
    since = max(i for i, rank in enumerate(ranks) if rank > 1) + 1
    if since != first:
        return f"{begins}, and has it again, to keep it, {path[since][0]}."
    if since == len(path) - 1:
        return f"“{word}” has rank 1 only at the end, {path[since][0]}."
    return f"{begins}, and keeps it."


def moved(path: Sequence[tuple[str, int]]) -> list[str]:
    """The sentence about the largest factor between two ranks; none if two are the largest."""
    factors = [Fraction(max(a, b), min(a, b)) for (_, a), (_, b) in pairwise(path)]
    largest = max(factors, default=Fraction(1))
    if largest == 1 or factors.count(largest) > 1:
        return []
    i = factors.index(largest)
    (_, before), (where, after) = path[i], path[i + 1]
    through = where.removeprefix("after ")
    what = f"The rank changes by the largest factor through {through}"
    return [f"{what}: from {before} to {after}."]
