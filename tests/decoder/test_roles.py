"""Roles and places: addresses, what the tape refuses, and that each role is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from decimal import Decimal

import pytest

from tests.helpers.every_part import (
    ADAPTED,
    POSITIONS,
    WITH_SINKS,
    WITH_SWIGLU,
    WITH_TYPES,
    every_part,
)
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.traces import bundled, traced
from tests.parts.convolution.test_decoder import drawn as convolved
from tests.parts.head_norm.test_decoder import drawn as normalized
from tests.parts.output_gate.test_decoder import drawn as gated
from tests.parts.recurrent.test_decoder import SMALL, drawn
from tests.parts.relative_bias.test_decoder import BIASED
from tracer.decoder import roles, token_rows
from tracer.decoder.attribution import attribute, check_entry
from tracer.decoder.axes import Axis
from tracer.decoder.forward import EarlierPasses, PassOptions, Trace, trace
from tracer.decoder.operations import Given, Pinned
from tracer.decoder.part import all_roles, hidden_units, parts
from tracer.decoder.pencil import Pencil
from tracer.decoder.roles import Place, Role
from tracer.decoder.sampling import Sampling
from tracer.decoder.score_attribution import attribute_score, check_score
from tracer.decoder.tape import Tape
from tracer.decoder.training import TrainingOptions, train
from tracer.decoder.value import Entry
from tracer.errors import TracerError
from tracer.formula.arithmetic import DECIMALS
from tracer.lesson.steps.declared import KIND_OF, kind_of
from tracer.lesson.texts.selection import steps
from tracer.parts.quantized.decoder import QUANTIZED as ROLES_OF_QUANTIZED
from tracer.scenario.loading import load, parse
from tracer.scenario.model import Scenario
from tracer.scenario.optimizer import Optimizer
from tracer.scenario.rounding import Rounding

NORMS = {name: norm for name, norm in vars(roles).items() if isinstance(norm, roles.NormRoles)}
NAMES = {
    **{role: f"{name}.{end}" for name, norm in NORMS.items() for end, role in vars(norm).items()},
    **{role: name for name, role in vars(roles).items() if isinstance(role, Role)},
}
NAMES |= {role: role.name for part in parts() for own in part.roles.values() for role in own}


def tape() -> Tape:
    return Tape(DECIMALS, Pencil(Rounding()))


# --- addresses -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "role", "address"),
    [
        (Place(), roles.INPUT, "input"),
        (Place(), roles.DIV_TERM, "position.div_term"),
        (Place(), roles.W_U, "unembedding.W_U"),
        (Place(), roles.WORD_EXP, "probabilities.exp"),
        (Place(layer=1, sub_layer="attention"), roles.W_O, "layer1.attention.W_O"),
        (
            Place(layer=2, sub_layer="attention", head=1),
            roles.QUERY,
            "layer2.attention.head1.query",
        ),
        (
            Place(layer=3, sub_layer="cross_attention", head=12),
            roles.UNMASKED_EXP_SUM,
            "layer3.cross_attention.head12.unmasked.exp_sum",
        ),
        (Place(layer=12, sub_layer="ffn"), roles.NORM, "layer12.ffn.norm"),
        (Place(layer=12, sub_layer="ffn"), roles.MEAN, "layer12.ffn.norm.mean"),
        (Place(layer=4), roles.OUTPUT, "layer4.output"),
    ],
)
def test_an_address_is_a_role_at_a_place(place: Place, role: Role, address: str) -> None:
    assert place.address(role) == address


def test_the_tape_knows_its_place() -> None:
    used = tape()
    with used.at(layer=1, sub_layer="attention"):
        with used.at(head=2):
            assert used.address(roles.QUERY) == "layer1.attention.head2.query"
        assert used.address(roles.CONCAT) == "layer1.attention.concat"
        with pytest.raises(ZeroDivisionError), used.at(head=3):
            raise ZeroDivisionError
        assert used.address(roles.CONCAT) == "layer1.attention.concat"
    assert used.address(roles.OUTPUT) == "output"


def test_a_role_is_its_own_whatever_it_is_called() -> None:
    assert roles.HEAD_OUTPUT.name == roles.OUTPUT.name
    assert roles.HEAD_OUTPUT != roles.OUTPUT
    assert Role("query") != roles.QUERY


# --- declared, and used --------------------------------------------------------------------------


def test_a_role_that_is_not_declared_is_refused_by_its_name() -> None:
    used = tape()
    with used.computing():
        used.given(Role("stray"), [Decimal(1)], (Axis("token", ("a",)),))
    with pytest.raises(KeyError, match="stray"):
        steps(tuple(used.records))


def test_all_that_is_declared_is_known() -> None:
    assert set(all_roles()) == set(NAMES)
    assert len(set(all_roles())) == len(all_roles())


EVERYTHING = """
title: All that a plain decoder may have
tokens: [a, b]
token_ids: [7, 8]
embeddings: {a: [1, 0.5], b: [-0.5, 2], " b": [0, 1]}
positions: {sinusoidal: {}}
encoder: {tokens: [x], vectors: [[1, 2, 3]]}
layers:
  - attention:
      heads:
        - {W_Q: [[1], [2]], W_K: [[1], [0]], W_V: [[1], [1]], b_Q: [1], b_K: [2], b_V: [3]}
      W_O: [[1, 1]]
      b_O: [0.5, 0.25]
      norm: {epsilon: 0.5, gain: [1, 2], shift: [0, 1]}
    cross_attention:
      heads: [{W_Q: [[1], [1]], W_K: [[1], [0], [1]], W_V: [[1, 0], [0, 1], [1, 1]]}]
    ffn: {W_1: [[1, 2], [0, 1]], b_1: [1, 1], W_2: [[1, 0], [0, 1]], b_2: [0, 1]}
