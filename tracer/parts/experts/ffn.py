"""An FFN of several networks, the experts: its keys, and checks of their shapes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from tracer.checkpoints.architecture import Architecture
from tracer.parts.experts.scenario import DimensionsKeys
from tracer.scenario import fields
from tracer.scenario.expected import OF_INPUT, Known, Size, typed_size
from tracer.scenario.fields import Matrix, Row, Shape, described
from tracer.scenario.networks import Network, SubLayer
from tracer.scenario.part import FormOfFFN, ShapeChecker, keys_of, trained_keys
from tracer.scenario.reader import YamlPath

PER_EXPERT = "one per expert"


class Expert(Network):
    """A feed-forward network inside a sub-layer: W_1 of shape (d, d_ff), W_2 of shape (d_ff, d).

    With W_3, of shape (d, d_ff), the activation is a gate (Shazeer 2020): f(x W_1) ⊙ x W_3.
    """


class MixtureOfExperts(SubLayer):
    """Feed-forward networks of which a router chooses some for each token (Shazeer et al. 2017).

    The output is the sum of the chosen experts' outputs, each multiplied by its weight. The weights
    are the softmax of the chosen logits (Mixtral), or with `normalize: false` the chosen entries of
    the softmax of all logits. A shared expert is added for every token (DeepSeekMoE). With a gate,
    its output y is first multiplied by one number for each token, sigmoid(x w) (Qwen1.5-MoE).
    """

    router: Annotated[Matrix, Shape(("width", "experts"))] = described(
        "Router weights: one row per feature, one column per expert.", "[[1, -1], [0, 1]]"
    )
    # No size of dimensions has this name, so that a decoder by its dimensions has no such bias.
    router_bias: Annotated[Row | None, Shape(("routes",))] = described(
        "Bias of the router, one number per expert (gpt-oss).", "[0, 0.5]", None
    )
    top: fields.Count = described(
        "The number of experts for each token: those with the largest logits, of equal logits the "
        "first.",
        "1",
        2,
    )
    normalize: bool = described(
        "Whether the weights of the chosen experts add up to 1; if not, they are the chosen "
        "entries of a softmax over all experts.",
        "false",
        True,
    )
    experts: Annotated[tuple[Expert, ...], Field(min_length=1)] = described(
        "The experts, each a feed-forward network.", "[{W_1: …, W_2: …}, {W_1: …, W_2: …}]"
    )
    shared: Expert | None = described(
        "An expert whose output is added for every token.", "{W_1: …, W_2: …}", None
    )
    shared_gate: Annotated[Matrix | None, Shape(("width", "gate"))] = described(
        "The gate of the shared expert, one column: its output is multiplied by the sigmoid of the "
        "product of a token's vector and this column. Default: no gate.",
        "[[1], [-0.5]]",
        None,
    )

    @model_validator(mode="before")
    @classmethod
    def _weights_in_experts(cls, value: Any) -> Any:
        own = [name for name in Network.model_fields if isinstance(value, dict) and name in value]
        if own:
            raise ValueError(f"{own[0]} beside experts, expected it in each of the experts")
        return value


def check(sizes: ShapeChecker, place: YamlPath, width: Size) -> Size:
    """Check a router and its experts; return the width of their outputs."""
    number, top = sizes.size(*place, "experts"), typed_size(sizes.part(*place, "top")) or 2
    known = {"width": Known(width, OF_INPUT), "experts": Known(number, of_columns=PER_EXPERT)}
    known["gate"] = Known(1, of_columns="one number per token")
    sizes.matrices(MixtureOfExperts, place, known, {})
    sizes.length((*place, "router_bias"), number, PER_EXPERT, "number")
    if number is not None and top > number:
        at = (*place, "top") if sizes.has(*place, "top") else place
        sizes.report(at, f"top {top}, expected at most {number} ({PER_EXPERT})")
    if sizes.has(*place, "shared_gate") and not sizes.has(*place, "shared"):
        sizes.report((*place, "shared_gate"), "there is no shared expert, expected shared")
    experts: list[YamlPath] = [(*place, "experts", i) for i in range(number or 0)]
    out: Size = None
    for each in (*experts, (*place, "shared")):
        if isinstance(sizes.part(*each), dict):
            as_the_first = Known(out, of_columns="as many as in the first expert")
            out = sizes.network(each, width, None if out is None else as_the_first)
    return out


def trained(architecture: Architecture, around: Mapping[str, Any]) -> MixtureOfExperts | None:
    """The experts of a checkpoint, without their numbers."""
    if architecture.experts is None:
        return None
    expert = _expert(architecture, trained_keys("Network", architecture, {}))
    return MixtureOfExperts.model_construct(
        experts=(expert,) * architecture.experts,
        shared=expert if architecture.shared else None,
        top=architecture.top,
        normalize=architecture.normalize,
        **around,
    )


def by_dimensions(dimensions: Any, around: Mapping[str, Any]) -> MixtureOfExperts | None:
    """The experts of a scenario that has dimensions, without their numbers."""
    sizes = keys_of(dimensions, DimensionsKeys)
    if sizes.experts is None:
        return None
    expert = _expert(dimensions, {})
    return MixtureOfExperts.model_construct(
        experts=(expert,) * sizes.experts,
        shared=expert if sizes.shared else None,
        top=_top(sizes),
        **around,
    )


def _expert(given: Any, keys: Mapping[str, Any]) -> Expert:
    return Expert.model_construct(**{"activation": given.activation, **keys})


def _top(sizes: DimensionsKeys) -> int:
    return sizes.top or 2


def misfits(dimensions: Any) -> Iterator[tuple[str, str]]:
    """Yield the keys that need experts, and more experts for each token than there are."""
    sizes = keys_of(dimensions, DimensionsKeys)
    if sizes.experts is None:
        for name, value in (("top", sizes.top), ("shared", sizes.shared and "true")):
            if value:
                yield name, f"{value}, but there are no experts, expected experts: 8"
    elif _top(sizes) > sizes.experts:
        yield "top", f"{_top(sizes)}, expected at most {sizes.experts}, the experts"


def _of_several(settings: Mapping[str, Any]) -> Callable[[MixtureOfExperts], dict[str, Any]]:
    """Return a change of a choice of experts; one of all experts is no choice."""
    return lambda part: {**settings} if len(part.experts) > 1 else {}


PART = FormOfFFN(
    form=MixtureOfExperts,
    key="experts",
    words="experts, with a router that chooses some for each token",
    check=check,
    trained=trained,
    by_dimensions=by_dimensions,
    misfits=misfits,
    variants=tuple(
        (name, MixtureOfExperts, _of_several(settings))
        for name, settings in (
            ("with weights of experts that add up to 1", {"normalize": True}),
            ("with experts weighted by a softmax over all", {"normalize": False}),
            ("with one expert for each token", {"top": 1}),
            ("with two experts for each token", {"top": 2}),
        )
    ),
)
