"""An independent judge of `compare`: recomputes each difference from the runs' own JSON.

It also reads the printed tables: which row is marked, and whether each number is rounded correctly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.helpers.claims_of_comparisons import DIFFERS, MOVES
from tests.helpers.judge import as_shown, exact, told_apart
from tests.helpers.terminal_page import NUMBER
from tests.helpers.word_paths import points

Pairs = list[tuple[int, int]]
Document = dict[str, Any]

TOLERANCE = 1e-9
ROW = re.compile(r"^(▸| ) (\d+) +(\S+) +(\S+) +(\S+)$", re.MULTILINE)
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
IDS = "token_ids"
EXTREME = re.compile(r"-?(inf|[\d.]+E[-+]?\d{3,})")
"""Numbers that no float can be, which JSON has as strings."""


def faults_of_comparison(found: Document, first: Document, second: Document) -> list[str]:
    """What a comparison as JSON claims and two runs as JSON do not bear out."""
    faults = []
    expected = differences(first, second)
    claimed = {each["address"]: _number(each["difference"]) for each in found["steps"]}
    if list(claimed) != list(expected):
        faults.append(f"compared: {sorted(claimed.keys() ^ expected.keys())}")
    for address, (largest, _) in expected.items():
        if not np.isclose(claimed.get(address, np.nan), largest, rtol=1e-9, atol=1e-300):
            faults.append(f"{address}: {claimed.get(address)}, expected {largest}")
    differ = [address for address, (_, relative) in expected.items() if relative > TOLERANCE]
    if found["first_difference"] != next(iter(differ), None):
        faults.append(f"first: {found['first_difference']}, expected {differ[:1]}")
    for claim, run in zip(found["predictions"], (first, second), strict=True):
        if claim != _prediction(run):
            faults.append(f"predicted: {claim}, expected {_prediction(run)}")
    shares = [each["effect"] for each in found["sweep"]]
    if shares != sorted(shares, reverse=True):
        faults.append(f"not ranked: {shares}")
    return faults


def faults_of_table(text: str, found: Document) -> Iterator[str]:
    """Rows of the printed table that contradict the JSON."""
    claimed = {each["address"]: _number(each["difference"]) for each in found["steps"]}
    rows = [row for row in ROW.findall(text) if row[4] in claimed]
    if (found["first_difference"] is None) != (not rows):
        yield "a table without a difference, or a difference without a table"
    for _, _, printed, _, address in rows:
        if not _is_rounded(printed, claimed[address]):
            yield f"{address}: printed {printed}, is {claimed[address]}"
    marked = [address for mark, _, _, _, address in rows if mark == "▸"]
    order = list(claimed)
    if marked and order.index(marked[0]) < order.index(found["first_difference"]):
        yield f"marked: {marked[0]}, before {found['first_difference']}"


def faults_of_token(
    text: str, first: Document, second: Document, layers: Sequence[Any]
) -> Iterator[str]:
    """What is said of the last token's rows and attention, and the runs do not bear out."""
    ours, theirs = _values(first), _values(second)
    off = {
        where: float(np.abs(_array(ours[a])[-1] - _array(theirs[a])[-1]).max())
        for a, where in points(ours, layers)
        if a in theirs and ours[a]["shape"][1:] == theirs[a]["shape"][1:]
    }
    size = max((np.abs(_array(ours[a])[-1]).max() for a, _ in points(ours, layers)), default=0.0)
    _, found, section = text.partition("At the followed token\n")
    if not found:
        if max(off.values(), default=0.0) > 1e-6 * (1 + size):
            yield f"nothing is said of {off}"
        return
    section = section.split("How far apart")[0]
    bars = re.findall(rf"^  \S.*? {{2,}}({NUMBER}) +│", section, re.M)
    if len(off) > 1 and len(bars) != len(off):
        yield f"{len(bars)} bars of {off}"
    for printed, (where, number) in zip(bars, off.items(), strict=False):
        if (
            abs(float(printed.replace("×10⁻", "e-").translate(RAISED)) - number)
            > 0.051 * number + 1e-9
        ):
            yield f"{where}: {printed}, is {number}"
    said = re.search(rf"The row {DIFFERS}\.{MOVES}", " ".join(section.split()))
    since = next(where for where, number in off.items() if number > 1e-9 * (1 + size))
    if (
        said is None
        or (f"after {said['where']}" if said["where"] else "before the first layer") != since
    ):
        yield f"not {since}: {said and said[0]}"
    elif said["head"]:
        yield from _faults_of_attention(said, ours, theirs)


