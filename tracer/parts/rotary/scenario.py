"""Settings of rotary positions: of a tower, and of a single layer; and the widths of heads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar

from pydantic import Discriminator, Field, Tag, model_validator

from tracer.checkpoints.architecture import (
    Architecture,
    RotaryPositions,
    columns_of_share,
    yarn_pair,
)
from tracer.formula.numbers import as_typed
from tracer.names import count
from tracer.scenario import fields
from tracer.scenario.fields import Frozen, Row, described
from tracer.scenario.part import NamedPositions, ScenarioPart, ShapeChecker, scenario_parts
from tracer.scenario.reader import YamlPath

Share = Annotated[fields.Positive, Field(le=1)]


Divided = TypeVar("Divided", "Rotary", "RotaryOfLayer")


def check_one_of_factors(rotary: Divided) -> Divided:
    """Raise ValueError if frequencies have factors and a scaling."""
    if rotary.factors and rotary.scaling:
        raise ValueError("expected either factors or scaling")
    return rotary


NEEDED: Mapping[str, tuple[str, ...]] = {
    "linear": ("factor",),
    "dynamic": ("factor", "original_max_position_embeddings"),
    "llama3": (
        *("factor", "original_max_position_embeddings"),
        *("low_freq_factor", "high_freq_factor"),
    ),
    "yarn": ("factor", "original_max_position_embeddings"),
    "longrope": ("original_max_position_embeddings", "short_factor", "long_factor"),
}
"""The keys that each kind of scaling needs."""
OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "yarn": ("attention_factor", "beta_fast", "beta_slow", "truncate"),
    "longrope": ("attention_factor", "factor"),
}
"""The keys that it can have besides them."""


class RotaryScaling(Frozen):
    """How frequencies change for texts longer than those of the first training.

    The keys are those of `rope_parameters` in transformers.
    """

    kind: Literal["linear", "dynamic", "llama3", "yarn", "longrope"] = described(
        "Divide all frequencies by a factor (linear); divide slow ones by it, as Llama 3.1 does "
        "(llama3) or YaRN (yarn; Peng et al. 2023); choose the base by the number of tokens "
        "(dynamic); divide each by its own factor, chosen by the number of tokens (longrope; "
        "Ding et al. 2024).",
        "yarn",
    )
    factor: fields.Positive | None = described(
        "How many times longer texts can be; for longrope, without an attention_factor.", "4", None
    )
    original_max_position_embeddings: fields.Positive | None = described(
        "The number of tokens of the first training, for all kinds but linear.", "4096", None
    )
    low_freq_factor: fields.Positive | None = described(
        "For llama3: pairs that turn less often in the first training's context are divided.",
        "1",
        None,
    )
    high_freq_factor: fields.Positive | None = described(
        "For llama3: pairs that turn more often in the first training's context are kept.",
        "4",
        None,
    )
    beta_fast: fields.Positive | None = described(
        "For yarn: pairs that turn more often in the first training's context are kept. "
        "Default: 32.",
        "32",
        None,
    )
    beta_slow: fields.Positive | None = described(
        "For yarn: pairs that turn less often in the first training's context are divided. "
        "Default: 1.",
        "1",
        None,
    )
    truncate: bool = described(
        "For yarn: whether the first and the last divided pair are whole numbers.", "false", True
    )
    attention_factor: fields.Positive | None = described(
        "For yarn and longrope: the factor of cosines and sines. Default: computed from factor.",
        "1.1",
        None,
    )
    short_factor: Row | None = described(
        "For longrope: the divisor of each pair's frequency, for texts up to the first training's.",
        "[1, 2]",
        None,
    )
    long_factor: Row | None = described(
        "For longrope: the divisor of each pair's frequency, for longer texts.", "[1, 8]", None
    )

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        needed, known = NEEDED[self.kind], OPTIONAL.get(self.kind, ())
        for key in needed:
            if getattr(self, key) is None:
                raise ValueError(f"{self.kind} needs {', '.join(needed)}")
        for key in self.model_fields_set - {"kind", *needed, *known}:
            raise ValueError(f"{key} does not go with {self.kind}")
        if self.kind == "longrope" and self.factor is None and self.attention_factor is None:
            raise ValueError("longrope needs factor or attention_factor")
        if self.kind == "llama3" and self.turns[0] <= self.turns[1]:
            raise ValueError("expected low_freq_factor less than high_freq_factor")
        if self.kind == "yarn" and self.turns[0] <= self.turns[1]:
            raise ValueError("expected beta_slow (default 1) less than beta_fast (default 32)")
        return self

    @property
    def context(self) -> Decimal:
        """The number of tokens of the first training."""
        assert self.original_max_position_embeddings is not None
        return self.original_max_position_embeddings

    @property
    def turns(self) -> tuple[Decimal, Decimal]:
        """How often a pair turns in them of which all is kept, and one of which all is divided."""
        if self.kind == "llama3":
            assert self.low_freq_factor is not None and self.high_freq_factor is not None
            return self.high_freq_factor, self.low_freq_factor
        return self.beta_fast or Decimal(32), self.beta_slow or Decimal(1)

    def ramp(self, width: int, base: Decimal) -> tuple[Decimal | None, Decimal | None] | None:
        """Return between which pairs (YaRN) or turns (Llama 3.1) more and more is divided.

        None if nothing is. YaRN's pairs are those of transformers, where not all are in the head;
        one that is no whole number is None: it is computed where it can be printed.
        """
        if self.kind == "llama3":
            return self.turns
        if self.kind != "yarn":
            return None
        pairs = [
            yarn_pair(width, float(base), float(self.context), float(turns)) for turns in self.turns
        ]
        first, last = (math.floor(pairs[0]), math.ceil(pairs[1])) if self.truncate else pairs
        first, last = max(first, 0), min(last, width - 1)
        if first == 0 > last:
            return None
        if first == last:
            return as_typed(first), as_typed(first + 0.001)
        start, end = (as_typed(pair) if pair == int(pair) else None for pair in (first, last))
        return start, end

    def factors(self, pairs: int, tokens: int) -> tuple[Decimal, ...]:
        """Return the divisor of each frequency that does not depend on it; nothing if all are 1."""
        if self.kind == "longrope":
            return (self.long_factor if tokens > self.context else self.short_factor) or ()
        return (self.factor,) * pairs if self.kind == "linear" and self.factor else ()


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
    scaling: RotaryScaling | None = described(
        "How the frequencies change for long texts.", "{kind: linear, factor: 2}", None
    )

    _check = model_validator(mode="after")(check_one_of_factors)


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
    scaling: RotaryScaling | None = described(
        "How the frequencies change for long texts. Default: that of positions.rotary.",
        "{kind: linear, factor: 2}",
        None,
    )

    _check = model_validator(mode="after")(check_one_of_factors)

    def of(self, shared: Rotary) -> Rotary:
        """Return the layer's settings: its own, the others from the shared ones."""
        own = {name: own for name, own in self if own is not None}
        divided = {"factors": None, "scaling": None} if self.factors or self.scaling else {}
        return shared.model_copy(update=divided | own)


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


