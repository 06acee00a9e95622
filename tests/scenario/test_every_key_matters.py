"""Every key of a scenario changes something: a setting that nothing reads would be a false promise.

For each key that is drawn, some scenario has other values, labels or operations without it, or is
refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

from tests.helpers.random_scenarios import Scenario
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.whole_scenarios import from_sizes, whole_scenarios
from tracer.decoder.forward import PassOptions, Trace, trace
from tracer.errors import TracerError
from tracer.scenario.loading import parse
from tracer.scenario.model import Scenario as Parsed

ROWS = [[float(i == j) for i in range(8)] for j in range(8)]
SCALED: Scenario = {
    "tokens": ["a", "b"],
    "embeddings": ROWS[:2],
    "positions": {
        "rotary": {
            "base": 10,
            "scaling": {
                **{"kind": "yarn", "factor": 4, "original_max_position_embeddings": 32},
                **{"beta_fast": 4, "beta_slow": 2, "truncate": False},
            },
        }
    },
    "layers": [{"attention": {"heads": [dict.fromkeys(("W_Q", "W_K", "W_V"), ROWS)]}}],
}
"""Frequencies with pairs between the fast and the slow, which small scenarios rarely have."""

_UP: Scenario = {"W_1": ROWS[:2], "W_3": ROWS[:2], "W_2": [row[:2] for row in ROWS]}
SHARED: Scenario = {
    "tokens": ["a"],
    "embeddings": [[1, 2]],
    "layers": [
        {
            "ffn": {
                "router": [[1], [0]],
                "top": 1,
                "experts": [_UP],
                "shared": {**_UP, "activation": "swiglu", "gate_scale": 2, "gate_offset": 1},
            }
        }
    ],
}
"""A shared expert with keys of SwiGLU that change its output."""

DIVIDED: Scenario = {
    "tokens": ["a", "b"],
    "embeddings": ROWS[:2],
    "layers": [
        {
            "attention": {
                "kind": "linear",
                "feature_map": "elu_plus_1",
                "normalizer": True,
                "heads": [dict.fromkeys(("W_Q", "W_K", "W_V"), ROWS)],
            }
        }
    ],
}
"""A normalizer of a state, which random scenarios rarely have."""

READ_ELSEWHERE = re.compile(
    r"\.(title|intro|notes|summary)|notes\..*|"  # texts
    r"rounding\.(trailing_zeros|working)|"  # how numbers are printed
    r"relative_bias\.(buckets|max_distance)|"  # of random tables, and of more than two tokens
    r"\.(batch|training|optimizer|generation)|(batch|training|optimizer|generation)\..*"
)
"""Keys that change no value of a small pass: tests of printing, training and the part have them."""

OF_THE_AUTHOR = ("digits", "given", "embeddings", "notes")
"""Below them stand words and addresses."""

Step = str | int


def said(spec: Scenario) -> object:
    """What a pass says: axes, numbers and operation of each address; nothing if it is refused."""
    try:
        scenario = parse(to_yaml(spec), "f.yaml")
    except TracerError:
        return None
    ran = _pass(scenario, loss="vocabulary" in spec or "loss" in spec) or _pass(
        scenario, loss=False
    )
    if ran is None:
        return None
    return {
        record.output.address: (
            record.output.axes,
            record.output.numbers.tolist(),
            type(record.operation).__name__,
        )
        for record in ran.records
    }


def _pass(scenario: Parsed, *, loss: bool) -> Trace | None:
    try:
        return trace("f", scenario, PassOptions(loss=loss))
    except TracerError:
        return None


def keys(node: object, above: str = "", at: tuple[Step, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every key below a node, as `ffn.b_1`, and the way to it."""
    if isinstance(node, dict):
        for key, below in node.items():
            yield f"{above}.{key}", (*at, key)
            if key not in OF_THE_AUTHOR:
                yield from keys(below, key, (*at, key))
    elif isinstance(node, list):
        for i, below in enumerate(node):
            if isinstance(below, dict):
                yield from keys(below, above, (*at, i))


def without(spec: Scenario, at: tuple[Step, ...]) -> Scenario:
    """The scenario without a key."""
    less = deepcopy(spec)
    node: Any = less
    for step in at[:-1]:
        node = node[step]
    del node[at[-1]]
    return less


def test_every_key_matters() -> None:
    drawn, matters = Counter[str](), set[str]()

    def draw(spec: Scenario) -> None:
        found = [each for each in keys(spec) if not READ_ELSEWHERE.fullmatch(each[0])]
        drawn.update(key for key, _ in found)
        unproven = [(key, at) for key, at in found if key not in matters]
        if unproven and (whole := said(spec)) is not None:
            matters.update(key for key, at in unproven if said(without(spec, at)) != whole)

    small = whole_scenarios(max_layers=1, max_tokens=2)
    for strategy, number in (
        (small, 320),
        (from_sizes(), 50),
        (st.just(SCALED), 1),
        (st.just(SHARED), 1),
        (st.just(DIVIDED), 1),
    ):
        seed(3)(  # with which so few draws show it of each
            settings(
                max_examples=number,
                phases=[Phase.generate],
                database=None,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            )(given(spec=strategy)(draw))
        )()
    assert [key for key in sorted(drawn) if key not in matters] == []
