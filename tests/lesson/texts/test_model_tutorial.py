"""The tutorial of a trained model: the head that adds most, worked, and another text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.claims_of_attributions import faults_of_a_step
from tests.helpers.command import printed, problems, run
from tests.helpers.every_judge import FORMATS, faults_of_text
from tests.helpers.sentences import unbroken
from tests.helpers.tiny_models import scenario

WIDE = 5000
OTHER = "the he, is"


def tutorial(file: str, *options: str) -> str:
    return printed("tutorial", file, *options, "--format", "terminal", width=WIDE)


def as_json(*words: str) -> Any:
    return json.loads(printed(*words, "--format", "json"))


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    return scenario(tmp_path_factory.mktemp("llama"), contrast={"text": OTHER})


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("family", ["folder gpt2", "folder qwen2"])
def test_every_judge_reads_it(family: str, form: str, tmp_path: Path) -> None:
    file = scenario(tmp_path, family, contrast={"token_ids": [0, 1, 2, 3, 4]})
    text = printed("tutorial", file, *FORMATS[form][0])
    assert "Another text" in text
    assert faults_of_text(text, form) == []


def test_the_head_that_adds_most_is_worked(llama: str) -> None:
    text = tutorial(llama)
    (word,) = re.findall(r"the model predicts “(.+?)” with a", text)
    parts = as_json("attribute", f"logits[is,{word}]", "-s", llama)["parts"]
    heads = [part for part in parts if re.search(r"head\d+\.output$", part["address"])]
    most = max(heads, key=lambda part: abs(part["value"]))
    layer, head = re.findall(r"layer(\d+)\.attention\.head(\d+)", most["address"])[0]
    worked = text[text.index("What the token attends to\n") : text.index("\nOutput\n")]
    assert re.findall(r"^Layer (\d+): ", worked, re.MULTILINE) == [layer]
    titles = re.findall(r"^(?:\d+ · )?(Head \d+) · (.+?)(?:   .*)?$", worked, re.MULTILINE)
    shared = {"Key", "Value", "Rotary key"}
    assert {of for of, title in titles if title not in shared} == {f"Head {head}"}
    assert titles[-1][1] == "What it adds to the logit"
    adds = worked[worked.index("What it adds to the logit") :]
    assert faults_of_a_step(adds.partition("─\n")[2]) == []
    assert re.search(rf"[=≈] {re.escape(most['printed'])}$", adds, re.MULTILINE)


def test_the_other_text_is_compared_as_the_command_does(llama: str) -> None:
    text = tutorial(llama)
    site = re.findall(r"second's numbers at “(\S+)”\.", text)
    found = as_json("compare", llama, "--text", OTHER, "--patch", site[0])
    (row,) = re.findall(r"^  word +z, first.*\n((?:  .+\n)+)", text, re.MULTILINE)
    cells = {word: numbers for word, *numbers in map(str.split, row.splitlines())}
    runs = [*found["predictions"], found["patched"]]
    for i, each in enumerate(runs):
        assert abs(float(cells[each["word"]][2 * i]) - each["logit"]) <= 0.0005
    words = [each["word"] for each in runs]
    assert re.findall(r"the (?:first|second|patched) run predicts “(.+?)”", unbroken(text)) == words


@pytest.mark.parametrize(
    "options", [("--token", "2"), ("--given", "layer1.ffn.output=0"), ("--layer", "1")]
)
def test_it_is_about_the_whole_text_as_it_is(llama: str, options: tuple[str, ...]) -> None:
    assert "Another text" not in tutorial(llama, *options)


def test_a_text_that_cannot_be_compared_is_left_out(tmp_path: Path) -> None:
    file = scenario(tmp_path, contrast={"text": "xyz"})
    assert "It is left out: " in tutorial(file)


@pytest.mark.parametrize(
    ("contrast", "message"),
    [
        ({"token_ids": [0, 99]}, "contrast.token_ids: 99, expected 0 to 39"),
        ({"text": "a", "token_ids": [0]}, "expected either text or token_ids"),
        ({"texts": "a"}, "texts"),
    ],
)
def test_a_wrong_text_is_refused(contrast: Any, message: str, tmp_path: Path) -> None:
    file = scenario(tmp_path, contrast=contrast)
    assert any(message in problem for problem in problems(run("tutorial", file)))
