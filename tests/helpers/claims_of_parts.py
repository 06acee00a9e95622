"""What is said of the parts that a decoder may have or not: masks, shares, turns, gates, norms."""

from __future__ import annotations

import math
import re

from tests.helpers.claims_of_reasons import layers, part_of, partly_given
from tests.helpers.judge import (
    AHEAD,
    POWERS,
    UNNAMED,
    Check,
    Judge,
    Said,
    check_ahead,
    column,
    listed,
    not_of,
    number,
    told_apart,
)
from tests.helpers.rotary_of_layers import prefix, settings_of

# --- masks ---------------------------------------------------------------------------------------


def is_masked(at: Judge, *, later: bool, window: int) -> bool:
    """Whether the mask hides what fills up, what is later if that is asked, what is far back."""
    mask = at.mask()["data"]
    first, n = len(at.tokens) - len(mask), len(at.tokens)
    hides = [
        [(j > i and later) or i - j >= window or at.tokens[j] == at.padding for j in range(n)]
        for i in range(first, n)
    ]
    return [[-1e999 if h else 0 for h in row] for row in hides] == [
        [number(str(x)) for x in row] for row in mask
    ]


FILLS_UP = "[ The score of the padding token “{padding:name}” becomes -∞, too.]"


def mask(at: Judge, said: Said) -> None:
    assert at.address.endswith(".masked") and not at.pinned(at.address)
    asked = part_of(at).get("mask", at.spec.get("mask", "causal"))
    window = asked["window"] if isinstance(asked, dict) else len(at.tokens)
    everything = len(at.tokens)
    if said[""].startswith("The mask is added"):
        entries = [number(str(x)) for row in at.mask()["data"] for x in row]
        assert bool(said["hides"]) == (min(entries) < -1e300)
        assert not is_masked(at, later=True, window=everything)
        assert asked == "causal" or not is_masked(at, later=asked != "none", window=window)
    elif "earlier and later" in said[""]:
        assert is_masked(at, later=False, window=everything)
    elif "earlier tokens" in said[""]:
        assert is_masked(at, later=True, window=everything)
    else:
        assert is_masked(at, later=True, window=int(said.get("back", 0)) + 1)
    assert "who" not in said or said["who"] == at.who
    if "padding" in said:
        assert said["padding"] == (at.padding if at.padding in at.tokens else None)


# --- scores and shares ---------------------------------------------------------------------------


def softmax_of(which: str, number: str) -> str:
    """What a softmax does with scores or logits."""
    return f"The softmax turns {which} into shares of 1: e to the power of each {number}, divided by the sum of these powers.[shifted: The largest {number} of the row is subtracted first, because e to the power of a large number overflows; before rounding, this does not change the shares.]"


OF_ITS_ROW = r"{:the (?P<n>\d+) scores|the score} of “{row:name}”"
AFTER_IT = r"{:the (?P<n>\d+) logits|the logit} after “{row:name}”"


def of_its_row(at: Judge, said: Said) -> bool:
    """Whether a softmax is of so many numbers, and of the followed token's row."""
    assert said["n"] != "1"
    return (said["row"], int(said["n"] or 1)) == (at.who, at.result["shape"][1])


def scores(at: Judge, said: Said) -> None:
    assert at.address.endswith(".scores") and not at.pinned(at.address)
    assert said["who"] == at.who
    check_shared(at, said["head"])
    scale = at.near("scale")
    assert (said["scale"] is None) == (scale is None)
    if said["scale"]:
        assert said["scale"].startswith("c, ") == (at.near("d_k") is None)


def shared(at: Judge, said: Said) -> None:
    assert at.address.endswith((".query", ".output")) and not at.pinned(at.address)
    assert said["who"] == at.who
    check_shared(at, said["head"])
    has_state = part_of(at).get("kind", "softmax") != "softmax"
    assert "fewer" not in said or bool(said["fewer"]) == (bool(said["head"]) and not has_state)
    assert "typed" not in said or bool(said["typed"]) == in_typed_heads(at)
    assert "of" not in said or bool(said["of"]) == ("cross_attention" in at.address)


def key_or_value(at: Judge, said: Said) -> None:
    assert re.search(r"\.attention\.head\d+\.(keys?|values?)$", at.address)
    # The story of a trained head works the key and the value of the token that it reads.
    whose = told_apart(at.tokens) if at.heading.startswith("1. Layer") else [at.who]
    assert ("found" in said[""]) == (".key" in at.address) and said["who"] in whose
    assert not partly_given(at) and bool(said["typed"]) == in_typed_heads(at)


