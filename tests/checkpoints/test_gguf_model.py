"""What a GGUF file says of its model."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.tiny_checkpoints import gguf_llama, write_gguf
from tracer.checkpoints.architecture import Architecture
from tracer.checkpoints.opening import open_checkpoint
from tracer.errors import TracerError


def read(path: Path, factors: list[float] | None = None, **values: Any) -> Architecture:
    tensors = gguf_llama()
    if factors:
        tensors["rope_freqs.weight"] = np.array(factors, np.float32)
    said = {f"llama.{key.replace('__', '.')}": value for key, value in values.items()}
    return open_checkpoint(write_gguf(path / "x.gguf", "llama", tensors, said)).architecture


def test_a_window_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, attention__sliding_window=5).window == 5
    assert read(tmp_path).window is None


def test_what_a_model_does_not_have_may_be_said(tmp_path: Path) -> None:
    assert read(tmp_path, expert_count=0, expert_used_count=0) == read(tmp_path)


def test_a_number_may_be_written_for_each_layer(tmp_path: Path) -> None:
    lists: dict[str, Any] = {"attention__head_count": [4, 4], "attention__head_count_kv": [2, 2]}
    assert read(tmp_path, **lists, feed_forward_length=[64, 64]) == read(tmp_path)


@pytest.mark.parametrize(("key", "value", "told"), [
    ("general.type", "adapter", "got 'adapter', supported is 'model': the file is not a whole"),
    ("split.count", 3, "got 3, expected 1: join the files with gguf-split --merge"),
])  # fmt: skip
def test_part_of_a_model_is_refused(key: str, value: Any, told: str, tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "x.gguf", "llama", gguf_llama(), {key: value})
    with pytest.raises(TracerError) as caught:
        open_checkpoint(file)
    assert str(caught.value).startswith(f"{file}: {key}: {told}")


def factors(path: Path, tensor: list[float] | None = None, **values: Any) -> Any:
    rotary = read(path, tensor, **values).rotary
    return rotary and rotary.factors


def test_factors_of_the_rotary_angles_are_a_value_or_a_tensor(tmp_path: Path) -> None:
    linear: dict[str, Any] = {"rope__scaling__type": "linear", "rope__scaling__factor": 4.0}
    assert factors(tmp_path, **linear) == (4.0,) * 4
    assert factors(tmp_path, [1, 2, 3, 8], **linear) == (4, 8, 12, 32)
    assert factors(tmp_path, [1, 2, 3, 8]) == (1, 2, 3, 8)


def test_the_kind_of_a_scaling_is_linear_if_a_file_does_not_say_it(tmp_path: Path) -> None:
    assert factors(tmp_path, rope__scaling__factor=4.0) == (4.0,) * 4
    assert factors(tmp_path, rope__scale_linear=2.0) == (2.0,) * 4
    assert factors(tmp_path, rope__scaling__factor=4.0, rope__scale_linear=2.0) == (4.0,) * 4
    assert factors(tmp_path, rope__scaling__type="none", rope__scaling__factor=4.0) is None
    assert factors(tmp_path, rope__scaling__factor=0.0) is None


def test_yarn_multiplies_its_factor_of_cosines_by_that_of_the_file(tmp_path: Path) -> None:
    said: dict[str, Any] = {"rope__scaling__type": "yarn", "rope__scaling__factor": 4.0}
    said |= {"rope__scaling__original_context_length": 64, "rope__scaling__attn_factor": 1.5}
    rotary = read(tmp_path, **said).rotary
    assert rotary and rotary.scaling == {
        **{"kind": "yarn", "factor": 4.0, "original_max_position_embeddings": 64.0},
        **{"attention_factor": 1.5 * (1 + math.log(4) / 10), "truncate": True},
    }


@pytest.mark.parametrize(("values", "told"), [
    ({"block_count": 0}, "llama.block_count: got 0, expected a whole number from 1 to 10000"),
    ({"attention__head_count_kv": [2, 1]},
     "llama.attention.head_count_kv: the layers differ, which is not supported"),
    ({"feed_forward_length": [64]}, "llama.feed_forward_length: 1 entry, expected 2"),
    ({"attention__head_count": [0, 0]},
     "llama.attention.head_count: got [0, 0], expected positive numbers"),
    ({"attention__head_count_kv": "2"},
     "llama.attention.head_count_kv: got '2', expected a whole number"),
    ({"attention__value_length": 4}, "llama.attention.value_length: got 4, supported is 8"),
    ({"rope__dimension_count": 4}, "llama.rope.dimension_count: got 4, supported is 8"),
    ({"rope__scaling__type": "longrope"},
     "llama.rope.scaling.type: got 'longrope', supported are linear, none, yarn"),
    ({"rope__scaling__type": "yarn", "rope__scaling__factor": 2.0, "factors": [1.0] * 4},
     "llama.rope.scaling.type: got 'yarn', expected none or linear for this file's frequencies"),
    ({"rope__scaling__type": "yarn", "rope__scaling__yarn_beta_fast": 8.0},
     "llama.rope.scaling.yarn_beta_fast: got 8.0, supported is 32.0: it is not read"),
    ({"rope__scaling__type": "yarn", "rope__scaling__original_context_length": 1},
     "llama.rope.scaling.type: got 'yarn', YaRN divides no pairs of this context and base"),
    ({"rope__scaling__attn_factor": 2.0},
     "llama.rope.scaling.attn_factor: got 2.0, supported is 1.0: cosines and sines have a"),
    ({"attention__causal": False}, "llama.attention.causal: got false, supported is true"),
    ({"expert_count": 8}, "llama.expert_used_count: missing, expected a whole number from 1 to"),
    ({"expert_used_count": 2},
     "llama.expert_used_count: got 2, not supported: it belongs to a mixture of experts"),
    ({"expert_count": 8, "expert_used_count": 9},
     "9 experts for each token, expected at most 8"),
    ({"expert_count": 8, "expert_used_count": 2, "expert_shared_count": 1},
     "llama.expert_shared_count: got 1, not supported: it belongs to a mixture of experts"),
    ({"logit_scale": 2.0},
     "llama.logit_scale: got 2.0, not supported: it belongs to a scale of the logits"),
    ({"new_key": 1}, "llama.new_key: got 1, this key is unknown and may change the result"),
    ({"rope__scaling__factor": -2.0}, "llama.rope.scaling.factor: got -2.0, expected a positive"),
    ({"factors": [1.0]}, "rope_freqs.weight: 1, expected 4: a factor for each pair"),
])  # fmt: skip
def test_what_is_wrong_is_told(values: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(TracerError) as caught:
        read(tmp_path, **values)
    assert str(caught.value).replace(str(tmp_path), "").startswith(f"/x.gguf: {told}")