vocabulary: [a, b, c]
unembedding: {W_U: [[1, 0, 2], [0, 1, 1]], b_U: [0, 0, 1]}
"""
MERGED = """text: "ab b"
merges: [[" ", b]]"""
LEARNED_MERGES = """text: a b
corpus: {a: 1, ab: 2}
merges: 1"""
WIDER = (
    "{W_Q: [[1], [2]], W_K: [[1], [0]], W_V: [[1], [1]], b_Q: [1], b_K: [2], b_V: [3]}",
    "{W_Q: identity, W_K: identity, W_V: [[1], [1]]}",
)
"""For pairs of columns, which positions turn."""
OUTPUT = "      W_O: [[1, 1]]\n      b_O: [0.5, 0.25]\n"
TWO_HEADS = """\
        - {W_Q: [[0], [1]], W_K: [[1], [3]], W_V: [[1], [2]]}
      key_norm: {kind: rms_norm, over: heads}
"""
TABLE = "{table: [[0, 1], [1, 0]]}"
EXAMPLES = "training: [{tokens: [a, b], targets: [b, c]}, {tokens: [b], targets: [a]}]\n"
SAMPLING = Sampling(Decimal("0.5"), Decimal(2), top_k=2)
RECORDED = PassOptions(unmasked=True, loss=True, sampling=SAMPLING)


ROTATED = """
tokens: [a, b]
embeddings: {a: [1, 0.5, 0, 2], b: [-0.5, 2, 1, 1]}
positions: {rotary: {base: 10, scaling: SCALING}}
layers: [attention: {heads: [{W_Q: identity, W_K: identity, W_V: identity}]}]
"""
SCALINGS = (
    "{kind: yarn, factor: 4, original_max_position_embeddings: 32, beta_fast: 2, truncate: false}",
    "{kind: dynamic, factor: 2, original_max_position_embeddings: 1}",
)


DECAYS = {"clip": "0.01", "weight_decay": "0.1"}
OPTIMIZERS = tuple(
    Optimizer.model_validate({**DECAYS, **own})
    for own in ({"kind": "sgd", "momentum": "0.9"}, {"kind": "adamw"})
)

QUANTIZED = """\
tokens: [a, b]
embeddings: {a: [1, 0.5], b: [-0.5, 2]}
layers:
  - attention:
      heads: [{W_Q: WEIGHTS, W_K: WEIGHTS, W_V: WEIGHTS}]
      W_O: WEIGHTS
    ffn: {W_1: WEIGHTS, W_3: WEIGHTS, W_2: WEIGHTS}
