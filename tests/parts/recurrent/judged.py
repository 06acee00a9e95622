"""Linear attention and the delta rule in random scenarios, and what is said of them."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from typing import Any

import numpy as np

from tests.helpers.claims_of_learning import steepest
from tests.helpers.claims_of_reasons import part_of, partly_given
from tests.helpers.judge import Judge, Said, listed, number, told_apart
from tests.helpers.judged_part import JudgedPart
from tests.helpers.random_parts import matrix, tenths
from tests.helpers.scenario_yaml import Scenario
from tests.parts.recurrent.closed import heads

OF_SCORES = ("latent", "softcap", "blocks", "mask")
OF_STATE = ("gate", "beta", "feature_map", "normalizer", "unit_length", "chunk")


def draw(spec: Scenario, rng: random.Random, share: float = 0.4) -> None:
    """A share of attentions with a state, where tokens read in order and nothing changes scores."""
    positions = spec.get("positions", "none")
    is_causal = spec.get("mask", "causal") == "causal" and "padding" not in spec
    if not is_causal or {"alibi", "relative_bias"} & {*positions}:
        return
    for layer in spec.get("layers", ()):
        part = layer.get("attention", {})
        if "attention" in layer and "latent" not in part and rng.random() < share:
            for key in OF_SCORES:
                part.pop(key, None)
            for head in part["heads"]:
                head.pop("sink", None)
            with_state(part, rng, len(spec.get("tokens", ())))
        elif "attention" in layer and rng.random() < 0.5:
            part["kind"] = "softmax"


def with_state(part: Scenario, rng: random.Random, tokens: int) -> None:
    """Draw the kind of an attention, and what goes with it."""
    for key in OF_STATE:
        part.pop(key, None)
    part["kind"] = kind = rng.choice(("linear", "delta", "delta"))
    width, heads = len(part["heads"][0]["W_Q"]), len(part["heads"])

    def each_token(letter: str, most: int) -> Any:
        own = [Decimal(rng.randint(1, 10 * most)) / 10 for _ in range(tokens)]
        weights: Scenario = {f"W_{letter}": matrix(width, heads, rng)}
        if rng.random() < 0.5:
            weights[f"b_{letter}"] = tenths(heads, rng)
        if letter == "A" and rng.random() < 0.6:
            weights["A_log"] = tenths(heads, rng)
        one = rng.choice((Decimal("0.5"), Decimal("0.90"), 1))
        return rng.choice(
            (one, own, own, own, weights, weights) if len(own) > 1 else (one, weights)
        )

    if rng.random() < 0.85:
        part["gate"] = each_token("A", 1)
    if kind == "delta" and rng.random() < 0.7:
        part["beta"] = each_token("B", 2)
    if rng.random() < 0.85:
        part["feature_map"] = rng.choice(("elu_plus_1", "elu_plus_1", "relu", "none"))
    if rng.random() < (0.9 if kind == "delta" else 0.5):  # long keys would make states large
        length = {"epsilon": Decimal("0.01")}
        is_positive = part.get("feature_map") == "elu_plus_1"  # others can be 0, without a length
        part["unit_length"] = rng.choice(({} if is_positive else length, length, length, "none"))
    if kind == "linear" and part.get("feature_map") == "elu_plus_1" and rng.random() < 0.8:
        part["normalizer"] = True
    elif rng.random() < 0.3:
        part["normalizer"] = False
    if not part.get("normalizer") and rng.random() < 0.4:
        part["chunk"] = rng.randint(1, 3)


# --- what a section is about ---------------------------------------------------------------------


def token_of(at: Judge) -> int:
    """The token of a section, counted from 1."""
    found = re.search(r"\.token(\d+)\.", at.address)
    assert found, at.address
    return int(found[1])


def name_of(at: Judge) -> str:
    """The token of a section as texts name it."""
    return told_apart(at.tokens)[token_of(at) - 1]


def of_step(at: Judge, name: str) -> Any:
    """A value beside the result of a section, or None."""
    return at.values.get(f"{at.address.rpartition('.')[0]}.{name}")


def is_state(at: Judge) -> bool:
    return bool(re.search(r"\.head\d+\.token\d+\.state$", at.address)) and not partly_given(at)


# --- checks --------------------------------------------------------------------------------------


def number_of_token(at: Judge, said: Said) -> None:
    name = {"keeps": "gate", "writes": "beta"}[said["does"]]
    assert at.address.endswith(f"attention.{name}") and said["symbol"] == at.result["symbol"]
    assert bool(said["given"]) == (at.result["operation"] == "given")


def gate(at: Judge, said: Said) -> None:
    number_of_token(at, {**said, "does": "keeps"})


def strength(at: Judge, said: Said) -> None:
    number_of_token(at, {**said, "does": "writes"})


def mapped(at: Judge, said: Said) -> None:
    names = {"elu(x) + 1": "elu_plus_1", "ReLU": "relu"}
    assert part_of(at)["feature_map"] == names[said["name"]]
    assert at.address.endswith({"queries": "mapped_query", "keys": "mapped_key"}[said["what"]])


def scaled(at: Judge, said: Said) -> None:
    assert at.address.endswith(".scaled_query") and not partly_given(at)
    assert said["by"] == at.values[at.result["operands"][1]]["symbol"]


def first_state(at: Judge, said: Said) -> None:
    assert is_state(at) and said["who"] == name_of(at)
    assert at.result["operation"] == "transposed_matmul" and token_of(at) == 1
    by_beta = of_step(at, "correction") is not None
    assert said["what"] == ("β times its value" if by_beta else "its value")


def next_state(at: Judge, said: Said) -> None:
    assert is_state(at) and said["who"] == name_of(at) and token_of(at) > 1
    assert part_of(at)["kind"] == ("delta" if "times" in said else "linear")
    assert bool(said["gated"]) == ("gate" in part_of(at))
    if "times" in said:
        assert bool(said["times"]) == ("beta" in part_of(at))


def sizes(at: Judge, said: Said) -> None:
    """Keys and values outgrow the state at the token that is named, and not one token before."""
    assert is_state(at)
    d_k, d_v = len(at.result["data"]), len(at.result["data"][0])
    with_sum = bool(part_of(at).get("normalizer", False))
    assert bool(said["sum"]) == with_sum
    size, tokens = d_k * d_v + d_k * with_sum, int(said["tokens"])
    assert int(said["size"]) == size and int(said["each"]) == d_k + d_v
    assert tokens * (d_k + d_v) > size >= (tokens - 1) * (d_k + d_v)
    assert not any("shares" in head for head in part_of(at)["heads"])


def forgets(at: Judge, said: Said) -> None:
    assert is_state(at) and of_step(at, "kept") is not None
    own = of_step(at, "gate") or at.values[re.sub(r"head\d+\.$", "gate", at.place)]
    assert (
        float(np.array(own["data"], float)) == {"all tokens before": 0, "nothing": 1}[said["what"]]
    )


def returns(at: Judge, said: Said) -> None:
    """What the key of the token reads from its state is the token's value."""
    assert is_state(at) and said["who"] == name_of(at) and part_of(at)["kind"] == "delta"
    rows = (
        [[number(str(x)) for x in row] for row in of_step(at, n)["data"]] for n in ("key", "value")
    )
    k, v = map(np.array, rows)
    state = np.array([[number(str(x)) for x in row] for row in at.result["data"]])
    error = of_step(at, "error")
    known = error is not None and not any(number(str(x)) for row in error["data"] for x in row)
    assert known == (said["when"] == "already")
    if not known:
        np.testing.assert_allclose(k @ state, v, rtol=1e-8, atol=1e-10)


