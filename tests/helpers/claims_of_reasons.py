"""Goals, reasons and captions that hold under a condition: each with its check.

A condition is decided on the scenario as it is typed, and on numbers where it speaks of numbers.
"""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np

from tests.helpers.judge import NOISE, Check, Judge, Said, number
from tests.helpers.judged_part import judged_parts
from tests.helpers.reference import reference
from tests.helpers.rotary_of_layers import prefix, settings_of
from tests.helpers.unembeddings import is_tied, unembedding_of

SOFTMAX = ("max", "shifted", "exp", "exp_sum")
NORM = ("mean", "deviation", "squared", "variance", "std", "mean_square", "rms")
BLOCK = (
    *("scores", "values", "max", "change", "factor", "shifted", "exp", "sum"),
    *("block_sum", "block_output"),
)
NORMS = (
    *("norm", "norm_after", "embedding_norm", "final_norm"),
    *("query_norm", "key_norm", "output_norm"),
)
WAVES = ("index", "div_term", "angle", "sin", "cos")
SCALED = (
    *("base", "unscaled", "turns", "ramp_start", "ramp_end", "ramp"),
    *("attention_factor", "scaled_sin", "scaled_cos"),
)


# --- what a section is of, as the scenario says it ------------------------------------------------


def inside(address: str) -> list[str]:
    """The addresses of all that is worked in a section, by that of its result."""
    place, _, name = address.rpartition(".")
    at = f"{place}." if place else ""
    if address.endswith("router.weights"):
        return [address, *(at + part for part in ("chosen", "probabilities", *SOFTMAX))]
    if name in ("cos", "scaled_cos") or address == "position":
        of_waves = at or "position."
        return ["position", *(f"{of_waves}{wave}" for wave in (*WAVES, *SCALED))]
    if address == "probabilities":
        return [address, *(f"{address}.{part}" for part in SOFTMAX)]
    if name in NORMS:
        return [address, *(f"{address}.{part}" for part in NORM)]
    parts = {
        "scores": ("dot", "d_k", "scale"),
        "weight": ("logit",),
        "biased": ("slope",),
        "weights": (*SOFTMAX, "weights_and_sink") if not place.endswith("unmasked") else (),
        "activation": ("hidden.clamped",),
        "gated": ("up", "up.clamped"),
        "output": BLOCK
        if re.search(r"\.block\d+$", place)
        else ("projected", "routed", "shared_gate.output")
        if ".ffn" in place
        else (),
        "embedding": ("token_ids",),
        "logits": ("logits.uncapped", "logits.unscaled"),
        "residual": ("residual.scaled",),
        "rotated_key": ("key",) if place.endswith(".latent") else (),
        "rotated": ("",) if place.endswith("rotary_query") else (),
        "scaled": ("d_model", "scale"),
    }
    found = [address, *(at + part for part in parts.get(name, ()))]
    for part in judged_parts():
        for pattern, names in part.inside.items():
            found += [at + each for each in names if re.search(rf"{pattern}$", address)]
    return found


def partly_given(at: Judge) -> bool:
    """Whether something of a section is given instead of computed."""
    return any(address in at.spec.get("given", {}) for address in inside(at.address))


def layer_of(at: Judge) -> dict[str, Any]:
    found = re.search(r"layer(\d+)\.", at.address)
    assert found, at.address
    layer: dict[str, Any] = at.spec["layers"][int(found[1]) - 1]
    return layer


def is_of_transform(at: Judge) -> bool:
    """Whether a section belongs to the transform before the unembedding."""
    return "unembedding.transform." in at.address


def part_of(at: Judge) -> dict[str, Any]:
    """The sub-layer that a section belongs to, or the transform before the unembedding."""
    if is_of_transform(at):
        return dict(at.spec["unembedding"]["transform"])
    found = re.search(r"layer\d+\.(\w+)\.", at.address)
    assert found, at.address
    part: dict[str, Any] = layer_of(at)[found[1]]
    return part


def norm_of_heads(at: Judge) -> str:
    """`query`, `key` or `output` if a section normalizes these, also where earlier keys precede."""
    found = re.search(r"attention\.(?:head\d+\.)?(?:(query|key|output)_norm|keys)$", at.address)
    return (found[1] or "key" * (at.near("key_norm") is not None)) if found else ""


def normalizes_rotated(part: dict[str, Any]) -> bool:
    """Whether an attention normalizes queries or keys behind their rotation."""
    norms = [norm for key in ("query_norm", "key_norm") if isinstance(norm := part.get(key), dict)]
    return any(norm.get("placement") == "after_rotary" for norm in norms)


def spans_heads(at: Judge, norm: dict[str, Any]) -> bool:
    """Whether a norm of queries or keys reads those of several heads."""
    heads = part_of(at)["heads"]
    own = [h for h in heads if norm_of_heads(at) == "query" or "shares" not in h]
    return norm.get("over") == "heads" and len(own) > 1


def network_of(at: Judge) -> dict[str, Any]:
    """The FFN that a section belongs to, or its expert."""
    part = part_of(at)
    if ".shared." in at.address:
        return dict(part["shared"])
    expert = re.search(r"\.expert(\d+)\.", at.address)
    return dict(part["experts"][int(expert[1]) - 1]) if expert else part


