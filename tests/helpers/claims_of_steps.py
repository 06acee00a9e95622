"""What is said of the result of a step: each form with its check."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any

from tests.helpers import judge
from tests.helpers.claims_of_reasons import part_of, partly_given
from tests.helpers.command import run
from tests.helpers.scenario_yaml import to_yaml

# --- attention -----------------------------------------------------------------------------------


def labels_read_out(at: judge.Judge, said: judge.Said) -> None:
    judge.not_of(at)
    assert at.address.rpartition(".")[2] == said["noun"] and said["who"] == at.who
    row = at.row(at.result)
    clear = row.clear()
    judge.check_ahead(row, clear, said, judge.column(row))
    assert (said["most"] == "larger,") == (len(row.labels) == 2)
    assert judge.column(row)(said["what"]) == clear[0] and judge.number(row.shown[clear[0]]) > 0
    assert not judge.UNNAMED.fullmatch(said["what"][1:-1])


MOST_OF_IT = "[ Most of the dot product comes from “{label:name}”: {part} of {whole:word}.]"


def best_key(at: judge.Judge, said: judge.Said) -> None:
    judge.not_of(at)
    assert at.address.endswith(".scores") and said["who"] == at.who
    row = at.row(at.result)
    clear = row.clear(at.seen(row))
    judge.check_ahead(row, clear, said, at.key, len(at.seen(row)))
    assert bool(said["among"]) == (len(at.seen(row)) < len(row.data))
    assert at.key(said["first"]) == clear[0]
    if said["label"]:
        assert at.near("rotated_query") is None
        query = at.row(at.near("query"))
        source = query.labels.index(said["label"])
        at.main_part(at.near("dot") or at.result, clear[0], source, said["part"], said["whole"])
        assert not judge.UNNAMED.fullmatch(said["label"])


def hidden(at: judge.Judge, said: judge.Said) -> None:
    judge.not_of(at)
    assert at.address.endswith(".masked") and said["who"] == at.who and len(at.tokens) > 1
    unseen = [at.names[i] for i in at.hidden()]
    if "hidden" in said:
        expected = judge.listed(unseen, "or").replace(f"“{at.who}”", "itself")
        assert 0 < len(unseen) < len(at.tokens) and said["hidden"] == expected
    else:
        is_nothing = "can attend to every token." in said[""]
        assert len(unseen) == (0 if is_nothing else len(at.tokens))
        assert at.only_hides() or not is_nothing
        if said.get("other"):
            i = at.names.index(said["other"])
            rows = zip(at.names, at.result["data"][i], at.result["printed"][i], strict=True)
            scores = [(name, judge.number(str(x)), shown) for name, x, shown in rows]
            assert said["unseen"] == judge.listed([n for n, x, _ in scores if x < -1e300])
            left = [shown for _, x, shown in scores if x > -1e300]
            assert said["scores"] == re.sub(r", (?=[^,]+$)", " and ", ", ".join(left))


def shares(at: judge.Judge, said: judge.Said) -> None:
    if not at.heading and not at.address:  # what a text says first
        at.address = main_head(at, said["place"] or "", said["word"])
        try:
            return shares(at, said)
        finally:
            at.address = ""
    judge.not_of(at)
    assert at.address.endswith(".weights") and said["who"] == at.who
    row = at.row(at.result)
    assert (said["first"] == "the sink") == sink_gets_nearly_all(at)
    if said["first"] == "the sink":
        return
    clear = row.clear(at.seen(row))
    assert clear and at.key(said["first"]) == clear[0]
    if "share" not in said:
        assert row.data[clear[0]] >= 0.99 and judge.number(row.shown[clear[0]]) == 1
        return
    shown = [judge.number(row.shown[i]) for i in clear]
    assert abs(judge.number(said["share"]) / 100 - shown[0]) < judge.NOISE and shown[0] < 1
    assert (said["next"] is not None) == (len(clear) == 2)
    if said["next"] is not None:
        assert at.key(said["second"]) == clear[1] and sum(shown) <= 1 + judge.NOISE
        assert abs(judge.number(said["next"]) / 100 - shown[1]) < judge.NOISE


MOST_TRIED = 8
"""The program compares no more heads."""


def main_head(at: judge.Judge, place: str, word: str | None) -> str:
    """The weights of the head that is named: without its output, the result changes most.

    `word` is what the model then predicts, if this is another word.
    """
    form = r"layer\d+\.(cross_)?attention\.head\d+\.weights"
    heads = [address for address in at.values if re.fullmatch(form, address)]
    heads = [address for address in heads if "cross_" in address] or heads
    found = next(address for address in heads if is_at(place, address))
    passes = {address: changed for address in heads if (changed := without(at, address))}
    if not passes:  # the judge knows only a part of the scenario
        return found
    effects = {address: effect(at, address, changed) for address, changed in passes.items()}
    largest = max(effects.values(), default=-math.inf)
    assert len(heads) > MOST_TRIED or effects.get(found, largest) >= largest - judge.NOISE
    if found in passes and "prediction" in at.values:
        old, new = (each["prediction"]["data"][at.followed] for each in (at.values, passes[found]))
        assert word == (None if old == new else new)
    else:
        assert word is None
    return found


def without(at: judge.Judge, weights: str) -> dict[str, Any] | None:
    """The values of a pass in which the output of a head is 0; None if there is no result."""
    output = weights.removesuffix("weights") + "output"
    zeros = [[0] * len(row) for row in at.values[output]["data"]]
    spec = {**at.spec, "given": {**at.spec.get("given", {}), output: zeros}}
    ran = run("run", "-", "-f", "json", stdin=to_yaml(spec))
    if ran.exit_code:
        return None
    found = {value["address"]: value for value in json.loads(ran.stdout)["values"]}
    typed = [a for a, value in at.values.items() if value["operation"] == "given" and a in found]
    # With other weights, as a command has drawn them, nothing can be compared.
    same = all(found[a]["data"] == at.values[a]["data"] for a in typed if a != output)
    return found if same else None


def effect(at: judge.Judge, weights: str, changed: dict[str, Any]) -> float:
    """How far the logit of the predicted word falls, or how long the vector is that is missing."""
    both = at.values, changed
    if "prediction" in at.values:
        word = at.values["prediction"]["data"][at.followed]
        column = at.values["logits"]["axes"][1]["labels"].index(word)
        own, other = (float(at.row(values["logits"]).data[column]) for values in both)
        return own - other
    added = re.sub(r"head\d+\.weights", "output", weights)
    return math.dist(*(list(map(float, at.row(values[added]).data)) for values in both))


def is_at(place: str, address: str) -> bool:
    """Whether the address of a head fits `layer 1, cross-attention, head 2`."""
    layer, head = re.search(r"layer (\d+)", place), re.search(r"head (\d+)", place)
    return (
        (not layer or address.startswith(f"layer{layer[1]}."))
        and (not head or f".head{head[1]}." in address)
        and ("attention" not in place or ("cross" in place) == ("cross" in address))
    )


def sink_gets_nearly_all(at: judge.Judge) -> bool:
    """Whether the share of the sink is 1 but for its rounding."""
    shares = at.near("weights_and_sink")
    if shares is None or judge.number(at.row(shares).shown[-1]) != 1:
        return False
    return share_of(at, -1) >= 0.99


def share_of(at: judge.Judge, column: int) -> float:
    """The followed token's share of a key, or of the sink, before it is rounded."""
    divided = at.near("weights_and_sink") or at.result
    exponentials, total = (at.values[address] for address in divided["operands"])
    row = at.followed - (len(at.tokens) - len(total["data"]))
    # As floats, the exponentials of very low scores would all be 0.
    one, all_of_them = (
        Decimal(str(each)) for each in (exponentials["data"][row][column], total["data"][row])
    )
    return float(one / all_of_them)


