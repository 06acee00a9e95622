"""Short forms of a scenario: what they stand for, and that it could have been typed."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.helpers.command import printed, run, run_json
from tests.helpers.small_scenario import END, changed, problems, scenario
from tracer.scenario.parts import networks

VALUE = "W_V: [[1, 0], [0, 1]]"
WORDS = f"{END}vocabulary: [b, a]\n"


def numbers(matrix: Any) -> list[list[str]]:
    return [[str(number) for number in row] for row in matrix]


# --- matrices ------------------------------------------------------------------------------------


def test_identity_is_as_large_as_its_place_asks() -> None:
    assert scenario((VALUE, "W_V: identity")) == scenario()
    assert problems(("W_K: [[3], [4]]", "W_K: identity")) == [
        "f.yaml:10:11: layer1.attention.head1.W_K: identity has 2 columns here, "
        "expected 1 (as many as W_Q has)"
    ]


def test_a_transposed_matrix_has_a_row_for_each_column() -> None:
    turned = scenario(("[[1], [2]]\n          W_K", "{transposed: [[1, 2]]}\n          W_K"))
    assert turned == scenario()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "W_K: [[3], [4]]",
            "W_K: {transposed: [[3, 4, 5]]}",
            "10:30: layer1.attention.head1.W_K.transposed row 1: 3 columns, expected 2 "
            "(one per feature of the input)",
        ),
        (
            "W_K: [[3], [4]]",
            "W_K: {transposed: [[3, 4], [5, 6]]}",
            "10:17: layer1.attention.head1.W_K.transposed: 2 rows, expected 1 (as many as W_Q has)",
        ),
        (
            "W_K: [[3], [4]]",
            "W_K: {transposed: [[3, x]]}",
            "10:34: layer1.attention.head1.W_K.transposed row 1 column 2: "
            "expected a number, got 'x'",
        ),
        (
            "W_K: [[3], [4]]",
            "W_K: {random: {sed: 1}}",
            "10:26: layer1.attention.head1.W_K.random.sed: unknown key; did you mean 'seed'?",
        ),
        (
            "W_K: [[3], [4]]",
            "W_K: {random: {columns: 2}}",
            "10:26: layer1.attention.head1.W_K.random.columns: 2, expected 1 (as many as W_Q has)",
        ),
    ],
)
def test_what_is_wrong_in_a_form_is_told_where_it_was_typed(old: str, new: str, told: str) -> None:
    assert problems((old, new)) == [f"f.yaml:{told}"]


RANDOM = "{random: {seed: 1}}"


def test_random_weights_are_short_decimals_shown_as_typed() -> None:
    text = changed((VALUE, f"W_V: {RANDOM}"))
    values = {v["address"]: v for v in run_json("-", stdin=text)["values"]}
    cells = [cell for row in values["layer1.attention.head1.W_V"]["printed"] for cell in row]
    assert all(len(cell.lstrip("-")) == 3 and abs(Decimal(cell)) <= 1 for cell in cells)
    assert printed("run", "-", stdin=text) == printed("run", "-", stdin=text)


def test_another_seed_or_address_gives_other_weights() -> None:
    one, two = (f"W_V: {{random: {{seed: {seed}, decimals: 3}}}}" for seed in (1, 2))
    other = "{random: {seed: 1, decimals: 3}}"
    texts = [
        changed((VALUE, one)),
        changed((VALUE, two)),
        changed(("[[1], [2]]\n          W_K", f"{other}\n          W_K")),
    ]
    drawn = set()
    for text in texts:
        values = run_json("-", stdin=text)["values"]
        drawn |= {json.dumps(v["printed"]) for v in values if v["address"].endswith(("W_Q", "W_V"))}
    assert len(drawn) == 5  # those typed among them


@pytest.mark.parametrize("largest", ["0.5", "10"])
def test_random_weights_are_as_large_as_asked(largest: str) -> None:
    form = f"{{random: {{largest: {largest}, columns: 40}}}}"
    ffn = scenario(("W_1: [[1], [2]]", f"W_1: {form}"), ("W_2: [[1, 2]]", "W_2: {random: {}}"))
    (network,) = networks(ffn.layers[0])
    assert isinstance(network.W_1, tuple)
    cells = [abs(number) for row in network.W_1 for number in row]
    assert len(cells) == 80
    assert Decimal(largest) / 2 < max(cells) <= Decimal(largest)


def test_random_weights_have_the_width_that_fits() -> None:
    text = """\
tokens: a b c
embeddings: {random: {columns: 6}}
layers:
  - attention:
      heads:
        - {W_Q: {random: {}}, W_K: {random: {}}, W_V: {random: {}}}
        - {W_Q: {random: {}}, W_K: {random: {}}, W_V: {random: {}}, labels: {value: [x, y]}}
      W_O: {random: {}}
    ffn: {W_1: {random: {}}, W_2: {random: {}}}
