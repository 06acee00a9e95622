"""Token types in random scenarios, and what is said of them."""

from __future__ import annotations

import random

from tests.helpers.judge import Judge, Said
from tests.helpers.judged_part import JudgedPart
from tests.helpers.random_parts import matrix
from tests.helpers.scenario_yaml import Scenario


def draw(spec: Scenario, rng: random.Random) -> None:
    """Types of the tokens of a tower with embeddings, and the rows of these types."""
    for tower in (spec, spec.get("encoder", {})):
        rows = tower.get("embeddings", ())
        if not rows or rng.random() > 0.25:
            continue
        width = len(next(iter(rows.values())) if isinstance(rows, dict) else rows[0])
        tower["type_embeddings"] = matrix(rng.randint(1, 3), width, rng)
        if rng.random() < 0.8:
            most = len(tower["type_embeddings"]) - 1
            types = (rng.randint(0, most) for _ in tower["tokens"])
            tower["token_types"] = sorted(types) if rng.random() < 0.7 else [*types]


def types(at: Judge) -> list[int]:
    """The type of each token that the pass reads."""
    own = at.spec.get("token_types", [0])
    return [*own, *own[-1:] * (len(at.tokens) - len(own))][: len(at.tokens)]


def is_read(at: Judge) -> bool:
    return at.address == "token_type" and "type_embeddings" in at.spec


def added(at: Judge, said: Said) -> None:
    assert at.address == "embedding.with_type"
    operands = [at.values[each]["symbol"] for each in at.result["operands"]]
    assert [said["t"], said["x"]] == operands[::-1]


def gradient(at: Judge, said: Said) -> None:
    assert at.address.endswith("token_type") and at.address.startswith("gradient.")
    learned = at.address.replace("token_type", "type_embeddings")
    assert (said["rows"] is not None) == (learned in at.values)


PART = JudgedPart(
    draw=draw,
    titles_outside={
        "Token types": "token_type",
        "Embeddings with types": "embedding.with_type",
    },
    backward_titles={
        "the token types": "Token types",
        "the embeddings with types": "Embeddings with types",
    },
    phrases={
        "A vector for each token's type.": "token_type",
        "The embeddings plus the vectors of their types.": r"embedding\.with_type",
    },
    goals={
        "The model looks up the vector of each token's type in a table with a row for each type.": "token_type",
    },
    backward={"Compute the gradient at each embedding with its type.": r"embedding\.with_type"},
    reasons={
        "Types tell the model which tokens belong together, such as those of one sentence.": lambda at: (
            is_read(at) and len({*types(at)}) > 1
        ),
        "All tokens have the same type, so the same vector is added to each.": lambda at: (
            is_read(at) and len({*types(at)}) == 1
        ),
    },
    claims={
        "{t} is added to {x}.": added,
        "Compute the gradient at the vector of each token's type.[rows: Each row of the table adds up the gradients of the tokens of its type.]": gradient,
    },
    learned={"token_type": "type_embeddings"},
    symbols={"W_T": "type_embeddings"},
)