def _parameter(at: Judge, name: str) -> Any:
    """A parameter of the FFN, from the values of the pass if they have it."""
    address = f"{at.address.rpartition('.')[0]}.{name}"
    return at.values[address]["data"] if address in at.values else network_of(at).get(name)


def norm_of(at: Judge) -> dict[str, Any]:
    """The norm that a section works out."""
    of_tower = re.search(r"\b(?:embedding|final)_norm\b", at.address)
    norm = at.spec[of_tower[0]] if of_tower else None
    if of_heads := norm_of_heads(at):
        norm = part_of(at)[f"{of_heads}_norm"]
    if latent := re.search(r"\.latent\.(norm|query_norm)$", at.address):
        norm = part_of(at)["latent"][latent[1]]
    if at.address.endswith("norm_after"):
        norm = part_of(at).get("norm_after", layer_of(at).get("norm_after"))
    if is_of_transform(at):
        norm = part_of(at)["norm"]
    if norm is None:
        norm = part_of(at).get("norm", layer_of(at).get("norm"))
    assert isinstance(norm, dict)
    return norm


def of_the_norm(norm: dict[str, Any]) -> str:
    """`γ and β`, as far as it has them."""
    return " and ".join(letter for key, letter in (("gain", "γ"), ("shift", "β")) if key in norm)


def has_epsilon(norm: dict[str, Any]) -> bool:
    return number(str(norm.get("epsilon", 0))) > 0


def layers(at: Judge) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = at.spec.get("layers") or []
    return found


def attends(at: Judge) -> bool:
    return any("attention" in layer or "cross_attention" in layer for layer in layers(at))


def has_cross_attention(at: Judge) -> bool:
    spec = at.scenario
    return any("cross_attention" in layer for layer in spec.get("layers") or [])


def seen(at: Judge) -> list[list[bool]]:
    """Which token may look at which, by the mask that is asked for."""
    tokens, n = at.tokens, len(at.tokens)
    own = part_of(at).get("mask") if "layer" in at.address else None
    where = at.mask()["address"] if at.mask() else "mask"
    given = at.spec.get("given", {})
    asked = given.get(where, own or at.spec.get("mask", "causal"))
    if isinstance(asked, list):
        rows = [
            [number(str(x).replace(".inf", "inf")) > -1e300 for x in row[:n]] for row in asked[:n]
        ]
    else:
        window = int(asked["window"]) if isinstance(asked, dict) else n
        rows = [
            [asked == "none" or (j <= i and i - j < window) for j in range(n)] for i in range(n)
        ]
    if where in given:
        return rows
    return [[sees and tokens[j] != at.padding for j, sees in enumerate(row)] for row in rows]


# --- attention -----------------------------------------------------------------------------------


def divided(at: Judge, said: Said) -> None:
    asked = part_of(at).get("scale", "sqrt")
    assert at.address.endswith(".scores") and asked != "none"
    assert (said["scale"] == "c") == (asked != "sqrt")
    query = at.near("joined_query") or at.near("query")
    by = query["shape"][1] if asked == "sqrt" else number(str(asked))
    assert by > 1


def why_masked(at: Judge, said: Said) -> None:
    rows = seen(at)
    assert len(rows) > 1 and not any(any(row[i + 1 :]) for i, row in enumerate(rows))
    before = min(at.followed, len(rows) - 2)
    assert [said["before"], said["next"]] == at.names[before : before + 2]


def moves(at: Judge, said: Said) -> None:
    assert at.address.endswith(".output") and ".head" in at.address and said["who"] == at.who
    if "cross_attention" in at.address:
        return
    assert len(at.tokens) - len(at.hidden()) > 1
    rows = seen(at) if at.mask() else [[True] * len(at.tokens)] * len(at.tokens)
    given = at.spec.get("given", {})
    if any(at.place + name in given for name in ("masked", "shifted", "exp", "weights")):
        rows = [[number(str(x)) != 0 for x in row] for row in at.near("weights")["data"]]
    assert any(sees for i, row in enumerate(rows) for j, sees in enumerate(row) if i != j)


def of_heads(at: Judge, said: Said) -> None:
    part = part_of(at)
    if "as wide as" in said[""]:
        assert part.get("residual", True)
    else:
        assert len(part["heads"]) > 1
    assert "W_O" in part or "W_O" not in said[""]
    assert "W_O" not in part or "later weights" not in said[""]


def of_a_head(at: Judge, said: Said) -> None:
    ends = {"Attention compares": "query", "A separate key": "key", "A separate value": "value"}
    ends |= {"The exponential": "weights", "Because the output": "output", "A large": "scores"}
    end = next(end for start, end in ends.items() if said[""].startswith(start))
    assert re.search(rf"\.head\d+\.{end}s?$", at.address) and not partly_given(at)
    if "weights" in said:
        assert (said["weights"] is None) == (at.result["operation"] == "given")
    crosses = "cross_attention" in at.address
    own = said[""].startswith("A separate")  # the keys and values of cross-attention are others'
    if "who" in said and own and at.heading.startswith("1. Layer"):
        assert said["who"] in at.tokens  # the token that a trained head reads
    elif "who" in said:
        assert said["who"] == (None if own and crosses else at.who)
    if "n" in said:
        assert int(said["n"]) == at.result["shape"][1]


