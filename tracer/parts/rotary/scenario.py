"""Settings of rotary positions: of a tower, and of a single layer; and the widths of heads."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from tracer.checkpoints.architecture import Architecture, RotaryPositions, columns_of_share
from tracer.formula.numbers import as_typed
from tracer.names import count
from tracer.scenario import fields
from tracer.scenario.fields import Frozen, Row, described
from tracer.scenario.part import NamedPositions, ScenarioPart, ShapeChecker, scenario_parts
from tracer.scenario.reader import YamlPath

Share = Annotated[fields.Positive, Field(le=1)]


class Rotary(Frozen):
    """Queries and keys are rotated by their position (Su et al. 2021); `start` is the first one."""

    base: fields.Positive = described(
        "The base of the frequencies; a larger base rotates the last pairs more slowly.",
        "10000",
        Decimal(10000),
    )
    layout: Literal["pairs", "halves"] = described(
        "Which columns form a pair: neighbors (pairs), or columns half the width apart (halves).",
        "halves",
        "pairs",
    )
    share: Share = described(
        "The share of each query's and key's columns that is rotated: the first ones; the others "
        "stay unchanged.",
        "0.25",
        Decimal(1),
    )
    start: fields.Position = described("The position of the first token.", "0", 0)
    factors: Row | None = described(
        "The divisor of each pair's frequency. Default: 1.", "[1, 8]", None
    )


class RotaryOfLayer(Frozen):
    """The settings that one layer changes; the others are those of `positions.rotary`."""

    base: fields.Positive | None = described(
        "The base of the frequencies. Default: that of positions.rotary.", "10000", None
    )
    share: Share | None = described(
        "The share of each query's and key's columns that is rotated. Default: that of "
        "positions.rotary.",
        "0.5",
        None,
    )
    factors: Row | None = described(
        "The divisor of each pair's frequency. Default: that of positions.rotary.", "[1, 8]", None
    )

    def of(self, shared: Rotary) -> Rotary:
        """Return the layer's settings: its own, the others from the shared ones."""
        return shared.model_copy(update={name: own for name, own in self if own is not None})


def _kind_of_layer_rotary(value: Any) -> str | None:
    if isinstance(value, dict):
        return fields.MAPPING
    return fields.WORD if value == "none" else None


OwnRotary: TypeAlias = Annotated[
    Annotated[Literal["none"], Tag(fields.WORD)] | Annotated[RotaryOfLayer, Tag(fields.MAPPING)],
    Discriminator(
        _kind_of_layer_rotary, fields.OWN_MESSAGE, "expected none or settings: {base: 10000}"
    ),
]
"""The rotary positions of one layer."""


class PositionKeys(Frozen):
    """The key of positions."""

    rotary: Rotary | None = described(
        "Queries and keys are rotated by an angle (Su et al. 2021).", "{base: 10000}", None
    )


class AttentionKeys(Frozen):
    """The key of an attention."""

    rotary: OwnRotary | None = described(
        "What differs from positions.rotary in this layer, or none: nothing is rotated.",
        "{base: 10000}",
        None,
    )


def rotated_width(attention: Any) -> int:
    """Return how many columns of queries and keys an attention rotates, if it rotates all."""
    return _rotated_apart(attention) or int(attention.heads[0].d_k)


def rotated_columns(attention: Any, rotary: Rotary) -> int:
    """Return how many columns of queries and keys an attention rotates; if odd, one more is."""
    return columns_of_share(rotated_width(attention), float(rotary.share))


def rotates_all(attention: Any) -> bool:
    """Return whether it can rotate whole queries and keys: no part rotates columns of its own."""
    return _rotated_apart(attention) is None


def _rotated_apart(attention: Any) -> int | None:
    widths = (part.position_width(attention) for part in scenario_parts() if part.position_width)
    return next(filter(None, widths), None)


def check(counted: ShapeChecker, tower: YamlPath) -> None:
    """Check that all rotated heads have the same width, and pairs of rotated columns."""
    shared: YamlPath = (*tower, "positions", "rotary")
    is_rotary = isinstance(counted.part(*shared), dict)
    rotated = {name for part in scenario_parts() for name in part.position_weights}
    settings, first = [shared], 0
    for number, _ in enumerate(counted.entries(*tower, "layers")):
        layer: YamlPath = (*tower, "layers", number)
        own: YamlPath = (*layer, "attention", "rotary")
        _check_use(counted, layer, is_rotary=is_rotary)
        if not is_rotary or counted.part(*own) == "none":
            continue
        share = _share(counted, own, shared)
        of_heads = {at: width for at, width in counted.widths.items() if at[:-3] == own[:-1]}
        instead = [at for at in of_heads if at[-1] in rotated]
        for matrix in instead or [at for at in of_heads if at[-1] in ("W_Q", "Q")]:
            if width := of_heads[matrix]:
                first = first or width
                _check_width(counted, matrix, width, share, first)
        settings.append(own)
    for place in settings if first else ():
        _check_factors(counted, place, shared, first)


