"""The unembedding of a scenario, which may be tied to the embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np


def unembedding_of(spec: Any) -> dict[str, Any]:
    """Its keys; of one that is only called tied, W_U."""
    found = spec.get("unembedding") or {}
    return {"W_U": "tied"} if found == "tied" else dict(found)


def is_tied(spec: Any) -> bool:
    """Whether the embeddings are the unembedding, too."""
    return isinstance(unembedding_of(spec).get("W_U"), str)


def untied(spec: Any) -> Any:
    """The scenario with the columns of W_U written out."""
    if not is_tied(spec):
        return spec
    columns = np.array([spec["embeddings"][word] for word in spec["vocabulary"]], dtype=object)
    return {**spec, "unembedding": {**unembedding_of(spec), "W_U": columns.T.tolist()}}
