"""HunYuan's dense models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.llama import LLAMA
from tracer.checkpoints.hugging_face_family import HEAD_DIM, HuggingFaceFamily
from tracer.checkpoints.hugging_face_rotary import Turns, rotary
from tracer.checkpoints.layouts import with_query_key_norms
from tracer.checkpoints.settings import CheckpointSettings


def _rotary(settings: CheckpointSettings, windows: Sequence[int | None]) -> Turns:
    """Read the positions; `alpha` beside a dynamic scaling enlarges the base for any text instead.

    The base is then multiplied by alpha^(d_k / (d_k - 2)), and the length of the text is not read.
    """
    key = "rope_scaling" if settings.get("rope_scaling") else "rope_parameters"
    alpha = settings.within(key).get("alpha")
    shared, own = rotary(harmless=("alpha",))(settings, windows)
    if not alpha or shared.scaling is None or shared.scaling["kind"] != "dynamic":
        return shared, own
    d_k = settings.whole(HEAD_DIM, least=3)
    larger = settings.within(key).number("alpha") ** (d_k / (d_k - 2))
    return replace(shared, base=shared.base * larger, scaling=None), own


def _check(settings: CheckpointSettings) -> None:
    """Check that the size of a head is there: without it, transformers raises an error."""
    settings.whole(HEAD_DIM)


HUNYUAN = replace(
    LLAMA,
    epsilon=("rms_norm_eps", 1e-5),
    whole_heads=False,
    rotary=_rotary,
    query_key_norm="head",
    normalizes_rotated=True,
    layout=with_query_key_norms(
        LLAMA.layout, "self_attn.query_layernorm", "self_attn.key_layernorm"
    ),
    only={
        **LLAMA.only,
        "use_qk_norm": (True, "transformers computes the norm of queries and keys"),
        "use_cla": (False, "layers share keys and values"),
        "use_rotary_pos_emb": (True, "transformers computes rotary positions"),
        "add_classification_head": (False, "a head for another task than the next token"),
    },
    check=_check,
    harmless="attention_head_dim cla_share_factor class_num dense_list norm_type pool_type "
    "org_vocab_size pad_id mask_init_id im_*_id text_*_id",
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"hunyuan_v1_dense": HUNYUAN}
