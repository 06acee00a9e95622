"""The command `compare`, as a person starts it."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from functools import cache
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, reject, settings, strategies as st

from tests.helpers import tiny_models
from tests.helpers.claims_of_comparisons import faults
from tests.helpers.command import printed, problems, run
from tests.helpers.comparing import RAISED, faults_of_comparison, faults_of_table, faults_of_token
from tests.helpers.every_judge import FORMATS, faults_of_command, faults_of_text
from tests.helpers.random_scenarios import scenarios
from tests.helpers.scenario_yaml import Scenario, to_yaml
from tests.helpers.sentences import unbroken
from tests.helpers.strict_json import refuse
from tests.helpers.terminal_page import Prose, read_blocks
from tests.helpers.truth import without_pictures
from tracer.checkpoints.extras import isolated_library
from tracer.checkpoints.opening import open_checkpoint
from tracer.decoder.comparison import _share_of_row
from tracer.decoder.sweeps import Sweep

ONLY_JSON = ("--format", "json")

few = settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def compared(*words: str) -> Any:
    return json.loads(printed("compare", *words, *ONLY_JSON))


@cache
def document(*words: str, stdin: str = "") -> Any:
    return json.loads(printed("run", *words, *ONLY_JSON, stdin=stdin))


def changed(spec: Scenario, how: str) -> Scenario:
    """Another scenario: with other embeddings, without its first or last token, or the same."""
    other = deepcopy(spec)
    table = other["embeddings"]
    if how == "embeddings":
        for row in table.values() if isinstance(table, dict) else table:
            row.reverse()
    elif isinstance(table, dict) and how != "same":
        other["tokens"] = other["tokens"][1:] if how == "begin" else other["tokens"][:-1]
    return other


@few
@given(
    spec=scenarios(encoder=True),
    how=st.sampled_from(["embeddings", "begin", "end", "same"]),
    form=st.sampled_from(sorted(FORMATS)),
    width=st.sampled_from([60, 80, 120]),
)
def test_random_scenarios(
    tmp_path_factory: pytest.TempPathFactory, spec: Scenario, how: str, form: str, width: int
) -> None:
    folder = tmp_path_factory.mktemp("compare")
    files = [str(folder / f"{name}.yaml") for name in ("first", "second")]
    for file, each in zip(files, (spec, changed(spec, how)), strict=True):
        Path(file).write_text(to_yaml(each), encoding="utf-8")
    runs = [run("run", file, *ONLY_JSON) for file in files]
    if any(each.exit_code for each in runs):
        reject()
    ran = run("compare", *files, *ONLY_JSON)
    if "share none at the beginning" in ran.stderr:
        reject()
    found = json.loads(ran.stdout)
    first, second = (json.loads(each.stdout) for each in runs)
    assert faults_of_comparison(found, first, second) == []
    text = printed("compare", *files, width=width)
    assert list(faults_of_table(text, found)) == []
    wide = printed("compare", *files, width=5000)
    assert list(faults_of_token(wide, first, second, spec.get("layers", []))) == []
    assert false_claims(found, *files) == []
    choice, _, _ = FORMATS[form]
    assert faults_of_text(printed("compare", *files, *choice), form) == []


def false_claims(found: Any, *words: str) -> list[str]:
    """The sentences of a comparison, which is found as JSON too, that are unknown or false."""
    text = unbroken(printed("compare", *words, width=5000))
    blocks = read_blocks(without_pictures(text))
    said = [block.text for block in blocks if isinstance(block, Prose)][1:]  # behind the title
    return faults(said, found)


SECOND = {
    "another scenario": ("alex-learns", "alex"),
    "another text": ("pizza", "--text", "<START> Me gusta la la"),
    "a shorter text": ("pizza", "--text", "<START> Me"),
    "training": ("pizza", "--train", "--steps", "3"),
}
PATCHED = ("--patch", "layer1.ffn.output", "--patch", "input[Me]", "--sweep", "heads")


CARRY_MODES = ("line", "step", "never")


@pytest.mark.parametrize(
    ("carry", "second", "form"),
    [
        (carry, *rest)
        for carry, rest in zip(cycle(CARRY_MODES), product(SECOND, FORMATS), strict=False)
    ],
)
def test_every_equation_is_true(second: str, carry: str, form: str) -> None:
    choice, _, _ = FORMATS[form]
    text = printed("compare", *SECOND[second], "--carry", carry, *choice)
    assert faults_of_text(text, form) == []


TEXT = ("pizza", "--text", "<START> Me gusta la <START>")

CLAIMING = (
    *SECOND.values(),
    ("pizza", "pizza"),
    (*TEXT, *PATCHED),
    *((*TEXT, "--sweep", what) for what in Sweep),
    (*TEXT, "--patch", "layer1.ffn.output", "--token", "gusta"),
    ("pizza", "--text", "<START> Me la la la", "--token", "gusta", "--sweep", "heads"),
    (*TEXT, "--given", "output[la]=0", "--given", "layer1.ffn.output=mean"),
)


@pytest.mark.parametrize("words", CLAIMING, ids=" ".join)
def test_every_claim_is_true(words: tuple[str, ...]) -> None:
    assert false_claims(compared(*words), *words) == []


@pytest.mark.parametrize(("carry", "form"), [*zip(cycle(CARRY_MODES), FORMATS, strict=False)])
def test_every_equation_of_a_patch_is_true(carry: str, form: str) -> None:
    choice, _, _ = FORMATS[form]
    text = printed("compare", *TEXT, *PATCHED, "--carry", carry, *choice)
    assert faults_of_text(text, form) == []
    assert "effect" in text


@pytest.mark.parametrize(
    ("what", "form"), [*zip(Sweep, islice(cycle(FORMATS), len(Sweep)), strict=True)]
)
def test_every_equation_of_a_sweep_is_true(what: Sweep, form: str) -> None:
    choice, _, _ = FORMATS[form]
    text = printed("compare", *TEXT, "--sweep", what, *choice)
    assert faults_of_text(text, form) == []
    assert "rank" in text


def test_the_table_shows_the_largest_of_many_effects() -> None:
    found = compared(*TEXT, "--sweep", "heads")
    lines = printed("compare", *TEXT, "--sweep", "heads").splitlines()
    start = next(i for i, line in enumerate(lines) if line.split() == ["rank", "effect", "patched"])
    for rank, (line, each) in enumerate(zip(lines[start + 1 :], found["sweep"], strict=False), 1):
        place, effect, address = line.split()
        assert (int(place), address) == (rank, each["address"])
        assert abs(float(effect) - each["effect"]) <= 0.0005000001


def test_the_json_has_the_fields_of_the_contract() -> None:
    text = printed("compare", *TEXT, *PATCHED, *ONLY_JSON)
    found = json.loads(text, parse_constant=refuse)
    fields = ["schema", "first_difference", "steps", "predictions", "patched", "sweep"]
    assert list(found) == fields and found["schema"] == 1
    assert {*found["patched"]} == {"word", "logit", "probability"}
    plain = compared(*TEXT)
    assert plain["patched"] is None and plain["sweep"] == []
    assert plain["steps"] == found["steps"]


def test_a_full_patch_predicts_what_the_second_run_predicts() -> None:
    found = compared(*TEXT, "--patch", "input")
    assert found["patched"] == found["predictions"][1] != found["predictions"][0]
    one = compared(*TEXT, "--patch", "input[pizza]")  # the only token that differs
    assert one["patched"] == found["predictions"][1]
    assert compared(*TEXT, "--sweep", "tokens")["sweep"][0]["effect"] == 1


def test_training_is_compared_with_the_trained_scenario(tmp_path: Path) -> None:
    saved = str(tmp_path / "trained.yaml")
    printed("train", "pizza", "--steps", "2", "--save", saved)
    found = compared("pizza", "--train", "--steps", "2")
    assert found == compared("pizza", saved)


def test_texts_of_different_length_are_aligned() -> None:
    text = " ".join(printed("compare", "pizza", "--text", "<START> odio la pizza").split())
    assert (
        "The texts have 5 and 4 tokens. Only the tokens that they share at the beginning or at the "
        "end are compared: the first token and the last 2 tokens." in text
    )
    found = compared("pizza", "--text", "<START> odio la pizza")
    second = "pizza", "--text", "<START> odio la pizza", "--patch", "input[gusta]"
    assert found["first_difference"] is not None
    assert problems(run("compare", *second)) == [
        "input: the token 'gusta' has no counterpart in the second text"
    ]


def test_other_kinds_of_numbers_are_compared_but_not_patched(tmp_path: Path) -> None:
    floats = tmp_path / "floats.yaml"
    decimal = (Path(__file__).parents[2] / "scenarios" / "lora.yaml").read_text(encoding="utf-8")
    never = decimal.replace("carry: step", "carry: never")
    floats.write_text(never + "\narithmetic: float64\n", encoding="utf-8")
    words = ("lora", str(floats), "--carry", "never")
    assert compared(*words)["first_difference"] is None
    ran = run("compare", *words, "--patch", "output")
    assert "computes with decimal, the second with float64" in " ".join(ran.stderr.split())
    assert ran.exit_code == 2


REFUSED = {
    ("pizza",): "expected one second run",
    ("pizza", "alex", "--train"): "expected one second run",
    ("pizza", "--text", "<START> nobody"): "no embedding for the token 'nobody'",
    ("pizza", "--text", "la la"): "share none at the beginning or at the end",
    ("science", "--text", " "): "a text without tokens",
    (*TEXT, "--patch", "nowhere"): "nowhere: no such value",
    (*TEXT, "--patch", "input[nobody]"): "no token 'nobody'",
    (*TEXT, "--patch", "input["): "expected ADDRESS[TOKEN]",
    (*TEXT, "--patch", "prediction"): "these are words",
    (*TEXT, "--patch", "layer1.attention.head1.scale[1]"): "no row for each token",
    ("pizza", "--text", "<START> Me", "--patch", "layer1.attention.head1.weights"): (
        "layer1.attention.head1.weights: 5×5 in the first run and 2×2 in the second"
    ),
    ("pizza", "--text", "<START> Me gusta la pizza", "--sweep", "heads"): (
        "must predict different words"
    ),
    ("alex", "science", "--patch", "layer1.attention.output"): "predicts no words",
    ("alex", "--vary", "1"): "No such option",
    ("pizza", "--steps", "2", "--text", "<START>"): "works only with --train",
}


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_cannot_be_compared_is_refused(words: tuple[str, ...]) -> None:
    ran = run("compare", *words, width=200)
    assert ran.exit_code == 2
    assert REFUSED[words] in ran.stderr and "Traceback" not in ran.stderr


@few
@given(spec=scenarios(), form=st.sampled_from(sorted(FORMATS)))
def test_training_of_random_scenarios(spec: Scenario, form: str) -> None:
    assert faults_of_command(spec, form, ("compare", "--train")) == []


# --- with a token, with given values -------------------------------------------------------------

HEAD = "layer1.attention.head1.output"


@pytest.mark.parametrize("token", ["Me", "gusta", "la"])
def test_predictions_after_a_token(token: str) -> None:
    second = "<START> Me la la la"
    words = ("pizza", "--text", second, "--token", token, "--patch", "input")
    found, text = compared(*words), " ".join(printed("compare", *words).split())
    row = ["<START>", "Me", "gusta", "la"].index(token)
    runs = [document("pizza"), document("-", stdin=reading(second))]
    for claimed, run_of in zip(found["predictions"], runs, strict=True):
        values = {value["address"]: value for value in run_of["values"]}
        word = values["prediction"]["data"][row]
        column = values["logits"]["axes"][1]["labels"].index(word)
        logit = values["logits"]["data"][row][column]
        assert (claimed["word"], claimed["logit"]) == (word, logit)
    assert found["patched"] == found["predictions"][1]
    said = [each["word"] for each in found["predictions"]]
    if said[0] == said[1]:
        assert f"After “{token}”, all runs predict “{said[0]}”." in text
    else:
        assert f"After “{token}”, the first run predicts “{said[0]}”, " in text


def reading(text: str) -> str:
    """The scenario `pizza` with another text, and without its author's words."""
    scenario = (Path(__file__).parents[2] / "scenarios" / "pizza.yaml").read_text(encoding="utf-8")
    spec = yaml.safe_load(scenario)
    for key in ("intro", "notes", "summary"):
        spec.pop(key)
    return yaml.safe_dump({**spec, "tokens": text.split()})


