"""Capture what a PyTorch model computes, under the addresses of this program."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from tracer.checkpoints.parameters import ENCODER
from tracer.errors import Problem, TracerError
from tracer.names import closest
from tracer.pytorch.files import save
from tracer.pytorch.gradients import differentiated
from tracer.pytorch.modules import joins_parameters, modules_of
from tracer.pytorch.named import is_wanted, taps_of_model, wanted_taps
from tracer.pytorch.recording import Recording, recording
from tracer.pytorch.taps import Tap
from tracer.pytorch.tokens import Array, is_tensor, tokens_of_pass, torch
from tracer.scenario.activations import DumpedArray


@dataclass(frozen=True, eq=False)
class Captured(Mapping[str, Array]):
    """The values of one text by address: NumPy arrays with a row for each token."""

    arrays: Mapping[str, Array]
    kinds: Mapping[str, str]
    """The number type of each in the model, such as `bfloat16`."""
    token_ids: tuple[int, ...] | None
    """The ids of the text, without padding; None if the model reads vectors."""
    encoder_token_ids: tuple[int, ...] | None = None
    """Those of the encoder's text; None without an encoder."""

    def __getitem__(self, address: str) -> Array:
        return self.arrays[address]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def __repr__(self) -> str:
        tokens = "" if self.token_ids is None else f" of {len(self.token_ids)} tokens"
        return f"<Captured: {len(self)} values{tokens}>"

    def dumped(self) -> Iterator[DumpedArray]:
        """Yield the arrays as `check --against` reads them from a file."""
        for address, array in self.arrays.items():
            yield DumpedArray(address, self.kinds[address], array.astype(np.float64))


def capture(
    model: Any,
    inputs: Any,
    path: str | Path | None = None,
    names: Mapping[str, str] | None = None,
    only: Sequence[str] | None = None,
    backward: bool = False,
    row: int = 0,
    step: int | None = None,
) -> Captured:
    """Run a model and return its values by address; `path` also saves them for `check --against`.

    The modules of Hugging Face's families, of nanoGPT and of minGPT are known. The model runs as it
    is, in DistributedDataParallel, in FSDP or with a device_map; a compiled one runs in eager mode.
    Models of transformers return the weights of attention with `attn_implementation="eager"`.

    Args:
        model: a torch.nn.Module.
        inputs: token ids, (tokens,) or (batch, tokens); the model's arguments by name, such as a
            tokenizer returns; or a function without arguments that runs the model.
        path: a .npz or .safetensors file.
        names: addresses by names of modules, such as {"blocks.*.attn.proj":
            "layer*.attention.output"}. A `*` is a number, from 0 in a name and from 1 in an
            address. A hook of TransformerLens, "blocks.*.hook_attn_out", is accepted as one.
            "blocks.*.attn.proj.input" is what a module receives, "blocks.*.attn[1]" the
            second tensor that it returns. "layer*.attention.query" are the queries of all heads at
            once, and so on; "layer*.attention.W_QKV" those, the keys and the values side by side.
        only: patterns of addresses, such as ["layer2.*"]; nothing else is kept.
        backward: whether to compute the gradients of the loss that the model, or the function,
            returns, too. They are `gradient.layer1.ffn.hidden`, and so on.
        row: the text of the batch, from 0. Its padding, where attention_mask is 0, is left out.
        step: the number of a step of model.generate, from 1. There is a row for each token so far;
            those of earlier steps are computed in these steps.

    Returns:
        A mapping of address to array: (tokens, columns), of weights (tokens, tokens). bfloat16
        becomes float32; `kinds` and the file say what it was.

    Raises:
        TracerError: no module is known; `names` or `only` fits nothing; a tensor has another shape
            than the batch; the inputs are no ids; there is no loss; the model cannot generate.
    """
    modules = modules_of(model)
    only = [only] if isinstance(only, str) else only
    known = taps_of_model(modules, names)
    taps = wanted_taps(known, only)
    if backward and joins_parameters(model):
        message = "FullyShardedDataParallel joins the gradients, expected fully_shard"
        raise TracerError(Problem(message, address="backward"))
    has_encoder = any(tap.tower or "cross_attention" in tap.address for tap in known)
    found = Recording(row, has_encoder, keeps_gradients=backward)
    if callable(inputs):
        if step is not None:
            raise TracerError(Problem("a function as inputs has its own steps", address="step"))
        run = inputs
    else:
        args, kwargs = _arguments(inputs, modules[""])
        run = partial(model, *args, **kwargs)
        if step is not None:
            run = partial(_generate, modules[""], args, kwargs, step)
            if has_encoder:  # which runs before the model
                found.encoder = tokens_of_pass(args, kwargs)
    with ExitStack() as around:
        if "torch._dynamo" in sys.modules:  # torch.compile may have compiled something
            around.enter_context(torch().compiler.set_stance("force_eager"))
        around.enter_context(torch().set_grad_enabled(backward))
        around.enter_context(recording(modules, taps, found))
        gradients = differentiated(modules, found, run) if backward else []
        if not backward:
            run()
    values = [
        DumpedArray(address, found.kinds[tap], array)
        for tap in taps
        for address, array in found.values(tap)
    ]
    every = [*values, *gradients]
    _check_found(only, [each.name for each in every], known, {*found.kinds})
    _check_run(taps, {*found.kinds})
    wanted = [each for each in every if is_wanted(each.name, only)]
    texts = found.texts()
    captured = Captured(
        {each.name: each.numbers for each in wanted},
        {each.name: each.kind for each in wanted},
        texts[""].ids,
        texts[ENCODER].ids if ENCODER in texts else None,
    )
    if path is not None:
        save(wanted, Path(path))
    return captured


