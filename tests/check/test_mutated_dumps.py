"""Dumps and pinned values of other programs in which one thing is changed."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import mutated_files
from tests.helpers.mutated_files import few_or, get_far

pytest.importorskip("safetensors")


@pytest.fixture
def case(tmp_path: Path) -> Callable[[random.Random], int]:
    """Change a file of arrays, and compare or pin them."""
    dumps, folder = mutated_files.dump_files(tmp_path / "dumps"), tmp_path / "changed"
    folder.mkdir()

    def one(chance: random.Random) -> int:
        files, command = mutated_files.changed_dump(dumps, chance)
        mutated_files.placed(files, folder)
        words = (str(folder / word) if word in files else word for word in command.split())
        return mutated_files.exit_code(folder, *words)

    return one


@few_or(1000)
def test_changed_dumps(case: Callable[[random.Random], int], seeds: range) -> None:
    assert get_far(case, seeds)
