"""SantaCoder and StarCoder (Allal et al. 2023; Li et al. 2023): GPT-2 with one key per token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.gpt2 import GPT2
from tracer.checkpoints.hugging_face_family import HuggingFaceFamily

GPT_BIGCODE = replace(
    GPT2,
    activation=("activation_function", "gelu_pytorch_tanh"),
    divided_by_layer="",
    multi_query=("multi_query", True),
    harmless=f"{GPT2.harmless} num_key_value_heads *_in_fp32 inference_runner max_batch_size "
    "pad_key_length pre_allocate_kv_cache validate_runner_input",
    layout=replace(GPT2.layout, transposed=True, groups=None),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"gpt_bigcode": GPT_BIGCODE}
