"""A trained model's file or folder → what it is and its parameters; where packages have theirs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tracer.checkpoints import gguf_model, hugging_face
from tracer.checkpoints.architecture import Architecture
from tracer.checkpoints.gguf_file import read_gguf
from tracer.checkpoints.json_file import read_json
from tracer.checkpoints.layouts import GGUF, HUGGING_FACE, Layout
from tracer.checkpoints.parameter import Parameter
from tracer.checkpoints.parameters import parameters
from tracer.checkpoints.safetensors_files import read_folder
from tracer.checkpoints.tensor import Tensor
from tracer.errors import Problem, TracerError

CONFIG = "config.json"


@dataclass(frozen=True)
class Checkpoint:
    """A trained model; its numbers stay in its files until they are asked for."""

    path: Path
    architecture: Architecture
    parameters: Mapping[str, Parameter]
    """By address, to be multiplied as x·W; heads that share keys have them under the first's."""


def open_checkpoint(path: Path) -> Checkpoint:
    """Open a `.gguf` file, or a folder with config.json and model.safetensors.

    Raises:
        TracerError: all that is missing, damaged, wrong or not known in it.
    """
    if path.is_dir():
        config = path / CONFIG
        architecture = hugging_face.architecture_of(read_json(config), str(config))
        layout = HUGGING_FACE[architecture.family]
        return _checkpoint(path, architecture, layout, read_folder(path))
    read = read_gguf(path)
    architecture = gguf_model.architecture_of(read)
    return _checkpoint(path, architecture, GGUF[architecture.family], read.tensors)


def packaged(package: str, file: str) -> Path:
    """A file of an installed package, of which no code is run.

    Raises:
        TracerError: the package is not installed, or has no such file.
    """
    try:
        found = find_spec(package) if package.isidentifier() else None
    except ValueError:  # a module that was not found in the usual way, such as __main__
        found = None
    if found is None or not found.submodule_search_locations:
        install = f"pip install --no-deps {package.replace('_', '-')}"
        raise TracerError(Problem(f"the package {package} is not installed: {install}"))
    for location in found.submodule_search_locations:
        folder = os.path.normpath(location)
        path = Path(os.path.normpath(Path(folder, file)))
        if path.is_relative_to(folder) and path.exists():
            return path
    raise TracerError(Problem(f"no such file in the package {package}", file))


def _checkpoint(
    path: Path, architecture: Architecture, layout: Layout, tensors: Mapping[str, Tensor]
) -> Checkpoint:
    misfits = [Problem(message, str(path)) for message in architecture.misfits()]
    if misfits:
        raise TracerError(*misfits)
    # A GPT-2 alone and one with what stands around it call the same tensor by two names.
    tensors = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
    return Checkpoint(path, architecture, parameters(architecture, layout, tensors, str(path)))
