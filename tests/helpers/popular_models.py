"""The public config.json of popular models, each flag as it was published, and smaller ones.

`tests/checkpoints/popular_models.json` has one model per line: where its config was seen, the model
whose config it repeats (`like`), what it lacks and what it changes. `refused` is the part of the
model that is missing here; `later` marks a model that is refused only until its family is declared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

Json = dict[str, Any]

FILE = Path(__file__).parents[1] / "checkpoints" / "popular_models.json"
WORDS, CONTEXT, WINDOW = 96, 32, 3
WIDTHS = ("hidden_size", "n_embd", "d_model", "n_embed", "dim")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
KEY_HEADS = ("num_key_value_heads", "num_kv_heads")
OF_WIDTH = (
    *WIDTHS,
    *("intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size", "word_embed_proj_dim"),
    "hidden_dim",
    *("moe_intermediate_size", "shared_expert_intermediate_size", "shared_intermediate_size"),
)
OF_HEAD = ("rotary_dim", "query_pre_attn_scalar")
CONTEXTS = ("n_positions", "n_ctx", "max_seq_len")
EXPERTS = ("num_experts", "num_local_experts")
OF_DELTA = {
    **{"linear_num_key_heads": 2, "linear_num_value_heads": 4},
    **{"linear_key_head_dim": 6, "linear_value_head_dim": 5},
}
VISION = {
    **{"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "head_dim": 8},
    **{"num_attention_heads": 2, "image_size": 56},
}
WINDOWS = ("sliding_window", "sliding_window_size")


@cache
def lines() -> Mapping[str, Json]:
    """The lines of the file by model."""
    return json.loads(FILE.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def published(model: str) -> Json:
    """The config.json of a model as it is public."""
    line = lines()[model]
    base = published(line["like"]) if "like" in line else {}
    kept = {key: base[key] for key in base if key not in line.get("without", [])}
    return {**kept, **line["config"]}


def scaled(config: Json) -> Json:
    """The same flags with small sizes, in the same relations where these matter."""
    if "text_config" in config:
        smaller = {"text_config": scaled(config["text_config"])}
        if "vision_config" in config:
            vision = config["vision_config"]
            smaller["vision_config"] = {key: VISION.get(key, vision[key]) for key in vision}
        return {**config, **smaller}
    width, heads, layers = (_first(config, keys) for keys in (WIDTHS, HEADS, LAYERS))
    if config.get("model_type") == "gemma3_text":
        heads = heads or 8  # which public files leave out
    if not width or not heads or not layers:
        return config
    keys = _first(config, KEY_HEADS) or heads
    groups = min(heads // keys, 4)
    pairs = min(keys, 2 if groups > 1 else 4)
    d_k = config.get("head_dim") or width // heads
    small_d_k = 20 if config.get("partial_rotary_factor") == 0.4 else 16
    small_heads = groups * pairs
    share = width / (heads * d_k)
    small_width = small_heads * max(1, round(share * small_d_k))
    if config.get("quantization_config"):
        small_width = 32 * round(small_width / 32)  # whole blocks
    few = 2 * config.get("sliding_window_pattern", 2) if _differ(config) else 2
    few = config.get("full_attention_interval", few)
    few = min(layers, few if isinstance(few, int) else 8)
    words = config.get("vocab_size") or 1
    small: Json = {}
    for key, value in config.items():
        number = isinstance(value, int) and not isinstance(value, bool)
        if key in HEADS:
            value = small_heads
        elif key in KEY_HEADS:
            value = pairs if value else value
        elif key in LAYERS:
            value = few
        elif key == "head_dim":
            value = small_d_k if value else value
        elif key in OF_WIDTH and value:
            value = max(4, round(value / width * small_width))
        elif key in OF_HEAD and value:
            value = max(2, 2 * round(value / d_k * small_d_k / 2))
        elif key == "vocab_size":
            value = WORDS
        elif key in CONTEXTS or (key == "max_position_embeddings" and "ffn_dim" in config):
            value = CONTEXT
        elif key in EXPERTS and value:
            value = 4
        elif key in OF_DELTA:
            value = OF_DELTA[key]
        elif key == "mamba_n_heads":
            value = 1
        elif key == "mamba_d_head":
            value = config["mamba_expand"] * small_width
        elif key == "num_experts_per_tok" and value:
            value = min(value, 2)
        elif key in WINDOWS and value:
            value = WINDOW
        elif key == "mamba_n_heads":
            value = config["mamba_expand"] * small_width // config["mamba_d_head"]
        elif key == "max_window_layers" and value:
            value = round(value / layers * few)
        elif key in ("layer_types", "no_rope_layers", "attention_layers") and value:
            value = value[:few]
        elif key == "rope_scaling" and isinstance(value, dict):
            rotated = int(small_d_k * config.get("partial_rotary_factor", 1))
            value = {name: _factors(factor, rotated // 2) for name, factor in value.items()}
        elif key.endswith(("token_id", "token_ids")) and value is not None:
            value = (
                [each * WORDS // words for each in value] if not number else value * WORDS // words
            )
        small[key] = value
    return small


def _first(config: Json, keys: tuple[str, ...]) -> int | None:
    return next((config[key] for key in keys if isinstance(config.get(key), int)), None)


def _differ(config: Json) -> bool:
    """Whether layers have different kinds."""
    of_gemma = config.get("model_type") in ("gemma2", "gemma3_text")
    return of_gemma or any(config.get(key) for key in ("layer_types", "no_rope_layers"))


def _factors(value: Any, pairs: int) -> Any:
    """As many factors of a list as there are rotated pairs in a smaller head."""
    return value[:: max(1, len(value) // pairs)][:pairs] if isinstance(value, list) else value
