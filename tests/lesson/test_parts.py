"""Lines and words of the parts that a decoder may have or not, held against a pencil."""

from __future__ import annotations

import json
import re
from itertools import cycle
from typing import Any

import pytest
import yaml

from tests.helpers.claims import Judge, faults
from tests.helpers.command import printed, run_json
from tests.helpers.continuity import misplaced, two_forms, violations
from tests.helpers.every_part import every_part
from tests.helpers.random_scenarios import CARRY_MODES
from tests.helpers.readable_digits import needless_brackets, unread_digits
from tests.helpers.sentences import WIDE, unbroken
from tests.helpers.traces import formula_of, traced, worked
from tests.helpers.truth import false_equations, unreadable

# --- the FFN -------------------------------------------------------------------------------------

FFN = """
title: h is 1 and -2
tokens: [a]
embeddings: [[1]]
layers: [{ffn: {W_1: [[1, -2]], W_2: [[1], [0]], SETTINGS}}]
"""


@pytest.mark.parametrize(
    ("function", "formula", "h_1", "h_2"),
    [
        (
            "silu",
            "a = h / (1 + e^(-h))",
            # e^-1 = 0.36788, and 1 / 1.36788 = 0.73106; e^2 = 7.38906, and -2 / 8.38906 = -0.23841
            "1.000 / (1 + e^(-1.000)) ≈ 1.000 / (1 + 0.368) = 1.000 / 1.368 ≈ 0.731",
            "-2.000 / (1 + e^(-(-2.000))) ≈ -2.000 / (1 + 7.389) = -2.000 / 8.389 ≈ -0.238",
        ),
        (
            "gelu",
            "a = h×Φ(h)",
            "1.000×Φ(1.000) ≈ 1.000×0.841 = 0.841",
            "(-2.000)×Φ(-2.000) ≈ (-2.000)×0.023 = -0.046",  # 0.0227501, and -0.0455003
        ),
        (
            "gelu_tanh",
            "a = h / (1 + e^(-√(8 / π)×(h + 0.044715×h³)))",
            # √(8/π) = 1.595769, times 1.044715 is 1.667124; times -2.35772 it is -3.762377
            "1.000 / (1 + e^(-√(8 / π)×(1.000 + 0.044715×1.000³))) ≈ 1.000 / (1 + e^(-1.667)) "
            "≈ 1.000 / (1 + 0.189) = 1.000 / 1.189 ≈ 0.841",
            "-2.000 / (1 + e^(-√(8 / π)×(-2.000 + 0.044715×(-2.000)³))) "
            "≈ -2.000 / (1 + e^(-(-3.762))) ≈ -2.000 / (1 + 43.034) = -2.000 / 44.034 ≈ -0.045",
        ),
    ],
)
def test_activations(function: str, formula: str, h_1: str, h_2: str) -> None:
    ran = traced(FFN.replace("SETTINGS", f"activation: {function}"))
    assert formula_of(ran, "layer1.ffn.activation") == formula
    assert worked(ran, "layer1.ffn.activation", 1) == {"h₁": h_1, "h₂": h_2}


def test_a_gate() -> None:
    ran = traced(FFN.replace("SETTINGS", "W_3: [[0.5, 3]], b_3: [0.25, 0], activation: none"))
    assert formula_of(ran, "layer1.ffn.up") == "u = X′ · W₃ + b₃"
    lines = {"h₁": "1×0.5 + 0.25 = 0.500 + 0.25 = 0.750", "h₂": "1×3 + 0 = 3.000 + 0 = 3.000"}
    assert worked(ran, "layer1.ffn.up", 1) == lines
    assert formula_of(ran, "layer1.ffn.gated") == "g = a×u"
    lines = {"h₁": "1.000×0.750 = 0.750", "h₂": "(-2.000)×3.000 = -6.000"}
    assert worked(ran, "layer1.ffn.gated", 1) == lines


def test_an_activation_behind_the_output() -> None:
    ran = traced(FFN.replace("SETTINGS", "activates: output"))
    assert formula_of(ran, "layer1.ffn.projected") == "s = h · W₂"
    assert formula_of(ran, "layer1.ffn.output") == "FFN(X′) = max(0, s)"
    assert worked(ran, "layer1.ffn.output", 1) == {"d₀": "max(0, 1.000) = 1.000"}


# --- norms ---------------------------------------------------------------------------------------

