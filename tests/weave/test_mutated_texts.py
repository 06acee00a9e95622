"""Texts with marks in which one thing is changed: woven as a whole, or left alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import mutated_files
from tests.helpers.mutated_files import few_or, get_far


@pytest.fixture
def case(tmp_path: Path) -> Callable[[random.Random], int]:
    """Change a text, and weave it: it is refused if its check is."""

    def one(chance: random.Random) -> int:
        files = {"mine.yaml": mutated_files.SCENARIO.encode()}
        mutated_files.placed({**files, "text.md": mutated_files.marked_text(chance)}, tmp_path)
        text = str(tmp_path / "text.md")
        checked = mutated_files.exit_code(tmp_path, "weave", "--check", text)
        woven = mutated_files.exit_code(tmp_path, "weave", text, changes="text.md")
        assert woven == (2 if checked == 2 else 0)
        if woven == 0:
            assert mutated_files.exit_code(tmp_path, "weave", "--check", text) == 0
        return woven

    return one


@few_or(500)
def test_changed_texts(case: Callable[[random.Random], int], seeds: range) -> None:
    assert get_far(case, seeds)
