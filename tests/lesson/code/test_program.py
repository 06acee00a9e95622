"""The code of random passes is run, and prints what the text prints."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, reject, settings, strategies as st

from tests.helpers.command import printed, problems, run
from tests.helpers.learning_scenarios import learning_scenarios
from tests.helpers.programs import (
    differences,
    faults_of_program,
    printed_by,
    program_of,
    with_loss,
)
from tests.helpers.traces import bundled, traced_or_rejected
from tests.helpers.whole_scenarios import whole_scenarios
from tracer.decoder.forward import Trace
from tracer.decoder.training import TrainingOptions, train
from tracer.errors import TracerError
from tracer.lesson.code.library import Library
from tracer.lesson.code.program import Program
from tracer.lesson.texts.selection import steps
from tracer.scenario.carry import Carry
from tracer.scenario.optimizer import Optimizer

LIBRARIES = list(Library)
LEARN = ("alex-learns", "comics", "experts", "lora", "picture", "pizza", "science")
OPTIMIZERS: list[dict[str, str]] = [
    {"kind": "sgd"},
    {"kind": "sgd", "momentum": "0.9", "weight_decay": "0.1", "clip": "0.1"},
    {"kind": "adam", "weight_decay": "0.1"},
    {"kind": "adamw", "weight_decay": "0.1"},
]
TYPED = ("alex-learns", "alex", "blocks", "comics", "experts", "lora", "picture", "pizza")


def available(library: Library) -> Library:
    """A library, if it is installed."""
    if library is Library.PYTORCH:
        pytest.importorskip("torch").set_num_threads(1)
    return library


def trained(of: Trace, optimizer: Any = None) -> Trace:
    """The first step of training, with the scenario's optimizer by default."""
    chosen = Optimizer.model_validate(optimizer) if optimizer else of.scenario.optimizer
    return train(of.name, of.scenario, TrainingOptions(chosen)).steps[0]


def trained_or_rejected(spec: Any, optimizer: Any) -> Trace:
    """The same of a random scenario, if it can be trained."""
    of = traced_or_rejected(spec)
    try:
        return trained(of, optimizer)
    except TracerError:  # no vocabulary, no target, a σ of 0, gradients of different sizes
        reject()


@pytest.mark.parametrize("library", LIBRARIES)
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(spec=whole_scenarios())
def test_a_program_prints_the_numbers_of_the_text(library: Library, spec: Any) -> None:
    available(library)
    assert faults_of_program(with_loss(traced_or_rejected(spec)), library) == []


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("carry", list(Carry))
@pytest.mark.parametrize("name", TYPED)
def test_the_program_of_a_bundled_scenario(name: str, carry: Carry, library: Library) -> None:
    assert list(differences(bundled(name, carry), available(library))) == []


@pytest.mark.parametrize("library", LIBRARIES)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    spec=whole_scenarios() | learning_scenarios(any_loss=True),
    optimizer=st.sampled_from(OPTIMIZERS),
)
def test_a_program_trains_as_the_text_does(library: Library, spec: Any, optimizer: Any) -> None:
    available(library)
    assume("dimensions" not in spec)  # drawn weights of such a model are not trained
    found = trained_or_rejected(spec, optimizer)
    assert faults_of_program(found, library) == []


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("carry", [None, Carry.NEVER])
@pytest.mark.parametrize("name", LEARN)
def test_the_program_trains_a_bundled_scenario(
    name: str, carry: Carry | None, library: Library
) -> None:
    assert list(differences(trained(bundled(name, carry)), available(library))) == []


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(spec=whole_scenarios(carry="never"), seed=st.integers(0, 9))
def test_lines_beside_the_text_are_the_program_if_nothing_is_rounded(spec: Any, seed: int) -> None:
    found = traced_or_rejected(spec)
    every = steps(found.records)
    code = Program(found, Library.NUMPY)
    try:
        whole = program_of(found, Library.NUMPY)
    except TracerError:
        return
    step = every[seed % len(every)]
    lines = "\n".join(code.lines(step))
    assert re.search(rf"^{re.escape(lines)}$", whole, re.MULTILINE)


def test_a_step_has_few_short_lines() -> None:
    for name in TYPED:
        found = bundled(name)
        every = steps(found.records)
        code = Program(found, Library.NUMPY)
        for step in every:
            lines = code.lines(step)
            assert len(lines) <= 3 or step.kind.name in ("block", "rotary"), lines
            assert max(map(len, lines), default=0) <= 76