def _check_found(
    only: Sequence[str] | None, addresses: Sequence[str], known: Sequence[Tap], read: Set[Tap]
) -> None:
    """Check that each pattern fits a captured value.

    Raises:
        TracerError: one does not; the message names the most similar address of the `known` ones.
    """
    for pattern in only or ():
        if any(is_wanted(address, [pattern]) for address in addresses):
            continue
        if wanted_taps([*read], [pattern]):
            message = "of some tokens only, such as nanoGPT's logits without targets"
            raise TracerError(Problem(message, address=pattern))
        hint = closest(pattern, [address for tap in known for address in tap.addresses])
        if pattern.endswith("weights"):
            hint = '; models of transformers return it with attn_implementation="eager"'
        raise TracerError(Problem(f"no module returned it{hint}", address=pattern))


def _check_run(taps: Sequence[Tap], read: Set[Tap]) -> None:
    """Check that a module of each name of the user has run.

    Raises:
        TracerError: none has, or none returned such a tensor.
    """
    ran = {tap.name for tap in read}
    for tap in taps:
        if tap.name and tap.name not in ran:
            message = f"{tap.name}: no such module ran, or none has a tensor there"
            raise TracerError(Problem(message, address="names"))


def _arguments(inputs: Any, model: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of the model, in order and by name.

    Raises:
        TracerError: they are no numbers, or texts of different lengths.
    """
    devices = (each.device for each in model.parameters() if not each.is_meta)
    device = next(devices, None)  # that of the first module, if it is in memory

    def tensor(value: Any) -> Any:
        if not isinstance(value, list | tuple | np.ndarray):
            return value
        try:
            return torch().as_tensor(value, device=device)
        except (TypeError, ValueError):
            message = "expected token ids, as many in each text"
            raise TracerError(Problem(message, address="inputs")) from None

    if hasattr(inputs, "items"):
        return (), {name: tensor(value) for name, value in inputs.items()}
    ids = tensor(inputs)
    if not is_tensor(ids):
        raise TracerError(
            Problem(f"got {type(ids).__name__}, expected token ids", address="inputs")
        )
    return (ids[None] if ids.ndim == 1 and ids is not inputs else ids,), {}


def _generate(model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], step: int) -> None:
    """Run the steps of a generation up to one.

    Raises:
        TracerError: the model cannot generate.
    """
    if not hasattr(model, "generation_config") or step < 1:
        message = "expected a step from 1 and a model of transformers, or a function as inputs"
        raise TracerError(Problem(f"{step}: {message}", address="step"))
    if "logits_to_keep" in signature(model.forward).parameters:
        kwargs = {**kwargs, "logits_to_keep": 0}  # all: otherwise only those of the last token
    lengths = {"max_new_tokens": step, "min_new_tokens": step}
    model.generate(*args, **kwargs, **lengths, do_sample=False, num_beams=1, use_cache=True)