def turned_together(at: Judge, said: Said) -> None:
    given, settings = at.spec.get("given", {}), settings_of(at.spec, part_of(at))
    assert settings is not None and at.address.endswith(".rotated_query")
    assert not normalizes_rotated(part_of(at))
    where = prefix(at.spec, settings)
    assert not any(f"{where}position.{wave}" in given for wave in ("angle", "sin", "cos"))


def sees(at: Judge, layer: int) -> list[list[bool]]:
    """Which tokens each token can see in the self-attention of a layer."""
    n, mask = len(at.tokens), at.mask(layer)
    rows = mask["data"] if mask else [[0] * n] * n
    return [[number(str(x)) != float("-inf") for x in row] for row in rows]


def gathers(at: Judge, layers: list[Any]) -> bool:
    """Whether tokens see others in the first layers, or those of the encoder."""
    if any("cross_attention" in layer for layer in layers):
        return True
    seen = [sees(at, i) for i, layer in enumerate(layers, 1) if "attention" in layer]
    others = (x for rows in seen for i, row in enumerate(rows) for j, x in enumerate(row) if i != j)
    return any(others) and at.only_hides()


def order(at: Judge, said: Said) -> None:
    """Other tokens count in any order without a mask, earlier ones in one layer with a causal one."""
    assert attends(at) and not partly_given(at)
    n, number = len(at.tokens), range(1, len(layers(at)) + 1)
    seen = [sees(at, i) for i in number if "attention" in layers(at)[i - 1]]
    unmasked = at.only_hides() and all(all(map(all, rows)) for rows in seen)
    causal = [[j <= i for j in range(n)] for i in range(n)]
    one_causal = at.only_hides() and seen == [causal]
    earlier = at.followed if one_causal else 0
    which = "other" if unmasked else "earlier"
    may_be_in_any_order = (n - 1 if unmasked else earlier) >= 2 and not at.scenario.get("given")
    may_be_in_any_order &= "type_embeddings" not in at.spec
    assert may_be_in_any_order == ("which" in said)
    if may_be_in_any_order:
        assert (said["which"], said["who"]) == (which, at.who)
        from_seed = "random" in at.spec.get("embeddings", ())
        assert at.typed or from_seed or not order_counts_without_positions(at, which)


def order_counts_without_positions(at: Judge, which: str) -> bool:
    """Whether the followed token's output, without positions, depends on the order of others."""
    n, token = len(at.tokens), at.followed
    others = range(token) if which == "earlier" else [i for i in range(n) if i != token]
    plain = _without_positions(at, list(range(n)))[token]
    swaps = ([{i: j, j: i}.get(k, k) for k in range(n)] for i, j in combinations(others, 2))
    found = (_without_positions(at, order)[token] for order in swaps)
    return not all(np.allclose(plain, each, rtol=1e-6, atol=1e-8, equal_nan=True) for each in found)


def _without_positions(at: Judge, order: list[int]) -> Any:
    """The output for each token, in such an order, computed without positions."""
    table, tokens = at.spec["embeddings"], at.tokens
    rows = [table[token] for token in tokens] if isinstance(table, dict) else table
    memory = at.spec.get("encoder")
    tower = {
        **{key: value for key, value in at.spec.items() if key not in ("given", "unembedding")},
        "tokens": [tokens[i] for i in order],
        "embeddings": [rows[i] for i in order],
        "positions": "none",
        **({"encoder": memory} if memory else {}),
    }
    return reference(tower)["output"]


def rotates(at: Judge, said: Said) -> None:
    assert bool(said["embeddings"]) != at.typed
    assert "rotary" in at.spec["positions"] and attends(at) and not partly_given(at)
    where = re.sub(r"position\..*", "", at.address)
    assert (said["kept"] is None) == (f"{where}position.scaled_cos" in at.values)


# --- the FFN -------------------------------------------------------------------------------------


def nonlinear(at: Judge, said: Said) -> None:
    part = network_of(at)
    assert attends(at) and (part.get("activation", "relu") != "none" or "W_3" in part)


def bent(at: Judge, said: Said) -> None:
    part = network_of(at)
    assert part.get("activation", "relu") != "none" and "W_3" not in part
    assert part.get("activates", "hidden") == "hidden"
    assert bool(said["bias"]) == ("b_1" in part or "b_2" in part)


def of_rows(at: Judge, said: Said) -> None:
    part = network_of(at)
    behind = part.get("activates") == "output"
    assert said["of"] == ("g" if "W_3" in part else "h" if behind else "a")
    assert bool(said["bias"]) == ("b_2" in part)