def test_equal_words_are_said_together() -> None:
    text = " ".join(printed("compare", "pizza", "--text", "<START> Me gusta la pizza").split())
    assert "After the last token, both runs predict “<END>”." in text


@pytest.mark.parametrize("second", ["<START> Me gusta la <START>", "<START> odio gusta la pizza"])
def test_what_happens_at_the_followed_token(second: str) -> None:
    text = printed("compare", "pizza", "--text", second, width=5000)
    runs = (document("pizza"), document("-", stdin=reading(second)))
    assert "Its attention changes most in " in text
    assert list(faults_of_token(text, *runs, [{}, {}])) == []
    changed = re.sub(r" gets (\d)", r" gets 1\1", text)
    assert list(faults_of_token(changed, *runs, [{}, {}])) != []


LARGE = """
title: t
tokens: [a, b, c]
random: {seed: 3}
dimensions: {layers: 3, width: 16, heads: 2, words: 20, context: 9}
"""


def test_a_trained_model_is_compared_layer_by_layer() -> None:
    text = printed("compare", "-", "--text", "b a c", width=200, stdin=LARGE)
    section = text.split("At the followed token\n")[1].split("How far")[0]
    assert re.findall(r"^  (\S.*?) {2,}", section, re.M) == [
        *("input", "layer 1", "layer 2", "layer 3"),
    ]
    assert "The row differs from layer 1 on." in " ".join(section.split())


