"""Goals, reasons and captions that hold under a condition: each with its check.

A condition is decided on the scenario as it is typed, and on numbers where it speaks of numbers.
"""

from __future__ import annotations

import re
from typing import Any

from tests.helpers.judge import Judge, form, number
from tests.helpers.rotary_of_layers import prefix, settings_of
from tests.helpers.unembeddings import is_tied, unembedding_of

SOFTMAX = ("max", "shifted", "exp", "exp_sum")
NORM = ("mean", "deviation", "squared", "variance", "std", "mean_square", "rms")
BLOCK = (
    *("scores", "values", "max", "change", "factor", "shifted", "exp", "sum"),
    *("block_sum", "block_output"),
)
WAVES = ("index", "div_term", "angle", "sin", "cos")


# --- what a section is of, as the scenario says it ------------------------------------------------


def inside(address: str) -> list[str]:
    """The addresses of all that is worked in a section, by that of its result."""
    place, _, name = address.rpartition(".")
    at = f"{place}." if place else ""
    if address.endswith("router.weights"):
        return [address, *(at + part for part in ("chosen", "probabilities", *SOFTMAX))]
    if address in ("position", "position.cos"):
        return ["position", *(f"position.{wave}" for wave in WAVES)]
    if address == "probabilities":
        return [address, *(f"{address}.{part}" for part in SOFTMAX)]
    if name in ("norm", "norm_after", "final_norm", "query_norm", "key_norm"):
        return [address, *(f"{address}.{part}" for part in NORM)]
    parts = {
        "scores": ("dot", "d_k", "scale"),
        "biased": ("slope",),
        "weights": (*SOFTMAX, "weights_and_sink") if not place.endswith("unmasked") else (),
        "gated": ("up",),
        "output": BLOCK
        if re.search(r"\.block\d+$", place)
        else ("projected", "routed")
        if ".ffn" in place
        else (),
        "embedding": ("token_ids",),
        "logits": ("logits.uncapped", "logits.unscaled"),
        "residual": ("residual.scaled",),
        "scaled": ("d_model", "scale"),
    }
    return [address, *(at + part for part in parts.get(name, ()))]


def partly_given(at: Judge) -> bool:
    """Whether something of a section is given instead of computed."""
    return any(address in at.spec.get("given", {}) for address in inside(at.address))


def layer_of(at: Judge) -> dict[str, Any]:
    found = re.search(r"layer(\d+)\.", at.address)
    assert found, at.address
    layer: dict[str, Any] = at.spec["layers"][int(found[1]) - 1]
    return layer


def part_of(at: Judge) -> dict[str, Any]:
    """The sub-layer that a section belongs to."""
    found = re.search(r"layer\d+\.(\w+)\.", at.address)
    assert found, at.address
    part: dict[str, Any] = layer_of(at)[found[1]]
    return part


def norm_of_heads(at: Judge) -> str:
    """`query` or `key` if a section normalizes these, also where earlier keys precede them."""
    found = re.search(r"attention\.(?:head\d+\.)?(?:(query|key)_norm|keys)$", at.address)
    return (found[1] or "key" * (at.near("key_norm") is not None)) if found else ""


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


def norm_of(at: Judge) -> dict[str, Any]:
    """The norm that a section works out."""
    norm = at.spec["final_norm"] if "final_norm" in at.address else None
    if of_heads := norm_of_heads(at):
        norm = part_of(at)[f"{of_heads}_norm"]
    if at.address.endswith("norm_after"):
        norm = part_of(at).get("norm_after", layer_of(at).get("norm_after"))
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
    spec = at.outside[1] if at.outside else at.spec
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


@form(
    r"Vectors of more numbers tend to have dot products of larger magnitude\. Dividing by "
    r"(?P<scale>√d_k|c) brings the scores closer together; otherwise the softmax may give nearly "
    r"all weight to one token, so that its gradient nearly vanishes\."
)
def divided(at: Judge, said: dict[str, Any]) -> None:
    asked = part_of(at).get("scale", "sqrt")
    assert at.address.endswith(".scores") and asked != "none"
    assert (said["scale"] == "c") == (asked != "sqrt")
    by = at.near("query")["shape"][1] if asked == "sqrt" else number(str(asked))
    assert by > 1