SMOOTH = (
    "Large positive numbers hardly change, numbers near 0 are about halved, and large negative "
    "numbers become almost 0."
)
FUNCTIONS = {
    "relu": "ReLU keeps positive numbers and sets all others to 0.",
    "gelu": "GELU multiplies each number by Φ of it, the share of a standard normal distribution "
    f"below it. {SMOOTH}",
    "gelu_tanh": "GELU multiplies each number by the share of a standard normal distribution below "
    f"it. {SMOOTH} Here the share is approximated by a fraction, which equals the ½·(1 + tanh(…)) "
    "that programs use.",
    "silu": f"SiLU divides each number x by 1 + e^(-x). {SMOOTH}",
    "sigmoid": "The sigmoid maps each number to a number between 0 and 1, and 0 to 0.5.",
    "tanh": "tanh maps each number to a number between -1 and 1, and 0 to 0.",
    "relu_squared": "ReLU² squares positive numbers and sets all others to 0.",
}


# --- norms ---------------------------------------------------------------------------------------


def normalized(at: Judge, said: Said) -> None:
    norm = norm_of(at)
    assert (said["names"] or "") == of_the_norm(norm) and not partly_given(at)
    if "which" in said:
        assert (said["which"] == "RMSNorm") == (norm.get("kind") == "rms_norm")
    else:
        words = (("gain", "a scale"), ("shift", "an offset"))
        assert said["what"] == " and ".join(word for key, word in words if key in norm)


def norms_of_heads(at: Judge, said: Said) -> None:
    part, norm = part_of(at), norm_of(at)
    assert norm_of_heads(at) and not partly_given(at)
    if said[""].startswith("All heads"):
        assert len(part["heads"]) > 1 and of_the_norm(norm) and not spans_heads(at, norm)
    else:
        assert isinstance(part["query_norm"], dict) and isinstance(part["key_norm"], dict)


def one_more_than_the_gain(at: Judge, said: Said) -> None:
    norm = norm_of(at)
    assert norm["unit_offset"] and "gain" in norm and not partly_given(at)


def bare_norm(at: Judge, said: Said) -> None:
    norm = norm_of(at)
    assert of_the_norm(norm) == "" and not partly_given(at)
    is_root = norm.get("kind") == "rms_norm"
    assert (said["which"] == "RMSNorm") == is_root == (said["shift"] is None)


def in_parallel(at: Judge, said: Said) -> None:
    assert at.address.endswith("ffn.hidden")
    ahead, found = [at.address], set[str]()
    while ahead:
        address = ahead.pop()
        found.add(address)
        operands = at.values[address]["operands"]
        ahead += [each for each in operands if each in at.values and each not in found]
    attention = at.address.replace("ffn.hidden", "attention.")
    assert not any(each == f"{attention}output" for each in found)


def adds_a_multiple(at: Judge, said: Said) -> None:
    assert at.address.endswith(".residual") and not partly_given(at)
    assert number(said["scale"]) == number(str(part_of(at)["residual_scale"]))
    if said["what"] != "its input":
        adds_to_attention(at, said)


def multiple(at: Judge, said: Said) -> bool:
    return at.address.endswith(".residual") and "residual_scale" in part_of(at)


def adds_to_attention(at: Judge, said: Said) -> None:
    assert at.address.endswith(".ffn.residual") and not at.pinned(at.address)
    added = at.values[at.address.replace("ffn", "attention")]
    assert added["symbol"] == said["what"].replace("ᴱ", "")
    assert added["address"] in at.result["operands"] and layer_of(at)["parallel"]


def sum_of_inputs(at: Judge) -> str:
    """The address of the embeddings with their positions."""
    return "embedding.sum" if "embedding.sum" in at.values else "input"


def stacked(at: Judge, said: Said) -> None:
    assert at.heading == "Stacking layers" and at.spec["layers"]
    ends = re.compile(r"layer\d+\.\w+\.(residual|norm|output)|input|output")
    shapes = {str(v["shape"]) for a, v in at.values.items() if ends.fullmatch(a)}
    assert len(shapes) == 1 and "position" in at.values
    assert said["shape"] == " × ".join(map(str, at.values["input"]["shape"]))
    layer_by_layer(at, said)


def layer_by_layer(at: Judge, said: Said) -> None:
    """x⁽¹⁾ is what leaves the first layer: the last residual connection or norm in it."""
    assert at.heading == "Stacking layers"
    leaving = [at.values["input"]["symbol"]]
    for layer in range(1, at.layers + 1):
        form = re.compile(rf"layer{layer}\.\w+\.(residual|norm|norm_after|output)")
        leaving.append([v["symbol"] for a, v in at.values.items() if form.fullmatch(a)][-1])
    raised = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    names = [f"x⁽{str(i).translate(raised)}⁾" for i in range(len(leaving))]
    meant = dict(zip(names, leaving, strict=True))
    told = dict(re.findall(r"(x⁽\S+⁾) is (\S+?)(?=, | and |$)", said["named"]))
    assert told.items() <= meant.items() and {names[0], names[-1]} <= set(told)
    chain = said["chain"].split(" → ")
    goes_on = at.layers == 1
    assert bool(said["more"]) == goes_on and (chain[-1] == "x⁽ᴸ⁾") == goes_on
    assert [name for name in chain if name not in ("…", "x⁽ᴸ⁾")] == list(told)


def all_keys(at: Judge, said: Said) -> None:
    """The scores read keys of several tokens, of the encoder's in cross-attention."""
    assert at.address.endswith(".scores") and ".block" not in at.address
    dot = at.near("dot") or at.result
    keys = next(at.values[a] for a in dot["operands"] if at.values[a]["symbol"] == said["keys"])
    assert len(keys["data"]) > 1


