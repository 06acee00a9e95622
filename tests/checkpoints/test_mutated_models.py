"""Hugging Face's folders in which one thing is changed: computed, or refused in a few lines."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import mutated_files
from tests.helpers.mutated_files import few_or, get_far

for library in ("safetensors", "tokenizers"):
    pytest.importorskip(library)

FAMILIES = ("folder gpt2", "folder llama", "folder mistral", "folder qwen2")
COMMANDS = (
    *("run FILE", "steps FILE", "shapes FILE", "lens FILE", "generate FILE --max-tokens 2"),
    *("step softmax -s FILE", "value logits[1,1] -s FILE"),
)


@pytest.fixture
def case(tmp_path: Path) -> Callable[[random.Random], int]:
    """Change a model, of any family, and ask for something about it."""
    models = [
        mutated_files.model_files(tmp_path / f"model {i}", family, shards=bool(i % 2))
        for i, family in enumerate(FAMILIES)
    ]
    folder = tmp_path / "changed"
    folder.mkdir()

    def one(chance: random.Random) -> int:
        files, scenario = mutated_files.changed_model(chance.choice(models), chance)
        mutated_files.placed(files, folder)
        words = chance.choice(COMMANDS).replace("FILE", str(folder / scenario)).split()
        return mutated_files.exit_code(folder, *words)

    return one


@few_or(1000)
def test_changed_models(case: Callable[[random.Random], int], seeds: range) -> None:
    assert get_far(case, seeds)