@form(r"Numbers of the same sign increase a dot product; numbers of opposite signs decrease it\.")
def fits(at: Judge, said: dict[str, Any]) -> None:
    assert at.address.endswith(".scores")


@form(
    r"Later tokens are hidden because they contain the answer when a model is trained to predict "
    r"the next token\."
)
def why_masked(at: Judge, said: dict[str, Any]) -> None:
    rows = seen(at)
    assert len(rows) > 1 and not any(any(row[i + 1 :]) for i, row in enumerate(rows))


@form(
    r"Only attention moves information between tokens; all other parts of a layer treat each token "
    r"separately\."
)
def moves(at: Judge, said: dict[str, Any]) -> None:
    assert at.address.endswith(".output") and ".head" in at.address
    if "cross_attention" in at.address:
        return
    rows = seen(at) if at.mask() else [[True] * len(at.tokens)] * len(at.tokens)
    given = at.spec.get("given", {})
    if any(at.place + name in given for name in ("masked", "shifted", "exp", "weights")):
        rows = [[number(str(x)) != 0 for x in row] for row in at.near("weights")["data"]]
    assert any(sees for i, row in enumerate(rows) for j, sees in enumerate(row) if i != j)


@form(
    r"W_O has a row of weights for each column of each head, so that every number of its result "
    r"can use all heads\."
)
@form(
    r"The result of W_O is as wide as the sub-layer's input, so that the residual connection can "
    r"add the two\."
)
@form(r"They are not added, because later weights could then not treat the heads differently\.")
def of_heads(at: Judge, said: dict[str, Any]) -> None:
    part = part_of(at)
    if "as wide as" in said[""]:
        assert part.get("residual", True)
    else:
        assert len(part["heads"]) > 1
    assert "W_O" in part or "W_O" not in said[""]


@form(
    r"Attention compares queries with keys, and adds up values\."
    r"(?P<weights> Each has its own weights, .+ has learned them\.)?"
)
@form(r"A separate key lets a token be found by something other than what it looks for\.")
@form(r"A separate value lets a token pass on something other than what makes it easy to find\.")
@form(r"The exponential of every finite score is positive, .+ about 2\.7 times\.")
@form(r"Because the output is a sum, it is as wide as one value, however many tokens there are\.")
def of_a_head(at: Judge, said: dict[str, Any]) -> None:
    ends = {"Attention compares": "query", "A separate key": "key", "A separate value": "value"}
    ends |= {"The exponential": "weights", "Because the output": "output"}
    end = next(end for start, end in ends.items() if said[""].startswith(start))
    assert re.search(rf"\.head\d+\.{end}s?$", at.address) and not partly_given(at)
    if "weights" in said:
        assert (said["weights"] is None) == (at.result["operation"] == "given")


@form(r"A dot product does not change when both vectors are rotated .+ at any position\.")
def turned_together(at: Judge, said: dict[str, Any]) -> None:
    given, settings = at.spec.get("given", {}), settings_of(at.spec, part_of(at))
    assert settings is not None and at.address.endswith(".rotated_query")
    where = prefix(at.spec, settings)
    assert not any(f"{where}position.{wave}" in given for wave in ("angle", "sin", "cos"))


@form(
    r"Attention adds up values\. Because a sum does not depend on the order of its terms, "
    r"positions are needed to make the order count\.(?P<turned> Rotation marks the position "
    r"without changing a vector's length(?P<embeddings> or the embeddings)?\.)?"
)
def order(at: Judge, said: dict[str, Any]) -> None:
    assert not said["turned"] or bool(said["embeddings"]) != at.typed
    rotary = isinstance(at.spec["positions"], dict) and "rotary" in at.spec["positions"]
    assert attends(at) and bool(said["turned"]) == rotary and not partly_given(at)


