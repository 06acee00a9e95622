"""A Hypothesis strategy that draws scenarios with a loss; what is asked of one as plain data."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from tests.helpers.random_parts import parts_with
from tests.helpers.random_scenarios import EPSILONS, Scenario, scenarios
from tests.helpers.scenario_ways import width_behind

SMALL = EPSILONS[:2]
"""Epsilons with which no norm divides by 0."""


@st.composite
def learning_scenarios(
    draw: st.DrawFn, /, carry: str = "never", *, any_loss: bool = False, **asked: Any
) -> Scenario:
    """A scenario in which something is learned: its words tied or not, its embeddings by word or
    by position, positions without a target, and sometimes a batch of examples.

    Its loss is a mean cross-entropy, or with `any_loss` also another one.
    """
    choice = draw(st.sampled_from(("batch", "tied", "tied", "by position", "by word")))
    settings = {"epsilons": SMALL, "limits": (1,), "keeps_width": choice == "tied", **asked}
    spec = draw(scenarios(carry, speaks=True, **settings))
    spec.pop("training", None)
    words, tokens = spec["vocabulary"], spec["tokens"]
    known = [word for word in spec["embeddings"] if word != spec.get("padding")]
    if spec.get("padding") == tokens[0]:  # what fills up has no target
        tokens[0] = known[0] if known else tokens[0]
    width = len(next(iter(spec["embeddings"].values())))
    if choice == "tied" and len(spec["unembedding"]["W_U"]) == width:
        keys = draw(st.sets(st.sampled_from(sorted(spec["unembedding"]))))
        others = {key: spec["unembedding"][key] for key in sorted(keys - {"W_U"})}
        spec["unembedding"] = {"W_U": "tied", **others} if others else "tied"
    if choice == "by position":
        spec["embeddings"] = [list(spec["embeddings"][token]) for token in tokens]
        spec.pop("batch", None)
    spec["targets"] = draw(_targets(words, len(tokens)))
    if choice == "batch" and known:
        spec["training"] = [{"tokens": tokens, "targets": spec["targets"]}]
        for _ in range(draw(st.integers(1, 2))):
            length = draw(st.integers(1, len(tokens)))
            read = draw(st.lists(st.sampled_from(known), min_size=length, max_size=length))
            right = draw(_targets(words, length))
            spec["training"].append({"tokens": read, "targets": right})
    if "training" in spec:  # a gate typed for each token fits one text
        for part in parts_with(spec, "heads"):
            typed = (key for key in ("gate", "beta") if isinstance(part.get(key), list))
            part |= {key: part[key][0] for key in typed}
    if any_loss:
        _other_loss(spec, random.Random(draw(st.integers(0, 2**16))))
    return spec


def _other_loss(spec: Scenario, rng: random.Random) -> None:
    """A sum, and targets of numbers: for each token or the last, of logits or of the output."""
    kind = rng.choice(("cross_entropy", "squared", "binary"))
    spec["loss"] = {"kind": kind} | rng.choice(({}, {"reduction": "sum"}, {"reduction": "mean"}))
    if kind == "squared" and rng.random() < 0.5:
        spec["loss"]["factor"] = rng.choice((0.5, 3))
    if kind == "cross_entropy" and rng.random() < 0.5:
        spec["loss"]["smoothing"] = rng.choice((0.1, 0.25))
    if "training" in spec or kind == "cross_entropy" or (kind == "binary" and rng.random() < 0.5):
        if kind == "squared":
            del spec["loss"]["kind"]
            spec["loss"].pop("factor", None)
        return
    del spec["targets"]
    width = len(spec["vocabulary"])
    if kind == "squared" and rng.random() < 0.5:
        by_word = isinstance(spec["embeddings"], dict)
        rows = list(spec["embeddings"].values()) if by_word else spec["embeddings"]
        width = width_behind(spec, decoder=True) or len(rows[0])
        del spec["vocabulary"], spec["unembedding"]
        spec.get("generation", {}).pop("end", None)

    def row() -> list[int]:
        return [rng.randint(0, 1) if kind == "binary" else rng.randint(-3, 3) for _ in range(width)]

    spec["loss"]["target"] = rng.choice((row(), [row() for _ in spec["tokens"]]))


def _targets(words: list[str], length: int) -> st.SearchStrategy[list[str]]:
    """A right word at the first position, and words or none behind it."""
    rest = st.lists(st.sampled_from([*words, "none"]), min_size=length - 1, max_size=length - 1)
    return st.tuples(st.sampled_from(words), rest).map(lambda both: [both[0], *both[1]])


def examples(spec: Scenario) -> list[Scenario]:
    """What is read in one step of training: each example with the decoder, or its own tokens."""
    plain = {key: value for key, value in spec.items() if key not in ("training", "batch")}
    return [
        {**plain, **each, "given": {**spec.get("given", {}), **each.get("given", {})}}
        for each in spec.get("training") or [{}]
    ]


def raised(spec: Scenario, address: str, at: tuple[int, ...], by: Any) -> Scenario:
    """The scenario with one number of a parameter raised; a tied matrix with its embeddings.

    `address` is a parameter's: `layer1.attention.head1.W_Q`, `final_norm.gain`, `embeddings`.
    """
    copy: Scenario = _copied(spec)
    if address.endswith(".sink"):
        _numbers(copy, address.removesuffix(".sink"))["sink"] += by
        return copy
    row = _numbers(copy, address)
    if isinstance(row, Mapping):
        row = list(row.values())
    for i in at[:-1]:
        row = row[i]
    row[at[-1]] += by
    return copy


def _copied(data: Any) -> Any:
    match data:
        case dict():
            return {key: _copied(each) for key, each in data.items()}
        case list():
            return [_copied(each) for each in data]
        case _:
            return data


def _numbers(spec: Any, address: str) -> Any:
    """The numbers of a parameter, where the scenario says them."""
    first, *rest = address.split(".")
    if first == "encoder":
        return _numbers(spec["encoder"], ".".join(rest))
    match first, rest:
        case ("embedding_norm" | "final_norm", [name]):
            return spec[first][name]
        case (("unembedding" | "positions" | "embeddings" | "type_embeddings"), _):
            found = spec[first]
            for name in rest:
                found = found[name]
            return found
    layer = spec["layers"][int(first.removeprefix("layer")) - 1]
    part = layer[rest[0]]
    match rest[1:]:
        case (("norm" | "norm_after") as norm, name):
            # What a layer says for all is each sub-layer's own, to be learned.
            return part.setdefault(norm, _copied(layer.get(norm)))[name]
        case [head, *names] if head.startswith("head"):
            found = part["heads"][int(head.removeprefix("head")) - 1]
        case ["shared", *names]:
            found = part["shared"]
        case [expert, *names] if expert.startswith("expert"):
            found = part["experts"][int(expert.removeprefix("expert")) - 1]
        case names:
            found = part
    for name in names:
        found = found[name]
    return found
