"""What is said of losses: of their numbers, of how they are added up, of the gradient there."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

from tests.helpers.claims_of_reasons import inside
from tests.helpers.judge import Check, Judge, Said, as_shown, number, told_apart

AVERAGED = "The losses are {how:averaged|added up} over all "
NUMBERS = AVERAGED + "numbers and all positions with a target."


def asked(at: Judge) -> dict[str, Any]:
    """The loss that the scenario says."""
    found: dict[str, Any] = at.spec.get("loss", {})
    return found


def is_sum(at: Judge) -> bool:
    """Whether the losses are added."""
    return asked(at).get("reduction") == "sum"


def of_words(at: Judge, said: Said) -> None:
    assert asked(at).get("kind", "cross_entropy") == "cross_entropy" and not at.pinned("loss")
    smoothing = float(asked(at).get("smoothing", 0))
    assert smoothing == float(said.get("other") or 0)
    assert float(said.get("own") or 1) == 1 - smoothing
    assert (said["how"] == "added up") == is_sum(at)


def perplexity(at: Judge, said: Said) -> None:
    loss, found = (float(at.values[each]["data"]) for each in ("loss", "loss.perplexity"))
    assert not is_sum(at) and not asked(at).get("smoothing", 0)
    decimals = len(at.values["loss.perplexity"]["printed"].partition(".")[2])
    assert abs(math.exp(loss) - found) <= 0.51 * 10.0**-decimals + 1e-2 * found


def multiplied(at: Judge, said: Said) -> None:
    assert float(said["factor"]) == float(asked(at)["factor"]) != 1


def squared(at: Judge, said: Said) -> None:
    assert asked(at)["kind"] == "squared" and (said["how"] == "added up") == is_sum(at)
    factor = float(said.get("factor") or 1)
    assert factor == float(asked(at).get("factor", 1))
    names = ("output", "target", "error", "squared")
    rows = (at.values[f"loss.{name}"]["data"] for name in names)
    found = ([float(x) for row in each for x in row] for each in rows)
    for y, t, error, square in zip(*found, strict=True):
        assert abs(y - t - error) <= 0.51 * _unit(at) + 1e-6 * abs(error)
        assert abs(factor * error**2 - square) <= 0.51 * _unit(at) + 1e-6 * square


def _unit(at: Judge) -> float:
    return float(10.0 ** -at.rounding["decimals"])


def reduced(at: Judge, said: Said) -> None:
    if at.address == "loss":
        assert (said["how"] == "sum") == is_sum(at)
    else:  # the exponentials of a softmax
        place = at.address.rpartition(".")[0]
        sums = {f"{place}.exp_sum", *(a for a in inside(at.address) if a.endswith("exp_sum"))}
        assert said["how"] == "sum" and any(address in at.values for address in sums)


def compared(at: Judge, said: Said) -> None:
    address = "logits" if said["what"] == "logits" else "output"
    assert at.values["loss.output"]["operands"] == [address]
    assert ("logits" in at.values) == (said["what"] == "logits")


def left_out(at: Judge, said: Said) -> None:
    n = len(at.tokens) - len(at.values["loss.output"]["data"])
    assert n == int(said["n"]) and ("positions have" in said[""]) == (n > 1)


MEAN = "[ The loss is the mean over {mean:int} numbers[batch: of the batch].]"


def at_the_numbers(at: Judge, said: Said) -> None:
    outputs = [
        v["data"] for a, v in at.values.items() if a.endswith("loss.output") and "gradient" not in a
    ]
    numbers = sum(len(row) for rows in outputs for row in rows)
    n = None if is_sum(at) or numbers == 1 else str(numbers)
    assert said["n"] == said["mean"] == n
    assert ("sigmoid" in said[""]) == (asked(at)["kind"] == "binary")
    if "times" in said:
        assert float(said["times"] or 1) == float(asked(at).get("factor", 1))
    assert bool(said["batch"]) == (n is not None and len(outputs) > 1)


def without_target(at: Judge, said: Said) -> None:
    counted = at.values["loss.output"]["data"]
    assert (len(counted) < len(at.tokens)) == said[""].endswith("the gradient 0.")
    if "each logit" in said[""]:
        learned = at.values.keys() & {"gradient.unembedding.W_U", "gradient.unembedding.b_U"}
        assert bool(said["weights"]) == bool(learned)


# --- what a loss is compared with -----------------------------------------------------------------


def positions(at: Judge) -> int:
    """How many positions of the worked passes have a target."""
    targets = [v["data"] for a, v in at.values.items() if a.endswith("loss.target")]
    return sum(target in at.spec["vocabulary"] for of in targets for target in of)


def the_loss(at: Judge, said: Said) -> None:
    assert said["n"] == at.values["loss"]["printed"]
    of_words = asked(at).get("kind", "cross_entropy") == "cross_entropy" and not at.pinned("loss")
    assert bool(said["over"]) == (of_words and positions(at) > 1)
    if said["over"]:
        assert (said["how"] == "sum") == is_sum(at) and int(said["all"]) == positions(at)


def at_the_token(at: Judge, said: Said) -> None:
    losses = at.values["loss.token"]
    assert said["who"] == at.who
    if not said["word"]:  # a loss of numbers: all rows, or those of words that have a target
        assert asked(at)["kind"] != "cross_entropy"
        assert said["n"] in losses["printed"]
        return
    targets = at.values["loss.target"]["data"]
    with_target = [i for i, word in enumerate(targets) if word in at.spec["vocabulary"]]
    row = at.token if len(losses["data"]) == len(targets) else with_target.index(at.token)
    assert said["n"] == losses["printed"][row]
    assert said["word"] == as_shown(targets[at.token]) and at.token in with_target


def guessing(at: Judge, said: Said) -> None:
    words, times = len(at.spec["vocabulary"]), positions(at) if is_sum(at) else 1
    assert asked(at).get("kind", "cross_entropy") == "cross_entropy" and words > 1
    assert (
        int(said["words"]) == int(said["of"]) == words
        and int((said["times"] or "1").rstrip("×")) == times
    )
    even, loss = times * math.log(words), float(at.values["loss"]["data"])
    assert abs(float(said["even"]) - even) <= 0.51 * _unit(at)
    shown = at.values["loss"]["printed"]
    alike = abs(float(shown) - even) <= 0.5 * 10.0 ** -len(shown.partition(".")[2])
    assert said["how"] == ("no better" if alike else "better" if loss < even else "worse")


def perplexities(at: Judge, said: Said) -> None:
    words, own = len(at.spec["vocabulary"]), at.values["loss.perplexity"]["printed"]
    assert said["p"] == own and int(said["even"]) == int(said["words"]) == words
    sign = (number(own) > words) - (number(own) < words)
    assert said["than"] == {-1: "better than", 0: "equal to", 1: "worse than"}[sign]


def pairs_of(at: Judge) -> list[tuple[str, str]]:
    """The pairs of a word and the next one in the batch."""
    examples = at.spec.get("training", [])
    every = [pair for e in examples for pair in zip(e["tokens"], e["targets"], strict=True)]
    padding = at.spec.get("padding")
    return [(a, b) for a, b in every if b in at.spec["vocabulary"] and padding not in (a, b)]


def counted_pairs(at: Judge, said: Said) -> None:
    """The loss of a model whose probabilities are the shares of pairs in the batch."""
    pairs = pairs_of(at)
    firsts, both = Counter(a for a, _ in pairs), Counter(pairs)
    losses = [-math.log(both[pair] / firsts[pair[0]]) for pair in pairs]
    least = 10.0 ** -len(said["loss"].partition(".")[2])
    assert abs(float(said["loss"]) - sum(losses) / len(losses)) <= 0.51 * least
    shown = [re.split(" {2,}", line.strip()) for line in at.lines if re.search(r"\d of \d+$", line)]
    for word, after, often in shown:
        assert often == f"{both[word, after]} of {firsts[word]}"
    assert len(shown) == min(len(both), 12) and len(both) > len(firsts)
    assert bool(said["more"]) == (len(both) > 12)
    assert (
        not said["more"] or said["more"] == f"The table shows the first 12 of {len(both)} pairs. "
    )


def one_follower(at: Judge, said: Said) -> None:
    pairs = pairs_of(at)
    assert len(at.spec["training"]) > 1 and len({a for a, _ in pairs}) == len(set(pairs))


def last_asked(at: Judge) -> tuple[int, str]:
    """The last position with a target, and its target."""
    targets = at.values["loss.target"]["data"]
    return max((i, word) for i, word in enumerate(targets) if word in at.spec["vocabulary"])


def begins_backward(at: Judge, said: Said) -> None:
    assert asked(at).get("kind", "cross_entropy") == "cross_entropy"
    assert not asked(at).get("smoothing")
    assert said["who"] == told_apart(at.tokens)[last_asked(at)[0]]


def step_against(at: Judge, said: Said) -> None:
    """The lines before are p - 1 of the target, and p - 0 of the likeliest other word."""
    row, target = last_asked(at)
    words, shares = at.spec["vocabulary"], at.values["probabilities"]["data"][row]
    printed = at.values["probabilities"]["printed"][row]
    others = [i for i, word in enumerate(words) if word != target]
    assert min(shares) > 0 and shares[words.index(target)] < 1
    first, second = (line.partition(": ")[2].strip() for line in at.lines[-2:])
    assert first.startswith(f"{printed[words.index(target)]} - 1 ")
    likeliest = max(others, key=shares.__getitem__)
    assert second.startswith(f"{printed[likeliest]} - 0 ")


CLAIMS: dict[str, Check] = {
    "The loss at “{who:name}” is {n}[of:; the correct word is “{word:name}”].": at_the_token,
    "The loss L is {n}[over:, the {how:sum|mean} over {all:int} positions].": the_loss,
    "The backward pass begins at the logits. The gradient of a position's loss is the probability minus t, which is 1 for the correct word and 0 for every other word. For the correct word and the most probable other one after “{who:name}”:": begins_backward,
    "A small step against this gradient raises the logit of the correct word and lowers all others.": step_against,
    "Guessing evenly among the {words:int} words of the vocabulary would give {times?:\\d+×}ln({of:int}) ≈ {even}: the model does {how:better|worse|no better}.": guessing,
    "The simplest model to compare with counts which words follow each word in the batch, and takes their shares as its probabilities:": lambda at, _: (
        len(at.spec["training"]) > 1
    ),
    "[more:The table shows the first {:\\d+} of {:\\d+} pairs. ]On the batch, this model has the loss {loss}.": counted_pairs,
    "In the batch, each word is always followed by the same word. A model that only counts such pairs has the loss 0 on it.": one_follower,
    "The loss at a position is -ln(p), where p is the probability of the correct word. "
    + AVERAGED
    + "positions with a target.": of_words,
    "Label smoothing: the loss at a position is {own} times -ln(p) of the correct word, plus {other} times the mean of -ln(p) over all words, where p is a word's probability. "
    + AVERAGED
    + "positions with a target.": of_words,
    "The loss grows without bound as the probability of any word approaches 0, so training gives no word all of the probability.": lambda at, _: (
        bool(asked(at)["smoothing"]) and len(at.spec["vocabulary"]) > 1
    ),
    "The perplexity:": perplexity,
    "The perplexity of {p:word} is {than:better than|worse than|equal to} {even:int}, that of guessing evenly among the {words:int} words.": perplexities,
    "The square of each difference, times {factor}:": multiplied,
    "The loss of a number ŷ is {factor}×(ŷ - t)², where t is the correct number. "
    + NUMBERS: squared,
    "The loss of a number ŷ is its squared error (ŷ - t)², where t is the correct number. "
    + NUMBERS: squared,
    "The sigmoid of each logit is the probability p₁ that its target t is 1. The loss is -ln(p_t), where p_t is the probability of the target. "
    + NUMBERS: lambda at, said: (
        asked(at)["kind"] == "binary"
        and (said["how"] == "added up") == is_sum(at)
        and {float(t) for row in at.values["loss.target"]["data"] for t in row} <= {0, 1}
    ),
    "Their {how:sum|mean}:": reduced,
    "The loss at each position, the {how:sum|mean} over its numbers:": lambda at, said: (
        asked(at)["kind"] in ("squared", "binary") and (said["how"] == "sum") == is_sum(at)
    ),
    "The {what:logits|model's output} at the positions with a target:": compared,
    "{n:int} position[s] {:have no target and do|has no target and does} not count.": left_out,
    r"The gradient at each number is {:\(?2×((?P<times>[\d.]+)×)?\(?ŷ - t\)*( / (?P<n>\d+))?}, where ŷ is the number and t its target."
    + MEAN: at_the_numbers,
    r"The gradient at each logit is {:p₁ - t|\(p₁ - t\) / (?P<n>\d+)}, where p₁ is its sigmoid and t its target."
    + MEAN: at_the_numbers,
    "Compute the gradient at {:each logit(?P<weights> and at the weights that produce it)?|the model's output}. A position without a target has the gradient 0.": without_target,
    "Compute the gradient at each logit[weights: and at the weights that produce it].": without_target,
}
