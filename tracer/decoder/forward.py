"""The forward pass of a decoder, as it stands in the papers; every line of it is on the tape.

Vaswani et al. 2017 (attention, FFN, positions, post-norm), Ba et al. 2016 (LayerNorm),
Xiong et al. 2020 (pre-norm), Zhang and Sennrich 2019 (RMSNorm), Shazeer 2020 (gated FFN),
Su et al. 2021 (rotary positions), Ainslie et al. 2023 (grouped queries).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, assert_never

from tracer.decoder.attention import Memory, attention
from tracer.decoder.axes import Axis, numbered
from tracer.decoder.inputs import attention_mask, input_vectors
from tracer.decoder.lens import look_through
from tracer.decoder.loss import cross_entropy, token_losses
from tracer.decoder.operations import Copy, Reused
from tracer.decoder.parameters import columns
from tracer.decoder.pencil import Pencil
from tracer.decoder.roles import ENCODER_OUTPUT, MASKED, OUTPUT, Place
from tracer.decoder.sampling import Sampling, sample
from tracer.decoder.sub_layers import feed_forward, normalized, sub_layer
from tracer.decoder.tables import all_gradients
from tracer.decoder.tape import Instead, Record, Tape
from tracer.decoder.value import ENCODER_TOKEN, Value
from tracer.decoder.words import Predicted, predict, projection
from tracer.errors import Located, Problem, TracerError
from tracer.formula.arithmetic import DECIMALS, FLOAT64, ON_DEMAND, SHAPES, Arithmetic
from tracer.frozen import frozen
from tracer.scenario.fields import Names
from tracer.scenario.model import Encoder, Scenario, Tower


@frozen
class Trace:
    """A pass on record: `name` is the scenario's short name."""

    name: str
    scenario: Scenario
    pencil: Pencil
    records: tuple[Record, ...]
    others: Mapping[int, Scenario] = field(default_factory=dict)
    """The other examples of its batch, if it has any, by their numbers."""

    @property
    def tokens(self) -> Names:
        """The tokens, one per position."""
        return self.scenario.tokens

    @cached_property
    def values(self) -> dict[str, Value]:
        """Every value by its address, in the order of computation."""
        return {record.output.address: record.output for record in self.records}

    @cached_property
    def producers(self) -> dict[Value, Record]:
        """The record that each value comes from."""
        return {record.output: record for record in self.records}

    @property
    def masks(self) -> bool:
        """Whether what a token does not see is hidden from it in some layer."""
        return any(record.output.role is MASKED for record in self.records)

    def __getitem__(self, address: str) -> Value:
        """The value at an address; a KeyError where there is none."""
        return self.values[address]


def trace(
    name: str,
    scenario: Scenario,
    *,
    unmasked: bool = False,
    loss: bool = False,
    learning: bool = False,
    others: Mapping[int, Scenario] | None = None,
    lens: bool = False,
    sampling: Sampling | None = None,
    cache: Trace | None = None,
    encoded: Trace | None = None,
    instead: Instead | None = None,
    arithmetic: Arithmetic | None = None,
    located: Located = tuple,
) -> Trace:
    """Run the decoder.

    With `unmasked`, each head's softmax is worked a second time, on the scores without the mask.
    With `loss`, the cross-entropy at all positions is worked; with `learning`, also its gradient
    at everything that is learned. The loss is that of a batch if there are `others`: the same
    decoder with another example before it, by its number. With `lens`, what each layer would say
    is worked. With `sampling`, a word is drawn after the last token. With `cache`, a trace of the
    first tokens, only the tokens behind them are computed; their keys and values come from there.
    With `encoded`, an earlier trace, what an encoder computed there is not computed again. With
    `instead`, single numbers are put in place of computed ones, unless numbers are computed when
    they are asked for.
    The arithmetic is the scenario's, unless another is given. What goes wrong later, where numbers
    are computed when they are asked for, `located` tells with its place in the scenario's file.

    Raises:
        TracerError: the scenario's numbers lead to a division by zero or beyond all bounds, or
            what it pins is not there; it has no numbers.
    """
    chosen = arithmetic or arithmetic_of(scenario)
    if chosen is not SHAPES:
        check_numbers(scenario)
    pencil = Pencil(scenario.rounding, decimal=chosen is DECIMALS)
    others = others or {}
    pinned, said = dict(_pinned(scenario, encoded)), dict[str, str]()
    for number, other in others.items():
        within = Place(example=number).prefix
        pinned |= {within + address: numbers for address, numbers in other.given.items()}
        said |= {within + address: address for address in other.given}
    tape = Tape(chosen, pencil, pinned, instead or {}, located, said=said)
    if pinned and chosen is not SHAPES:
        # What does not fit is told before anything is computed from it.
        trace(
            name,
            scenario,
            unmasked=unmasked,
            loss=loss or learning,
            others=others,
            lens=lens,
            sampling=sampling,
            cache=cache,
            encoded=encoded,
            arithmetic=SHAPES,
        )
    with tape.computing():
        predicted = forward(tape, scenario, cache, encoded, unmasked=unmasked, lens=lens)
        if loss or learning:
            losses = [token_losses(tape, predicted, scenario)]
            for number, other in others.items():
                with tape.within(Place(example=number)):
                    words = forward(tape, other, None, None, unmasked=False, lens=False)
                    losses.append(token_losses(tape, words, other))
            cross_entropy(tape, losses)
        if learning:
            all_gradients(tape, scenario)
        if predicted and sampling:
            shifted = scenario.softmax == "shifted"
            sample(tape, predicted.logits, sampling, shifted=shifted)
    tape.check_pinned()
    return Trace(name, scenario, pencil, tuple(tape.records), others)


