"""What is held of a figure: each verdict, on numbers that a pencil checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.figures import checked, verdicts
from tests.helpers.small_scenario import END, SMALL, changed
from tracer.errors import TracerError

HEAD = "layer1.attention.head1"
ROUNDED = f"{SMALL}rounding: {{decimals: 2, carry: step}}\n"
"""Q = (5, 11)ᵀ, K = (11, 25)ᵀ, V = X; of b the scores are 121 and 275, of a 55. Its residual
connections keep x₁ = (2, 4) of a, and (6, 8) of b, whose weights are 0 and 1 to two decimals; the
FFN makes h = (10, 22) of that, and 10 · (1, 2) of a."""


def value(address: str, printed: Any, **place: Any) -> dict[str, Any]:
    return {"address": address, "printed": printed, **place}


def held(folder: Path, *figures: dict[str, Any], scenario: str = ROUNDED) -> list[tuple[str, str]]:
    """Verdict and reason of each figure."""
    found = checked(folder, scenario, *figures).findings
    return [(str(finding.verdict), finding.by) for finding in found]


def test_what_is_right_agrees_however_many_digits_it_has(tmp_path: Path) -> None:
    found = checked(
        tmp_path,
        ROUNDED,
        value(f"{HEAD}.query", "5", row="a", column=1),
        value(f"{HEAD}.query", "1.1e1", row="b", column=1),
        value("input", ["1.00", "_"], row="a"),
        value("input", [["1", "2"], ["3", "4"]]),
        value("input", ["2", "4"], column=2),
        value("mask", ["0", "−∞"], row="a"),
        value("layer1.attention.residual", ["6", "8"], row=2),
        value(f"{HEAD}.weights", "100%", row="b", column="b"),
        value("layer1.ffn.hidden", ["6", "16"], row="b", column=1, part="products"),
        value("input", ["2", "_"], part="shape"),
        value("layer1.ffn", "4", part="parameters"),
    )
    assert verdicts(found) == ["agrees"] * 18
    assert found.holds


def test_a_wrong_figure_is_told_with_the_right_one(tmp_path: Path) -> None:
    found = checked(tmp_path, ROUNDED, value("layer1.ffn.hidden", "23", row="b", column=1))
    [finding] = found.findings
    assert (str(finding.verdict), finding.right, finding.units) == ("wrong", "22", 1)
    assert not found.holds


def test_what_follows_from_a_wrong_figure_is_no_other_mistake(tmp_path: Path) -> None:
    """25 in place of 22: 25 · (1, 2) = (25, 50), and 6 + 25 = 31; 8 + 50 is not 57."""
    found = checked(
        tmp_path,
        ROUNDED,
        value("layer1.ffn.hidden", "25", row="b", column=1),
        value("layer1.ffn.activation", "25", row="b", column=1),
        value("layer1.ffn.output", ["25", "50"], row="b"),
        value("layer1.ffn.residual", ["31", "57"], row="b"),
        value("layer1.ffn.hidden", "25", row="b", column=1),
        value("output", "31", row="b", column=1),
    )
    follows = ["wrong", *["follows"] * 4, "wrong", "follows", "follows"]
    assert verdicts(found) == follows
    root, *others = found.findings
    assert [finding.sources for finding in others if finding.verdict == "follows"] == [(root,)] * 6
    assert found.first is root
    first, second = found.mistakes
    assert (len(first.following), len(second.following)) == (6, 0)
    assert [finding.right for finding in others][:4] == ["22", "22", "44", "28"]


def test_what_does_not_follow_from_it_is_wrong_itself(tmp_path: Path) -> None:
    """A text that goes on with the right numbers has one mistake; 44 is twice 22, not 25."""
    found = held(
        tmp_path,
        value("layer1.ffn.hidden", "25", row="b", column=1),
        value("layer1.ffn.output", ["22", "44"], row="b"),
        value("layer1.ffn.output", ["23", "47"], row="b"),
    )
    assert [verdict for verdict, _ in found] == ["wrong", "agrees", "agrees", "wrong", "wrong"]


def test_a_score_follows_from_its_dot_product(tmp_path: Path) -> None:
    """The scores of b are (121, 275) / √1; with 280 in place of 275 it is 280."""
    found = checked(
        tmp_path,
        ROUNDED,
        value(f"{HEAD}.dot", "280", row="b", column="b"),
        value(f"{HEAD}.scores", ["121", "280"], row="b"),
    )
    assert verdicts(found) == ["wrong", "agrees", "follows"]
    assert found.findings[2].sources == (found.findings[0],)


def test_the_worst_stands_first_and_the_first_is_told(tmp_path: Path) -> None:
    """Nothing follows from the query; much does from what is computed later."""
    found = checked(
        tmp_path,
        ROUNDED,
        value(f"{HEAD}.query", "90", row="a", column=1),
        value("layer1.ffn.hidden", "25", row="b", column=1),
        value("layer1.ffn.output", ["25", "50"], row="b"),
    )
    query, hidden, *_ = found.findings
    assert found.first is query
    assert [mistake.roots for mistake in found.mistakes] == [(hidden,), (query,)]


THIRDS = changed((END, f"{END}rounding: {{decimals: 2, carry: step}}\n")).replace(
    "W_1: [[1], [2]]", "W_1: [[0.3333], [0]]"
).replace("W_2: [[1, 2]]", "W_2: [[3, 5]]")  # fmt: skip
"""h of b is 6 · 0.3333 = 1.9998 ≈ 2.00, and the FFN gives 6.00 and 10.00; unrounded 5.9994."""


def test_rounding_in_another_way_is_told_by_its_name(tmp_path: Path) -> None:
    found = checked(tmp_path, THIRDS, value("layer1.ffn.output", "9.999", row="b", column=2))
    [finding] = found.findings
    assert (finding.verdict, finding.by) == ("rounding", "with carry: never")


def test_what_comes_of_the_printed_numbers_is_rounding(tmp_path: Path) -> None:
    """1.99 is one unit off; 3 · 1.99 = 5.97 is three, but right by pencil."""
    found = held(
        tmp_path,
        value("layer1.ffn.hidden", "1.99", row="b", column=1),
        value("layer1.ffn.output", ["5.97", "_"], row="b"),
        scenario=THIRDS,
    )
    by_pencil = "computed from the numbers printed before"
    assert found == [("rounding", "truncated instead of rounded"), ("rounding", by_pencil)]


SAMPLE = "with the sample standard deviation, divided by n − 1"


def after_a_norm(weights: str) -> str:
    """A scenario whose hidden layer multiplies the normalized rows (1, -1) and (-1, 1)."""
    ffn = f"{{W_1: {weights}, W_2: identity, norm: {{placement: pre}}, residual: false}}"
    return (
        "tokens: A B\nembeddings: {A: [1, 0], B: [0, 1]}\n"
        f"layers: [{{ffn: {ffn}}}]\nrounding: {{decimals: 4, carry: never}}\n"
    )


NORMED = value("layer1.ffn.norm", [["0.707", "-0.707"], ["-0.707", "0.707"]])
"""With the sample standard deviation of (1, 0), which is √½: 0.5 / √½ is 0.7071."""


@pytest.mark.parametrize(
    ("weights", "hidden"),
    [
        ("[[0.2, 0.1], [0.1, 0.2]]", [["0.0707", "-0.0707"], ["-0.0707", "0.0707"]]),
        # 400 · 0.707 = 282.8, where the variant itself has 282.84.
        ("[[400, 800], [0, 400]]", [["282.80", "282.80"], ["-282.80", "-282.80"]]),
        # 333.33333 · 0.707 is 235.667; 235.68 is one unit off, and 235.70 is the variant's.
        ("[[333.33333, 0], [0, 0]]", [["235.68", "0"], ["-235.68", "0"]]),
    ],
)
def test_what_follows_from_a_variant_is_no_rounding(
    weights: str, hidden: list[list[str]], tmp_path: Path
) -> None:
    row = value("layer1.ffn.hidden", hidden)
    found = checked(tmp_path, after_a_norm(weights), NORMED, row).findings
    others = [finding for finding in found if finding.figure.text != "0"]
    assert {(finding.verdict, finding.by) for finding in others} == {("variant", SAMPLE)}
    assert all(set(finding.sources) < set(found[:4]) for finding in found)
    assert [bool(finding.sources) for finding in others] == [f in found[4:] for f in others]


def test_beside_what_follows_from_a_variant_rounding_stays_rounding(tmp_path: Path) -> None:
    """h of A is (1, 0.6666), and 0.707 · (1, 0.6666) = (0.707, 0.4713): 0.66 is near the first."""
    found = held(
        tmp_path,
        NORMED,
        value("layer1.ffn.hidden", ["0.707", "0.66"], row="A"),
        scenario=after_a_norm("[[1, 0.6666], [0, 0]]"),
    )
    assert found[4:] == [("variant", SAMPLE), ("rounding", "one unit in the last place")]


def test_a_cut_digit_is_told_before_a_rounding_elsewhere(tmp_path: Path) -> None:
    """6.00 is 3 · 1.9998 = 5.9994, and 10.00 is 9.9990; who cuts one digit cuts them all."""
    scenario = THIRDS.replace("carry: step", "carry: never")
    cut, rounded = "truncated instead of rounded", "one unit in the last place"
    for printed, by in (("5.99", cut), ("6.01", rounded), ("5.999", "")):
        alone = held(
            tmp_path, value("layer1.ffn.output", [printed, "_"], row="b"), scenario=scenario
        )
        assert [found[1] for found in alone] == [by], printed
    for other, by in (("9.99", cut), ("10.00", rounded)):
        row = value("layer1.ffn.output", ["5.99", other], row="b")
        assert held(tmp_path, row, scenario=scenario)[0] == ("rounding", by)


def test_a_line_that_no_pencil_gives_is_wrong_though_each_number_is_near(tmp_path: Path) -> None:
    """All that 10.00 is made of is printed: 5 · 1.99 = 9.95, and 9.99 is four units from it."""
    found = checked(
        tmp_path,
        THIRDS,
        value("layer1.ffn.hidden", "1.99", row="b", column=1),
        value("layer1.ffn.activation", "1.99", row="b", column=1),
        value("layer1.ffn.W_2", ["3", "5"], row=1),
        value("layer1.ffn.output", ["_", "9.99"], row="b"),
    )
    last = found.findings[-1]
    assert (last.verdict, last.right, last.pencil) == ("wrong", "10.00", "9.95")


def test_beside_wrong_numbers_one_that_is_near_is_wrong_too(tmp_path: Path) -> None:
    """6.00 is 3 · 1.9998, so that 5.99 may be rounding; among other numbers it is not."""
    alone = value("layer1.ffn.output", "5.99", row="b", column=1)
    assert held(tmp_path, alone, scenario=THIRDS) == [("rounding", "one unit in the last place")]
    beside = value("layer1.ffn.output", [["9.00", "9.00"], ["5.99", "12.00"]])
    found = held(tmp_path, beside, scenario=THIRDS)
    assert [verdict for verdict, _ in found] == ["wrong"] * 4


def test_no_number_is_too_odd_to_be_judged(tmp_path: Path) -> None:
    odd = ["1e300", "-1e800000", "1e-800000", "-inf", "0", "12345678901234567890123456789"]
    places = [(row, column) for row in ("a", "b") for column in (1, 2)]
    for number in odd:
        figures = [value("layer1.ffn.output", number, row=r, column=c) for r, c in places]
        held(tmp_path, value("layer1.ffn.hidden", [number, "1"], column=1), *figures)
        held(tmp_path, value("input", number, row="b", column=1), *figures)
        held(tmp_path, value("input", [number, "2"], part="shape"))
    found = checked(tmp_path, ROUNDED, value("layer1.ffn.hidden", "1e-800000", row="b", column=1))
    assert verdicts(found) == ["wrong"]


def test_what_is_not_recomputable_says_why(tmp_path: Path) -> None:
    found = held(tmp_path, {"unknown": "a setting", "printed": "12"})
    assert found == [("not recomputable", "a setting")]


def test_shapes_follow_from_the_number_of_tokens(tmp_path: Path) -> None:
    tokens = value("tokens", "3", part="shape")
    shapes = [
        value("input", ["1", "3", "2"], part="shape"),
        value(f"{HEAD}.scores", ["3", "3"], part="shape"),
        value("input", ["3", "5"], part="shape"),
    ]
    assert held(tmp_path, *shapes) == [
        ("variant", "with 3 tokens"),
        ("variant", "with 3 tokens"),
        ("wrong", ""),
    ]
    assert [verdict for verdict, _ in held(tmp_path, *shapes, tokens)] == [
        *("follows", "follows", "wrong", "wrong"),
    ]


def test_a_figure_of_another_example_is_held_against_that(tmp_path: Path) -> None:
    speaks = f"""{SMALL}vocabulary: [a, b]
