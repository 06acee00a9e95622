"""What a text has said before is left out, but never half of what belongs together."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from tracer.lesson.texts.said import new_sentences

CENTER, CENTER_OF_QUERIES = "The mean is subtracted.", "Each query's mean is subtracted."
SCALE, LEARNED = "The result is divided by σ.", "Many models add a learned β."


@pytest.mark.parametrize(
    ("paragraph", "new"),
    [
        ((CENTER, SCALE), ()),
        ((CENTER, SCALE, LEARNED), (LEARNED,)),
        ((CENTER_OF_QUERIES, SCALE), (CENTER_OF_QUERIES, SCALE)),
        ((CENTER, "The result is divided by 2."), (CENTER, "The result is divided by 2.")),
    ],
)
def test_a_sentence_stays_with_the_one_that_goes_on_with_it(
    paragraph: tuple[str, ...], new: tuple[str, ...]
) -> None:
    said = set[Hashable]()
    new_sentences((f"{CENTER} {SCALE}",), said)
    assert "".join(map(str, new_sentences((" ".join(paragraph),), said))) == " ".join(new)