@form(r"Later weights can learn to separate meaning from position\.")
def later_weights(at: Judge, said: dict[str, Any]) -> None:
    assert at.address == "input" and "position" in at.values and layers(at)


@form(r"The two are added rather than concatenated, so that the vectors do not become longer\.")
def set_side_by_side(at: Judge, said: dict[str, Any]) -> None:
    assert at.address == "input" and "position" in at.values and not at.pinned("input")


# --- the FFN -------------------------------------------------------------------------------------


@form(r"Attention mixes values linearly; the FFN adds a nonlinear step within each token\.")
def nonlinear(at: Judge, said: dict[str, Any]) -> None:
    part = network_of(at)
    assert attends(at) and (part.get("activation", "relu") != "none" or "W_3" in part)


@form(r"Each hidden unit has its own column of weights in W₁, .+ hidden units as features\.")
def units(at: Judge, said: dict[str, Any]) -> None:
    assert at.address.endswith(".hidden") and not partly_given(at)


@form(
    r"Without the activation, W₁ and W₂ could be replaced by a single matrix(?P<bias> and a "
    r"bias)?\."
)
def bent(at: Judge, said: dict[str, Any]) -> None:
    part = network_of(at)
    assert part.get("activation", "relu") != "none" and "W_3" not in part
    assert part.get("activates", "hidden") == "hidden"
    assert bool(said["bias"]) == ("b_1" in part or "b_2" in part)


@form(
    r"(?P<left>\S+) is the sum of the rows of W₂(?P<e>[¹²³⁴ˢ]?), each multiplied by its unit's "
    r"number in (?P<of>[agh])(?P=e)(?P<bias>, plus b₂(?P=e))?, "
    r"so that a hidden unit of 0 adds nothing\."
)
def of_rows(at: Judge, said: dict[str, Any]) -> None:
    part = network_of(at)
    behind = part.get("activates") == "output"
    assert said["left"] == at.near("projected" if behind else "output")["symbol"]
    assert said["of"] == ("g" if "W_3" in part else "h" if behind else "a")
    assert bool(said["bias"]) == ("b_2" in part)


@form(r"The gate and the gated numbers are computed with different weights, .+ opens its gate\.")
def gated(at: Judge, said: dict[str, Any]) -> None:
    assert "W_3" in network_of(at) and at.address.endswith(".gated")


@form(r"There is no activation function here: the numbers are passed on (?P<how>.+)\.")
def not_bent(at: Judge, said: dict[str, Any]) -> None:
    assert network_of(at)["activation"] == "none" and said["how"] == at.passed_on()


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
}


@form(r"(?P<function>(?:ReLU keeps positive|GELU multiplies|SiLU divides) .+)")
def function(at: Judge, said: dict[str, Any]) -> None:
    assert said["function"] == FUNCTIONS[network_of(at).get("activation", "relu")]
    assert not partly_given(at)


# --- norms ---------------------------------------------------------------------------------------


@form(
    r"(?P<which>LayerNorm|RMSNorm) brings large numbers back to a moderate size"
    r"(?: before (?P<names>γ|β|γ and β))?; without it, they could grow from layer to layer\."
)
@form(
    r"With learned (?P<names>γ|β|γ and β), a model can choose (?P<what>a scale|an offset|a scale "
    r"and an offset) for each feature\."
)
def normalized(at: Judge, said: dict[str, Any]) -> None:
    norm = norm_of(at)
    assert (said["names"] or "") == of_the_norm(norm) and not partly_given(at)
    if "which" in said:
        assert (said["which"] == "RMSNorm") == (norm.get("kind") == "rms_norm")
    else:
        words = (("gain", "a scale"), ("shift", "an offset"))
        assert said["what"] == " and ".join(word for key, word in words if key in norm)


