"""The text half of a model with an image encoder: its logits are those of the whole model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import tiny_checkpoints
from tests.helpers.tiny_models import naming, tokenizer_json
from tracer.checkpoints.hugging_face import architecture_of
from tracer.checkpoints.image_wrappers import WRAPPERS
from tracer.checkpoints.opening import open_checkpoint
from tracer.errors import TracerError
from tracer.scenario.loading import load

Json = dict[str, Any]
TEXT: Json = {
    **{"vocab_size": 40, "max_position_embeddings": 64, "hidden_size": 32, "head_dim": 8},
    **{"intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4},
    **{"num_key_value_heads": 2, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0},
}
VISION: Json = {
    **{"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "image_size": 8},
    **{"num_attention_heads": 2, "patch_size": 4},
}
OF_QWEN: Json = {
    **{"depth": 1, "hidden_size": 16, "embed_dim": 16, "num_heads": 2, "patch_size": 4},
    **{"intermediate_size": 16, "out_hidden_size": 32, "in_channels": 3, "spatial_merge_size": 2},
    "temporal_patch_size": 2,
}
AXES = {"type": "mrope", "mrope_section": [1, 1, 2]}
INTERLEAVED = {"rope_type": "default", "mrope_interleaved": True, "mrope_section": [2, 1, 1]}
SQUARE = {"image_size": [8, 8], "patch_size": [4, 4]}
CONFIGS: Mapping[str, Json] = {
    "gemma3": {
        "text_config": {**TEXT, "model_type": "gemma3_text", "sliding_window": 3},
        "vision_config": {**VISION, "model_type": "siglip_vision_model"},
        **{"image_token_index": 39, "mm_tokens_per_image": 1},
    },
    "idefics3": {
        "text_config": {**TEXT, "model_type": "llama"},
        "vision_config": {**VISION, "model_type": "idefics3_vision"},
        "image_token_id": 39,
    },
    "internvl": {
        "text_config": {**TEXT, "model_type": "qwen2"},
        "vision_config": {**VISION, "model_type": "internvl_vision", **SQUARE},
        "image_token_id": 39,
    },
    "llava": {
        "text_config": {**TEXT, "model_type": "llama"},
        "vision_config": {**VISION, "model_type": "clip_vision_model"},
        "image_token_index": 39,
    },
    "llava_onevision": {
        "text_config": {**TEXT, "model_type": "qwen2"},
        "vision_config": {**VISION, "model_type": "siglip_vision_model"},
        "image_token_index": 39,
    },
    "mistral3": {
        "text_config": {**TEXT, "model_type": "mistral"},
        "vision_config": {**VISION, "model_type": "pixtral", "head_dim": 8},
        "image_token_index": 39,
    },
    "qwen2_vl": {
        "text_config": {**TEXT, "rope_scaling": AXES},
        "vision_config": {**OF_QWEN, "hidden_size": 32},
        "image_token_id": 39,
    },
    "qwen2_5_vl": {
        "text_config": {**TEXT, "rope_scaling": AXES},
        "vision_config": OF_QWEN,
        "image_token_id": 39,
    },
    "qwen3_vl": {
        "text_config": {**TEXT, "rope_scaling": INTERLEAVED},
        "vision_config": {
            **{**OF_QWEN, "num_position_embeddings": 16},
            "deepstack_visual_indexes": [0],
        },
        "image_token_id": 39,
    },
    "smolvlm": {
        "text_config": {**TEXT, "model_type": "llama"},
        "vision_config": {**VISION, "model_type": "smolvlm_vision"},
        "image_token_id": 39,
    },
}


def test_each_wrapper_is_compared() -> None:
    assert CONFIGS.keys() == WRAPPERS.keys()


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("tied", [False, True])
def test_logits_are_those_of_the_whole_model(name: str, tied: bool, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.checkpoints.test_transformers_configs import check, drawn, save

    folder = tmp_path / "model"
    folder.mkdir()
    config = {**CONFIGS[name], "model_type": name, "tie_word_embeddings": tied}
    save(drawn(folder, config), folder / "model.safetensors")
    assert check(folder, config) == (True, set())


def test_the_text_half_may_stand_beside_the_keys_of_the_images() -> None:
    nested = {"model_type": "qwen2_vl", **CONFIGS["qwen2_vl"]}
    flat = {key: nested[key] for key in nested if key != "text_config"} | nested["text_config"]
    assert architecture_of(flat, "x") == architecture_of(nested, "x")


def wrapped(folder: Path, prefix: str, config: Json, **others: tuple[int, ...]) -> Path:
    """A folder whose text half has a prefix, with other tensors beside it."""
    tensors = tiny_checkpoints.hugging_face_llama()
    renamed = {
        f"{prefix}{name}": numbers for name, numbers in tensors.items() if name != "lm_head.weight"
    }
    own = {"lm_head.weight": tensors["lm_head.weight"]}
    images = tiny_checkpoints.drawn(
        {name.replace("__", "."): each for name, each in others.items()}
    )
    path = tiny_checkpoints.write_folder(folder, "llama", {**renamed, **own, **images})
    (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (path / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    return path


LLAMA = tiny_checkpoints.config("llama")


@pytest.mark.parametrize("prefix", ["language_model.", "model.language_model."])
def test_the_text_half_is_opened_and_a_note_says_so(prefix: str, tmp_path: Path) -> None:
    config = {"model_type": "llava", "text_config": LLAMA, "vision_config": {}}
    folder = wrapped(tmp_path / "x", prefix, config, vision_tower__w=(2, 2))
    checkpoint = open_checkpoint(folder)
    assert checkpoint.architecture.family == "llama"
    assert checkpoint.architecture.has_images
    scenario = load(naming(folder, token_ids=[1], intro="Mine.")).scenario
    assert scenario.intro == (
        "This is the text half of a model that also reads images. Its image encoder is not "
        "opened.\n\nMine."
    )


def test_sizes_that_a_file_leaves_out_are_those_of_the_family(tmp_path: Path) -> None:
    config = {"model_type": "gemma3", "text_config": {"hidden_size": 32, "num_hidden_layers": 1}}
    folder = wrapped(tmp_path / "x", "language_model.", config)
    with pytest.raises(TracerError, match="intermediate_size: missing"):
        open_checkpoint(folder)


def test_a_tensor_that_is_neither_text_nor_image_is_refused(tmp_path: Path) -> None:
    config = {"model_type": "llava", "text_config": LLAMA}
    folder = wrapped(tmp_path / "x", "language_model.", config, audio_tower__w=(2, 2))
    with pytest.raises(TracerError, match=r"audio_tower\.w: 2 × 2, but this architecture has no"):
        open_checkpoint(folder)
