"""The picture of the model has what the scenario has: each part, each step, each shape once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.helpers.command import run_json
from tests.helpers.random_scenarios import Scenario, scenarios, to_yaml
from tests.helpers.reference import shares_norm
from tests.helpers.small_scenario import changed
from tests.helpers.traces import traced, traced_or_rejected
from tracer.decoder.forward import Trace
from tracer.lesson import document as doc
from tracer.lesson.context import LessonContext
from tracer.lesson.texts.picture import picture
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.symbols import symbols
from tracer.node import rewritten_within
from tracer.renderers.text import text

several = settings(
    phases=[Phase.generate],
    database=None,
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
NAMES = {"attention": "attention", "cross_attention": "cross-attention", "ffn": "FFN"}


def drawn(trace: Trace) -> doc.Picture:
    return picture(LessonContext(trace, 0, symbols(trace.records)), steps(trace.records))


def sign(box: doc.Box) -> str:
    return "".join(part if isinstance(part, str) else text(part) for part in box.sign)


def signs(row: doc.Row) -> list[str]:
    return [sign(box) for box in row]


def boxes_of(part: doc.SubLayerPicture) -> Iterator[doc.Box]:
    for inside in part.inside:
        rows = (
            [row for head in inside.heads for row in head]
            if isinstance(inside, doc.Heads)
            else [inside]
        )
        for row in rows:
            yield from row
    yield from [part.residual] if part.residual else []
    for row in part.behind:
        yield from row


def towers(of: doc.Picture) -> list[doc.TowerPicture]:
    return [*([of.encoder] if of.encoder else []), of.decoder]


def boxes(of: doc.Picture) -> list[doc.Box]:
    """All of them, the encoder's first, from below."""
    return [box for tower in towers(of) for box in boxes_of_tower(tower)]


def boxes_of_tower(of: doc.TowerPicture) -> list[doc.Box]:
    layers = [box for layer in of.layers for part in layer.parts for box in boxes_of(part)]
    inputs, outputs = ([box for row in rows for box in row] for rows in (of.inputs, of.outputs))
    return [*inputs, *layers, *outputs]


# --- random scenarios ----------------------------------------------------------------------------


@several
@given(scenario=scenarios(epsilons=("0.1",)) | scenarios(epsilons=("0.1",), alike=True))
def test_each_step_stands_in_it_once(scenario: Scenario) -> None:
    trace = traced_or_rejected(scenario)
    found = drawn(trace)
    numbers = [box.step for box in boxes(found)]
    for layer in (layer for tower in towers(found) for layer in tower.layers):
        first, last = layer.others or (1, 0)
        numbers += range(first, last + 1)
    # The blocks of a softmax compute nothing that the model goes on with.
    of_model = [step for step in steps(trace.records) if step.kind.sign is not None]
    assert sorted(numbers) == [step.number for step in of_model]


@several
@given(scenario=scenarios(epsilons=("0.1",), encoder=True))
def test_its_shapes_are_those_of_the_json(scenario: Scenario) -> None:
    trace = traced_or_rejected(scenario)
    values = run_json("-", stdin=to_yaml(scenario))["values"]
    shapes = {value["address"]: tuple(value["shape"]) for value in values}
    address = {step.number: step.last.output.address for step in steps(trace.records)}
    for box in boxes(drawn(trace)):
        assert box.shape == shapes[address[box.step]]


@several
@given(scenario=scenarios(epsilons=("0.1",)))
def test_its_parts_are_those_of_the_scenario(scenario: Scenario) -> None:
    found = drawn(traced_or_rejected(scenario))
    words = (
        [logits(scenario["unembedding"]), "softmax", "prediction"]
        if "vocabulary" in scenario
        else []
    )
    assert_is_tower(found.decoder, scenario, ["y", *words])
    assert (found.encoder is not None) == ("encoder" in scenario)
    if found.encoder and "vectors" in scenario["encoder"]:
        assert found.encoder.tokens == tuple(map(doc.Name, scenario["encoder"]["tokens"]))
        assert [sign(box) for box in boxes_of_tower(found.encoder)] == ["encoder E"]
    elif found.encoder:
        encoder = {**scenario["encoder"], "mask": "none"}
        assert_is_tower(plain(found.encoder), encoder, ["encoder E"])


