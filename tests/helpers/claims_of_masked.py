"""What texts say otherwise of a model that predicts masked words than of one of the next word.

A sentence of a masked word is turned into that of a next word, which is then judged as always.
"""

from __future__ import annotations

import re

from tests.helpers.judge import Check, Judge

MASKS = ("[MASK]", "<mask>")
SAID = {
    r"\bFor (?=“.+?”, the (?:largest logit is|model predicts) )": "After ",
    r"\b(logits?|the word|the token|other one) for (?=“)": r"\1 after ",
    r"Which word belongs in the place of “(.+?)”\? The model computes": (
        "Which word comes next? The decoder computes"
    ),
    "What does a model do": "What does a decoder do",
}
"""What is said of masked words, and in its place of next words."""

NEVER = re.compile(
    r"[Aa]fter “|next word|comes next|[Dd]ecoder|To continue a text|Later tokens are hidden"
)
"""What is never said of a model of masked words; a name of a token may contain it."""


def fills_in(at: Judge) -> bool:
    """Whether the model predicts masked words."""
    return at.spec.get("objective") == "masked"


def of_the_next_word(line: str, at: Judge) -> str | None:
    """A paragraph as it would be said of next words; None if it wrongly speaks of these."""
    if not fills_in(at):
        return line
    if NEVER.search(re.sub("“.*?”", "“”", line)):
        return None
    if (asks := re.match("Which word belongs in the place of “(.+?)”", line)) and asks[1] != at.who:
        return None
    for masked, of_next in SAID.items():
        line = re.sub(masked, of_next, line)
    return line


def not_copied(at: Judge, said: dict[str, str]) -> bool:
    """Whether the followed token is a mask, and other tokens reach it."""
    here = at.address == "prediction" and fills_in(at) and said["who"] == at.who
    return here and at.tokens[at.followed] in MASKS


CLAIMS: dict[str, Check] = {
    "In the place of the word, the model reads “{who:name}”, so it cannot copy it.": not_copied,
}
