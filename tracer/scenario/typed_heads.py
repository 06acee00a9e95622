"""Typed queries, keys and values: where they may be, and what goes with them."""

from __future__ import annotations

from collections.abc import Iterator

from tracer.scenario.expected import Size
from tracer.scenario.fields import SINGLE
from tracer.scenario.layers import Head
from tracer.scenario.part import tower_keys
from tracer.scenario.parts import SUB_LAYERS, declared
from tracer.scenario.reader import YamlPath, is_on
from tracer.scenario.sizes import SizeChecker, is_tied

NAMES = {letter: letter for letter in "QKV"}
"""The keys of typed queries, keys and values."""

OF_EMBEDDINGS = (
    "features",
    "text",
    "corpus",
    "merges",
    "token_ids",
    "embedding_scale",
    "embedding_norm",
    "batch",
    "training",
    "generation",
)
"""Keys that need embeddings."""


def first_sub_layer(scenario: SizeChecker) -> YamlPath:
    """Return the path of the decoder's first sub-layer; () without layers."""
    for name in SUB_LAYERS:
        if isinstance(scenario.part("layers", 0, name), dict):
            return ("layers", 0, name)
    return ()


def has_typed_heads(scenario: SizeChecker, attention: YamlPath) -> bool:
    """Return whether a head of an attention has typed queries, keys or values."""
    return any(True for _ in _typed(scenario, attention))


def starts_with_typed_heads(scenario: SizeChecker) -> bool:
    """Return whether the decoder starts with typed queries, keys and values."""
    return has_typed_heads(scenario, first_sub_layer(scenario))


def number_of_queries(scenario: SizeChecker) -> Size:
    """Return the number of rows of the first typed queries; None without any."""
    return scenario.size(*first_sub_layer(scenario), "heads", 0, "Q") or None


def _typed(scenario: SizeChecker, attention: YamlPath) -> Iterator[YamlPath]:
    """Yield the paths of an attention's typed queries, keys and values."""
    for i, _ in enumerate(scenario.entries(*attention, "heads") if attention else ()):
        for name in NAMES:
            if scenario.has(*attention, "heads", i, name):
                yield (*attention, "heads", i, name)


def check_typed_heads(scenario: SizeChecker) -> None:
    """Report typed heads in other places, and what cannot be beside them."""
    first = first_sub_layer(scenario)
    for tower in ((), ("encoder",)):
        for i, _ in enumerate(scenario.entries(*tower, "layers")):
            for name in ("attention", "cross_attention"):
                place: YamlPath = (*tower, "layers", i, name)
                for typed in _typed(scenario, place) if place != first else ():
                    expected = "expected only in the decoder's first sub-layer"
                    scenario.report(typed, f"typed queries, keys and values, {expected}")
    if has_typed_heads(scenario, first):
        _check_scenario(scenario)
        _check_sub_layer(scenario, first)
    elif not scenario.has("embeddings"):
        form = "embeddings: {big: [0.9, 0.1], cat: [0.4, 0.8]}"
        scenario.report(("embeddings",), f"missing, expected {form}")
    _check_encoder(scenario, first)


def _check_scenario(scenario: SizeChecker) -> None:
    if scenario.has("embeddings"):
        message = "embeddings and typed queries, keys and values, expected only one of them"
        scenario.report(("embeddings",), message)
        return
    needs = "needs embeddings, and the queries, keys and values are typed"
    for key in (*OF_EMBEDDINGS, *tower_keys()):
        if scenario.has(key):
            scenario.report((key,), needs)
    for key in ("sinusoidal", "table"):
        if scenario.has("positions", key):
            scenario.report(("positions", key), needs)
    if is_tied(scenario.source.data):
        scenario.report(("unembedding",), f"tied {needs}")


def _check_sub_layer(scenario: SizeChecker, place: YamlPath) -> None:
    nothing = "typed queries, keys and values are computed from no vectors"
    if is_on(scenario.part(*place, "residual")):
        scenario.report((*place, "residual"), f"{nothing}, expected residual: false")
    own = place if scenario.has(*place, "norm") else place[:-1]
    if scenario.part(*own, "norm", "placement") == "pre":
        message = f"{nothing} that a norm could normalize, expected placement: post or norm: none"
        scenario.report((*own, "norm", "placement"), message)


def _check_encoder(scenario: SizeChecker, first: YamlPath) -> None:
    """Report an encoder without vectors, unless only typed heads attend to its tokens."""
    if not isinstance(scenario.part("encoder"), dict):
        return
    typed = first[-1:] == ("cross_attention",) and has_typed_heads(scenario, first)
    others = [
        i
        for i, _ in enumerate(scenario.entries("layers"))
        if scenario.has("layers", i, "cross_attention")
        if ("layers", i, "cross_attention") != first
    ]
    computed = (
        *("features", "positions", "embedding_scale", "embedding_norm", "layers"),
        *("final_norm", *tower_keys()),
    )
    if scenario.has("encoder", "vectors") or scenario.has("encoder", "embeddings"):
        if typed:
            message = "the keys and values are typed, so that nothing reads the encoder's vectors"
            scenario.report(("encoder",), f"{message}, expected only tokens")
    elif not typed or others or any(scenario.has("encoder", key) for key in computed):
        message = "expected vectors, or embeddings from which they are computed"
        scenario.report(("encoder",), message)


def names(scenario: SizeChecker, attention: YamlPath) -> dict[str, str]:
    """Return the keys of the queries, keys and values of an attention, or of their weights."""
    if has_typed_heads(scenario, attention):
        return NAMES
    return {letter: f"W_{letter}" for letter in NAMES}


def report_weights(scenario: SizeChecker, head: YamlPath) -> None:
    """Report weights beside typed queries, keys and values."""
    for name, shape in declared(Head).items():
        if shape.learned and shape.sizes != SINGLE and scenario.has(*head, name):
            message = "queries, keys and values of this attention are typed, expected Q, K and V"
            scenario.report((*head, name), message)
