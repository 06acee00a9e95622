"""What is said of the parts that change scores and logits: each form with its check."""

from __future__ import annotations

import math
import re

from tests.helpers.claims_of_reasons import part_of, partly_given
from tests.helpers.judge import Check, Judge, Said, number
from tests.helpers.unembeddings import unembedding_of

# --- the soft cap --------------------------------------------------------------------------------

CAPPED = "The soft cap {cap:num}×tanh({of:s|z′} / {by:num}) keeps each {noun:score|logit} between -{low:num} and {high:num}; {:score|logit}s much closer to 0 than {far:num} hardly change."
LOGIT = "{:Each of the (?P<words>\\d+) words|The word} of the vocabulary gets a score, its logit; a larger logit means a more probable word."
DIVIDED = "All logits are divided by {divisor:num}, a constant of the model."


def capped(at: Judge, said: Said) -> None:
    scores = at.address.endswith(".capped")
    assert (scores or at.address == "logits") and not partly_given(at)
    asked = part_of(at) if scores else unembedding_of(at.spec)
    if not scores:
        words = at.result["shape"][1]
        assert (said["words"] is None) == (words == 1) and int(said["words"] or 1) == words
        assert bool(said.get("divisor")) == ("scale" in asked)
        assert not said.get("divisor") or number(said["divisor"]) == number(str(asked["scale"]))
    if not said["cap"]:
        assert "softcap" not in asked
        return
    cap = number(str(asked["softcap"]))
    assert {number(said[key]) for key in ("cap", "by", "low", "high", "far")} == {cap}
    assert (said["of"], said["noun"]) == (("s", "score") if scores else ("z′", "logit"))
    assert all(abs(x) <= cap for x in at.row(at.result).data)
    before = at.near("scores") if scores else at.values["logits.uncapped"]
    for x in [number(str(x)) for row in before["data"] for x in row]:
        if abs(x) < cap / 10:  # tanh then changes it by 1 % at most
            assert abs(cap * math.tanh(x / cap) - x) <= abs(x) / 100


def not_cut(at: Judge, said: Said) -> None:
    assert re.search(r"\.head\d+\.capped$", at.address) and not partly_given(at)
    before = at.row(at.near("scores")).data
    order = sorted(range(len(before)), key=before.__getitem__)
    after = [at.row(at.result).data[i] for i in order]
    assert after == sorted(after)


def before_the_cap(at: Judge, said: Said) -> bool:
    return at.address == "logits" and "softcap" in unembedding_of(at.spec)


def before_the_division(at: Judge, said: Said) -> bool:
    return at.address == "logits" and "scale" in unembedding_of(at.spec)


# --- attention sinks -----------------------------------------------------------------------------


def sink(at: Judge, said: Said) -> bool:
    head = part_of(at)["heads"][int(re.findall(r"head(\d+)", at.address)[0]) - 1]
    assert at.address.endswith(".scores_and_sink") and not partly_given(at)
    shown = at.row(at.result).shown[-1]  # the author may set digits for it
    half = 0.5 * 10.0 ** -len(shown.partition(".")[2])
    assert abs(float(number(shown)) - float(head["sink"])) <= half * 1.000001
    return "sink" not in said or said["sink"] == at.near("sink")["symbol"]


# --- ALiBi ---------------------------------------------------------------------------------------


def penalized(at: Judge, said: Said) -> bool:
    assert at.spec["positions"]["alibi"] and at.address.endswith(".biased")
    return not partly_given(at) and float(at.near("slope")["data"]) > 0


def own_slopes(at: Judge, said: Said) -> None:
    penalized(at, said)
    sub_layer = at.address.partition(".head")[0]
    heads = range(1, len(part_of(at)["heads"]) + 1)
    slopes = {at.values[f"{sub_layer}.head{head}.slope"]["data"] for head in heads}
    assert len(slopes) == len(heads) > 1


CLAIMS: dict[str, Check] = {
    CAPPED: capped,
    f"{LOGIT}[ {DIVIDED}][ {CAPPED}]": capped,
    "Cutting the scores off at a limit would make all larger scores equal and stop their gradient. Before rounding, the soft cap keeps their order, and its slope is nowhere 0.": not_cut,
    "Before the soft cap:": before_the_cap,
    "Before the division:": before_the_division,
    "After the division:": before_the_division,
    "Before rounding, the division keeps the order of the logits. The larger the divisor, the smaller their differences, and the closer the probabilities.": before_the_division,
    "After the soft cap:": before_the_cap,
    "The sink {sink} is a learned number. It takes part in the softmax like the score of one more key, which has no value.": sink,
    "A softmax always gives away all of its shares. With a sink, a token need not attend to any token: if the sink is much larger than the scores, all weights are small.": sink,
    "The distance D of two tokens, times the head's slope m_D, is subtracted from their score: before rounding, of two keys that match equally well, the nearer one keeps the higher score.": penalized,
    "Nothing is learned for single positions, so the same rule applies to texts that are longer than those in training.": penalized,
    "Each head has its own slope: with a small one, distance matters little; with a large one, near tokens are favored.": own_slopes,
}
