"""SwiGLU in random scenarios, and what is said of it."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

from tests.helpers.claims_of_reasons import network_of, partly_given
from tests.helpers.judge import Judge, Said, listed, number
from tests.helpers.judged_part import JudgedPart
from tests.helpers.random_parts import matrix, parts_with
from tests.helpers.scenario_yaml import Scenario

KEYS = {
    "gate_scale": (1, Decimal("1.702"), Decimal("0.5")),
    "gate_limit": (7, 1, Decimal("0.5"), Decimal("0.25")),
    "gate_offset": (0, 1, Decimal("-0.5"), 2),
}
"""What is drawn: many of the limits change numbers."""
NAMED = 6
"""The most hidden units that are named."""


def draw(spec: Scenario, rng: random.Random) -> None:
    """SwiGLU in some networks, some of which have no W_3 yet."""
    for tower in (spec, spec.get("encoder", {})):
        for network in parts_with(tower.get("layers", ()), "W_1"):
            if rng.random() < 0.2:
                width, hidden = len(network["W_1"]), len(network["W_1"][0])
                network.setdefault("W_3", matrix(width, hidden, rng))
                network.pop("activates", None)
                network["activation"] = "swiglu"
                chosen = (key for key in KEYS if rng.random() < 0.6)
                network |= {key: rng.choice(KEYS[key]) for key in chosen}


def keys_of(at: Judge) -> dict[str, Any]:
    """The keys of a network that has SwiGLU."""
    network = network_of(at)
    assert network["activation"] == "swiglu" and not partly_given(at)
    return network


def activation(at: Judge, said: Said) -> None:
    keys = keys_of(at)
    assert at.address.endswith(".activation")
    assert number(said["scale"] or "1") == float(keys.get("gate_scale", 1))
    if said["limit"]:
        assert said["limit"] == said["again"]
    assert number(said["limit"] or "-1") == float(keys.get("gate_limit", -1))


def close_to_gelu(at: Judge, said: Said) -> None:
    assert at.address.endswith(".activation")
    assert Decimal(str(keys_of(at)["gate_scale"])) == Decimal("1.702")


def offset_of(keys: dict[str, Any]) -> float:
    return float(keys.get("gate_offset", int("gate_limit" in keys)))


def gate(at: Judge, said: Said) -> None:
    keys = keys_of(at)
    assert at.address.endswith(".gated")
    limit, offset = keys.get("gate_limit"), offset_of(keys)
    assert (said["low"] is None) == (limit is None)
    if said["low"]:
        assert number(said["high"]) == float(limit or 0) == -number(said["low"])
    assert number(said["first"] or said["then"] or "0") == offset
    assert (said["then"] is not None) == bool(limit and offset)


def passes_gate(at: Judge, said: Said) -> None:
    assert at.address.endswith(".gated") and offset_of(keys_of(at)) == 1


def _changed(at: Judge) -> list[int]:
    """The columns that a limit changes in the followed row."""
    limit = float(keys_of(at)["gate_limit"])
    name = {"activation": "hidden", "gated": "up"}[at.address.rpartition(".")[2]]
    row = at.row(at.near(name))
    return [i for i, x in enumerate(row.data) if x > limit or (name == "up" and x < -limit)]


def has_as_many_limits(at: Judge, said: Said) -> None:
    """The gate is limited from above, what it multiplies on both sides."""
    assert (said["several"] == "s change") == at.address.endswith(".gated")


def unchanged(at: Judge, said: Said) -> None:
    assert said["who"] == at.who and not _changed(at)
    has_as_many_limits(at, said)


def changes(at: Judge, said: Said) -> None:
    assert said["who"] == at.who
    has_as_many_limits(at, said)
    columns, names = _changed(at), at.row(at.result).labels
    if said["n"]:
        assert (int(said["n"]), int(said["of"])) == (len(columns), len(names))
        assert len(columns) > NAMED
    else:
        assert said["which"] == listed([names[i] for i in columns])
        assert 0 < len(columns) <= NAMED


def flat(at: Judge, said: Said) -> None:
    assert _changed(at)


def stopped(at: Judge, said: Said) -> None:
    keys = network_of(at)
    assert at.address.endswith((".hidden", ".gated")) and keys["activation"] == "swiglu"
    assert "gate_limit" in keys


PART = JudgedPart(
    draw=draw,
    captions={
        **{"With the limit:": r"hidden\.clamped", "With its limits:": r"up\.clamped"},
        **{"The activation:": "activation", "Each sum multiplied by its gate:": "gated"},
    },
    backward={"Compute the gradient at each activation.": "activation"},
    claims={
        "[A number above {limit} is replaced by {again}. ]The activation divides each number x by 1 + e^(-[{scale}×]x). Numbers near 0 are about halved, and large negative numbers become almost 0.": activation,
        "With this factor the activation is close to GELU.": close_to_gelu,
        "The activation is a gate: a second projection of the same vectors is multiplied by it element by element. Before that, its numbers are {:limited to the range from (?P<low>\\S+) to (?P<high>\\S+?)(?: and then increased by (?P<then>\\S+))?|increased by (?P<first>\\S+)}.": gate,
        "Because of the added 1, a unit whose second projection is 0 passes on its gate itself.": passes_gate,
        "The {:limit(?P<several>s change| changes)} no number of “{who:name}”.": unchanged,
        "For “{who:name}”, the {:limit(?P<several>s change| changes)} {:(?P<n>\\d+) of (?P<of>\\d+) numbers|(?P<which>“.+”)}.": changes,
        "Beyond a limit the slope is 0, so that a number there has no gradient from this unit.": flat,
        "ReLU′ is 1 for positive numbers and 0 for all others. The limit therefore passes the gradient of a number that it keeps, and stops that of a number beyond it.": stopped,
    },
)
