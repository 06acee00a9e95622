"""The decoder's arithmetic written a second time, as whole-array float64 algebra.

Tests compare the values of a trace with the ones computed here.  To be worth comparing with, the
formulation is deliberately not a loop over heads and tokens:

* all heads of a layer are zero-padded to one width and computed together with ``einsum``;
* a bias is one more row of its matrix, met by a column of ones;
* the mask sets hidden scores to minus infinity, and the softmax goes through log-sum-exp;
* a sine and its cosine are the two parts of one complex exponential;
* the loss is the log-sum-exp of the logits less the logit of the right word; of a sigmoid, the
  log-sum-exp of 0 and the logit less the target times the logit.

Shapes: one row per token; ``dot``, ``scores`` and ``weights`` have one column per attended token;
``norm.mean``, ``norm.variance`` and ``norm.std`` are vectors with one entry per token.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.helpers.judged_part import judged_parts
from tests.helpers.relative_biases import biases, of_offsets
from tests.helpers.rotary_of_layers import prefix, settings_of
from tests.helpers.rotary_scaling import attention_factor, frequencies

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Spec = Mapping[str, Any]
Replace = Callable[[str, Array], Array]
"""What to go on with instead of a value: of an embedding, an input, a head's query, weights or
output, a hidden layer or its activation, a sub-layer's output, its residual or a norm after it, the
tower's output."""


ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "relu_squared", "none")


def _as_computed(address: str, value: Array) -> Array:
    return value


@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def reference(scenario: Spec, replace: Replace = _as_computed) -> dict[str, Array]:
    """Every value of the scenario's run that is computed, unrounded, by address.

    ``dot`` and ``scores`` are the full squares, before the mask; ``weights`` is zero where the mask
    hides a token.  ``norm.std`` is the divisor, the root of variance plus epsilon: with epsilon 0,
    a row of equal values normalizes to NaN, or to noise where float64 misses the exact zero.
    Without an activation function, ``activation`` repeats ``hidden``.
    """
    shifted, memory = scenario.get("softmax") == "shifted", None
    values: dict[str, Array] = {}
    if encoder := scenario.get("encoder"):
        memory = _floats(encoder["vectors"]) if "vectors" in encoder else None
        if "embeddings" in encoder:
            within = partial(_within, replace, "encoder.")
            inside = _tower({**encoder, "mask": "none"}, None, shifted, within)
            memory = inside.pop("output")
            values |= {f"encoder.{address}": found for address, found in inside.items()}
            values["encoder.output"] = memory
    values |= _tower(scenario, memory, shifted, replace)

    unembedding = scenario.get("unembedding")
    if unembedding is not None:
        read = values["output"]
        if "transform" in unembedding:
            read = _transformed(read, unembedding["transform"], values)
        logits = _affine(read, unembedding["W_U"], unembedding.get("b_U"))
        if "scale" in unembedding:
            values["logits.unscaled"] = logits
            logits = logits * (1 / float(unembedding["scale"]))
        if "softcap" in unembedding:
            values["logits.uncapped"] = logits
        values["logits"] = _capped(logits, unembedding)
        shares = _softmax(values["logits"], shifted)
        values |= {f"probabilities.{part}": found for part, found in shares.items()}
        values["probabilities"] = values.pop("probabilities.shares")
    return values


def _transformed(y: Array, asked: Spec, found: dict[str, Array]) -> Array:
    """What W_U reads instead of the output: a hidden layer like that of an FFN, and a norm."""
    within = "unembedding.transform."
    hidden = found[f"{within}hidden"] = _affine(y, asked["W_M"], asked.get("b_M"))
    name = asked.get("activation", "relu")
    active = found[f"{within}activation"] = activated(name, hidden)
    if _is_none(asked.get("norm")):
        return active
    parts = _norm(active, asked["norm"])
    found |= {within + address: part for address, part in parts.items()}
    return parts["norm"]


def _within(replace: Replace, prefix: str, address: str, value: Array) -> Array:
    return replace(prefix + address, value)


