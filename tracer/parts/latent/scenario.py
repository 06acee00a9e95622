"""Keys and values, and perhaps queries, are computed from a shorter vector, the latent vector."""

from __future__ import annotations

from typing import Annotated, Any

from tracer.scenario.expected import Known
from tracer.scenario.fields import Frozen, Matrix, Shape, described
from tracer.scenario.norms import Normalization
from tracer.scenario.part import ScenarioPart, ShapeChecker, keys_of
from tracer.scenario.reader import YamlPath


class Latent(Frozen):
    """What the heads of an attention share: C = X W_DKV, and the rotary part of their keys."""

    W_DKV: Annotated[Matrix, Shape(("source", "latent"))] = described(
        "Weights of the latent vector that W_K and W_V read: one row per feature.", "[[1], [0.5]]"
    )
    norm: Normalization | None = described(
        "The norm of this latent vector.", "{kind: rms_norm, gain: [1, 1]}", None
    )
    W_DQ: Annotated[Matrix | None, Shape(("width", "query_latent"))] = described(
        "Weights of the latent vector that W_Q and W_QR read: one row per feature. Without it, "
        "they read what attention reads.",
        "[[1], [0.5]]",
        None,
    )
    query_norm: Normalization | None = described(
        "The norm of the latent vector of queries.", "{kind: rms_norm, gain: [1, 1]}", None
    )
    W_KR: Annotated[Matrix | None, Shape(("source", "rotated"))] = described(
        "Weights of the rotary part of the keys, which all heads share: one row per feature.",
        "[[1, 0], [0, 1]]",
        None,
    )


class AttentionKeys(Frozen):
    """The key of an attention."""

    latent: Latent | None = described(
        "Latent attention: keys and values are computed from a shorter vector that all heads "
        "share, of which a cache keeps one row per token (DeepSeek-V2, 2024).",
        "{W_DKV: [[1], [0.5]]}",
        None,
    )


class HeadKeys(Frozen):
    """The key of a head."""

    W_QR: Annotated[Matrix | None, Shape(("query_source", "rotated"))] = described(
        "With latent attention: weights of the rotary part of the queries, with the columns of "
        "W_KR.",
        "[[1, 0], [0, 1]]",
        None,
    )


def check(sizes: ShapeChecker, place: YamlPath, known: dict[str, Known]) -> None:
    """Check the latent vectors of an attention, and tell the heads what they read."""
    latent: YamlPath = (*place, "latent")
    heads = [(*place, "heads", i) for i, _ in enumerate(sizes.entries(*place, "heads"))]
    known["query_source"] = known["width"]
    with_rotary = [head for head in heads if sizes.has(*head, "W_QR")]
    if not sizes.has(*latent):
        for head in with_rotary:
            sizes.report((*head, "W_QR"), "a rotary part of queries, expected latent: {W_KR: …}")
        return
    for head in heads:
        if sizes.has(*head, "Q"):
            message = "typed queries, keys and values, and latent: {…}, expected only one of them"
            sizes.report((*head, "Q"), message)
            return
    is_rotary = sizes.has(*place[:-3], "positions", "rotary") and "cross_attention" not in place
    own = {"source": known["source"], "width": known["width"]}
    sizes.matrices(Latent, latent, own, {})
    for norm, of in (("norm", "latent"), ("query_norm", "query_latent")):
        if of in own:
            sizes.norm(latent, norm, own[of].size)
    if sizes.has(*latent, "query_norm") and not sizes.has(*latent, "W_DQ"):
        sizes.report((*latent, "query_norm"), "a norm of what W_DQ gives, expected W_DQ")
    if sizes.has(*latent, "W_KR"):
        known["rotated"] = own["rotated"]
        missing = [head for head in heads if head not in with_rotary]
        for head in missing:
            sizes.report((*head, "W_QR"), "missing, expected as many columns as W_KR has")
        if not is_rotary:
            form = "positions: {rotary: {…}}"
            sizes.report((*latent, "W_KR"), f"a rotary part without rotary positions: {form}")
    else:
        for head in with_rotary:
            sizes.report((*head, "W_QR"), "a rotary part of queries, expected latent: {W_KR: …}")
        if is_rotary:
            sizes.report(latent, "rotary positions without W_KR and W_QR, which they rotate")
    for head in heads:
        if sizes.has(*head, "shares"):
            sizes.report((*head, "shares"), "heads share the latent vector, expected W_K and W_V")
    for name in ("query_norm", "key_norm"):
        if sizes.has(*place, name):
            sizes.report((*place, name), "expected a norm of the latent vector: latent: {norm: …}")
    known["source"] = Known(own["latent"].size, "one per column of W_DKV")
    if sizes.has(*latent, "W_DQ"):
        per_column = Known(own["query_latent"].size, "one per column of W_DQ")
        known["width"] = known["query_source"] = per_column


def rotated_width(attention: Any) -> int | None:
    """The columns of W_KR; None without them."""
    latent = keys_of(attention, AttentionKeys).latent
    if latent is None or latent.W_KR is None:
        return None
    rows: Any = latent.W_KR
    return int(rows.shape[1]) if hasattr(rows, "shape") else len(rows[0])


PART = ScenarioPart(
    keys={"Attention": AttentionKeys, "Head": HeadKeys},
    attention=check,
    position_weights=("W_QR",),
    position_width=rotated_width,
)
