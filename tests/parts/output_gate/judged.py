"""Gates of head outputs in random scenarios, and what is said of them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.helpers.claims_of_learning import steepest
from tests.helpers.claims_of_reasons import part_of, partly_given
from tests.helpers.judge import Judge, Said
from tests.helpers.judged_part import JudgedPart
from tests.helpers.random_parts import matrix, tenths
from tests.helpers.scenario_yaml import Scenario

Array = NDArray[np.float64]


def draw(spec: Scenario, rng: random.Random) -> None:
    """Gates of some heads; of latent attention there is none."""
    for tower in (spec, spec.get("encoder", {})):
        for layer in tower.get("layers", ()):
            for name in ("attention", "cross_attention"):
                part = layer.get(name, {"latent": None})
                if "latent" not in part and rng.random() < 0.25:
                    with_gates(part, rng)


def with_gates(part: Scenario, rng: random.Random) -> None:
    """Draw the gates of an attention, of one head at least."""
    heads = part["heads"]
    if any("W_Q" not in head for head in heads):
        return
    for head in rng.sample(heads, rng.randint(1, len(heads))):
        own = heads[head["shares"] - 1] if "shares" in head else head
        columns = len(own["W_V"][0])
        head["W_G"] = matrix(len(head["W_Q"]), columns, rng)
        if rng.random() < 0.5:
            head["b_G"] = tenths(columns, rng)
    if rng.random() < 0.7:
        part["output_gate"] = rng.choice(("sigmoid", "silu"))


def outputs(
    attention: Mapping[str, Any], x: Array, own: Sequence[Array]
) -> tuple[dict[str, Array], list[Array]]:
    """What is computed of the gates, and the outputs of all heads behind them."""
    found: dict[str, Array] = {}
    changed = list(own)
    for h, head in enumerate(attention["heads"]):
        if "W_G" not in head:
            continue
        shift = np.array(head.get("b_G", 0), np.float64)
        logits = x @ np.array(head["W_G"], np.float64) + shift
        gate = (1 + np.tanh(logits / 2)) / 2
        if attention.get("output_gate") == "silu":
            gate = gate * logits
        changed[h] = own[h] * gate
        at = f"head{h + 1}."
        found |= {f"{at}output_gate.logits": logits, f"{at}output_gate": gate}
        found[f"{at}gated_output"] = changed[h]
    return found, changed


def gate(at: Judge, said: Said) -> None:
    assert at.address.endswith(".output_gate") and not partly_given(at)
    names = {"the sigmoid": "sigmoid", "SiLU": "silu"}
    assert part_of(at).get("output_gate", "sigmoid") == names[said["function"]]
    logits = at.values[f"{at.address}.logits"]
    assert said["x"] == at.values[logits["operands"][0]]["symbol"]


def share(at: Judge, said: Said) -> None:
    assert at.address.endswith(".output_gate")
    assert part_of(at).get("output_gate", "sigmoid") == "sigmoid"


ENDS = {"each gate of the output": "output_gate", "the gated output of the head": "gated_output"}


def gradient(at: Judge, said: Said) -> None:
    assert at.address.startswith("gradient.") and at.address.endswith(f".{ENDS[said['what']]}")
    learns = said["what"] == "each gate of the output"
    assert bool(said["weights"]) == (learns and steepest(at) is not None)


PART = JudgedPart(
    draw=draw,
    outputs=outputs,
    inside={r"\.output_gate": ("output_gate.logits",)},
    titles_of_heads={"Gate of the output": "output_gate", "Gated output": "gated_output"},
    goals={
        "The head's output is multiplied by its gate, element by element.": "gated_output",
    },
    phrases={
        "How much of each column of the output is kept.": "output_gate",
        "The head's output, multiplied by its gate.": "gated_output",
    },
    captions={
        "The projection:": r"output_gate\.logits",
        "The output's gate:": "output_gate",
    },
    claims={
        "Each column of the head's output has a gate: {function:the sigmoid|SiLU} of a projection of {x}.": gate,
        "A sigmoid is between 0 and 1: each gate keeps a share of its number.": share,
        f"Compute the gradient at {{what:{'|'.join(ENDS)}}}[weights: and at the weights that produce it].": gradient,
    },
    learned={"output_gate": "W_G b_G"},
)