def reads(at: Judge, said: Said) -> None:
    assert at.address.endswith(".read") and said["who"] == name_of(at) and not partly_given(at)
    assert bool(part_of(at).get("normalizer", False)) == ("divided" in said)


def chunk(at: Judge, said: Said) -> None:
    block = re.search(r"\.block(\d+)\.state$", at.address)
    assert block and said["number"] == block[1] and not partly_given(at)
    size, names = int(part_of(at).get("chunk", len(at.tokens))), told_apart(at.tokens)
    first = size * (int(block[1]) - 1)
    own = names[first : first + size]
    assert said["own"] == listed(own) and (said["noun"] == "token") == (len(own) == 1)
    assert bool(said["first"]) == (block[1] == "1") == (not said["state"])


def in_one(at: Judge) -> bool:
    """Whether one chunk has all tokens of an attention without a gate."""
    size = int(part_of(at).get("chunk", len(at.tokens)))
    return size >= len(at.tokens)


def parallel(at: Judge, said: Said) -> None:
    assert ".block" in at.address and not in_one(at)


def no_softmax(at: Judge, said: Said) -> None:
    assert ".block" in at.address and in_one(at) and "gate" not in part_of(at)
    assert part_of(at)["kind"] == "linear"


def all_chunks(at: Judge, said: Said) -> None:
    """The numbers of both forms, as they are printed."""
    assert at.address.endswith(".chunks.output")
    whole = at.values[at.address.replace(".chunks.output", ".output")]
    assert said["o"] == whole["symbol"]
    both = ([number(x) for row in value["printed"] for x in row] for value in (at.result, whole))
    furthest = max(abs(a - b) for a, b in zip(*both, strict=True))
    if "x" not in said:
        assert furthest == 0
        return
    assert furthest > 0 and abs(number(said["x"]) - furthest) < 1e-9 * furthest
    head = at.address.removesuffix("chunks.output")
    assert not any(address.startswith(head) for address in at.spec.get("given", {}))


