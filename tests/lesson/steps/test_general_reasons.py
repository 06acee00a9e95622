"""A general sentence is printed only where it is true of the scenario with its settings."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.helpers.command import printed, run_json

IDENTITY = "{W_Q: identity, W_K: identity, W_V: identity}"
ATTENTION = f"{{attention: {{heads: [{IDENTITY}]}}}}"
TOKENS = "tokens: [a, b, c]\nembeddings: {a: [1, 0], b: [0, 1], c: [1, 1]}\n"
NO_POSITIONS = "positions: {table: [[0, 0], [0, 0], [0, 0]]}\n"
SWAPPED = TOKENS.replace("[a, b, c]", "[b, a, c]")
ONLY_SCORES = "a score in the first attention layer would depend only on the vectors"


def said(command: str, scenario: str, *options: str) -> str:
    return " ".join(printed(command, "-", *options, stdin=scenario).split())


def result_of_c(scenario: str) -> Any:
    (output,) = (v for v in run_json("-", stdin=scenario)["values"] if v["address"] == "output")
    return output["data"][-1]


@pytest.mark.parametrize(
    ("layers", "mask", "which"),
    [
        (ATTENTION, "", "earlier"),
        (f"{ATTENTION}, {ATTENTION}", "", None),
        (ATTENTION, "mask: {window: 2}\n", None),
        (ATTENTION, "mask: none\n", "other"),
        (f"{ATTENTION}, {ATTENTION}", "mask: none\n", "other"),
    ],
)
def test_without_positions_order_counts_only_through_a_mask_in_several_layers(
    layers: str, mask: str, which: str | None
) -> None:
    """The sentence is held against the result of c with a and b swapped."""
    rest = f"{NO_POSITIONS}{mask}layers: [{layers}]\nrounding: {{carry: never}}\n"
    text = said("run", TOKENS + rest)
    same = result_of_c(TOKENS + rest) == pytest.approx(result_of_c(SWAPPED + rest), abs=1e-12)
    assert same == (which is not None)
    assert (f"reordering the {which} tokens would not change the result of “c”" in text) == same
    assert (ONLY_SCORES in text) != same


def test_the_first_two_tokens_have_too_few_others_to_reorder() -> None:
    text = said("run", f"{TOKENS}{NO_POSITIONS}layers: [{ATTENTION}]\n", "--token", "2")
    assert ONLY_SCORES in text and "reordering" not in text


@pytest.mark.parametrize(
    ("text", "gathers"),
    [
        (f"{TOKENS}layers: [{ATTENTION}]\n", True),
        (f"{TOKENS}mask: {{window: 1}}\nlayers: [{ATTENTION}]\n", False),
        (f"tokens: [a]\nembeddings: {{a: [1, 0]}}\nlayers: [{ATTENTION}]\n", False),
        (f"{TOKENS}layers: [{{ffn: {{W_1: identity, W_2: identity}}}}]\n", False),
    ],
)
def test_tokens_gather_information_only_where_they_see_others(text: str, gathers: bool) -> None:
    tutorial = said("tutorial", text + "positions: {sinusoidal: {start: 1}}\n", "--detail", "full")
    for sentence in (
        "each token gathers information from",
        "a model reads only the hidden state of",
        "A second layer reads vectors that hold what the first layer gathered",
    ):
        assert (sentence in tutorial) == gathers
    assert "from each other" not in tutorial


HEADS = """
tokens: [a, b]
embeddings: {a: [1, 0], b: [1, 1]}
layers:
  - attention:
      heads: [{W_Q: [[1], [0]], W_K: [[1], [0]], W_V: WIDE}, {W_Q: WIDE, W_K: WIDE, W_V: THIN}]
      W_O: [[1, 0], [0, 1], [1, 1]]
"""


def test_widths_are_compared_head_by_head() -> None:
    """In both heads the values have another width than the keys, though each is 1 or 2."""
    text = HEADS.replace("WIDE", "[[1, 0], [0, 1]]").replace("THIN", "[[1], [0]]")
    rows = [line for line in printed("tutorial", "-", stdin=text).split("\n") if "1 or 2" in line]
    assert [row.split(" | ")[0].strip("| ") for row in rows] == ["d_k", "d_v"]


ROUTED = """
tokens: [a, b]
embeddings: {a: [1, 0], b: [1, 1]}
layers:
  - ffn:
      router: [[1, 1.0LAST], [1, 1.0LAST]]
      top: 1
      normalize: false
      experts: [{W_1: identity, W_2: identity}, {W_1: identity, W_2: identity}]
rounding: {decimals: 1, carry: step}
"""


@pytest.mark.parametrize("last", ["5", "2"])
def test_the_logits_decide_for_an_expert(last: str) -> None:
    """The logits 2 and 2.04 are both printed as 2.0, and the shares as 0.5."""
    text = said("run", ROUTED.replace("LAST", last))
    assert "Each token goes to the expert with its largest logit." in text
    assert ("Before rounding, the logits of experts 1 and 2 differ." in text) == (last == "2")


GATED = """
tokens: [a, b]
embeddings: {a: [1, 1], b: [0.5, 1]}
layers: [{ffn: {W_1: [[1, 2], [0, 1]], W_3: [[1, 2], [0, 1]], W_2: identity, activation: silu}}]
"""


def test_a_gate_with_the_same_weights_passes_on_nothing_else() -> None:
    other = GATED.replace("W_3: [[1, 2]", "W_3: [[1, 3]")
    found = ["computed with different weights" in said("run", text) for text in (GATED, other)]
    assert found == [False, True]


def test_training_names_what_it_would_adjust() -> None:
    text = (
        f"{TOKENS}layers: [{ATTENTION}]\nvocabulary: [a, b]\n"
        "unembedding: {W_U: [[1, 0], [0, 1]]}\n"
    )
    some = f"{text}optimizer: {{trains: [unembedding.W_U]}}\n"
    assert ["Training can adjust these" in said("tutorial", each) for each in (text, some)] == [
        True,
        False,
    ]


def test_two_predictions_of_pizza_need_the_encoder() -> None:
    """So says its summary."""
    zeros = yaml.safe_dump([[0] * 4] * 3, default_flow_style=True).strip()
    whole, blind = (
        next(v["data"] for v in run_json("pizza", *given)["values"] if v["address"] == "prediction")
        for given in ((), ("--given", f"encoder.output={zeros}"))
    )
    kept = [a if a == b else None for a, b in zip(whole, blind, strict=True)]
    assert kept == ["Me", "gusta", None, "pizza", None]
