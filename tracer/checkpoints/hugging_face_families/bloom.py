"""BLOOM (Le Scao et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_families.falcon import FALCON
from tracer.checkpoints.hugging_face_family import HuggingFaceFamily
from tracer.checkpoints.settings import CheckpointSettings


def _check_slices(settings: CheckpointSettings) -> None:
    in_slices = settings.flag("slow_but_exact", False)
    if settings.whole("pretraining_tp", 1) > 1 and in_slices:
        settings.wrong("slow_but_exact", "then transformers leaves out biases")


BLOOM = HuggingFaceFamily(
    layers="n_layer",
    heads="n_head",
    hidden="",
    hidden_per_width=4,
    context="seq_length",
    epsilon=("layer_norm_epsilon", 1e-5),
    activation=(None, "gelu_new"),
    tied=True,
    norm="layer_norm",
    gated=False,
    biases="QKVOF",
    whole_heads=True,
    alibi=True,
    check=_check_slices,
    same={
        "n_embed": "hidden_size",
        "num_attention_heads": "n_head",
        "num_hidden_layers": "n_layer",
    },
    only={
        "apply_residual_connection_post_layernorm": (False, "norms before residual connections"),
    },
    harmless="bias_dropout_fusion masked_softmax_fusion n_inner offset_alibi skip_bias_add*",
    layout=replace(
        FALCON.layout,
        names={
            **FALCON.layout.names,
            "embedding_norm.gain": "transformer.word_embeddings_layernorm.weight",
            "embedding_norm.shift": "transformer.word_embeddings_layernorm.bias",
        },
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {"bloom": BLOOM}
