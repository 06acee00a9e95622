"""StarCoder 2 (Lozhkov et al. 2024)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA, WITHOUT_WINDOW_KEY
from tracer.checkpoints.hugging_face_family import KEY_HEADS, HuggingFaceFamily
from tracer.checkpoints.hugging_face_windows import one_window
from tracer.checkpoints.layouts import changed, with_shifts

STARCODER_2 = replace(
    LLAMA,
    missing_context=4096,
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
        "mlp_type": ("default", "another FFN"),
        "norm_type": ("layer_norm", "another norm"),
    },
    harmless="activation_function layer_norm_epsilon scale_attn_weights *_in_fp32",
    layout=with_shifts(
        changed(
            LLAMA.layout,
            {"ffn.W_1": "mlp.c_fc", "ffn.W_2": "mlp.c_proj"},
            without=("ffn.W_3", "ffn.b_3"),
        )
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {
    "starcoder2": STARCODER_2,
}
