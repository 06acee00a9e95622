"""The regions of the next word in the plane of two features: what an output there predicts."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.random_scenarios import to_yaml
from tests.helpers.traces import traced
from tracer.lesson import document as doc
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.tutorial import tutorial
from tracer.node import found


def plane(spec: dict[str, object]) -> doc.Plane | None:
    run = traced(to_yaml(spec))
    text = tutorial(run, steps(run.records), len(run.tokens) - 1)
    blocks = tuple(block for section in text.sections for block in section.blocks)
    return next(found(blocks, doc.Plane), None)


def spec(numbers: np.random.Generator, words: int) -> dict[str, object]:
    def drawn(*shape: int) -> list[object]:
        rows: list[object] = numbers.normal(0, 2, shape).round(2).tolist()
        return rows

    ffn = {"W_1": drawn(2, 3), "activation": "none", "W_2": drawn(3, 2)}
    vocabulary = [f"w{i}" for i in range(words)]
    unembedding = {"W_U": drawn(2, words), "b_U": drawn(words)}
    model = {"title": "T", "tokens": ["a", "b", "c"], "vocabulary": vocabulary}
    inside = {"embeddings": drawn(3, 2), "layers": [{"ffn": ffn}], "unembedding": unembedding}
    return {**model, **inside}


def is_inside(spot: tuple[float, float], corners: doc.Samples, slack: float) -> bool:
    """Whether a convex polygon, counterclockwise, has a spot at its left from each side."""
    x, y = spot
    sides = zip(corners, (*corners[1:], corners[0]), strict=True)
    return all((c - a) * (y - b) - (d - b) * (x - a) >= -slack for (a, b), (c, d) in sides)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("softcap", [None, 3])
def test_an_output_in_a_region_predicts_its_word(seed: int, softcap: int | None) -> None:
    numbers = np.random.default_rng(seed)
    asked = spec(numbers, 2 + seed % 6)
    to_words = asked["unembedding"]
    assert isinstance(to_words, dict)
    if softcap:
        to_words["softcap"] = softcap
    drawn = plane(asked)
    assert drawn is not None and drawn.regions
    corners = np.array([corner for region in drawn.regions for corner in region.corners])
    (left, bottom), (right, top) = corners.min(0), corners.max(0)
    w_u, b_u = np.array(to_words["W_U"], float), np.array(to_words["b_U"], float)
    met = 0
    for spot in numbers.uniform((left, bottom), (right, top), (200, 2)):
        logits = spot @ w_u + b_u
        first, second = sorted(logits)[:-3:-1]
        words = [r.word for r in drawn.regions if is_inside(tuple(spot), r.corners, 1e-9)]
        if first - second > 0.05 * (right - left):  # not at a border, nor in a part too small
            assert words == [f"w{int(np.argmax(logits))}"]
            met += 1
    assert met > 20


def test_words_with_equal_columns_have_one_region() -> None:
    asked = spec(np.random.default_rng(1), 3)
    asked["unembedding"] = {"W_U": [[1, 1, 0], [0, 0, 0]]}
    drawn = plane(asked)
    assert drawn is not None
    assert [region.word for region in drawn.regions] == ["w0", "w2"]


def test_no_regions_where_they_depend_on_other_features_or_are_too_many() -> None:
    many = plane(spec(np.random.default_rng(2), 9))
    assert many is not None and many.regions == ()
    wide = spec(np.random.default_rng(3), 2)
    wide["embeddings"] = [[1, 2, 3], [2, 3, 1], [0, 1, 1]]
    wide["layers"] = [{"ffn": {"W_1": [[1], [0], [2]], "W_2": [[1, 2, -1]]}}]
    wide["unembedding"] = {"W_U": [[1, 0], [0, 1], [1, 1]]}
    drawn = plane(wide)
    assert drawn is not None and drawn.regions == ()
    # For c = (0, 1, 1), W₁ gives 2; W₂ adds (2, 4, −2) to it.
    assert (drawn.axes, drawn.followed.name) == ((("d₀",), ("d₁",)), "c")


def test_no_paths_where_nothing_changes() -> None:
    still = spec(np.random.default_rng(4), 2)
    still["layers"] = [{"ffn": {"W_1": [[0], [0]], "W_2": [[1, 1]]}}]
    assert plane(still) is None
