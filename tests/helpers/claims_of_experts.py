"""What is said of experts: where tokens go, with which weights, and what each expert computes."""

from __future__ import annotations

import re
from collections import Counter

from tests.helpers.claims_of_parts import softmax_of
from tests.helpers.claims_of_reasons import part_of, partly_given
from tests.helpers.judge import Check, Judge, Said, listed, not_of, number

SHOWN = 8
"""The most tokens of an expert that are named."""


def positions_of(at: Judge) -> list[list[int]]:
    """The positions, counted from 1, of the tokens that go to each expert."""
    place = re.search(r"layer\d+\.ffn\.", at.address)
    assert place
    found: list[list[int]] = []
    while value := at.values.get(f"{place[0]}expert{len(found) + 1}.input"):
        found.append(list(value["axes"][0]["positions"]))
    return found


def top_of(at: Judge) -> int:
    return int(part_of(at).get("top", 2))


MOST_SHARES = r" Each token goes to {:the (?P<top>\d+) experts with the largest logits\. Their shares are the weights|the expert with its largest logit\. Its share is the weight}; the other experts get the weight 0."


def chosen(at: Judge, said: Said) -> None:
    assert at.address.endswith(".router.weights") and not partly_given(at)
    part, top = part_of(at), top_of(at)
    assert top == (2 if said.get("both") else int(said["top"] or 1))
    assert bool(said["shifted"]) == (at.near("router.shifted") is not None)
    everything = top == len(part["experts"])
    assert everything == bool(re.match("Each token goes to (all|both|the only) ", said[""]))
    if not everything:
        assert part.get("normalize", True) == ("other logits become" in said[""])


def renormalized(at: Judge, said: Said) -> None:
    part = part_of(at)
    assert part.get("normalize", True) and top_of(at) < len(part["experts"])
    assert not partly_given(at)


def learned(at: Judge, said: Said) -> None:
    part = part_of(at)
    assert part.get("normalize") is False and len(part["experts"]) > 1 and not partly_given(at)


def experts_of_tokens(at: Judge) -> list[int]:
    """How many experts each token goes to."""
    return [*Counter(token for tokens in positions_of(at) for token in tokens).values()]


def skipped(at: Judge, said: Said) -> None:
    assert min(experts_of_tokens(at)) < len(positions_of(at)) and not partly_given(at)


def goes_to(at: Judge, said: Said) -> None:
    not_of(at)
    assert at.address.endswith(".router.weights") and said["who"] == at.who
    experts, row = positions_of(at), at.row(at.result)
    own = [e for e, positions in enumerate(experts) if at.followed + 1 in positions]
    named = re.findall(r"to expert (\d+) with the weight (\S+?)(?:,| and|$)", said["to"])
    assert named == [(str(e + 1), row.shown[e]) for e in own]
    others = [x for e, x in enumerate(row.data) if e not in own]
    assert not any(others)
    if said["tied"]:
        tied = [int(expert) - 1 for expert in re.findall(r"\d+", said["tied"])]
        first = int(said["first"] or 1)
        logits = at.row(at.near("router.logits")).data
        assert len({logits[e] for e in tied}) == 1
        assert [e for e in tied if e in own] == tied[:first] != tied
    shown = at.row(at.near("router.logits")).shown
    least = min(number(shown[e]) for e in own)
    alike = [e for e, x in enumerate(shown) if number(x) == least]
    close = [int(expert) - 1 for expert in re.findall(r"\d+", said["close"] or "")]
    assert close == ([] if said["tied"] or {*alike} <= {*own} else alike)
    loads, tokens = [len(positions) for positions in experts], len(at.result["data"])
    assert (said["last"] is None) == (tokens == 1 or min(loads) == tokens)
    if said["last"]:
        assert int(said["last"]) == len(experts)
        assert (said["each"] is None) == (len(set(loads)) > 1)
    if said["each"]:
        assert {int(said["each"])} == set(loads)
    if said["loads"]:
        assert int(said["of"]) == tokens
        assert [int(load) for load in re.findall(r"\d+", said["loads"])] == loads