@form(
    r"A dot product is at most the product of both vectors' lengths\. Normalized queries and keys "
    r"therefore keep the scores moderate, unless γ or β is large\."
)
@form(r"All heads use the same learned numbers here\.")
def norms_of_heads(at: Judge, said: dict[str, Any]) -> None:
    part, norm = part_of(at), norm_of(at)
    assert norm_of_heads(at) and not partly_given(at)
    if said[""].startswith("All heads"):
        assert len(part["heads"]) > 1 and of_the_norm(norm) and not spans_heads(at, norm)
    else:
        assert isinstance(part["query_norm"], dict) and isinstance(part["key_norm"], dict)


@form(r"The factor is 1 \+ γ, so that a feature with γ = 0 is not rescaled\.")
def one_more_than_the_gain(at: Judge, said: dict[str, Any]) -> None:
    norm = norm_of(at)
    assert norm["unit_offset"] and "gain" in norm and not partly_given(at)


@form(
    r"Many models then multiply each feature by a learned γ(?P<shift> and add a learned β)?; this "
    r"(?P<which>LayerNorm|RMSNorm) does not\."
)
def bare_norm(at: Judge, said: dict[str, Any]) -> None:
    norm = norm_of(at)
    assert of_the_norm(norm) == "" and not partly_given(at)
    is_root = norm.get("kind") == "rms_norm"
    assert (said["which"] == "RMSNorm") == is_root == (said["shift"] is None)


@form(
    r"Attention and the FFN are parallel here: neither reads the other's result, so that a program "
    r"can compute both at the same time\."
)
def in_parallel(at: Judge, said: dict[str, Any]) -> None:
    assert at.address.endswith("ffn.hidden")
    ahead, found = [at.address], set[str]()
    while ahead:
        address = ahead.pop()
        found.add(address)
        operands = at.values[address]["operands"]
        ahead += [each for each in operands if each in at.values and each not in found]
    attention = at.address.replace("ffn.hidden", "attention.")
    assert not any(each == f"{attention}output" for each in found)


@form(
    r"The sub-layer's output is multiplied by (?P<scale>\S+), a constant of the model; then "
    r"(?P<what>its input|\S+) is added\."
)
def adds_a_multiple(at: Judge, said: dict[str, Any]) -> None:
    assert at.address.endswith(".residual") and not partly_given(at)
    assert number(said["scale"]) == number(str(part_of(at)["residual_scale"]))
    if said["what"] != "its input":
        adds_to_attention(at, said)


@form(r"A factor below 1 makes each change smaller, so that the sum grows more slowly\.")
def smaller_changes(at: Judge, said: dict[str, Any]) -> None:
    assert at.address.endswith(".residual") and not partly_given(at)
    assert number(str(part_of(at)["residual_scale"])) < 1


@form(r"The output, multiplied by the factor:")
def multiple(at: Judge, said: dict[str, Any]) -> None:
    assert at.address.endswith(".residual") and "residual_scale" in part_of(at)


@form(r"The product is added:")
def multiple_added(at: Judge, said: dict[str, Any]) -> None:
    multiple(at, said)


@form(r"(?P<what>\S+) is added to the sub-layer's output\.")
def adds_to_attention(at: Judge, said: dict[str, Any]) -> None:
    assert at.address.endswith(".ffn.residual") and not at.pinned(at.address)
    added = at.values[at.address.replace("ffn", "attention")]
    assert added["symbol"] == said["what"].replace("ᴱ", "")
    assert added["address"] in at.result["operands"] and layer_of(at)["parallel"]


@form(r"Many models also add a learned bias to each hidden unit; this layer does not\.")
def without_bias(at: Judge, said: dict[str, Any]) -> None:
    assert re.search(r"\.ffn\.(\w+\.)?hidden$", at.address)
    assert not any(operand.endswith(".b_1") for operand in at.result["operands"])


