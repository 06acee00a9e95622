"""The forward pass of a decoder, recorded on the tape.

Vaswani et al. 2017 (attention, FFN, positions, post-norm), Ba et al. 2016 (LayerNorm),
Xiong et al. 2020 (pre-norm), Zhang and Sennrich 2019 (RMSNorm), Shazeer 2020 (gated FFN),
Ainslie et al. 2023 (grouped queries).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from tracer.decoder import roles
from tracer.decoder.attention import attention
from tracer.decoder.attention_inputs import AttentionInputs
from tracer.decoder.axes import Axis, numbered
from tracer.decoder.inputs import input_vectors, only_hides
from tracer.decoder.layer_masks import layer_masks
from tracer.decoder.lazy import Patch
from tracer.decoder.loss import PassOutput, loss, token_losses
from tracer.decoder.operations import Copy, Reused
from tracer.decoder.parameters import columns
from tracer.decoder.part import ComputeAttention, ffn_by_form, parts
from tracer.decoder.pencil import Pencil
from tracer.decoder.sampling import Sampling, sample
from tracer.decoder.softmax import softmax
from tracer.decoder.sub_layers import feed_forward, normalized, sub_layer
from tracer.decoder.tape import Overrides, Record, Tape
from tracer.decoder.value import ENCODER_TOKEN, Value
from tracer.decoder.words import predict, projection
from tracer.errors import Located, Problem, TracerError
from tracer.formula.arithmetic import DECIMALS, FLOAT64, ON_DEMAND, SHAPES, Arithmetic
from tracer.scenario.fields import Names
from tracer.scenario.layers import Attention, Layer
from tracer.scenario.model import Encoder, Scenario, Tower
from tracer.scenario.networks import FFN, SubLayer


@dataclass(frozen=True)
class Trace:
    """The records of a pass; `name` is the scenario's short name."""

    name: str
    scenario: Scenario
    pencil: Pencil
    records: tuple[Record, ...]
    others: Mapping[int, Scenario] = field(default_factory=dict)
    """The other examples of the batch, by number."""

    @property
    def tokens(self) -> Names:
        """The tokens, one per position."""
        return self.scenario.tokens

    @cached_property
    def values(self) -> dict[str, Value]:
        """Every value by its address, in the order of computation."""
        return {record.output.address: record.output for record in self.records}

    @cached_property
    def by_address(self) -> dict[str, Record]:
        """Every record by the address of its value."""
        return {record.output.address: record for record in self.records}

    @cached_property
    def by_place(self) -> dict[roles.Place, list[Record]]:
        """The records of each place; those of a block or a token are with the head's others."""
        found: dict[roles.Place, list[Record]] = {}
        for record in self.records:
            place = record.output.place
            inside = place.block or place.token
            whole = replace(place, block=None, token=None) if inside else place
            found.setdefault(whole, []).append(record)
        return found

    @cached_property
    def producers(self) -> dict[Value, Record]:
        """The record that each value comes from."""
        return {record.output: record for record in self.records}

    @cached_property
    def lines(self) -> dict[Any, Any]:
        """The lines that were written out of this pass; all texts about it share them."""
        return {}

    @cached_property
    def unmasked(self) -> Trace:
        """The same pass, which records each softmax without the mask, too."""
        scenario, options = self.scenario.without_words(), PassOptions(unmasked=True)
        return trace(self.name, scenario, options, earlier=EarlierPasses(unpatched=self))

    @property
    def masks(self) -> bool:
        """Whether any layer has a mask."""
        return any(record.output.role is roles.MASKED for record in self.records)

    def __getitem__(self, address: str) -> Value:
        """The value at an address; a KeyError where there is none."""
        return self.values[address]