unembedding: {{W_U: [[0, 0], [0, 0]]}}
training:
  - {{tokens: [a, b], targets: [b, a]}}
  - {{tokens: [b], targets: [a]}}
rounding: {{decimals: 2}}
"""
    found = held(
        tmp_path,
        value("loss", "0.69"),
        value("loss.token", ["0.69"], example=2),
        value("input", ["3", "4"], row=1, example=2),
        scenario=speaks,
    )
    assert [verdict for verdict, _ in found] == ["agrees"] * 4


@pytest.mark.parametrize("name", ["gguf llama", "folder gpt2"])
def test_figures_of_a_trained_model_are_judged_too(name: str, tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    from tests.helpers.figures import figures_file
    from tests.helpers.tiny_models import scenario
    from tracer.check.checking import check_figures
    from tracer.decoder.forward import trace
    from tracer.scenario.loading import load

    loaded = load(scenario(tmp_path, name))
    number = float(trace("tiny", loaded.scenario)["logits"].array[-1, 3])
    figures = figures_file(
        tmp_path,
        [
            value("logits", f"{number:.3f}", row=5, column=4),
            value("logits", f"{number + 1:.3f}", row=5, column=4),
        ],
    )
    assert verdicts(check_figures(loaded, figures)) == ["agrees", "wrong"]


TRAINED = """\
title: Two words, no layers
tokens: [u, v]
embeddings: {u: [1, 0], v: [0, 1]}
layers: []
vocabulary: [p, q]
unembedding: {W_U: [[1, 0], [0, 2]]}
targets: [q, p]
optimizer: {kind: sgd, learning_rate: 0.5}
rounding: {decimals: 3, carry: never}
"""
P = np.exp([[1, 0], [0, 2]]) / np.exp([[1, 0], [0, 2]]).sum(axis=1, keepdims=True)
AT_LOGITS = P - [[0, 1], [1, 0]]
"""The gradient of the sum of both losses; each word's embedding is one of W_U's rows."""


def rows(numbers: Any) -> list[list[str]]:
    """Numbers as a text prints them."""
    return [[f"{number:.3f}" for number in row] for row in np.asarray(numbers)]


def test_gradients_and_new_weights_are_judged_like_other_figures(tmp_path: Path) -> None:
    new = [[1, 0], [0, 2]] - AT_LOGITS / 2 / 2
    found = checked(
        tmp_path,
        TRAINED,
        value("probabilities", rows(P)),
        value("gradient.unembedding.W_U", rows(AT_LOGITS / 2)),
        value("update.unembedding.W_U", rows(new)),
        value("update.unembedding.W_U", "0.3", row=1, column="p"),
        value("gradient.logits", rows(AT_LOGITS)[0], row="u"),
        value("gradient.logits", "0.365", row="u", column="p"),
    )
    assert verdicts(found)[:12] == ["agrees"] * 12
    (wrong, *of_sum, cut) = found.findings[12:]
    assert (str(wrong.verdict), wrong.right) == ("wrong", "0.8")
    assert [(str(f.verdict), f.by) for f in of_sum] == [("variant", "with the losses added up")] * 2
    assert (str(cut.verdict), cut.right) == ("rounding", "0.366")
    assert wrong.figure.title == "The update"


def test_settings_that_pytorch_has_by_default_are_named(tmp_path: Path) -> None:
    """AdamW decays by 1 − η · 0.01; the first step of Adam is η in the direction of each sign."""
    scenario = TRAINED.replace("{kind: sgd, learning_rate: 0.5}", "{kind: adamw}")
    decayed = np.array([[1, 0], [0, 2]]) * (1 - 0.01 * 0.01) - 0.01 * np.sign(AT_LOGITS)
    printed = [[f"{number:.6f}" for number in row] for row in decayed]
    found = held(tmp_path, value("update.unembedding.W_U", printed), scenario=scenario)
    assert found[0] == ("variant", "with a weight decay of 0.01, the default of PyTorch's AdamW")


def test_figures_of_an_example_are_those_of_its_own_step(tmp_path: Path) -> None:
    """The first example trains with the target q of u, the second one with p of v."""
    examples = "training: [{tokens: [u], targets: [q]}, {tokens: [v], targets: [p]}]\n"
    scenario = TRAINED.replace("targets: [q, p]\n", examples)
    found = held(
        tmp_path,
        value("gradient.logits", rows(AT_LOGITS[1:])[0], row="v", example=2),
        value("gradient.logits", rows(AT_LOGITS[:1] / 2)[0], row="u"),
        value("gradient.unembedding.W_U", rows(AT_LOGITS / 2)),
        value("probabilities", rows(P)),
        scenario=scenario,
    )
    assert [verdict for verdict, _ in found] == ["agrees"] * 12


def test_gradients_ask_for_a_loss(tmp_path: Path) -> None:
    with pytest.raises(TracerError) as caught:
        held(tmp_path, value("gradient.input", ["1", "2"], row="a"))
    assert "gradients need a loss: add vocabulary, unembedding and targets" in str(caught.value)
