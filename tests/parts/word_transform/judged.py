"""The transform before the unembedding in random scenarios, and what is said of it."""

from __future__ import annotations

import random

from tests.helpers.claims_of_learning import steepest
from tests.helpers.claims_of_reasons import partly_given
from tests.helpers.judge import Judge, Said
from tests.helpers.judged_part import JudgedPart
from tests.helpers.random_parts import matrix, norm_of_rows, tenths
from tests.helpers.reference import ACTIVATIONS
from tests.helpers.scenario_ways import width_behind
from tests.helpers.scenario_yaml import Scenario
from tests.helpers.unembeddings import is_tied, unembedding_of

AT = r"unembedding\.transform\."


def draw(spec: Scenario, rng: random.Random) -> None:
    """A transform of some unembeddings; what it computes may have another width than the output."""
    if "unembedding" not in spec or rng.random() > 0.25:
        return
    asked = unembedding_of(spec)
    if is_tied(spec):
        width = read = len(next(iter(spec["embeddings"].values())))
    else:
        width = read = width_behind(spec, decoder=True)
        if rng.random() < 0.4:
            read = rng.randint(1, 3)
            asked["W_U"] = matrix(read, len(spec["vocabulary"]), rng)
    transform: Scenario = {"W_M": matrix(width, read, rng)}
    if rng.random() < 0.6:
        transform["b_M"] = tenths(read, rng)
    if rng.random() < 0.8:
        transform["activation"] = rng.choice([each for each in ACTIVATIONS if each != "none"])
    if rng.random() < 0.7:
        transform["norm"] = norm_of_rows({read}, rng)
    elif rng.random() < 0.3:
        transform["norm"] = "none"
    spec["unembedding"] = asked | {"transform": transform}


def hidden(at: Judge, said: Said) -> None:
    assert at.address == "unembedding.transform.hidden" and not partly_given(at)
    assert (said["y"], int(said["n"])) == (at.values["output"]["symbol"], at.result["shape"][1])


def tied(at: Judge, said: Said) -> None:
    assert at.address == "unembedding.transform.hidden" and is_tied(at.spec)


def gradient(at: Judge, said: Said) -> None:
    assert at.address == "gradient.unembedding.transform.hidden"
    assert bool(said["weights"]) == (steepest(at) is not None)


PART = JudgedPart(
    draw=draw,
    titles_outside={
        "Transform: hidden units": "unembedding.transform.hidden",
        "Transform: activation": "unembedding.transform.activation",
        "Transform: LayerNorm": "unembedding.transform.norm",
        "Transform: RMSNorm": "unembedding.transform.norm",
    },
    backward_titles={
        "the hidden units of the transform": "Transform: hidden units",
        "the activations of the transform": "Transform: activation",
        "the norm of the transform": "Transform: LayerNorm",
    },
    phrases={
        "The hidden units between the output and the logits.": rf"{AT}hidden",
        "The hidden units of the transform after the activation.": rf"{AT}activation",
        "The transformed output, centered and scaled.": rf"{AT}norm",
        "The transformed output, scaled.": rf"{AT}norm",
    },
    claims={
        "{y} is transformed before the logits are computed. W_M maps it to {n:int} hidden unit{:s?}.": hidden,
        "The columns of W_U are the embeddings. With the transform, the model can compare another vector with them than its output.": tied,
        "Compute the gradient at each hidden unit of the transform[weights: and at the weights that produce it].": gradient,
    },
    learned={rf"{AT}hidden": "W_M b_M"},
)