vocabulary: [a, b]
unembedding: {W_U: WEIGHTS}
targets: [b, a]
"""
WEIGHTS = "{quantized: {KIND}, of: [[1, 0.2], [-0.4, 0.7]]}"
WITH_LORA = f"{{frozen: {WEIGHTS}, A: [[1], [0.5]], B: [[0.2, -0.3]], alpha: 1}}"
QUANTIZED_KINDS = ("bits: 4", "bits: 4, zero_point: true", "kind: mxfp4")
LEARNS = SMALL.replace("tokens: [a, b]", "tokens: [a, b, a, b]") + (
    "vocabulary: [a, b]\nunembedding: tied\ntargets: [b, a, b, a]\n"
)
OF_PARTS = (
    *(
        QUANTIZED.replace("WEIGHTS", weights.replace("KIND", kind))
        for kind in QUANTIZED_KINDS
        for weights in (WEIGHTS, WITH_LORA)
    ),
    *(BIASED, WITH_SWIGLU, WITH_TYPES),
    *(to_yaml(drawn(seed)) for seed in (6, 7)),
    to_yaml(gated(0)),
    *(to_yaml(convolved(seed)) for seed in (0, 3)),
    *(to_yaml(normalized(seed)) for seed in (0, 1)),
    LEARNS.replace("beta: 0.5", "beta: {W_B: [[1], [0.5]], b_B: [0.5]}\n    chunk: 2"),
)
NOT_TRAINED = (
    *(to_yaml(drawn(seed)) for seed in range(6)),
    LEARNS.replace("delta", "linear").replace("beta: 0.5", "chunk: 2"),
    LEARNS.replace("delta", "linear").replace(
        "beta", "feature_map: elu_plus_1\n    normalizer: true #"
    ),
)


def passes() -> Iterator[Trace]:
    """Bundled scenarios and a small one, with all that can be asked for."""
    for name in ("alex", "science", "pizza", "comics"):
        yield bundled(name)
    pizza = load("pizza").scenario
    yield trace("pizza", pizza, RECORDED)
    parts = parse(every_part(), "f.yaml")
    yield trace("f", parts, RECORDED)
    scenario = parse(EVERYTHING, "f.yaml")
    whole = trace("f", scenario, RECORDED)
    yield whole
    yield traced(EVERYTHING.replace("tokens: [a, b]\ntoken_ids: [7, 8]", MERGED))
    yield traced(EVERYTHING.replace("tokens: [a, b]\ntoken_ids: [7, 8]", LEARNED_MERGES))
    more = scenario.reading(("a", "b", "a"))
    second = trace("f", more, earlier=EarlierPasses(whole))
    yield second
    yield trace("f", scenario.reading(("a", "b", "a", "b")), earlier=EarlierPasses(second))
    normed = parse(EVERYTHING.replace("b_O: [0.5, 0.25]", "key_norm: {kind: rms_norm}"), "f.yaml")
    yield trace("f", normed.reading(("a", "b", "a")), earlier=EarlierPasses(trace("f", normed)))
    spanned = parse(EVERYTHING.replace(OUTPUT, TWO_HEADS), "f.yaml")
    yield trace("f", spanned.reading(("a", "b", "a")), earlier=EarlierPasses(trace("f", spanned)))
    turned = parse(EVERYTHING.replace("sinusoidal", "rotary").replace(*WIDER), "f.yaml")
    yield trace("f", turned.reading(("a", "b", "a")), earlier=EarlierPasses(trace("f", turned)))
    for scaling in SCALINGS:
        yield traced(ROTATED.replace("SCALING", scaling))
    for latent in map(_learning, LATENTS):
        yield trace("f", latent.reading(("a", "b", "a")), earlier=EarlierPasses(trace("f", latent)))
    learns = parse(EVERYTHING.replace("{sinusoidal: {}}", TABLE) + EXAMPLES, "f.yaml")
    yield from train("f", parts, TrainingOptions(Optimizer())).steps
    far = parse(every_part().replace(POSITIONS, "positions: {alibi: true}"), "f.yaml")
    yield from train("f", far, TrainingOptions(Optimizer())).steps
    sinks = parse(WITH_SINKS, "f.yaml")
    yield trace("f", sinks, RECORDED)
    adapted = parse(ADAPTED, "f.yaml")
    endings = (", softcap: 2", DIVIDED, *TRANSFORMS)
    ends = [_learning(LEARNING[0], ending) for ending in endings]
    for scenario in (learns, adapted, *map(_learning, LEARNING), *ends):
        for optimizer in OPTIMIZERS:
            yield from train("f", scenario, TrainingOptions(optimizer, 2)).steps
    for text in OF_PARTS:
        scenario = parse(text, "f.yaml")
        yield trace("f", scenario, RECORDED)
        for optimizer in OPTIMIZERS:
            yield from train("f", scenario, TrainingOptions(optimizer, 2)).steps
    for text in NOT_TRAINED:
        yield trace("f", parse(text, "f.yaml"), RECORDED)
    own = [parse(to_yaml(normalized(seed)), "f.yaml") for seed in (0, 1)]
    layers = (*LEARNING, LEARNING[-1].replace("rms_norm", "layer_norm"))
    for scenario in (*map(_learning, layers), *ends, *own):
        yield trace("f", scenario, PassOptions(standardized=True))
    filtered = parse(to_yaml(convolved(0)), "f.yaml")
    for first in (1, 2):
        earlier = EarlierPasses(trace("f", filtered.reading(filtered.tokens[:first])))
        yield trace("f", filtered, earlier=earlier)
    for loss in (
        *("kind: binary", "kind: squared, target: [1, 2]", "smoothing: 0.1"),
        "kind: squared, target: [1, 2], factor: 0.5",
    ):
        scenario = _learning(LEARNING[0], loss=f"loss: {{{loss}}}\n")
        yield from train("f", scenario, TrainingOptions(Optimizer())).steps


def attributions() -> Iterator[Trace]:
    """Attributions of a logit, of two, and of the output; also with each vector given."""
    whole = [parse(text, "f.yaml") for text in (EVERYTHING, every_part(), WITH_TYPES)]
    of_logits, of_scores = set[Read](), set[Read]()
    ends = (_learning(LINEAR, ending) for ending in (DIVIDED, *TRANSFORMS))
    for scenario in (*whole, *map(_learning, (*LEARNING, LINEAR, *HEADS)), *ends):
        for found in plain_and_pinned(scenario, of_logits):
            yield from _attributions(found)
    layers = [each for each in (*LEARNING, LINEAR, *BEFORE_ATTENTION) if "#" not in each]
    behind = (_learning(f"{layer}}}, {{{LEARNING[1]}") for layer in layers)
    encoded = parse(EVERYTHING.replace(*ENCODED), "f.yaml")
    for scenario in (*whole, *behind, encoded, *map(_learning, LATENTS)):
        for found in plain_and_pinned(scenario, of_scores):
            yield from _scores(found)


Read = tuple[Role, str | None, frozenset[Role]]
"""The role of a value, its kind of sub-layer, and the roles of all values there."""


def plain_and_pinned(scenario: Scenario, before: set[Read]) -> Iterator[Trace]:
    """Its pass, and one for each vector that is given, in sub-layers not met before."""
    plain = trace("f", scenario)
    yield plain
    for value in plain.values.values():
        place = value.place.sub_layer
        beside = (each.role for each in plain.values.values() if each.place.sub_layer == place)
        read = value.role, place, frozenset(beside)
        if read not in before and isinstance(plain.producers[value].operation, token_rows.LINEAR):
            before.add(read)
            rows = tuple(map(tuple, value.numbers))
            yield trace("f", scenario.model_copy(update={"given": {value.address: rows}}))


def _scores(found: Trace) -> Iterator[Trace]:
    """The attribution of a score of each head."""
    for value in found.values.values():
        if value.role is roles.SCORES:
            with suppress(TracerError):
                check_score(found, Entry(value, (0, 0)))
                yield attribute_score(found, Entry(value, (0, 0))).trace


def _attributions(found: Trace) -> Iterator[Trace]:
    names = [name for name in ("logits", "logits.uncapped", "output") if name in found.values]
    for entry in (Entry(found[name], (1, 0)) for name in names):
        with suppress(TracerError):
            check_entry(found, entry)
            yield attribute(found, entry).trace
            yield attribute(found, entry, 1, (roles.HEAD_OUTPUT, *hidden_units())).trace


HEAD = "{W_Q: [[1], [0.5]], W_K: [[0.3], [1]], W_V: [[1], [0.2]]}"
WIDE = "{W_Q: [[1, 0.5], [0.5, 2]], W_K: [[0.3, 1], [1, 0.4]], W_V: [[1], [0.2]]}"
LEARNED = "epsilon: 0.1, gain: [1, 2], shift: [0.5, 1]"
OF_ONE = "epsilon: 0.1, gain: [2], shift: [0.5]"
ROOT = ", ".join(f"{of}_norm: {{kind: rms_norm, {LEARNED}}}" for of in ("query", "key"))
CENTERED = ", ".join(f"{of}_norm: {{{LEARNED}}}" for of in ("query", "key"))
EXPERT = "{W_1: [[1], [0.5]], W_3: [[0.3], [1]], W_2: [[1, 0.3]]}"
KINDS = ("kind: layer_norm", "kind: rms_norm")
OF_LATENTS = "{W_Q: [[1], [0.4]], W_QR: [[1, 0], [0.3, 1]], W_K: [[1], [0.2]], W_V: [[1], [0.2]]}"
LATENTS = tuple(
    "attention: {latent: {W_DKV: [[1, 0.2], [0.5, 1]], W_DQ: [[0.4, 1], [1, 0]], "
    f"W_KR: [[1, 0.5], [0.3, 1]]{norms}}}, heads: [{OF_LATENTS}, {OF_LATENTS}]{own}}}}}]\n"
    "positions: {rotary: {}}\n#"
    for norms, own in (
        ("", ""),
        ("", ", rotary: none"),
        *(
            (f", norm: {{{kind}, {LEARNED}}}, query_norm: {{{kind}, {LEARNED}}}", "")
            for kind in KINDS
        ),
    )
)
"""Latent attention with all its parts, without norms and with each kind, and not rotated."""

LEARNING = (
    # Keys and values of one head, read by two; scores that are not divided.
    f"attention: {{heads: [{HEAD}, {{W_Q: [[0.2], [1]], shares: 1}}], scale: none}}",
    f"attention: {{heads: [{HEAD}, {{W_Q: [[0.2], [1]], shares: 1}}]}}",
    f"ffn: {{W_1: [[1], [0.5]], W_2: [[1, 0.3]], norm_after: {{kind: rms_norm, {LEARNED}}}}}",
    f"ffn: {{W_1: [[1], [0.5]], W_2: [[1, 0.3]], norm_after: {{{LEARNED}}}}}",
    f"attention: {{heads: [{HEAD.replace('{', '{sink: 0.5, ')}, {{W_Q: [[1], [1]], shares: 1}}]}}",
    # Norms of queries and keys, of each kind.
    f"attention: {{heads: [{WIDE}, {WIDE}], {ROOT}}}",
    f"attention: {{heads: [{WIDE}, {WIDE}], {CENTERED}}}",
    # Experts that read the same vectors, beside one for all tokens.
    f"ffn: {{router: [[1, -1], [0, 1]], router_bias: [0, 1], experts: [{EXPERT}, {EXPERT}], "
    f"shared: {EXPERT}, "
    "shared_gate: [[1], [0.5]]}",
    f"ffn: {{router: [[1, -1], [0, 1]], top: 1, normalize: false, experts: [{EXPERT}, {EXPERT}]}}",
    f"ffn: {{router: [[1, -1], [0, 1]], experts: [{EXPERT}, {EXPERT}]}}}}]\nsoftmax: shifted\n#",
    *LATENTS,
    "ffn: {W_1: [[1], [0.5]], b_1: [0.1], W_3: [[0.5], [1]], b_3: [0.2], W_2: [[1, 0.3]],\n"
    "      activates: output, b_2: [0.3, 0.1],\n"
    "      norm: {kind: rms_norm, placement: pre, gain: [1, 2], shift: [0, 1]}}",
)
"""Layers in which a value acts on the loss in several ways, or is worked out in another way."""

ENCODED = (
    "vectors: [[1, 2, 3]]",
    "embeddings: {x: [1, 2, 3]}, positions: {sinusoidal: {}}, layers: []",
)
WITH_GATE = f"{HEAD[:-1]}, W_G: [[1], [0.5]]}}"
HEADS = (
    f"attention: {{heads: [{WITH_GATE}, {WITH_GATE}]}}",
    f"attention: {{heads: [{WITH_GATE}, {HEAD}], W_O: [[1, 0.5], [0.2, 1]]}}",
    *(
        f"attention: {{heads: [{HEAD}, {HEAD}], output_norm: {{{kind}, {OF_ONE}}}}}"
        for kind in KINDS
    ),
    f"attention: {{kind: linear, heads: [{HEAD}, {HEAD}]}}",
    f"attention: {{kind: linear, heads: [{HEAD}, {HEAD}], W_O: [[1, 0.5], [0.2, 1]]}}",
)
"""Heads whose outputs are gated or normalized, or come from a state."""

BEFORE_ATTENTION = (
    *HEADS,
    *(f"{LEARNING[1][:-1]}, norm: {{{kind}, placement: pre, {LEARNED}}}}}" for kind in KINDS),
    *(f"{each[:-1]}, residual_scale: 2}}" for each in LEARNING[2:4]),
    "ffn: {W_1: [[1], [0.5]], W_2: [[1, 0.3]], b_2: [0.5, 1], residual_scale: 2}",
    f"ffn: {{router: [[1, -1], [0, 1]], experts: [{EXPERT}, {EXPERT}], residual_scale: 2, "
    f"shared: {EXPERT}, shared_gate: [[1], [0.5]]}}",
    f"attention: {{heads: [{HEAD}], W_O: [[1, 1]], b_O: [0.5, 1]}}",
    f"{LEARNING[1][:-1]}, W_O: {{frozen: [[1, 0.5], [0.2, 1]], A: [[1], [2]], B: [[1, 0.3]], "
    "alpha: 1}}",
)
"""Sub-layers whose results an attention reads, and its own norm."""

DIVIDED = ", scale: 8"
OF_TRANSFORM = ", transform: {W_M: [[1, 0.5], [-0.5, 1]], b_M: [0.1, -0.2], activation: "
TRANSFORMS = (
    *(f"{OF_TRANSFORM}gelu, norm: {{{kind}, {LEARNED}}}}}" for kind in KINDS),
    f"{OF_TRANSFORM}relu}}",
)
LINEAR = "ffn: {W_1: [[1], [0.5]], W_2: [[1, 0.3]], activation: none, activates: output}"


def _learning(layer: str, end: str = "", loss: str = "") -> Scenario:
    """A batch of two examples, in which each parameter is used; with a target, one text."""
    batch = "training: [{tokens: [a, b], targets: [b, a]}, {tokens: [b], targets: [a]}]\n"
    yaml = f"""