NORM = """
title: A norm alone
tokens: [a]
embeddings: [ROW]
final_norm: {SETTINGS}
"""


@pytest.mark.parametrize(
    ("row", "settings", "lines"),
    [
        (
            "[3, 4]",
            "kind: rms_norm",
            {
                "norm.squared": "4² = 16.000",
                "norm.mean_square": "RMS² = (9.000 + 16.000) / 2 = 25.000 / 2 = 12.500",
                "norm.rms": "RMS = √12.500 ≈ 3.53553",  # 3.5355339
                "norm": "4 / 3.53553 ≈ 1.131",  # 1.13137
            },
        ),
        (
            "[4, 3]",
            "kind: rms_norm, gain: [1, 2], epsilon: 0.5, epsilon_outside: true",
            {
                "norm.rms": "RMS = √12.500 + 0.5 ≈ 3.53553 + 0.5 = 4.03553",
                "norm": "(3 / 4.03553)×2 ≈ 0.7434×2 = 1.4868 ≈ 1.487",  # 0.743397, 1.486794
            },
        ),
        (
            "[1, 2, 6]",
            "deviation: sample, epsilon: 0.5, epsilon_outside: true",
            {
                "norm.deviation": "6 - 3.000 = 3.000",
                "norm.variance": "σ² = (4.000 + 1.000 + 9.000) / 2 = 14.000 / 2 = 7.000",
                "norm.std": "σ = √7.000 + 0.5 ≈ 2.64575 + 0.5 = 3.14575",  # √7 = 2.6457513
                "norm": "3.000 / 3.14575 ≈ 0.954",  # 0.953667
            },
        ),
    ],
)
def test_norms(row: str, settings: str, lines: dict[str, str]) -> None:
    ran = traced(NORM.replace("ROW", row).replace("SETTINGS", settings))
    found = {name: list(worked(ran, f"final_{name}", 1).values())[-1] for name in lines}
    assert found == lines


def test_the_formulas_of_norms() -> None:
    rooted = traced(NORM.replace("ROW", "[1, 2]").replace("SETTINGS", "kind: rms_norm"))
    assert formula_of(rooted, "final_norm.mean_square") == "RMS² = mean(X′²)"
    assert formula_of(rooted, "final_norm.rms") == "RMS = √(RMS²)"
    assert formula_of(rooted, "final_norm") == "x₁ = X′ / RMS"
    settings = "deviation: sample, epsilon: 2, epsilon_outside: true"
    sample = traced(NORM.replace("ROW", "[1, 2, 6]").replace("SETTINGS", settings))
    assert formula_of(sample, "final_norm.variance") == "σ² = sum((X′ - μ)²) / 2"
    assert formula_of(sample, "final_norm.std") == "σ = √(σ²) + 2"


# --- attention -----------------------------------------------------------------------------------

TURNED = """
title: Two heads with the same keys, turned
tokens: [a, b]
embeddings: [[5, 6], [1, 2]]
positions: {rotary: {}}
layers:
  - attention:
      heads: [{W_Q: identity, W_K: identity, W_V: identity}, {W_Q: identity, shares: 1}]
      scale: SCALE
      W_O: {random: {}}
"""


@pytest.mark.parametrize(
    ("scale", "formula", "scores"),
    [
        (
            "none",
            "S² = Q_R² · K_R¹ᵀ",
            {
                "a": "(-1.142)×5.000 + 1.921×6.000 = -5.710 + 11.526 = 5.816",
                "b": "(-1.142)×(-1.142) + 1.921×1.921 ≈ 1.304 + 3.690 = 4.994",
            },
        ),
        (
            "0.5",
            "S² = Q_R² · K_R¹ᵀ / c",
            {
                "a": "((-1.142)×5.000 + 1.921×6.000) / 0.5 = (-5.710 + 11.526) / 0.5 = 5.816 / 0.5 "
                "= 11.632",
                "b": "((-1.142)×(-1.142) + 1.921×1.921) / 0.5 ≈ (1.3042 + 3.6902) / 0.5 "
                "= 4.9944 / 0.5 = 9.9888 ≈ 9.989",
            },
        ),
    ],
)
def test_turned_queries_meet_the_keys_of_another_head(
    scale: str, formula: str, scores: dict[str, str]
) -> None:
    ran = traced(TURNED.replace("SCALE", scale))
    # sin(1) = 0.84147 and cos(1) = 0.54030; the position of the first token is 0.
    head_1, head_2 = "layer1.attention.head1", "layer1.attention.head2"
    assert formula_of(ran, f"{head_2}.rotated_query") == "Q_R² = rotate(Q², θ)"
    for address, labels in ((f"{head_2}.rotated_query", "q"), (f"{head_1}.rotated_key", "k")):
        assert worked(ran, address, 2) == {
            f"{labels}₁": "1.000×0.540 - 2.000×0.841 = 0.540 - 1.682 = -1.142",
            f"{labels}₂": "1.000×0.841 + 2.000×0.540 = 0.841 + 1.080 = 1.921",
        }
    assert formula_of(ran, f"{head_2}.scores") == formula
    assert worked(ran, f"{head_2}.scores", 2) == scores
    assert formula_of(ran, f"{head_2}.output") == "O² = A² · V¹"