@form(
    r"Layers can be stacked because each returns vectors of the same shape as it reads\. Each has "
    r"its own weights; positions are added only once, before the first layer\."
)
def stacked(at: Judge, said: dict[str, Any]) -> None:
    assert at.heading == "Stacking layers" and at.spec["layers"]
    ends = re.compile(r"layer\d+\.\w+\.(residual|norm|output)|input|output")
    shapes = {str(v["shape"]) for a, v in at.values.items() if ends.fullmatch(a)}
    assert len(shapes) == 1 and "position" in at.values


@form(
    r"This model has no cross-attention, because it has no encoder to attend to\. Models that only "
    r"continue a text, such as GPT, need no encoder; for a translation, an encoder can read the "
    r"source text\."
)
def decoder_only(at: Judge, said: dict[str, Any]) -> None:
    assert at.heading == "No cross-attention" and "encoder" not in at.spec
    assert any("attention" in layer for layer in at.spec["layers"])


@form(
    r"A hidden state holds what its token gathered in all layers, so that it alone is needed to "
    r"predict the next word\."
)
def in_one_vector(at: Judge, said: dict[str, Any]) -> None:
    assert at.address == "output"
    assert any("attention" in layer or "cross_attention" in layer for layer in at.spec["layers"])


@form(r"To continue the text, only the hidden state of its last token is needed\.")
def hidden_states(at: Judge, said: dict[str, Any]) -> None:
    capped = at.values.get("logits.uncapped", at.result)
    product = at.values.get("logits.unscaled", capped)
    assert at.address == "logits" and "output" in product["operands"]


@form(
    r"ε is added (?P<where>under|to) the root so that a vector of (?P<what>equal numbers|zeros) is "
    r"not divided by 0\."
)
def epsilon(at: Judge, said: dict[str, Any]) -> None:
    norm = norm_of(at)
    assert has_epsilon(norm)
    assert (said["where"] == "to") == bool(norm.get("epsilon_outside", False))
    assert (said["what"] == "zeros") == (norm.get("kind") == "rms_norm")


@form(
    r"(?:The (?P<together>queries|keys) of all heads are normalized together\. )?"
    r"Each (?P<whose>token|query|key)'s (?P<how>mean is subtracted from its numbers\. The result "
    r"is divided by the standard deviation σ|numbers are divided by their root mean square)"
    r"(?P<epsilon>, with ε)?(?P<gain>, then multiplied by (?P<one>1 \+ )?γ)?"
    r"(?P<shift>, and β is added)?\."
)
def measured(at: Judge, said: dict[str, Any]) -> None:
    norm = norm_of(at)
    by_root = norm.get("kind") == "rms_norm"
    of_heads = norm_of_heads(at)
    several = (
        {"query": "queries", "key": "keys"}[of_heads]
        if of_heads and spans_heads(at, norm)
        else None
    )
    assert said["together"] == several
    assert said["whose"] == ("token" if several else of_heads or "token")
    assert (bool(said["gain"]), bool(said["shift"])) == ("gain" in norm, "shift" in norm)
    assert bool(said["one"]) == bool(norm.get("unit_offset", False))
    assert said["how"].startswith("numbers") == by_root and not partly_given(at)
    assert bool(said["epsilon"]) == (by_root and has_epsilon(norm))


@form(r"The head gets its own columns of the normalized (?P<which>queries|keys)\.")
def over_heads(at: Judge, said: dict[str, Any]) -> None:
    assert spans_heads(at, norm_of(at))
    assert said["which"] == {"query": "queries", "key": "keys"}[norm_of_heads(at)]
    assert ".head" in at.address


@form(r"(?P<what>The standard deviation|The root mean square)(?P<epsilon>, with ε)?:")
def root(at: Judge, said: dict[str, Any]) -> None:
    norm = norm_of(at)
    assert bool(said["epsilon"]) == has_epsilon(norm)
    assert (said["what"] == "The root mean square") == (norm.get("kind") == "rms_norm")


@form(r"The variance, the mean of the squares:")
@form(r"The sample variance, the sum of the squares divided by their number minus 1:")
def variance(at: Judge, said: dict[str, Any]) -> None:
    assert ("sample" in said[""]) == (norm_of(at).get("deviation") == "sample")


