"""Matches → the text of a figures file, which its author completes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from tracer.check.draft.candidates import Candidate
from tracer.check.draft.matching import Match
from tracer.check.draft.reading import Group, Row
from tracer.check.listed import LEFT_OUT
from tracer.decoder.axes import Axis
from tracer.lesson.entries import position
from tracer.names import count, distinct

MOST_OTHERS = 4
MOST_OPEN = 12
"""So many numbers of a line without an address are listed."""


def figures_text(title: str, found: Sequence[Match], every: Sequence[Group]) -> str:
    """Return a figures file: an entry for each row, doubts and alternatives as comments."""
    doubtful = sum(bool(match.others) for match in found)
    lines = [
        "# Drafted from the text; compare each address with it.",
        *([f"# {count(doubtful, 'place')} marked: # ambiguous"] if doubtful else []),
        f"text: {json.dumps(title, ensure_ascii=False)}",
        "figures:",
        *(line for match in found for line in _entries(match)),
        *_open(found, every),
    ]
    return "\n".join(lines) + "\n"


def _entries(match: Match) -> Iterator[str]:
    """Yield the entries of a match, one for each row, below what else it may be."""
    for kind, others in (("ambiguous", match.others), ("or", match.alternatives)):
        if others:
            yield f"  # {kind}: {', '.join(map(_place, others[:MOST_OTHERS]))}"
    value, is_matrix = match.candidate.value, len(match.rows) > 1
    for i, row in enumerate(match.rows):
        line = match.group.lines[i] if is_matrix else match.line
        candidate = Candidate(value, (i, None)) if is_matrix else match.candidate
        yield _entry(line, candidate, row, match.example)


def _entry(line: int, candidate: Candidate, row: Row, example: int | None) -> str:
    fields = [f"line: {line}", f"address: {candidate.value.address}"]
    fields += [f"example: {example}"] if example else []
    axes = zip(("row", "column"), candidate.value.axes, candidate.at, strict=False)
    for key, axis, index in axes:
        if index is not None:
            fields.append(f"{key}: {_label(axis, index)}")
    if candidate.part != "value":
        fields.append(f"part: {candidate.part}")
    texts = [number.text.replace(" ", "") for number in row]
    if candidate.shown:
        left = iter(texts)
        texts = [next(left) if is_shown else LEFT_OUT for is_shown in candidate.shown]
    whole = len(texts) > 1 or candidate.part == "products"
    fields.append(f"printed: {'[' + ', '.join(texts) + ']' if whole else texts[0]}")
    return f"  - {{{', '.join(fields)}}}"


def _label(axis: Axis, index: int) -> str:
    """Return the label of a row or column, or its number if the label does not name it."""
    label = distinct(axis.labels)[index]
    named = label.strip() == label and position(axis, label) == index
    return json.dumps(label, ensure_ascii=False) if named else str(index + 1)


def _place(candidate: Candidate) -> str:
    """Return the name of a candidate in a comment: `layer1.ffn.hidden[Alex]`."""
    axes = zip(candidate.value.axes, candidate.at, strict=True)
    labels = [":" if index is None else distinct(axis.labels)[index] for axis, index in axes]
    part = "" if candidate.part == "value" else f"{candidate.part} of "
    place = "" if set(labels) <= {":"} else f"[{','.join(labels)}]"
    return f"{part}{candidate.value.address}{place}".replace("\n", " ")


def _open(found: Sequence[Match], every: Sequence[Group]) -> Iterator[str]:
    """Yield comments with the numbers that no address was found for, by line.

    Numbers with a single digit count steps and heads in most texts; they are left out.
    """
    placed = {id(number) for match in found for row in match.rows for number in row}
    lines: dict[int, list[str]] = {}
    for group in every:
        for line, row in zip(group.lines, group.rows, strict=False):
            texts = [n.text for n in row if id(n) not in placed and len(n.text.strip("-.")) > 1]
            lines.setdefault(line, []).extend(texts)
    if any(lines.values()):
        yield "# No address was found for these numbers:"
    for line, texts in lines.items():
        more = ["…"] if len(texts) > MOST_OPEN else []
        if texts:
            yield f"# line {line}: {', '.join(texts[:MOST_OPEN] + more)}"
