"""The transform before the unembedding: numbers, gradients, the lens, attributions, refusals."""

from __future__ import annotations

from math import erf
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from tests.helpers.command import printed, run
from tests.helpers.traces import traced
from tracer.decoder.forward import PassOptions, trace
from tracer.scenario.loading import parse

Array = NDArray[np.float64]

EMBEDDINGS = {"the": [1, 0.5], "cat": [-0.5, 2], "[MASK]": [0.3, 0.4], "sat": [0.7, -1]}
WORDS = ["the", "cat", "sat"]
W_M, B_M, B_U = [[1, 0.5], [-0.5, 1]], [0.1, -0.2], [0.1, 0, 0.2]
GAIN, SHIFT = [1.5, 0.5], [0.1, 0.2]
NORM = f"{{epsilon: 0.01, gain: {GAIN}, shift: {SHIFT}}}"
TYPED = f"""\
tokens: [the, cat, "[MASK]"]
mask: none
embeddings: {{the: [1, 0.5], cat: [-0.5, 2], "[MASK]": [0.3, 0.4], sat: [0.7, -1]}}
layers: [{{ffn: {{W_1: [[1, 0.5], [-1, 1]], W_2: [[1, 0], [0.5, 1]]}}}}]
final_norm: {{kind: rms_norm}}
vocabulary: [the, cat, sat]
unembedding:
  W_U: tied
  b_U: {B_U}
  transform: {{W_M: {W_M}, b_M: {B_M}, activation: gelu, norm: {NORM}}}
targets: [none, none, sat]
rounding: {{carry: never}}
arithmetic: float64
"""
WIDE = """\
tokens: [the, cat, "[MASK]"]
embeddings: {the: [1, 0.5], cat: [-0.5, 2], "[MASK]": [0.3, 0.4]}
layers: [{ffn: {W_1: [[1, 0.5], [-1, 1]], W_2: [[1, 0], [0.5, 1]]}}]
vocabulary: [the, cat]
unembedding:
  W_U: [[1, 0], [0, 1], [0.5, -1]]
  transform: {W_M: [[1, 0.5, -1], [-0.5, 1, 2]]}
targets: [cat, the, the]
rounding: {carry: never}
arithmetic: float64
"""


def gelu(x: Array) -> Array:
    """x times the share of a standard normal distribution below it (Hendrycks and Gimpel 2016)."""
    found: Array = x * (1 + np.vectorize(erf)(x / np.sqrt(2))) / 2
    return found


def to_words(y: Array) -> Array:
    """LayerNorm(GELU(y W + b)) Eᵀ + b_U, as BERT predicts masked words (Devlin et al. 2019)."""
    active = gelu(y @ np.array(W_M) + B_M)
    deviation = active - active.mean(axis=1, keepdims=True)
    read = deviation / np.sqrt((deviation**2).mean(axis=1, keepdims=True) + 0.01) * GAIN + SHIFT
    rows = np.array([EMBEDDINGS[word] for word in WORDS])
    logits: Array = read @ rows.T + B_U
    return logits


def test_the_logits_are_those_of_bert() -> None:
    found = traced(TYPED)
    assert_allclose(found["logits"].array, to_words(found["output"].array), atol=1e-12)


def test_the_transform_can_change_the_width() -> None:
    found = traced(WIDE)
    read = np.maximum(found["output"].array @ [[1, 0.5, -1], [-0.5, 1, 2]], 0)
    assert_allclose(found["logits"].array, read @ [[1, 0], [0, 1], [0.5, -1]], atol=1e-12)


@pytest.mark.parametrize("carry", ["line", "step", "never"])
def test_decimals_are_rounded_on_the_way(carry: str) -> None:
    typed = TYPED.replace("carry: never", f"carry: {carry}, decimals: 4")
    found = traced(typed.replace("arithmetic: float64\n", ""))
    output = np.asarray(found["output"].array, float)
    assert_allclose(np.asarray(found["logits"].array, float), to_words(output), atol=2e-3)


def test_the_lens_reads_through_the_transform() -> None:
    scenario = parse(TYPED, "f.yaml")
    found = trace("f", scenario, PassOptions(lens=True))
    x = found["layer1.ffn.residual"].array
    normalized = x / np.sqrt((x**2).mean(axis=1, keepdims=True))
    assert_allclose(found["layer1.lens.logits"].array, to_words(normalized), atol=1e-12)


def test_the_lens_reads_with_given_weights(tmp_path: Path) -> None:
    """What the lens reads of the last layer is what the model computes, also of given weights."""
    place = tmp_path / "f.yaml"
    given = "given: {unembedding.transform.W_M: [[2, 1], [0, 1]]}\n"
    place.write_text(TYPED + given, encoding="utf-8")
    of_lens = printed("value", "layer1.lens.logits[3,sat]", "-s", str(place))
    assert of_lens == printed("value", "logits[3,sat]", "-s", str(place))
    assert of_lens != printed("value", "logits[3,sat]", "-s", "-", stdin=TYPED)


