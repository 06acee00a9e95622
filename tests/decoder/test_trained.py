"""A trained model's pass is that of plain NumPy, and nothing of it is computed that nobody sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.command import printed, run
from tests.helpers.reference_of_checkpoint import reference_of
from tests.helpers.tiny_checkpoints import D, hugging_face_llama
from tests.helpers.tiny_models import END, MODELS, TEXT, model, naming, scenario
from tracer.checkpoints import gguf_file
from tracer.checkpoints.opening import open_checkpoint
from tracer.checkpoints.tensor import Rows, Tensor, mapped
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.decoder.generation import GenerationOptions, generate
from tracer.decoder.lazy import LazyValue
from tracer.errors import TracerError
from tracer.formula.arithmetic import FLOATS
from tracer.scenario.loading import load
from tracer.scenario.model import Unembedding

LAYERS = 1500
"""More than Python calls within each other."""


def traced(path: str, **how: Any) -> Trace:
    return trace("tiny", load(path).scenario, PassOptions(**how))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tensors that are read, as often as they are."""
    found: list[str] = []
    read, blocks = Tensor.read, Tensor.blocks

    def read_vector(tensor: Tensor, *chosen: Rows) -> Any:
        found.extend([tensor.name] * (len(tensor.shape) == 1))
        return read(tensor, *chosen)

    def read_rows(tensor: Tensor, rows: Rows) -> Any:
        found.append(tensor.name)
        return blocks(tensor, rows)

    monkeypatch.setattr(Tensor, "read", read_vector)
    monkeypatch.setattr(Tensor, "blocks", read_rows)
    return found


# --- the numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_each_family_gives_what_the_reference_gives(name: str, tmp_path: Path) -> None:
    path = scenario(tmp_path, name)
    ours = traced(path)
    checkpoint = open_checkpoint(model(tmp_path, name))
    theirs = reference_of(checkpoint, list(load(path).scenario.token_ids or ()))
    both = [address for address in theirs if address in ours.values]
    for address in both:
        found, numbers = ours[address].numbers, theirs[address]
        finite = np.isfinite(found)
        assert_allclose(found[finite], numbers[finite], rtol=1e-9, atol=1e-9, err_msg=address)
    assert len(both) >= 2 + 1 + 2 * (4 * 3 + 4)
    words = ours.scenario.vocabulary or ()
    assert list(ours["prediction"].numbers) == [words[n] for n in theirs["logits"].argmax(axis=1)]


@pytest.mark.parametrize("name", ["gguf llama", "folder gpt2", "folder mistral"])
def test_on_demand_the_numbers_are_those_that_are_computed_at_once(
    name: str, tmp_path: Path
) -> None:
    path = scenario(tmp_path, name)
    later, at_once = traced(path, lens=True), traced(path, lens=True, arithmetic=FLOATS)
    assert list(later.values) == list(at_once.values)
    for address, value in reversed(list(later.values.items())):
        expected = at_once[address]
        assert value.shape == expected.shape == expected.numbers.shape
        assert (value.form, value.axes) == (expected.form, expected.axes)
        assert np.array_equal(value.numbers, expected.numbers), address


@pytest.mark.parametrize("name", ["gguf gpt2", "gguf llama", "folder mistral"])
@pytest.mark.parametrize("cached", [False, True])
def test_a_text_goes_on_as_plain_numpy_goes_on(name: str, cached: bool, tmp_path: Path) -> None:
    path = scenario(tmp_path, name)
    checkpoint = open_checkpoint(model(tmp_path, name))
    ids = list(load(path).scenario.token_ids or ())
    for _ in range(4):
        ids.append(int(reference_of(checkpoint, ids)["logits"][-1].argmax()))
    loaded = load(path).scenario
    said = generate("tiny", loaded, GenerationOptions(loaded.beginning, 4, cached=cached))
    words = loaded.vocabulary or ()
    assert list(said.text) == [words[id] for id in ids]


# --- on demand -----------------------------------------------------------------------------------


def test_nothing_is_read_while_it_is_recorded(reads: list[str], tmp_path: Path) -> None:
    path = scenario(tmp_path)
    assert traced(path)["layer2.ffn.output"].shape == (5, D)
    assert reads == []


def test_of_a_step_no_later_layer_and_no_vocabulary_is_read(
    reads: list[str], tmp_path: Path
) -> None:
    path = scenario(tmp_path)
    reads.clear()
    printed("step", "scores", "--layer", "1", "--head", "1", "-s", path)
    assert set(reads) == {
        *("token_embd.weight", "blk.0.attn_norm.weight"),
        *("blk.0.attn_q.weight", "blk.0.attn_k.weight"),
    }


