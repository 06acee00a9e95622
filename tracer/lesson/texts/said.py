"""The sentences of a text that have not been said before."""

from __future__ import annotations

import re
from collections.abc import Hashable

from tracer.lesson.document import Inline, Sentence

END = re.compile(r"(?<=[.:]) (?=[A-Z])")
"""Between two sentences in a piece of text."""


def new_sentences(paragraph: Sentence, said: set[Hashable]) -> Sentence:
    """Return the sentences of a paragraph that were not `said`, and add them to what was."""
    found: list[Inline] = []
    for sentence in _sentences(paragraph):
        if sentence not in said:
            found += [" ", *sentence] if found else sentence
            said.add(sentence)
    return tuple(found)


def _sentences(paragraph: Sentence) -> list[Sentence]:
    """The sentences of a paragraph, each in its pieces."""
    sentences: list[list[Inline]] = [[]]
    for piece in paragraph:
        first, *others = END.split(piece) if isinstance(piece, str) else [piece]
        sentences[-1].append(first)
        sentences += ([each] for each in others)
    return [tuple(each) for each in sentences]
