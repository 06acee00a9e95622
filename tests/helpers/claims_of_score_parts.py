"""The judge of the sentences about an attention score's parts: it knows all, and recomputes claims.

It reads the page of a terminal, unwrapped, and the JSON of the same request.
"""

from __future__ import annotations

import re
from typing import Any

from tests.helpers.claims_of_attributions import HELD
from tests.helpers.judge import as_shown, exact
from tests.helpers.terminal_page import NUMBER

INTRODUCTION = re.compile(
    rf"The attention score of “(?P<query>.+?)” for “(?P<key>.+?)” is (?P<number>{NUMBER})\. It is "
    r"the dot product of a query and a key(?P<divided>, divided by a number)?\. Each of both is a "
    r"sum of parts, so the score is the sum of what each pair of their parts adds\."
    r"(?P<rest> Rounding adds the rest\.)?",
    re.DOTALL,
)
LARGEST = re.compile(rf"In size, the largest part is (?P<n>{NUMBER}) \((?P<name>.+)\)\.")
PAIRS = (
    "The score is the sum over all pairs of a part of the query and a part of the key. A pair adds "
    "their dot product"
)
GENERAL = (
    "The query is a sum of what each component adds to it, through all weights on the way. Each "
    "row is one component, a₁, a₂ and so on.",
    "The key is a sum in the same way, of b₁, b₂ and so on.",
    "The parts, the largest in size first.",
    "Their sum:",
    "From the forward pass:",
    "What rounding adds on the way; with it, the sum is exact:",
    HELD,
)


def faults(
    said: list[str], document: Any, *, divides: bool, rounds: bool, padding: bool
) -> list[str]:
    """What is wrong with the paragraphs of a page; `divides` says whether the score is divided.

    Of `padding`, nothing need be claimed.
    """
    found = []
    printed = [each["printed"] for each in document["parts"]]
    for line in said:
        if match := INTRODUCTION.fullmatch(line):
            row, column = document["entry"].rstrip("]").rpartition("[")[2].split(",")
            wanted = {"query": as_shown(row), "key": as_shown(column)}
            wanted |= {"number": document["printed"]}
            if any(match[name] != each for name, each in wanted.items()):
                found.append(f"not {wanted}: {line}")
            if bool(match["divided"]) != divides or bool(match["rest"]) != rounds:
                found.append(f"divided {divides}, rounded {rounds}: {line}")
        elif line.startswith(PAIRS):
            if line != PAIRS + ", divided as the score is" * divides + ".":
                found.append(f"divided, or not: {line}")
        elif match := LARGEST.fullmatch(line):
            sizes = [abs(exact(each)) for each in printed]
            part, (a, _, b) = document["parts"][0], match["name"].partition(" · ")
            is_first = part["label"] == f"{a} of {part['row']} · {b} of {part['column']}"
            if match["n"] != printed[0] or not is_first or sizes[0] == sizes[1]:
                found.append(f"not the largest: {line}, of {printed[:3]}")
        elif line not in GENERAL and not line.startswith("The sign = means"):
            found.append(f"unknown: {line}")
    if not any(INTRODUCTION.fullmatch(line) for line in said):
        found.append("no introduction")
    claimed = any(LARGEST.fullmatch(line) for line in said)
    due = len(printed) > 1 and abs(exact(printed[0])) != abs(exact(printed[1]))
    if claimed != due and not (padding and due):
        found.append(f"the largest part is named, or not: {printed[:2]}")
    return found