def test_a_sweep_follows_the_token() -> None:
    words = ("--text", "<START> Me la la la", "--token", "gusta", "--sweep", "layers")
    found = compared("pizza", *words)
    assert {each["address"] for each in found["sweep"]} >= {"layer1.ffn.norm[gusta]"}
    assert max(each["effect"] for each in found["sweep"]) == pytest.approx(1)


def test_given_values_hold_in_both_runs() -> None:
    for pin in (f"{HEAD}=0", f"{HEAD}=mean", f"{HEAD}[Me]=[1, 2, 3]"):
        given = ("--given", pin)
        second = "<START> Me gusta la <START>"
        found = compared("pizza", "--text", second, *given)
        runs = [document("pizza", *given), document("-", *given, stdin=reading(second))]
        assert faults_of_comparison(found, *runs) == []
        text = " ".join(printed("compare", "pizza", "--text", second, *given).split())
        assert f"In both runs, “{HEAD}” is given, not computed." in text
    found = compared("pizza", "pizza", "--given", f"{HEAD}=0")
    assert found["first_difference"] is None


def test_the_relative_difference_is_that_of_a_row() -> None:
    """The table's third column: the largest quotient of any row, against the runs' own JSON."""
    second = "<START> odio gusta la la"
    text = printed("compare", "pizza", "--text", second)
    runs = [document("pizza"), document("-", stdin=reading(second))]
    ours, theirs = ({v["address"]: v for v in each["values"]} for each in runs)
    rows = re.findall(r"^[▸ ] \d+ +\S+ +(\S+) +(\S+)$", text, re.M)
    compared_rows = 0
    for printed_share, address in rows:
        if len(ours[address]["shape"]) != 2 or "token" not in ours[address]["axes"][0]["name"]:
            continue
        a, b = (np.array(each[address]["data"], object).astype(float) for each in (ours, theirs))
        off = np.where(a == b, 0, np.abs(np.where(a == b, 0, a) - np.where(a == b, 0, b)))
        size = np.where(np.isfinite(a), np.abs(a), 0).max(axis=1)
        share = float((off.max(axis=1) / np.where(size, size, 1)).max())
        assert float(printed_share.replace("×10⁻", "e-").translate(RAISED)) == pytest.approx(
            share, rel=0.051, abs=1e-12
        )
        compared_rows += 1
    assert compared_rows > 40


def test_a_large_row_does_not_hide_the_others() -> None:
    """As of an attention sink: the first token's row is far larger than all others."""
    first = np.array([[1000.0, -900], [0.5, 0.25]])
    second = np.array([[1000.0, -900], [-0.5, 0.25]])
    assert max(map(_share_of_row, first, second)) == 2
    assert _share_of_row(np.zeros(2), np.full(2, 1e-12)) == 0


@pytest.mark.parametrize("name", ["gguf llama", "folder llama"])
def test_two_scenarios_of_one_checkpoint_open_it_once(tmp_path: Path, name: str) -> None:
    path = tiny_models.model(tmp_path, name)
    first = Path(tiny_models.naming(path, text="the a")).rename(tmp_path / "first.yaml")
    second = tiny_models.naming(path, text="the is")
    with (
        patch("tracer.scenario.trained.open_checkpoint", wraps=open_checkpoint) as opens,
        patch(
            "tracer.checkpoints.tokenizer_json.isolated_library", wraps=isolated_library
        ) as starts,
    ):
        assert run("compare", str(first), second).exit_code == 0
    opens.assert_called_once_with(path)
    starts.assert_called_once()
