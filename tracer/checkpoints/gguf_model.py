"""The values of a GGUF file → the architecture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from tracer.checkpoints.architecture import (
    Architecture,
    RotaryPositions,
    RotaryScaling,
    columns_of_share,
    yarn_pair,
)
from tracer.checkpoints.families import MEANINGS, family_of
from tracer.checkpoints.gguf_families import FAMILIES, GGUFFamily
from tracer.checkpoints.gguf_file import GGUFFile
from tracer.checkpoints.settings import MOST_LAYERS, CheckpointSettings
from tracer.checkpoints.tensor import written_shape
from tracer.errors import Problem, TracerError

WINDOW = "attention.sliding_window"
HARMLESS = frozenset({
    *("vocab_size", "tensor_data_layout"),
    *("rope.dimension_count", "rope.scaling.original_context_length", "rope.scaling.finetuned"),
})  # fmt: skip
"""Keys that repeat what the tensors say, or only describe how the model was made."""


def architecture_of(read: GGUFFile) -> Architecture:
    """Return the architecture that the values of a GGUF file describe.

    Raises:
        TracerError: the family is not known, or a value is missing or wrong.
    """
    named = CheckpointSettings(read.file, read.values)
    name = family_of(named, "general.architecture", FAMILIES)
    named.only("general.type", "model", "the file is not a whole model")
    if named.get("split.count", 1) not in (0, 1):
        named.wrong("split.count", "expected 1: join the files with gguf-split --merge")
    named.check()
    family = FAMILIES[name]
    keys = family.factors
    settings = CheckpointSettings(read.file, read.values, f"{name}.")
    layers = settings.whole("block_count", most=MOST_LAYERS)
    heads = _of_each_layer(settings, "attention.head_count", layers)
    width = settings.whole("embedding_length")
    d_k = settings.whole("attention.key_length", max(1, width // heads))
    settings.only("attention.value_length", d_k)
    windows = _windows(settings, family, layers)
    rotary, own_rotary = None, dict[int, RotaryPositions | None]()
    if family.rotary:
        everywhere = _rotary(settings, read, family, d_k)
        rotary, own_rotary = _by_layer(settings, everywhere, family, windows)
    architecture = Architecture(
        family=name,
        layers=layers,
        width=width,
        heads=heads,
        key_heads=_of_each_layer(settings, "attention.head_count_kv", layers, heads),
        d_k=d_k,
        hidden=_of_each_layer(settings, "feed_forward_length", layers),
        words=_words(read),
        context=settings.whole("context_length"),
        norm=family.norm,
        epsilon=settings.number(family.epsilon),
        activation=family.activation,
        gated=family.gated,
        gate=family.gate,
        rotary=rotary,
        own_rotary=own_rotary,
        windows=windows,
        tied="output.weight" not in read.tensors,
        biases=_biases(read) if family.biases is None else family.biases,
        query_key_norm=family.query_key_norm,
        placement=family.placement,
        scales_embeddings=family.scales_embeddings,
        norm_after=family.norm_after,
        divisor=_divisor(settings, family, layers, max(1, width // heads)),
        embedding_factor=settings.number_or_none(keys.embeddings, None) if keys else None,
        output_factor=settings.number_or_none(keys.outputs, None) if keys else None,
        logit_divisor=settings.number(keys.logits) if keys else None,
        score_cap=settings.number_or_none(*family.score_cap) if family.score_cap else None,
        logit_cap=settings.number_or_none(*family.logit_cap) if family.logit_cap else None,
        normalize=family.normalize,
        parallel=bool(family.parallel) and settings.flag(family.parallel, True),
    )
    architecture = _with_experts(architecture, settings, family)
    settings.only("attention.causal", True)
    settings.nothing_else(HARMLESS, MEANINGS)
    settings.check()
    return architecture


def _of_each_layer(
    settings: CheckpointSettings, key: str, layers: int, default: int | None = None
) -> int:
    """Return a number that a file may also write as a list, with an entry for each layer."""
    if not isinstance(settings.get(key), list):
        return settings.whole(key, default)
    found = settings.entries(key, int, layers)
    if len({*found}) > 1:
        settings.refuse(key, "the layers differ, which is not supported")
    elif found and found[0] < 1:
        settings.wrong(key, "expected positive numbers")
    return max([1, *found[:1]])


def _words(read: GGUFFile) -> int:
    """Return the size of the vocabulary from the embeddings; not every file has a value for it."""
    embeddings = read.tensors.get("token_embd.weight")
    if embeddings is None:
        raise TracerError(Problem("missing", read.file, address="token_embd.weight"))
    return embeddings.shape[0]


def _biases(read: GGUFFile) -> str:
    """Return the projections with biases in the first layer; all other layers must match it."""
    names = {"Q": "attn_q", "K": "attn_k", "V": "attn_v", "O": "attn_output", "F": "ffn_gate_exps"}
    return "".join(part for part in names if f"blk.0.{names[part]}.bias" in read.tensors)


def _divisor(
    settings: CheckpointSettings, family: GGUFFamily, layers: int, share: int
) -> float | None:
    """Return the divisor of the scores; None for √d_k. `share`: the width over the heads."""
    if family.factors:
        factor = settings.number_or_none(family.factors.scores, None)
        return factor and 1 / factor
    return math.sqrt(share) if layers == family.widest else None


def _windows(
    settings: CheckpointSettings, family: GGUFFamily, layers: int
) -> tuple[int | None, ...]:
    """Return the window of each layer."""
    if not family.windows:
        return (None,) * layers
    window = settings.get(WINDOW, family.missing_window)
    if not window:
        return (None,) * layers
    window = settings.whole(WINDOW, family.missing_window)
    if family.full is None:
        return (window,) * layers
    full = settings.whole(f"{WINDOW}_pattern", family.full)
    return tuple(window if layer % full else None for layer in range(1, layers + 1))


def _with_experts(
    dense: Architecture, settings: CheckpointSettings, family: GGUFFamily
) -> Architecture:
    """Return the architecture with the experts of a file, if it has any."""
    if not family.expert_units and not (family.may_route and settings.get("expert_count")):
        return dense
    top, hidden = settings.whole("expert_used_count"), dense.hidden
    if family.expert_units:
        hidden = settings.whole(family.expert_units, max(1, hidden // top))
    return replace(dense, experts=settings.whole("expert_count"), top=top, hidden=hidden)


def _rotary(
    settings: CheckpointSettings, read: GGUFFile, family: GGUFFamily, d_k: int
) -> RotaryPositions:
    """Return the rotary positions of a file."""
    assert family.rotary
    rotated = settings.whole("rope.dimension_count", d_k)
    if not family.rotates_part:
        settings.only("rope.dimension_count", d_k)
    elif rotated > d_k or rotated % 2:
        settings.wrong("rope.dimension_count", f"expected an even number up to {d_k}")
    if family.rotates_if:
        settings.only(family.rotates_if, True, "queries and keys are not rotated")
    kind, scale = _scale(settings)
    factors = (scale,) * (rotated // 2) if kind == "linear" and scale != 1 else None
    tensor = read.tensors.get("rope_freqs.weight")
    if tensor is not None:
        if tensor.shape != (d_k // 2,):
            message = f"{written_shape(tensor.shape)}, expected {d_k // 2}: a factor for each pair"
            raise TracerError(Problem(message, read.file, address=tensor.name))
        factors = tuple(scale * float(each) for each in tensor.read(slice(None)))
        if not all(0 < each < math.inf for each in factors):
            raise TracerError(Problem("expected positive numbers", read.file, address=tensor.name))
    base = settings.number("rope.freq_base", 10000.0)
    scaling = _yarn(settings, rotated, base, scale) if kind == "yarn" else None
    if scaling and (tensor is not None or family.near_base):
        settings.wrong("rope.scaling.type", "expected none or linear for this file's frequencies")
    if not scaling:
        settings.only("rope.scaling.attn_factor", 1.0, "cosines and sines have a factor")
    share = rotated / d_k
    if columns_of_share(d_k, share) < rotated:
        share = math.nextafter(share, 1)
    return RotaryPositions(base, family.rotary, factors, share, scaling)


def _scale(settings: CheckpointSettings) -> tuple[str, float]:
    """Return the kind of scaling and its factor, which has an older key, too."""
    kinds = {name: name for name in ("linear", "none", "yarn")}
    kind = settings.one_of("rope.scaling.type", kinds, "linear")
    keys = [key for key in ("rope.scaling.factor", "rope.scale_linear") if settings.says(key)]
    if kind == "none" or not keys or settings.get(keys[0]) == 0:
        return kind, 1.0
    return kind, settings.number(keys[0])


def _yarn(settings: CheckpointSettings, width: int, base: float, scale: float) -> RotaryScaling:
    """Return the settings of YaRN; llama.cpp reads its limits in no family that is supported."""
    for key, default in (("fast", 32.0), ("slow", 1.0)):
        settings.only(f"rope.scaling.yarn_beta_{key}", default, "it is not read")
    longest = "rope.scaling.original_context_length"
    context = settings.whole(longest if settings.get(longest) else "context_length")
    slow, fast = (yarn_pair(width, base, context, turns) for turns in (1, 32))
    if min(math.ceil(slow), width - 1) < max(math.floor(fast), 0):
        settings.wrong("rope.scaling.type", "YaRN divides no pairs of this context and base")
    attention = settings.number("rope.scaling.attn_factor", 1.0)
    attention *= 0.1 * math.log(max(1.0, scale)) + 1
    read = {"factor": scale, "original_max_position_embeddings": float(context)}
    return {"kind": "yarn", **read, "attention_factor": attention, "truncate": True}


def _by_layer(
    settings: CheckpointSettings,
    rotary: RotaryPositions,
    family: GGUFFamily,
    windows: Sequence[int | None],
) -> tuple[RotaryPositions, dict[int, RotaryPositions | None]]:
    """Return the rotary positions of most layers, and those of the others by number."""
    layers = range(1, len(windows) + 1)
    if family.unrotated:
        return rotary, {layer: None for layer in layers if layer % family.unrotated == 0}
    if family.near_base is None or not any(windows):
        return rotary, {}
    base = settings.number("rope.freq_base_swa", family.near_base)
    full = [layer for layer in layers if windows[layer - 1] is None]
    return RotaryPositions(base, rotary.layout, None), dict.fromkeys(full, rotary)