def test_a_weight_is_read_once_for_a_pass(reads: list[str], tmp_path: Path) -> None:
    found = traced(scenario(tmp_path))
    assert found["logits"].numbers.size
    heads = ["attn_q"] * 4 + ["attn_k", "attn_v"] * 2
    others = ["attn_norm", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down"]
    of_layers = [f"blk.{n}.{name}.weight" for n in (0, 1) for name in (*heads, *others)]
    ends = ["token_embd.weight", "output_norm.weight", "output.weight"]
    assert sorted(reads) == sorted(of_layers + ends)


def test_weights_are_let_go(tmp_path: Path) -> None:
    found = traced(scenario(tmp_path))
    assert found["logits"].numbers.size
    later = {name: value for name, value in found.values.items() if isinstance(value, LazyValue)}
    there = {name: value.is_ready for name, value in later.items()}
    assert there["layer2.ffn.output"] and not there["unembedding.W_U"]
    assert not any(there[f"layer1.ffn.{name}"] for name in ("W_1", "W_2", "W_3", "norm.gain"))


@pytest.mark.parametrize("command", [
    "lens {}", "run {}", "tutorial {}", "generate {} --max-tokens 3", "attribute logits[1,1] -s {}",
    "compare {} --text is", "compare {} --text the --sweep heads",
])  # fmt: skip
def test_a_file_is_opened_once_for_an_answer(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = list[Path]()

    def noted(path: Path) -> Any:
        opened.append(path)
        return mapped(path)

    monkeypatch.setattr(gguf_file, "mapped", noted)
    path = scenario(tmp_path, text="a")
    assert printed(*command.format(path).split())
    assert [each.name for each in opened] == ["tiny.gguf"]


def test_what_is_given_is_not_computed(reads: list[str], tmp_path: Path) -> None:
    path = scenario(tmp_path)
    row = ",".join(["0.5"] * D)
    pinned = f"layer1.ffn.residual=[{','.join([f'[{row}]'] * 5)}]"
    reads.clear()
    score = printed("value", "layer2.attention.head1.scores[5,1]", "-s", path, "--given", pinned)
    assert "blk.1.attn_q.weight" in reads
    assert not any(name.startswith("blk.0.") for name in reads)
    # A step also shows what it is without the given numbers.
    text = printed("step", "scores", "--layer", "2", "--head", "1", "-s", path, "--given", pinned)
    assert "S¹ (5 × 5)" in text and score.strip() in text


def test_any_address_can_be_given_in_the_file(tmp_path: Path) -> None:
    address = "layer2.attention.head3.weights"
    rows = [[1, 0, 0, 0, 0]] * 5
    found = traced(scenario(tmp_path, given={address: rows}))
    attended = found["layer2.attention.head3.output"].numbers
    assert_allclose(attended, np.tile(found["layer2.attention.head3.value"].numbers[0], (5, 1)))


def test_thousands_of_layers(tmp_path: Path) -> None:
    loaded = load(scenario(tmp_path)).scenario
    layer = loaded.layers[0].model_copy(update={"attention": None})
    tall = loaded.model_copy(update={"layers": (layer,) * LAYERS})
    last = trace("tall", tall)[f"layer{LAYERS}.ffn.residual"]
    assert np.isfinite(last.numbers).all()


# --- what goes wrong ------------------------------------------------------------------------------


def overflowing(folder: Path) -> str:
    """A model whose second layer leaves numbers that cannot be squared."""
    tensors = hugging_face_llama()
    name = "model.layers.1.mlp.down_proj.weight"
    tensors[name] = tensors[name].astype(np.float64) * 1e200
    return naming(model(folder, "folder llama", tensors), text=TEXT)


def test_numbers_beyond_all_bounds_are_told_where_they_are_asked_for(tmp_path: Path) -> None:
    path = overflowing(tmp_path)
    assert printed("step", "scores", "--layer", "2", "--head", "1", "-s", path)
    output = tmp_path / "out.md"
    for command in (("run", path, "-o", str(output)), ("value", "logits[1,1]", "-s", path)):
        ran = run(*command)
        assert ran.exit_code == 2
        assert ran.stdout == ""
        address, message = "norm.squared", "the number is too large to compute with"
        place, told = ran.stderr.splitlines()[0].split(address)
        assert place.startswith(f"{path}:1:") and told == f": {message}"
    assert not output.exists()


def test_the_library_tells_it_too(tmp_path: Path) -> None:
    found = traced(overflowing(tmp_path))
    with pytest.raises(TracerError, match=r"norm\.squared: the number is too large"):
        _ = found["probabilities"].numbers


# --- a text that ends ----------------------------------------------------------------------------


def test_a_text_ends_with_the_models_own_token(tmp_path: Path) -> None:
    loaded = load(scenario(tmp_path)).scenario
    assert loaded.ends == ("<end>",)
    # The unembedding points the way of the output, and only for that token.
    weights = np.zeros((D, len(loaded.vocabulary or ())))
    weights[:, END] = trace("tiny", loaded)["output"].numbers[-1]
    unembedding = Unembedding.model_construct(W_U=weights)
    ending = loaded.model_copy(update={"unembedding": unembedding})
    said = generate("tiny", ending, GenerationOptions(ending.beginning, 3))
    assert [step.word for step in said.steps] == ["<end>"]
    assert said.ended
