"""What is said of trained models' predictions: ranks, the parts of a logit, attention sinks."""

from __future__ import annotations

import math
import re
from typing import Any

from tests.helpers import word_paths
from tests.helpers.judge import Check, Judge, Said, as_shown, exact, told_apart
from tests.helpers.parts_of_rows import Parts

HEAD = re.compile(r"layer(\d+)\.(cross_)?attention\.head(\d+)\.output")
ALMOST_ALL = 90


def prediction(at: Judge) -> tuple[int, str]:
    """The column of the word that is predicted after the followed token, and the word."""
    row = at.followed - len(at.tokens)
    words = at.values["logits"]["axes"][1]["labels"]
    word = at.values["prediction"]["data"][row]
    return words.index(word), word


def path(at: Judge) -> list[tuple[str, int]]:
    """The rank of the predicted word at each point, with where it is in words."""
    column, _ = prediction(at)
    row = at.followed - len(at.tokens)
    found = word_paths.read(at.values, at.spec.get("layers", []), row)
    return [(each.where, each.rank(column)) for each in found]


def of_the_prediction(at: Judge, said: Said) -> None:
    assert said["word"] == as_shown(prediction(at)[1]) and said.get("who", at.who) == at.who
    if "first" in said:
        assert bool(said["first"]) == (path(at)[0][0] == "before the first layer")


def leads(at: Judge, said: Said) -> None:
    assert said[""] == word_paths.leads(as_shown(prediction(at)[1]), path(at))


def ends(at: Judge, said: Said) -> None:
    """The rank and the probability of the prediction, which no word exceeds."""
    column, word = prediction(at)
    printed = at.row(at.values["probabilities"]).shown[column]
    assert (said["who"], said["word"], said["most"]) == (at.who, as_shown(word), None)
    assert int(said["rank"]) == path(at)[-1][1] == 1
    assert exact(said["share"]) == 100 * exact(printed)


def moves_most(at: Judge, said: Said) -> None:
    assert [said[""]] == word_paths.moved(path(at))


def parts(at: Judge) -> dict[str, float]:
    """What each component adds to the logit of the prediction."""
    capped = "logits.uncapped" in at.values
    weights = [0.0] * at.values["logits"]["shape"][1]
    weights[prediction(at)[0]] = 1.0
    address = "logits.uncapped" if capped else "logits"
    return Parts(at.values, address, at.followed).times(weights)


def label(address: str) -> str:
    """`layer 2, head 1`: how a part of this address is called."""
    if match := HEAD.fullmatch(address):
        layer, crosses, head = match.groups()
        return f"layer {layer}, {'cross, ' if crosses else ''}head {head}"
    *place, name = address.split(".")
    if address in ("embedding.scaled", "unembedding.b_U"):
        place, name = [], {"scaled": "embedding"}.get(name, name)
    if address.startswith("unembedding.transform."):
        return {"shift": "β", "activation": "transform"}[name]
    words = [re.sub(r"^(layer|expert|head)(\d+)$", r"\1 \2", each) for each in place]
    names = {"ffn": "FFN", "cross_attention": "cross", "shared": "shared expert"}
    words = [names.get(each, each) for each in words]
    if words[-1:] == ["attention"] and name == "b_O":
        words.pop()
    if name == "shift":
        norm = words.pop()
        words += [norm.replace("_", " ")] * (norm in ("embedding_norm", "final_norm"))
        name = "β of the norm after it" if norm == "norm_after" else "β"
    if "ffn" in place and name in ("gated", "activation", "hidden"):
        return ", ".join(words)
    return ", ".join(
        [*words, {"position": "positions", "token_type": "token type"}.get(name, name)]
    )


def is_rounded(printed: str, computed: float) -> bool:
    """Whether a number is printed with the digits that it has."""
    step = 10.0 ** int(exact(printed).as_tuple().exponent)
    return abs(float(exact(printed)) - computed) <= 0.51 * step


def is_a_sum(at: Judge, said: Said) -> None:
    column, word = prediction(at)
    capped = "logits.uncapped" in at.values
    row = at.row(at.values["logits.uncapped" if capped else "logits"])
    assert (said["word"], said["who"], said["n"]) == (as_shown(word), at.who, row.shown[column])
    assert bool(said["capped"]) == capped


def largest_part(at: Judge, said: Said) -> None:
    found = parts(at)
    largest = max(found, key=lambda address: abs(found[address]))
    is_named(at, said, largest, found[largest])