def plain(encoder: doc.TowerPicture) -> doc.TowerPicture:
    """The encoder without what tells its symbols from the decoder's."""
    for box in boxes_of_tower(encoder):
        assert box.step and ("ᴱ" in sign(box)) == bool(
            re.search("[A-Zθ]", WORDS.sub("", sign(box)))
        )
    unmarked = lambda box: replace(box, sign=(sign(box).replace("ᴱ", ""),))  # noqa: E731
    return rewritten_within(encoder, doc.Box, unmarked)


WORDS = re.compile("encoder E|LayerNorm|RMSNorm|ReLU|GELU|SiLU|ALiBi")
"""What stands in signs and is no symbol."""


def assert_is_tower(found: doc.TowerPicture, spec: dict[str, Any], at_the_end: list[str]) -> None:
    """What a tower shows is what the scenario says of it."""
    assert [token.text for token in found.tokens] == spec["tokens"]
    assert [signs(row) for row in found.inputs] == inputs(spec)
    final = spec.get("final_norm", "none")
    behind = [] if final == "none" else [NORMS[final.get("kind", "layer_norm")]]
    assert [sign(row[-1]) for row in found.outputs] == [*behind, *at_the_end]
    numbers = [number for layer in found.layers for number in range(layer.first, layer.last + 1)]
    assert numbers == list(range(1, len(spec["layers"]) + 1))
    for layer in found.layers:
        for each in spec["layers"][layer.first - 1 : layer.last]:
            assert_is(layer, each, spec)


def inputs(scenario: Scenario) -> list[list[str]]:
    """What goes in: the angles stand aside, and nothing is added for them."""
    positions = scenario.get("positions", "none")
    scale = scenario.get("embedding_scale", "none")
    x = {"none": "X", "sqrt": "X×√d_model"}.get(scale, "X×s")
    below = [] if scale == "none" else [["X"]]
    if "type_embeddings" in scenario:
        below, x = [*below, [x, "T"]], f"{x} + T"
    with_types = "X_T" if "type_embeddings" in scenario else x
    norm = scenario.get("embedding_norm", "none")
    above = [] if norm == "none" else [[NORMS[norm.get("kind", "layer_norm")]]]
    if positions == "none" or positions.get("alibi"):
        return [*below, [x], *above, ["X′"]]
    if "relative_bias" in positions:
        attends = any("attention" in layer for layer in scenario["layers"])
        return [*below, [x, *(["offset → R"] if attends else [])], *above, ["X′"]]
    if "rotary" in positions:
        attends = any("attention" in layer for layer in scenario["layers"])
        return [*below, [x, *(["θ turns Q, K"] if attends else [])], *above, ["X′"]]
    return [*below, [x, "P"], [f"{with_types} + P"], *([*above, ["X′"]] if above else [])]


NORMS = {"layer_norm": "LayerNorm", "rms_norm": "RMSNorm"}
ACTIVATIONS = {
    **{"relu": "ReLU", "gelu": "GELU", "gelu_tanh": "GELU", "silu": "SiLU"},
    **{"sigmoid": "Sigmoid", "tanh": "tanh", "relu_squared": "ReLU²"},
}


def logits(unembedding: dict[str, Any]) -> str:
    """The product with the weights, what divides it, what caps it."""
    has_bias, scale = unembedding.get("b_U") is not None, unembedding.get("scale", "none")
    sign = "· W_U" + " + b_U" * has_bias
    if scale != "none":
        sign = f"({sign}) / {scale}" if has_bias else f"{sign} / {scale}"
    cap = unembedding.get("softcap", "none")
    return sign if cap == "none" else f"{sign}, soft cap {cap}"


