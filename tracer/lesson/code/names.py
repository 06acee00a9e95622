"""The names of values in code: Q_1, scores_1, x_2, as they stand in papers and programs."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tracer.decoder.roles import Derivation, Place
from tracer.decoder.tape import Record
from tracer.decoder.value import Value
from tracer.lesson.steps.part import lesson_parts
from tracer.lesson.wiring import Where, in_order, sub_layer_results, where, where_at

NAMES = {
    **{"embedding": "X", "embedding.scaled": "X_scaled", "position": "P", "input": "x"},
    **{"embedding.sum": "X_P", "token_type": "T", "embedding.with_type": "X_T"},
    **{"encoder.output": "E", "position.div_term": "omega", "position.angle": "theta"},
    **{"position.index": "pos", "position.sin": "sin", "position.cos": "cos"},
    **{"query": "Q", "key": "K", "value": "V", "keys": "K_all", "values": "V_all"},
    **{"rotated_query": "Q_rot", "rotated_key": "K_rot"},
    **{"max": "largest", "sum": "total", "exp_sum": "total", "residual": "r", "norm": "n"},
    **{"norm_after": "n_after", "norm.gain": "gamma", "norm.shift": "beta"},
    **{"norm_after.gain": "gamma_after", "norm_after.shift": "beta_after"},
    **{"W_1": "W1", "W_2": "W2", "W_3": "W3", "b_1": "b1", "b_2": "b2", "b_3": "b3"},
    **{"hidden": "h", "activation": "a", "unembedding.W_U": "W_U", "unembedding.b_U": "b_U"},
    **{"probabilities": "p", "latent": "C", "latent.query": "C_Q", "joined_query": "Q_joined"},
    **{"joined_key": "K_joined", "router.weights": "gates", "router.logits": "router_logits"},
    **{"loss.token": "losses", "loss.perplexity": "perplexity"},
    **{
        "router": "W_router",
        "router_bias": "b_router",
        "router.probabilities": "shares",
        "router.chosen": "chosen",
    },
    **{"shared_gate": "w_shared", "shared_gate.logit": "gate_logit"},
    **{end: name for part in lesson_parts() for end, name in part.in_code.items()},
}
"""The name of a value, by the end of its address; other values are named by their address."""

OUTPUTS = {"attention": "attention", "cross_attention": "cross_attention", "ffn": "ffn"}
"""The output of a sub-layer."""

OF_SUB_LAYER = ("residual", "norm", "norm_after")
"""The beginning of what every sub-layer has; its number among the sub-layers is added."""

DERIVED: dict[Derivation, str] = {
    **{"gradient": "d_", "mean": "mean_d_", "difference": "centered_d_", "scaled": "scaled_d_"},
    **{"left": "from_", "right": "from_right_", "third": "from_third_", "fourth": "from_fourth_"},
    **{"squares": "squares_d_", "clipped": "clipped_d_", "decayed": "decayed_"},
    **{"velocity": "velocity_", "squared": "squared_d_", "first_moment": "m_"},
    **{"second_moment": "v_", "unbiased_first": "m_hat_", "unbiased_second": "v_hat_"},
    **{"direction": "step_", "new": "new_"},
}
"""What stands before the name of a value in the name of what training derives from it: d_W_Q."""

TAKEN = {
    "np",
    "torch",
    "math",
    "vocabulary",
    "show",
    "rounded",
    "shared",
    "matmul",
    "normal_cdf",
    "e2m1",
}
"""Names that a program uses for other things."""


class Names:
    """The name of each value of a pass: short, and with numbers only where there are several."""

    def __init__(self, records: Iterable[Record], temporary: Mapping[Value, int]) -> None:
        """`temporary` values, with the numbers of the steps that alone read them.

        There their name is enough, unless the step has several of that name.
        """
        ordered = in_order(tuple(records))
        values = [record.output for record in ordered]
        self._layers = {value.place.encoder: 0 for value in values}
        for value in values:
            layer = max(self._layers[value.place.encoder], value.place.layer or 0)
            self._layers[value.place.encoder] = layer
        self._several = {where(value) for value in values if value.place.head == 2}
        self._numbers = _numbers_of_sub_layers(ordered)
        self._results = {value.address for value in sub_layer_results(ordered)}
        self._of: dict[Value, str] = {}
        of_training = {value for value in values if value.place.phase != "forward"}
        taken = {*TAKEN, *keyword.kwlist}
        for value in values:
            if value not in temporary or value in of_training:
                self._of[value] = name = self._free(value, self._whole(value), taken)
                taken.add(name)
        short = {value: _short(value) for value in temporary if value not in of_training}
        alike = Counter((temporary[value], name) for value, name in short.items())
        for value, name in short.items():
            is_clear = alike[temporary[value], name] == 1
            self._of[value] = self._free(value, name if is_clear else self._whole(value), taken)

    def __getitem__(self, value: Value) -> str:
        """The name of a value."""
        return self._of[value] if value in self._of else _of_address(value.address)

    def _free(self, value: Value, name: str, taken: set[str]) -> str:
        for free in (name, self._whole(value), _of_address(value.address)):
            if free not in taken:
                return free
        return f"{_of_address(value.address)}_"

    def _whole(self, value: Value) -> str:
        """A name with the layer and the head, where there are several."""
        place, role = value.place, value.role
        if role.of and role.derivation in DERIVED:
            before = self._at(replace(place, phase="forward"), role.of.name)
            return f"{DERIVED[role.derivation]}{before}"
        return self._at(place, role.name)

    def _at(self, place: Place, name: str) -> str:
        """The name of the value of a role at a place."""
        if f"{place.prefix}{name}" in self._results:
            return f"x_{self._numbers[where_at(place)]}{'_E' * place.encoder}{_example(place)}"
        return f"{self._base(place, name)}{self._suffix(place, name)}"

    def _base(self, place: Place, name: str) -> str:
        if name == "output":
            if place.head:
                base = "head"
            else:
                base = OUTPUTS.get(place.sub_layer or "", "y") if not place.network else "y"
        else:
            base = _named(name)
        crosses = place.sub_layer == "cross_attention" and base != "cross_attention"
        return f"cross_{base}" if crosses else base

    def _suffix(self, place: Place, name: str) -> str:
        parts: list[str] = []
        here = where_at(place)
        of_each = name.partition(".")[0] in OF_SUB_LAYER
        if of_each and here in self._numbers:
            parts.append(str(self._numbers[here]))
        elif place.layer and self._layers[place.encoder] > 1:
            parts.append(str(place.layer))
        if place.head and here in self._several:
            parts.append(str(place.head))
        if place.network:
            number = place.network.number
            parts.append(f"{place.network.noun}_{number}" if number else place.network.key)
        if place.block:
            parts.append(f"block_{place.block}")
        if place.token:
            parts.append(f"token_{place.token}")
        if place.rotary:
            parts.append(f"rotary_{place.rotary}")
        if place.tower_norm and not of_each:
            parts.append(place.tower_norm)
        if place.encoder:
            parts.append("E")
        return "".join(f"_{part}" for part in parts) + _example(place)


def _example(place: Place) -> str:
    """The end of the names in an example of a batch that is not the explained one."""
    return f"_ex{place.example}" if place.example else ""


def _numbers_of_sub_layers(records: Sequence[Record]) -> Mapping[Where, int]:
    """The number of each sub-layer of a tower and an example, from 1."""
    counted, found = Counter[tuple[bool, int | None]](), dict[Where, int]()
    for value in sub_layer_results(records):
        tower = value.place.encoder, value.place.example
        counted[tower] += 1
        found[where(value)] = counted[tower]
    return found


def _short(value: Value) -> str:
    """The name of a value that only its own step reads."""
    name = value.role.name
    return _named(name) if name in NAMES else _named(name.rpartition(".")[2])


def _named(name: str) -> str:
    return NAMES[name] if name in NAMES else _of_address(name)


def _of_address(address: str) -> str:
    return re.sub(r"\W", "_", address)
