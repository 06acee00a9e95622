"""Many random scenarios before every judge, for hours: `pytest -m fuzz tests/test_fuzz.py`.

`FUZZ_SCENARIOS` says how many, 3000 if it is not set; `FUZZ_SEED` draws others. They come in shards
of 50, each of which can be drawn alone: `pytest -m fuzz tests/test_fuzz.py -k shard-7`.
"""

from __future__ import annotations

import os
from collections import Counter
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.helpers.every_judge import FORMATS, faults_of_command, faults_of_run
from tests.helpers.fuzzed import faults_of_all
from tests.helpers.lengths import DETAILS, faults_of_lengths
from tests.helpers.programs import faults_of_program, with_loss
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.traces import traced
from tests.helpers.whole_scenarios import plain_and_written
from tracer.lesson.code.library import Library

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


CASES = st.tuples(
    plain_and_written(),
    st.sampled_from([40, 80, 120]),
    st.sampled_from(sorted(FORMATS)),
    st.sampled_from(COMMANDS),
)


def faults_of_case(case: tuple[tuple[Any, Any], int, str, tuple[str, ...]]) -> list[str]:
    """What any judge finds in a run, for each token, and in another command."""
    (plain, written), width, form, command = case
    found = faults_of_run(plain, written, width=width)
    return found + faults_of_command(written, form, command)


LENGTHS = st.tuples(
    plain_and_written(),
    st.integers(1, 6),
    st.tuples(
        st.sampled_from(DETAILS), st.sampled_from(sorted(FORMATS)), st.sampled_from([40, 80, 120])
    ),
)
COUNTED = Counter[str]()
"""What has been judged in three lengths: scenarios, equations, sentences, programs."""


def faults_of_three_lengths(case: tuple[tuple[Any, Any], int, tuple[str, str, int]]) -> list[str]:
    """What any judge finds in the tutorial of a token in three lengths, and in its programs."""
    (plain, written), token, also = case
    judged = COUNTED["judged"]
    found = faults_of_lengths(plain, written, token, also, COUNTED)
    if COUNTED["judged"] > judged:
        of = with_loss(traced(to_yaml(written)))
        libraries = list(Library) if find_spec("torch") and token == 1 else [Library.NUMPY]
        for library in libraries:
            COUNTED[f"programs of {library.value}"] += 1
            found += [f"{library.value}: {each}" for each in faults_of_program(of, library)]
    return found


def judge(number: int, scenarios: int) -> None:
    """So many scenarios, which the number of the shard and the seed decide."""
    assert faults_of_all(CASES, faults_of_case, scenarios, SEED * 1_000_003 + number) == []


@pytest.mark.fuzz
@pytest.mark.parametrize(
    "number", range(-(-SCENARIOS // OF_A_SHARD)), ids=lambda number: f"shard-{number}"
)
def test_every_judge(number: int) -> None:
    judge(number, min(OF_A_SHARD, SCENARIOS - number * OF_A_SHARD))


@pytest.mark.fuzz
@pytest.mark.parametrize("number", range(-(-SCENARIOS // OF_A_SHARD)), ids="shard-{}".format)
def test_three_lengths_with_code(number: int) -> None:
    """A third of the scenarios that `test_every_judge` draws; each takes several texts."""
    seed = SEED * 1_000_003 + number
    scenarios = min(OF_A_SHARD, SCENARIOS - number * OF_A_SHARD) // 3
    assert faults_of_all(LENGTHS, faults_of_three_lengths, scenarios, seed) == []


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_that_needs_words_is_no_fault_without_them(command: tuple[str, ...]) -> None:
    spec = {"title": "no words", "tokens": ["a", "b"], "embeddings": [[1, 2], [0, 1]], "layers": []}
    assert faults_of_command(spec, "terminal", command) == []


def test_a_loss_beyond_all_floats_is_no_fault() -> None:
    spec = {
        **{"title": "e^-2000", "tokens": ["a"], "embeddings": {"a": [1000]}, "layers": []},
        **{"vocabulary": ["a", "b"], "unembedding": {"W_U": [[1, -1]]}, "targets": ["b"]},
        **{"arithmetic": "float64", "rounding": {"carry": "never", "decimals": 2}},
    }
    assert faults_of_command(spec, "terminal", ("loss",)) == []


@pytest.mark.fuzz
def test_every_judge_of_a_few() -> None:
    judge(-1, 8)
