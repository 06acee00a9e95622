"""How many numbers a scenario has that training changes, counted in what is typed."""

from __future__ import annotations

from typing import Any

from tests.helpers.reference import shares_norm

SUB_LAYERS = ("attention", "cross_attention", "ffn")
NORMS = ("norm", "norm_after")
APART = (*NORMS, "labels", "rotary", "frozen", "alpha", "Q", "K", "V")
OF_STATE = ("gate", "beta")
"""Numbers of each token, which are not learned; weights that compute them are."""
READ = (
    "embeddings",
    "type_embeddings",
    "embedding_norm",
    "positions",
    "layers",
    "final_norm",
    "unembedding",
)


def numbers_learned(spec: dict[str, Any]) -> int:
    """Of the decoder, and of its encoder where that is computed; short forms are not counted."""
    towers = [spec, spec.get("encoder", {})]
    return sum(_typed(tower.get(name)) for tower in towers for name in READ)


def _typed(part: Any) -> int:
    match part:
        case list():
            return sum(_typed(each) if isinstance(each, list | dict) else 1 for each in part)
        case dict():
            subs = [part[name] for name in SUB_LAYERS if name in part]
            # The norm of a layer is one of each of its sub-layers that has none of its own; the
            # parallel FFN uses that of attention.
            norms = sum(
                _typed(part.get(norm)) * (sum(norm not in sub for sub in subs) if subs else 1)
                for norm in NORMS
            )
            if shares_norm(part):
                norms -= _typed(part.get("norm"))
            others = sum(
                _typed(each)
                for key, each in part.items()
                if key not in APART and not (key in OF_STATE and isinstance(each, list))
            )
            return norms + others + ("sink" in part)
        case _:
            return 0