DIVISORS: tuple[YamlPath, ...] = (
    ("factors",),
    ("scaling", "short_factor"),
    ("scaling", "long_factor"),
)
"""Keys with a number for each pair."""


def _check_factors(counted: ShapeChecker, own: YamlPath, shared: YamlPath, width: int) -> None:
    """Check that each pair has a factor: those of a layer, or of `positions`."""
    share = _share(counted, own, shared)
    rotated = width * float(share)
    if rotated % 2:
        return
    pairs, meaning = int(rotated) // 2, "one per pair of rotated columns"
    for key in DIVISORS:
        counted.length((*own, *key), pairs, meaning, "number")
    if pairs == 1 and counted.part(*own, "scaling", "kind") == "dynamic":
        counted.report((*own, "scaling"), "one pair is rotated, expected more for dynamic")
    has_own = counted.has(*own, "factors") or counted.has(*own, "scaling")
    has_others = any(counted.has(*shared, *key) for key in DIVISORS)
    if has_others and not has_own and share != _share(counted, shared, shared):
        found = "another share with the factors of positions.rotary"
        counted.report(own, f"{found}, expected factors: {count(pairs, 'number')} ({meaning})")


def trained_positions(architecture: Architecture) -> Mapping[str, Any]:
    """The rotary positions of a checkpoint, if it has them."""
    rotary = architecture.rotary
    if rotary is None or not architecture.rotated:
        return {}
    return {"rotary": Rotary.model_construct(layout=rotary.layout, **_trained(rotary))}


def trained_layer(architecture: Architecture, layer: int) -> Mapping[str, Any]:
    """The rotary positions of one layer of a checkpoint, if it has its own."""
    if layer not in architecture.own_rotary:
        return {}
    own = architecture.own_rotary[layer]
    turns = RotaryOfLayer.model_construct(**_trained(own)) if own else "none"
    return {"rotary": turns}


def _trained(rotary: RotaryPositions) -> dict[str, Any]:
    scaling = {key: _as_typed(value) for key, value in (rotary.scaling or {}).items()}
    return {
        "base": as_typed(rotary.base),
        "share": as_typed(rotary.share),
        "factors": None if rotary.factors is None else _as_typed(rotary.factors),
        "scaling": RotaryScaling.model_construct(**scaling) if scaling else None,
    }


def _as_typed(value: Any) -> Any:
    """Return a setting of a checkpoint as it is in a scenario."""
    if isinstance(value, tuple):
        return tuple(map(as_typed, value))
    return as_typed(value) if isinstance(value, float) else value


def _all_columns(rotary: Rotary) -> dict[str, Any]:
    """Rotate all columns, unless each pair of the present ones has a factor."""
    return {} if rotary.factors else {"share": Decimal(1)}


def _with_base(base: int, rotary: Rotary) -> dict[str, Any]:
    return {"base": Decimal(base)}


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
        *(
            (f"with the rotary base {base}", Rotary, partial(_with_base, base))
            for base in (100, 1000, 10_000, 500_000, 1_000_000)
        ),
        ("with all columns rotated", Rotary, _all_columns),
        (
            "with the same rotary positions in every layer",
            AttentionKeys,
            lambda _: {"rotary": None},
        ),
    ),
)
