"""Open a trained model's file or folder, or one in an installed package."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tracer.checkpoints import (
    gguf_experts,
    gguf_model,
    gguf_tokenizer,
    hugging_face,
    hugging_face_families,
    hugging_face_tokenizer,
    marian_tokenizer,
)
from tracer.checkpoints.architecture import Architecture
from tracer.checkpoints.chat_template import ChatTemplate, of_folder, of_gguf
from tracer.checkpoints.extras import INSTALL
from tracer.checkpoints.gguf_file import read_gguf
from tracer.checkpoints.image_wrappers import text_tensors
from tracer.checkpoints.json_file import read_json
from tracer.checkpoints.layouts import Layout
from tracer.checkpoints.mxfp4 import with_blocks
from tracer.checkpoints.parameter import Parameter
from tracer.checkpoints.parameters import UNEMBEDDING, UNEMBEDDING_BIAS, parameters
from tracer.checkpoints.safetensors_files import read_folder
from tracer.checkpoints.tensor import Tensor
from tracer.errors import Problem, TracerError
from tracer.files.reading import reason
from tracer.tokenization.tokenizer import Tokenizer

CONFIG, ADAPTER = "config.json", "adapter_config.json"
GENERATION_CONFIG = "generation_config.json"
OF_A_FOLDER = (".safetensors", ".json", "pytorch_model.bin")
"""The ends of the names of files that are read only as parts of a folder."""


@dataclass(frozen=True)
class Checkpoint:
    """A trained model; its numbers stay in its files until they are used."""

    architecture: Architecture
    parameters: Mapping[str, Parameter]
    """By address, for x·W; heads that share keys have them at the address of the first of them."""
    ends: tuple[int, ...]
    """The ids of the end tokens."""
    tokenizer: Callable[[], Tokenizer]
    """Reads the tokenizer from the model's files, once.

    Raises:
        TracerError: there is no tokenizer, it is damaged, or of an unsupported kind.
    """
    start: int | None = None
    """The id of the token that begins each text of a decoder with an encoder."""
    encoder_tokenizer: Callable[[], Tokenizer] | None = None
    """Reads the tokenizer of the encoder's text, if there is an encoder."""
    excluded: tuple[int, ...] = ()
    """The ids of the tokens that are never generated."""
    chat_template: Callable[[], ChatTemplate | None] = lambda: None
    """Reads what stands around a message of a user, if the model has such a template.

    Raises:
        TracerError: a file cannot be read.
    """


def open_checkpoint(path: Path) -> Checkpoint:
    """Open a `.gguf` file, or a folder with config.json and model.safetensors.

    Raises:
        TracerError: all that is missing, damaged, wrong or unsupported in it.
    """
    try:
        is_folder = path.is_dir()
    except OSError as error:  # such as a name that is too long
        raise TracerError(Problem(f"cannot be read: {reason(error)}", str(path))) from None
    if not is_folder and path.name.endswith(OF_A_FOLDER):
        whole = f"expected a .gguf file, or the folder {path.parent} as a whole"
        raise TracerError(Problem(f"a file of a model, {whole}", str(path)))
    return _folder(path) if is_folder else _gguf(path)


def packaged(package: str, file: str) -> Path:
    """Return the path of a file in an installed package, without running the package's code.

    Raises:
        TracerError: the package is not installed, or has no such file.
    """
    try:
        found = find_spec(package) if package.isidentifier() else None
    except ValueError:  # a module without a spec, such as __main__
        found = None
    if found is None or not found.submodule_search_locations:
        install = f"{INSTALL}, then pip install --no-deps {package.replace('_', '-')}"
        raise TracerError(Problem(f"the package {package} is not installed: {install}"))
    for location in found.submodule_search_locations:
        folder = os.path.normpath(location)
        path = Path(os.path.normpath(Path(folder, file)))
        with suppress(OSError, ValueError):  # the name may be invalid as a path
            if path.is_relative_to(folder) and path.exists():
                return path
    raise TracerError(Problem(f"no such file in the package {package}", file))


