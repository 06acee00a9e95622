"""Filters that a head's queries, keys and values are convolved with along the tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from tracer.scenario.expected import Known
from tracer.scenario.fields import Frozen, Matrix, Shape, described
from tracer.scenario.part import ScenarioPart, ShapeChecker
from tracer.scenario.reader import YamlPath

FILTERS = {"conv_Q": "Q", "conv_K": "K", "conv_V": "V"}
"""The key of each filter, and what it convolves."""


def _filter(what: str, of: str) -> Matrix | None:
    found: Matrix | None = described(
        f"The filter of a causal convolution of the {what} along the tokens (So et al. 2021): one "
        f"row per token of the window, the last for the token itself, one column per column of "
        f"{of}.",
        "[[0.5, 0.5], [1, 1]]",
        None,
    )
    return found


class HeadKeys(Frozen):
    """The keys of a head."""

    conv_Q: Annotated[Matrix | None, Shape(("window of Q", "d_k"))] = _filter("queries", "W_Q")
    conv_K: Annotated[Matrix | None, Shape(("window of K", "d_k"))] = _filter("keys", "W_K")
    conv_V: Annotated[Matrix | None, Shape(("window of V", "d_v"))] = _filter("values", "W_V")


class AttentionKeys(Frozen):
    """The key of an attention."""

    conv_activation: Literal["silu", "none"] = described(
        "The activation function behind the convolutions: silu (Yang et al. 2024) or none (So et "
        "al. 2021).",
        "none",
        "silu",
    )


def prepare(sizes: ShapeChecker, place: YamlPath, known: dict[str, Known]) -> None:
    """Let each filter have as many rows as its author likes."""
    known |= {f"window of {letter}": Known(None) for letter in FILTERS.values()}


def check(sizes: ShapeChecker, place: YamlPath, names: Mapping[str, str]) -> None:
    """Check where filters are, and that tokens are read in order there."""
    filters = [
        (head, name)
        for i, _ in enumerate(sizes.entries(*place, "heads"))
        for head in [(*place, "heads", i)]
        for name in FILTERS
        if sizes.has(*head, name)
    ]
    if sizes.has(*place, "conv_activation") and not filters:
        message = "a function behind convolutions, but no head has conv_Q, conv_K or conv_V"
        sizes.report((*place, "conv_activation"), message)
    wrong = next(_misplaced(sizes, place), None)
    for head, name in filters:
        at: YamlPath = (*head, name)
        if wrong:
            sizes.report(at, wrong)
        elif name != "conv_Q" and sizes.has(*head, "shares"):
            shared = sizes.part(*head, "shares")
            message = f"the keys and values are those of head {shared}, expected no {name} here"
            sizes.report(at, message)
        elif sizes.part(*at) == "identity" or sizes.has(*at, "random"):
            sizes.report(at, "how many tokens? expected rows of numbers: [[0.5, 0.5], [1, 1]]")


def _misplaced(sizes: ShapeChecker, place: YamlPath) -> Iterator[str]:
    """Yield why an attention cannot have filters."""
    if "cross_attention" in place or place[0] == "encoder":
        yield "a convolution along the tokens, expected only in the decoder's self-attention"
    if sizes.is_typed(*place):
        yield "queries, keys and values are typed, expected W_Q, W_K and W_V"
    if sizes.has(*place, "latent"):
        yield "a convolution in latent attention is not supported"
    mask: YamlPath = (*place, "mask") if sizes.has(*place, "mask") else ("mask",)
    if sizes.part(*mask) not in (None, "causal") and not sizes.has(*mask, "window"):
        yield "a convolution reads earlier tokens only, expected mask: causal"
    if sizes.has("padding"):
        yield "a convolution mixes tokens, so that none can be hidden; expected no padding"


PART = ScenarioPart(
    keys={"Head": HeadKeys, "Attention": AttentionKeys},
    attention=prepare,
    heads=check,
    variants=(
        ("without the convolutions", HeadKeys, lambda _: dict.fromkeys(FILTERS)),
        (
            "with filters turned around",
            HeadKeys,
            lambda head: {
                name: own and own[::-1] for name in FILTERS for own in [getattr(head, name)]
            },
        ),
        (
            "without the activation behind the convolutions",
            AttentionKeys,
            lambda _: {"conv_activation": "none"},
        ),
        (
            "with SiLU behind the convolutions",
            AttentionKeys,
            lambda _: {"conv_activation": "silu"},
        ),
    ),
)