def leak(at: judge.Judge, said: judge.Said) -> None:
    judge.not_of(at)
    assert said["again"] == at.who
    shares = at.row(at.result).data
    hidden = [i for i in at.hidden() if i > at.followed and at.tokens[i] != at.padding]
    later = [i for i in hidden if shares[i] > 0]
    assert said["who"] == at.who and said["later"] == judge.listed([at.names[i] for i in later])
    assert (said["tokens"] == "token") == (len(later) == 1) == (said["zero"] == "this weight")
    share = sum(shares[i] for i in later)
    if said["share"] is not None:
        every = (x for row in at.result["printed"] for x in row if "×" not in x)
        shown = [x.partition(".")[2] for x in every]
        decimals = min(map(len, filter(None, shown)), default=at.rounding["decimals"])
        assert 0 < judge.number(said["share"]) < 100
        rounded = max(
            *(50 * len(later) * 10.0**-decimals, 50 * 10.0 ** -at.rounding["decimals"]),
            0.5 * 10.0 ** -len(said["share"].partition(".")[2]) if "." in said["share"] else 0,
        )
        assert abs(judge.number(said["share"]) - 100 * share) <= rounded + 1e-6


def last(at: judge.Judge, said: judge.Said) -> None:
    judge.not_of(at)
    assert at.followed == len(at.tokens) - 1 > 0 and not at.hidden() and said["who"] == at.who
    assert at.only_hides()