ENDS = {
    "each gate": "gate",
    "each strength of writing": "beta",
    "each mapped query": "mapped_query",
    "each mapped key": "mapped_key",
    "each query of length 1": "unit_query",
    "each key of length 1": "unit_key",
    "each scaled query": "scaled_query",
    "the state": "state",
    "the output for the token": "read",
    "the outputs of all tokens": "output",
}


def gradient(at: Judge, said: Said) -> None:
    assert at.address.startswith("gradient.") and at.address.endswith(f".{ENDS[said['what']]}")
    learns = said["what"] in ("each gate", "each strength of writing")
    assert bool(said["weights"]) == (learns and steepest(at) is not None)


OF_CHUNK_TOKEN = (
    *("decay", "own_error", "products", "earlier_products", "earlier_corrections", "corrected"),
    *("rest", "correction"),
)
INSIDE = {
    r"\.token\d+\.state": (
        *("key", "value", "gate", "beta", "kept_key_sum", "key_sum", "kept", "predicted", "error"),
        *("correction", "written"),
    ),
    r"\.token\d+\.read": ("query", "numerator", "divisor"),
    r"\.block\d+\.state": (
        *("key", "value", "query", "decays", "reading_key", "writing_key", "key_products"),
        *("predicted", "error", "corrections", "reading_query", "query_products"),
        *("kept_products", "inside", "from_state", "read", "written", "with_written"),
        *(f"token{token}.{name}" for token in range(1, 10) for name in OF_CHUNK_TOKEN),
    ),
    r"attention\.gate": ("gate.logits", "gate.rate"),
    r"attention\.beta": ("beta.logits",),
    r"\.unit_query": ("unit_query.squares", "unit_query.length"),
    r"\.unit_key": ("unit_key.squares", "unit_key.length"),
    r"\.scaled_query": ("scaled_query.d_k", "scaled_query.divisor"),
}

GATED = "[gated:The gate multiplies the state before. ]"