@dataclass(frozen=True)
class PassOptions:
    """What a pass records besides the forward pass, and what it computes with.

    `unmasked`: each softmax also without the mask. `loss`: the loss at all positions.
    `gradients`: the loss and its gradients, or those that follow from given ones. `lens`: each
    layer's output as words. `standardized`: the numbers of each norm before γ and β. `sampling`: a
    word drawn after the last token. `arithmetic`: the scenario's if None. `overrides` replace
    computed numbers, except on demand. `located` finds a later problem's place in the file.
    `routing`: the networks that tokens go to, where their logits do not decide. `patches`: values
    of another pass, by address, that replace those of this pass.
    """

    unmasked: bool = False
    loss: bool = False
    gradients: bool = False
    lens: bool = False
    standardized: bool = False
    sampling: Sampling | None = None
    arithmetic: Arithmetic | None = None
    overrides: Overrides | None = None
    located: Located = tuple
    routing: roles.Routing | None = None
    patches: Mapping[str, Patch] | None = None

    def records_loss(self, scenario: Scenario) -> bool:
        """Return whether a pass has a loss; gradients of given ones have none."""
        return not scenario.upstream if self.gradients else self.loss

    @staticmethod
    def recording(addresses: Sequence[str]) -> PassOptions:
        """The options with which a pass records these addresses."""
        begins = {address.partition(".")[0] for address in addresses}
        gradients = bool(begins & {"gradient", "update"})
        return PassOptions(
            unmasked=any(".unmasked." in address for address in addresses),
            loss=gradients or roles.LOSS.name in begins,
            gradients=gradients,
            lens=any(".lens." in address for address in addresses),
            # The second is TransformerLens's name for the same.
            standardized=any(a.endswith((".standardized", ".hook_normalized")) for a in addresses),
        )


@dataclass(frozen=True)
class EarlierPasses:
    """Passes to reuse: `cache` for keys and values of first tokens, `encoded` for the encoder.

    `unpatched` is the same pass without patches, with fewer given values, or recording less.
    """

    cache: Trace | None = None
    encoded: Trace | None = None
    unpatched: Trace | None = None


FORWARD, NOTHING_EARLIER = PassOptions(), EarlierPasses()


def trace(
    name: str,
    scenario: Scenario,
    options: PassOptions = FORWARD,
    *,
    others: Mapping[int, Scenario] | None = None,
    earlier: EarlierPasses = NOTHING_EARLIER,
) -> Trace:
    """Run the decoder on a scenario and record every operation.

    `others` are the other examples of a batch, by number: the same decoder with other tokens,
    over which the loss is a mean.

    Raises:
        TracerError: a division by zero or a number out of range; a given value that does not
            exist; a scenario without numbers.
    """
    arithmetic = options.arithmetic or arithmetic_of(scenario)
    if arithmetic is not SHAPES:
        check_numbers(scenario)
    pencil = Pencil(scenario.rounding, decimal=arithmetic is DECIMALS)
    others, unpatched = others or {}, earlier.unpatched
    pinned, address_in_file = dict(_pinned(scenario, earlier.encoded)), dict[str, str]()
    for number, other in others.items():
        within = roles.Place(example=number).prefix
        pinned |= {within + address: numbers for address, numbers in other.given.items()}
        address_in_file |= {within + address: address for address in other.given}
    if pinned and arithmetic is not SHAPES:
        # Report pins that do not fit before anything is computed from them.
        has_loss = options.records_loss(scenario)
        shapes = replace(
            options,
            loss=has_loss,
            gradients=False,
            arithmetic=SHAPES,
            overrides=None,
            located=tuple,
            patches=None,
        )
        trace(name, scenario, shapes, others=others, earlier=replace(earlier, unpatched=None))
    tape = Tape(
        arithmetic,
        pencil,
        pinned,
        options.overrides or {},
        options.located,
        routing=options.routing or {},
        address_in_file=address_in_file,
        patches=options.patches or {},
        unpatched=unpatched.by_address if unpatched else {},
        given_anew=_given_anew(pinned, unpatched.scenario) if unpatched else (),
        standardizes=options.standardized,
    )
    with tape.computing():
        found = forward(tape, scenario, options, earlier)
        if options.records_loss(scenario):
            losses = [token_losses(tape, found, scenario)]
            for number, other in others.items():
                with tape.within(roles.Place(example=number)):
                    losses.append(token_losses(tape, forward(tape, other), other))
            loss(tape, losses, scenario)
        if options.gradients:
            from tracer.decoder.tables import all_gradients

            all_gradients(tape, scenario)
        if found.predicted and options.sampling:
            shifted = scenario.softmax == "shifted"
            sample(
                *(tape, found.predicted.logits, options.sampling),
                shifted=shifted,
                excluded=scenario.excluded,
            )
    tape.check_pinned()
    return Trace(name, scenario, pencil, tuple(tape.records), others)


