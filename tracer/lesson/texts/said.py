"""The sentences of a text that have not been said before."""

from __future__ import annotations

import re
from collections.abc import Hashable
from itertools import groupby, pairwise

from tracer.formula.expression import Number
from tracer.lesson.document import Inline, Name, Sentence

END = re.compile(r"(?<=[.:]) (?=[A-Z])")
"""Between two sentences in a piece of text."""

GOES_ON = ("The result ", "It ", "Its ", "They ", "This ", "These ", "Here ")
"""How a sentence begins that needs the one before it."""


def new_sentences(paragraph: Sentence, said: set[Hashable]) -> Sentence:
    """Return the sentences of a paragraph that were not `said`, and add them to what was.

    The paragraph stays whole where a new sentence needs the one before it, or the one behind it
    goes on with a new sentence.
    """
    sentences = _sentences(paragraph)
    new = [sentence for sentence in sentences if wording(sentence) not in said]
    said.update(map(wording, sentences))
    for before, sentence in pairwise([(), *sentences]):
        if str(sentence[0]).startswith(GOES_ON) and (before in new or sentence in new):
            return paragraph
    found: list[Inline] = []
    for sentence in new:
        found += [" ", *sentence] if found else sentence
    return tuple(found)


def wording(sentence: Sentence) -> Sentence:
    """Return a sentence without its names and numbers, which explain nothing else of another."""
    return tuple(piece for piece in sentence if not isinstance(piece, Name | Number))


def _sentences(paragraph: Sentence) -> list[Sentence]:
    """The sentences of a paragraph, each in its pieces."""
    sentences: list[list[Inline]] = [[]]
    for are_text, pieces in groupby(paragraph, lambda piece: isinstance(piece, str)):
        if not are_text:
            sentences[-1] += pieces
            continue
        first, *others = END.split("".join(map(str, pieces)))
        sentences[-1].append(first)
        sentences += ([each] for each in others)
    return [tuple(each) for each in sentences]
