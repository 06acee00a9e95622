"""What an attention attends to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tracer.decoder import operations as op, roles
from tracer.decoder.axes import Axis
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value

OfTower: TypeAlias = Mapping[roles.Role, Any]
"""What the parts of a model have recorded for all layers of a tower, by one of their roles."""


@dataclass(frozen=True)
class AttentionInputs:
    """What the queries attend to: vectors (m, d_model), the mask (n, m), and the cache.

    Typed keys and values need no vectors, only the `tokens` of their rows.
    `earlier` finds the keys and values of an earlier pass by address; `new` says whether this pass
    adds rows to them. With `unmasked`, softmax is also computed without the mask; with `shifted`,
    each row's largest score is subtracted first. `only_hides`: the mask is 0 or -∞. `of_tower` is
    what the parts of the model have recorded for all layers. Earlier passes have read the `first`
    tokens.
    """

    vectors: Value | None
    tokens: Axis
    mask: Value | None
    earlier: dict[str, Value] | None
    new: bool
    shifted: bool
    unmasked: bool = False
    only_hides: bool = True
    of_tower: OfTower = field(default_factory=dict)
    first: int = 0


def with_rows_before(
    tape: Tape, together: roles.Role, new: Value, earlier: Mapping[str, Value]
) -> Value:
    """The rows of an earlier pass, then the new ones: (m, d), under the role `together`."""
    before = earlier.get(tape.address(together)) or earlier[new.address]
    return tape.record(together, op.Append(), before, new)