PART = JudgedPart(
    draw=draw,
    heads=heads,
    inside=INSIDE,
    titles_of_heads={
        "Query after the feature map": "mapped_query",
        "Key after the feature map": "mapped_key",
        "Query of length 1": "unit_query",
        "Key of length 1": "unit_key",
        "Scaled query": "scaled_query",
        "State after token N": "tokenN.state",
        "Output for token N": "tokenN.read",
        "Outputs of all tokens": "output",
        "Chunk N": "blockN.state",
        "Outputs of all chunks": "chunks.output",
    },
    titles_of_attention={"Gate": "gate", "Strength of writing": "beta"},
    goals={
        "The outputs of all tokens form the rows of one matrix.": r"head\d+\.output",
        "The outputs of all chunks form the rows of one matrix.": r"chunks\.output",
        "Each query is divided by its length, the root of the sum of its squares.": "unit_query",
        "Each key is divided by its length, the root of the sum of its squares.": "unit_key",
        "The state after the tokens of the previous turn is reused.": r"token\d+\.state",
    },
    phrases={
        "How much of the state each token keeps.": "gate",
        "How much of its error each token writes.": "beta",
        "The query of each token after the feature map.": "mapped_query",
        "The key of each token after the feature map.": "mapped_key",
        "The query of each token, divided by its length.": "unit_query",
        "The key of each token, divided by its length.": "unit_key",
        "The query of each token, divided by a constant.": "scaled_query",
        "The state of the head after one more token.": r"token\d+\.state",
        "What the query of a token reads from the state.": r"token\d+\.read",
        "What the queries of all tokens read from the state.": r"head\d+\.output",
        "The outputs of one more chunk of tokens.": r"block\d+\.state",
        "What queries read, computed in chunks.": r"chunks\.output",
    },
    captions={
        "Before the function of the gate:": r"gate\.logits",
        "The rate:": r"gate\.rate",
        "The gate:": "gate",
        "Before the sigmoid:": r"beta\.logits",
        "The share of the error:": "beta",
        "The sum of squares:": r"unit_\w+\.squares",
        "The length:": r"unit_\w+\.length",
        "The divisor of the queries:": r"scaled_query\.divisor",
        "Its key:": "key",
        "Its value:": "value",
        "Its gate:": "gate",
        "Its share of the error:": "beta",
        "Its query:": "query",
        "What the gate keeps of the state:": "kept",
        "What the state returns for the key:": "predicted",
        "The error:": "error",
        "What is written for the key:": "correction",
        "What is added to the state:": "written",
        "What the gate keeps of the sum of the keys:": "kept_key_sum",
        "The sum of the keys:": "key_sum",
        "The state:": "state",
        "What the query reads from the state:": "numerator",
        "The product of the query and the sum of the keys:": "divisor",
        "The output:": "read",
        "The keys of the chunk:": r"block\d+\.key",
        "The values of the chunk:": r"block\d+\.value",
        "The queries of the chunk:": r"block\d+\.query",
        "The product of the gates from the chunk's first token on:": "decay",
        "These products of all tokens of the chunk:": "decays",
        "The keys, times these products:": "reading_key",
        "The keys, divided by these products:": "writing_key",
        "The queries, times these products:": "reading_query",
        "The products of the keys:": "key_products",
        "What the state before the chunk returns:": r"block\d+\.predicted",
        "The errors of this state:": r"block\d+\.error",
        "The error of a token:": "own_error",
        "The products of its key:": "products",
        "Those with the keys before it in the chunk:": "earlier_products",
        "What the tokens before it in the chunk write:": "earlier_corrections",
        "What its key returns of that:": "corrected",
        "The error that is left:": "rest",
        "What the token writes for its key:": "correction",
        "What all tokens of the chunk write:": "corrections",
        "The products of queries and keys:": "query_products",
        "Without those of later tokens:": "kept_products",
        "What the queries read of their own chunk:": "inside",
        "What the queries read of the state before:": "from_state",
        "The outputs of the chunk:": r"block\d+\.read",
        "What the chunk adds to the state:": "written",
        "The state with that:": "with_written",
        "The state after the chunk:": r"block\d+\.state",
    },
    claims={
        "Before a token is written, the state is multiplied by the gate {symbol}. A gate of 1 keeps the state, and a gate of 0 empties it.[given: The gate is given.]": gate,
        "A token writes {symbol} times its error: with 0 it writes nothing, with 1 the whole error.[given: It is given.]": strength,
        "The feature map {name:elu\\(x\\) \\+ 1|ReLU} is applied to each number of the {what:queries|keys}.": mapped,
        "elu(x) + 1 is positive, so that no product of a query and a key is negative.": lambda at, _: (
            part_of(at)["feature_map"] == "elu_plus_1"
        ),
        "The queries are divided by {by}, as scores are in attention with a softmax.": scaled,
        "The state is a matrix with a row for each column of the keys and a column for each column of the values. It begins with zeros. “{who:name}” adds its key times {what:its value|β times its value}.": first_state,
        f"{GATED}“{{who:name}}” adds its key times its value to the state.": next_state,
        f"{GATED}For the key of “{{who:name}}”, the state returns a prediction. The error is the difference between the token's value and this prediction. The key times the error{{times:(?:, multiplied by β,)?}} is added to the state.": next_state,
        "The state{sum:(?: and the sum of the keys)?} ha{:s|ve} {size:int} numbers, whatever the number of tokens. The keys and values of a cache have {each:int} for each token: from {tokens:int} token{:s?} on, they are more than the state.": sizes,
        "The gate is {:0|1}: the state forgets {what:all tokens before|nothing}.": forgets,
        "The state {when:already} returns the value of “{who:name}” for its key: nothing changes.": returns,
        "The state {when:now} returns the value of “{who:name}” for its key.": returns,
        "The output for “{who:name}” is its query times the state.": reads,
        "The query of “{who:name}” reads the state. The result is {divided:divided} by the product of the query and the sum of the keys, so that the weights of all values add up to 1.": reads,
        "[first:The same outputs can be computed from one chunk of tokens after the other. ]Chunk {number:int} has the {noun:tokens?} {own:“.+?”}. [state:The queries read the state before the chunk. ]Inside the chunk, each query is compared with the keys up to its own token.": chunk,
        "The products inside a chunk do not depend on the state, so that a GPU computes those of all chunks at once. Only the states follow one after the other.": parallel,
        "With one chunk of all tokens, no state is needed: this is causal attention whose weights are the scores themselves, without a softmax.": no_softmax,
        "All numbers are equal to those of {o}, computed token by token.": all_chunks,
        "Without rounding, all numbers would be those of {o}, computed token by token. As printed, they differ by at most {x}.": all_chunks,
        f"Compute the gradient at {{what:{'|'.join(ENDS)}}}[weights: and at the weights that produce it].": gradient,
    },
    learned={
        r"attention\.gate": "gate.W_A gate.b_A gate.A_log",
        r"attention\.beta": "beta.W_B beta.b_B",
    },
    symbols={
        **{"W_A": "gate.W_A", "b_A": "gate.b_A", "A_log": "gate.A_log"},
        **{"W_B": "beta.W_B", "b_B": "beta.b_B"},
    },
)
