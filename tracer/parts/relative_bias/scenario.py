"""The keys of relative biases, and the bucket of each distance (T5, Raffel et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated

from tracer.names import count
from tracer.scenario.expected import Known, typed_size
from tracer.scenario.fields import AtLeastOne, Count, Frozen, Matrix, Shape, described
from tracer.scenario.part import ScenarioPart, ShapeChecker
from tracer.scenario.reader import YamlPath

MAX_DISTANCE = 128
"""The default of T5."""


class RelativeBias(Frozen):
    """A table of biases that all layers share: a row for each bucket of distances."""

    table: Annotated[Matrix, Shape(("buckets", "heads"))] = described(
        "One row per bucket, one column per head: what is added to the scores.",
        "[[0.5], [0.2], [0], [-0.4]]",
    )
    buckets: Count | None = described(
        "The number of buckets. Default: the rows of the table.", "32", None
    )
    max_distance: AtLeastOne = described(
        "Tokens at this distance and beyond share the last bucket.", "128", MAX_DISTANCE
    )
    bidirectional: bool | None = described(
        "Whether later tokens have the second half of the buckets; if not, they have the bucket "
        "of the token itself. Default: true in an encoder and with mask: none, else false.",
        "true",
        None,
    )


class PositionKeys(Frozen):
    """The key of positions."""

    relative_bias: RelativeBias | None = described(
        "Each score gets a learned bias that depends on the distance of the two tokens (T5, "
        "Raffel et al. 2020).",
        "{max_distance: 8, table: [[0.5], [0.2], [0], [-0.4]]}",
        None,
    )


@dataclass(frozen=True)
class Buckets:
    """How distances are divided into buckets; `number` counts those of one direction.

    Distances below `exact` have a bucket each. The others share buckets that get wider with the
    logarithm of the distance; from `max_distance` on, all have the last one.
    """

    number: int
    max_distance: int
    bidirectional: bool

    @property
    def exact(self) -> int:
        """The number of distances that have a bucket of their own."""
        return self.number // 2

    def of_distance(self, distance: int) -> int:
        """Return the bucket of a distance, without a direction.

        exact + ⌊k ln(d / exact) / ln(max / exact)⌋ with k = number - exact, at most the last one.
        Whole numbers decide it, so that an integer logarithm is not rounded down.
        """
        return _bucket(self, distance)

    def of_offset(self, offset: int) -> int:
        """Return the bucket of a key by its position minus the query's."""
        if offset > 0:
            return self.number + self.of_distance(offset) if self.bidirectional else 0
        return self.of_distance(-offset)


@cache
def _bucket(buckets: Buckets, distance: int) -> int:
    exact = buckets.exact
    if distance < exact:
        return distance
    steps = buckets.number - exact
    reached = (
        step
        for step in range(steps - 1, -1, -1)
        if distance**steps * exact**step >= buckets.max_distance**step * exact**steps
    )
    return exact + next(reached)


def check(sizes: ShapeChecker, tower: YamlPath) -> None:
    """Check the table of a tower, its number of buckets, and the largest distance."""
    place: YamlPath = (*tower, "positions", "relative_bias")
    if not isinstance(sizes.part(*place), dict):
        return
    heads = None
    for layer, _ in enumerate(sizes.entries(*tower, "layers")):
        at: YamlPath = (*tower, "layers", layer, "attention", "heads")
        own = sizes.size(*at)
        if heads and own and own != heads:
            shared = f"{heads} (relative_bias has one column per head for all layers)"
            sizes.report(at, f"{count(own, 'head')}, expected {shared}")
        heads = heads or own
        kind = sizes.part(*at[:-1], "kind")
        if isinstance(kind, str) and kind != "softmax":
            sizes.report(place, f"kind: {kind} has no scores that a bias could be added to")
    if heads is None:
        sizes.report(place, "a bias of scores, but no layer has attention")
    table, said = (*place, "table"), typed_size(sizes.part(*place, "buckets"))
    if sizes.has(*table, "random") and said is None:
        sizes.report(table, "how many buckets? expected buckets: 32")
    known = {"buckets": Known(said, "one per bucket"), "heads": Known(heads, "", "one per head")}
    sizes.matrices(RelativeBias, place, known, {})
    turned = sizes.entries(*table, "transposed", 0)
    _check_buckets(sizes, tower, said or len(sizes.entries(*table) or turned))


def _check_buckets(sizes: ShapeChecker, tower: YamlPath, number: int) -> None:
    place: YamlPath = (*tower, "positions", "relative_bias")
    at = (*place, "buckets" if sizes.has(*place, "buckets") else "table")
    both = sizes.part(*place, "bidirectional")
    if both is None:
        both = "true" if tower or sizes.part("mask") == "none" or sizes.fills_in else "false"
    found = count(number, "bucket")
    if number and both == "true" and (number % 2 or number < 4):
        expected = "an even number, at least 4: half of them for later tokens"
        sizes.report(at, f"{found}, expected {expected} (bidirectional: true)")
    elif number == 1:
        sizes.report(at, f"{found}, expected at least 2")
    elif number:
        exact = number // 4 if both == "true" else number // 2
        furthest = sizes.positive(*place, "max_distance")
        if furthest is not None and furthest <= exact:
            reason = f"as many distances have a bucket of their own, of {found}"
            message = f"{furthest}, expected more than {exact}: {reason}"
            sizes.report((*place, "max_distance"), message)


PART = ScenarioPart(
    keys={"Positions": PositionKeys},
    tower=check,
    variants=(("without the relative bias", PositionKeys, lambda _: {"relative_bias": None}),),
)
