"""Two scenarios whose numbers can be chosen, and what is said of them."""

from __future__ import annotations

import re

from tests.helpers.command import printed

WIDE = 500
"""Columns enough for every worked line."""


def unbroken(page: str) -> str:
    """A page of the terminal with each paragraph on one line, however long it is."""
    return "\n\n".join(map(_joined, page.split("\n\n")))


def _joined(block: str) -> str:
    lines = block.strip("\n").split("\n")
    prose = all(line and line[0] not in " ▸═─" for line in lines)
    return block.replace("\n".join(lines), " ".join(lines)) if prose else block


def told(*arguments: str, stdin: str = "") -> str:
    """What a terminal prints, its paragraphs unbroken."""
    return unbroken(printed(*arguments, width=WIDE, stdin=stdin))


def reading(yaml: str, step: str, token: str) -> str | None:
    """The sentence that ends a step; a matrix, which is indented, where there is none."""
    text = told("step", step, "-s", "-", "--token", token, stdin=yaml)
    *_, last = text.strip("\n").split("\n")
    return None if last.startswith((" ", "▸")) else last


# The query is the first feature, the key the second: where the query is 1, a token's score is its
# key. e^1.0986 is 3.00 and e^0.6931 is 2.00.
ATTENTION = """
title: who listens to whom
tokens: [TOKENS]
embeddings: [KEYS]
layers:
  - attention:
      heads: [{W_Q: [[1], [0]], W_K: [[0], [1]], W_V: [[1, 0], [0, 1]]}]
rounding: {decimals: 4, digits: {"*.weights": 2}}
"""


def attention(tokens: str, *keys: str) -> str:
    rows = ", ".join(f"[1, {key}]" for key in keys)
    return ATTENTION.replace("TOKENS", tokens).replace("KEYS", rows)


FFN = """
title: a token by itself
tokens: [a]
embeddings: [[1, 1]]
layers:
  - ffn: {W_1: [[W_ONE], [ZEROS]], W_2: [W_TWO], SETTINGS norm: {epsilon: 1}}
vocabulary: [x, y, z]
unembedding: {W_U: [[0, 0, 0], [0, 0, 0]], b_U: [LOGITS]}
rounding: {digits: {probabilities: 2}}
"""


def ffn(hidden: str = "1", added: str = "0, 0", logits: str = "0, 0, 0", settings: str = "") -> str:
    """The hidden numbers; what the first of them, a 1, adds to (1, 1); the logits."""
    units = hidden.count(",") + 1
    yaml = FFN.replace("W_ONE", hidden).replace("ZEROS", ", ".join(["0"] * units))
    rows = ", ".join([f"[{added}]", *["[0, 0]"] * (units - 1)])
    return yaml.replace("W_TWO", rows).replace("SETTINGS", settings).replace("LOGITS", logits)


def spelled_out(text: str) -> list[str]:
    """The lines with a symbol that is written like the end of its address: b_2 for b₂."""
    return [line for line in text.split("\n") if re.search(r"(?<![\w.])[Wb]_\d", line)]
