"""What a model says of itself: the names of its modules, and its configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from tracer.checkpoints.image_wrappers import name_in_text_model
from tracer.checkpoints.layouts import Layout
from tracer.checkpoints.parameters import UNEMBEDDING
from tracer.errors import Problem, TracerError
from tracer.pytorch import nano_gpt

Modules: TypeAlias = Mapping[str, Any]

CONFIG = "model.config"
"""How messages name the configuration of a model."""
_WRAPPERS = re.compile(r"(^|\.)(_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)(?=\.|$)")
_OF_DDP = re.compile(r"^module(\.|$)")


def modules_of(model: Any) -> Modules:
    """Return the modules of a model by name, without the names of wrappers; `` is the model.

    A wrapper, such as DistributedDataParallel, and the module in it have the same name; it is that
    of the module.

    Raises:
        TracerError: the model is no module of PyTorch.
    """
    if not hasattr(model, "named_modules"):
        raise TracerError(Problem(f"got {type(model).__name__}, expected a torch.nn.Module"))
    return {without_wrappers(name): module for name, module in model.named_modules()}


def without_wrappers(name: str) -> str:
    """Return the name of a module or tensor without those of wrappers around modules."""
    while (shorter := _OF_DDP.sub("", _WRAPPERS.sub("", name).lstrip("."))) != name:
        name = shorter
    return name


def joins_parameters(model: Any) -> bool:
    """Return whether FullyShardedDataParallel joins parameters to one, as fully_shard does not."""
    return any("_fsdp_wrapped_module" in name for name, _ in model.named_modules())


def described(modules: Modules) -> dict[str, Any] | None:
    """Return the values of a model's config.json; None for a model of no known form.

    Raises:
        TracerError: it has the names of nanoGPT, but not the number of heads.
    """
    config: Any = getattr(modules[""], "config", None)
    if hasattr(config, "to_json_string"):
        values: dict[str, Any] = json.loads(config.to_json_string())
        return values
    return nano_gpt.config_of(modules)


def of_family(modules: Modules, layout: Layout, *, has_images: bool) -> dict[str, str]:
    """Return each module's own name by the name that it has in the files of its family."""
    found = {name_in_text_model(name) if has_images else name: name for name in modules}
    for other, part in layout.older.items():
        found = {f"{name}.".replace(other, part)[:-1]: own for name, own in found.items()}
    if any(name.startswith(layout.prefix) for name in found):
        return found
    begin = layout.prefix.partition(".")[0]
    unembedding = layout.names[UNEMBEDDING].removesuffix(".weight")
    return {
        name if name in ("", unembedding) else f"{begin}.{name}": own for name, own in found.items()
    }
