"""StarCoder (Li et al. 2023) and StarCoder 2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.gpt2 import GPT2
from tracer.checkpoints.hugging_face_families.llama import LLAMA, WITHOUT_WINDOW_KEY
from tracer.checkpoints.hugging_face_family import KEY_HEADS, HuggingFaceFamily
from tracer.checkpoints.hugging_face_windows import one_window
from tracer.checkpoints.layouts import changed, with_shifts

GPT_BIGCODE = replace(
    GPT2,
    activation=("activation_function", "gelu_pytorch_tanh"),
    divided_by_layer="",
    multi_query=("multi_query", True),
    harmless=f"{GPT2.harmless} num_key_value_heads inference_runner max_batch_size "
    "pad_key_length pre_allocate_kv_cache validate_runner_input",
    layout=replace(GPT2.layout, transposed=True, groups=None),
)
STARCODER_2 = replace(
    LLAMA,
    epsilon=("norm_epsilon", 1e-5),
    activation=("hidden_act", "gelu_pytorch_tanh"),
    tied=True,
    norm="layer_norm",
    gated=False,
    maybe_biases=(("QKVOF", "use_bias", True),),
    missing_key_heads=2,
    not_null=KEY_HEADS,
    whole_heads=False,
    windows=one_window,
    only={
        **WITHOUT_WINDOW_KEY,
        "mlp_type": ("default", "a gated FFN"),
        "norm_type": ("layer_norm", "another norm"),
        "scale_attn_weights": (True, "scores are not divided by √d_k"),
    },
    harmless="activation_function layer_norm_epsilon",
    layout=with_shifts(
        changed(
            LLAMA.layout,
            {"ffn.W_1": "mlp.c_fc", "ffn.W_2": "mlp.c_proj"},
            without=("ffn.W_3", "ffn.b_3"),
        )
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {
    "gpt_bigcode": GPT_BIGCODE,
    "starcoder2": STARCODER_2,
}
