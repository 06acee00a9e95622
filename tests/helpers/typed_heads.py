"""A random scenario made to start with typed queries, keys and values in place of embeddings."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

from tests.helpers.scenario_ways import trainable

Scenario = dict[str, Any]

OF_EMBEDDINGS = (
    *(
        "embeddings",
        "features",
        "text",
        "corpus",
        "merges",
        "token_ids",
        "embedding_scale",
        "embedding_norm",
        "token_types",
        "type_embeddings",
        "batch",
        "training",
        "generation",
    ),
)
"""What a scenario without embeddings cannot have."""


def start_with_typed_heads(spec: Scenario, rng: random.Random) -> None:
    """Replace the weights of the first sub-layer by queries, keys and values, if it has heads.

    Rarely the tokens go, too: the queries are then numbered.
    """
    layer = spec["layers"][0] if spec.get("layers") else {}
    name = next((key for key in ("attention", "cross_attention") if key in layer), "")
    unembedding = spec.get("unembedding", {})
    if not name or unembedding == "tied" or unembedding.get("W_U") == "tied":
        return
    examples = spec.get("training", ())
    if examples and "targets" not in spec:
        spec["tokens"], spec["targets"] = examples[0]["tokens"], examples[0]["targets"]
    for each in spec["layers"]:
        if "blocks" in each.get("attention", ()):
            each["attention"]["blocks"] = min(each["attention"]["blocks"], len(spec["tokens"]))
    crosses, part = name == "cross_attention", layer[name]
    if crosses:
        several = sum("cross_attention" in each for each in spec["layers"]) > 1
        if several or spec["encoder"].get("layers"):
            return
        spec["encoder"] = {"tokens": spec["encoder"]["tokens"]}
    keys = len(spec["encoder"]["tokens"] if crosses else spec["tokens"])
    part["heads"] = [_typed(head, len(spec["tokens"]), keys, part, rng) for head in part["heads"]]
    layer.pop("parallel", None)
    part.pop("latent", None)
    part.pop("output_gate", None)
    part.pop("conv_activation", None)
    for key in ("gate", "beta"):
        if isinstance(part.get(key), dict):  # weights, which would read vectors
            del part[key]
    part.pop("residual", None)
    part.pop("residual_scale", None)
    if rng.random() < 0.3:
        part["residual"] = False
    norm = part.get("norm", layer.get("norm", "none"))
    if norm != "none" and norm.get("placement") == "pre":
        part["norm"] = "none"
    for key in OF_EMBEDDINGS:
        spec.pop(key, None)
    positions = spec.get("positions", "none")
    if positions == "none" or not (
        {"rotary", "relative_bias"} & {*positions} or positions.get("alibi")
    ):
        spec.pop("positions", None)
    if rng.random() < 0.2:
        rows = _rows(len(spec["tokens"]), len(part["heads"][0]["V"][0]), rng)
        spec.setdefault("given", {})[f"gradient.layer1.{name}.head1.output"] = rows
    _keep_what_is_there(spec)
    if rng.random() < 0.15 and not {"padding", "targets"} & set(spec):
        del spec["tokens"]


def _typed(head: Scenario, n: int, m: int, part: Scenario, rng: random.Random) -> Scenario:
    own = part["heads"][head["shares"] - 1] if "shares" in head else head
    sizes = {"Q": (n, own["W_K"]), "K": (m, own["W_K"]), "V": (m, own["W_V"])}
    kept = {key: head[key] for key in ("labels", "shares", "sink") if key in head}
    names = ("Q",) if "shares" in head else ("Q", "K", "V")
    return kept | {name: _rows(sizes[name][0], len(sizes[name][1][0]), rng) for name in names}


def _rows(rows: int, columns: int, rng: random.Random) -> list[list[Decimal]]:
    numbers = ("0", "1", "-1", "0.5", "2", "1.25", "-0.75", "0.001", "3.1416")
    return [[Decimal(rng.choice(numbers)) for _ in range(columns)] for _ in range(rows)]


def _keep_what_is_there(spec: Scenario) -> None:
    """Drop given values, trained parameters and words about values that are gone."""
    gone = ("input", "embedding", "encoder.", "gradient.input")
    for key in ("given", "notes"):
        spec[key] = {at: x for at, x in spec.get(key, {}).items() if not at.startswith(gone)}
        if not spec[key]:
            del spec[key]
    if "trains" in spec.get("optimizer", {}):
        there = set(trainable(spec))
        trains = [each for each in spec["optimizer"].pop("trains") if each in there]
        spec["optimizer"] |= {"trains": trains} if trains else {}
    texts = (*(spec.get(key, "") for key in ("intro", "summary")), *spec.get("notes", {}).values())
    if any("{value input" in text for text in texts):
        for key in ("intro", "summary", "notes"):
            spec.pop(key, None)


def written_tokens(spec: Scenario) -> list[str]:
    """The tokens of a scenario, or the numbers of its queries."""
    if "tokens" in spec:
        return list(spec["tokens"])
    first = spec["layers"][0]
    part = first.get("attention") or first["cross_attention"]
    return [str(i) for i, _ in enumerate(part["heads"][0]["Q"], 1)]


def is_typed(spec: Scenario) -> bool:
    """Whether a scenario starts with typed queries, keys and values."""
    first = (spec.get("layers") or [{}])[0]
    part = first.get("attention") or first.get("cross_attention") or {}
    return any("Q" in head for head in part.get("heads", ()))