def starts_typed(at: Judge, said: Said) -> None:
    assert at.typed and "input" not in at.values and "embedding" not in at.values
    crosses = "attention" not in at.spec["layers"][0]
    names = listed(told_apart(at.spec["encoder"]["tokens"])) if "encoder" in at.spec else None
    later = any("cross_attention" in layer for layer in at.spec["layers"])
    assert said["tokens"] == listed(at.names) and bool(said["all"]) != crosses
    assert said["keys"] == (names if crosses else None)
    assert said["others"] == (names if later and not crosses else None)


def in_typed_heads(at: Judge) -> bool:
    """Whether the section is one of a head that is typed: those of the first sub-layer."""
    first = "attention" if "attention" in at.spec["layers"][0] else "cross_attention"
    return at.typed and at.address.startswith(f"layer1.{first}.")


def check_shared(at: Judge, head: str | None) -> None:
    """Whether the keys of the scores are those of another head: the one that is named."""
    if scores := at.near("dot") or at.near("scores"):
        _, keys = scores["operands"]
    else:  # a state, to which the rows of the keys are written
        rows = (a for a in at.values if re.fullmatch(rf"{re.escape(at.place)}token\d+\.key", a))
        (keys,) = at.values[next(rows)]["operands"]
        while re.search(r"\.(?:unit|mapped)_key$", keys):
            keys = at.values[keys]["operands"][0]
    own = keys.startswith(at.place)
    assert own if head is None else keys.startswith(f"{at.place.rpartition('head')[0]}head{head}.")


def softmax(at: Judge, said: Said) -> None:
    assert at.address.endswith(".weights") and not at.pinned(at.address)
    assert of_its_row(at, said)
    assert bool(said["shifted"]) == (at.near("shifted") is not None)
    assert bool(said["sink"]) == (at.near("weights_and_sink") is not None)
    if said["sink"]:
        *_, sink = at.row(at.near("scores_and_sink")).data
        assert sink > -math.inf
    more, unseen = said["more"] or "", at.hidden()
    if more.startswith("No token"):
        assert "cross_attention" in at.address
    elif more.startswith("Every key"):
        assert said["who"] == at.who and len(unseen) == len(at.tokens) and not said["sink"]
        assert not any(at.row(at.result).data)
    else:
        assert bool(more) == bool(unseen) and "cross_attention" not in at.address
    check_added(at, said)
    row = at.row(at.result)
    gone = [i for i in at.seen(row) if not row.data[i]]
    if said["vanished"]:
        names = re.findall("(?:the encoder's )?“.+?”", said["vanished"])
        assert [at.key(name) for name in names] == gone
    else:
        assert not gone or said["added"]


def check_added(at: Judge, said: Said) -> None:
    """What the most negative number of the mask, if it has any, leaves of a key's weight."""
    masked = at.near("masked")
    if masked is None or at.pinned(masked["address"]):
        assert said["added"] is None
        return
    row = at.row(at.mask()).data
    if all(x == -math.inf for x in row):
        assert said["added"] is None
        return
    negative = [x for x in row if -1e300 < x < 0]
    assert bool(negative) == (said["added"] is not None)
    if negative:
        key = at.key(f"“{said['key']}”")
        assert number(said["added"]) == number(said["power"]) == row[key] == min(negative)
        mantissa, _, power = said["factor"].partition("×10")
        log = math.log10(float(mantissa)) + float(power.translate(POWERS) or 0)
        assert abs(log - row[key] / math.log(10)) < 0.022 + 1e-9 * abs(row[key])
        assert number(said["weight"] or "0") == number(at.row(at.result).shown[key])


def why_probabilities(at: Judge, said: Said) -> None:
    assert at.address == "probabilities" and not at.pinned("probabilities")
    assert said["who"] == at.who
    kind = (at.spec.get("loss") or {}).get("kind", "cross_entropy")
    assert bool(said["measured"]) == (kind == "cross_entropy")


# --- turned by positions -------------------------------------------------------------------------