def assert_is(layer: doc.LayerPicture, spec: dict[str, Any], scenario: Scenario) -> None:
    """What a layer shows is what the scenario says of it."""
    kinds = [kind for kind in NAMES if kind in spec]
    assert [part.name for part in layer.parts] == [NAMES[kind] for kind in kinds]
    for part, kind in zip(layer.parts, kinds, strict=True):
        of = spec[kind]
        assert (part.residual is not None) == of.get("residual", True)
        shown = [sign(box) for box in boxes_of(part)]
        if of.get("kind", "softmax") != "softmax":  # a given gate stands below the norm
            shown = [each for each in shown if each not in ("α", "β")]
        plus = f"× {of['residual_scale']}, +" if "residual_scale" in of else "+"
        assert part.residual is None or sign(part.residual) == plus
        norm: Any = of.get("norm", spec.get("norm", "none"))
        norm = "none" if kind == "ffn" and shares_norm(spec) else norm
        placement = "" if norm == "none" else norm.get("placement", "post")
        kind_of_norm = NORMS["layer_norm" if norm == "none" else norm.get("kind", "layer_norm")]
        after = of.get("norm_after", spec.get("norm_after", "none"))
        if after != "none":
            at = -2 if of.get("residual", True) else -1
            assert shown.pop(at) == NORMS[after.get("kind", "layer_norm")]
        assert shown.count(kind_of_norm) == bool(placement)
        assert shown[0 if placement == "pre" else -1] == kind_of_norm or not placement
        assert bool(part.behind) == (placement == "post" and of.get("residual", True))
        if kind == "ffn":
            inside = of_experts(of) if "experts" in of else of_network(of)
            assert [s for s in shown if s not in (plus, kind_of_norm)] == inside
        else:
            assert_is_attention(part, of, scenario, crosses=kind == "cross_attention")


def of_network(ffn: Scenario, number: str = "") -> list[str]:
    """The boxes of an FFN, or of an expert with its number."""
    active = ACTIVATIONS.get(ffn.get("activation", "relu"), "no activation")
    if ffn.get("activation") == "swiglu":
        limit, scale = ffn.get("gate_limit"), ffn.get("gate_scale", 1)
        factor = f" with α = {scale}" if scale != 1 else ""
        active = f"{f'at most {limit}, ' if limit else ''}SiLU{factor}"
    last = ffn.get("activates") == "output"
    output = f"· W₂{number}" + f" + b₂{number}" * ("b_2" in ffn)
    return [
        f"· W₁{number}" + f" + b₁{number}" * ("b_1" in ffn),
        *([] if last else [active]),
        *(["W₃, gate"] if "W_3" in ffn else []),
        f"{output}, {active}" if last else output,
    ]


def of_experts(ffn: Scenario) -> list[str]:
    """The boxes of a router, of its experts and of the one that is shared."""
    shared = ffn.get("shared")
    return [
        *("· W_r", f"top {ffn.get('top', 2)}"),
        *(
            box
            for number, expert in zip("¹²³⁴", ffn["experts"], strict=False)
            for box in ("its tokens", *of_network(expert, number))
        ),
        *(of_network(shared, "ˢ") if shared else []),
        "weighted sum" + " + shared" * bool(shared),
    ]