def _gguf(path: Path) -> Checkpoint:
    read = read_gguf(path)
    architecture = gguf_model.architecture_of(read)
    layout = gguf_experts.layout_of(architecture, read.tensors)
    found = parameters(architecture, layout, read.tensors, str(path))
    ends = gguf_tokenizer.end_token_ids(read)
    tokenizer = cache(partial(gguf_tokenizer.tokenizer_of, read))
    chat_template = partial(of_gguf, read)
    return Checkpoint(architecture, found, ends, tokenizer, chat_template=chat_template)


def _folder(path: Path) -> Checkpoint:
    _refuse_adapter(path)
    config = path / CONFIG
    values = read_json(config)
    architecture = hugging_face.architecture_of(values, str(config))
    tensors = read_folder(path)
    if architecture.encoder is None:
        tokenizer = cache(partial(hugging_face_tokenizer.tokenizer_of, path))
        found = of_tensors(architecture, values, tensors, str(config), str(path), tokenizer)
        return replace(found, chat_template=partial(of_folder, path))
    of_generation = path / GENERATION_CONFIG
    has_own = of_generation.exists()
    generating = read_json(of_generation) if has_own else values
    start = hugging_face.start_token_id(values, generating, str(config))
    found = of_tensors(
        *(architecture, values, tensors, str(config), str(path)),
        cache(partial(marian_tokenizer.tokenizer_of, path, start)),
    )
    return replace(
        found,
        start=start,
        encoder_tokenizer=cache(partial(marian_tokenizer.tokenizer_of, path)),
        excluded=hugging_face.excluded_token_ids(
            generating, str(of_generation if has_own else config)
        ),
    )


def of_tensors(
    architecture: Architecture,
    config: Mapping[str, Any],
    read: Mapping[str, Tensor],
    config_file: str,
    file: str,
    tokenizer: Callable[[], Tokenizer],
) -> Checkpoint:
    """Return the model of tensors with Hugging Face's names, which `config` describes.

    `config_file` and `file` name the configuration and the tensors in messages.

    Raises:
        TracerError: a tensor is missing, has another shape, or is not known.
    """
    family = hugging_face_families.FAMILIES[architecture.family]
    layout = family.layout
    if family.codes and config.get(hugging_face.CODES) is not None:
        layout, read = family.codes[1], with_blocks(read)
    of_text = text_tensors(read) if architecture.has_images else read
    tensors = _biases_as_vectors(_within_a_whole(of_text, layout), layout)
    embeddings, own = (tensors.get(layout.names[key]) for key in ("embeddings", UNEMBEDDING))
    if embeddings and own and not own.holds_the_same(embeddings):
        architecture = replace(architecture, tied=False)  # as in transformers
    found = parameters(architecture, layout, tensors, file)
    ends = hugging_face.end_token_ids(config, config_file)
    return Checkpoint(architecture, found, ends, tokenizer)


def _refuse_adapter(path: Path) -> None:
    """Raise for an adapter, which transformers applies to its base model when it loads the folder.

    Raises:
        TracerError: there is an adapter.
    """
    if (path / ADAPTER).exists():
        message = (
            "the folder holds an adapter such as LoRA's, which is not applied to its base model. "
            "Merge them with PEFT's merge_and_unload() and open the folder of the merged model"
        )
        raise TracerError(Problem(message, str(path / ADAPTER)))


def _within_a_whole(tensors: Mapping[str, Tensor], layout: Layout) -> Mapping[str, Tensor]:
    """Return the tensors under their full names, if the model was saved without the prefix.

    A prefix such as `model.decoder.` loses only its first part.
    """
    for other, part in layout.older.items():
        tensors = {name.replace(other, part): tensor for name, tensor in tensors.items()}
    if any(name.startswith(layout.prefix) for name in tensors):
        return tensors
    model, without = layout.prefix.partition(".")[0], layout.names[UNEMBEDDING]
    return {name if name == without else f"{model}.{name}": tensors[name] for name in tensors}


def _biases_as_vectors(tensors: Mapping[str, Tensor], layout: Layout) -> Mapping[str, Tensor]:
    """Return the tensors; a bias of the logits that is stored as one row becomes a vector."""
    name = layout.names.get(UNEMBEDDING_BIAS, "")
    bias = tensors.get(name)
    if bias is None or len(bias.shape) != 2 or bias.shape[0] != 1:
        return tensors
    return {**tensors, name: replace(bias, shape=bias.shape[1:], stored=bias.stored[0])}