def angles(at: Judge, said: Said) -> None:
    where = re.sub(r"position\..*", "", at.address)
    frequencies = at.values[f"{where}position.div_term"]
    unscaled = at.values.get(f"{where}position.unscaled", frequencies)
    parts = {n: layer["attention"] for n, layer in enumerate(layers(at), 1) if "attention" in layer}
    asked_of = {number: settings_of(at.spec, part) for number, part in parts.items()}
    turned = {
        n: asked for n, asked in asked_of.items() if asked and prefix(at.spec, asked) == where
    }
    assert [*map(str, turned)] == (
        re.findall(r"\d+", said["layers"]) if said["layers"] else [*map(str, parts)]
    )
    settings = next(iter(turned.values()))
    assert (said["base"] is None) == (frequencies["operation"] == "given")
    if said["base"] is not None:
        kind = settings.get("scaling", {}).get("kind")
        has_factors = bool(settings.get("factors")) or kind in ("linear", "longrope")
        assert (said["scaled"] is not None) == (f"{where}position.ramp" in at.values)
        assert bool(said["divided"]) == bool(said["factor"]) == has_factors
        asked = unscaled["parameters"]
        if asked["base"] is None:
            assert said["base"] == at.values[f"{where}position.base"]["symbol"]
        else:
            assert number(said["base"]) == number(str(asked["base"]))
        queries = [
            v
            for a, v in at.values.items()
            if any(a.startswith(f"layer{n}.") for n in turned)
            and a.endswith((".rotated_query", ".rotary_query.rotated"))
        ]
        share = number(str(settings.get("share", 1)))
        apart = any("latent" in parts[n] for n in turned)
        widths = {len(value["data"][0]) * share for value in queries}
        assert widths == {int(said["width"])} == {int(asked["width"])}
        index = at.values[f"{where}position.index"]["data"]
        earlier = len(at.tokens) - len(index)  # tokens whose keys are cached
        assert said["who"] == at.who and int(said["position"]) == index[at.followed - earlier]
        assert int(said["start"]) == index[0] - earlier
        assert said["what"].startswith(said["letter"]) and (said["letter"] == "r") == (
            share < 1 or apart
        )


def turned(at: Judge, said: Said) -> None:
    assert at.address.endswith(".rotated_query")
    halves = at.result["parameters"]["layout"] == "halves"
    assert halves == said["which"].endswith("half the width apart")
    settings = settings_of(at.spec, part_of(at))
    assert settings is not None
    where = prefix(at.spec, settings)
    assert said["of"] == at.values[f"{where}position.angle"]["symbol"]
    factors = {said[name] for name in ("m", "m2", "m3", "m4")}
    scaled = at.values.get(f"{where}position.scaled_cos")
    assert factors == {scaled and scaled["symbol"].partition("cos")[0]}
    share = number(str(settings.get("share", 1)))
    assert (said["some"] is not None) == (share < 1)
    if said["some"]:
        query = at.values[at.result["operands"][0]]
        before, after = at.row(query).data, at.row(at.result).data
        assert len(after) == int(said["all"]) and int(said["some"]) == share * len(after)
        kept = slice(int(said["some"]), None)
        most = 10.0 ** -at.rounding["decimals"] if at.rounding["carry"] != "never" else 1e-9
        assert all(abs(a - b) <= 5 * most for a, b in zip(before[kept], after[kept], strict=True))
    waves = [f"{where}position.{wave}" for wave in ("angle", "sin", "cos")]
    assert (said["angle"] == "given") == any(wave in at.spec.get("given", {}) for wave in waves)


# --- the FFN -------------------------------------------------------------------------------------


def gate(at: Judge, said: Said) -> None:
    active = at.near("activation")
    bends = active is not None and active["operation"] not in ("copy", "given")
    assert at.address.endswith(".gated") and bends == (said["what"] == "activation")


def behind_the_gate(at: Judge, said: Said) -> None:
    not_of(at)
    row = at.row(at.result)
    clear = row.clear()
    check_ahead(row, clear, said, column(row))
    assert said["who"] == at.who and column(row)(said["what"]) == clear[0]
    assert number(row.shown[clear[0]]) > 0 and not UNNAMED.fullmatch(said["what"][1:-1])