def _tower(tower: Spec, memory: Array | None, shifted: bool, replace: Replace) -> dict[str, Array]:
    """What is computed of a tower's tokens; cross-attention looks at ``memory``."""
    typed = tower.get("embeddings") is None
    x = _floats([[]] * _queries(tower)) if typed else replace("embedding", _embedding(tower))
    positions = tower.get("positions")
    values = _position(positions, *x.shape)
    sees_later = tower.get("mask") == "none"
    if any("attention" in layer for layer in tower.get("layers") or ()):
        values |= of_offsets(positions, len(x), sees_later=sees_later)
    asked = tower.get("embedding_scale", "none")
    if asked != "none":
        factor = math.sqrt(x.shape[1]) if asked == "sqrt" else float(asked)
        x = values["embedding.scaled"] = factor * x
        if asked == "sqrt":
            values["embedding.scale"] = np.array(factor)
    if tower.get("type_embeddings") is not None:
        said = [*(tower.get("token_types") or [0])]
        types = [*said, *said[-1:] * len(x)][: len(x)]
        values["token_type"] = _floats(tower["type_embeddings"])[types]
        x = values["embedding.with_type"] = x + values["token_type"]
    angles = _turned(values, tower)
    x = x + values.get("position", 0)
    if not _is_none(tower.get("embedding_norm")):
        if "position" in values:
            values["embedding.sum"] = x
        found = _norm(x, tower["embedding_norm"])
        x = found["norm"]
        values |= {f"embedding_{key}": value for key, value in found.items()}
    if not typed:
        x = values["input"] = replace("input", x)
    mask = _mask(tower)

    for number, layer in enumerate(tower.get("layers") or [], start=1):
        start = inside = x
        for name in ("attention", "cross_attention", "ffn"):
            part = layer.get(name)
            if part is None:
                continue
            norm = part.get("norm", layer.get("norm"))
            pre = not _is_none(norm) and norm.get("placement", "post") == "pre"
            read = start if name == "ffn" and layer.get("parallel", False) else x
            found = {}
            here = partial(_within, replace, f"layer{number}.{name}.")
            if not (name == "ffn" and shares_norm(layer)):
                found = _norm(read, norm) if pre else {}
                if pre:
                    found["norm"] = here("norm", found["norm"])
                inside = found.get("norm", read)
            if name == "attention":
                own = _mask({**tower, "mask": part["mask"]}) if "mask" in part else mask
                asked = settings_of(tower, part)
                angle = None if asked is None else angles[prefix(tower, asked)]
                added = biases(positions, len(x), sees_later=sees_later)
                found |= _attention(
                    *(inside, inside, own, part, shifted, here, angle, positions, added)
                )
                is_first = not any("relative_bias" in address for address in values)
                for head, bias in enumerate(added if is_first and added is not None else (), 1):
                    found[f"head{head}.relative_bias"] = bias
            elif name == "cross_attention":
                assert memory is not None or typed
                found |= _attention(inside, memory, None, part, shifted, here)
            else:
                found |= _ffn(inside, part, shifted, here)
            after = part.get("norm_after", layer.get("norm_after"))
            change = found["output"] = here("output", found["output"])
            if not _is_none(after):
                parts = _norm(change, after)
                change = parts["norm"]
                found |= {f"norm_after{end.removeprefix('norm')}": v for end, v in parts.items()}
            if part.get("residual", True) and not (typed and x.shape[1] == 0):
                if "residual_scale" in part:
                    change = found["residual.scaled"] = change * float(part["residual_scale"])
                found["residual"] = here("residual", x + change)
            x = found.get("residual", change)
            if not (_is_none(norm) or pre):
                found |= _norm(x, norm)
                x = found["norm"] = here("norm", found["norm"])
            values |= {f"layer{number}.{name}.{key}": value for key, value in found.items()}
    if not _is_none(tower.get("final_norm")):
        final = _norm(x, tower["final_norm"])
        x = final["norm"]
        values |= {f"final_{key}": value for key, value in final.items()}
    return values | {"output": replace("output", x)}


def shares_norm(layer: Spec) -> bool:
    """Whether the FFN of a layer reads what attention reads, after attention's norm if any."""
    if not layer.get("parallel", False) or "norm" in layer["ffn"]:
        return False
    return "norm" not in layer["attention"] or _is_none(layer.get("norm"))


def predicted_words(scenario: Spec) -> list[str]:
    """The word of the largest logit for each token, the first such word if there are several."""
    best = np.argmax(reference(scenario)["logits"], axis=-1)
    return [scenario["vocabulary"][index] for index in best]


def reduced(scenario: Spec, found: list[float]) -> float:
    """The loss of all positions that count."""
    is_sum = scenario.get("loss", {}).get("reduction") == "sum"
    return float(np.sum(found) if is_sum else np.mean(found))


def losses(scenario: Spec) -> list[float | None]:
    """The loss of each position; None where there is no target, or only padding."""
    asked = scenario.get("loss", {})
    if asked.get("kind", "cross_entropy") == "cross_entropy":
        return _surprises(scenario, float(asked.get("smoothing", 0)))
    found, n = reference(scenario), len(scenario["tokens"])
    y = found.get("logits", found["output"])
    targets: list[Any] = [None] * n
    if "target" not in asked:
        words = scenario["vocabulary"]
        counts = [each is not None for each in _surprises(scenario)]
        rows = [
            [word == target for word in words]
            for target in scenario.get("targets", [*scenario["tokens"][1:], None])
        ]
        targets = [row if count else None for row, count in zip(rows, counts, strict=True)]
    elif isinstance(asked["target"][0], list | tuple):
        targets = list(asked["target"])
    else:
        targets[-1] = asked["target"]
    reduce = np.sum if asked.get("reduction") == "sum" else np.mean
    factor = float(asked.get("factor", 1))
    of_row = (lambda y, t: factor * (y - t) ** 2) if asked["kind"] == "squared" else _of_sigmoid
    pairs = zip(y, targets, strict=True)
    return [None if t is None else float(reduce(of_row(row, _floats(t)))) for row, t in pairs]


