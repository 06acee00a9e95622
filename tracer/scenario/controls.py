"""The settings of a scenario that a reader can change beside its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tracer.errors import Problem, TracerError
from tracer.formula.activations import ACTIVATIONS
from tracer.scenario.edits import with_value
from tracer.scenario.fields import WRITTEN
from tracer.scenario.part import scenario_parts
from tracer.scenario.parts import SUB_LAYERS, address
from tracer.scenario.reader import Data, YamlPath, read
from tracer.scenario.sizes import data_at

NORMS = ("layer_norm", "rms_norm")


@dataclass(frozen=True)
class Control:
    """A setting: its place, its value as typed or by default, and the values to choose from.

    With `number`, a number can be typed as well.
    """

    path: YamlPath
    label: str
    value: str
    choices: tuple[str, ...] = ()
    number: bool = False

    @property
    def name(self) -> str:
        """The address of the setting: `layer1.ffn.activation`."""
        return address(self.path)

    def check(self, value: str) -> None:
        """Raise a TracerError for a value that cannot be chosen."""
        if value in self.choices or (self.number and WRITTEN.fullmatch(value)):
            return
        expected = [*self.choices, *(["a number"] if self.number else [])]
        message = f"expected {' or '.join(expected)}, got {value!r}"
        raise TracerError(Problem(message, address=self.name))


def controls(data: Data, tokens: int) -> Iterator[Control]:
    """Yield the settings of a scenario's data: mask, temperature, and those of each layer."""
    if data_at(data, ("layers",)) is None:
        return  # a checkpoint, or sizes alone
    fills_in = data_at(data, ("objective",)) == "masked"
    if not fills_in and not isinstance(data_at(data, ("mask",)), list):
        windows = [f"{{window: {width}}}" for width in range(1, tokens)]
        yield Control(
            ("mask",), "mask", _typed(data, ("mask",), "causal"), ("causal", "none", *windows)
        )
    if isinstance(data_at(data, ("unembedding",)), dict):
        path: YamlPath = ("unembedding", "scale")
        yield Control(path, "divide logits by (temperature)", _typed(data, path, "1"), number=True)
    for tower in ((), ("encoder",)):
        layers = data_at(data, (*tower, "layers"))
        for i, layer in enumerate(layers if isinstance(layers, list) else ()):
            yield from _of_layer(data, (*tower, "layers", i), layer)


def _of_layer(data: Data, path: YamlPath, layer: Data) -> Iterator[Control]:
    here = " ".join([*(["encoder"] if path[0] == "encoder" else []), f"layer {int(path[-1]) + 1}"])
    yield from _of_norm(data, (*path, "norm"), f"{here}: norm")
    for name in SUB_LAYERS:
        own: YamlPath = (*path, name)
        if not isinstance(data_at(data, own), dict):
            continue
        label = f"{here}, {name.replace('_', '-').replace('ffn', 'FFN')}"
        if data_at(data, (*own, "norm")) is not None:
            yield from _of_norm(data, (*own, "norm"), f"{label}: norm")
        if name == "ffn" and data_at(data, (*own, "W_1")) is not None:
            at: YamlPath = (*own, "activation")
            named = (*ACTIVATIONS, "none")
            yield Control(at, f"{label}: activation", _typed(data, at, "relu"), named)
        if name != "ffn":
            at = (*own, "scale")
            words = ("sqrt", "none")
            yield Control(at, f"{label}: scale", _typed(data, at, "sqrt"), words, number=True)
            heads = data_at(data, (*own, "heads"))
            for i in range(len(heads) if isinstance(heads, list) else 0):
                yield from _of_head(data, (*own, "heads", i), f"{label}, head {i + 1}")


def _of_head(data: Data, path: YamlPath, label: str) -> Iterator[Control]:
    """Yield the numbers of a head that the parts of the model offer, where they are typed."""
    for key, name in (each for part in scenario_parts() for each in part.controls.items()):
        at: YamlPath = (*path, key)
        if data_at(data, at) is not None:
            yield Control(at, f"{label}: {name}", _typed(data, at, ""), number=True)


def _of_norm(data: Data, path: YamlPath, label: str) -> Iterator[Control]:
    """Yield the kind of a norm, or none; its placement and its ε."""
    there = isinstance(data_at(data, path), dict)
    kind = _typed(data, (*path, "kind"), NORMS[0]) if there else "none"
    yield Control(path, label, kind, ("none", *NORMS))
    if there:
        at: YamlPath = (*path, "placement")
        yield Control(at, f"{label} placement", _typed(data, at, "post"), ("post", "pre"))
        at = (*path, "epsilon")
        yield Control(at, f"{label} ε", _typed(data, at, "0"), number=True)


def _typed(data: Data, path: YamlPath, default: str) -> str:
    """Return a setting as typed: a word, a number or a mapping with one key."""
    match data_at(data, path):
        case None:
            return default
        case str(word):
            return word
        case {**keys} if len(keys) == 1:
            ((key, value),) = keys.items()
            return f"{{{key}: {value}}}"
        case _:
            return ""


def with_setting(text: str, control: Control, value: str) -> str:
    """Return a scenario's text with another value of a setting.

    Raises:
        TracerError: the value cannot be chosen, or the setting is not typed at a place of its own.
    """
    control.check(value)
    path = control.path
    if path[-1] != "norm" or value == "none":
        return with_value(text, path, value)
    data: Any = read(text, "scenario").data
    if isinstance(data_at(data, path), dict):
        return with_value(text, (*path, "kind"), value)
    return with_value(text, path, f"{{kind: {value}}}")