CLAIMS: dict[str, Check] = {
    "Like every token, “{who:name}” may attend only to itself and to earlier tokens: the mask adds -∞ to the score of every later token."
    + FILLS_UP: mask,
    "Each token may attend only to itself: the mask adds -∞ to every other score." + FILLS_UP: mask,
    "Each token may attend to itself and at most {back:int} token[s] just before it: the mask adds -∞ to every other score."
    + FILLS_UP: mask,
    "Each token may attend to earlier and later tokens, but not to the padding token “{padding:name}”, whose score becomes -∞.": mask,
    "The mask is added to the scores.[hides: Where it is -∞, the token is hidden.]": mask,
    "The scores of “{who:name}” are the dot products of its query and each key[ of head {head:int}][, divided by {scale:√d_k, where d_k is the width of queries and keys|c, a constant of the model}].": scores,
    "The query describes what “{who:name}” looks for[of: among the encoder's tokens].[typed: The queries are given: they are not computed here.][ This head shares the keys and values of head {head:int}[fewer:, so that a cache keeps fewer of them].]": shared,
    "The output for “{who:name}” is the sum of the values[ of head {head:int}], each multiplied by its attention weight.": shared,
    "The key describes what “{who:name}” can be found by; queries are compared with it.[typed: The keys are given: they are not computed here.]": key_or_value,
    "The value is what “{who:name}” passes on to the tokens that attend to it.[typed: The values are given: they are not computed here.]": key_or_value,
    "The {noun:key|value} {:describes|is} what an encoder token {:.+}. The {=noun}s are given: they are not computed here.": lambda at, said: (
        at.address.endswith(f".{said['noun']}")
        and in_typed_heads(at)
        and "cross_attention" in at.address
    ),
    "What does attention compute from given queries, keys and values? For each query, it computes a weighted sum of the values.": lambda at, _: (
        at.typed and "prediction" not in at.values
    ),
    "The queries[all:, keys and values] belong to {tokens:“.+?”}[; keys and values belong to the encoder's {keys:“.+”}].[ A later part attends to the encoder's vectors for {others:“.+”}.]": starts_typed,
    softmax_of(OF_ITS_ROW, "score")
    + r"[sink: The share of the sink is left out, so that, before rounding, the weights of a row add up to less than 1.][ {more:No token is masked here|e\^\(-∞\) is 0, so masked tokens get the weight 0|Every key is masked for “(?P<who>.+?)”, so the sum is 0 and nothing can be divided by it: all its weights are set to 0}.][ The mask adds {added} to the score of “{key:name}”, which multiplies its exponential by e^({power}), about {factor}. {:Its weight is (?P<weight>\S+)|Before rounding, its weight is greater than 0; it is printed as 0}.][ Before rounding, {vanished:(?:the encoder's )?“.+?”} {:gets a weight|get weights} greater than 0, printed as 0.]": softmax,
    softmax_of(AFTER_IT, "logit")
    + "[vanished: Before rounding, every probability is greater than 0.]": lambda at, said: (
        at.address == "probabilities"
        and of_its_row(at, said)
        and not at.pinned(at.address)
        and bool(said["shifted"]) == ("probabilities.shifted" in at.values)
        and bool(said["vanished"]) == (not all(at.row(at.result).data))
    ),
    "With probabilities, [measured:training can measure how probable the correct word is, ]a program can draw the word after “{who:name}” at random, and a reader sees how sure the model is.": why_probabilities,
    r"Each position has angles by which queries and keys[ of layer[s] {layers:[\d, and]+}] will be rotated.[ Each pair of columns has a frequency, {base:[0-9.]+|b\w*}^(-2k / {letter:d_k|r})[divided: / f_k], where {what:d_k is the width of a query|r is the number of rotated columns}, {width:int} here, and k counts the pairs from 0.[factor: f_k is a factor that is set for each pair.][scaled: The frequencies are then scaled for long texts.] The angle is the position times the {:(?:scaled )?}frequency. “{who:name}” is at position {position:int}[, counted from {start:int}].]": angles,
    r"Each query is rotated by angles. Two {which:neighboring columns|columns half the width apart} are read as a point (a, b) and become a×{m?:m\w*×}cos({of:θ\w*}) - b×{m2?:m\w*×}sin({=of}) and a×{m3?:m\w*×}sin({=of}) + b×{m4?:m\w*×}cos({=of}). The angle {=of} is {angle:the token's position times the pair's frequency|given}.[ Only the first {some:int} of the {all:int} columns are rotated; the others stay unchanged.]": turned,
    "The {what:activation|hidden layer} is a gate: a second projection of the same vectors is multiplied by it element by element.": gate,
    "The largest number of “{who:name}” after the gate is {what:“.+?”}"
    + AHEAD
    + ".": behind_the_gate,
}
