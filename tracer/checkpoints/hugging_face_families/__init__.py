"""The families of models in Hugging Face's format: a file for each lineage.

A family is one declaration in the mapping FAMILIES of its lineage's file, by `model_type`. It says
what the keys of config.json and the tensors mean. It follows the configuration and the forward pass
of the family in transformers 5.24.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from tracer.checkpoints.hugging_face_family import HuggingFaceFamily


def _declared() -> Mapping[str, HuggingFaceFamily]:
    """Return the families of all files, in the order of their names."""
    files = [import_module(f"{__name__}.{each.name}") for each in iter_modules(__path__)]
    found = {name: family for file in files for name, family in file.FAMILIES.items()}
    return dict(sorted(found.items()))


FAMILIES = _declared()
"""By `model_type`."""