def _check_use(counted: ShapeChecker, layer: YamlPath, *, is_rotary: bool) -> None:
    """Report settings of a layer that nothing is rotated by."""
    crossed: YamlPath = (*layer, "cross_attention", "rotary")
    own: YamlPath = (*layer, "attention", "rotary")
    if counted.has(*crossed):
        counted.report(crossed, "cross-attention has no rotary positions, expected no rotary")
    if counted.has(*own) and not is_rotary:
        form = "positions: {rotary: {…}}"
        counted.report(own, f"there are no rotary positions to change, expected {form}")


def _share(counted: ShapeChecker, own: YamlPath, shared: YamlPath) -> Decimal:
    """Return the share of columns that are rotated: that of a layer, or of `positions`."""
    shares = (counted.positive(*at, "share") for at in (own, shared))
    return next((share for share in shares if share), Decimal(1))


def _check_width(
    counted: ShapeChecker, matrix: YamlPath, width: int, share: Decimal, first: int
) -> None:
    rotated = width * float(share)
    found, expected = count(width, "column"), ""
    if rotated % 2:
        found += f", of which {as_typed(rotated):f} are rotated" * (share != 1)
        expected = "an even number of them (rotary positions rotate pairs)"
    elif width != first:
        expected = f"{first} (rotary positions: as many as in the first head)"
    if expected:
        counted.report(matrix, f"{found}, expected {expected}")


def _check_factors(counted: ShapeChecker, own: YamlPath, shared: YamlPath, width: int) -> None:
    """Check that each pair has a factor: those of a layer, or of `positions`."""
    share = _share(counted, own, shared)
    rotated = width * float(share)
    if rotated % 2:
        return
    pairs, meaning = int(rotated) // 2, "one per pair of rotated columns"
    counted.length((*own, "factors"), pairs, meaning, "number")
    has_others = counted.has(*shared, "factors") and not counted.has(*own, "factors")
    if has_others and share != _share(counted, shared, shared):
        found = "another share with the factors of positions.rotary"
        counted.report(own, f"{found}, expected factors: {count(pairs, 'number')} ({meaning})")


def trained_positions(architecture: Architecture) -> Mapping[str, Any]:
    """The rotary positions of a checkpoint, if it has them."""
    rotary = architecture.rotary
    if rotary is None or not architecture.rotated:
        return {}
    own = _trained(architecture, rotary)
    return {"rotary": Rotary.model_construct(layout=rotary.layout, **own)}


def trained_layer(architecture: Architecture, layer: int) -> Mapping[str, Any]:
    """The rotary positions of one layer of a checkpoint, if it has its own."""
    if layer not in architecture.own_rotary:
        return {}
    own = architecture.own_rotary[layer]
    turns = RotaryOfLayer.model_construct(**_trained(architecture, own)) if own else "none"
    return {"rotary": turns}


def _trained(architecture: Architecture, rotary: RotaryPositions) -> dict[str, Any]:
    factors = architecture.factors_of(rotary)
    return {
        "base": as_typed(rotary.base),
        "share": as_typed(rotary.share),
        "factors": None if factors is None else tuple(map(as_typed, factors)),
    }


def _all_columns(rotary: Rotary) -> dict[str, Any]:
    """Rotate all columns, unless each pair of the present ones has a factor."""
    return {} if rotary.factors else {"share": Decimal(1)}


PART = ScenarioPart(
    keys={"Positions": PositionKeys, "Attention": AttentionKeys},
    tower=check,
    trained_positions=trained_positions,
    trained_layer=trained_layer,
    positions={"rotary": NamedPositions({"rotary": {}}, of_pairs=True)},
    variants=(
        ("with rotary positions counted from 0", Rotary, lambda _: {"start": 0}),
        ("with rotary positions counted from 1", Rotary, lambda _: {"start": 1}),
        ("with neighboring columns rotated in pairs", Rotary, lambda _: {"layout": "pairs"}),
        ("with rotary pairs across the two halves", Rotary, lambda _: {"layout": "halves"}),
        ("with all columns rotated", Rotary, _all_columns),
        (
            "with the same rotary positions in every layer",
            AttentionKeys,
            lambda _: {"rotary": None},
        ),
    ),
)