def _of_sigmoid(z: Array, t: Array) -> Array:
    found: Array = np.logaddexp(0, z) - t * z
    return found


def _surprises(scenario: Spec, smoothing: float = 0) -> list[float | None]:
    """-Σ t ln p at each position; None where there is no target, or only padding.

    t is 1 for the target; with label smoothing, some of that is shared out to all words.
    """
    tokens, padding, words = scenario["tokens"], scenario.get("padding"), scenario["vocabulary"]
    targets = scenario.get("targets") or [*tokens[1:], None]
    surprise = -_log_softmax(reference(scenario)["logits"])
    found: list[float | None] = []
    for row, token, target in zip(surprise, tokens, targets, strict=True):
        counts = target in words and padding not in (token, target)
        t = smoothing / len(words) + (1 - smoothing) * np.array([word == target for word in words])
        found.append(float(t @ row) if counts else None)
    return found


def _embedding(scenario: Spec) -> Array:
    embeddings = scenario["embeddings"]
    if isinstance(embeddings, Mapping):
        return _floats([embeddings[token] for token in scenario["tokens"]])
    return _floats(embeddings)


def _queries(scenario: Spec) -> int:
    """How many typed queries there are."""
    first = scenario["layers"][0]
    return len((first.get("attention") or first["cross_attention"])["heads"][0]["Q"])


def _mask(scenario: Spec) -> Array | None:
    """What is added to the scores: -∞ for what is not seen, or only fills up; None if all is."""
    names = scenario.get("tokens") or range(_queries(scenario))
    filler = np.array([token == scenario.get("padding") for token in names])
    n, mask = len(filler), scenario.get("mask", "causal")
    match mask:
        case "causal":
            seen = np.tri(n, dtype=bool)
        case "none" if not filler.any():
            return None
        case "none":
            seen = np.ones((n, n), dtype=bool)
        case {"window": most}:
            seen = np.tri(n, dtype=bool) & ~np.tri(n, k=-int(most), dtype=bool)
        case _:
            return np.where(filler, -np.inf, _floats([row[:n] for row in mask[:n]]))
    return np.where(seen & ~filler, 0.0, -np.inf)


def _turned(values: dict[str, Array], scenario: Spec) -> dict[str, Array]:
    """The angle of each token and pair, by where they are; of all settings that turn something.

    With an attention factor f it is complex, so that e^(i angle) is f times as large.
    """
    parts = [layer["attention"] for layer in scenario.get("layers") or [] if "attention" in layer]
    found: dict[str, Array] = {}
    for part in parts:
        asked = settings_of(scenario, part)
        if asked is None:
            continue
        head = part["heads"][0]
        rows = head["W_Q"] if "W_Q" in head else head["Q"]
        rows = part.get("latent", {}).get("W_KR", rows)
        width = int(_floats(rows).shape[1] * asked.get("share", 1))
        start = int(asked.get("start", 0))
        tokens = len(scenario["tokens"]) if "tokens" in scenario else _queries(scenario)
        waves = frequencies(asked, width, tokens)
        frequency = waves["div_term"]
        angle: Array = np.multiply.outer(np.arange(start, start + tokens), frequency)
        waves |= {"angle": angle, "sin": np.sin(angle), "cos": np.cos(angle)}
        if (factor := attention_factor(asked)) != 1:
            scaled = {f"scaled_{name}": factor * waves[name] for name in ("sin", "cos")}
            waves |= scaled | {"attention_factor": np.array(factor)}
        where = prefix(scenario, asked)
        values |= {f"{where}position.{name}": wave for name, wave in waves.items()}
        found[where] = angle - 1j * np.log(factor)
    return found


def _rotate(x: Array, angle: Array, layout: str) -> Array:
    """Pairs as complex numbers, times e^(i angle)."""
    half = angle.shape[-1]
    x, rest = x[..., : 2 * half], x[..., 2 * half :]
    first, second = (
        (x[..., ::2], x[..., 1::2]) if layout == "pairs" else (x[..., :half], x[..., half:])
    )
    point = (first + 1j * second) * np.exp(1j * angle)
    turned = np.empty_like(x)
    if layout == "pairs":
        turned[..., ::2], turned[..., 1::2] = point.real, point.imag
    else:
        turned[..., :half], turned[..., half:] = point.real, point.imag
    return np.concatenate([turned, rest], axis=-1)