def largest_head(at: Judge, said: Said) -> None:
    every = parts(at)
    found = {address: x for address, x in every.items() if HEAD.fullmatch(address)}
    largest = max(found, key=lambda address: abs(found[address]))
    assert largest != max(every, key=lambda address: abs(every[address]))  # else it is said above
    is_named(at, said, largest, found[largest])


def is_named(at: Judge, said: Said, largest: str, adds: float) -> None:
    """The largest part has its name and number; of a head, it is said what it attends to."""
    assert said["name"] == label(largest) and is_rounded(said["n"], adds)
    assert bool(said["size"]) == said["n"].startswith("-")
    if not HEAD.fullmatch(largest):
        assert not said["share"]
        return
    weights = at.values.get(largest.replace("output", "weights"))
    if weights is None:  # a head with a state
        assert not said["share"]
        return
    data = weights["data"][at.followed - len(at.tokens)]
    shown = sorted(map(exact, weights["printed"][at.followed - len(at.tokens)]))
    assert bool(said["share"]) == (len(shown) > 1 and shown[-1] > shown[-2])
    if said["share"]:
        most = data.index(max(data))
        assert said["token"] == told_apart(weights["axes"][1]["labels"])[most]
        printed = weights["printed"][at.followed - len(at.tokens)][most]
        assert exact(said["share"]) == 100 * exact(printed)
        assert bool(said["other"]) == ("cross_attention" in largest)


def weights_of(at: Judge) -> list[Any]:
    """The attention weights of each head."""
    return [
        v for a, v in at.values.items() if re.fullmatch(r"layer\d+\.attention\.head\d+\.weights", a)
    ]


def shares_of_first(at: Judge) -> list[float]:
    """How much of its attention the followed token gives to the first one, in each head."""
    return [float(value["data"][at.followed - len(at.tokens)][0]) for value in weights_of(at)]


def looks_at_the_first(at: Judge, said: Said) -> None:
    shares = shares_of_first(at)
    almost_all = [share for share in shares if share >= ALMOST_ALL / 100]
    assert (int(said["n"]), int(said["all"])) == (len(almost_all), len(shares)) and almost_all
    assert (said["who"], said["first"]) == (at.who, at.names[0]) and at.followed


def shortest_values(at: Judge) -> tuple[int, int]:
    """Of the heads that look at the first token, those with its value the shortest, and all."""
    looking = [
        v for v in weights_of(at) if v["data"][at.followed - len(at.tokens)][0] >= ALMOST_ALL / 100
    ]
    shortest = 0
    for weights in looking:
        output = at.values[weights["address"].replace(".weights", ".output")]
        values = at.values[output["operands"][1]]["data"]
        first, *others = (math.hypot(*row) for row in values[: at.followed + 1])
        shortest += first < min(others)
    return shortest, len(looking)


def has_the_shortest_value(at: Judge, said: Said) -> None:
    assert (int(said["n"]), int(said["all"])) == shortest_values(at) and int(said["n"])


def is_a_sink(at: Judge, said: Said) -> None:
    assert not any(address.endswith(".sink") for address in at.values)


CLAIMS: dict[str, Check] = {
    **dict.fromkeys(word_paths.FORMS, leads),
    "The rank of “{word:any}” after each sub-layer, and the word that each layer would predict with its probability:": of_the_prediction,
    "The rank, the logit and the probability of “{word:any}” after “{who:any}”, [first:before the first layer and ]after each sub-layer:": of_the_prediction,
    word_paths.ENDS: ends,
    word_paths.MOVED: moves_most,
    "The [capped:uncapped ]logit of “{word:any}” after “{who:any}” is {n}. It is the sum of what {kinds:text} add[s].": is_a_sum,
    "The largest part[size: in size] is {n} ({name:text}).[ This head gives {share} % of its attention to “{token:any}”[other: of the encoder].]": largest_part,
    "The largest part of a head[size: in size] is {n} ({name:text}).[ This head gives {share} % of its attention to “{token:any}”[other: of the encoder].]": largest_head,
    f"{{n:int}} of {{all:int}} head[s] give[s] at least {ALMOST_ALL} % of the attention of “{{who:any}}” to the first token, “{{first:any}}”.": looks_at_the_first,
    "In {n:int} of {all:int} such head[s], the first token has the shortest value vector.": has_the_shortest_value,
    "The attention weights of a head sum to 1, even if no token has what the head looks for. A head that gives almost all of its attention to a token with a short value vector adds little. Such a token is called an attention sink (Xiao et al. 2023).": is_a_sink,
    "The worked sum of a logit writes out at most its {n:int} largest parts.": lambda at, said: (
        int(said["n"]) == 10
    ),
}
