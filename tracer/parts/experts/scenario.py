"""The keys of dimensions with experts."""

from __future__ import annotations

from tracer.scenario.fields import Count, Frozen, described
from tracer.scenario.part import ScenarioPart


class DimensionsKeys(Frozen):
    """The keys of the dimensions of a layer."""

    experts: Count | None = described(
        "The number of experts that a router chooses from in each layer. Default: a single FFN.",
        "8",
        None,
    )
    top: Count | None = described("The number of experts for each token. Default: 2.", "1", None)
    shared: bool = described(
        "Whether the output of one more expert is added for every token.", "true", False
    )


PART = ScenarioPart(keys={"LayerDimensions": DimensionsKeys})
