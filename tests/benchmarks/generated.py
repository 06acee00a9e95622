"""Scenarios of any size with random weights, typed with a few decimals."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path

from tests.helpers.scenario_yaml import Scenario, to_yaml

SEED = 20170612
WORDS = ("the", "cat", "sat", "on", "a", "warm", "red", "mat")
FEATURES, HEADS, HEAD_WIDTH, HIDDEN = 64, 4, 16, 256
DECIMALS = 3


def wide_scenario(tokens: int) -> Scenario:
    """One layer of 64 features, four heads and 256 hidden units, reading the first `tokens` words.

    The weights are the same for any number of tokens.
    """
    rng = random.Random(SEED)

    def matrix(rows: int, columns: int) -> list[list[Decimal]]:
        # Entries of about 1/√rows keep the numbers of every layer about as large as those before.
        most = round(1.7 * rows**-0.5 * 10**DECIMALS)
        numbers = [rng.randint(-most, most) for _ in range(rows * columns)]
        entries = [Decimal(number).scaleb(-DECIMALS) for number in numbers]
        return [entries[i : i + columns] for i in range(0, len(entries), columns)]

    head_matrices = ("W_Q", "W_K", "W_V")
    heads = [{name: matrix(FEATURES, HEAD_WIDTH) for name in head_matrices} for _ in range(HEADS)]
    attention = {"heads": heads, "W_O": matrix(HEADS * HEAD_WIDTH, FEATURES)}
    ffn = {"W_1": matrix(FEATURES, HIDDEN), "W_2": matrix(HIDDEN, FEATURES)}
    embeddings = {
        word: [Decimal(rng.randint(-999, 999)).scaleb(-DECIMALS) for _ in range(FEATURES)]
        for word in WORDS
    }
    return {
        "title": "A wide layer",
        "tokens": list(WORDS[:tokens]),
        "embeddings": embeddings,
        "positions": {"sinusoidal": {"start": 1}},
        "layers": [
            {"attention": attention, "ffn": ffn, "norm": {"epsilon": Decimal("0.00001")}},
        ],
    }


def write_wide_scenario(folder: Path, tokens: int) -> Path:
    """Write the scenario as YAML into a folder."""
    path = folder / f"wide-{tokens}.yaml"
    path.write_text(to_yaml(wide_scenario(tokens)), encoding="utf-8")
    return path
