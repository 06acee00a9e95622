"""Variants in which texts and programs differ: each is one change of a scenario.

A change without effect returns the scenario itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

import numpy as np
from pydantic import BaseModel

from tracer.checkpoints.parameter import Parameter
from tracer.formula.activations import ACTIVATIONS
from tracer.formula.numbers import round_half_away, trimmed
from tracer.names import count
from tracer.scenario.fields import shape_of
from tracer.scenario.layers import Attention, Head, Layer
from tracer.scenario.model import Encoder, Positions, Scenario, Sinusoidal, Tower, Unembedding
from tracer.scenario.networks import Network
from tracer.scenario.norms import Norm, Normalization
from tracer.scenario.part import forms_of_ffn, scenario_parts
from tracer.scenario.parts import SUB_LAYERS, with_parts
from tracer.scenario.reader import YamlPath

Change: TypeAlias = Callable[[Scenario], Scenario]
Settings: TypeAlias = dict[str, Any]
_Part = TypeVar("_Part", bound=BaseModel)

EPSILONS = tuple(map(Decimal, ("0", "0.00001", "0.000001", "0.00000001", "0.000000000001")))


def _with(kind: type[_Part], settings: Callable[[_Part], Settings]) -> Change:
    """Return a change of the settings of a kind of parts."""

    def changed(place: YamlPath, part: Any) -> Any:
        if not isinstance(part, kind):
            return part
        found = settings(part)
        differing = {name: new for name, new in found.items() if new != getattr(part, name)}
        return part.model_copy(update=differing) if differing else part

    return lambda scenario: with_parts(scenario, changed)


def of_parts(change: Callable[[Any], Any]) -> Change:
    """Return a change of every part of a scenario."""
    return lambda scenario: with_parts(scenario, lambda _, part: change(part))


def _of_norms(**settings: Any) -> Change:
    """Return a change of every norm's settings; RMSNorm has no deviation from a mean."""

    def fitting(norm: Normalization) -> Settings:
        is_rms = "deviation" in settings and norm.kind == "rms_norm"
        no_epsilon = "epsilon_outside" in settings and not norm.epsilon
        no_gain = "unit_offset" in settings and norm.gain is None
        return {} if is_rms or no_epsilon or no_gain else settings

    return _with(Normalization, fitting)


def _of_activation(one: str, other: str) -> Change:
    """Return a change from one activation function to another."""
    return _with(Network, lambda ffn: {"activation": other} if ffn.activation == one else {})


def _of_scale(scale: Callable[[int], Decimal | str]) -> Change:
    """Return a change of the divisor √d_k; `scale` computes the new one from d_k."""

    def fitting(part: Attention) -> Settings:
        return {"scale": scale(part.heads[0].d_k)} if part.scale == "sqrt" else {}

    return _with(Attention, fitting)


def _rounded(places: int) -> Callable[[int], Decimal]:
    return lambda d_k: trimmed(round_half_away(Decimal(d_k).sqrt(), places))


def _without_norms_after(layer: Layer) -> Settings:
    parts = {name: getattr(layer, name) for name in SUB_LAYERS}
    without = {
        name: part.model_copy(update={"norm_after": None})
        for name, part in parts.items()
        if part and layer.norm_after_of(part)
    }
    return {"norm_after": None, **without}


def _without_norms(layer: Layer) -> Settings:
    names = [name for name in SUB_LAYERS if getattr(layer, name)]
    parts = {name: getattr(layer, name).model_copy(update={"norm": None}) for name in names}
    return {"norm": None, **parts}


def _of_towers(settings: Callable[[Tower], Settings]) -> Change:
    """Return a change of the decoder's settings and of the encoder's, if it is computed."""

    def fitting(tower: Tower) -> Settings:
        return {} if isinstance(tower, Encoder) and not tower.is_computed else settings(tower)

    return _with(Tower, fitting)


def _counted_from(start: int) -> Change:
    """Return a change of the position of the first token."""
    return _with(Sinusoidal, lambda positions: {"start": start})


def _of_loss(reduction: str) -> Change:
    """Return a change of whether the losses are averaged or added up."""
    return _with(Scenario, lambda s: {"loss": s.loss.model_copy(update={"reduction": reduction})})


def _of_activations(name: str) -> Change:
    """Return a change of every activation function to one.

    Not between the two GELUs: this change has a name of its own.
    """
    of_gelu = {"gelu", "gelu_tanh"}

    def other(ffn: Network) -> Settings:
        is_known = ffn.activation == name or {ffn.activation, name} == of_gelu
        return {} if is_known else {"activation": name}

    return _with(Network, other)


