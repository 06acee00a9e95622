"""The judge of the sentences about an attention score's parts: it knows all, and recomputes claims.

It reads the page of a terminal, unwrapped, and the JSON of the same request.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from tests.helpers.claims_of_attributions import HELD
from tests.helpers.judge import as_shown, exact
from tests.helpers.terminal_page import NUMBER

PARTS = (
    r"(?P<{1}>one part, {0}₁|the parts {0}₁ to {0}[₀-₉]+|"
    r"the parts {0}₁ \([^()]+\)(?:, {0}₂ \([^()]+\))? and {0}[₂₃] \([^()]+\))"
)
INTRODUCTION = re.compile(
    rf"The attention score of “(?P<query>.+?)” for “(?P<key>.+?)” is (?P<number>{NUMBER})\. It is "
    r"the dot product of a query and a key(?P<divided>, divided by a number)?\. The query has "
    rf"{PARTS.format('a', 'queries')}, the key has {PARTS.format('b', 'keys')}\. The score is the "
    r"sum of what each pair of their parts adds\.(?P<rest> Rounding adds the rest\.)?",
    re.DOTALL,
)
LARGEST = re.compile(
    rf"The largest part(?P<size> in size)? is (?P<n>{NUMBER}) \(a[₀-₉]+ · b[₀-₉]+\)\."
)
SUM = r"{0}[₀-₉]+ (?P<{1}>.+) has the largest sum of the {1}'s parts \((?P<{1}_sum>{2})\)"
SUMS = [SUM.format(*each, NUMBER) for each in (("a", "query"), ("b", "key"))]
LARGEST_SUMS = re.compile(rf"In size, (?:{SUMS[0]})?(?: and )?(?:{SUMS[1]})?\.", re.DOTALL)
FACTOR = re.compile(
    rf"The sub-layer's output is multiplied by (?P<factor>{NUMBER}), and so are its parts\."
)
NORM = re.compile(
    r"(?:LayerNorm subtracts the mean of a token's numbers\. That is the sum of the means of the "
    r"parts, so each part's own mean is subtracted from it\. )?The norm's divisor keeps its number "
    r"from this pass\. The parts are divided by it(?: and multiplied by (?:1 \+ )?γ)?\."
    r"(?P<shift> β is a part of its own\.)?"
)
PROJECTION = re.compile(
    r"The (?P<what>query|key|latent vector(?: of the queries)?|rotary part of the (?:query|keys)) is "
    r"its token's (?:vector|row of \S+) times (?P<w>\S+)\. The parts are therefore "
    r"multiplied by (?P=w), too\.(?P<bias> The bias is a part of the (?P=what), too\.)?"
    r"(?P<zeros> A component that adds nothing to it has zeros\.)?"
)
CARRIED = re.compile(
    r"Each row is what one component adds to the (?:latent vector(?: of the queries)?, normalized|"
    r"(?:query|key) with its rotary part)\."
)
PAIRS = (
    "The score is the sum over all pairs of a part of the query and a part of the key. A pair adds "
    "their dot product"
)
GENERAL = (
    *(
        f"The {what} is computed from its token's vector, and this vector is a sum. Each row is "
        "what one component adds to it."
        for what in ("query", "key")
    ),
    *(
        f"A rotation is linear: the parts of the {what} are rotated by the same angles."
        for what in ("query", "key")
    ),
    "The output of the sub-layer is a sum. Each row is what one component adds to it.",
    "The output of attention is all heads side by side, times W_O. A head adds its output times its rows of W_O.",
    "The output of attention is all heads side by side. A head adds its columns.",
    "The FFN adds its hidden layer times W_2.",
    "The expert's output is multiplied by its weight for this token, which keeps its number from this pass. The parts of the output are multiplied by it, too.",
    "The sum of a row is what one part of the query adds with all parts of the key. The sum of a column is what one part of the key adds with all parts of the query.",
    *("The mean of each part:", "Each part minus its mean:", "Divided by the norm's divisor:"),
    *("With β:", "With the bias:", "Each part of the query:", "Each part of the key:"),
    "The parts c, the largest in size first:",
    "Their sum:",
    "From the forward pass:",
    "Rounding error:",
    HELD,
)


def faults(
    said: list[str],
    document: Any,
    *,
    divides: bool,
    rounds: bool,
    padding: bool,
    factors: set[str],
) -> list[str]:
    """What is wrong with the paragraphs of a page; `divides` says whether the score is divided.

    `factors` are those of the scenario's sub-layers. Of `padding`, nothing need be claimed.
    """
    found = []
    printed = [each["printed"] for each in document["parts"]]
    ends = [each["address"].split(" × ") for each in document["parts"]]
    for line in said:
        if match := INTRODUCTION.fullmatch(line):
            row, column = document["entry"].rstrip("]").rpartition("[")[2].split(",")
            wanted = {"query": as_shown(row), "key": as_shown(column)}
            wanted |= {"number": document["printed"]}
            if any(match[name] != each for name, each in wanted.items()):
                found.append(f"not {wanted}: {line}")
            if bool(match["divided"]) != divides or bool(match["rest"]) != rounds:
                found.append(f"divided {divides}, rounded {rounds}: {line}")
            counts = [len(set(side)) for side in zip(*ends, strict=True)]
            sides = [match[side] for side in ("queries", "keys")]
            if [_number(re.findall("[₀-₉]+", side)[-1]) for side in sides] != counts:
                found.append(f"not {counts} parts: {line}")
            names = [{each[2] for each in _sums(document, side)} for side in range(2)]
            for side, known in zip(sides, names, strict=True):
                if not set(re.findall(r"\((.+?)\)", side)) <= known:
                    found.append(f"not {known}: {line}")
        elif line.startswith(PAIRS):
            if line != PAIRS + ", divided as the score is" * divides + ".":
                found.append(f"divided, or not: {line}")
        elif match := LARGEST.fullmatch(line):
            sizes = [abs(exact(each)) for each in printed]
            negative = printed[0].startswith("-")
            if match["n"] != printed[0] or sizes[0] == sizes[1] or bool(match["size"]) != negative:
                found.append(f"not the largest: {line}, of {printed[:3]}")
        elif match := LARGEST_SUMS.fullmatch(line):
            for side, what in enumerate(("query", "key")):
                found += _not_the_largest_sum(match, side, what, document)
        elif match := FACTOR.fullmatch(line):
            if match["factor"] not in factors:
                found.append(f"none of {factors}: {line}")
        elif match := NORM.fullmatch(line):
            if match["shift"] and not any("shift" in each for pair in ends for each in pair):
                found.append(f"no β: {line}")
        elif match := PROJECTION.fullmatch(line):
            side = 0 if match["what"] == "query" else 1
            name = {"query": "b_Q", "key": "b_K"}.get(match["what"], "no bias")
            if bool(match["bias"]) != any(pair[side].endswith(name) for pair in ends):
                found.append(f"a bias, or none: {line}")
        elif not _is_general(line):
            found.append(f"unknown: {line}")
    if not any(INTRODUCTION.fullmatch(line) for line in said):
        found.append("no introduction")
    if not any(LARGEST_SUMS.fullmatch(line) for line in said) and not padding:
        for side in range(2):
            ranked = _sums(document, side)
            if len(ranked) > 1 and ranked[0][0] - ranked[1][0] > _least(document):
                found.append(f"the largest sum is not named: {ranked[:2]}")
    claimed = any(LARGEST.fullmatch(line) for line in said)
    due = len(printed) > 1 and abs(exact(printed[0])) != abs(exact(printed[1]))
    if claimed != due and not (padding and due):
        found.append(f"the largest part is named, or not: {printed[:2]}")
    return found


def _is_general(line: str) -> bool:
    """Whether a sentence is true of every score; the encoder's symbols have a sign."""
    plain = line.replace("ᴱ", "").replace("W₂", "W_2")
    if CARRIED.fullmatch(plain):
        return True
    return plain in GENERAL or bool(re.match(r"The sign = means|As in step \d+\.$", line))


