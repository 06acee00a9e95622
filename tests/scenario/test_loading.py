"""What a scenario cannot say: each thing is named at its line, with what was expected."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.command import run
from tests.helpers.small_scenario import END, SMALL, changed, problems
from tracer.errors import TracerError, format_problems as told_lines
from tracer.scenario.loading import parse


@pytest.mark.parametrize(
    ("old", "new", "where", "nearest"),
    [
        ("title:", "titel:", "1:1: titel", "title"),
        ("tokens:", "token:", "2:1: token", "tokens"),
        ("W_K:", "WK:", "10:11: layer1.attention.head1.WK", "W_K"),
        ("    ffn:", "    fnn:", "12:5: layer1.fnn", "ffn"),
        (END, f"{END}      activaton: relu\n", "15:7: layer1.ffn.activaton", "activation"),
        (END, f"{END}    norm: {{epsilom: 1}}\n", "15:12: layer1.norm.epsilom", "epsilon"),
        (END, f"{END}rounding: {{decimal: 2}}\n", "15:12: rounding.decimal", "decimals"),
    ],
)
def test_an_unknown_key_is_answered_with_the_nearest(
    old: str, new: str, where: str, nearest: str
) -> None:
    told = f"f.yaml:{where}: unknown key; did you mean {nearest!r}"
    assert sum(problem.startswith(told) for problem in problems((old, new))) == 1


def test_a_key_that_is_not_allowed_here_is_not_suggested() -> None:
    [problem] = problems((END, f"{END}n_heads: 2\n"))
    assert problem == "f.yaml:15:1: n_heads: unknown key; 'heads' is a key of layers.attention"


def test_a_far_off_key_is_answered_with_no_other() -> None:
    assert problems((END, f"{END}zzzzzz: 2\n")) == ["f.yaml:15:1: zzzzzz: unknown key"]


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("dropout: 0.1", "dropout: unknown key; passes are computed without dropout"),
        ("temperature: 2", "temperature: unknown key; generate has the option --temperature"),
        (
            "generation: {top_k: 2}",
            "generation.top_k: unknown key; generate has the option --top-k",
        ),
    ],
)
def test_a_key_of_other_programs_is_not_likened_to_one_of_ours(key: str, told: str) -> None:
    [problem] = problems((END, f"{END}{key}\n"))
    assert told in problem and "did you mean" not in problem and "is a key of" not in problem


@pytest.mark.parametrize(
    ("old", "new", "key", "place"),
    [
        ("layers:", "W_O: [[1]]\nlayers:", "6:1: W_O", "layers.attention"),
        (END, f"{END}      heads: []\n", "15:7: layer1.ffn.heads", "layers.attention"),
        (END, f"{END}    epsilon: 0\n", "15:5: layer1.epsilon", "layers.attention.norm"),
    ],
)
def test_a_key_of_another_place_is_told_from_an_unknown_one(
    old: str, new: str, key: str, place: str
) -> None:
    assert problems((old, new)) == [f"f.yaml:{key}: not a key here, but of {place}"]


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        ("tokens: [a, b]\n", "1:1: tokens: missing, expected tokens: [big"),
        (
            "embeddings:\n  a: [1, 2]\n  b: [3, 4]\n",
            "1:1: embeddings: missing, expected embeddings: {big: [",
        ),
        (
            "          W_K: [[3], [4]]\n",
            "9:11: layer1.attention.head1.W_K: missing, expected W_K",
        ),
        (
            "      W_1: [[1], [2]]\n",
            "13:7: layer1.ffn.W_1: missing, expected W_1",
        ),
    ],
)
def test_what_is_missing_is_named(gone: str, told: str) -> None:
    # What is not there has no line: it is that of the part in which it is missing.
    (problem,) = problems((gone, ""))
    assert problem.startswith(f"f.yaml:{told}")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Two words", "[x]", "1:1: title: expected text, got a list"),
        ("Two words", "''", "1:1: title: empty"),
        ("[a, b]", "{a: b}", "2:1: tokens: expected a list, such as tokens: [big, cat], got a "),
        ("[a, b]", "[]", "2:1: tokens: empty, expected at least one entry"),
        ("[a, b]", "' '", "2:1: tokens: empty, expected at least one entry"),
        ("[a, b]", "[a, b]\nvocabulary: []", "3:1: vocabulary: empty, expected at least one"),
        ("[a, b]", "[a, b]\nbatch: [' ']", "3:9: batch1: empty, expected at least one entry"),
        ("[[3], [4]]", "[3, [4]]", "10:17: layer1.attention.head1.W_K row 1: expected a list, got"),
        (
            "[[3], [4]]",
            "x",
            "10:11: layer1.attention.head1.W_K: expected a list of rows, ",
        ),
        (
            "[[3], [4]]",
            "{}",
            "10:11: layer1.attention.head1.W_K: expected a list of rows, ",
        ),
        ("[[3], [4]]", "[]", "10:11: layer1.attention.head1.W_K: empty"),
    ],
)
def test_a_wrong_kind_is_told_with_what_was_expected(old: str, new: str, told: str) -> None:
    (problem,) = problems((old, new))
    assert problem.startswith(f"f.yaml:{told}")


@pytest.mark.parametrize(
    ("added", "told"),
    [
        ("      residual: maybe", "7: layer1.ffn.residual: expected true or false, got 'maybe'"),
        (
            "      activation: x",
            "7: layer1.ffn.activation: expected relu, gelu, gelu_tanh, silu, sigmoid, tanh, "
            "relu_squared, swiglu or none, got 'x'",
        ),
        ("      norm: yes", "7: layer1.ffn.norm: expected a mapping, such as norm: {epsilon: "),
        ("    norm: {epsilon: -1}", "12: layer1.norm.epsilon: expected at least 0, got '-1'"),
        ("  - {}", "5: layer2: expected attention, cross_attention or ffn"),
        ("  - ffn", "5: layer2: expected a mapping, got 'ffn'"),
        ("token_ids: [1, x]", "16: token_ids entry 2: expected a whole number, got 'x'"),
        ("token_ids: [1, 1.5]", "16: token_ids entry 2: expected a whole number, got '1.5'"),
        ("features: x", "1: features: expected a list, such as features: [size, age], got 'x'"),
        ("features: [x, [y]]", "15: features entry 2: expected text, got a list"),
        (
            "positions: table",
            "1: positions: expected a mapping, such as positions: {sinusoidal: {start: 1}}, ",
        ),
        ("      activates: x", "7: layer1.ffn.activates: expected hidden or output, got 'x'"),
        ("      b_3: [1]", "7: layer1.ffn.b_3: a bias without W_3"),
        ("      W_3: [[1]]", "7: layer1.ffn.W_3: 1 row, expected 2 (one per feature of the input)"),
        (
            "      W_3: [[1, 2], [3, 4]]",
            "7: layer1.ffn.W_3: 2 columns, expected 1 (as many as W_1 has)",
        ),
        ("    norm: {kind: x}", "12: layer1.norm.kind: expected layer_norm or rms_norm, got 'x'"),
        (
            "    norm: {kind: rms_norm, deviation: sample}",
            "28: layer1.norm.deviation: sample goes with layer_norm only",
        ),
        (
            "    norm: {unit_offset: true}",
            "12: layer1.norm.unit_offset: adds 1 to γ, which is missing; expected gain: [0, 0]",
        ),
        (
            "    norm: {epsilon_outside: x}",
            "12: layer1.norm.epsilon_outside: expected true or false, got 'x'",
        ),
        (
            "embedding_scale: x",
            "1: embedding_scale: expected sqrt, none or a number, such as embedding_scale: sqrt, ",
        ),
        ("final_norm: {gain: [1]}", "14: final_norm.gain: 1 number, expected 2 (one per feature)"),
        (
            "final_norm: {placement: pre}",
            "14: final_norm.placement: not a key here, but of layers.attention.norm",
        ),
        ("softmax: x", "1: softmax: expected plain or shifted, got 'x'"),
        (
            "mask: x",
            "1: mask: expected causal, none, {window: 3} or rows of numbers and",
        ),
        ("mask: {window: 0}", "8: mask.window: expected at least 1, got '0'"),
        ("mask: [[0, -inf]]", "1: mask: 1 row, expected 2 (one per token)"),
        ("mask: [[0], [0, 0]]", "8: mask row 1: 1 entry, expected 2 (one per token)"),
        ("mask: [[0, x], [0, 0]]", "12: mask row 1 column 2: expected a number, got 'x'"),
        (
            "positions: {}",
            "1: positions: expected one of sinusoidal, table, rotary, alibi: true or relative_bias",
        ),
        (
            "positions: {sinusoidal: {}, table: [[1, 2], [3, 4]]}",
            "1: positions: expected one of sinusoidal, table, rotary, alibi: true or relative_bias",
        ),
        (
            "positions: {sinusoidal: {start: -1}}",
            "26: positions.sinusoidal.start: expected at least 0, got '-1'",
        ),
        ("rounding: x", "1: rounding: expected a mapping, such as rounding: {decimals: 3, "),
        ("rounding: {decimals: 13}", "12: rounding.decimals: expected at most 12, got '13'"),
        ("rounding: {decimals: -1}", "12: rounding.decimals: expected at least 0, got '-1'"),
        ("rounding: {decimals: 2.5}", "12: rounding.decimals: expected a whole number, got '2.5'"),
        ("rounding: {working: 13}", "12: rounding.working: expected at most 12, got '13'"),
        ("rounding: {working: -1}", "12: rounding.working: expected at least 0, got '-1'"),
        ("rounding: {working: 2.5}", "12: rounding.working: expected a whole number, got '2.5'"),
        ("arithmetic: float32", "1: arithmetic: expected decimal or float64, got 'float32'"),
        ("arithmetic: float64", "1: arithmetic: float64 goes with `rounding: {carry: never}` only"),
        ("rounding: {carry: x}", "12: rounding.carry: expected line, step or never, got 'x'"),
        (
            "rounding: {trailing_zeros: x}",
            "12: rounding.trailing_zeros: expected keep or trim, got",
        ),
        ("rounding: {digits: {y: x}}", "21: rounding.digits.y: expected a whole number, got 'x'"),
        ("rounding: {digits: {y: {}}}", "21: rounding.digits.y: expected a number of decimals"),
        (
            "rounding: {digits: {y: {significant: x}}}",
            "25: rounding.digits.y.significant: expected a whole number, got 'x'",
        ),
        ("vocabulary: [p]", "1: vocabulary: a vocabulary without unembedding"),
        ("unembedding: {W_U: [[1], [2]]}", "1: unembedding: unembedding without a vocabulary"),
    ],
)
def test_a_wrong_line_at_the_end_is_told_with_what_was_expected(added: str, told: str) -> None:
    (problem,) = problems((END, f"{END}{added}\n"))
    assert problem.startswith(f"f.yaml:15:{told}")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("[3 -4]", "got '3 -4'; a comma is missing after 3"),
        ("[\u22123]", "got '\u22123'; type the minus sign as a hyphen: -3"),
        ("['0,5']", "got '0,5'; type a decimal point: 0.5"),
        ("[3 x]", "got '3 x'"),
        ("['1,2,3']", "got '1,2,3'"),
    ],
)
def test_a_number_that_is_nearly_one_is_told_how(typed: str, told: str) -> None:
    [problem] = problems(("[[3], [4]]", f"[{typed}, [4]]"))
    assert problem.endswith(f"expected a number, {told}")


def test_decimal_commas_are_seen_where_a_count_is_wrong() -> None:
    rows = ("  b: [3, 4]", "  b: [0,5, 1,5]")
    [problem] = problems(rows)
    hint = "4 numbers, expected 2 (as many as in the other embeddings); line 5 seems to have"
    assert f"embeddings.b: {hint} decimal commas: type 0.5, not 0,5" in problem
    [problem] = problems(("  b: [3, 4]", "  b: [3,4, 5]"))
    assert "commas" not in problem


def test_the_example_of_an_embedding_has_as_many_numbers_as_the_others() -> None:
    for width, row in (
        (3, "[0.9, 0.1, 0.4]"),
        (64, "[0.9, 0.1, 0.4, 0.9, 0.1, 0.4, … 64 numbers]"),
    ):
        text = f"tokens: [yes]\nembeddings: {{a: {[1] * width}}}\nlayers: []\n"
        assert f"expected yes: {row} in embeddings" in run("run", "-", stdin=text).stderr


@pytest.mark.parametrize(
    ("name", "near"), [("fruits.yaml", "fruit.yaml"), ("fruit", "fruit.yaml"), ("alexx", "alex")]
)
def test_a_file_that_may_have_been_meant_is_named(
    name: str, near: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fruit.yaml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)
    told = f"no such file or scenario; did you mean '{near}'?\n"
    assert run("run", name).stderr == f"{name}: {told}"
    monkeypatch.chdir(tmp_path.parent)
    if near.startswith("fruit"):
        inside = tmp_path.name
        told = told.replace(near, f"{inside}/{near}")
        assert run("run", f"{inside}/{name}").stderr == f"{inside}/{name}: {told}"


@pytest.mark.parametrize("command", ["step softmax", "why output[1,1]", "value output[1,1]"])
def test_a_scenario_that_is_an_option_is_told_so(command: str) -> None:
    ran = run(*command.split(), "fruit.yaml")
    assert ran.exit_code == 2
    assert "-s" in ran.stderr.splitlines()[-1]


@pytest.mark.parametrize("text", ["- a\n- b\n", "root:x:0:0\n", "password: a\nuser: b\n"])
def test_what_is_no_scenario_is_not_shown(text: str) -> None:
    with pytest.raises(TracerError) as caught:
        parse(text, "f.yaml")
    told = "f.yaml:1:1: expected a scenario: a mapping with tokens, embeddings and layers"
    assert str(caught.value) == told
    assert list(told_lines(caught.value.problems)) == [told]


def test_all_that_is_wrong_is_told_at_once_in_the_order_of_the_file() -> None:
    found = problems(
        ("[a, b]", "[a, b, c]"),  # line 2: no embedding
        ("a: [1, 2]", "a: [1, 1_000]"),  # line 4: no number
        ("b: [3, 4]", "b: [3]"),  # line 5: too short
        ("[[3], [4]]", "[[3], [x], [y]]"),  # line 10: a row too many, and two that are no numbers
        ("    ffn:", "    ffn:  # line 12: three outputs, which do not fit its two inputs"),
        (END, "      W_2: [[1, 2, 3]]\n      dropout: 0.1\nrounding: {carry: x}\n"),  # 15, 16
    )
    lines = [int(problem.split(":")[1]) for problem in found]
    assert lines == [2, 4, 5, 10, 10, 10, 12, 15, 16]


@pytest.mark.parametrize(
    ("digits", "place"),
    [
        ('\n    "*.exp":\n      significant: 1e6', "18:7: rounding.digits.*.exp.significant"),
        ('\n    "*.exp": {\n      significant: 1e6}', "18:7: rounding.digits.*.exp.significant"),
        ('\n    "*.exp": 1e6', "17:5: rounding.digits.*.exp"),
    ],
)
def test_wrong_digits_are_told_where_they_are_typed(digits: str, place: str) -> None:
    (problem,) = problems((END, f"{END}rounding:\n  digits:{digits}\n"))
    assert problem == f"f.yaml:{place}: expected a whole number, got '1e6'"


def test_one_wrong_number_is_one_problem() -> None:
    assert len(problems(("[[1, 0], [0, 1]]", "[[1, 0], [x, 1]]"))) == 1
    assert len(problems(("a: [1, 2]", "a: [x, 2]"))) == 1


# --- on the way -----------------------------------------------------------------------------------

WITH_WORDS = "vocabulary: [a, b]\nunembedding: {W_U: [[1, 0], [0, 1]]}\n"
EQUAL = changed(
    *(("a: [1, 2]", "a: [1, 1]"), ("b: [3, 4]", "b: [3, 3]")),
    *(("W_V: [[1, 0], [0, 1]]", "W_V: [[1, 1], [1, 1]]"), ("W_2: [[1, 2]]", "W_2: [[1, 1]]")),
)
"""Both features of each token are equal, so that a LayerNorm divides by 0."""
LEARNS = f"{WITH_WORDS}optimizer: {{learning_rate: 1000000, weight_decay: 1000}}\n"
BY_ZERO = "mine.yaml:15:1: final_norm: a division by zero"
UNLIKELY = "mine.yaml:16:1: loss.token: the target's probability is too small"
GIVEN = "given: {input: [[1, 2, 3]]}\n"


@pytest.mark.parametrize(
    ("command", "text", "told"),
    [
        *(
            (command, f"{EQUAL}final_norm: {{}}\n{WITH_WORDS}", BY_ZERO)
            for command in (
                *("run", "lens", "loss", "train", "generate", "tutorial", "page -o x.html"),
                *("check --against x.npz", "page --train -o x.html"),
            )
        ),
        ("train --steps 9", SMALL + LEARNS, UNLIKELY),
        ("page --train --steps 9 -o x.html", SMALL + LEARNS, UNLIKELY),
        ("run", SMALL + GIVEN, "mine.yaml:15:9: input: given as 1×3 numbers"),
        ("run --given input=[1]", SMALL + GIVEN, "--given input: given as a row of 1"),
        ("run --given output=[1]", SMALL, "--given output: given as a row of 1"),
        (
            *("train --given loss=1", SMALL + LEARNS),
            "--given loss: nothing is learned: all values between the loss and the weights are",
        ),
    ],
)
def test_every_problem_has_its_place(
    command: str, text: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(text)
    np.savez(tmp_path / "x.npz", input=np.eye(2))
    name, *options = command.split()
    ran = run(name, "mine.yaml", *options)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(told)
