"""What is said of the parts that change scores and logits: each form with its check."""

from __future__ import annotations

import re
from typing import Any

from tests.helpers.claims_of_reasons import part_of, partly_given
from tests.helpers.judge import Judge, form, number
from tests.helpers.unembeddings import unembedding_of

# --- the soft cap --------------------------------------------------------------------------------

CAPPED = (
    r"The soft cap (?P<cap>[0-9.]+)×tanh\((?P<of>s|z′) / (?P<by>[0-9.]+)\) keeps each "
    r"(?P<noun>score|logit) between -(?P<low>[0-9.]+) and (?P<high>[0-9.]+); (?:score|logit)s much "
    r"smaller than (?P<far>[0-9.]+) hardly change\."
)
LOGIT = (
    r"Each word of the vocabulary gets a score, its logit\. A larger logit means a more probable "
    r"word\."
)


DIVIDED = r"All logits are divided by (?P<divisor>[0-9.]+), a constant of the model\."


@form(CAPPED)
@form(f"{LOGIT}(?: {DIVIDED})?(?: {CAPPED})?")
def capped(at: Judge, said: dict[str, Any]) -> None:
    scores = at.address.endswith(".capped")
    assert (scores or at.address == "logits") and not partly_given(at)
    asked = part_of(at) if scores else unembedding_of(at.spec)
    if not scores:
        assert bool(said.get("divisor")) == ("scale" in asked)
        assert not said.get("divisor") or number(said["divisor"]) == number(str(asked["scale"]))
    if not said["cap"]:
        assert "softcap" not in asked
        return
    cap = number(str(asked["softcap"]))
    assert {number(said[key]) for key in ("cap", "by", "low", "high", "far")} == {cap}
    assert (said["of"], said["noun"]) == (("s", "score") if scores else ("z′", "logit"))
    assert all(abs(x) <= cap for x in at.row(at.result).data)


@form(
    r"Cutting the scores off at a limit would make all larger scores equal and stop their gradient"
    r"\. Before rounding, the soft cap keeps their order, and its slope is nowhere 0\."
)
def not_cut(at: Judge, said: dict[str, Any]) -> None:
    assert re.search(r"\.head\d+\.capped$", at.address) and not partly_given(at)
    before = at.row(at.near("scores")).data
    order = sorted(range(len(before)), key=before.__getitem__)
    after = [at.row(at.result).data[i] for i in order]
    assert after == sorted(after)


@form(r"Before the soft cap:")
def before_the_cap(at: Judge, said: dict[str, Any]) -> None:
    assert at.address == "logits" and "softcap" in unembedding_of(at.spec)


@form(r"Before the division:")
def before_the_division(at: Judge, said: dict[str, Any]) -> None:
    assert at.address == "logits" and "scale" in unembedding_of(at.spec)


@form(r"After the division:")
def after_the_division(at: Judge, said: dict[str, Any]) -> None:
    before_the_division(at, said)


@form(
    r"Before rounding, the division keeps the order of the logits\. The larger the divisor, the "
    r"smaller their differences, and the closer the probabilities\."
)
def divided(at: Judge, said: dict[str, Any]) -> None:
    before_the_division(at, said)


@form(r"After the soft cap:")
def after_the_cap(at: Judge, said: dict[str, Any]) -> None:
    before_the_cap(at, said)


# --- attention sinks -----------------------------------------------------------------------------


@form(
    r"The sink (?P<sink>\S+) is a learned number\. It takes part in the softmax like the score of "
    r"one more key, which has no value\."
)
def sink(at: Judge, said: dict[str, Any]) -> None:
    head = part_of(at)["heads"][int(re.findall(r"head(\d+)", at.address)[0]) - 1]
    assert at.address.endswith(".scores_and_sink") and not partly_given(at)
    assert at.row(at.result).data[-1] == number(str(head["sink"]))
    assert "sink" not in said or said["sink"] == at.near("sink")["symbol"]


@form(
    r"A softmax always gives away all of its shares\. With a sink, a token need not attend to any "
    r"token: if the sink is much larger than the scores, all weights are small\."
)
def why_a_sink(at: Judge, said: dict[str, Any]) -> None:
    sink(at, said)


# --- ALiBi ---------------------------------------------------------------------------------------


@form(
    r"The distance D of two tokens, times the head's slope m_D, is subtracted from their score: of "
    r"two keys that match equally well, the nearer one keeps the higher score\."
)
def penalized(at: Judge, said: dict[str, Any]) -> None:
    assert at.spec["positions"]["alibi"] and at.address.endswith(".biased")
    assert not partly_given(at) and float(at.near("slope")["data"]) > 0


@form(
    r"Attention adds up values, and a sum does not depend on the order of its terms\. "
    r"The distances make the order count\."
)
def order_counts(at: Judge, said: dict[str, Any]) -> None:
    penalized(at, said)


@form(
    r"Nothing is learned for single positions, so the same rule applies to texts that are longer "
    r"than those in training\."
)
def nothing_learned(at: Judge, said: dict[str, Any]) -> None:
    penalized(at, said)


@form(
    r"Each head has its own slope: with a small one, distance matters little; with a large one, "
    r"near tokens are favored\."
)
def own_slopes(at: Judge, said: dict[str, Any]) -> None:
    penalized(at, said)
    sub_layer = at.address.partition(".head")[0]
    heads = range(1, len(part_of(at)["heads"]) + 1)
    slopes = {at.values[f"{sub_layer}.head{head}.slope"]["data"] for head in heads}
    assert len(slopes) == len(heads) > 1
