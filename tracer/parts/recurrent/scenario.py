"""Attention that keeps a matrix, its state, in place of all keys and values."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, Discriminator, Tag

from tracer.checkpoints.architecture import Architecture
from tracer.scenario.expected import Known
from tracer.scenario.fields import (
    MAPPING,
    NUMBER,
    ROW,
    AtLeastOne,
    Frozen,
    Matrix,
    NotNegative,
    OrNone,
    Row,
    Shape,
    Single,
    described,
)
from tracer.scenario.part import ScenarioPart, ShapeChecker, keys_of
from tracer.scenario.reader import YamlPath


class Gate(Frozen):
    """A gate that is computed for each token and head: σ(x W_A + b_A).

    With `A_log`, it is e^(-e^A_log · softplus(x W_A + b_A)) (Mamba-2, Dao and Gu 2024).
    """

    W_A: Annotated[Matrix, Shape(("width", "heads"))] = described(
        "Weights of the gate: one row per feature, one column per head.", "[[0.5], [1]]"
    )
    b_A: Row | None = described("Bias of the gate, one number per head.", "[2]", None)
    A_log: Annotated[Row | None, Shape(("heads",))] = described(
        "One number per head. With it, the gate is exp(-exp(A_log) · softplus(x W_A + b_A)); "
        "without it, it is the sigmoid of x W_A + b_A.",
        "[0.5]",
        None,
    )


class Strength(Frozen):
    """How strongly to write, computed for each token and head: σ(x W_B + b_B)."""

    W_B: Annotated[Matrix, Shape(("width", "heads"))] = described(
        "Weights of β: one row per feature, one column per head.", "[[0.5], [1]]"
    )
    b_B: Row | None = described("Bias of β, one number per head.", "[0]", None)


class UnitLength(Frozen):
    """x / √(Σ x² + ε): a vector of length 1."""

    epsilon: NotNegative = described(
        "ε, added to the sum of squares under the square root.", "0.000001", Decimal(0)
    )


def _kind(value: Any) -> str:
    if isinstance(value, dict | BaseModel):
        return MAPPING
    return ROW if isinstance(value, list) else NUMBER


GateOfToken: TypeAlias = Annotated[
    Annotated[Single, Tag(NUMBER)] | Annotated[Row, Tag(ROW)] | Annotated[Gate, Tag(MAPPING)],
    Discriminator(_kind),
]
"""A number for all tokens, a number for each token, or weights that compute it."""

StrengthOfToken: TypeAlias = Annotated[
    Annotated[Single, Tag(NUMBER)] | Annotated[Row, Tag(ROW)] | Annotated[Strength, Tag(MAPPING)],
    Discriminator(_kind),
]
"""The same of β."""


class AttentionKeys(Frozen):
    """The keys of an attention."""

    kind: Literal["softmax", "linear", "delta"] = described(
        "How heads read other tokens: with a softmax over scores; from a state to which each token "
        "adds its key times its value (linear, Katharopoulos et al. 2020); or from a state in "
        "which each token corrects what is stored for its key (delta, Schlag et al. 2021). Default "
        "scale: sqrt, as for scores.",
        "delta",
        "softmax",
    )
    gate: Annotated[GateOfToken | None, Shape(("keys",), learned=False)] = described(
        "The factor from 0 to 1 that keeps the state before each token (Yang et al. 2024): a "
        "number, one number per token, or weights that compute it. Default: 1.",
        "0.9",
        None,
    )
    beta: Annotated[StrengthOfToken | None, Shape(("keys",), learned=False)] = described(
        "With kind: delta, the share from 0 to 2 of the error that is written: a number, one "
        "number per token, or weights that compute it. Default: 1.",
        "0.5",
        None,
    )
    feature_map: Literal["elu_plus_1", "relu", "none"] = described(
        "The function of queries and keys: elu(x) + 1 (Katharopoulos et al. 2020), relu or none.",
        "elu_plus_1",
        "none",
    )
    normalizer: bool = described(
        "With kind: linear, whether to divide what a query reads by its product with the sum of "
        "the keys.",
        "true",
        False,
    )
    unit_length: OrNone[UnitLength] = described(
        "Whether to divide each query and each key by its length.", "{epsilon: 0.000001}", None
    )
    chunk: AtLeastOne | None = described(
        "The number of tokens in a chunk, if the output is also computed in chunks (Yang et al. "
        "2024).",
        "2",
        None,
    )


NEEDS_STATE = ("gate", "beta", "feature_map", "normalizer", "unit_length", "chunk")
"""Keys that need a kind with a state."""

OF_SCORES = ("softcap", "blocks", "latent", "mask")
"""Keys of an attention that change scores, keys that a cache keeps, or which tokens are read."""

EPSILON_OF_LENGTH = Decimal("0.000001")
"""ε of the length of queries and keys in Qwen3-Next, which no configuration has."""

LIMITS = {"gate": 1, "beta": 2}


def check(sizes: ShapeChecker, place: YamlPath, known: dict[str, Known]) -> None:
    """Check the gate and β of an attention, and that nothing else would change its scores."""
    kind = sizes.part(*place, "kind")
    if kind not in ("linear", "delta"):
        for key in NEEDS_STATE:
            if sizes.has(*place, key) and sizes.part(*place, key) != "none":
                sizes.report((*place, key), "expected only with kind: linear or kind: delta")
        return
    _check_place(sizes, place, kind)
    heads = len(sizes.entries(*place, "heads"))
    own = {"width": known["width"], "heads": Known(heads, "", "one per head")}
    if kind == "linear" and sizes.has(*place, "beta"):
        sizes.report((*place, "beta"), "expected only with kind: delta")
    if sizes.part(*place, "normalizer") == "true" and sizes.has(*place, "chunk"):
        sizes.report((*place, "chunk"), "expected only without a normalizer")
    if kind == "delta" and sizes.part(*place, "normalizer") == "true":
        sizes.report((*place, "normalizer"), "expected only with kind: linear")
    for key, form in (("gate", Gate), ("beta", Strength)):
        at: YamlPath = (*place, key)
        match sizes.part(*at):
            case dict():
                if sizes.is_typed(*place):
                    message = (
                        "queries, keys and values are typed, so that it has no vectors to read"
                    )
                    sizes.report(at, f"{message}; expected a number, or one per token")
                    continue
                sizes.matrices(form, at, own, {})
                sizes.length((*at, "A_log"), heads, "one per head", "number")
            case list() as row:
                sizes.length(at, known["keys"].size, "one per token", "number")
                for i, number in enumerate(row):
                    _check_number(sizes, (*at, i), number, LIMITS[key])
            case number:
                _check_number(sizes, at, number, LIMITS[key])


def _check_number(sizes: ShapeChecker, at: YamlPath, typed: Any, most: int) -> None:
    """Report a typed gate or β that is out of range, and a gate by which a chunk cannot divide."""
    try:
        fits = 0 <= Decimal(typed) <= most
        if "gate" in at and not Decimal(typed) and sizes.has(*at[: at.index("gate")], "chunk"):
            sizes.report(at, "0, by which a chunk divides; expected a larger gate, or no chunk")
    except (ArithmeticError, TypeError, ValueError):
        return  # reported as no number
    if not fits:
        sizes.report(at, f"expected a number from 0 to {most}, got {typed}")


def _check_place(sizes: ShapeChecker, place: YamlPath, kind: str) -> None:
    """Report what a state cannot be beside."""
    reads = f"kind: {kind} reads the tokens one after the other"
    if "cross_attention" in place or place[0] == "encoder":
        sizes.report((*place, "kind"), f"{reads}, expected only in the decoder's self-attention")
        return
    for key in OF_SCORES:
        if sizes.has(*place, key):
            sizes.report(
                (*place, key), f"kind: {kind} has no softmax over scores, expected no {key}"
            )
    for i, _ in enumerate(sizes.entries(*place, "heads")):
        if sizes.has(*place, "heads", i, "sink"):
            message = f"kind: {kind} has no softmax over scores, expected no sink"
            sizes.report((*place, "heads", i, "sink"), message)
    if sizes.has("mask") and sizes.part("mask") != "causal":
        sizes.report(("mask",), f"{reads}, expected mask: causal")
    elif sizes.fills_in:
        sizes.report((*place, "kind"), f"{reads}, expected softmax with objective: masked")
    if sizes.has("padding"):
        sizes.report(("padding",), f"{reads}, so that no token can be hidden; expected no padding")
    if sizes.has("positions", "alibi"):
        sizes.report(("positions", "alibi"), f"kind: {kind} has no scores that ALiBi could lower")


def is_recurrent(attention: Any) -> bool:
    """Return whether an attention keeps a state in place of keys and values."""
    return keys_of(attention, AttentionKeys).kind != "softmax"


def trained_layer(architecture: Architecture, layer: int) -> Mapping[str, Any]:
    """The gated delta rule of one layer of a checkpoint, if it has it."""
    if not architecture.is_delta(layer):
        return {}
    return {
        "kind": "delta",
        "gate": Gate.model_construct(),
        "beta": Strength.model_construct(),
        "unit_length": UnitLength.model_construct(epsilon=EPSILON_OF_LENGTH),
    }


PART = ScenarioPart(
    keys={"Attention": AttentionKeys},
    attention=check,
    trained_layer=trained_layer,
    variants=(
        ("without the gate of the state", AttentionKeys, lambda _: {"gate": None}),
        ("without β", AttentionKeys, lambda _: {"beta": None}),
        (
            "with queries and keys of any length",
            AttentionKeys,
            lambda _: {"unit_length": None},
        ),
    ),
)
