"""The mask of each layer: the tower's, or one of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

from tracer.decoder.axes import Axis
from tracer.decoder.inputs import attention_mask
from tracer.decoder.part import own_way
from tracer.decoder.tape import Tape
from tracer.decoder.value import Value
from tracer.scenario.fields import MaskOfLayer
from tracer.scenario.layers import Attention
from tracer.scenario.model import Scenario, Tower


@dataclass(eq=False)
class LayerMasks:
    """The masks of a tower, each (n, m), or None where every token may attend to every token.

    The first layer with a mask of its own records it; later layers with an equal one read it there.
    """

    tape: Tape
    scenario: Scenario
    queries: Axis
    tower: Value | None
    """The mask of the layers that have none of their own."""
    own: dict[MaskOfLayer, Value | None] = field(default_factory=dict)

    def of(self, part: Attention) -> Value | None:
        """Return the mask of an attention, recorded at the tape's place if it is new."""
        if part.mask is None:
            return self.tower
        if part.mask not in self.own:
            self.own[part.mask] = attention_mask(self.tape, self.scenario, part.mask, self.queries)
        return self.own[part.mask]


def layer_masks(tape: Tape, tower: Tower, queries: Axis) -> LayerMasks | None:
    """Return the masks of a tower; None for an encoder, whose tokens attend in both directions."""
    if not isinstance(tower, Scenario):
        return None
    parts = [layer.attention for layer in tower.layers if layer.attention]
    shared = any(part.mask is None and not own_way(part) for part in parts)
    mask = attention_mask(tape, tower, tower.mask, queries) if shared else None
    return LayerMasks(tape, tower, queries, mask)