def forward(
    tape: Tape,
    scenario: Scenario,
    options: PassOptions = FORWARD,
    earlier: EarlierPasses = NOTHING_EARLIER,
) -> PassOutput:
    """The output y (n, d_model), and with a vocabulary logits and probabilities.

    n tokens → X (n, d_model) → each layer → y (n, d_model) → y W_U. An encoder runs first, if
    there is one (Vaswani et al. 2017, figure 1).
    """
    shifted = scenario.softmax == "shifted"
    encoder = scenario.encoder
    memory = encode(tape, encoder, earlier.encoded, shifted) if encoder else None
    others = Axis(ENCODER_TOKEN, encoder.tokens if encoder else ())
    leaving, last = run_layers(
        tape, scenario, AttentionOptions(shifted, options.unmasked, memory, others), earlier.cache
    )
    output = tape.record(roles.OUTPUT, Copy(), last)
    to_words = projection(tape, output, scenario)
    predicted = predict(tape, output, to_words, scenario) if to_words else None
    if options.lens:
        from tracer.decoder.lens import logit_lens

        logit_lens(tape, leaving, to_words, scenario)
    return PassOutput(output, predicted)


def encode(tape: Tape, encoder: Encoder, encoded: Trace | None, shifted: bool) -> Value | None:
    """E (n_encoder, d_encoder), the encoder's vectors: given, reused, or computed from tokens.

    None if typed keys and values take their place.
    """
    if encoder.vectors is not None:
        features = encoder.features or numbered("e", 0, columns(encoder.vectors))
        axes = (Axis(ENCODER_TOKEN, encoder.tokens), Axis("encoder feature", features))
        return tape.given(roles.ENCODER_OUTPUT, encoder.vectors, axes)
    if not encoder.is_computed:
        return None
    if encoded:
        return tape.record(
            roles.ENCODER_OUTPUT, Reused(), encoded[tape.address(roles.ENCODER_OUTPUT)]
        )
    with tape.at(encoder=True):
        _, last = run_layers(tape, encoder, AttentionOptions(shifted), None)
    return tape.record(roles.ENCODER_OUTPUT, Copy(), last)


NO_TOKENS = Axis(ENCODER_TOKEN, ())


@dataclass(frozen=True)
class AttentionOptions:
    """How the tokens of a tower attend to each other and to the encoder's vectors."""

    shifted: bool
    unmasked: bool = False
    encoder: Value | None = None
    encoder_tokens: Axis = NO_TOKENS