def _number(subscript: str | None) -> int:
    """The number that a subscript stands for; 1 for none."""
    return int(subscript.translate(str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789"))) if subscript else 1


def _sums(document: Any, side: int) -> list[tuple[Decimal, Decimal, str]]:
    """The size, the sum and the name of each part of the query or the key, the largest first."""
    sums: dict[str, Decimal] = {}
    names = {}
    for part in document["parts"]:
        address = part["address"].split(" × ")[side]
        sums[address] = sums.get(address, Decimal(0)) + Decimal(str(part["value"]))
        of = part["row"] if side == 0 else part["column"]
        names[address] = part["label"].split(" · ")[side].removesuffix(f" of {of}")
    ranked = [(abs(total), total, names[address]) for address, total in sums.items()]
    return sorted(ranked, key=lambda each: each[0], reverse=True)


def _least(document: Any) -> Decimal:
    """One unit of the last digit of the part that is printed with the fewest decimals."""
    places = [exact(each["printed"]).as_tuple().exponent for each in document["parts"]]
    return Decimal(10) ** max(int(place) for place in places)


def _not_the_largest_sum(match: re.Match[str], side: int, what: str, document: Any) -> list[str]:
    if match[what] is None:
        return []
    ranked = _sums(document, side)
    (size, total, _), *others = ranked
    near = _least(document)
    names = [name for own, _, name in ranked if size - own <= near]
    off = abs(exact(match[f"{what}_sum"]) - total) > near
    if match[what] not in names or off or not others:
        return [f"not the largest sum of the {what}: {match[0]}, of {ranked[:2]}"]
    return []