def forward(
    tape: Tape,
    scenario: Scenario,
    cache: Trace | None,
    encoded: Trace | None,
    *,
    unmasked: bool,
    lens: bool,
) -> Predicted | None:
    """Record the pass: the encoder, the decoder, and the words where there is a vocabulary."""
    shifted = scenario.softmax == "shifted"
    memory = encode(tape, scenario.encoder, encoded, shifted) if scenario.encoder else None
    sees = Sees(shifted, unmasked, memory)
    leaving = through(tape, scenario, sees, cache)
    output = tape.record(OUTPUT, Copy(), leaving[-1])
    to_words = projection(tape, output, scenario)
    predicted = predict(tape, output, to_words, scenario) if to_words else None
    if lens:
        look_through(tape, leaving[1:-1], to_words, scenario)
    return predicted


def encode(tape: Tape, encoder: Encoder, encoded: Trace | None, shifted: bool) -> Value:
    """E: the encoder's vectors, which are given, were computed before, or are computed here."""
    if encoder.vectors is not None:
        features = encoder.features or numbered("e", 0, columns(encoder.vectors))
        axes = (Axis(ENCODER_TOKEN, encoder.tokens), Axis("encoder feature", features))
        return tape.given(ENCODER_OUTPUT, encoder.vectors, axes)
    if encoded:
        return tape.record(ENCODER_OUTPUT, Reused(), encoded[tape.address(ENCODER_OUTPUT)])
    with tape.at(encoder=True):
        leaving = through(tape, encoder, Sees(shifted), None)
    return tape.record(ENCODER_OUTPUT, Copy(), leaving[-1])


@frozen
class Sees:
    """How the tokens of a tower attend, to each other and to the encoder's vectors."""

    shifted: bool
    unmasked: bool = False
    encoder: Value | None = None


def through(tape: Tape, tower: Tower, sees: Sees, cache: Trace | None) -> list[Value]:
    """Record a tower's pass: what goes in, what leaves each layer, and that normed at the end."""
    x, turn = input_vectors(tape, tower, first=len(cache.tokens) if cache else 0)
    earlier = cache.values if cache else None
    # The tokens of an encoder see each other.
    mask = attention_mask(tape, tower, x) if isinstance(tower, Scenario) else None

    def self_attention(x: Value) -> Value:
        assert layer.attention
        memory = Memory(x, mask, earlier, True, sees.shifted, sees.unmasked, turn)
        return attention(tape, x, memory, layer.attention)

    def cross_attention(x: Value) -> Value:
        assert layer.cross_attention and sees.encoder
        memory = Memory(sees.encoder, None, earlier, False, sees.shifted)
        return attention(tape, x, memory, layer.cross_attention)

    def ffn(x: Value) -> Value:
        assert layer.ffn
        return feed_forward(tape, x, layer.ffn)

    leaving = [x]
    for number, layer in enumerate(tower.layers, start=1):
        if part := layer.attention:
            with tape.at(layer=number, sub_layer="attention"):
                x = sub_layer(tape, x, part, layer.norm_of(part), self_attention)
        if part := layer.cross_attention:
            with tape.at(layer=number, sub_layer="cross_attention"):
                x = sub_layer(tape, x, part, layer.norm_of(part), cross_attention)
        if network := layer.ffn:
            with tape.at(layer=number, sub_layer="ffn"):
                x = sub_layer(tape, x, network, layer.norm_of(network), ffn)
        leaving.append(x)
    if tower.final_norm:
        with tape.at(final=True):
            x = normalized(tape, x, tower.final_norm)
    return [*leaving, x]


def _pinned(scenario: Scenario, encoded: Trace | None) -> dict[str, Any]:
    """What is pinned of what is computed: nothing inside an encoder that was computed before."""
    before = encoded.values if encoded else {}
    return {
        address: numbers
        for address, numbers in scenario.given.items()
        if address not in before or not before[address].place.encoder
    }


def check_numbers(scenario: Scenario) -> None:
    """Raise a TracerError if there is nothing to compute with."""
    if not scenario.has_numbers:
        message = "only the shapes are known; for weights from a seed add random: {seed: 1}"
        raise TracerError(Problem(message, address="dimensions", way=("dimensions",)))


def arithmetic_of(scenario: Scenario) -> Arithmetic:
    """What the scenario computes with."""
    if scenario.on_demand:
        return ON_DEMAND
    match scenario.arithmetic:
        case "decimal":
            return DECIMALS
        case "float64":
            return FLOAT64
        case _:
            assert_never(scenario.arithmetic)