SHIFTED = """
title: Scores of 2, 5 and 4, and a token that nobody sees
tokens: [a, b, c]
embeddings: [[1, 2], [1, 5], [1, 4]]
mask: [[-inf, -inf, -inf], [0, 0, -inf], [0, 0, 0]]
softmax: shifted
layers: [{attention: {heads: [{W_Q: [[1], [0]], W_K: [[0], [1]], W_V: identity}]}}]
"""
HEAD = "layer1.attention.head1"


def test_a_softmax_without_the_largest_score() -> None:
    ran = traced(SHIFTED)
    assert formula_of(ran, f"{HEAD}.max") == "m = largest(S + M)"
    assert worked(ran, f"{HEAD}.max", 3) == {"": "m = max(2.000, 5.000, 4.000) = 5.000"}
    assert worked(ran, f"{HEAD}.shifted", 3) == {
        "a": "2.000 - 5.000 = -3.000",
        "b": "5.000 - 5.000 = 0",
        "c": "4.000 - 5.000 = -1.000",
    }
    assert formula_of(ran, f"{HEAD}.exp_sum") == "Σ = sum(e^(S + M - m))"
    # e^-3 = 0.0497871 and e^-1 = 0.3678794, of 1.4176665
    assert worked(ran, f"{HEAD}.weights", 3) == {
        "a": "0.04979 / 1.41767 ≈ 0.035",
        "b": "1.00000 / 1.41767 ≈ 0.705",
        "c": "0.36788 / 1.41767 ≈ 0.259",
    }


def test_of_a_row_that_is_masked_as_a_whole_nothing_is_the_largest() -> None:
    ran = traced(SHIFTED)
    assert worked(ran, f"{HEAD}.max", 1) == worked(ran, f"{HEAD}.shifted", 1) == {}
    assert ran[f"{HEAD}.weights"].array.tolist()[0] == [0, 0, 0]
    text = printed("run", "-", "--token", "1", stdin=SHIFTED)
    assert "max(" not in text and "Each number minus the largest" not in text
    assert " ".join(text.split()).count("Every key is masked for “a”, so the sum is 0") == 1
    assert false_equations(text) == []


@pytest.mark.parametrize(
    ("mask", "says"),
    [
        (
            "{window: 1}",
            "Each token may attend only to itself: the mask adds -∞ to every other score.",
        ),
        ("{window: 2}", "Each token may attend to itself and at most 1 token just before it: "),
        ("{window: 3}", "Each token may attend to itself and at most 2 tokens just before it: "),
        ("causal", " may attend only to itself and to earlier tokens: "),
        ("[[0, -inf, -inf], [0, 0, -inf], [0, 0, 0]]", "only to itself and to earlier tokens: "),
        ("[[0, 0, -inf], [0, 0, -inf], [0, 0, 0]]", "The mask is added to the scores. Where it "),
    ],
)
def test_a_mask_is_told_as_it_is(mask: str, says: str) -> None:
    text = " ".join(printed("run", "-", "--token", "2", stdin=every_part(mask=mask)).split())
    assert text.count(says) == 1
    hides_what_is_later = "Later tokens are hidden because they contain the answer"
    assert (hides_what_is_later in text) == (not mask.startswith("[[0, 0"))


