"""SantaCoder and StarCoder (Allal et al. 2023; Li et al. 2023): GPT-2 with one key per token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.gpt2 import GPT2
from tracer.checkpoints.hugging_face_family import HuggingFaceFamily

GPT_BIGCODE = replace(
    GPT2,
    activation=("activation_function", "gelu_pytorch_tanh"),
    shares_keys=True,
    missing_key_heads=1,
    only={
        "scale_attn_weights": GPT2.only["scale_attn_weights"],
        "multi_query": (True, "each head has keys and values of its own"),
    },
    harmless=f"{GPT2.harmless} inference_runner max_batch_size pad_key_length "
    "pre_allocate_kv_cache validate_runner_input",
    layout=replace(GPT2.layout, transposed=True),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"gpt_bigcode": GPT_BIGCODE}