def run_layers(
    tape: Tape, tower: Tower, options: AttentionOptions, cache: Trace | None
) -> tuple[list[Value], Value]:
    """The output of each layer, and the last one normalized.

    Each is (n, d_model), where n counts the tokens that are not in the cache. A layer is
    x + Attention(x), then x + CrossAttention(x, E), then x + FFN(x), each with its norm, unless a
    part of the model has another way. The first sub-layer computes x from typed queries, keys and
    values, if there are no embeddings.
    """
    first = len(cache.tokens) if cache else 0
    x, of_tower = input_vectors(tape, tower, first=first)
    earlier = cache.values if cache else None
    queries = x if isinstance(x, Axis) else x.axes[0]
    masks = layer_masks(tape, tower, queries)

    def self_attention(tape: Tape, x: Value | Axis, part: Attention) -> Value:
        vectors, mask = None if isinstance(x, Axis) else x, masks.of(part) if masks else None
        inputs = AttentionInputs(
            *(vectors, queries, mask, earlier, True, options.shifted, options.unmasked),
            *(only_hides(mask), of_tower, first),
        )
        return attention(tape, x, inputs, part)

    def cross_attention(tape: Tape, x: Value | Axis, part: Attention) -> Value:
        inputs = AttentionInputs(
            options.encoder, options.encoder_tokens, None, earlier, False, options.shifted
        )
        return attention(tape, x, inputs, part)

    def attended(
        x: Value | Axis,
        part: Attention,
        layer: Layer,
        compute: Callable[[Tape, Value | Axis, Attention], Value],
    ) -> Value:
        norm, after = layer.norm_of(part), layer.norm_after_of(part)
        if isinstance(x, Value):
            return sub_layer(tape, x, part, norm, after, compute)
        change = compute(tape, x, part)  # there are no vectors to add
        if after:
            return normalized(tape, change, after, roles.NORM_AFTER)
        return normalized(tape, change, norm) if norm else change

    def ffn(tape: Tape, x: Value, part: SubLayer) -> Value:
        if isinstance(part, FFN):
            return feed_forward(tape, x, part)
        usual = partial(softmax, tape, shifted=options.shifted)
        return ffn_by_form()[type(part)](tape, x, part, usual)

    leaving: list[Value] = []
    for number, layer in enumerate(tower.layers, start=1):
        with tape.at(layer=number):
            own = layer_of_part(tape, x, layer, self_attention) if isinstance(x, Value) else None
        if own:
            x = own
            leaving.append(x)
            continue
        if part := layer.attention:
            with tape.at(layer=number, sub_layer="attention"):
                x = attended(x, part, layer, self_attention)
        if part := layer.cross_attention:
            with tape.at(layer=number, sub_layer="cross_attention"):
                x = attended(x, part, layer, cross_attention)
        if network := layer.ffn:
            assert isinstance(x, Value)
            with tape.at(layer=number, sub_layer="ffn"):
                norm, after = layer.norm_of(network), layer.norm_after_of(network)
                x = sub_layer(tape, x, network, norm, after, ffn)
        assert isinstance(x, Value)
        leaving.append(x)
    assert isinstance(x, Value)
    if tower.final_norm:
        with tape.at(tower_norm="final_norm"):
            return leaving, normalized(tape, x, tower.final_norm)
    return leaving, x


def layer_of_part(
    tape: Tape, x: Value, layer: Layer, self_attention: ComputeAttention
) -> Value | None:
    """A layer as a part of the model computes it, if one has its own way: x (n, d_model)."""
    ways = (part.layer(tape, x, layer, self_attention) for part in parts() if part.layer)
    return next(filter(None, ways), None)


def _pinned(scenario: Scenario, encoded: Trace | None) -> dict[str, Any]:
    """The pinned values, without those inside an encoder that was computed before."""
    before = encoded.values if encoded else {}
    return {
        address: numbers
        for address, numbers in scenario.given.items()
        if address not in before or not before[address].place.encoder
    }


def _given_anew(pinned: Mapping[str, Any], before: Scenario) -> frozenset[str]:
    """The addresses whose given numbers an earlier pass does not have."""
    return frozenset(a for a, numbers in pinned.items() if before.given.get(a) is not numbers)


def check_numbers(scenario: Scenario) -> None:
    """Raise a TracerError for a scenario without numbers."""
    if not scenario.has_numbers:
        message = "the scenario has shapes but no numbers; for random weights add random: {seed: 1}"
        raise TracerError(Problem(message, address="dimensions", yaml_path=("dimensions",)))


def check_writes(scenario: Scenario) -> None:
    """Raise a TracerError for a scenario that cannot write a text word by word."""
    check_numbers(scenario)
    if scenario.fills_in:
        message = "a model that predicts masked words does not continue a text"
        raise TracerError(Problem(message, address="objective", yaml_path=("objective",)))


def arithmetic_of(scenario: Scenario) -> Arithmetic:
    """The arithmetic of a scenario."""
    if scenario.on_demand:
        return ON_DEMAND
    return DECIMALS if scenario.arithmetic == "decimal" else FLOAT64
