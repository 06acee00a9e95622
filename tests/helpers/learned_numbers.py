"""How many numbers a scenario has that training changes, counted in what is typed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

SUB_LAYERS = ("attention", "cross_attention", "ffn")
READ = ("embeddings", "positions", "layers", "final_norm", "unembedding")


def numbers_learned(spec: dict[str, Any]) -> int:
    """Of the decoder, and of its encoder where that is computed."""
    towers = [spec, spec.get("encoder", {})]
    return sum(_typed(tower.get(name)) for tower in towers for name in READ)


def _typed(part: Any) -> int:
    match part:
        case list():
            return sum(1 if isinstance(each, Decimal) else _typed(each) for each in part)
        case dict():
            norm = _typed(part.get("norm"))
            subs = [part[name] for name in SUB_LAYERS if name in part]
            # The norm of a layer is one of each of its sub-layers that has none of its own.
            times = sum("norm" not in sub for sub in subs) if subs else 1
            return norm * times + sum(_typed(each) for key, each in part.items() if key != "norm")
        case _:
            return 0