def _position(positions: Any, tokens: int, width: int) -> dict[str, Array]:
    if _is_none(positions):
        return {}
    if {"rotary", "relative_bias"} & {*positions} or positions.get("alibi"):
        return {}
    if "table" in positions:
        return {"position": _floats(positions["table"])[:tokens]}
    start = int((positions["sinusoidal"] or {}).get("start", 1))
    pair = np.arange((width + 1) // 2)
    frequency = 10000.0 ** (-2.0 * pair / width)
    angle = np.multiply.outer(np.arange(start, start + tokens), frequency)
    wave = np.exp(1j * angle)
    both = np.stack([wave.imag, wave.real], axis=-1).reshape(tokens, -1)[:, :width]
    parts = {"div_term": frequency, "angle": angle, "sin": wave.imag, "cos": wave.real}
    return {"position": both} | {f"position.{name}": part for name, part in parts.items()}


def _spans_heads(norm: Spec, has_own: list[int]) -> bool:
    return norm.get("over") == "heads" and len(has_own) > 1


def _over_heads(
    name: str, norm: Spec, rows: Array, has_key: Any, has_own: list[int]
) -> dict[str, Array]:
    """A norm of the heads' rows side by side; each head then has its columns of the result."""
    together = np.hstack([rows[h][:, has_key[h]] for h in has_own])
    parts = _norm(together, norm)
    found = {{"query_norm": "queries", "key_norm": "keys"}[name]: together}
    found |= {name + part.removeprefix("norm"): x for part, x in parts.items()}
    ends = np.cumsum([has_key[h].sum() for h in has_own])
    for h, columns in zip(has_own, np.split(parts["norm"], ends[:-1], axis=1), strict=True):
        rows[h][:, has_key[h]] = columns
        found[f"head{h + 1}.{name}"] = columns
    return found


def _norms_of_heads(
    attention: Spec, placement: str, query: Array, key: Array, has_key: Any
) -> dict[str, Array]:
    """The norms of this placement; the rows of queries and keys become the normalized ones."""
    found, heads = dict[str, Array](), attention["heads"]
    for name, rows in (("query_norm", query), ("key_norm", key)):
        norm: Any = attention.get(name)
        if _is_none(norm) or norm.get("placement", "before_rotary") != placement:
            continue
        keys = [h for h, head in enumerate(heads) if "shares" not in head]
        has_own = [*range(len(heads))] if name == "query_norm" else keys
        if _spans_heads(norm, has_own):
            found |= _over_heads(name, norm, rows, has_key, has_own)
            for h, head in enumerate(heads):
                if h not in has_own:
                    rows[h] = rows[head["shares"] - 1]
            continue
        for h, real in enumerate(has_key):
            parts = _norm(rows[h][:, real], norm)
            rows[h][:, real] = parts["norm"]
            if h in has_own:
                at = f"head{h + 1}.{name}"
                found |= {at + part.removeprefix("norm"): x for part, x in parts.items()}
    return found


def _attention(
    x: Array,
    memory: Array | None,
    mask: Array | None,
    attention: Spec,
    shifted: bool,
    replace: Replace,
    angle: Array | None = None,
    positions: Any = None,
    added: Array | None = None,
) -> dict[str, Array]:
    """All heads at once, axes: h head, i and j token, m model feature, k and v head feature.

    Queries come from ``x``, keys and values from ``memory``.
    """
    own = attention["heads"]
    heads = [{**own[h["shares"] - 1], "b_Q": None, **h} if "shares" in h else h for h in own]
    if "Q" in heads[0]:  # stacked like weights, with a row of zeros as the bias
        (query, _), (key, has_key), (value, has_value) = (
            _stack_heads(heads, name, "") for name in ("Q", "K", "V")
        )
        query, key, value = query[:, :-1], key[:, :-1], value[:, :-1]
        of_queries, latents = x, dict[str, Array]()
    else:
        assert memory is not None
        latents = _latents(attention, x, memory)
        of_queries, memory_of_heads = latents.pop("queries"), latents.pop("keys")
        W_Q, _ = _stack_heads(heads, "W_Q", "b_Q")
        W_K, has_key = _stack_heads(heads, "W_K", "b_K")
        W_V, has_value = _stack_heads(heads, "W_V", "b_V")
        query = np.einsum("im,hmk->hik", _with_ones(of_queries), W_Q)
        rows = _with_ones(memory_of_heads)
        key, value = (np.einsum("jm,hmk->hjk", rows, W) for W in (W_K, W_V))

    for h, own_columns in enumerate(has_key):
        query[h][:, own_columns] = replace(f"head{h + 1}.query", query[h][:, own_columns])
    flat_query, flat_key, flat_value = query.copy(), key.copy(), value.copy()
    normed = latents
    for change in (part.projected for part in judged_parts() if part.projected):
        each = (query, has_key), (key, has_key), (value, has_value)
        before = [[rows[h][:, real[h]] for h in range(len(own))] for rows, real in each]
        changes, behind = change(attention, *before)
        normed |= changes
        for (of_heads, real), changed in zip(each, behind, strict=True):
            for h in range(len(own)):
                of_heads[h][:, real[h]] = changed[h]
    compared = has_key
    normed |= _norms_of_heads(attention, "before_rotary", query, key, has_key)
    if angle is not None and "latent" in attention:
        assert memory is not None
        layout = (positions["rotary"] or {}).get("layout", "pairs")
        r, W_QR = memory @ _floats(attention["latent"]["W_KR"]), [_floats(h["W_QR"]) for h in own]
        normed |= {"latent.key": r, "latent.rotated_key": (turned := _rotate(r, angle, layout))}
        q_r = of_queries @ np.array(W_QR)
        turned_query = _rotate(q_r, angle, layout)
        query = np.concatenate([query, turned_query], axis=2)
        key = np.concatenate([key, np.broadcast_to(turned, (len(own), *turned.shape))], axis=2)
        compared = np.hstack([has_key, np.ones((len(own), turned.shape[1]), bool)])
        for h, real in enumerate(compared):
            normed[f"head{h + 1}.rotary_query"] = q_r[h]
            normed[f"head{h + 1}.rotary_query.rotated"] = turned_query[h]
            normed[f"head{h + 1}.joined_query"] = query[h][:, real]
            normed[f"head{h + 1}.joined_key"] = key[h][:, real]
        angle = None
    if angle is not None:
        layout = (positions["rotary"] or {}).get("layout", "pairs")
        query, key = (_rotate(each, angle, layout) for each in (query, key))
    rotated_query, rotated_key = query.copy(), key.copy()
    normed |= _norms_of_heads(attention, "after_rotary", query, key, has_key)
    of_each = [(query, compared), (key, compared), (value, has_value)]
    projected = [[x[h][:, real[h]] for h in range(len(own))] for x, real in of_each]
    ways = (part.heads(attention, of_queries, *projected) for part in judged_parts() if part.heads)
    if (own_way := next((each for each in ways if each is not None), None)) is not None:
        found = normed | own_way
        output = np.zeros((len(own), *value.shape[1:]))
        for h, real in enumerate(has_value):
            name = f"head{h + 1}."
            found[f"{name}output"] = replace(f"{name}output", found[f"{name}output"])
            output[h][:, real] = found[f"{name}output"]
            found[f"{name}query"] = flat_query[h][:, has_key[h]]
            if angle is not None:
                found[f"{name}rotated_query"] = rotated_query[h][:, has_key[h]]
            if "shares" not in own[h]:
                found[f"{name}key"] = flat_key[h][:, has_key[h]]
                found[f"{name}value"] = flat_value[h][:, real]
                if angle is not None:
                    found[f"{name}rotated_key"] = rotated_key[h][:, has_key[h]]
        return _concatenated(found, output, has_value, attention, x)
    dot = np.einsum("hik,hjk->hij", query, key)
    asked = attention.get("scale", "sqrt")
    scale = np.sqrt(compared.sum(axis=-1))
    if asked != "sqrt":
        scale = np.full(len(heads), 1.0 if asked == "none" else float(asked))
    scores = dot / scale[:, np.newaxis, np.newaxis]
    capped = _capped(scores, attention)
    biased = capped
    if not _is_none(positions) and positions.get("alibi"):
        place = np.arange(len(x))
        far = np.abs(place[:, np.newaxis] - place)
        biased = capped - np.multiply.outer(_slopes(len(heads)), far)
    with_bias = biased if added is None else biased + added
    masked = with_bias if mask is None else with_bias + mask
    finite = np.abs(masked[np.isfinite(masked)])
    # A head without a sink has one that is hidden.
    sinks = np.array([float(head.get("sink", -np.inf)) for head in own])
    column = np.broadcast_to(sinks[:, np.newaxis, np.newaxis], (*masked.shape[:2], 1))
    beside = np.concatenate([masked, column], axis=2)
    finite = np.concatenate([finite, abs(sinks[np.isfinite(sinks)])])
    weights = _softmax(beside, shifted or finite.max(initial=0) > BEYOND)
    weights["weights"] = weights.pop("shares")
    with_sink = weights["weights"]
    weights["weights"] = with_sink[..., :-1]
    for h, of_head in enumerate(weights["weights"]):
        of_head[:] = replace(f"head{h + 1}.weights", of_head)
    output = np.einsum("hij,hjv->hiv", weights["weights"], value)
    for h, own_columns in enumerate(has_value):
        output[h][:, own_columns] = replace(f"head{h + 1}.output", output[h][:, own_columns])

    found = normed
    for h in range(len(heads)):
        found |= {
            f"head{h + 1}.query": flat_query[h][:, has_key[h]],
            f"head{h + 1}.scores": scores[h],
            f"head{h + 1}.output": output[h][:, has_value[h]],
        }
        m = masked.shape[2]
        with_rows = [name for name, part in weights.items() if part.ndim == 3]
        found |= {f"head{h + 1}.{name}": part[h] for name, part in weights.items()}
        if "sink" in own[h]:
            found[f"head{h + 1}.scores_and_sink"] = beside[h]
            found[f"head{h + 1}.weights_and_sink"] = with_sink[h]
        else:
            found |= {f"head{h + 1}.{name}": weights[name][h][:, :m] for name in with_rows}
        if "blocks" in attention:
            of_blocks = _blocks(masked[h], value[h][:, has_value[h]], attention["blocks"])
            found |= {f"head{h + 1}.{name}": part for name, part in of_blocks.items()}
        if asked != "none":
            found[f"head{h + 1}.dot"] = dot[h]
        if asked == "sqrt":
            found[f"head{h + 1}.scale"] = scale[h]
        if biased is not capped:
            found[f"head{h + 1}.biased"] = biased[h]
            found[f"head{h + 1}.slope"] = _slopes(len(heads))[h]
        if added is not None:
            found[f"head{h + 1}.scores_and_bias"] = with_bias[h]
        if "softcap" in attention:
            found[f"head{h + 1}.capped"] = capped[h]
        if mask is not None:
            found[f"head{h + 1}.masked"] = masked[h]
        if angle is not None:
            found[f"head{h + 1}.rotated_query"] = rotated_query[h][:, has_key[h]]
        if "shares" in own[h]:
            continue
        found[f"head{h + 1}.key"] = flat_key[h][:, has_key[h]]
        found[f"head{h + 1}.value"] = flat_value[h][:, has_value[h]]
        if angle is not None:
            found[f"head{h + 1}.rotated_key"] = rotated_key[h][:, has_key[h]]
    return _concatenated(found, output, has_value, attention, x)


def _concatenated(
    found: dict[str, Array], output: Array, has_value: Flags, attention: Spec, x: Array
) -> dict[str, Array]:
    """The values of heads, their outputs side by side, and the output of attention."""
    for change in (part.outputs for part in judged_parts() if part.outputs):
        before = [output[h][:, real] for h, real in enumerate(has_value)]
        changes, behind = change(attention, x, before)
        found |= changes
        for h, real in enumerate(has_value):
            output[h][:, real] = behind[h]
    found["concat"] = np.einsum("hiv->ihv", output)[:, has_value]
    found["output"] = found["concat"]
    if attention.get("W_O") is not None:
        # Each head has its own slice of W_O, so the projection is a sum over heads.
        W_O = _floats(attention["W_O"])
        slices = np.zeros((*has_value.shape, W_O.shape[1]))
        slices[has_value] = W_O
        found["output"] = np.einsum("hiv,hvm->im", output, slices)
        if attention.get("b_O") is not None:
            found["output"] = found["output"] + _floats(attention["b_O"])
    return found


def _latents(attention: Spec, x: Array, memory: Array) -> dict[str, Array]:
    """What heads read: the latent vectors, if there are any, or what attention reads itself."""
    found = {"queries": x, "keys": memory}
    latent = attention.get("latent", {})
    for read, matrix, norm, name in (
        ("keys", "W_DKV", "norm", "latent"),
        ("queries", "W_DQ", "query_norm", "latent.query"),
    ):
        if matrix in latent:
            found[name] = found[read] = found[read] @ _floats(latent[matrix])
            if not _is_none(latent.get(norm)):
                parts = _norm(found[read], latent[norm])
                found[read] = parts["norm"]
                found |= {f"latent.{norm}{end.removeprefix('norm')}": v for end, v in parts.items()}
    return found


def _blocks(scores: Array, value: Array, blocks: int) -> dict[str, Array]:
    """What runs from block to block, each from the keys up to there and from no block before."""
    found: dict[str, Array] = {}
    keys = np.arange(scores.shape[1])
    before = np.full(len(scores), -np.inf)
    for number, own in enumerate(np.array_split(keys, min(blocks, len(keys))), start=1):
        at, so_far = f"block{number}.", slice(own[-1] + 1)
        largest = scores[:, so_far].max(axis=-1)
        finite = np.where(np.isneginf(largest), 0, largest)
        powers = np.exp(scores[:, so_far] - finite[:, np.newaxis])
        found |= {
            f"{at}scores": scores[:, own],
            f"{at}values": value[own],
            f"{at}max": largest,
            f"{at}shifted": scores[:, own] - finite[:, np.newaxis],
            f"{at}exp": powers[:, own],
            f"{at}sum": powers.sum(axis=-1),
            f"{at}output": powers @ value[so_far],
        }
        if number > 1:
            found |= {
                f"{at}change": before - finite,
                f"{at}factor": np.exp(before - finite),
                f"{at}block_sum": powers[:, own].sum(axis=-1),
                f"{at}block_output": powers[:, own] @ value[own],
            }
        before = largest
    shares = np.where(np.isneginf(scores), 0, np.exp(_log_softmax(scores)))
    return found | {"blocks.output": shares @ value}


def _slopes(heads: int) -> Array:
    """Of ALiBi, as its authors' program gets them (Press et al. 2022)."""
    if heads & (heads - 1) == 0:
        first = 2.0 ** (-(2.0 ** -(math.log2(heads) - 3)))
        return np.array([first ** (i + 1) for i in range(heads)])
    fewer = 2 ** math.floor(math.log2(heads))
    return np.concatenate([_slopes(fewer), _slopes(2 * fewer)[::2][: heads - fewer]])


def _capped(x: Array, part: Spec) -> Array:
    """The soft cap, as tanh of a real number is -i tan of the imaginary one."""
    if "softcap" not in part:
        return x
    cap = float(part["softcap"])
    capped: Array = cap * (-1j * np.tan(1j * x / cap)).real
    return capped


def _stack_heads(heads: list[Spec], matrix: str, bias: str) -> tuple[Array, Flags]:
    """The heads' matrices, bias row last, zero-padded to equal widths, and which columns are real.

    The padding changes nothing: a zero column adds zero to every dot product.
    """
    each = [_with_bias(head[matrix], head.get(bias)) for head in heads]
    widths = np.array([array.shape[1] for array in each])
    stack = np.zeros((len(each), each[0].shape[0], widths.max()))
    real = np.arange(widths.max()) < widths[:, np.newaxis]
    for padded, array in zip(stack, each, strict=True):
        padded[:, : array.shape[1]] = array
    return stack, real


def _ffn(x: Array, ffn: Spec, shifted: bool, replace: Replace) -> dict[str, Array]:
    return _network(x, ffn, replace) if "experts" not in ffn else _mixture(x, ffn, shifted, replace)


def _mixture(x: Array, ffn: Spec, shifted: bool, replace: Replace) -> dict[str, Array]:
    """Every expert of every token, axes: n token, e expert, d feature; weights that are 0 or not.

    Logits that are alike but for noise of floats are a tie, which the first expert wins.
    """
    logits = _affine(x, ffn["router"], ffn.get("router_bias"))
    order = np.argsort(-np.round(logits, 9), axis=1, kind="stable")[:, : int(ffn.get("top", 2))]
    goes = np.zeros(logits.shape, bool)
    np.put_along_axis(goes, order, True, axis=1)
    found = {"router.logits": logits}
    if ffn.get("normalize", True):
        found["router.chosen"] = np.where(goes, logits, -np.inf)
    shares = _softmax(found.get("router.chosen", logits), shifted)
    found |= {f"router.{name}": part for name, part in shares.items() if name != "shares"}
    weights = shares["shares"] * goes
    if "router.chosen" not in found:
        found["router.probabilities"] = shares["shares"]
    found["router.weights"] = weights
    outputs = []
    for number, expert in enumerate(ffn["experts"], start=1):
        within = partial(_within, replace, f"expert{number}.")
        inside, own = {"input": x} | _network(x, expert, within), goes[:, number - 1]
        outputs.append(inside["output"])
        found |= {f"expert{number}.{name}": part[own] for name, part in inside.items()}
    output = np.einsum("ne,end->nd", weights, np.array(outputs))
    if "shared" in ffn:
        within = partial(_within, replace, "shared.")
        found["routed"], inside = output, _network(x, ffn["shared"], within)
        found |= {f"shared.{name}": part for name, part in inside.items()}
        shared = inside["output"]
        if "shared_gate" in ffn:
            logit = found["shared_gate.logit"] = x @ _floats(ffn["shared_gate"])
            weight = found["shared_gate.weight"] = np.exp(-np.logaddexp(0, -logit))
            shared = found["shared_gate.output"] = weight * shared
        output = output + shared
    return found | {"output": output}


def _network(x: Array, ffn: Spec, replace: Replace = _as_computed) -> dict[str, Array]:
    hidden = replace("hidden", _affine(x, ffn["W_1"], ffn.get("b_1")))
    last = ffn.get("activates") == "output"
    name = ffn.get("activation", "relu")
    found = {"hidden": hidden}
    inside = hidden
    if name == "swiglu":
        inside = _swiglu(x, hidden, ffn, found, replace)
        return found | {"output": _affine(inside, ffn["W_2"], ffn.get("b_2"))}
    if not last:
        inside = found["activation"] = replace("activation", activated(name, hidden))
    if "W_3" in ffn:
        found["up"] = _affine(x, ffn["W_3"], ffn.get("b_3"))
        inside = found["gated"] = np.einsum("iu,iu->iu", found["up"], inside)
    output = _affine(inside, ffn["W_2"], ffn.get("b_2"))
    if last:
        found["projected"] = output
        output = activated(name, output)
    return found | {"output": output}


def _swiglu(
    x: Array, g: Array, ffn: Spec, found: dict[str, Array], replace: Replace = _as_computed
) -> Array:
    """The gated units, from the code of gpt-oss: glu = g σ(α g), (u + 1) glu, g and u clamped."""
    alpha, limit = float(ffn.get("gate_scale", 1)), ffn.get("gate_limit")
    offset = float(ffn.get("gate_offset", 0 if limit is None else 1))
    if limit is not None:
        g = found["hidden.clamped"] = np.where(g > float(limit), float(limit), g)
    glu = found["activation"] = replace("activation", g / (1 + np.exp(-alpha * g)))
    u = found["up"] = _affine(x, ffn["W_3"], ffn.get("b_3"))
    if limit is not None:
        u = found["up.clamped"] = np.clip(u, -float(limit), float(limit))
    found["gated"] = glu * u + glu * offset
    return found["gated"]


def activated(name: str, x: Array) -> Array:
    """An activation function of each number."""
    active = x
    match name:
        case "relu":
            active = (x + np.abs(x)) / 2
        case "gelu":
            erf = np.array([math.erf(each) for each in (x / math.sqrt(2)).flat]).reshape(x.shape)
            active = x * (1 + erf) / 2
        case "gelu_tanh":
            active = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
        case "silu":
            active = x / (1 + np.exp(-x))
        case "sigmoid":
            active = (1 + np.tanh(x / 2)) / 2
        case "tanh":
            active = np.sinh(x) / np.cosh(x)
        case "relu_squared":
            active = np.where(x > 0, x, 0) ** 2
    return active


def _norm(x: Array, norm: Spec) -> dict[str, Array]:
    rooted = norm.get("kind") == "rms_norm"
    mean = np.zeros(len(x)) if rooted else np.mean(x, axis=-1)
    deviation = (x.T - mean).T
    variance = np.einsum("id,id->i", deviation, deviation)
    variance = variance / (x.shape[-1] - (norm.get("deviation") == "sample"))
    epsilon = float(norm.get("epsilon", 0))
    outside = bool(norm.get("epsilon_outside"))
    std = np.sqrt(variance) + epsilon if outside else np.hypot(np.sqrt(variance), np.sqrt(epsilon))
    normed = (deviation.T / std).T
    factor = _floats(norm.get("gain", 1)) + bool(norm.get("unit_offset"))
    normed = normed * factor + _floats(norm.get("shift", 0))
    parts = {"squared": deviation**2}
    if rooted:
        parts |= {"mean_square": variance, "rms": std}
    else:
        parts |= {"mean": mean, "deviation": deviation, "variance": variance, "std": std}
    return {"norm": normed} | {f"norm.{name}": part for name, part in parts.items()}


BEYOND = 1e6
"""A mask of -1e9 leaves scores that no exponential is made of before their largest is gone."""


def _softmax(x: Array, shifted: bool) -> dict[str, Array]:
    """Shares, the exponentials and their sums; where all of a row is minus infinity, zeros.

    Shifted, also the largest of each row, 0 of such a one, and what is left without it.
    """
    shares = np.where(np.isneginf(x), 0, np.exp(_log_softmax(x)))
    largest = np.max(x, axis=-1)
    largest = np.where(np.isneginf(largest), 0, largest)
    found = {}
    if shifted:
        x = x - largest[..., np.newaxis]
        found = {"max": largest, "shifted": x}
    powers = np.exp(x)
    return {"shares": shares, "exp": powers, "exp_sum": powers.sum(axis=-1)} | found


def _log_softmax(x: Array) -> Array:
    result: Array = x - np.logaddexp.reduce(x, axis=-1, keepdims=True)
    return result


def _affine(x: Array, matrix: Any, bias: Any) -> Array:
    return _with_ones(x) @ _with_bias(matrix, bias)


def _with_ones(x: Array) -> Array:
    return np.hstack([x, np.ones((len(x), 1))])


def _with_bias(matrix: Any, bias: Any) -> Array:
    weights = _floats(matrix)
    last = np.zeros(weights.shape[1]) if bias is None else _floats(bias)
    return np.vstack([weights, last])


def _floats(numbers: Any) -> Array:
    if isinstance(numbers, np.ndarray):
        return np.asarray(numbers, np.float64)
    if isinstance(numbers, Mapping):
        forms = (part.weights for part in judged_parts())
        return next(form[key](numbers) for form in forms for key in form if key in numbers)
    return np.array(numbers, dtype=object).astype(np.float64)


def _is_none(setting: Any) -> bool:
    return setting is None or setting == "none"
