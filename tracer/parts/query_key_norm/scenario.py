"""Norms of queries and keys, before rotary positions or after them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from tracer.checkpoints.architecture import Architecture
from tracer.scenario.fields import Frozen, OrNone, described
from tracer.scenario.norms import Normalization
from tracer.scenario.part import ScenarioPart, ShapeChecker, keys_of
from tracer.scenario.reader import YamlPath

Placement: TypeAlias = Literal["before_rotary", "after_rotary"]


class QueryKeyNorm(Normalization):
    """The norm of queries or keys."""

    over: Literal["head", "heads"] = described(
        "Whether each head's numbers are normalized by themselves, with the same γ and β in all "
        "heads (head), or those of all heads together, with a γ and β for each column (heads).",
        "heads",
        "head",
    )
    placement: Placement = described(
        "Before rotary positions (before_rotary), or after them (after_rotary).",
        "after_rotary",
        "before_rotary",
    )


class AttentionKeys(Frozen):
    """The keys of an attention."""

    query_norm: OrNone[QueryKeyNorm] = described(
        "The norm of the queries.", "{kind: rms_norm, gain: [1, 1]}", None
    )
    key_norm: OrNone[QueryKeyNorm] = described(
        "The norm of the keys.", "{kind: rms_norm, gain: [1, 1]}", None
    )


def normalizes_rotated(attention: Any) -> bool:
    """Return whether an attention has a norm of queries or keys after rotary positions."""
    norms = keys_of(attention, AttentionKeys)
    own = (norms.query_norm, norms.key_norm)
    return any(norm is not None and norm.placement == "after_rotary" for norm in own)


def check(sizes: ShapeChecker, place: YamlPath, names: Mapping[str, str]) -> None:
    """Check the norms of an attention: γ and β fit those of each head, or of all together."""
    for norm, matrix in (("query_norm", names["Q"]), ("key_norm", names["K"])):
        at: YamlPath = (*place, norm)
        heads = [(*place, "heads", i) for i, _ in enumerate(sizes.entries(*place, "heads"))]
        widths = [width for head in heads if (width := sizes.widths.get((*head, matrix)))]
        different, per_column = sorted(set(widths)), f"one per column of {matrix}"
        if sizes.part(*at, "over") == "heads":
            different, per_column = [sum(widths)], f"{per_column} of all heads"
        if len(different) == 1:
            sizes.norm(place, norm, different[0], per_column)
        elif different:
            found = f"heads of {' and '.join(map(str, different))} columns, expected equal widths"
            for parameter in ("gain", "shift"):
                if sizes.has(*at, parameter):
                    sizes.report((*at, parameter), found)
            sizes.sample((*at, "deviation"), different[0])


def trained(architecture: Architecture, norm: Mapping[str, Any]) -> Mapping[str, Any]:
    """The norms of an attention of a checkpoint."""
    if architecture.query_key_norm is None:
        return {}
    placement = "after_rotary" if architecture.normalizes_rotated else "before_rotary"
    own = QueryKeyNorm.model_construct(
        **norm, over=architecture.query_key_norm, placement=placement
    )
    return {"query_norm": own, "key_norm": own}


PART = ScenarioPart(
    keys={"Attention": AttentionKeys},
    heads=check,
    trained={"Attention": trained},
    variants=(
        (
            "without norms of queries and keys",
            AttentionKeys,
            lambda _: {"query_norm": None, "key_norm": None},
        ),
    ),
)
