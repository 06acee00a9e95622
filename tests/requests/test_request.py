"""Options that would change nothing are refused, before anything is computed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.command import printed, run
from tests.helpers.small_scenario import SMALL
from tracer.commands.run import Run
from tracer.errors import TracerError
from tracer.requests import resolve
from tracer.requests.loader import FILES, load

AS_IT_IS = (
    "works only with the forward pass as it is, not --given, --vary, --train, --blanks or --by, "
    "nor the loss"
)
REFUSED = {
    "run alex --no-pager -o out.txt": "--no-pager: works only with the screen, not --output",
    "run alex --math": "--math: works only with --format markdown, not terminal",
    "step ffn --math -f latex": "--math: works only with --format markdown, not latex",
    "loss pizza --math -f json": "--math: works only with --format markdown, not json",
    "tutorial alex --math -f terminal": "--math: works only with --format markdown, not terminal",
    "run alex --heading 2": "--heading: works only with --format markdown or latex, not terminal",
    "run alex --no-numbers -f json": "--no-numbers: works only with a text, not --format json",
    "run alex --standalone": "--standalone: works only with --format latex, not terminal",
    "tutorial alex --standalone": "--standalone: works only with --format latex, not markdown",
    "run alex --brief -f json": "--brief: works only with a text, not --format json",
    "run alex --values x.npz --vary 1": f"--values: {AS_IT_IS}",
    "attribute output[1,1] --values x.npz --by token": f"--values: {AS_IT_IS}",
    "run alex --code numpy -f json": "--code: works only with steps, not --attribute, as a text or "
    "with --format code, not --format json",
    "page alex --attribute output[1,1] --code numpy -o x": "--code: works only with steps, not "
    "--attribute, as a text or with --format code, not --format terminal",
    "page alex --embed ffn --train -o x": "--embed: works only with steps of the forward pass, not "
    "--train or --attribute",
    "page alex --embed ffn --detail full -o x": "--detail: works only with a whole page, not "
    "--embed",
    "check alex --score x --against y.npz": "--score: works only with a pass, not --against "
    "or two files",
    "check a.npz b.npz --against y.npz": "--against: works only with a scenario, not two files",
    "check alex --names y": "--names: works only with two files of arrays",
    "check alex --score x --figures-file y": "--figures-file: works only with figures of a text, "
    "not --figure, --against, --score or two files",
    "check alex --figure output[1,1]=1 --against y.npz": "--figure: works only with a pass, not "
    "--against, --score or two files",
    "check alex --draft y.yaml": "--draft: works only with a scenario and its text: check my.yaml "
    "text.md --draft my.figures.yaml",
    "run alex --force": "--force: works only with --output, --figures, --save or --key",
    "page pizza --steps 3 -o x.html": "--steps: works only with --train",
    "steps alex --standalone": "--standalone: works only with --format latex, not terminal",
    "run alex --figures x -f json": "--figures: works only with --format markdown or "
    "terminal, not json",
    "step softmax --figures x -f latex": "--figures: works only with --format markdown or "
    "terminal, not "
    "latex",
    "tutorial alex --blanks -f json": "--blanks: works only with a text, not --format json",
    "run alex --detail short -f json": "--detail: works only with a text, not --format json",
    "tutorial alex --level 2": "--level: works only with --blanks",
    "tutorial alex --key key.md": "--key: works only with --blanks",
    "tutorial alex --seed 2": "--seed: works only with --blanks",
    "why output[1,1] --depth 1 -f json": "--depth: works only with a text, not --format json",
    "why output[1,1] --depth 0 -f json": "--depth: works only with a text, not --format json",
    "tutorial alex --train --layer 1": "--train: works only with the whole tutorial, not "
    "--layer or "
    "--head",
    "run alex -f npz": "--format: works only with run, step, lens, loss or train and "
    "--output, where it "
    "is npz",
    "tutorial alex -f safetensors -o x": "--format: works only with run, step, lens, loss or "
    "train and "
    "--output, where it is safetensors",
    "lens pizza --word la -f npz -o x": "--word: works only with a text or --format json, not npz",
    "page alex --attribute output[1,1] --layer 1 -o x": "--attribute: works only with the whole "
    "pass, not --layer, --head or --train",
    "generate pizza --draft-tokens 2": "--draft-tokens: works only with --draft",
    "generate pizza --draft alex --kv-cache": "--kv-cache: works only with one word per pass, "
    "not --draft",
    "generate pizza --beams 2 --seed 1": "--beams: works only with the most probable words, "
    "not --draft, --temperature, --top-k, --top-p or --seed",
    "compare pizza --pair 1": "--pair: works only with --pairs",
    "page alex --by token -o x": "--by: works only with --attribute",
    "page pizza --instead-of la -o x": "--instead-of: works only with --attribute",
    "check alex --tolerance 0.1": "--tolerance: works only with --against or two files",
    "check alex --figures-file x --against y.npz": "--figures-file: works only with figures "
    "of a text, not --figure, --against, --score or two files",
    "value output[1,1] --example 1": "--example: works only with numbers of the loss",
    "why loss -s comics --sequence 1": "--sequence: works only with numbers of the forward "
    "pass, not of "
    "the loss",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_would_change_nothing_is_refused(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(name: str) -> None:
        raise AssertionError(f"{name} was read")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(resolve, "load", load)
    ran = run(*words.split())
    assert (ran.exit_code, ran.stdout, ran.stderr) == (2, "", f"{REFUSED[words]}\n")
    assert list(tmp_path.iterdir()) == []


def test_each_rule_refuses_something() -> None:
    refused = {told.partition(":")[0] for told in REFUSED.values()}
    options = [option for name in FILES for option in load(name).options()]
    ruled = {option.name for option in options if option.metadata["option"].rule}
    assert refused == {f"--{name}".replace("_", "-") for name in ruled}


def test_all_that_is_refused_is_told_at_once() -> None:
    with pytest.raises(TracerError) as caught:
        Run(scenario="alex", math=True, standalone=True).check()
    assert [problem.address for problem in caught.value.problems] == ["--math", "--standalone"]


TAKEN = [
    *("run alex --math -f markdown", "run alex --standalone -f latex"),
    *("tutorial alex --math", "why output[1,1] --depth 0", "why loss -s comics --example 1"),
    *("value loss -s comics --example 2", "value output[1,1] -s comics --sequence 2"),
    *("loss comics --example 1", "run pizza --no-mask", "step mask -s pizza --no-mask"),
]


@pytest.mark.parametrize("words", TAKEN)
def test_what_changes_something_is_taken(words: str) -> None:
    taken = printed(*words.split())
    assert taken


# --- what only the scenario or the chosen steps can tell -----------------------------------------

BESIDE_THE_POINT = {
    "step query --no-mask": "--no-mask: these steps have no mask; try the step mask, softmax or "
    "attention",
    "step query --figures x": "--figures: this output has no pictures; the step softmax has "
    "some, of the "
    "attention weights",
    "step embedding --layer 1": "the step 'embedding' does not belong to a layer",
    "step concat --head 1": "the step 'concat' does not belong to a head",
    "step ffn --head 2": "the step 'ffn' does not belong to a head",
    "step head2.query --head 1": "the step 'head2.query' is not in this layer or head, only in "
    "layer1.attention.head2",
    "run alex --sequence 1": "--sequence: the scenario has no sequences",
    "run comics --sequence 99": "--sequence: no sequence 99, the last is 4",
    "loss pizza --example 1": "--example: the scenario has no training examples",
    "tutorial alex --train --token 99": "no token '99', expected 1 to 4 or its text",
    "step unmasked": "the step 'unmasked' is shown with --no-mask",
    "step loss": "the step 'loss' is shown with decoder-trace loss",
    "step sampling": "the step 'sampling' is shown with decoder-trace generate --seed 1",
    "step logits": "this scenario has no step 'logits'; decoder-trace steps lists those it has",
}


@pytest.mark.parametrize("words", BESIDE_THE_POINT)
def test_what_is_not_there_says_what_would_show_it(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run(*words.split())
    assert (ran.exit_code, ran.stdout, ran.stderr) == (2, "", f"{BESIDE_THE_POINT[words]}\n")
    assert list(tmp_path.iterdir()) == []


def test_what_is_said_to_show_a_step_shows_it() -> None:
    assert "Without the mask" in printed("step", "unmasked", "-s", "pizza", "--no-mask")
    assert "Cross-entropy loss" in printed("loss", "pizza")
    assert "Drawing the next word" in printed("generate", "pizza", "--seed", "1")


def test_a_token_that_stands_everywhere_is_told_in_a_line() -> None:
    text = SMALL.replace("[a, b]", f"[{', '.join('a' * 50)}]")
    ran = run("run", "-", "--token", "a", stdin=text)
    assert ran.exit_code == 2
    assert ran.stderr.endswith(": 1, 2, 3, 4, 5, 6, 7, 8 …\n")


def test_the_json_of_a_tutorial_is_that_of_the_token() -> None:
    asked = ("alex", "--token", "2", "--format", "json")
    document = json.loads(printed("tutorial", *asked))
    assert document == json.loads(printed("run", *asked))
    query = next(v for v in document["values"] if v["address"].endswith("head1.query"))
    assert query["shape"] == [1, 2]