PARAMETERS = {
    "W_M": W_M,
    "b_M": [B_M],
    "norm.gain": [GAIN],
    "norm.shift": [SHIFT],
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_gradients_are_central_differences(name: str) -> None:
    scenario = parse(TYPED, "f.yaml")
    address = f"unembedding.transform.{name}"
    gradient = trace("f", scenario, PassOptions(gradients=True))[f"gradient.{address}"].array
    rows, step = np.array(PARAMETERS[name], float), 1e-6

    def loss(at: tuple[int, int], by: float) -> float:
        changed = rows.copy()
        changed[at] += by
        numbers = changed if name == "W_M" else changed[0]
        text = f"{TYPED}given: {{{address}: {numbers.tolist()}}}\n"
        return float(trace("f", parse(text, "f.yaml"), PassOptions(loss=True))["loss"].array)

    for at in np.ndindex(rows.shape):
        slope = (loss(at, step) - loss(at, -step)) / (2 * step)
        assert_allclose(np.reshape(gradient, rows.shape)[at], slope, atol=1e-7)


def test_training_moves_the_transform(tmp_path: Path) -> None:
    place, saved = tmp_path / "f.yaml", tmp_path / "trained.yaml"
    place.write_text(TYPED, encoding="utf-8")
    printed("train", str(place), "--save", str(saved))
    before, after = parse(TYPED, "f.yaml"), parse(saved.read_text(encoding="utf-8"), "t.yaml")
    moved = [
        trace("f", each)["unembedding.transform.norm.gain"].array.tolist()
        for each in (before, after)
    ]
    assert moved[0] == GAIN and moved[1] != GAIN


def test_an_attribution_ends_at_the_activation(tmp_path: Path) -> None:
    """The parts add up to the logit, and those of single units to that of the transform."""
    place = tmp_path / "f.yaml"
    place.write_text(TYPED, encoding="utf-8")
    text = " ".join(printed("attribute", "logits[3,cat]", "-s", str(place)).split())
    assert "is the sum of what the transform and each bias add." in text
    assert "The activation of the transform is not linear, so the direction ends there." in text
    by_unit = printed("attribute", "logits[3,cat]", "-s", str(place), "--by", "neuron")
    assert "Each activation times its direction:" in by_unit
    found = traced(TYPED)
    active = np.asarray(found["unembedding.transform.activation"].array[2], float)
    direction = np.array(EMBEDDINGS["cat"]) * GAIN
    direction = direction / float(found["unembedding.transform.norm.std"].array[2])
    part = active @ (direction - direction.mean())
    beta = np.array(EMBEDDINGS["cat"]) @ SHIFT
    assert part + beta + B_U[1] == pytest.approx(float(found["logits"].array[2, 1]), abs=1e-12)
    assert f"{part:.3f}" in text


def test_an_entry_of_the_output_is_attributed_as_before(tmp_path: Path) -> None:
    place = tmp_path / "f.yaml"
    place.write_text(TYPED, encoding="utf-8")
    text = " ".join(printed("attribute", "output[3,1]", "-s", str(place)).split())
    assert "is the sum of what the embedding and each FFN add." in text


@pytest.mark.parametrize(("was", "becomes", "message"), [
    (f"W_M: {W_M}", "W_M: [[1, 0.5]]", "W_M: 1 row, expected 2 (one per feature of the output)"),
    (f"W_M: {W_M}", "W_M: [[1], [2]]", "expected 1 (one per column of W_M)"),
    (f"b_M: {B_M}", "b_M: [1]", "b_M: 1 number, expected 2"),
    (f"gain: {GAIN}", "gain: [1]", "norm.gain: 1 number, expected 2 (one per column of W_M)"),
    ("activation: gelu", "activation: none", "unembedding.transform.activation: expected"),
    (f"W_M: {W_M}, ", "", "unembedding.transform.W_M: missing"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(was: str, becomes: str, message: str) -> None:
    assert was in TYPED
    ran = run("run", "-", stdin=TYPED.replace(was, becomes))
    assert ran.exit_code == 2 and message in " ".join(ran.stderr.split())


def test_the_name_of_what_the_unembedding_reads(tmp_path: Path) -> None:
    """TransformerLens calls it unembed.hook_in; without a transform, that is the output."""
    place = tmp_path / "f.yaml"
    for typed, address in (
        (TYPED, "unembedding.transform.norm"),
        (WIDE, "unembedding.transform.activation"),
    ):
        place.write_text(typed, encoding="utf-8")
        own = printed("value", f"{address}[3,1]", "-s", str(place))
        assert printed("value", "unembed.hook_in[3,1]", "-s", str(place)) == own


def test_the_rows_of_the_unembedding_are_the_columns_of_the_transform() -> None:
    """Three rows, although the output has two features."""
    text = printed("run", "-", "--detail", "full", stdin=WIDE)
    assert "z (3 × 2) = a_M (3 × 3) · W_U (3 × 2)" in " ".join(text.split())
