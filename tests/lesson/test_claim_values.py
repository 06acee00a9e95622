"""The sentences of a whole run agree with its numbers.

Which is the largest is decided on the numbers as they were computed, before they were rounded; how
large it is, is said as it is printed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

from tests.helpers.command import run, run_json
from tests.helpers.random_scenarios import scenarios, to_yaml
from tests.helpers.reference import reference
from tests.helpers.sentences import WIDE
from tests.helpers.traces import traced
from tracer.decoder.tape import Value

POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def number(text: str) -> Decimal:
    """9.4×10⁻¹² as a number."""
    mantissa, _, power = text.partition("×10")
    return Decimal(mantissa).scaleb(int(power.translate(POWERS) or 0))


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def told_apart(names: Sequence[str]) -> list[str]:
    """Names that occur twice, with their positions."""
    return [f"{n} ({i})" if names.count(n) > 1 else n for i, n in enumerate(names, 1)]


PERCENT = r"(\S+) %"


def check_shares(
    sentence: str, names: list[str], token: int, row: list[Decimal], shown: list[str]
) -> None:
    """The sentence on a row of weights: as computed, and as printed."""
    order = sorted(range(len(row)), key=lambda i: (-row[i], i))
    receivers = ["itself" if i == token else name for i, name in enumerate(names)]
    first, second = order[0], order[1] if len(order) > 1 else None
    who = re.escape(names[token])
    percents = [number(shown[first]) * 100]
    if second is None or not row[second]:
        assert sentence == f"All of the attention of {names[token]} goes to {receivers[first]}."
        return
    if row[first] == row[second]:
        largest = listed([n for n, weight in zip(names, row, strict=True) if weight == row[first]])
        form = rf"The largest shares of {who} go to {re.escape(largest)}: {PERCENT} each\."
    else:
        to, then = re.escape(receivers[first]), re.escape(receivers[second])
        form = rf"{who} gives {PERCENT} of its attention to {to}, then {PERCENT} to {then}\."
        percents.append(number(shown[second]) * 100)
    found = re.fullmatch(form, sentence)
    assert found, (form, sentence)
    assert [*map(number, found.groups())] == percents


ABOUT_SHARES = "attention to |^The largest shares|^All of the attention of"


def largest(computed: list[Decimal], shown: list[str]) -> int | None:
    """Where the largest stands; nowhere, if it is alone, or as large as another in print."""
    best = computed.index(max(computed))
    return best if len(shown) > 1 and shown.count(shown[best]) == 1 else None


def score_sentence(value: Value, names: list[str], token: int, shown: list[str]) -> str | None:
    best = largest(list(value.computed[token]), shown)
    key = "" if best is None else told_apart(value.axes[1].labels)[best]
    told = f"The query of {names[token]} fits the key of {key} best: {shown[best or 0]}."
    return None if best is None else told


def logit_sentence(value: Value, names: list[str], token: int, shown: list[str]) -> str | None:
    best = largest(list(value.computed[token]), shown)
    word = "" if best is None else value.axes[1].labels[best]
    told = f"For {names[token]} the largest logit is that of “{word}”: {shown[best or 0]}."
    return None if best is None else told


def norm_sentence(labels: list[str], shown: list[str]) -> str | None:
    numbers = list(map(number, shown))
    high, low = max(numbers), min(numbers)
    if numbers.count(high) > 1 or numbers.count(low) > 1:
        return None
    up, down = numbers.index(high), numbers.index(low)
    return (
        f"The largest is now {labels[up]} with {shown[up]}, "
        f"the smallest {labels[down]} with {shown[down]}."
    )


SUB_LAYERS = {"attention": "Attention", "cross_attention": "Cross-attention", "ffn": "The FFN"}


def residual_sentence(value: Value, change: Value, token: int) -> str | None:
    sizes = [abs(x) for x in change.numbers[token]]
    if len(sizes) < 2 or sizes.count(max(sizes)) > 1:
        return None
    label = value.axes[1].labels[sizes.index(max(sizes))]
    return f"{SUB_LAYERS[value.address.split('.')[1]]} changes {label} most."


def relu_sentence(labels: list[str], shown: list[str]) -> str:
    kept = [label for label, entry in zip(labels, shown, strict=True) if number(entry) > 0]
    zeroed = [label for label, entry in zip(labels, shown, strict=True) if number(entry) == 0]
    if not zeroed:
        return "ReLU keeps them all: none is negative."
    if not kept:
        return "ReLU keeps none: all are 0 from here on."
    return f"ReLU keeps {listed(kept)} and zeroes {listed(zeroed)}."


def starting(prose: list[str], form: str) -> list[str]:
    return [line for line in prose if re.search(form, line)]


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenarios(encoder=False, padded=False), st.data())
def test_sentences_agree_with_the_values(spec: dict[str, Any], data: st.DataObject) -> None:
    # e^709 is the largest power of e that is a float, and so a number in JSON.
    exponents = [a for name, a in reference(spec).items() if name.endswith(("scores", "logits"))]
    assume(all(array.max() < 600 for array in exponents))
    tokens, yaml = spec["tokens"], to_yaml(spec)
    token = data.draw(st.integers(0, len(tokens) - 1))
    ran = run("run", "-", "--token", str(token + 1), width=WIDE, stdin=yaml)
    if ran.exit_code:
        assert re.search("a division by zero|too large a number", ran.stderr)
        reject()
    assert not re.search(r"[{}<>]|None|Decimal|Number\(|Name\(", ran.stdout)
    prose = [line for line in ran.stdout.split("\n")[1:] if re.match(r"[^ \d]|\d+ ", line)]
    assert all(re.search(r"[^ ,:.][.:]$", line) and "  " not in line for line in prose)

    names = told_apart(tokens)
    values = {value["address"]: value for value in run_json("-", stdin=yaml)["values"]}
    computed = traced(yaml).values

    def at(end: str) -> list[tuple[Value, list[str]]]:
        """The values of that end, each with the token's row as it is printed."""
        found = [a for a in values if f".{a}".endswith(f".{end}")]
        return [(computed[a], values[a]["printed"][token]) for a in found]

    sentences = starting(prose, ABOUT_SHARES)
    weights = at("weights")
    assert len(sentences) == len(weights)
    for sentence, (value, shown) in zip(sentences, weights, strict=True):
        check_shares(sentence, names, token, list(value.computed[token]), shown)

    told = [score_sentence(value, names, token, shown) for value, shown in at("scores")]
    assert starting(prose, "fits the key of") == [*filter(None, told)]
    told = [logit_sentence(value, names, token, shown) for value, shown in at("logits")]
    assert starting(prose, "the largest logit is") == [*filter(None, told)]
    told = [norm_sentence(list(value.axes[1].labels), shown) for value, shown in at("norm")]
    assert starting(prose, "^The largest is now") == [*filter(None, told)]
    residuals = [(value, values[value.address]["operands"][1]) for value, _ in at("residual")]
    told = [residual_sentence(value, computed[change], token) for value, change in residuals]
    assert starting(prose, " changes .* most[.]$") == [*filter(None, told)]

    goal = "ReLU keeps what is positive and makes the rest 0."
    active = [(v, s) for v, s in at("activation") if values[v.address]["operation"] == "relu"]
    assert [line for line in starting(prose, "^ReLU keeps ") if line != goal] == [
        relu_sentence(list(value.axes[1].labels), shown) for value, shown in active
    ]


