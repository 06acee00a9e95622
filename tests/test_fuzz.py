"""Many random scenarios before every judge, for hours: `pytest -m fuzz tests/test_fuzz.py`.

`FUZZ_SCENARIOS` says how many, 3000 if it is not set; `FUZZ_SEED` draws others. They come in shards
of 50, each of which can be drawn alone: `pytest -m fuzz tests/test_fuzz.py -k shard-7`.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings, strategies as st

from tests.helpers.every_judge import FORMATS, faults_of_command, faults_of_run
from tests.helpers.whole_scenarios import plain_and_written

SCENARIOS = int(os.environ.get("FUZZ_SCENARIOS", "3000"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
OF_A_SHARD = 50

COMMANDS = (
    *(("loss",), ("train",), ("generate", "--worked", "--max-tokens", "2"), ("tutorial",)),
    ("compare", "--train"),
    *(("train", "--optimizer", "adam", "--steps", "2"), ("run", "--no-mask"), ("lens",)),
    ("generate", "--worked", "--max-tokens", "2", "--kv-cache", "--seed", "1"),
    *(("attribute", "output[1,1]", "-s", "-"), ("attribute", "logits[1,1]", "-s", "-")),
    *(("attribute", "logits[1,1]", "-s", "-", "--by", by) for by in ("token", "neuron")),
)


def judge(number: int, scenarios: int) -> None:
    """So many scenarios, which the number of the shard and the seed decide."""

    @seed(SEED * 1_000_003 + number)
    @settings(
        max_examples=scenarios,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        both=plain_and_written(),
        width=st.sampled_from([40, 80, 120]),
        form=st.sampled_from(sorted(FORMATS)),
        command=st.sampled_from(COMMANDS),
    )
    def every_judge(both: tuple[Any, Any], width: int, form: str, command: tuple[str, ...]) -> None:
        plain, written = both
        assert faults_of_run(plain, written, width=width) == []
        assert faults_of_command(written, form, command) == []

    every_judge()


@pytest.mark.fuzz
@pytest.mark.parametrize(
    "number", range(-(-SCENARIOS // OF_A_SHARD)), ids=lambda number: f"shard-{number}"
)
def test_every_judge(number: int) -> None:
    judge(number, min(OF_A_SHARD, SCENARIOS - number * OF_A_SHARD))


@pytest.mark.fuzz
def test_every_judge_of_a_few() -> None:
    judge(-1, 8)
