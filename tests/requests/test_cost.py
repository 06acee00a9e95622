"""What a command would need is known before it begins; what is too much is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.command import run
from tests.helpers.small_scenario import SMALL
from tests.weave.test_limits import LARGE
from tracer.requests import cost, resolve
from tracer.scenario.loading import Origin
from tracer.serve.session import Session

LAYER = "{attention: {heads: [{W_Q: identity, W_K: identity, W_V: identity}]}}"


def scenario(tokens: int, layers: int = 1) -> str:
    return (
        f"tokens: [{', '.join('a' * tokens)}]\nembeddings: {{a: [1, 2]}}\n"
        f"layers: [{', '.join([LAYER] * layers)}]\n"
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "my.yaml"


@pytest.mark.parametrize(
    "command",
    ["run", "step softmax -s", "value output[1,1] -s", "tutorial", "run -f json", "check"],
)
@pytest.mark.parametrize(("size", "told"), [((1001,), ":1:1: 1001 tokens"), ((5001,), ":1:1: 5")])
def test_a_long_text_is_refused_before_anything_is_computed(
    command: str, size: tuple[int, ...], told: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolve, "run_pass", None)
    file.write_text(scenario(*size))
    file.with_name("my.figures.yaml").write_text("figures: []\n")
    ran = run(*command.split(), str(file))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"{file}{told}")
    assert " GB, expected less; DECODER_TRACE_LIMITS=none computes it\n" in ran.stderr


def test_many_layers_are_refused_at_their_place(file: Path) -> None:
    file.write_text(scenario(1, 2000))
    assert run("run", str(file)).stderr.startswith(f"{file}:3:1: 1 token in 2000 layers would take")


def test_a_page_has_each_number_many_times(file: Path) -> None:
    file.write_text(scenario(200))
    ran = run("page", str(file), "-o", str(file.with_name("my.html")))
    assert ran.stderr.startswith(f"{file}:1:1: 200 tokens in 1 layer would take about ")
    assert ran.exit_code == 2
    session = Session.of(SMALL, Origin("my", "my.yaml", Path()))
    before = session.html
    session.follow(scenario(200))
    assert "my.yaml:1:1: 200 tokens in 1 layer would take about " in session.html != before


@pytest.mark.parametrize(
    ("command", "of_training"), [("run", False), ("train", True), ("generate", True)]
)
def test_what_is_refused_can_be_computed(
    command: str, of_training: bool, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "vocabulary: [a, b]\nunembedding: {W_U: [[1, 0], [0, 1]]}\n" if of_training else ""
    file.write_text(SMALL + words)
    monkeypatch.setattr(cost, "MOST_PRODUCTS", 100)
    assert run(command, str(file)).exit_code == 2
    assert run(command, str(file), DECODER_TRACE_LIMITS="none").exit_code == 0


def test_steps_of_training_are_counted(file: Path) -> None:
    ran = run("train", "pizza", "--steps", "10000")
    assert ran.exit_code == 2
    assert "pizza:" in ran.stderr and " would take about " in ran.stderr


def test_of_a_model_on_demand_only_the_memory_is_limited(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(LARGE)
    monkeypatch.setattr(cost, "MOST_PRODUCTS", 1)
    assert run("run", str(file)).exit_code == 0
    monkeypatch.setattr(cost, "MOST_FLOATS", 1)
    assert run("run", str(file)).exit_code == 2


def test_merges_of_a_large_corpus_are_refused(file: Path) -> None:
    words = ", ".join(f"w{n}{'ab' * 20}: {n + 1}" for n in range(2000))
    file.write_text(f"text: hug\ncorpus: {{{words}}}\nmerges: 100\nembeddings: {{}}\nlayers: []\n")
    ran = run("run", str(file))
    told = "merges: 100, times 88,890 characters of the corpus, is more than 2,000,000, expected"
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"{file}:3:1: {told} less\n")
