"""The numbers of a slope's line stand in its formula before."""

from __future__ import annotations

import pytest

from tests.helpers.command import printed
from tests.helpers.continuity import misplaced, violations
from tests.parts.alibi.test_decoder import far


@pytest.mark.parametrize("carry", ["line", "step"])
def test_a_slope_comes_from_numbers_that_were_shown(carry: str) -> None:
    text = printed("run", "-", stdin=far(3).replace("never", carry))
    assert "m_D¹ = 1 / 2^(8 / 2)\n" in text
    assert [*violations(text), *misplaced(text)] == []
