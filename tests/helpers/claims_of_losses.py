"""What is said of losses: of their numbers, of how they are added up, of the gradient there."""

from __future__ import annotations

from typing import Any

from tests.helpers.judge import Judge, form

AVERAGED = r"The losses are (?P<how>averaged|added up) over all "
NUMBERS = AVERAGED + r"numbers and all positions with a target\."


def asked(at: Judge) -> dict[str, Any]:
    """The loss that the scenario says."""
    found: dict[str, Any] = at.spec.get("loss", {})
    return found


def is_sum(at: Judge) -> bool:
    """Whether the losses are added."""
    return asked(at).get("reduction") == "sum"


@form(
    r"The loss at a position is -ln\(p\), where p is the probability of the correct word\. "
    + AVERAGED
    + r"positions with a target\."
)
def of_words(at: Judge, said: dict[str, Any]) -> None:
    assert asked(at).get("kind", "cross_entropy") == "cross_entropy" and not at.pinned("loss")
    assert (said["how"] == "added up") == is_sum(at)


@form(
    r"The loss of a number ŷ is its squared error \(ŷ - t\)², where t is the correct number\. "
    + NUMBERS
)
def squared(at: Judge, said: dict[str, Any]) -> None:
    assert asked(at)["kind"] == "squared" and (said["how"] == "added up") == is_sum(at)
    y, t = at.values["loss.output"], at.values["loss.target"]
    for row, right, found in zip(
        y["data"], t["data"], at.values["loss.squared"]["data"], strict=True
    ):
        for a, b, c in zip(row, right, found, strict=True):
            assert abs((float(a) - float(b)) ** 2 - float(c)) <= 0.51 * _unit(at) + 1e-6 * float(c)


@form(
    r"The sigmoid of each logit is the probability p₁ that its target t is 1\. The loss is "
    r"-ln\(p_t\), where p_t is the probability of the target\. " + NUMBERS
)
def binary(at: Judge, said: dict[str, Any]) -> None:
    assert asked(at)["kind"] == "binary" and (said["how"] == "added up") == is_sum(at)
    assert {float(t) for row in at.values["loss.target"]["data"] for t in row} <= {0, 1}


def _unit(at: Judge) -> float:
    return float(10.0 ** -at.rounding["decimals"])


@form(r"Their (?P<how>sum|mean):")
def reduced(at: Judge, said: dict[str, Any]) -> None:
    assert (said["how"] == "sum") == is_sum(at)


@form(r"The loss at each position, the (?P<how>sum|mean) over its numbers:")
def of_each(at: Judge, said: dict[str, Any]) -> None:
    assert asked(at)["kind"] in ("squared", "binary") and (said["how"] == "sum") == is_sum(at)


@form(r"The (?P<what>logits|decoder's output) at the positions with a target:")
def compared(at: Judge, said: dict[str, Any]) -> None:
    address = "logits" if said["what"] == "logits" else "output"
    assert at.values["loss.output"]["operands"] == [address]
    assert ("logits" in at.values) == (said["what"] == "logits")


@form(r"(?P<n>\d+) positions? (?:have no target and do|has no target and does) not count\.")
def left_out(at: Judge, said: dict[str, Any]) -> None:
    n = len(at.tokens) - len(at.values["loss.output"]["data"])
    assert n == int(said["n"]) and ("positions have" in said[""]) == (n > 1)


MEAN = r"(?: The loss is the mean over (?P<mean>\d+) numbers(?P<batch> of the batch)?\.)?"


@form(
    r"The gradient at each number is (?:2×\(ŷ - t\)|\(2×\(ŷ - t\)\) / (?P<n>\d+)), where ŷ is the "
    r"number and t its target\." + MEAN
)
@form(
    r"The gradient at each logit is (?:p₁ - t|\(p₁ - t\) / (?P<n>\d+)), where p₁ is its sigmoid "
    r"and t its target\." + MEAN
)
def at_the_numbers(at: Judge, said: dict[str, Any]) -> None:
    outputs = [
        v["data"] for a, v in at.values.items() if a.endswith("loss.output") and "gradient" not in a
    ]
    numbers = sum(len(row) for rows in outputs for row in rows)
    n = None if is_sum(at) or numbers == 1 else str(numbers)
    assert said["n"] == said["mean"] == n
    assert ("sigmoid" in said[""]) == (asked(at)["kind"] == "binary")
    assert bool(said["batch"]) == (n is not None and len(outputs) > 1)


@form(
    r"Compute the gradient at (?:each logit(?P<weights> and at the weights that produce it)?|"
    r"the decoder output)\. A position without a target has the gradient 0\."
)
@form(r"Compute the gradient at each logit(?P<weights> and at the weights that produce it)?\.")
def without_target(at: Judge, said: dict[str, Any]) -> None:
    counted = at.values["loss.output"]["data"]
    assert (len(counted) < len(at.tokens)) == said[""].endswith("the gradient 0.")
    if "each logit" in said[""]:
        learned = at.values.keys() & {"gradient.unembedding.W_U", "gradient.unembedding.b_U"}
        assert bool(said["weights"]) == bool(learned)