def test_the_lines_of_attention_are_those_of_a_textbook() -> None:
    told = printed("step", "attention", "-s", "alex", "--head", "1", "--code", "numpy")
    for line in (
        "Q_1 = x @ W_Q_1",
        "scores_1 = Q_1 @ K_1.T / np.sqrt(2)",
        "masked_1 = scores_1 + mask",
        "exp = np.exp(masked_1)",
        "weights_1 = exp / exp.sum(axis=1, keepdims=True)",
        "head_1 = weights_1 @ V_1",
    ):
        assert f"\n  {line}\n" in told
    in_torch = printed("step", "softmax", "-s", "alex", "--head", "1", "--code", "pytorch")
    assert "  weights_1 = exp / exp.sum(dim=1, keepdim=True)\n" in in_torch


def test_the_lines_of_a_training_step_are_those_of_a_textbook() -> None:
    told = printed("train", "alex-learns", "--code", "numpy")
    for line in (
        "d_W_U = y.T @ d_logits",
        "d_y = d_logits @ W_U.T",
        "slope = 1 * (h > 0)",
        "d_h = d_a * slope",
        "d_W1 = x_1.T @ d_h",
        "d_masked_1 = weights_1 * centered_d_weights_1",
        "d_Q_1 = d_dot_1 @ K_1",
        "new_W_Q_1 = W_Q_1 - 0.01 * d_W_Q_1",
    ):
        assert f"\n  {line}\n" in told
    assert "new_W_K_1" not in told  # one parameter is worked
    in_torch = printed("tutorial", "alex-learns", "--train", "--code", "pytorch")
    order = ["h = x_1 @ W1", "loss = ", "value.retain_grad()", "loss.backward()", "d_h = h.grad"]
    places = [in_torch.index(line) for line in order]
    assert places == sorted(places)
    assert "d_W1 = W1.grad\n" in in_torch


def test_a_program_that_rounds_has_the_formulas_of_gradients() -> None:
    """What backward() computes has all digits."""
    rounds = printed("train", "alex-learns", "--code", "pytorch", "-f", "code")
    assert "backward" not in rounds
    keeps = printed("train", "alex-learns", "--code", "pytorch", "-f", "code", "--carry", "never")
    assert keeps.count("loss.backward()") == 1


def test_the_program_of_a_batch_computes_all_examples() -> None:
    program = printed("train", "comics", "--code", "numpy", "-f", "code")
    assert "losses_ex3 = " in program
    assert printed("train", "comics", "--code", "numpy").count("Only the program") == 1


def test_the_command_prints_a_program_that_prints_the_chosen_steps() -> None:
    whole = printed_by(printed("run", "alex", "--code", "numpy", "-f", "code"))
    assert next(iter(whole)) == "1 · Tokens and embeddings"
    # The scores of “Alex” as alex.md prints them.
    assert whole["7 · Head 1 · Attention scores"][3] == ["11.563", "7.957", "6.095", "6.468"]
    program = printed(
        "step", "softmax", "-s", "alex", "--head", "1", "--code", "numpy", "-f", "code"
    )
    (title,) = printed_by(program)
    assert title == "9 · Head 1 · Softmax: the attention weights"
    assert "W_O" not in program


def test_a_tutorial_has_the_loss_as_code() -> None:
    told = printed("tutorial", "pizza", "--code", "numpy")
    program = printed("tutorial", "pizza", "--code", "numpy", "-f", "code")
    assert "\nlosses = -np.log(p[[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])\nloss = losses.mean()\n" in told
    assert "\nloss = rounded(losses.mean())\n" in program
    assert "loss" not in printed("run", "pizza", "--code", "numpy", "-f", "code")


@pytest.mark.parametrize("format", ["terminal", "markdown", "latex"])
def test_each_format_shows_the_same_lines(format: str) -> None:
    told = printed("tutorial", "alex", "--code", "numpy", "-f", format)
    assert "scores_1 = Q_1 @ K_1.T / np.sqrt(2)\n" in told
    assert told.count("keeps all digits") == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("run alex -f code", "--code numpy or --code pytorch"),
        ("compare alex alex -f code", "--code numpy or --code pytorch"),
    ],
)
def test_code_is_refused_where_there_is_none(arguments: str, expected: str) -> None:
    (problem,) = problems(run(*arguments.split()))
    assert expected in problem
