"""The symbol of each value on the tape: Q¹, r₁, σ² …, as the papers write them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tracer.expression import (
    Brackets,
    Call,
    Difference,
    Exponential,
    Expression,
    MatrixProduct,
    Number,
    Power,
    Quotient,
    Root,
    Sum,
    Symbol,
    Transposed,
)
from tracer.tape import Step

PLAIN: dict[str, Expression] = {
    "tokens": Symbol("tokens"),
    "token_ids": Symbol("ids"),
    "embedding": Symbol("X"),
    "position": Symbol("P"),
    "position.index": Symbol("pos"),
    "position.div_term": Symbol("ω"),
    "position.angle": Symbol("θ"),
    "position.sin": Call("sin", (Symbol("θ"),)),
    "position.cos": Call("cos", (Symbol("θ"),)),
    "encoder.output": Symbol("E"),
    "input": Symbol("X′"),
    "mask": Symbol("M"),
    "output": Symbol("y"),
    "weights.W_U": Symbol("W", "U"),
    "weights.b_U": Symbol("b", "U"),
    "logits": Symbol("z"),
    "probabilities.exp": Exponential(Symbol("z")),
    "probabilities.exp_sum": Symbol("Σ"),
    "probabilities": Symbol("p"),
    "prediction": Symbol("prediction"),
    "sampling.logits": Symbol("z"),
    "sampling.temperature": Symbol("T"),
    "sampling.scaled": Quotient(Symbol("z"), Symbol("T")),
    "sampling.exp_sum": Symbol("Σ"),
    "sampling.probabilities": Symbol("p", "T"),
    "sampling.candidates": Symbol("p", "T"),
    "sampling.candidates_sum": Symbol("Σ", "kept"),
    "sampling.renormalized": Symbol("q"),
    "sampling.cumulative": Symbol("c"),
    "sampling.draw": Symbol("u"),
    "sampling.word": Symbol("word"),
    "loss.target": Symbol("target"),
    "loss.token": Symbol("ℓ"),
    "loss": Symbol("L"),
}


_FUNCTIONS = {"ffn": "FFN", "attention": "Attention", "cross_attention": "CrossAttention"}


def role(address: str) -> str:
    """What an address stands for in any layer and head: attention.head.query."""
    return re.sub(r"\bhead[0-9]+\.", "head.", re.sub(r"\blayer[0-9]+\.", "", address))


def symbols(steps: Sequence[Step]) -> dict[str, Expression]:
    """The symbol of every address, by the tape's order."""
    found: dict[str, Expression] = {}
    addresses = [step.output.address for step in steps]
    x: Expression = PLAIN["input"]
    sub_layers = 0
    for step in steps:
        address = step.output.address
        name = role(address)
        if name == "sampling.exp":
            found[address] = Exponential(found[step.inputs[0].address])
            continue
        if name in PLAIN:
            found[address] = PLAIN[name]
            continue
        match = re.match(r"(?:weights\.)?(layer[0-9]+\.[a-z_]+)\.(?:head([0-9]+)\.)?", address)
        assert match, address
        sub_layer, head = match.groups()
        several = f"{sub_layer}.head2.output" in addresses
        above = head if head and several else ""
        found[address] = _of_sub_layer(name, above, x, str(sub_layers + 1), step, found)
        if address == _end(sub_layer, addresses):
            sub_layers += 1
            x = found[address] = Symbol("x", str(sub_layers))
    return found


def _end(sub_layer: str, addresses: Sequence[str]) -> str:
    """The address of what leaves a sub-layer: the last recorded of these."""
    ends = [f"{sub_layer}.{name}" for name in ("output", "residual", "norm")]
    return max((end for end in ends if end in addresses), key=addresses.index)


def _of_sub_layer(
    name: str, head: str, x: Expression, number: str, step: Step, found: dict[str, Expression]
) -> Expression:
    """The symbol of a role inside a sub-layer whose input is `x`."""
    # What comes from an earlier trace has no symbol here, and needs none: it is only taken over.
    inputs = [found.get(value.address, Symbol(value.address)) for value in step.inputs]
    prefix, _, last = name.rpartition(".")
    if not inputs:
        return _of_parameter(last, head)
    match last:
        case "query" | "key" | "value" | "keys" | "values":
            return Symbol(last[0].upper(), above=head)
        case "dot":
            return MatrixProduct(inputs[0], Transposed(inputs[1]))
        case "scale":
            return Root(inputs[0])
        case "scores":
            return Symbol("S", above=head)
        case "masked":
            return Sum((inputs[0], inputs[1]))
        case "exp":
            return Exponential(inputs[0])
        case "exp_sum":
            return Symbol("Σ", above=head)
        case "weights":
            return Symbol("U" if prefix.endswith(".unmasked") else "A", above=head)
        case "output" if prefix.endswith(".head"):
            return Symbol("O", above=head)
        case "concat":
            return Brackets(tuple(inputs)) if len(inputs) > 1 else inputs[0]
        case "hidden":
            return Symbol("h")
        case "activation":
            return Symbol("a")
        case "output":
            return Call(_FUNCTIONS[prefix], (x,))
        case "residual":
            return Symbol("r", number)
        case "mean":
            return Symbol("μ")
        case "deviation":
            return Difference(inputs[0], inputs[1])
        case "squared":
            return Power(inputs[0], Number.of(2))
        case "variance":
            return Power(Symbol("σ"), Number.of(2))
        case "std":
            return Symbol("σ")
        case "norm":
            return Symbol("n", number)  # in front of its sub-layer; behind it, the sub-layer's end
    raise AssertionError(f"no symbol for {name}")


def _of_parameter(name: str, head: str) -> Symbol:
    match name:
        case "gain":
            return Symbol("γ")
        case "shift":
            return Symbol("β")
        case "d_k":
            return Symbol("d", "k")
        case _:  # W_Q, b_1
            base, _, below = name.partition("_")
            return Symbol(base, below, head)