def assert_is_attention(
    part: doc.SubLayerPicture, of: dict[str, Any], scenario: Scenario, *, crosses: bool
) -> None:
    *below, heads = [inside for inside in part.inside if isinstance(inside, doc.Heads)]
    latent = of.get("latent", {})
    spanned = [letter for letter in "QK" if spans_heads(of, letter)]
    assert_normalized_together(part, spanned, latent)
    assert len(below) == bool(spanned)
    assert len(heads.heads) == len(of["heads"])
    hides = (
        of.get("mask", scenario.get("mask", "causal")) != "none"
        or scenario.get("padding") in scenario["tokens"]
    )
    positions = scenario.get("positions", "none")
    falls = positions != "none" and positions.get("alibi") and not crosses
    biased = positions != "none" and "relative_bias" in positions and not crosses
    keeps_state = of.get("kind", "softmax") != "softmax"
    turns = bool(positions != "none" and "rotary" in positions and not crosses)
    for i, head in enumerate(of["heads"]):
        rows = (*(row for each in below for row in each.heads[i]), *heads.heads[i])
        reads = (*below, heads)[0].crosses[i]
        shared = head.get("shares")
        keys = of["heads"][shared - 1] if shared else head
        d_k, d_v = len(head["W_Q"][0]), len(keys["W_V"][0])
        rotated = len(head["W_QR"][0]) if "W_QR" in head else 0
        above = "⁰¹²³⁴"[shared or 0] if shared else ""
        scale = {"sqrt": f" / √{d_k + rotated}", "none": ""}
        asked = of.get("scale", "sqrt")
        expected = [
            ["Q"] if shared else ["Q", "K", "V"] + ["Q_R"] * bool(rotated),
            *([["[Q Q_R]", "[K K_R]"]] if rotated else []),
            *between(of, turns=turns and not rotated, shared=bool(shared)),
        ]
        gate = ["G", "O ⊙ G"] if "W_G" in head else []
        norm = ["norm O"] if of.get("output_norm", "none") != "none" else []
        if keeps_state:
            own = [s for row in rows for s in signs(row)]
            before = [s for row in expected for s in row]
            together = [f"norm {letter}" for letter in spanned]
            before = [f"columns of {s[-1]}_N" if s in together else s for s in before]
            behind = of_state(of, scale=scale.get(str(asked), "c"))
            assert sorted(own) == sorted([*before, *behind, *norm, *gate])
            assert [box.shape[1] for box in rows[0]] == ([d_k] if shared else [d_k, d_k, d_v])
            continue
        expected += [
            [f"Q · K{above}ᵀ{scale.get(str(asked), f' / {asked}')}"],
            *([[f"soft cap {of['softcap']}"]] if "softcap" in of else []),
            *([["ALiBi"]] if falls else []),
            *([["+ B"]] if biased else []),
            *([["mask"]] if hides and not crosses else []),
            *([["sink"]] if "sink" in head else []),
            ["softmax"],
            [f"A · V{above}", *([] if norm else gate[:1])],
            *([[*norm, *gate[:1]]] if norm else []),
            *([gate[1:]] if gate else []),
        ]
        found = [[re.sub(" of .*", "", s) if latent else s for s in signs(row)] for row in rows]
        assert_same_rows(found, expected, spanned)
        widths = [d_k] if shared else [d_k, d_k, d_v, *filter(None, [rotated])]
        assert [box.shape[1] for box in rows[0]] == widths
        assert reads == (crosses and not shared)
    projection = "· W_O" + " + b_O" * ("b_O" in of) if "W_O" in of else "no W_O"
    assert projection in [sign(box) for box in boxes_of(part)]


def of_state(of: dict[str, Any], *, scale: str) -> list[str]:
    """The boxes of a head that keeps a state, behind its projections; each head works its keys."""
    mapped = of.get("feature_map", "none") != "none"
    unit = of.get("unit_length", "none") != "none"
    per_vector = (
        *(["map of {}"] if mapped else []),
        *(["{} of length 1"] if unit else []),
    )
    vectors = [words.format(letter) for words in per_vector for letter in "QK"]
    return [*vectors, *(["scaled Q"] if scale else []), "state"]


def spans_heads(of: dict[str, Any], letter: str) -> bool:
    """Whether a norm reads the queries or keys of several heads."""
    norm: Any = of.get({"Q": "query_norm", "K": "key_norm"}[letter], "none")
    own = [head for head in of["heads"] if letter == "Q" or "shares" not in head]
    return norm != "none" and norm.get("over") == "heads" and len(own) > 1