def main_source(at: judge.Judge, said: judge.Said) -> None:
    judge.not_of(at)
    row = at.row(at.result)
    at_column = row.labels.index(said["what"])
    assert not judge.UNNAMED.fullmatch(said["what"]) and said["whole"] == row.shown[at_column]
    operand = at.values[at.result["operands"][0]]
    weighted = operand["address"].endswith(".weights")
    name = at.key if weighted else judge.column(at.row(operand))
    at.main_part(at.result, at_column, name(said["source"]), said["part"], said["whole"])


def reused(at: judge.Judge, said: judge.Said) -> None:
    one = len(at.tokens) == 2
    assert said["old"] == judge.listed(at.names[:-1]) and said["new"] == judge.listed(at.names[-1:])
    assert at.address.endswith((".keys", ".values")) and said["noun"].endswith("s") != one
    assert said["be"] == ("is" if one else "are")
    assert at.address.endswith(f".{said['one']}s") and said["noun"].startswith(said["one"])


def concatenated(at: judge.Judge, said: judge.Said) -> None:
    assert not at.pinned(at.address)
    assert (len(at.result["operands"]) == 1) == said[""].startswith("There is only one")
    assert "how" not in said or said["how"] == at.passed_on()


def several_heads(at: judge.Judge, said: judge.Said) -> None:
    sub_layer = at.address.partition(".head")[0]
    heads = len(at.values[f"{sub_layer}.concat"]["operands"])
    assert heads > 1 and not at.pinned(at.address)
    shared = [h for h in range(1, heads + 1) if f"{sub_layer}.head{h}.W_K" not in at.values]
    typed = at.result["operation"] == "given"
    assert (said["own"] == "queries") == (bool(shared) or typed)


def projected(at: judge.Judge, said: judge.Said) -> None:
    assert not at.pinned(at.address)
    heads = len(at.near("concat")["operands"])
    w_o = at.near("W_O") is not None
    words = "W_O combines" if heads > 1 else "W_O maps"
    assert said[""].startswith(words if w_o else "There is no W_O")
    assert "how" not in said or said["how"] == at.passed_on()


# --- the FFN, residual, norm ---------------------------------------------------------------------


def relu(at: judge.Judge, said: judge.Said) -> None:
    judge.not_of(at)
    row = at.row(at.near("hidden"))
    kept = [label for label, x in zip(row.labels, row.data, strict=True) if x > 0]
    zeroed = [label for label, x in zip(row.labels, row.data, strict=True) if x < 0]
    assert len(row.data) > 1
    if "n" in said:
        assert len(row.labels) > 6 and int(said["all"]) == len(row.labels)
        assert (int(said["n"]), int(said["zeros"])) == (len(kept), len(zeroed)) and kept and zeroed
        largest = at.row(at.result)
        clear = [(largest.labels[i], largest.shown[i]) for i in largest.clear()[:1]]
        assert clear == ([(said["most"], said["x"])] if said["most"] else [])
    elif "kept" in said:
        assert len(row.labels) <= 6
        assert said[""] == f"ReLU keeps {judge.listed(kept)} and sets {judge.listed(zeroed)} to 0."
    elif "changes no" in said[""]:
        assert kept and not zeroed
    else:
        assert zeroed and not kept


def changes(at: judge.Judge, said: judge.Said) -> None:
    judge.not_of(at)
    what = {"The FFN": "ffn", "Attention": "attention", "Cross-attention": "cross_attention"}
    assert at.place.split(".")[1] == what[said["what"]]
    change = at.result["operands"][1]
    assert not at.pinned(change)
    row = at.row(at.values[change])
    sizes = judge.Row(
        row.labels, list(map(abs, row.data)), [x.removeprefix("-") for x in row.shown]
    )
    (most, *_) = sizes.clear()
    assert at.row(at.result).labels[most] == said["label"] and row.shown[most] == said["by"]


