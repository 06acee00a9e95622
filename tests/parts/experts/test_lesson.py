"""The texts of experts: ties between logits, an expert without tokens."""

from __future__ import annotations

import re

import pytest

from tests.helpers.command import printed
from tests.parts.experts.test_decoder import SCENARIO


@pytest.mark.parametrize(("top", "said"), [
    (1, "The logits of experts 1 and 2 are equal; the first of them is chosen."),
    (2, ""),
])  # fmt: skip
def test_a_text_says_that_logits_are_equal(top: int, said: str) -> None:
    told = printed("run", "-", stdin=SCENARIO.replace("top: 1", f"top: {top}"))
    found = re.findall(r"The logits of experts [^.]+\.", re.sub(r"\s+", " ", told))
    assert "".join(found) == said


def test_a_text_says_that_an_expert_has_no_tokens() -> None:
    told = re.sub(r"\s+", " ", printed("run", "-", stdin=SCENARIO))
    assert "No token goes to expert 3, so it computes nothing." in told
    assert told.count("No token goes to this expert, so there is nothing to compute.") == 3
    assert "“c” goes to expert 1 with the weight 1.000." in told
    assert "Experts 1 to 3 get 2, 1 and 0 of the 3 tokens." in told
