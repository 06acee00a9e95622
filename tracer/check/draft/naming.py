"""How the words around numbers confirm a candidate: symbols, names, labels, and functions."""

from __future__ import annotations

import re

from tracer.check.draft.candidates import Candidate, Candidates, words, words_of_labels
from tracer.check.draft.reading import Group, Kind
from tracer.decoder.value import Value

NEAR = (3.0, 1.5, 0.8, 0.5)
"""The weights of words: before the group in its line, in the lines above it, in the heading."""
OF_STATEMENT = 1.5
"""The weight of the first words of a statement that has several clauses."""
ARGUMENT = 5.5
"""What says that a number is the argument of a function: ReLU(…), √…, e^…"""
NAMED_ALONE = 2.0
"""What its symbol says of a value that is a single number: d_k = 2."""
LABELLED = 3.0
"""What the labels of all rows and columns say."""
_NUMBERED = re.compile(r"([^\W\d_]+)(\d+)")
_POSITION = re.compile(r"\b(?:position|pos|token|word)\s*=?\s*(\d+)")


def is_labelled(group: Group, value: Value) -> bool:
    """Return whether a matrix has the labels of a value at its rows and columns."""
    if len(value.axes) != 2 or not group.header:
        return False
    rows, columns = (words_of_labels(axis.labels) for axis in value.axes)
    return rows == [*map(words, group.labels)] and frozenset().union(*columns) == words(
        group.header
    )


class Naming:
    """Compares the words around groups with the names of candidates, in the order of the text."""

    def __init__(self, candidates: Candidates) -> None:
        self.candidates = candidates
        self.followed = candidates.within.origins.teacher.ctx.token
        self.before: Value | None = None
        """What the group before shows, and in which row."""
        self.row = self.followed

    def note(self, candidate: Candidate) -> None:
        """Remember what a group shows for the one that follows it."""
        self.before = candidate.value
        if self.is_of_token(candidate):
            self.row = candidate.at[0] or 0

    def is_of_token(self, candidate: Candidate) -> bool:
        """Return whether a candidate belongs to a token."""
        at, tokens = candidate.at, self.candidates.trace.tokens
        if not at or at[0] is None or candidate.value.role.parameter:
            return False
        return len(candidate.value.axes[0].labels) == len(tokens)

    def of(self, group: Group, candidate: Candidate, row: int) -> float:
        """Return how the words around a row confirm a candidate; negative if they name others."""
        own = group.labels[row] if row < len(group.labels) else ""
        around = (f"{group.subject} {group.label} {own}", *group.near)
        weighted = [*zip(NEAR, around, strict=False), (OF_STATEMENT, group.context)]
        score = sum(self._by_word(candidate, text, weight) for weight, text in weighted if text)
        score += self._by_place(candidate, " ".join(around), f"{around[0]} {own}")
        score += self._by_function(candidate, group)
        if not candidate.at and self.candidates.names[candidate.value][0].lower() in words(
            around[0]
        ):
            score += NAMED_ALONE
        if self.before is candidate.value:
            score += 0.5
        if is_labelled(group, candidate.value):
            score += LABELLED
        if self.is_of_token(candidate):
            score += 0.3 * (candidate.at[0] == self.followed) + 0.3 * (candidate.at[0] == self.row)
        if candidate.value.role.parameter:  # x W, with the columns of W on the right
            is_row = candidate.at[:1] not in ((), (None,))
            score -= 3.0 * (group.kind is Kind.LEFT) + 1.0 * (group.kind is Kind.RIGHT and is_row)
        return score

    def _by_word(self, candidate: Candidate, text: str, weight: float) -> float:
        """Return how a text names the value of a candidate, or its step."""
        symbol, called, of_step = self.candidates.names[candidate.value]
        here = words(text)
        score = weight * min(0.3, 0.1 * len(of_step & here))
        if symbol.lower() in here:
            return score + weight * (1.0 if len(symbol) > 1 else 0.7)
        letters = {found[1] for word in here if (found := _NUMBERED.fullmatch(word))}  # α of α2
        return score + weight * 0.6 * bool(called & (here | letters))

    def _by_function(self, candidate: Candidate, group: Group) -> float:
        """Return how a candidate fits as the argument of a function, such as ReLU; or of pos(3)."""
        own, users = self.candidates.functions[candidate.value]
        if group.function in users - own:
            return ARGUMENT
        return -1.5 * bool(group.function and (group.is_single or group.function in own))

    def _by_place(self, candidate: Candidate, around: str, label: str) -> float:
        """Return how head, layer, row and column fit the words."""
        score, place = 0.0, candidate.value.place
        for noun, number in (("head", place.head), ("layer", place.layer)):
            named = re.findall(rf"{noun}\s*(\d+)", around.lower())
            if named and number:
                score += 1.0 if str(number) == named[0] else -1.0
        here, far = words(label), words(around)
        symbol = self.candidates.names[candidate.value][0].lower()
        counted = {found[2] for word in here - {symbol} if (found := _NUMBERED.fullmatch(word))}
        counted.update(_POSITION.findall(label.lower()))
        for axis, index in zip(candidate.value.axes, candidate.at, strict=True):
            if index is None:
                continue
            names = words_of_labels(axis.labels)
            if names[index] and names[index] <= here:
                score += 1.5
            elif any(name and name <= here for name in names):
                score -= 0.5
            elif str(index + 1) in counted or (names[index] and names[index] <= far):
                score += 0.5
        return score