def added(at: judge.Judge, said: judge.Said) -> bool:
    """Whether the sub-layer's input is added to what it computes for the followed token."""
    assert said["who"] == at.who and not partly_given(at)
    part = part_of(at)
    assert at.address.endswith(".residual") and part.get("residual", True) is True
    return "residual_scale" not in part or "sum, " in said[""]


def extremes(at: judge.Judge, said: judge.Said) -> None:
    judge.not_of(at)
    row = at.row(at.result)
    high, low = row.clear()[0], row.clear(sign=-1)[0]
    assert (said["high"], said["low"]) == (row.labels[high], row.labels[low])
    assert (said["x"], said["y"]) == (row.shown[high], row.shown[low])


def counted(at: judge.Judge, said: judge.Said) -> None:
    n = int(said["n"])
    assert n == len(at.result["axes"][1]["labels"]) and not at.pinned(at.address)
    of_expert = ".expert" in at.address or ".shared" in at.address
    assert "expert" not in said or bool(said["expert"]) == of_expert
    assert (f"{n} hidden units" in said[""] or f"{n} numbers" in said[""]) == (n != 1)
    if "behind" in said:
        operation = at.result["operation"]
        assert (said["behind"] is None) == (operation == "matmul")
        assert said["behind"] is None or ("There is no" in said["behind"]) == (operation == "copy")


# --- words ---------------------------------------------------------------------------------------


def compared(at: judge.Judge, said: judge.Said) -> None:
    judge.not_of(at)
    assert not at.pinned("input") and at.layers and said["who"] == at.who
    before, after = at.row(at.values["input"]), at.row(at.result)
    was, now = before.clear()[0], after.clear()[0]
    assert before.labels == after.labels and not judge.UNNAMED.fullmatch(said["was"])
    assert (said["was"], said["x"]) == (before.labels[was], before.shown[was])
    assert (said["now"], said["y"]) == (after.labels[now], after.shown[now])


def logit(at: judge.Judge, said: judge.Said) -> None:
    judge.not_of(at)
    row = at.row(at.result)
    judge.check_ahead(row, row.clear(), said, judge.column(row))
    assert judge.column(row)(said["word"]) == row.clear()[0] and said["who"] == at.who


def prediction(at: judge.Judge, said: judge.Said) -> None:
    judge.not_of(at)
    assert not at.pinned("probabilities") and said["who"] == at.who
    row = at.row(at.values["probabilities"])
    most = row.clear()[0]
    assert row.labels[most] == said["word"] == at.result["data"][-len(at.tokens) + at.followed]
    shown = judge.number(row.shown[most])
    assert (said["p"] is None) == (shown >= 1)
    assert said["p"] is None or abs(judge.number(said["p"]) / 100 - shown) < judge.NOISE


def foretold(at: judge.Judge, said: judge.Said) -> bool:
    return said["who"] == at.who and at.address == "prediction" and not partly_given(at)


def drawn(at: judge.Judge, said: judge.Said) -> None:
    sums = at.values["sampling.cumulative"]
    words, row = sums["axes"][1]["labels"], sums["data"][0]
    draw = at.values["sampling.draw"]["data"]
    under = [word for word, total in zip(words, row, strict=True) if draw < total]
    assert judge.number(said["draw"]) == draw and said["word"] == [*under, words[-1]][0]
    assert ("last" in said) == (not under) and judge.number(said.get("last", "1")) in {1, row[-1]}


WITHOUT_IT = (
    "[ Without this head (its output set to 0 for all tokens), the model predicts “{word:any}”.]"
)