@form(
    r"Each (?P<what>difference, divided by σ|number, divided by the root mean square)(?P<gain>, "
    r"times (?P<one>1 \+ )?γ)?"
    r"(?P<shift>, plus β)?:"
)
def divided_by_root(at: Judge, said: dict[str, Any]) -> None:
    norm = norm_of(at)
    assert (bool(said["gain"]), bool(said["shift"])) == ("gain" in norm, "shift" in norm)
    assert bool(said["one"]) == bool(norm.get("unit_offset", False))
    assert said["what"].startswith("number") == (norm.get("kind") == "rms_norm")


# --- words ---------------------------------------------------------------------------------------


@form(
    r"Each word has its own column in W_U, so that its logit(?:, before the (?P<before>division|"
    r"soft cap),)? is "
    r"the dot product of the decoder's output with this column(?P<bias>, plus its number in b_U)?"
    r"\."
)
def of_columns(at: Judge, said: dict[str, Any]) -> None:
    unembedding = unembedding_of(at.spec)
    assert at.address == "logits" and bool(said["bias"]) == ("b_U" in unembedding)
    cap = "soft cap" if "softcap" in unembedding else None
    assert said["before"] == ("division" if "scale" in unembedding else cap)


@form(r"A random number selects the next word according to the probabilities\.")
@form(
    r"A text that contains only the most probable words often .+ less probable words occur, too\."
)
@form(r"Only one word is left to draw: every random number selects it\.")
def sampled(at: Judge, said: dict[str, Any]) -> None:
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


@form(
    r"The gradient at each logit is (?:p - t|\(p - t\) / (?P<n>\d+)), where p is its probability "
    r"and t is 1 for the correct word and 0 otherwise\.(?: The loss is the mean over (?P<mean>\d+) "
    r"positions(?P<batch> of the batch)?\.)?(?P<none> A position without a target has the gradient "
    r"0\.)?"
)
def at_the_logits(at: Judge, said: dict[str, Any]) -> None:
    assert at.address == "gradient.logits" and bool(said["none"]) == (not all(counts(at)))
    examples = at.spec.get("training") or [{}]
    words, padding = at.spec["vocabulary"], at.spec.get("padding")
    pairs = [pair for example in examples for pair in read_and_targets({**at.spec, **example})]
    counted = sum(target in words and padding not in (token, target) for token, target in pairs)
    is_sum = at.spec.get("loss", {}).get("reduction") == "sum"
    n = None if is_sum or counted == 1 else str(counted)
    assert said["n"] == said["mean"] == n
    assert bool(said["batch"]) == (n is not None and len(examples) > 1)