def reads(at: Judge, said: Said) -> None:
    assert at.address.endswith(f"{said['expert'].lower().replace(' ', '')}.input")
    assert not at.pinned(at.address)
    positions = at.result["axes"][0]["positions"]
    takes_all = len(positions) == len(experts_of_tokens(at))
    assert takes_all == ("only" in said)
    if takes_all:
        assert said["all"] == (str(len(positions)) if len(positions) > 1 else None)
        assert said["only"] in (None, at.names[positions[0] - 1])
        return
    if "n" not in said:
        assert positions == []
        return
    assert len(positions) == int(said["n"] or 1)
    names = [at.names[position - 1] for position in positions]
    assert said["names"] == (listed(names) if len(names) <= SHOWN else None)
    assert (said["who"] is None) == (at.followed + 1 in positions)
    assert said["who"] is None or (said["who"], said["same"]) == (at.who, said["expert"].lower())


def unused(at: Judge, said: Said) -> bool:
    """Whether the expert of a section, forward or backward, reads no token."""
    expert = re.search(r"layer\d+\.\w+\.expert\d+\.", at.address)
    assert expert
    return not at.values[f"{expert[0]}input"]["data"]


CLAIMS: dict[str, Check] = {
    r"Each token goes to {:the (?P<top>\d+) experts with the largest logits|the expert with its largest logit}; the other logits become -∞. "
    + softmax_of("the logits of a row", "logit")
    + " e^(-∞) is 0, so the other experts get the weight 0.": chosen,
    softmax_of("the logits of a row", "logit") + MOST_SHARES: chosen,
    r"Each token goes to {:all (?P<top>\d+) experts|(?P<both>both) experts|the only expert}. "
    + softmax_of("the logits of a row", "logit")
    + "[ These shares are the weights.]": chosen,
    "Before rounding, the same weights result from a softmax over all experts {:.+} are divided by their sum.": renormalized,
    "An expert's output is multiplied by its weight, so that training can adjust the {:.+} too.": learned,
    "Each expert is an FFN of its own. A token uses only some of them, {:.+} for each token.": skipped,
    "Experts that a token does not go to have the weight 0, so that they add nothing.": skipped,
    "A small change of a logit changes the weights of the chosen experts but not the choice, so the choice itself has no gradient.": lambda at, _: (
        at.address.endswith("ffn.router.weights")
        and at.address.startswith("gradient.")
        and min(experts_of_tokens(at)) < len(positions_of(at))
    ),
    "An expert skips all other tokens, so that its weights cost no multiplications for them.": lambda at, _: (
        0 < len(at.result["data"]) < len(experts_of_tokens(at))
    ),
    r"“{who:name}” goes {to:to expert \d+ with the weight .+?}.[ The logits of experts {tied:[^.]+} are equal; the first [first:{:\d+} ]of them {:is|are} chosen.][ Before rounding, the logits of experts {close:[^.]+} differ.][ Experts 1 {:and|to} {last:int} get {:(?P<each>\d+) tokens? each|(?P<loads>.+) of the (?P<of>\d+) tokens}.]": goes_to,
    r"{expert:Expert \d+} computes only the {:(?P<n>\d+) tokens that go|token that goes} to it[: {names:“.+?”}].[ “{who:[^“]+?}” does not go to {same:expert \d+}.]": reads,
    r"{:“(?P<only>.+?)” goes|All (?P<all>\d+) tokens go} to {expert:expert \d+}.": reads,
    r"No token goes to {expert:expert \d+}, so it computes nothing.": reads,
    "No token goes to this expert, so there is nothing to compute.": unused,
    "Each token's result is the {:(?P<sum>sum of the outputs of its experts, each)|output of its expert,} multiplied by its weight.[shared: The output of the shared expert[gated:, multiplied by its gate,] is added for every token.]": lambda at, said: (
        at.address.endswith(".ffn.output")
        and not partly_given(at)
        and bool(said["shared"]) == ("shared" in part_of(at))
        and bool(said["gated"]) == ("shared_gate" in part_of(at))
        and bool(said["sum"]) == (max(experts_of_tokens(at)) > 1)
    ),
}