def test_without_a_mask_it_is_plain_self_attention() -> None:
    text = printed("run", "-", stdin=every_part(mask="none"))
    assert "Layer 1: self-attention" in text
    assert "masked" not in text and "Mask" not in text
    padded = every_part(mask="none").replace("tokens: [a, b, c]", "tokens: [a, b, c]\npadding: b")
    told = " ".join(printed("run", "-", stdin=padded).split())
    assert (
        "attend to earlier and later tokens, but not to the padding token “b”, whose score" in told
    )


def test_a_tutorial_tells_what_a_mask_prevents_only_where_there_is_one() -> None:
    assert "What the mask prevents" in printed("tutorial", "-", stdin=every_part())
    assert "What the mask prevents" not in printed("tutorial", "-", stdin=every_part(mask="none"))


# --- all of them, judged -------------------------------------------------------------------------

LAYOUTS = ("pairs", "halves")


@pytest.mark.parametrize(
    ("carry", "width", "layout"),
    [*zip(CARRY_MODES, (40, 80, 160), cycle(LAYOUTS)), ("line", 80, "halves")],
)
def test_every_line_is_true_and_goes_on_from_what_stood_before(
    carry: str, width: int, layout: str
) -> None:
    text = printed("run", "-", "--carry", carry, width=width, stdin=every_part(layout))
    assert (unreadable(text), false_equations(text), needless_brackets(text)) == ([], [], [])
    assert unread_digits(text) == []
    if carry != "never":
        assert (violations(text), misplaced(text), two_forms(text)) == ([], [], [])


@pytest.mark.parametrize(
    ("carry", "softmax", "mask"),
    [
        ("line", "shifted", "{window: 2}"),
        ("line", "plain", "none"),
        ("step", "plain", "{window: 2}"),
        ("step", "shifted", "none"),
        ("never", "shifted", "{window: 2}"),
        ("never", "plain", "none"),
    ],
)
def test_every_sentence_is_known_and_true(carry: str, softmax: str, mask: str) -> None:
    source = every_part(mask=mask, softmax=softmax)
    text = unbroken(printed("run", "-", "--carry", carry, width=WIDE, stdin=source))
    found = run_json("-", "--carry", carry, stdin=source)
    values: dict[str, Any] = {value["address"]: value for value in found["values"]}
    assert faults(text, Judge(values, yaml.safe_load(source), 2, found["rounding"])) == []


def test_each_part_says_why_it_is_there() -> None:
    text = printed("tutorial", "-", stdin=every_part())
    reason = re.compile(
        r"\b(because|so that|therefore|since|without positions|to a moderate size)\b", re.IGNORECASE
    )
    for title in (
        *("Angles of the positions", "RMSNorm before attention", "FFN: gate"),
        "Head 1 · Rotary query",
        "LayerNorm after attention",
    ):
        step = text.partition(title + "\n")[2].partition("\n### ")[0]
        assert reason.search(step.replace("\n", " ")), title


@pytest.mark.parametrize("layout", LAYOUTS)
def test_pinned_numbers_stand_in_place_of_any_of_them(layout: str) -> None:
    source = f"{every_part(layout)}rounding: {{carry: step}}\n"
    found = run_json("-", stdin=source)
    values = {value["address"]: value for value in found["values"]}
    new = re.compile(
        r"position\.(sin|cos|angle|div_term)|.*\.(rotated_query|rotated_key|max|shifted|up|gated|"
        r"projected|norm\.rms|norm\.mean_square|scale)|final_norm(\.rms)?|probabilities\.max"
    )
    addresses = [address for address in values if new.fullmatch(address)]
    assert len(addresses) > 25
    if layout != LAYOUTS[0]:  # the same parts, but for what is rotated
        addresses = [address for address in addresses if "rotated" in address]

    def pinning(pinned: list[str]) -> str:
        shown = (json.dumps(values[each]["data"]).replace('"-inf"', "-inf") for each in pinned)
        given = ", ".join(f"{each}: {rows}" for each, rows in zip(pinned, shown, strict=True))
        return f"{source}given: {{{given}}}\n"

    chosen = addresses[::4]
    for address in chosen:
        document = run_json("-", stdin=pinning([address]))
        pinned = {value["address"]: value for value in document["values"]}
        assert pinned[address]["operation"] == "given"
        assert pinned["logits"]["data"] == values["logits"]["data"], address
    for several in (chosen[::2], chosen[1::2]):
        said = printed("run", "-", stdin=pinning(several))
        assert false_equations(said) == []
        assert said.count("is given, not computed.") >= len(several)