def _scaled(scale: Callable[[Attention], Decimal]) -> Change:
    """Return a change of the divisor of the scores to another number."""
    return _with(
        Attention, lambda part: {} if part.heads[0].W_Q is None else {"scale": scale(part)}
    )


def _width(part: Attention) -> Decimal:
    return Decimal(shape_of(part.heads[0].W_Q)[0])


def _without(kind: type[BaseModel], name: str) -> Change:
    """Return a change that leaves a key out."""
    return _with(kind, lambda part: {} if getattr(part, name) is None else {name: None})


def _with_other(model: type[BaseModel], **values: Any) -> Change:
    """Return a change of settings to fixed values."""
    return _with(model, lambda _: values)


def _swapped(kind: type[BaseModel], *pairs: tuple[str, str]) -> Change:
    """Return a change that swaps keys, if they are given."""

    def settings(part: Any) -> Settings:
        both = [pair for pair in pairs if getattr(part, pair[0]) is not None]
        given = [(a, b) for a, b in both if getattr(part, b) is not None]
        return {a: getattr(part, b) for pair in given for a, b in (pair, pair[::-1])}

    return _with(kind, settings)


Split: TypeAlias = Callable[[Any, int, int], Any]
"""Returns the columns of a head, by its number and how many there are, from all side by side."""


@dataclass(frozen=True, eq=False)
class SplitOtherwise:
    """The weights of a head, split in another way from those of all heads, which a file may hold.

    They are read when they are used.
    """

    heads: Sequence[Any]
    split: Split
    place: int

    @property
    def shape(self) -> tuple[int, ...]:
        """(rows, columns), or (columns,) of a bias."""
        return shape_of(self.heads[self.place])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        together = np.concatenate([np.asarray(each, float) for each in self.heads], axis=-1)
        return np.asarray(self.split(together, self.place, len(self.heads)))


def _of_all_heads(split: Split) -> Change:
    """Return a change of how the weights of heads are split."""

    def settings(part: Attention) -> Settings:
        heads = [dict[str, Any]() for _ in part.heads]
        for name in ("W_Q", "b_Q", "W_K", "b_K", "W_V", "b_V"):
            own = [i for i, head in enumerate(part.heads) if getattr(head, name) is not None]
            matrices = [getattr(part.heads[i], name) for i in own]
            for place, i in enumerate(own):
                if isinstance(matrices[place], tuple | Parameter):  # no LoRA, nothing quantized
                    heads[i][name] = SplitOtherwise(matrices, split, place)
        pairs = zip(part.heads, heads, strict=True)
        return {"heads": tuple(head.model_copy(update=new) for head, new in pairs)}

    return _with(Attention, settings)


def _in_turn(together: Any, head: int, heads: int) -> Any:
    """Return every column of a head, if the columns of heads alternate."""
    return together[..., head::heads]


def _transposed(together: Any, head: int, heads: int) -> Any:
    """Return the columns of a head, of all matrices side by side and then transposed."""
    square = together.T if together.shape == together.T.shape else together
    return np.split(square, heads, axis=-1)[head]


def _grouped_in_turn(part: Attention) -> Settings:
    """Return heads that use keys and values in turn, not several neighbors the same."""
    own = [i for i, head in enumerate(part.heads, 1) if not head.shares]
    if len(own) == len(part.heads):
        return {}
    of = {i: part.heads[i - 1] for i in own}
    heads = []
    for place, head in enumerate(part.heads):
        source = of[own[place % len(own)]]
        keys = {name: getattr(source, name) for name in ("W_K", "b_K", "W_V", "b_V")}
        heads.append(head.model_copy(update={**keys, "shares": None}))
    return {"heads": tuple(heads)}


def _tied(scenario: Scenario) -> Settings:
    """Return the embeddings of the vocabulary's words as the unembedding."""
    table, words, own = scenario.embeddings, scenario.vocabulary, scenario.unembedding
    if not isinstance(table, Mapping) or not words or own is None or not set(words) <= set(table):
        return {}
    columns = tuple(zip(*(table[word] for word in words), strict=True))
    return {"unembedding": own.model_copy(update={"W_U": columns})}


def _table_from(first: int) -> Callable[[Positions], Settings]:
    """Return a change of the row of a table of positions that the first token gets."""
    return lambda positions: {} if positions.table is None else {"table": positions.table[first:]}


SLIGHT: tuple[tuple[str, Change], ...] = (
    ("with the sample standard deviation, divided by n − 1", _of_norms(deviation="sample")),
    ("with the population standard deviation, divided by n", _of_norms(deviation="population")),
    *((f"with ε = {epsilon:f}", _of_norms(epsilon=epsilon)) for epsilon in EPSILONS),
    ("with ε outside the square root", _of_norms(epsilon_outside=True)),
    ("with ε inside the square root", _of_norms(epsilon_outside=False)),
    ("with the tanh approximation of GELU", _of_activation("gelu", "gelu_tanh")),
    ("with the exact GELU", _of_activation("gelu_tanh", "gelu")),
    *((f"with √d_k rounded to {count(n, 'decimal')}", _of_scale(_rounded(n))) for n in (1, 2, 3)),
)
"""Variants that change numbers by little, which the rounding of a program may hide."""