CLAIMS: dict[str, judge.Check] = {
    "In the {noun:query|key|value} of “{who:name}”, {what:“.+?”} is {most:larger,|largest}"
    + judge.AHEAD
    + ".": labels_read_out,
    "The largest score of “{who:name}”{among:| among the keys that it can attend to} is that for the key of {first:(?:the encoder's )?“.+?”}"
    + judge.AHEAD
    + "."
    + MOST_OF_IT: best_key,
    "“{who:name}” can attend to every token.[ {unseen:“.+”} {be:is|are} hidden from “{other:name}”; its scores {scores:.+} remain.]": hidden,
    "“{who:name}” cannot attend to any token, not even to itself.": hidden,
    "“{who:name}” cannot attend to {hidden:(?:“|itself).*}.": hidden,
    r"[In {place:text}, ]“{who:name}” gives {share} % of its attention to {first:name}{: and (?P<next>\S+) % to (?P<second>.+?)|, more than to any other token}."
    + WITHOUT_IT: shares,
    "[In {place:text}, ]“{who:name}” gives nearly all of its attention to {first:itself|the sink|(?:the encoder's )?“.+?”}."
    + WITHOUT_IT: shares,
    r"Without the mask, “{who:name}” would {:give (?P<share>\S+) % of its attention|also attend} to the later {tokens:tokens?} {later:“.+”}; the mask makes {zero:this weight|these weights} 0. This is data leakage when the model is trained to predict what follows “{again:name}”.": leak,
    "The softmax of the scores of “{who:name}” is computed again, without the mask.": lambda at, said: (
        said["who"] == at.who and at.address.endswith("unmasked.weights")
    ),
    "“{who:name}” is the last token: the mask hides nothing from it.": last,
    "Most of “{what:name}” comes from {source:name}: {part} of {whole}.": main_source,
    "The {noun:keys?|values?} of {old:“.+?”} {be:is|are} reused; only the {one:key|value} of {new:“.+?”} is new.": reused,
    "There is only one head here, so nothing is concatenated: its output is passed on[how: unchanged].": concatenated,
    "The outputs of the heads are concatenated into one long row for each token.": concatenated,
    "Each head has its own {own:weight matrices|queries}, so several heads can follow several relations between tokens at once.": several_heads,
    "Queries come from the decoder's tokens, keys and values from the encoder's tokens. Every decoder token can attend to every encoder token.": lambda at, _: (
        "cross_attention" in at.address and not at.pinned(at.address)
    ),
    "There is no W_O here, by which most models multiply the result of attention: the result is passed on[how: unchanged].": projected,
    "W_O combines the results of the heads into one vector for each token.": projected,
    "W_O maps the result of the head to one vector for each token.": projected,
    "ReLU changes no hidden unit: none is negative.": relu,
    "ReLU keeps no hidden unit: none is positive.": relu,
    "ReLU keeps {kept:“.+?”} and sets {zeroed:“.+”} to 0.": relu,
    "ReLU keeps {n:int} of the {all:int} hidden units and sets {zeros:int} to 0[; the largest is “{most:name}” with {x:word}].": relu,
    "{what:The FFN|Attention|Cross-attention} changes “{label:name}” most, by {by}.": changes,
    "The sub-layer's output is added to the vector of “{who:name}”.": added,
    "Because of this sum, the sub-layer only has to compute how “{who:name}” changes, and in training the gradient has a direct path around it.": added,
    "The largest number is now “{high:name}” with {x}, the smallest “{low:name}” with {y}.": extremes,
    "The bias b₁ gives each hidden unit an offset, because {:.+} to hidden units of 0.": lambda at, _: (
        at.address.endswith(".hidden") and bool(at.near("b_1")) and not at.pinned(at.address)
    ),
    r"{:(?P<expert>An expert is an FFN\. It)|The FFN} treats each token separately: W₁ maps its vector to {n:int} hidden unit[s].": counted,
    r"W₂ maps the hidden units of each token to {n:int} number[s].{behind?: The activation is applied afterward\. .+| There is no activation function here\.}": counted,
    r"In X′, the largest number of “{who:name}” is “{was:name}” with {x}; in {:\S+}, it is “{now:name}” with {y}.": compared,
    "After “{who:name}”, the largest logit is that of {word:“.+?”}" + judge.AHEAD + ".": logit,
    "After “{who:name}”, the model predicts “{word:name}”[ with a probability of {p} %].": prediction,
    "The most probable word is the model's prediction of the token after “{who:name}”.": foretold,
    "To continue a text that ends with “{who:name}”, the predicted word is appended and the decoder runs again, because each word depends on the words before it.": foretold,
    "The random number is {draw:num}: it selects “{word:name}”.": drawn,
    "The random number is {draw:num}. Rounding leaves the last sum at {last:num}, so the last word, “{word:name}”, is selected.": drawn,
}
