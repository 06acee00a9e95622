"""GPT-Neo (Black et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.checkpoints.hugging_face_family import HuggingFaceFamily
from tracer.checkpoints.hugging_face_windows import Windows
from tracer.checkpoints.layouts import layout
from tracer.checkpoints.settings import CheckpointSettings


def _windows(settings: CheckpointSettings, layers: int) -> Windows:
    """Read `[[["global", "local"], 12]]`: 12 times a layer without and one with a window."""
    key = "attention_types"
    window = settings.whole("window_size", 256)
    said = settings.get(key, [[["global", "local"], 12]])
    expected = f'expected the kinds of {layers} layers: [[["global", "local"], {layers // 2}]]'
    try:
        kinds = [kind for several, times in said for _ in range(times) for kind in several]
    except (TypeError, ValueError):
        kinds = []
    if len(kinds) != layers or not {*kinds} <= {"global", "local"}:
        settings.wrong(key, expected)
        return [None] * layers
    return [window if kind == "local" else None for kind in kinds]


GPT_NEO = HuggingFaceFamily(
    layers="num_layers",
    heads="num_heads",
    epsilon=("layer_norm_epsilon", 1e-5),
    activation=("activation_function", "gelu_new"),
    tied=True,
    norm="layer_norm",
    gated=False,
    hidden_per_width=4,
    biases="OF",
    whole_heads=True,
    squared_divisor=(None, 1.0),
    windows=_windows,
    same={"num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"},
    harmless="attention_layers",
    layout=layout(
        {
            "embeddings": "wte",
            "positions": "wpe",
            "final_norm.gain": "ln_f",
            "unembedding.W_U": "lm_head",
            "layer.attention.norm.gain": "ln_1",
            "layer.attention.W_Q": "attn.attention.q_proj",
            "layer.attention.W_K": "attn.attention.k_proj",
            "layer.attention.W_V": "attn.attention.v_proj",
            "layer.attention.W_O": "attn.attention.out_proj",
            "layer.ffn.norm.gain": "ln_2",
            "layer.ffn.W_1": "mlp.c_fc",
            "layer.ffn.W_2": "mlp.c_proj",
        },
        "h.{}.",
        ("layer.", "final_norm."),
        transposed=True,
        unused=("*.attn.attention.bias", "*.attn.attention.masked_bias"),
        prefix="transformer.",
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"gpt_neo": GPT_NEO}
