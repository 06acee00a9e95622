"""The number of blocks of keys."""

from __future__ import annotations

from tracer.scenario.expected import Known
from tracer.scenario.fields import AtLeastOne, Frozen, described
from tracer.scenario.part import ScenarioPart, ShapeChecker
from tracer.scenario.reader import YamlPath


class AttentionKeys(Frozen):
    """The key of an attention."""

    blocks: AtLeastOne | None = described(
        "The number of blocks of keys in which the softmax is also computed, with a running "
        "maximum and sum (FlashAttention, Dao et al. 2022).",
        "2",
        None,
    )


def check(sizes: ShapeChecker, place: YamlPath, known: dict[str, Known]) -> None:
    """Report more blocks than keys, and blocks beside a sink."""
    blocks, keys = sizes.positive(*place, "blocks"), known["keys"].size
    if blocks and keys and blocks > keys:
        message = f"expected at most {keys}, as many as there are keys, got {blocks:f}"
        sizes.report((*place, "blocks"), message)
    for i, _ in enumerate(sizes.entries(*place, "heads")):
        if sizes.has(*place, "blocks") and sizes.has(*place, "heads", i, "sink"):
            message = "a sink and a softmax in blocks, expected only one of them"
            sizes.report((*place, "heads", i, "sink"), message)


PART = ScenarioPart(keys={"Attention": AttentionKeys}, attention=check)