def read_and_targets(spec: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Each token with its target: that which is given, or the next token."""
    targets = spec.get("targets") or [*spec["tokens"][1:], None]
    return list(zip(spec["tokens"], targets, strict=True))


@form(r"Only the correct word's entry is negative: raising its logit lowers the loss\.")
def negative(at: Judge, said: dict[str, Any]) -> None:
    words, targets = at.spec["vocabulary"], at.values["loss.target"]["data"]
    shares = at.values["probabilities"]["data"]
    for row, target, asked in zip(shares, targets, counts(at), strict=True):
        if asked:
            right = words.index(target)
            assert number(str(row[right])) < 1 and len(words) > 1
            assert min(number(str(share)) for share in row) >= 0


@form(
    r"The softmax divides by the sum of the row, so raising one score lowers the other weights\. "
    r"Therefore the weighted mean of a row's gradients is subtracted from each of them, and the "
    r"difference is multiplied by the weight\. Where a weight is 0(?P<mask>, as at the masked "
    r"scores)?, the gradient at the score is 0\."
)
def of_softmax(at: Judge, said: dict[str, Any]) -> None:
    crossed, n = "cross_attention" in at.address, len(at.tokens)
    hides = not crossed and not at.outside and not all(all(row[:n]) for row in seen(at))
    assert at.address.endswith(".weights") and bool(said["mask"]) == hides


@form(
    r"The rows of the table are learned like any weight\."
    r"(?P<words> A row's gradient adds up the contributions of all places where the model reads "
    r"its word\. (?:(?P<tied>The logits use the same rows, which adds another contribution for "
    r"each word of the vocabulary)|The row of a word that the model does not read has the gradient "
    r"0)\.)?"
)
def of_a_row(at: Judge, said: dict[str, Any]) -> None:
    table, gradient = at.spec["embeddings"], at.values["gradient.embeddings"]["data"]
    assert bool(said["words"]) == isinstance(table, dict)
    tied = is_tied(at.spec)
    assert bool(said["tied"]) == (tied and bool(said["words"]))
    if said["words"] and not tied:
        examples = [each["tokens"] for each in at.spec.get("training", [])] or [at.tokens]
        read = {token for tokens in examples for token in tokens}
        rows = zip(table, gradient, strict=True)
        assert not any(number(str(x)) for word, row in rows for x in row if word not in read)


@form(
    r"Compute the gradient at the embedding of each token(?P<rows> and at the rows of the "
    r"embedding table)?\."
)
def of_embeddings(at: Judge, said: dict[str, Any]) -> None:
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


@form(r"Each weight(?P<other> with a gradient other than 0)? moves against its gradient\.")
@form(r"Each weight is updated by its gradient and by weight decay, which pulls it toward 0\.")
def against_its_gradient(at: Judge, said: dict[str, Any]) -> None:
    decays = decay(at) > 0
    assert decays == ("decay" in said[""])
    assert decays or bool(said["other"]) == (not all(gradient_of(at)))


@form(r"Weight decay pulls each weight toward 0:")
def decayed(at: Judge, said: dict[str, Any]) -> None:
    assert decay(at) > 0


@form(r"The velocity; the first step has no earlier velocity to add:")
def velocity(at: Judge, said: dict[str, Any]) -> None:
    assert number(str(at.spec["optimizer"]["momentum"])) > 0


@form(r"Each weight(?P<other> with a gradient)? gets a step of about the same size:")
@form(r"The step of each weight, before the learning rate is applied:")
def directions(at: Judge, said: dict[str, Any]) -> None:
    data = at.values[f"update.{updated(at)}.direction"]["data"]
    rows = data if isinstance(data[0], list) else [data]
    sizes = [abs(number(str(x))) for row in rows for x in row]
    moved = [size for size in sizes if size]
    alike = bool(moved) and max(moved) <= 1.1 * min(moved)
    assert alike == ("same size" in said[""])
    assert not alike or bool(said["other"]) == (len(moved) < len(sizes))


@form(r"All other (?P<trained>trained )?weights are updated in the same way\.")
def others(at: Judge, said: dict[str, Any]) -> None:
    some_stay = any(address.endswith(".frozen") for address in at.values)
    assert bool(said["trained"]) == ("trains" in at.spec.get("optimizer", {}) or some_stay)
    moved = [a for a in at.values if re.fullmatch(r"update\.(?!.*\.(?:gain|shift)\.).+", a)]
    assert {a for a in moved if f"gradient.{a.removeprefix('update.')}" in at.values} > {
        f"update.{updated(at)}"
    }


# --- around the steps ----------------------------------------------------------------------------


@form(
    r"(?P<part>This is a part of the calculation\. )?Each step shows its goal, its formula, its "
    r"numbers and its result\. You can check each line with a calculator"
    r"(?P<phi> that has the normal distribution)?\."
)
def plan(at: Judge, said: dict[str, Any]) -> None:
    every = [*layers(at), *(at.spec.get("encoder", {}).get("layers") or [])]
    ffns = [layer.get("ffn", {}) for layer in every]
    networks = [n for ffn in ffns for n in (ffn, *ffn.get("experts", ()), ffn.get("shared", {}))]
    assert bool(said["phi"]) == any(each.get("activation") == "gelu" for each in networks)
    assert bool(said["part"]) != at.whole
