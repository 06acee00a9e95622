"""Encoders that predict masked words: BERT (Devlin et al. 2019), RoBERTa, DistilBERT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tracer.checkpoints.hugging_face_family import HuggingFaceFamily, Only
from tracer.checkpoints.layouts import Layout, layout
from tracer.checkpoints.settings import CheckpointSettings

_EMBEDDINGS = {
    "embeddings": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "embedding_norm.gain": "embeddings.LayerNorm",
}
_TYPES = {"type_embeddings": "embeddings.token_type_embeddings"}
_LAYER = {
    "layer.attention.W_Q": "attention.self.query",
    "layer.attention.W_K": "attention.self.key",
    "layer.attention.W_V": "attention.self.value",
    "layer.attention.W_O": "attention.output.dense",
    "layer.attention.norm.gain": "attention.output.LayerNorm",
    "layer.ffn.W_1": "intermediate.dense",
    "layer.ffn.W_2": "output.dense",
    "layer.ffn.norm.gain": "output.LayerNorm",
}
_ABSOLUTE: Only = {"position_embedding_type": ("absolute", "positions relative to each other")}
_TIED: Only = {"tie_word_embeddings": (True, "the logits have another bias")}


def _check_padding(settings: CheckpointSettings) -> None:
    """Record a problem if the padding token is not in the vocabulary, which is an error there."""
    words = settings.whole("vocab_size")
    padding = settings.get("pad_token_id", 0)
    if padding is not None and (type(padding) is not int or not -words <= padding < words):
        settings.wrong("pad_token_id", f"expected a number below {words}, the words")


def _layout(
    tensors: Mapping[str, str],
    layer: str,
    prefix: str,
    head: tuple[str, str],
    unembedding: str,
    bias: str,
) -> Layout:
    """Return the layout of an encoder and its head: W_M and its norm, W_U, b_U."""
    biased = ("layer.", "embedding_norm.")
    found = layout(tensors, layer, biased, transposed=True, prefix=prefix)
    dense, norm = head
    names = {
        "unembedding.W_U": f"{unembedding}.weight",
        "unembedding.b_U": bias,
        "unembedding.transform.W_M": f"{dense}.weight",
        "unembedding.transform.b_M": f"{dense}.bias",
        "unembedding.transform.norm.gain": f"{norm}.weight",
        "unembedding.transform.norm.shift": f"{norm}.bias",
    }
    copies = {f"{unembedding}.bias": bias} if bias != f"{unembedding}.bias" else {}
    return replace(
        found,
        names={**found.names, **names},
        copies=copies,
        unused=("*.pooler.*", "cls.seq_relationship.*", "*.position_ids"),
        older={"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"},
    )


BERT = HuggingFaceFamily(
    epsilon=("layer_norm_eps", 1e-12),
    activation=("hidden_act", "gelu"),
    tied=True,
    norm="layer_norm",
    gated=False,
    biases="QKVOF",
    whole_heads=True,
    placement="post",
    causal="is_decoder",
    types=("type_vocab_size", 2),
    check=_check_padding,
    only={**_ABSOLUTE, **_TIED},
    harmless="directionality pooler_*",
    layout=_layout(
        {**_EMBEDDINGS, **_TYPES, **_LAYER},
        "encoder.layer.{}.",
        "bert.",
        ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm"),
        "cls.predictions.decoder",
        "cls.predictions.bias",
    ),
)
ROBERTA = replace(
    BERT,
    padding=("pad_token_id", 1),
    transform="gelu",
    harmless="",
    layout=_layout(
        {**_EMBEDDINGS, **_TYPES, **_LAYER},
        "encoder.layer.{}.",
        "roberta.",
        ("lm_head.dense", "lm_head.layer_norm"),
        "lm_head.decoder",
        "lm_head.bias",
    ),
)
DISTIL_BERT = replace(
    BERT,
    layers="n_layers",
    width="dim",
    heads="n_heads",
    hidden="hidden_dim",
    epsilon=(None, 1e-12),
    activation=("activation", "gelu"),
    causal="",
    types=None,
    only={},
    same={
        "hidden_size": "dim",
        "num_attention_heads": "n_heads",
        "num_hidden_layers": "n_layers",
    },
    harmless="sinusoidal_pos_embds tie_weights_",
    layout=_layout(
        {
            **_EMBEDDINGS,
            "layer.attention.W_Q": "attention.q_lin",
            "layer.attention.W_K": "attention.k_lin",
            "layer.attention.W_V": "attention.v_lin",
            "layer.attention.W_O": "attention.out_lin",
            "layer.attention.norm.gain": "sa_layer_norm",
            "layer.ffn.W_1": "ffn.lin1",
            "layer.ffn.W_2": "ffn.lin2",
            "layer.ffn.norm.gain": "output_layer_norm",
        },
        "transformer.layer.{}.",
        "distilbert.",
        ("vocab_transform", "vocab_layer_norm"),
        "vocab_projector",
        "vocab_projector.bias",
    ),
)
FAMILIES: Mapping[str, HuggingFaceFamily] = {
    "bert": BERT,
    "camembert": ROBERTA,
    "distilbert": DISTIL_BERT,
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
}