def assert_normalized_together(
    part: doc.SubLayerPicture, spanned: list[str], latent: dict[str, Any]
) -> None:
    """What heads share: norms over all of them, and what latent attention computes first."""
    outside = [sign(box) for row in part.inside if not isinstance(row, doc.Heads) for box in row]
    norms = {"norm": "C", "query_norm": "C_Q"}
    shared = [symbol for name, symbol in norms.items() if latent.get(name, "none") != "none"]
    found = [each for each in outside if each.startswith("norm")]
    assert sorted(found) == sorted(f"norm {symbol}" for symbol in (*spanned, *shared))
    products = [each.removeprefix("turn ").split()[-1] for each in outside if "W_D" in each]
    products += [each.split()[-1] for each in outside if "W_KR" in each]
    assert sorted(products) == sorted(name for name in latent if name.startswith("W_"))


def assert_same_rows(found: list[list[str]], expected: list[list[str]], spanned: list[str]) -> None:
    """Where norms span the heads, each head has its columns of them, above its projections."""
    if not spanned:
        assert found == expected
        return
    for letter in spanned:
        of_head = f"columns of {letter}_N"
        expected = [[of_head if s == f"norm {letter}" else s for s in row] for row in expected]
    assert found[0] == expected[0]
    one, other = ([s for row in rows for s in row] for rows in (found, expected))
    assert sorted(one) == sorted(other)


def between(of: dict[str, Any], *, turns: bool, shared: bool) -> list[list[str]]:
    """The norms and the rotation of queries and keys, each as low as it can stand."""
    queries, keys = (of.get(f"{name}_norm", "none") != "none" for name in ("query", "key"))
    keys = keys and not shared
    rows: list[list[str]] = [["norm Q"] * queries + ["norm K"] * keys, []]
    if turns:
        rows[0 if not queries else 1].append("turn Q")
        rows[1 if keys or queries else 0] += [] if shared else ["turn K"]
    return list(filter(None, rows))


# --- layers that are built alike -----------------------------------------------------------------

LAYER = "  - ffn: {W_1: [[1], [2]], W_2: [[1, 2]]}\n"
OTHER = "  - ffn: {W_1: [[1, 2], [2, 3]], W_2: [[1, 2], [3, 4]]}\n"
ONLY_FFNS = "title: T\ntokens: [a]\nembeddings: [[1, 2]]\nlayers:\n"


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        (LAYER, [(1, 1, None)]),
        (LAYER * 12, [(1, 12, (7, 50))]),
        (LAYER + OTHER, [(1, 1, None), (2, 2, None)]),
        (LAYER * 2 + OTHER + LAYER, [(1, 2, (7, 10)), (3, 3, None), (4, 4, None)]),
        (LAYER + LAYER.replace("]]}", "]], residual: false}"), [(1, 1, None), (2, 2, None)]),
        ((LAYER + OTHER) * 3 + LAYER, [(1, 1, None), (2, 2, None), (7, 7, None)]),
        ((LAYER * 2 + OTHER) * 2 + LAYER, [(1, 2, (7, 10)), (3, 3, None), (7, 7, None)]),
    ],
)
def test_layers_that_are_built_alike_are_drawn_once(
    layers: str, expected: list[tuple[int, int, tuple[int, int] | None]]
) -> None:
    found = drawn(traced(ONLY_FFNS + layers)).decoder.layers
    assert [(layer.first, layer.last, layer.others) for layer in found] == expected


def test_layers_that_repeat_in_turn_are_drawn_once() -> None:
    found = drawn(traced(ONLY_FFNS + (LAYER * 2 + OTHER) * 3 + LAYER))
    assert [layer.cycle for layer in found.decoder.layers] == [
        None,
        doc.LayerCycle(1, 3, 9, (15, 38)),
        None,
    ]
    (cycle,) = (layer.cycle for layer in found.decoder.layers if layer.cycle)
    assert cycle.times == 3
    # Each step of a layer that is not drawn, and the step that is drawn for it.
    first = {step: 3 + (step - 3) % 4 for step in range(7, 11)}
    again = {step: 3 + (step - 3) % 12 for step in range(15, 39)}
    shown = {step: first.get(box, box) for step, box in {**first, **again}.items()}
    assert dict(found.folded) == shown


