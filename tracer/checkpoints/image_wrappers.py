"""The text half of a model that also reads images: its configuration and its tensors.

For a text without images, the positions on the three axes of Qwen2-VL and Qwen3-VL are equal; its
rotary positions are then those of one axis.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tracer.checkpoints.tensor import Tensor


@dataclass(frozen=True)
class ImageWrapper:
    """A family of models with an image encoder."""

    text: str
    """The `model_type` of the text model, if its configuration does not say it."""
    tied: bool = False
    """Whether the embeddings are the unembedding if `tie_word_embeddings` is missing."""
    missing: Mapping[str, int] = field(default_factory=dict)
    """The sizes that missing keys of the text model have."""


WRAPPERS: Mapping[str, ImageWrapper] = {
    "gemma3": ImageWrapper(
        "gemma3_text",
        tied=True,
        missing={
            "max_position_embeddings": 131072,
            "num_attention_heads": 8,
            "vocab_size": 262208,
        },
    ),
    "idefics3": ImageWrapper("llama"),
    "internvl": ImageWrapper("qwen2", tied=True),
    "llava": ImageWrapper(
        "llama",
        missing={
            "hidden_size": 4096,
            "intermediate_size": 11008,
            "num_attention_heads": 32,
            "num_hidden_layers": 32,
            "vocab_size": 32000,
        },
    ),
    "llava_onevision": ImageWrapper("qwen2"),
    "mistral3": ImageWrapper("mistral", tied=True),
    "qwen2_vl": ImageWrapper("qwen2_vl_text"),
    "qwen2_5_vl": ImageWrapper("qwen2_5_vl_text"),
    "qwen3_vl": ImageWrapper("qwen3_vl_text"),
    "smolvlm": ImageWrapper("llama"),
}
"""By `model_type`."""

_IMAGE_KEYS = re.compile(r"(image|video|vision)_|model_type$|architectures$")
_IMAGE_TENSORS = re.compile(r"(model\.)?(vision|visual|multi_modal|connector|image_newline)")
_TEXT_PREFIX = re.compile(r"(model\.)?(language_model|text_model)\.(model\.)?")


def text_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the configuration of the text half; the same if there is no image encoder.

    Older files of Qwen2-VL have it beside the keys of the images.
    """
    name = config.get("model_type")
    wrapper = WRAPPERS.get(name) if isinstance(name, str) else None
    if wrapper is None:
        return config
    own = config.get("text_config")
    if not isinstance(own, dict):
        own = {key: value for key, value in config.items() if not _IMAGE_KEYS.match(key)}
    text = {"model_type": wrapper.text, **wrapper.missing, **own}
    for key in ("rope_scaling", "rope_parameters"):
        if isinstance(text.get(key), dict):
            text[key] = _on_one_axis(text[key])
    tied = config.get("tie_word_embeddings", wrapper.tied)
    ends = config.get("eos_token_id", text.get("eos_token_id"))
    return {**text, "tie_word_embeddings": tied, "eos_token_id": ends}


def text_tensors(tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """Return the tensors of the text half, by the names that they have in a text model."""
    return {
        name_in_text_model(name): tensor
        for name, tensor in tensors.items()
        if not _IMAGE_TENSORS.match(name)
    }


def _on_one_axis(scaling: Mapping[str, Any]) -> Mapping[str, Any]:
    kept = {key: value for key, value in scaling.items() if not key.startswith("mrope_")}
    return {key: "default" if value == "mrope" else value for key, value in kept.items()}


def name_in_text_model(name: str) -> str:
    """Return the name that a tensor or module of the text half has in a text model."""
    own = _TEXT_PREFIX.sub("", name, count=1)
    return name if own == name else own if own.startswith("lm_head.") else f"model.{own}"
