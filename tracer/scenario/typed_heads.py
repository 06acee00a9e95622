"""Typed queries, keys and values: where they may be, and what goes with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tracer.scenario.parts import SUB_LAYERS
from tracer.scenario.reader import YamlPath
from tracer.scenario.sizes import Expected, Size, SizeChecker, is_on, is_tied

TYPED = ("Q", "K", "V")
COMPUTED = ("W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V")
LABELS = {"Q": "query", "K": "key", "V": "value"}

OF_EMBEDDINGS = (
    "features",
    "text",
    "corpus",
    "merges",
    "token_ids",
    "embedding_scale",
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
        for name in TYPED:
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
    for key in OF_EMBEDDINGS:
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
    if scenario.has(*place, "residual_scale"):
        scenario.report((*place, "residual_scale"), f"{nothing} that could be added")
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
    computed = ("features", "positions", "embedding_scale", "layers", "final_norm")
    if scenario.has("encoder", "vectors") or scenario.has("encoder", "embeddings"):
        if typed:
            message = "the keys and values are typed, so that nothing reads the encoder's vectors"
            scenario.report(("encoder",), f"{message}, expected only tokens")
    elif not typed or others or any(scenario.has("encoder", key) for key in computed):
        message = "expected vectors, or embeddings from which they are computed"
        scenario.report(("encoder",), message)


def typed_head(
    scenario: SizeChecker, place: YamlPath, rows: Mapping[str, Expected], d_k: Size
) -> dict[str, Size]:
    """Check a typed head and return the columns of Q, K and V.

    `rows` are the expected rows of each; `d_k` is the width of the keys that the head shares, if
    it shares any.
    """
    for name in COMPUTED:
        if scenario.has(*place, name):
            message = "queries, keys and values of this attention are typed, expected Q, K and V"
            scenario.report((*place, name), message)
    widths: dict[str, Size] = {}
    for name in TYPED:
        at: YamlPath = (*place, name)
        typed = scenario.part(*at)
        columns = {
            "Q": Expected(d_k, "as many as the keys have"),
            "K": Expected(widths.get("Q"), "as many as Q has"),
        }.get(name, Expected())
        if isinstance(typed, list):
            widths[name] = scenario.rectangle(at, typed, rows[name], columns)[1]
            labels = (*place, "labels", LABELS[name])
            scenario.length(labels, widths[name], f"one per column of {name}")
        elif typed is None and (name == "Q" or not scenario.has(*place, "shares")):
            instead = " or shares: 1" * (name != "Q" and place[-1] != 0)
            scenario.report(at, f"missing, expected {name}: [[1, 0], …]{instead}")
    return widths
