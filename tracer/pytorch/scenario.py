"""A PyTorch model and a text as a scenario."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from tracer.checkpoints.hugging_face import excluded_token_ids, start_token_id
from tracer.checkpoints.opening import CONFIG, GENERATION_CONFIG, Checkpoint
from tracer.checkpoints.safetensors_files import WHOLE
from tracer.errors import Problem, TracerError
from tracer.files.writing import write
from tracer.pytorch.files import in_safetensors
from tracer.pytorch.modules import Modules, modules_of
from tracer.pytorch.tokens import as_array, kind_of
from tracer.pytorch.weights import checkpoint_of, config_of, tensors_of
from tracer.scenario.activations import DumpedArray
from tracer.scenario.trained import EncoderText, FromCheckpoint, Trained, of_checkpoint
from tracer.tokenization.tokenizer import tokenizer_of_ids


@dataclass(frozen=True)
class Source:
    """What a scenario is made of, as a folder of Hugging Face has it."""

    config: Mapping[str, Any]
    generation: Mapping[str, Any]
    """The values of generation_config.json; empty without it."""
    tensors: Mapping[str, Any]
    """Tensors of PyTorch by their names in the file."""


class ModelScenario(FromCheckpoint):
    """The scenario of a PyTorch model; both share the weights that are in the CPU's memory."""

    _source: Source = PrivateAttr()

    def save(self, path: str | Path) -> None:
        """Write the scenario as YAML, and its weights into a folder of the same name beside it.

        The folder is one of Hugging Face's, with config.json and model.safetensors.

        Raises:
            TracerError: the path does not end in .yaml, or cannot be written.
        """
        path, source = Path(path), self._source
        if path.suffix not in (".yaml", ".yml"):
            raise TracerError(Problem("expected a .yaml file", str(path)))
        folder = path.with_suffix("")
        keys: dict[str, Any] = {
            "title": self.title,
            "checkpoint": folder.name,
            "token_ids": self.token_ids,
        }
        if self.encoder:
            keys["encoder"] = {"token_ids": [self.lookup.ids[each] for each in self.encoder.tokens]}
        text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in keys.items())
        stored = [
            DumpedArray(name, kind_of(tensor), as_array(tensor))
            for name, tensor in source.tensors.items()
        ]
        files: dict[Path, str | bytes] = {
            path: text,
            folder / CONFIG: json.dumps(source.config, indent=2),
            folder / WHOLE: in_safetensors(stored),
        }
        if source.generation:
            files[folder / GENERATION_CONFIG] = json.dumps(source.generation, indent=2)
        write(files.items(), make=folder)


def scenario_of(
    model: Any, token_ids: Iterable[int], encoder_token_ids: Iterable[int] | None = None
) -> ModelScenario:
    """Return the scenario of a model and a text, with the weights that the model has.

    Args:
        model: a torch.nn.Module: a model of transformers whose family is supported, or one with
            the names of nanoGPT.
        token_ids: the ids of the text; behind an encoder, those of the decoder.
        encoder_token_ids: the ids of the text that the encoder reads, if there is one.

    Raises:
        TracerError: the model is not supported; the message names the setting or the tensor.
    """
    modules = modules_of(model)
    source = _source_of(modules, model.state_dict())
    found = _with_start(source, checkpoint_of(source.config, source.tensors, _tokenizer))
    asked = Trained.model_construct(
        title=type(modules[""]).__name__,
        checkpoint="model",
        token_ids=_ids(token_ids),
        encoder=None
        if encoder_token_ids is None
        else EncoderText.model_construct(token_ids=_ids(encoder_token_ids)),
    )
    scenario = ModelScenario.model_construct(**dict(of_checkpoint(asked, found)))
    scenario._source = source
    return scenario


_tokenizer = partial(tokenizer_of_ids, "a model in PyTorch has no tokenizer")


def _ids(given: Any) -> tuple[int, ...]:
    """Return ids as whole numbers: those of a list, an array, or a tensor with one text."""
    numbers = given.flatten().tolist() if hasattr(given, "flatten") else given
    return tuple(map(int, numbers))


def _source_of(modules: Modules, tensors: Mapping[str, Any]) -> Source:
    generation = getattr(modules[""], "generation_config", None)
    return Source(
        config_of(modules),
        {} if generation is None else json.loads(generation.to_json_string()),
        tensors_of(modules, tensors),
    )


def _with_start(source: Source, found: Checkpoint) -> Checkpoint:
    """Return a checkpoint with what generation reads, if it has an encoder."""
    if found.architecture.encoder is None:
        return found
    generating = source.generation or source.config
    return replace(
        found,
        start=start_token_id(source.config, generating, CONFIG),
        encoder_tokenizer=_tokenizer,
        excluded=excluded_token_ids(generating, GENERATION_CONFIG),
    )