VARIANTS: tuple[tuple[str, Change], ...] = (
    *SLIGHT,
    ("with a factor of 1 + γ", _of_norms(unit_offset=True)),
    ("with a factor of γ instead of 1 + γ", _of_norms(unit_offset=False)),
    *((name, _with(kind, new)) for form in forms_of_ffn() for name, kind, new in form.variants),
    ("without dividing by √d_k", _of_scale(lambda d_k: "none")),
    ("without norms after the sub-layers", _with(Layer, _without_norms_after)),
    ("with embeddings multiplied by √d_model", _of_towers(lambda _: {"embedding_scale": "sqrt"})),
    ("without a factor of the embeddings", _of_towers(lambda _: {"embedding_scale": "none"})),
    ("without a norm of the embeddings", _of_towers(lambda _: {"embedding_norm": None})),
    *((f"with positions counted from {n}", _counted_from(n)) for n in (0, 1)),
    ("without the soft cap of logits", _with(Unembedding, lambda _: {"softcap": None})),
    ("without dividing the logits", _with(Unembedding, lambda _: {"scale": None})),
    *((name, _with(kind, new)) for part in scenario_parts() for name, kind, new in part.variants),
    ("with the losses averaged", _of_loss("mean")),
    ("with the losses added up", _of_loss("sum")),
    ("without the mask", _with(Scenario, lambda scenario: {"mask": "none"})),
    ("with the same mask in every layer", _with(Attention, lambda _: {"mask": None})),
)
"""The name of each variant and its change."""

OF_PROGRAMS: tuple[tuple[str, Change], ...] = (
    *((name, of_parts(new)) for part in scenario_parts() for name, new in part.changes),
    *((f"with {each.title} ({name})", _of_activations(name)) for name, each in ACTIVATIONS.items()),
    *((f"with ε = {e}", _of_norms(epsilon=Decimal(e))) for e in ("0.0001", "0.001", "0.0000001")),
    ("with RMSNorm", _with_other(Normalization, kind="rms_norm")),
    ("with LayerNorm", _with_other(Normalization, kind="layer_norm")),
    ("with norms before the sub-layers", _with_other(Norm, placement="pre")),
    ("with norms after the sub-layers", _with_other(Norm, placement="post")),
    ("without norms of the sub-layers", _with(Layer, _without_norms)),
    ("without the final norm", _with(Tower, lambda _: {"final_norm": None})),
    ("without γ", _without(Normalization, "gain")),
    ("without β", _without(Normalization, "shift")),
    ("with the weights of all heads transposed", _of_all_heads(_transposed)),
    *((f"without {b}", _without(Head, b)) for b in ("b_Q", "b_K", "b_V")),
    *((f"without {b}", _without(Network, b)) for b in ("b_1", "b_2", "b_3")),
    ("without b_O", _without(Attention, "b_O")),
    ("without b_U", _without(Unembedding, "b_U")),
    ("with scores divided by √d_model", _scaled(lambda part: _width(part).sqrt())),
    (
        "with scores divided by d_k, without the root",
        _scaled(lambda part: Decimal(part.heads[0].d_k)),
    ),
    (
        "with scores divided by √2 · √d_k",
        _scaled(lambda part: Decimal(2 * part.heads[0].d_k).sqrt()),
    ),
    ("with W_K and W_V swapped", _swapped(Head, ("W_K", "W_V"), ("b_K", "b_V"))),
    ("with W_Q and W_K swapped", _swapped(Head, ("W_Q", "W_K"), ("b_Q", "b_K"))),
    (
        "with W_1 and W_3 swapped, the gate and the values",
        _swapped(Network, ("W_1", "W_3"), ("b_1", "b_3")),
    ),
    ("with the columns of heads interleaved", _of_all_heads(_in_turn)),
    ("with heads that share keys and values in turn", _with(Attention, _grouped_in_turn)),
    ("with the embeddings as unembedding", _with(Scenario, _tied)),
    ("with positions counted from 1", _with(Positions, _table_from(1))),
    ("with positions counted from 2", _with(Positions, _table_from(2))),
    ("with the layers in the opposite order", _with(Tower, lambda t: {"layers": t.layers[::-1]})),
    ("with a causal mask", _with(Scenario, lambda _: {"mask": "causal"})),
)
"""Further variants in which programs differ, tried on a single step."""