HEAD = "W_K: [[1, 0], [0, 1]], W_V: [[1, 0], [0, 1]]"
PLAIN = f"  - attention: {{heads: [{{W_Q: [[1, 0], [0, 1]], {HEAD}}}]}}\n"
IN_BLOCKS = PLAIN.replace("{heads", "{blocks: 2, heads")
BY_KEY = IN_BLOCKS.replace("2", "1")


def adapted(a: str, b: str, alpha: int = 2) -> str:
    lora = f"{{frozen: [[1, 0], [0, 1]], A: {a}, B: {b}, alpha: {alpha}}}"
    return f"  - attention: {{heads: [{{W_Q: {lora}, {HEAD}}}]}}\n"


RANK_1, RANK_2 = adapted("[[1], [1]]", "[[0, 0]]"), adapted("[[1, 0], [1, 1]]", "[[0, 0], [0, 1]]")


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        (IN_BLOCKS, IN_BLOCKS, True),
        (IN_BLOCKS, PLAIN, False),
        (IN_BLOCKS, BY_KEY, False),
        (RANK_1, RANK_1, True),
        (RANK_1, RANK_2, False),
        (RANK_1, adapted("[[1], [1]]", "[[0, 0]]", 3), False),
    ],
)
def test_layers_are_alike_if_their_steps_outside_the_diagram_are(
    first: str, second: str, alike: bool
) -> None:
    tokens = "title: T\ntokens: [a, b]\nembeddings: [[1, 2], [3, 1]]\nlayers:\n"
    found = drawn(traced(tokens + first + second)).decoder.layers
    assert len(found) == (1 if alike else 2)


# --- what is given -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "numbers", "shown"),
    [
        ("layer1.attention.head1.query", "[[1], [2]]", "Q given"),
        ("layer1.attention.head1.scale", "3", "Q · Kᵀ / √d_k, in part given"),
        ("layer1.attention.residual", "[[1, 2], [3, 4]]", "x₁ given"),
        ("layer1.ffn.output", "[[1, 2], [3, 4]]", "FFN(x₁) given"),
        ("input", "[[1, 2], [3, 4]]", "X′ given"),
    ],
)
def test_what_is_pinned_is_given(address: str, numbers: str, shown: str) -> None:
    yaml = changed(("tokens: [a, b]", f"tokens: [a, b]\ngiven: {{{address}: {numbers}}}"))
    assert [sign(box) for box in boxes(drawn(traced(yaml))) if box.given] == [shown]


def test_no_way_leads_around_to_a_sum_that_is_given() -> None:
    pinned = "given: {layer1.attention.residual: [[1, 2], [3, 4]]}"
    found = drawn(traced(changed(("tokens: [a, b]", f"tokens: [a, b]\n{pinned}"))))
    (layer,) = found.decoder.layers
    assert [part.residual is None for part in layer.parts] == [True, False]


@pytest.mark.parametrize("pinned", ["key", "value"])
def test_what_is_given_reads_no_encoder(pinned: str) -> None:
    head = "{W_Q: [[1], [2]], W_K: [[1]], W_V: [[1, 2]]}"
    yaml = (
        "title: T\ntokens: [a]\nembeddings: [[1, 2]]\nencoder: {tokens: [b], vectors: [[3]]}\n"
        f"layers: [{{cross_attention: {{heads: [{head}]}}}}]\ngiven: "
    )
    at = "layer1.cross_attention.head1"
    one = {"key": "[[1]]", "value": "[[1, 2]]"}[pinned]
    both = f"{{{at}.key: [[1]], {at}.value: [[1, 2]]}}\n"
    assert crosses(yaml + f"{{{at}.{pinned}: {one}}}\n") == (True,)
    assert crosses(yaml + both) == (False,)


def crosses(yaml: str) -> tuple[bool, ...]:
    (layer,) = drawn(traced(yaml)).decoder.layers
    (heads,) = [inside for inside in layer.parts[0].inside if isinstance(inside, doc.Heads)]
    return heads.crosses