title: T
tokens: [a, b]
embeddings: {{a: [1, 0.5], b: [-0.5, 2]}}
layers: [{{{layer}}}]
vocabulary: [a, b]
unembedding: {{W_U: [[1, 0.3], [0.2, 1]], b_U: [0, 0.5]{end}}}
{loss}{batch * ("target" not in loss)}"""
    return parse(yaml, "f.yaml")


@pytest.fixture(scope="module")
def recorded() -> list[Trace]:
    return [*passes(), *attributions()]


def test_every_declared_role_is_recorded(recorded: list[Trace]) -> None:
    used = {record.output.role for ran in recorded for record in ran.records}
    assert [NAMES[role] for role in all_roles() if role not in used] == []


def test_what_training_derives_is_explained(recorded: list[Trace]) -> None:
    """Its roles are not declared: they belong to the steps of the values that they derive from."""
    used = {record.output.role for ran in recorded for record in ran.records}
    assert {kind_of(role).gradient for role in used if role.of} == {None}
    # Quantized weights have no rows of tokens, from which a score could be computed.
    quantized = ROLES_OF_QUANTIZED.values()
    without = {(own.weights, row) for own in quantized for row in ("key_row", "query_row")}
    texts = {(role.of, role.derivation) for role in KIND_OF if role.of} - without
    assert names_of(texts - {(role.of, role.derivation) for role in used}) == []


def names_of(derived: Iterable[tuple[Role | None, str | None]]) -> list[str]:
    return sorted(f"{NAMES[of]} {derivation}" for of, derivation in derived if of)


def test_a_gradient_that_no_step_explains_stops_the_program(recorded: list[Trace]) -> None:
    trained = next(ran for ran in recorded if any(r.output.role.of for r in ran.records))
    assert steps(trained.records)
    tape = Tape(DECIMALS, Pencil(Rounding()))
    with tape.computing():
        tape.given(roles.derived(roles.PREDICTION, "gradient"), (1,), (Axis("word", ("a",)),))
    with pytest.raises(KeyError):
        steps((*trained.records, *tape.records))


def test_an_address_is_recorded_once(recorded: list[Trace]) -> None:
    for ran in recorded:
        counts = Counter(record.output.address for record in ran.records)
        assert [address for address, times in counts.items() if times > 1] == []


def test_parameters_and_words_are_what_they_are_declared(recorded: list[Trace]) -> None:
    for ran in recorded:
        for record in ran.records:
            value = record.output
            texts = {isinstance(entry, str) for entry in value.numbers.flat}
            assert texts <= {value.role.words}, value.address
            # A parameter has no prefix but its place's, and is given.
            assert not value.address.startswith("weights.")
            if value.role.parameter:
                assert isinstance(record.operation, Given | Pinned), value.address
                assert record.inputs == (), value.address


def test_parameters_are_those_that_a_scenario_types() -> None:
    ran = traced(EVERYTHING)
    found = {address for address, value in ran.values.items() if value.role.parameter}
    head = "layer1.attention.head1"
    assert found == {
        *(f"{head}.{kind}_{letter}" for kind in "Wb" for letter in "QKV"),
        *("layer1.attention.W_O", "layer1.attention.b_O"),
        *("layer1.attention.norm.gain", "layer1.attention.norm.shift"),
        *(f"layer1.cross_attention.head1.W_{letter}" for letter in "QKV"),
        *(f"layer1.ffn.{name}" for name in ("W_1", "b_1", "W_2", "b_2")),
        *("unembedding.W_U", "unembedding.b_U"),
    }
    others = traced(every_part())
    found = {address for address, value in others.values.items() if value.role.parameter}
    assert {"layer1.ffn.W_3", "layer1.ffn.b_3", "layer1.attention.norm.gain"} <= found
    assert "layer1.attention.head2.W_K" not in found  # it shares those of head 1