def epsilon(at: Judge, said: Said) -> None:
    norm = norm_of(at)
    assert has_epsilon(norm)
    assert (said["where"] == "to") == bool(norm.get("epsilon_outside", False))
    assert (said["what"] == "zeros") == (norm.get("kind") == "rms_norm")


def measured(at: Judge, said: Said) -> None:
    norm = norm_of(at)
    by_root = norm.get("kind") == "rms_norm"
    of_heads = norm_of_heads(at)
    several = (
        {"query": "queries", "key": "keys"}[of_heads]
        if of_heads and spans_heads(at, norm)
        else None
    )
    assert said["together"] == several
    latent = "latent vector" if ".latent." in at.address else "token"
    assert said["whose"] == ("token" if several else of_heads or latent)
    assert (bool(said["gain"]), bool(said["shift"])) == ("gain" in norm, "shift" in norm)
    assert bool(said["one"]) == bool(norm.get("unit_offset", False))
    assert said["how"].startswith("numbers") == by_root and not partly_given(at)
    assert bool(said["epsilon"]) == (by_root and has_epsilon(norm))


def root(at: Judge, said: Said) -> None:
    norm = norm_of(at)
    assert bool(said["epsilon"]) == has_epsilon(norm)
    assert (said["what"] == "The root mean square") == (norm.get("kind") == "rms_norm")


def variance(at: Judge, said: Said) -> None:
    assert ("sample" in said[""]) == (norm_of(at).get("deviation") == "sample")


def divided_by_root(at: Judge, said: Said) -> None:
    norm = norm_of(at)
    assert (bool(said["gain"]), bool(said["shift"])) == ("gain" in norm, "shift" in norm)
    assert bool(said["one"]) == bool(norm.get("unit_offset", False))
    assert said["what"].startswith("number") == (norm.get("kind") == "rms_norm")


# --- words ---------------------------------------------------------------------------------------


def of_columns(at: Judge, said: Said) -> None:
    unembedding = unembedding_of(at.spec)
    assert at.address == "logits" and bool(said["bias"]) == ("b_U" in unembedding)
    row = at.row(at.result)
    assert row.data[row.labels.index(said["word"])] >= max(row.data) - NOISE
    transform = unembedding.get("transform")
    of_transform = "y_M" if transform and transform.get("norm", "none") != "none" else "a_M"
    assert said["read"] == (of_transform if transform else "the model's output")
    cap = "soft cap" if "softcap" in unembedding else None
    assert said["before"] == ("division" if "scale" in unembedding else cap)


def sampled(at: Judge, said: Said) -> None:
    shares = at.values.get("sampling.renormalized") or at.values["sampling.candidates"]
    left = sum(number(str(share)) > 0 for share in shares["data"][0])
    assert said[""].startswith("Only one") == (left == 1)


# --- the backward pass ----------------------------------------------------------------------------


def counts(at: Judge) -> list[bool]:
    """At which positions there is a right word."""
    words, tokens, targets = at.spec["vocabulary"], at.tokens, at.values["loss.target"]["data"]
    return [
        target in words and at.padding not in (token, target)
        for token, target in zip(tokens, targets, strict=True)
    ]


def at_the_logits(at: Judge, said: Said) -> None:
    assert at.address == "gradient.logits" and bool(said["none"]) == (not all(counts(at)))
    examples = at.spec.get("training") or [{}]
    words, padding = at.spec["vocabulary"], at.spec.get("padding")
    pairs = [pair for example in examples for pair in read_and_targets({**at.spec, **example})]
    counted = sum(target in words and padding not in (token, target) for token, target in pairs)
    is_sum = at.spec.get("loss", {}).get("reduction") == "sum"
    n = None if is_sum or counted == 1 else str(counted)
    assert said["n"] == said["mean"] == n and (said["over"] or said["alone"]) == missed(at)
    assert bool(said["batch"]) == (n is not None and len(examples) > 1)


def missed(at: Judge) -> str:
    """The probability less the target, which label smoothing shares out to all words."""
    share = Decimal(str(at.spec.get("loss", {}).get("smoothing", 0)))
    words = len(at.spec["vocabulary"])
    return f"p - {1 - share}×t - {share} / {words}" if share else "p - t"


def of_cross_entropy(at: Judge, said: Said) -> None:
    assert at.address == "gradient.logits" and said["missed"] == missed(at)
    assert at.spec.get("loss", {}).get("kind", "cross_entropy") == "cross_entropy"


