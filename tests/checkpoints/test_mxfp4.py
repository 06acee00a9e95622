"""gpt-oss's experts in MXFP4: each number by the standard, the file's errors, a worked weight."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from tests.helpers import tiny_models
from tests.helpers.command import printed
from tests.helpers.truth import false_equations
from tracer.checkpoints.opening import open_checkpoint
from tracer.errors import TracerError

LAYER = "model.layers.0.mlp.experts."
EXPERTS, D, HIDDEN, WORDS = 3, 32, 64, 40
CONFIG: dict[str, Any] = {
    **{"model_type": "gpt_oss", "hidden_size": D, "intermediate_size": HIDDEN, "vocab_size": WORDS},
    **{"num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8},
    **{"num_local_experts": EXPERTS, "num_experts_per_tok": 2, "sliding_window": 3},
    "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]},
}
Tensors = dict[str, NDArray[Any]]


def tensors() -> Tensors:
    random = np.random.default_rng(3)
    attention, block = "model.layers.0.self_attn.", "model.layers.0."
    floats = {
        "model.embed_tokens.weight": (WORDS, D),
        "lm_head.weight": (WORDS, D),
        "model.norm.weight": (D,),
        f"{block}input_layernorm.weight": (D,),
        f"{block}post_attention_layernorm.weight": (D,),
        **{f"{attention}{part}_proj.weight": (n, 32) for part, n in (("q", 32), ("o", 32))},
        **{f"{attention}{part}_proj.weight": (16, 32) for part in "kv"},
        **{f"{attention}{part}_proj.bias": (n,) for part, n in (("q", 32), ("k", 16), ("v", 16))},
        f"{attention}o_proj.bias": (32,),
        f"{attention}sinks": (4,),
        f"{block}mlp.router.weight": (EXPERTS, D),
        f"{block}mlp.router.bias": (EXPERTS,),
        f"{LAYER}gate_up_proj_bias": (EXPERTS, 2 * HIDDEN),
        f"{LAYER}down_proj_bias": (EXPERTS, D),
    }
    found: Tensors = {
        name: random.normal(size=shape).astype(np.float32) for name, shape in floats.items()
    }
    for name, rows, columns in (("gate_up", 2 * HIDDEN, D), ("down", D, HIDDEN)):
        groups = (EXPERTS, rows, columns // 32)
        found[f"{LAYER}{name}_proj_blocks"] = random.integers(0, 256, (*groups, 16), np.uint8)
        found[f"{LAYER}{name}_proj_scales"] = random.integers(119, 124, groups, np.uint8)
    return found


def written(folder: Path, stored: Tensors, config: dict[str, Any] = CONFIG) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "tokenizer.json").write_text(tiny_models.tokenizer_json(), encoding="utf-8")
    save_file(stored, folder / "model.safetensors")
    return folder


def number(code: int, scale: int) -> float:
    """A sign, two bits of exponent with the bias 1, one of mantissa, times a power of two."""
    sign, exponent, mantissa = code >> 3, code >> 1 & 3, code & 1
    size = 2.0 ** (exponent - 1) * (1 + mantissa / 2) if exponent else mantissa / 2
    return (-size if sign else size) * 2.0 ** (scale - 127)


def expected(stored: Tensors, name: str, expert: int) -> NDArray[np.float64]:
    """One row for each output: the numbers of a byte, the lower four bits first."""
    blocks, scales = (
        stored[f"{LAYER}{name}_blocks"][expert],
        stored[f"{LAYER}{name}_scales"][expert],
    )
    return np.array([
        [
            number(int(byte) >> shift & 15, int(scale))
            for group, scale in zip(row, of_row, strict=True)
            for byte in group
            for shift in (0, 4)
        ]
        for row, of_row in zip(blocks, scales, strict=True)
    ])  # fmt: skip


def test_each_number_is_that_of_the_standard(tmp_path: Path) -> None:
    stored = tensors()
    read = open_checkpoint(written(tmp_path / "m", stored)).parameters
    for expert in range(EXPERTS):
        both = expected(stored, "gate_up_proj", expert)
        at = f"layer1.ffn.expert{expert + 1}."
        assert np.array_equal(np.asarray(read[f"{at}W_1"]), both[0::2].T)
        assert np.array_equal(np.asarray(read[f"{at}W_3"]), both[1::2].T)
        assert np.array_equal(np.asarray(read[f"{at}W_2"]), expected(stored, "down_proj", expert).T)
        biases = stored[f"{LAYER}gate_up_proj_bias"][expert]
        assert np.array_equal(np.asarray(read[f"{at}b_1"]), biases[::2])
        assert np.array_equal(np.asarray(read[f"{at}b_3"]), biases[1::2])
    assert np.array_equal(
        [float(read[f"layer1.attention.head{n}.sink"][0]) for n in range(1, 5)],
        stored["model.layers.0.self_attn.sinks"],
    )


def test_numbers_are_those_of_transformers(tmp_path: Path) -> None:
    mxfp4 = pytest.importorskip("transformers.integrations.mxfp4")
    torch = pytest.importorskip("torch")
    stored = tensors()
    parts = (torch.tensor(stored[f"{LAYER}down_proj_{part}"]) for part in ("blocks", "scales"))
    theirs = mxfp4.convert_moe_packed_tensors(*parts, dtype=torch.float32).numpy()
    read = open_checkpoint(written(tmp_path / "m", stored)).parameters
    assert np.array_equal(np.asarray(read["layer1.ffn.expert2.W_2"]), theirs[1])


@pytest.mark.parametrize(("row", "column"), [(1, 1), (2, 18), (32, 64)])
def test_a_weight_is_worked(row: int, column: int, tmp_path: Path) -> None:
    stored = tensors()
    folder = written(tmp_path / "m", stored)
    address = f"layer1.ffn.expert2.W_3[{row},{column}]"
    shown = printed("why", address, "-s", tiny_models.naming(folder, token_ids=[3, 1, 4]))
    assert "gate_up_proj_blocks[1, 1::2] is stored as MXFP4" in " ".join(shown.split())
    assert false_equations(shown) == []
    [line] = re.findall(r"    w = .* [=≈] (-?[0-9.]+)$", shown, re.MULTILINE)
    weight = expected(stored, "gate_up_proj", 1)[1::2][column - 1, row - 1]
    assert abs(float(line) - weight) <= 0.0005001


def without(name: str) -> Tensors:
    return {key: value for key, value in tensors().items() if not key.endswith(name)}


@pytest.mark.parametrize(("stored", "said"), [
    (without("down_proj_scales"), f"{LAYER}down_proj_blocks: codes without _scales"),
    (
        without("gate_up_proj_blocks"),
        f"{LAYER}gate_up_proj_blocks: missing; it has layer1.ffn.expert1.W_1, and those of the "
        "other experts",
    ),
    (
        tensors() | {f"{LAYER}down_proj_scales": np.zeros((EXPERTS, D, 1), np.uint8)},
        f"{LAYER}down_proj_blocks: 3 × 32 × 2 × 16 and 3 × 32 × 1, expected bytes: 16 codes for "
        "each scale",
    ),
    (
        tensors() | {f"{LAYER}down_proj_bias": np.zeros((2, D), np.float32)},
        f"{LAYER}down_proj_bias: 2 × 32, expected one matrix or row for each of the 3 experts",
    ),
    (
        tensors() | {f"{LAYER}gate_up_proj_bias": np.zeros((EXPERTS, 9), np.float32)},
        f"{LAYER}gate_up_proj_bias[0, ::2]: 5, expected 64: layer1.ffn.expert1.b_1",
    ),
])  # fmt: skip
def test_what_does_not_fit_is_refused(stored: Tensors, said: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "m", stored)
    with pytest.raises(TracerError) as caught:
        open_checkpoint(folder)
    assert said in str(caught.value)


def test_numbers_where_codes_are_announced_are_refused(tmp_path: Path) -> None:
    stored = without("proj_blocks")
    stored |= {f"{LAYER}down_proj": np.zeros((EXPERTS, HIDDEN, D), np.float32)}
    with pytest.raises(TracerError, match="down_proj_blocks: missing"):
        open_checkpoint(written(tmp_path / "m", stored))
    for method in ("gptq", None):
        config = CONFIG | {"quantization_config": {"quant_method": method}}
        with pytest.raises(TracerError, match="supported are mxfp4"):
            open_checkpoint(written(tmp_path / "m", tensors(), config))
