"""The decoder's arithmetic written a second time, as whole-array float64 algebra.

Tests compare the values of a trace with the ones computed here.  To be worth comparing with, the
formulation is deliberately not a loop over heads and tokens:

* all heads of a layer are zero-padded to one width and computed together with ``einsum``;
* a bias is one more row of its matrix, met by a column of ones;
* the mask sets hidden scores to minus infinity, and the softmax goes through log-sum-exp;
* a sine and its cosine are the two parts of one complex exponential.

Shapes: one row per token; ``dot``, ``scores`` and ``weights`` have one column per attended token;
``norm.mean``, ``norm.variance`` and ``norm.std`` are vectors with one entry per token.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Spec = Mapping[str, Any]


@np.errstate(divide="ignore", invalid="ignore")
def reference(scenario: Spec) -> dict[str, Array]:
    """Every value of the scenario's run, unrounded, by address.

    ``dot`` and ``scores`` are the full squares, before the mask; ``weights`` is zero where the mask
    hides a token.  ``norm.std`` is the divisor, the root of variance plus epsilon: with epsilon 0,
    a row of equal values normalises to NaN, or to noise where float64 misses the exact zero.
    Without an activation function, ``activation`` repeats ``hidden``.
    """
    x = _embedding(scenario)
    values = {"embedding": x}
    position = _position(scenario.get("positions"), *x.shape)
    if position is not None:
        values["position"] = position
        x = x + position
    values["input"] = x

    for number, layer in enumerate(scenario.get("layers") or [], start=1):
        for name, sublayer in (("attention", _attention), ("ffn", _ffn)):
            part = layer.get(name)
            if part is None:
                continue
            found = sublayer(x, part)
            if part.get("residual", True):
                found["residual"] = x + found["output"]
            x = found.get("residual", found["output"])
            norm = part.get("norm", layer.get("norm"))
            if not _is_none(norm):
                found |= _norm(x, norm)
                x = found["norm"]
            values |= {f"layer{number}.{name}.{key}": value for key, value in found.items()}
    values["output"] = x

    unembedding = scenario.get("unembedding")
    if unembedding is not None:
        values["logits"] = _affine(x, unembedding["W_U"], unembedding.get("b_U"))
        values["probabilities"] = _softmax(values["logits"])
    return values


def predicted_words(scenario: Spec) -> list[str]:
    """The word of the largest logit for each token, the first such word if there are several."""
    best = np.argmax(reference(scenario)["logits"], axis=-1)
    return [scenario["vocabulary"][index] for index in best]


def _embedding(scenario: Spec) -> Array:
    embeddings = scenario["embeddings"]
    if isinstance(embeddings, Mapping):
        return _floats([embeddings[token] for token in scenario["tokens"]])
    return _floats(embeddings)


def _position(positions: Any, tokens: int, width: int) -> Array | None:
    if _is_none(positions):
        return None
    if "table" in positions:
        return _floats(positions["table"])[:tokens]
    start = int((positions["sinusoidal"] or {}).get("start", 1))
    pair = np.arange((width + 1) // 2)
    angle = np.multiply.outer(np.arange(start, start + tokens), 10000.0 ** (-2.0 * pair / width))
    wave = np.exp(1j * angle)
    return np.stack([wave.imag, wave.real], axis=-1).reshape(tokens, -1)[:, :width]


def _attention(x: Array, attention: Spec) -> dict[str, Array]:
    """All heads at once, axes: h head, i and j token, m model feature, k and v head feature."""
    heads = attention["heads"]
    W_Q, _ = _stack_heads(heads, "W_Q", "b_Q")
    W_K, has_key = _stack_heads(heads, "W_K", "b_K")
    W_V, has_value = _stack_heads(heads, "W_V", "b_V")
    ones = _with_ones(x)
    query, key, value = (np.einsum("im,hmk->hik", ones, W) for W in (W_Q, W_K, W_V))

    dot = np.einsum("hik,hjk->hij", query, key)
    scores = dot / np.sqrt(has_key.sum(axis=-1))[:, np.newaxis, np.newaxis]
    visible = np.tri(len(x), dtype=bool)
    weights = _softmax(np.where(visible, scores, -np.inf))
    output = np.einsum("hij,hjv->hiv", weights, value)

    found: dict[str, Array] = {}
    for h in range(len(heads)):
        found |= {
            f"head{h + 1}.query": query[h][:, has_key[h]],
            f"head{h + 1}.key": key[h][:, has_key[h]],
            f"head{h + 1}.value": value[h][:, has_value[h]],
            f"head{h + 1}.dot": dot[h],
            f"head{h + 1}.scores": scores[h],
            f"head{h + 1}.weights": weights[h],
            f"head{h + 1}.output": output[h][:, has_value[h]],
        }
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


def _stack_heads(heads: list[Spec], matrix: str, bias: str) -> tuple[Array, NDArray[np.bool_]]:
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


def _ffn(x: Array, ffn: Spec) -> dict[str, Array]:
    hidden = _affine(x, ffn["W_1"], ffn.get("b_1"))
    activation = hidden
    if ffn.get("activation", "relu") == "relu":
        activation = (hidden + np.abs(hidden)) / 2
    output = _affine(activation, ffn["W_2"], ffn.get("b_2"))
    return {"hidden": hidden, "activation": activation, "output": output}


def _norm(x: Array, norm: Spec) -> dict[str, Array]:
    mean, variance = np.mean(x, axis=-1), np.var(x, axis=-1)
    std = np.sqrt(variance + float(norm.get("epsilon", 0)))
    normed = ((x.T - mean) / std).T
    normed = normed * _floats(norm.get("gain", 1)) + _floats(norm.get("shift", 0))
    return {"norm.mean": mean, "norm.variance": variance, "norm.std": std, "norm": normed}


def _softmax(x: Array) -> Array:
    result: Array = np.exp(x - np.logaddexp.reduce(x, axis=-1, keepdims=True))
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
    return np.array(numbers, dtype=object).astype(np.float64)


def _is_none(setting: Any) -> bool:
    return setting is None or setting == "none"