def read_and_targets(spec: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Each token with its target: that which is given, or the next token."""
    targets = spec.get("targets") or [*spec["tokens"][1:], None]
    return list(zip(spec["tokens"], targets, strict=True))


def negative(at: Judge, said: Said) -> None:
    words, targets = at.spec["vocabulary"], at.values["loss.target"]["data"]
    assert len(words) > 1
    smoothing = float(at.spec.get("loss", {}).get("smoothing", 0))
    of_each = smoothing / len(words)
    for row, target, asked in zip(
        at.values["probabilities"]["data"], targets, counts(at), strict=True
    ):
        if asked:
            right, shares = words.index(target), [number(str(share)) for share in row]
            others = [share for word, share in enumerate(shares) if word != right]
            assert shares[right] < 1 - smoothing + of_each and min(others) >= of_each


def of_softmax(at: Judge, said: Said) -> None:
    crossed, n = "cross_attention" in at.address, len(at.tokens)
    hides = not crossed and not at.outside and not all(all(row[:n]) for row in seen(at))
    assert at.address.endswith(".weights") and bool(said["mask"]) == hides


def of_a_row(at: Judge, said: Said) -> None:
    table, gradient = at.spec["embeddings"], at.values["gradient.embeddings"]["data"]
    assert bool(said["words"]) == isinstance(table, dict)
    tied = is_tied(at.spec)
    assert bool(said["tied"]) == (tied and bool(said["words"]))
    if said["words"] and not tied:
        examples = [each["tokens"] for each in at.spec.get("training", [])] or [at.tokens]
        read = {token for tokens in examples for token in tokens}
        rows = zip(table, gradient, strict=True)
        assert not any(number(str(x)) for word, row in rows for x in row if word not in read)


def of_embeddings(at: Judge, said: Said) -> None:
    assert bool(said["rows"]) == ("gradient.embeddings" in at.values)


# --- the update ----------------------------------------------------------------------------------


def updated(at: Judge) -> str:
    """The parameter of the section."""
    return at.heading.partition("The update of ")[2]


def decay(at: Judge) -> float:
    return number(str(at.spec.get("optimizer", {}).get("weight_decay", 0)))


def gradient_of(at: Judge) -> list[float]:
    data = at.values[f"gradient.{updated(at)}"]["data"]
    rows = data if isinstance(data[0], list) else [data]
    return [number(str(x)) for row in rows for x in row]


def against_its_gradient(at: Judge, said: Said) -> None:
    decays = decay(at) > 0
    assert decays == ("decay" in said[""])
    assert decays or bool(said["other"]) == (not all(gradient_of(at)))


def decayed(at: Judge, said: Said) -> None:
    assert decay(at) > 0


def velocity(at: Judge, said: Said) -> None:
    assert number(str(at.spec["optimizer"]["momentum"])) > 0


def directions(at: Judge, said: Said) -> None:
    data = at.values[f"update.{updated(at)}.direction"]["data"]
    rows = data if isinstance(data[0], list) else [data]
    sizes = [abs(number(str(x))) for row in rows for x in row]
    moved = [size for size in sizes if size]
    alike = bool(moved) and max(moved) <= 1.1 * min(moved)
    assert alike == ("same size" in said[""])
    assert not alike or bool(said["other"]) == (len(moved) < len(sizes))


def others(at: Judge, said: Said) -> None:
    some_stay = any(address.endswith(".frozen") for address in at.values)
    assert bool(said["trained"]) == ("trains" in at.spec.get("optimizer", {}) or some_stay)
    moved = [a for a in at.values if re.fullmatch(r"update\.(?!.*\.(?:gain|shift)\.).+", a)]
    assert {a for a in moved if f"gradient.{a.removeprefix('update.')}" in at.values} > {
        f"update.{updated(at)}"
    }


# --- around the steps ----------------------------------------------------------------------------


def plan(at: Judge, said: Said) -> None:
    every = [*layers(at), *(at.spec.get("encoder", {}).get("layers") or [])]
    ffns = [layer.get("ffn", {}) for layer in every]
    networks = [n for ffn in ffns for n in (ffn, *ffn.get("experts", ()), ffn.get("shared", {}))]
    networks.append(unembedding_of(at.spec).get("transform", {}))
    assert bool(said["phi"]) == any(each.get("activation") == "gelu" for each in networks)
    assert bool(said["part"]) != at.whole
    assert ("of a new kind" in said[""]) == (at.detail == "normal")


PARAMETER = re.compile(r"\.(W_\w+|b_\w+|[AB]|gain|shift|sink|router|router_bias|shared_gate)$")


def several_alike(at: Judge, said: Said) -> None:
    """Some parameters of one name and shape are in several heads, layers or experts."""
    alike: dict[tuple[Any, ...], list[str]] = {}
    for address, value in at.values.items():
        if value["operation"] == "given" and PARAMETER.search(address):
            place = re.sub(r"(layer|head|expert)\d+", r"\1", address)
            centers = f"{address.rpartition('.')[0]}.mean" in at.values  # a LayerNorm has its own
            alike.setdefault((place, centers, *value["shape"]), []).append(address)
    assert at.heading == ""
    assert set(re.split(", | or ", said["where"])) == {
        f"{noun}s"
        for noun in ("head", "layer", "expert")
        for addresses in alike.values()
        if len({n for each in addresses for n in re.findall(rf"{noun}\d+", each)}) > 1
    }


CLAIMS: dict[str, Check] = {
    "Vectors of more numbers tend to have dot products of larger magnitude. Dividing by {scale:√d_k|c} brings the scores closer together; otherwise the softmax may give nearly all weight to one token, so that its gradient nearly vanishes.": divided,
    "A large score means that a key matches the query of “{who:name}”: numbers of the same sign increase a dot product; numbers of opposite signs decrease it.": of_a_head,
    "Later tokens are hidden because they contain the answer when a model is trained to predict “{next:name}” after “{before:name}”.": why_masked,
    "Only attention moves information from other tokens to “{who:name}”; all other parts of a layer treat each token separately.": moves,
    "Each column of W_O weights the numbers of all heads.": of_heads,
    "The result of W_O is as wide as the sub-layer's input, so that the residual connection can add the two.": of_heads,
    "Because they are concatenated, {what:W_O can weight|later weights can treat} each head separately.": of_heads,
    "Attention compares the query of “{who:name}” with keys, and adds up values.[weights: Queries, keys and values each have a weight matrix, which all tokens share, so that its size does not depend on the length of the text.]": of_a_head,
    "A separate key lets {:an encoder token|“(?P<who>.+?)”} be found by something other than what it looks for.": of_a_head,
    "A separate value lets {:an encoder token|“(?P<who>.+?)”} pass on something other than what makes it easy to find.": of_a_head,
    "The exponential makes a finite score positive, so that it can be a share; before rounding, a score that is larger by 1 gets e times the attention of “{who:name}”, about 2.7 times.": of_a_head,
    "Because the output is a sum, it has {n:int} number[s], like one value, however many tokens there are.": of_a_head,
    "Before rounding, a dot product does not change when both vectors are rotated {:.+} at any position.": turned_together,
    "Without positions, reordering the {which:other|earlier} tokens would not change the result of “{who:name}”.": order,
    "Without positions, a score in the first attention layer would depend only on the vectors of the two tokens, not on where they are.": order,
    "Rotation marks the position[embeddings: and leaves the embeddings as they are][kept:; before rounding, it keeps each vector's length].": rotates,
    "Later weights can learn to separate meaning from position.": lambda at, _: (
        at.address == sum_of_inputs(at) and "position" in at.values and bool(layers(at))
    ),
    "The two are added rather than concatenated, so that the vectors do not become longer.": lambda at, _: (
        at.address == sum_of_inputs(at) and "position" in at.values and not at.pinned(at.address)
    ),
    "Attention mixes values linearly; the FFN adds a nonlinear step within each token.": nonlinear,
    "Each hidden unit has its own column of weights in W₁, {:.+} hidden units as features.": lambda at, _: (
        at.address.endswith(".hidden") and not partly_given(at)
    ),
    "Without the activation, W₁ and W₂ could be replaced by a single matrix[bias: and a bias].": bent,
    "Each unit adds its row of W₂{e:[¹²³⁴ˢ]?}, multiplied by its number in {of:[agh]}{=e}. A unit at 0 adds nothing.[bias: b₂{=e} is added at the end.]": of_rows,
    "The gate and the gated numbers are computed with different weights, {:.+} opens its gate.": lambda at, _: (
        at.address.endswith(".gated")
        and ("W_3" in network_of(at))
        and any(
            _parameter(at, one) != _parameter(at, other)
            for one, other in (("W_1", "W_3"), ("b_1", "b_3"))
        )
    ),
    "There is no activation function here: the numbers are passed on[how: unchanged].": lambda at, said: (
        network_of(at)["activation"] == "none" and said["how"] == at.passed_on()
    ),
    "{function:(?:ReLU keeps positive|GELU multiplies|SiLU divides|The sigmoid maps|tanh maps|ReLU² squares) .+}": lambda at, said: (
        said["function"] == FUNCTIONS[network_of(at).get("activation", "relu")]
        and not partly_given(at)
    ),
    "{which:LayerNorm|RMSNorm} brings large numbers back to a moderate size[ before {names:γ|β|γ and β}]. Each vector is normalized by itself, so the other tokens and the batch do not matter.": normalized,
    "With learned {names:γ|β|γ and β}, a model can choose {what:a scale|an offset|a scale and an offset} for each feature.": normalized,
    "A dot product is at most the product of both vectors' lengths. Therefore, dot products of normalized queries and keys are of a moderate size, unless γ or β is large.": norms_of_heads,
    "All heads use the same learned numbers here.": norms_of_heads,
    "The factor is 1 + γ, so that a feature with γ = 0 is not rescaled.": one_more_than_the_gain,
    "Many models then multiply each feature by a learned γ[shift: and add a learned β]; this {which:LayerNorm|RMSNorm} does not.": bare_norm,
    "Attention and the FFN are parallel here: neither reads the other's result, so that a program can compute both at the same time.": in_parallel,
    r"The sub-layer's output is multiplied by {scale}, a constant of the model; then {what:its input|\S+} is added.": adds_a_multiple,
    "A factor below 1 makes each change smaller.": lambda at, _: (
        at.address.endswith(".residual")
        and not partly_given(at)
        and abs(number(str(part_of(at)["residual_scale"]))) < 1
    ),
    "The output, multiplied by the factor:": multiple,
    "The product is added:": multiple,
    "{what} is added to the sub-layer's output.": adds_to_attention,
    "Many models also add a learned bias to each hidden unit; this layer does not.": lambda at, _: (
        bool(re.search(r"\.ffn\.(\w+\.)?hidden$", at.address))
        and not any(operand.endswith(".b_1") for operand in at.result["operands"])
    ),
    "Layers can be stacked because each returns vectors of the same shape as it reads, here {shape:[0-9 ×]+}. Each has its own weights. Positions are added only once, before the first layer. Layer by layer: {chain:[^,]+}, where {named:[^;]+}[more:; L is the number of layers].": stacked,
    "Each row of {keys:.+} is the key of one token.": all_keys,
    "This model has no cross-attention, because it has no encoder to attend to. Models that only continue a text, such as GPT, need no encoder; for a translation, an encoder can read the source text.": lambda at, _: (
        at.heading == "No cross-attention"
        and "encoder" not in at.spec
        and any("attention" in layer for layer in at.spec["layers"])
    ),
    "To predict the word after “{who:name}”, a model reads only the hidden state of “{=who}”.": lambda at, said: (
        said["who"] == at.who and at.address == "output" and gathers(at, at.spec["layers"])
    ),
    "A second layer reads vectors that hold what the first layer gathered, so it can follow relations that the first cannot. {known:The smallest GPT-2 has 12 layers, the largest GPT-3 has 96|The original transformer, which translates, has 6 layers in its encoder and 6 in its decoder}.": lambda at, said: (
        at.heading == "Stacking layers"
        and gathers(at, at.spec["layers"][:1])
        and said["known"].startswith("The original") == bool(at.spec.get("encoder"))
    ),
    "{numbers:Training can adjust these numbers; each|These numbers are learned; training would adjust those that the scenario names. Each} row names a step that uses them.": lambda at, said: (
        at.heading == ""
        and said["numbers"].startswith("Training") == ("trains" not in at.spec.get("optimizer", {}))
    ),
    "A row that counts several shows the first; the others belong to other {where:heads|layers|experts|heads or layers|heads or experts|layers or experts|heads, layers or experts}.": several_alike,
    "ε is added {where:under|to} the root so that a vector of {what:equal numbers|zeros} is not divided by 0.": epsilon,
    r"[The {together:queries|keys} of all heads are normalized together. ]Each {whose:token|query|key|output|latent vector}'s {how:mean is subtracted from its numbers, and the result is divided by the standard deviation σ|numbers are divided by their root mean square}[epsilon:, with ε][gain:, then multiplied by [one:1 + ]γ][shift:, and β is added].": measured,
    "The head gets its own columns of the normalized {which:queries|keys}.": lambda at, said: (
        spans_heads(at, norm_of(at))
        and said["which"] == {"query": "queries", "key": "keys"}[norm_of_heads(at)]
        and ".head" in at.address
    ),
    "{what:The standard deviation|The root mean square}[epsilon:, with ε]:": root,
    "The variance, the mean of the squares:": variance,
    "The sample variance, the sum of the squares divided by their number minus 1:": variance,
    "Each {what:difference, divided by σ|number, divided by the root mean square}[gain:, times [one:1 + ]γ][shift:, plus β]:": divided_by_root,
    "The logit of “{word:name}”[, before the {before:division|soft cap},] is the dot product of {read:the model's output|y_M|a_M} with the column of “{=word}” in W_U[bias:, plus its number in b_U].": of_columns,
    "A random number selects the next word according to the probabilities.": sampled,
    "A text that contains only the most probable words often {:.+} less probable words occur, too.": sampled,
    "Only one word is left to draw: every random number selects it.": sampled,
    r"Differentiated together, softmax and cross-entropy leave just {missed:p - .+?}. Without rounding, each row adds up to 0, because the probabilities add up to 1.": of_cross_entropy,
    r"The gradient at each logit is {:\((?P<over>p - .+)\) / (?P<n>\d+)|(?P<alone>p - .+)}, where p is its probability and t is 1 for the correct word and 0 otherwise.[ The loss is the mean over {mean:int} positions[batch: of the batch].][none: A position without a target has the gradient 0.]": at_the_logits,
    "Only the correct word's entry is negative: raising its logit lowers the loss.": negative,
    "The softmax divides by the sum of the row, so raising one score lowers the other weights. Therefore the weighted mean of a row's gradients is subtracted from each of them, and the difference is multiplied by the weight. Where a weight is 0[mask:, as at the masked scores], the gradient at the score is 0.": of_softmax,
    "The rows of the table are learned like any weight.[words: A row's gradient adds up the contributions of all places where the model reads its word. {:(?P<tied>The logits use the same rows, which adds another contribution for each word of the vocabulary)|The row of a word that the model does not read has the gradient 0}.]": of_a_row,
    "Compute the gradient at the embedding of each token[rows: and at the rows of the embedding table].": of_embeddings,
    "Each weight[other: with a gradient other than 0] moves against its gradient.": against_its_gradient,
    "Each weight is updated by its gradient and by weight decay.": against_its_gradient,
    "With weight decay:": decayed,
    "The velocity; the first step has no earlier velocity to add:": velocity,
    "Each weight[other: with a gradient] gets a step of about the same size:": directions,
    "The step of each weight, before the learning rate is applied:": directions,
    "All other [trained:trained ]weights are updated in the same way.": others,
    "[part:This is a part of the calculation. ]Each step shows its goal, its formula, its numbers and its result. You can check each line with a calculator[phi: that has the normal distribution].": plan,
}
