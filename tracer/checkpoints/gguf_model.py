"""The values of a GGUF file → the architecture."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tracer.checkpoints.architecture import Architecture, Family, Rotary, RotaryFactor
from tracer.checkpoints.families import EXPERTS, GGUF_NEEDS, family_of
from tracer.checkpoints.gguf_file import GGUFFile
from tracer.checkpoints.layouts import GGUF
from tracer.checkpoints.settings import MOST_LAYERS, Settings
from tracer.checkpoints.tensor import written
from tracer.errors import Problem, TracerError

FAMILIES: Mapping[str, Family] = {family: family for family in GGUF}
WINDOW = "attention.sliding_window"
HARMLESS = frozenset({
    *("vocab_size", "tensor_data_layout"),
    *("rope.dimension_count", "rope.scaling.original_context_length", "rope.scaling.finetuned"),
})  # fmt: skip
"""Keys that repeat what the tensors say, or only describe how the model was made."""


def architecture_of(read: GGUFFile) -> Architecture:
    """Return the architecture; Mistral's models are called llama in these files.

    Raises:
        TracerError: the family is not known, or a value is missing or wrong.
    """
    named = Settings(read.file, read.values)
    family = family_of(named, "general.architecture", FAMILIES, GGUF_NEEDS)
    settings = Settings(read.file, read.values, f"{family}.")
    is_gpt2 = family == "gpt2"
    heads, width = settings.whole("attention.head_count"), settings.whole("embedding_length")
    d_k = settings.whole("attention.key_length", max(1, width // heads))
    settings.only("attention.value_length", d_k)
    norm = "layer_norm" if is_gpt2 else "layer_norm_rms"
    architecture = Architecture(
        family=family,
        layers=settings.whole("block_count", most=MOST_LAYERS),
        width=width,
        heads=heads,
        key_heads=settings.whole("attention.head_count_kv", heads),
        d_k=d_k,
        hidden=settings.whole("feed_forward_length"),
        words=_words(read),
        context=settings.whole("context_length"),
        norm="layer_norm" if is_gpt2 else "rms_norm",
        epsilon=settings.number(f"attention.{norm}_epsilon"),
        activation="gelu_tanh" if is_gpt2 else "silu",
        gated=not is_gpt2,
        rotary=None if is_gpt2 else _rotary(settings, read, family, d_k),
        window=settings.whole(WINDOW) if settings.get(WINDOW) else None,
        tied="output.weight" not in read.tensors,
        biases="QKVO" if is_gpt2 else _biases(read),
    )
    settings.only("attention.causal", True)
    settings.only("expert_count", 0, f"the model is {EXPERTS}")
    settings.nothing_else(HARMLESS)
    settings.check()
    return architecture


def _words(read: GGUFFile) -> int:
    """Return the size of the vocabulary from the embeddings; not every file has a value for it."""
    embeddings = read.tensors.get("token_embd.weight")
    if embeddings is None:
        raise TracerError(Problem("missing", read.file, address="token_embd.weight"))
    return embeddings.shape[0]


def _biases(read: GGUFFile) -> str:
    """Return the projections with biases in the first layer; all other layers must match it."""
    names = {"Q": "attn_q", "K": "attn_k", "V": "attn_v", "O": "attn_output"}
    return "".join(part for part in names if f"blk.0.{names[part]}.bias" in read.tensors)


def _rotary(settings: Settings, read: GGUFFile, family: Family, d_k: int) -> Rotary:
    """Return the rotary positions; in llama's files, the two columns of a pair are adjacent."""
    settings.only("rope.dimension_count", d_k)
    settings.only("rope.scale_linear", 1.0)  # the older key
    is_scaled = settings.one_of("rope.scaling.type", {"none": False, "linear": True}, "none")
    linear = settings.number("rope.scaling.factor") if is_scaled else 1.0
    factor: RotaryFactor | None = (lambda pair, d_k: linear) if is_scaled else None
    tensor = read.tensors.get("rope_freqs.weight")
    if tensor is not None:
        if tensor.shape != (d_k // 2,):
            message = f"{written(tensor.shape)}, expected {d_k // 2}: a factor for each pair"
            raise TracerError(Problem(message, read.file, address=tensor.name))
        factors = [linear * float(each) for each in tensor.read(slice(None))]
        if not all(0 < each < math.inf for each in factors):
            raise TracerError(Problem("expected positive numbers", read.file, address=tensor.name))
        factor = lambda pair, d_k: factors[pair]  # noqa: E731
    base = settings.number("rope.freq_base", 10000.0)
    return Rotary(base, "pairs" if family == "llama" else "halves", factor)