# Without their digits the two are alike; e^0.0001 is 1.00010…, which is rounded to 1.000.
NEARLY = """
title: two keys that are nearly alike
tokens: [a, b]
embeddings: [[1, 0.0001], [1, 0]]
layers:
  - attention:
      heads: [{W_Q: [[1], [0]], W_K: [[0], [1]], W_V: [[1, 0], [0, 1]]}]
vocabulary: [x, y]
unembedding: {W_U: [[0, 0], [0, 0]], b_U: [1.0001, 1.0002]}
rounding: {carry: CARRY, decimals: DECIMALS}
"""


def reading(step: str, carry: str, decimals: int) -> str | None:
    yaml = NEARLY.replace("CARRY", carry).replace("DECIMALS", str(decimals))
    *_, last = (
        run("step", step, "-s", "-", "--token", "2", width=WIDE, stdin=yaml)
        .stdout.strip("\n")
        .split("\n")
    )
    return None if last.startswith(" ") else last


def test_what_differs_in_print_alone_or_not_at_all() -> None:
    # As the pencil has it, both keys are alike.
    alike = "The largest shares of b go to a and b: 50 % each."
    assert reading("softmax", "line", 3) == alike
    # In full precision a's is larger, by less than can be seen.
    larger = "b gives 50 % of its attention to a, then 50 % to itself."
    assert reading("softmax", "never", 3) in (None, larger)
    # 0.5 + 0.0001 / 4 is 0.500025, and less by 0.0001³ / 48: it is rounded down.
    assert reading("softmax", "never", 5) == (
        "b gives 50.002 % of its attention to a, then 49.998 % to itself."
    )
    # Two logits that look alike are not compared; what is said is chosen by what was computed.
    assert reading("logits", "never", 3) is None
    assert reading("logits", "never", 4) == "For b the largest logit is that of “y”: 1.0002."
    assert (reading("prediction", "step", 3) or "").startswith("After “b” the model says “y”")
