"""Parts of newer models, added to a random scenario by a seed of their own.

Everything else of the scenario stays as it was drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, TypeAlias

from tests.helpers.judged_part import named_parts
from tests.helpers.reference import ACTIVATIONS
from tests.helpers.scenario_ways import width_behind
from tests.helpers.scenario_yaml import Scenario

SUB_LAYERS = ("attention", "cross_attention", "ffn")

Part: TypeAlias = Callable[[Scenario, random.Random], None]


def with_parts(spec: Scenario, seed: int) -> Scenario:
    """The scenario with some of the parts; which ones follows from the seed."""
    of_folders = {name: part.draw for name, part in named_parts() if part.draw}
    for name, part in (PARTS | of_folders).items():
        part(spec, random.Random(f"{seed} {name}"))
    return spec


def unit_offset(spec: Scenario, rng: random.Random) -> None:
    """Norms that multiply by 1 + γ; more of them, with γ and β, behind the layers."""
    for tower in (spec, spec.get("encoder", {})):
        width = width_behind(spec, decoder=tower is spec) if "layers" in tower else 0
        if width and rng.random() < 0.3:
            tower.setdefault("final_norm", {"epsilon": Decimal("0.1")})
        norm = tower.get("final_norm", "none")
        if width and norm != "none":
            norm.setdefault("gain", tenths(width, rng))
            if rng.random() < 0.5:
                norm.setdefault("shift", tenths(width, rng))
    for norm in _norms(spec):
        if "gain" in norm and rng.random() < 0.7:
            norm["unit_offset"] = rng.random() < 0.6


def embedding_scale(spec: Scenario, rng: random.Random) -> None:
    """A factor of the embeddings, of the decoder and of an encoder that is computed."""
    for tower in (spec, spec.get("encoder", {})):
        if "embeddings" in tower and rng.random() < 0.4:
            tower["embedding_scale"] = rng.choice(("sqrt", "none", 2, Decimal("0.5")))


def embedding_norm(spec: Scenario, rng: random.Random) -> None:
    """A norm of the embeddings, and of the positions that are added to them."""
    for tower in (spec, spec.get("encoder", {})):
        rows = tower.get("embeddings", ())
        if rows and rng.random() < 0.3:
            row = next(iter(rows.values() if isinstance(rows, dict) else rows))
            tower["embedding_norm"] = (
                norm_of_rows({len(row)}, rng) if rng.random() < 0.9 else "none"
            )


def scales(spec: Scenario, rng: random.Random) -> None:
    """Factors of what sub-layers add, and a divisor of the logits."""
    factors = (Decimal("0.22"), Decimal("0.5"), 1, Decimal("1.50"))
    for tower in (spec, spec.get("encoder", {})):
        for layer in tower.get("layers", ()):
            for part in (layer[name] for name in SUB_LAYERS if name in layer):
                if part.get("residual", True) and rng.random() < 0.25:
                    part["residual_scale"] = rng.choice(factors)
    if "unembedding" in spec and rng.random() < 0.3:
        asked = spec["unembedding"]
        unembedding = {"W_U": "tied"} if asked == "tied" else asked
        spec["unembedding"] = unembedding | {"scale": rng.choice((8, Decimal("0.5"), 1, 3))}


def norms_of_heads(spec: Scenario, rng: random.Random) -> None:
    """Norms of queries and keys; of each head with γ and β where all heads are equally wide."""
    for part in parts_with(spec, "heads"):
        widths = {len(head["W_Q"][0]) for head in part["heads"]}
        for name in ("query_norm", "key_norm"):
            over = rng.choice(("head", "heads", None, None))
            own = [h for h in part["heads"] if name == "query_norm" or "shares" not in h]
            of_all = sum(len(head["W_Q"][0]) for head in own)
            if rng.random() < 0.4:
                norm = norm_of_rows({of_all} if over == "heads" else widths, rng)
                norm |= {"over": over} if over else {}
                placement = rng.choice(("before_rotary", "after_rotary", "after_rotary", None))
                norm |= {"placement": placement} if placement else {}
                norm |= {"epsilon_outside": rng.random() < 0.5} if rng.random() < 0.2 else {}
                part[name] = "none" if rng.random() < 0.15 else norm


def norms_after(spec: Scenario, rng: random.Random) -> None:
    """Norms after sub-layers whose own norm, if there is one, is before."""
    for tower in (spec, spec.get("encoder", {})):
        for layer in tower.get("layers", ()):
            parts = [layer[name] for name in SUB_LAYERS if name in layer]
            fit = [_is_before(part.get("norm", layer.get("norm", "none"))) for part in parts]
            if all(fit) and rng.random() < 0.25:
                norm = norm_of_rows(set(map(_width_of, parts)), rng)
                layer["norm_after"] = "none" if rng.random() < 0.2 else norm
            for part, fits in zip(parts, fit, strict=True):
                if fits and rng.random() < 0.3:
                    norm = norm_of_rows({_width_of(part)}, rng)
                    part["norm_after"] = "none" if rng.random() < 0.3 else norm


def parallel(spec: Scenario, rng: random.Random) -> None:
    """Layers whose attention and FFN are parallel, with one norm, with two or with none."""
    for tower in (spec, spec.get("encoder", {})):
        for layer in tower.get("layers", ()):
            if _may_lose_cross_attention(layer, spec) and rng.random() < 0.5:
                del layer["cross_attention"]
            if not {"attention", "ffn"} <= set(layer) or "cross_attention" in layer:
                continue
            parts = [layer["attention"], layer["ffn"]]
            keeps_width = "W_O" in parts[0] or parts[0].get("residual", True)
            if not keeps_width or rng.random() < 0.4:
                continue
            layer["parallel"] = rng.random() < 0.85
            if rng.random() < 0.4:
                parts[1].pop("norm", None)
            for part in parts if layer["parallel"] else ():
                part["residual"] = True
            for norm in (each.get("norm", "none") for each in (layer, *parts)):
                if norm != "none" and layer["parallel"]:
                    norm["placement"] = "pre"


def _may_lose_cross_attention(layer: Scenario, spec: Scenario) -> bool:
    """Whether the layer is one of several that look at the encoder, and could be parallel."""
    crossing = sum("cross_attention" in each for each in spec["layers"])
    keeps_width = layer.get("cross_attention", {}).get("residual", True)
    return set(SUB_LAYERS) <= set(layer) and crossing > 1 and keeps_width


def _is_before(norm: Any) -> bool:
    return bool(norm == "none" or norm.get("placement") == "pre")


def _width_of(part: Scenario) -> int:
    """How many numbers a sub-layer returns for each token."""
    if "W_2" in part:
        return len(part["W_2"][0])
    heads = part["heads"]
    read = [heads[head["shares"] - 1] if "shares" in head else head for head in heads]
    return len(part["W_O"][0]) if "W_O" in part else sum(len(h["W_V"][0]) for h in read)


def norm_of_rows(widths: set[int], rng: random.Random) -> Scenario:
    """A norm of rows of some widths; with ε under the root, a row of zeros has a gradient, too."""
    norm: Scenario = {"epsilon": Decimal(rng.choice(("0.1", "0.01")))}
    if rng.random() < 0.7:
        norm["kind"] = rng.choice(("rms_norm", "rms_norm", "layer_norm"))
    if norm.get("kind") != "rms_norm" and 1 not in widths and rng.random() < 0.3:
        norm["deviation"] = rng.choice(("sample", "population"))
    for name in ("gain", "shift") if len(widths) == 1 else ():
        if rng.random() < 0.5:
            norm[name] = [Decimal(rng.randint(-9, 9)) / 10 for _ in range(*widths)]
    if "gain" in norm and rng.random() < 0.6:
        norm["unit_offset"] = rng.random() < 0.7
    return norm


def parts_with(data: Any, key: str) -> Iterator[dict[str, Any]]:
    """The parts of a scenario that have a key."""
    if isinstance(data, dict) and key in data:
        yield data
    for inner in data.values() if isinstance(data, dict) else data:
        if isinstance(inner, dict | list):
            yield from parts_with(inner, key)


def experts(spec: Scenario, rng: random.Random) -> None:
    """In place of some FFNs up to four, of different sizes, with a router."""
    for tower in (spec, spec.get("encoder", {})):
        for layer in tower.get("layers", ()):
            if "ffn" in layer and not layer.get("parallel") and rng.random() < 0.3:
                layer["ffn"] = _mixture(layer["ffn"], rng)


def _mixture(ffn: Scenario, rng: random.Random) -> Scenario:
    """The FFN as one of the experts; sometimes with one that is shared, or with equal logits."""
    around = {key: ffn.pop(key) for key in ("residual", "norm", "norm_after") if key in ffn}
    width, number = len(ffn["W_1"]), rng.randint(1, 4)
    router = matrix(width, number, rng)
    if rng.random() < 0.2:
        router = [[row[0]] * number for row in router]
    networks = [_network(width, rng) for _ in range(number - 1)]
    mixture: Scenario = {"router": router, "experts": [ffn, *networks]}
    if rng.random() < 0.3:
        mixture["router_bias"] = tenths(number, rng)
    if number == 1 or rng.random() < 0.5:
        mixture["top"] = rng.randint(1, number)
    if rng.random() < 0.5:
        mixture["normalize"] = rng.random() < 0.4
    if rng.random() < 0.4:
        mixture["shared"] = _network(width, rng)
        if rng.random() < 0.5:
            mixture["shared_gate"] = matrix(width, 1, rng)
    return mixture | around


def _network(width: int, rng: random.Random) -> Scenario:
    hidden = rng.randint(1, 4)
    ffn: Scenario = {"W_1": matrix(width, hidden, rng), "W_2": matrix(hidden, width, rng)}
    if rng.random() < 0.3:
        ffn["W_3"] = matrix(width, hidden, rng)
    biases = {"b_1": hidden, "b_2": width, **({"b_3": hidden} if "W_3" in ffn else {})}
    ffn |= {name: tenths(length, rng) for name, length in biases.items() if rng.random() < 0.3}
    if rng.random() < 0.5:
        ffn["activation"] = rng.choice(ACTIVATIONS)
    if rng.random() < 0.4:
        ffn["activates"] = rng.choice(("hidden", "output"))
    return ffn


def matrix(rows: int, columns: int, rng: random.Random) -> list[list[Decimal]]:
    return [tenths(columns, rng) for _ in range(rows)]


def tenths(number: int, rng: random.Random) -> list[Decimal]:
    return [Decimal(rng.randint(-9, 9)) / 10 for _ in range(number)]


def _norms(data: Any) -> Iterator[dict[str, Any]]:
    """The norms in a part of a scenario."""
    for key, inner in data.items() if isinstance(data, dict) else enumerate(data):
        if str(key).endswith("norm") and isinstance(inner, dict):
            yield inner
        elif isinstance(inner, dict | list):
            yield from _norms(inner)


def predict_masked_words(spec: Scenario, rng: random.Random) -> None:
    """Let a model predict masked words, where tokens attend to all tokens."""
    towers = [spec, *(layer.get("attention", {}) for layer in spec.get("layers", ()))]
    hides = any(tower.get("mask", "none") != "none" for tower in towers) or "mask" not in spec
    if hides or "encoder" in spec or "vocabulary" not in spec or rng.random() < 0.3:
        return
    spec["objective"] = "masked"
    rows, tokens = spec.get("embeddings"), spec.get("tokens")
    if isinstance(tokens, list) and isinstance(rows, dict) and rng.random() < 0.7:
        name = rng.choice(("[MASK]", "<mask>"))
        rows[name] = next(iter(rows.values()))
        tokens[rng.randrange(len(tokens))] = name


PARTS: dict[str, Part] = {
    "parallel": parallel,
    "unit offset": unit_offset,
    "embedding scale": embedding_scale,
    "embedding norm": embedding_norm,
    "norms of heads": norms_of_heads,
    "norms after": norms_after,
    "experts": experts,
    "scales": scales,
}