def _faults_of_attention(
    said: re.Match[str], ours: dict[str, Any], theirs: dict[str, Any]
) -> Iterator[str]:
    """No weight of the last token changes more than the named one."""
    changes = {}
    for address in ours:
        match = re.fullmatch(r"layer(\d+)\.(cross_)?attention\.head(\d+)\.weights", address)
        if match is None or address not in theirs:
            continue
        labels = [told_apart(run[address]["axes"][1]["labels"]) for run in (ours, theirs)]
        rows = [_array(run[address])[-1] for run in (ours, theirs)]
        shown = [run[address]["printed"][-1] for run in (ours, theirs)]
        for i, j in _pairs(*(run[address]["axes"][1]["labels"] for run in (ours, theirs))):
            both = (as_shown(labels[0][i]), as_shown(labels[1][j]))
            name = (match[1], bool(match[2]), match[3], *both)
            changes[name] = abs(rows[0][i] - rows[1][j]), (shown[0][i], shown[1][j])
    named = (said["layer"], bool(said["crosses"]), said["head"])
    key = (said["key"], said["other"] or said["key"])
    change, printed = changes.get((*named, *key), (0.0, None))
    if change < max(each for each, _ in changes.values()) - 1e-9:
        yield f"not the largest change: {said[0]}"
    if printed is None or [exact(each) * 100 for each in printed] != [
        exact(said[name]) for name in ("before", "after")
    ]:
        yield f"not {printed}: {said[0]}"


def differences(first: Document, second: Document) -> dict[str, tuple[float, float]]:
    """The largest difference of each value of both runs, and its share of the first's largest."""
    ours, theirs = (_values(run) for run in (first, second))
    texts = [(_tokens(ours, name), _tokens(theirs, name)) for name in ("tokens", "encoder.tokens")]
    found = {}
    for address, own in ours.items():
        other = theirs.get(address)
        if other is None or address == IDS or _is_words(own):
            continue
        a, b = _array(own), _array(other)
        indices = _indices(own["axes"], other["axes"], texts)
        if indices is None or not all(indices):
            continue
        for axis, pairs in enumerate(indices):
            a = np.take(a, [i for i, _ in pairs], axis)
            b = np.take(b, [j for _, j in pairs], axis)
        off = np.where(a == b, 0, np.abs(np.where(a == b, 0, a) - np.where(a == b, 0, b)))
        finite = np.abs(a[np.isfinite(a)])
        largest = float(off.max(initial=0))
        found[address] = largest, largest / (float(finite.max(initial=0)) or 1.0)
    return found


def _indices(ours: Any, theirs: Any, texts: Sequence[tuple[Any, Any]]) -> list[Pairs] | None:
    if len(ours) != len(theirs):
        return None
    found = []
    for place, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        text = {"token": 0, "encoder token": 1}.get(a["name"])
        if place == 0 and text is not None:
            pairs = _pairs(*texts[text]) if texts[text][0] else _every(a["labels"])
            rows = a.get("positions"), b.get("positions")
            if None not in rows:
                pairs = [
                    (rows[0].index(i + 1), rows[1].index(j + 1))
                    for i, j in pairs
                    if i + 1 in rows[0] and j + 1 in rows[1]
                ]
            found.append(pairs)
        elif (a["labels"], b["labels"]) in texts and len(a["labels"]) != len(b["labels"]):
            found.append(_pairs(a["labels"], b["labels"]))
        elif len(a["labels"]) != len(b["labels"]) or _other_words(a, b):
            return None
        else:
            found.append(_every(a["labels"]))
    return found


def _other_words(a: Any, b: Any) -> bool:
    return bool(a["name"] == "word" and a["labels"] != b["labels"])


def _every(labels: Sequence[str]) -> Pairs:
    return [(i, i) for i in range(len(labels))]


def _pairs(a: Sequence[str], b: Sequence[str]) -> Pairs:
    """The same positions of texts of equal length; else the shared beginning and end."""
    if len(a) == len(b):
        return _every(a)
    least = min(len(a), len(b))
    begin = max(n for n in range(least + 1) if list(a[:n]) == list(b[:n]))
    rest = least - begin
    end = max(n for n in range(rest + 1) if list(a[len(a) - n :]) == list(b[len(b) - n :]))
    return [*_every(a[:begin]), *((len(a) - n, len(b) - n) for n in range(end, 0, -1))]


def _values(run: Document) -> dict[str, Any]:
    return {value["address"]: value for value in run["values"]}


def _tokens(values: dict[str, Any], name: str) -> list[str]:
    return list(values[name]["data"]) if name in values else []


def _is_words(value: Any) -> bool:
    entries = np.array(value["data"], object).ravel().tolist()
    return any(isinstance(entry, str) and not EXTREME.fullmatch(entry) for entry in entries)


def _array(value: Any) -> NDArray[np.float64]:
    return np.array(value["data"], object).astype(float).reshape(value["shape"])


def _prediction(run: Document) -> Any:
    values = _values(run)
    if "prediction" not in values:
        return None
    word = values["prediction"]["data"][-1]
    column = values["logits"]["axes"][1]["labels"].index(word)
    logit, share = (values[name]["data"][-1][column] for name in ("logits", "probabilities"))
    return {"word": word, "logit": logit, "probability": share}


def _number(written: float | str) -> float:
    return float(written)


def _is_rounded(printed: str, number: float) -> bool:
    """Whether a number is printed with two significant digits, or with all it has."""
    if number == np.inf:
        return printed == "∞"
    digits, _, power = printed.partition("×10")
    shown = Decimal(digits).scaleb(int(power.translate(RAISED) or 0))
    if not number:
        return not shown
    unit = Decimal(1).scaleb(Decimal(repr(number)).adjusted() - 1)
    return abs(shown - Decimal(repr(number))) <= unit / 2