vocabulary: [a, b, c, d]
unembedding: {W_U: {random: {}}}
"""
    shapes = {v["address"]: v["shape"] for v in run_json("-", stdin=text)["values"]}
    head = "layer1.attention.head1"
    assert {name: shapes[name] for name in shapes if "." in name and ".W_" in name} == {
        **{f"{head}.{name}": [6, 3] for name in ("W_Q", "W_K", "W_V")},
        **{f"layer1.attention.head2.{name}": [6, 3] for name in ("W_Q", "W_K")},
        "layer1.attention.head2.W_V": [6, 2],
        "layer1.attention.W_O": [5, 6],
        "layer1.ffn.W_1": [6, 24],
        "layer1.ffn.W_2": [24, 6],
        "unembedding.W_U": [6, 4],
    }


def test_random_embeddings_need_a_width() -> None:
    text = "tokens: a b\nembeddings: {random: {seed: 2}}\n"
    assert run("run", "-", stdin=text + "features: [x, y]\n").exit_code == 0
    told = "<stdin>:2:1: embeddings: how many features? expected {random: {columns: 4}} or features"
    assert run("run", "-", stdin=text).stderr.splitlines()[0] == told


# --- words ---------------------------------------------------------------------------------------


def test_a_sentence_is_split() -> None:
    assert scenario(("[a, b]", "a  b")).tokens == ("a", "b")
    assert scenario(("[a, b]", "a b a")).tokens == ("a", "b", "a")
    assert problems(("[a, b]", "''")) == ["f.yaml:2:1: tokens: empty, expected at least one entry"]


def test_the_tokens_are_the_first_sequence_of_a_batch() -> None:
    batch = ("tokens: [a, b]", "batch: [b a, [a, b]]")
    assert scenario(batch).tokens == ("b", "a")
    second = run_json("-", "--sequence", "2", stdin=changed(batch))
    assert second["values"] == run_json("-", stdin=changed())["values"]
    assert problems(("tokens: [a, b]", "batch: [[a, c]]")) == [
        "f.yaml:2:13: batch1 entry 2: no embedding for the token 'c', "
        "expected c: [0.9, 0.1] in embeddings"
    ]


def test_a_generated_text_begins_with_a_token_or_with_several() -> None:
    def begin(said: str) -> tuple[str, str]:
        return END, f"{END}generation: {{start: {said}}}\n"

    assert scenario(begin("b")).beginning == ("b",)
    assert scenario(begin("[b, a]")).beginning == ("b", "a")
    for said, column, place in (("c", 14, ""), ("a b", 14, ""), ("[b, c]", 25, " entry 2")):
        [problem] = problems(begin(said))
        assert problem.startswith(f"f.yaml:15:{column}: generation.start{place}: no embedding for ")


def test_a_tied_unembedding_is_made_of_the_embeddings() -> None:
    tied = scenario((END, f"{WORDS}unembedding: tied\n")).unembedding
    assert tied is not None
    assert numbers(tied.W_U) == [["3", "1"], ["4", "2"]]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("[b, c]", "15:17: vocabulary entry 2: no embedding for the word 'c', expected c: ["),
        ("[[b], a]", "15:14: vocabulary entry 1: expected text, got a list"),
    ],
)
def test_a_tied_unembedding_needs_an_embedding_for_every_word(words: str, told: str) -> None:
    (problem,) = problems((END, f"{END}vocabulary: {words}\nunembedding: tied\n"))
    assert problem.startswith(f"f.yaml:{told}")


def target_words(text: str) -> list[str]:
    values = json.loads(printed("loss", "-", "-f", "json", stdin=text))["values"]
    (target,) = [value for value in values if value["address"] == "loss.target"]
    words: list[str] = target["data"]
    return words


def test_none_stands_for_no_target() -> None:
    text = changed((END, f"{WORDS}unembedding: tied\ntargets: [none, b]\n"))
    assert target_words(text) == ["—", "b"]
    # Of a vocabulary that has the word, it is the word.
    named = text.replace("[b, a]", "[b, none]").replace("  a: [1", "  none: [1, 3]\n  a: [1")
    assert target_words(named) == ["none", "b"]


def test_title_and_layers_may_be_left_out() -> None:
    text = "tokens: [a]\nembeddings: {a: [1, 2]}\n"
    assert printed("run", "-", stdin=text).startswith("stdin\n")
    assert "y (1 × 2) = X′" in printed("run", "-", stdin=text)
    assert printed("tutorial", "-", stdin=text).startswith("# stdin\n")


@pytest.mark.parametrize("form", ["identity", "{random: {}}"])
def test_a_short_form_does_not_stand_for_endless_numbers(form: str) -> None:
    wide = ", ".join(["1"] * 3000)
    ffn = f"{{W_1: {form}, W_2: {form}}}"
    text = f"tokens: [a]\nembeddings: {{a: [{wide}]}}\nlayers: [{{ffn: {ffn}}}]\n"
    ran = run("run", "-", stdin=text)
    assert ran.exit_code == 2
    told = ran.stderr.splitlines()
    assert "layer1.ffn.W_1: 3000 × " in told[0]
    assert "numbers, expected at most 250000 in a short form" in told[0]
