"""Masks of single layers: whom each shows, a cache, equal layers, what is refused and asked."""

from __future__ import annotations

import re

import pytest
from numpy.testing import assert_allclose

from tests.helpers.command import printed, run
from tests.helpers.traces import traced
from tests.helpers.worksheets import told
from tracer.decoder.generation import GenerationOptions, generate
from tracer.lesson.texts.questions import questions
from tracer.scenario.loading import parse

HEAD = "heads: [{W_Q: [[1, 0.2], [0.3, 1]], W_K: [[0.5, -0.2], [0.1, 1]], W_V: identity}]"
START = """\
tokens: [a, b, c, d]
embeddings: {a: [0.5, -1], b: [1, 0.5], c: [0.25, 2], d: [1, 1]}
vocabulary: [a, b, c, d]
unembedding: tied
rounding: {carry: never}
"""


def layers(*masks: str, start: str = START) -> str:
    """A layer for each mask; "" is the scenario's."""
    own = [f"mask: {mask}, " if mask else "" for mask in masks]
    return start + "layers:\n" + "".join(f"- {{attention: {{{mask}{HEAD}}}}}\n" for mask in own)


def test_layers_with_equal_masks_read_one_value() -> None:
    found = traced(layers("{window: 2}", "causal", "{window: 2}", "{window: 3}"))
    masks = [address for address in found.values if address.endswith("mask")]
    assert masks == [f"layer{n}.attention.mask" for n in (1, 2, 4)]


def test_a_given_mask_is_that_of_the_layer() -> None:
    shown = "given: {layer1.attention.mask: [[0,0,0,0],[0,0,0,0],[0,0,0,0],[0,0,0,0]]}\n"
    found = traced(layers("{window: 2}", "", "{window: 2}", start=START + shown))
    seen = [(found[f"layer{n}.attention.head1.weights"].array > 0).sum() for n in (1, 2, 3)]
    assert seen == [16, 10, 16]


def test_a_cache_generates_the_same_text() -> None:
    scenario = parse(layers("{window: 2}", "", "{window: 1}"), "f.yaml")
    texts = [
        generate("f", scenario, GenerationOptions(("a", "b"), 4, cached=cached)).text
        for cached in (False, True)
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("masks", "start", "refused"),
    [
        (("", "none"), START, True),
        (("causal", "none"), START, True),
        (("causal", "{window: 2}"), START + "mask: none\n", False),
        (("", "{window: 2}"), START + "mask: none\n", True),
    ],
)
def test_a_cache_is_refused_if_a_layer_shows_later_tokens(
    masks: tuple[str, ...], start: str, refused: bool
) -> None:
    ran = run("generate", "-", "--kv-cache", stdin=layers(*masks, start=start))
    assert (ran.exit_code == 2) == refused
    assert ("the mask shows later tokens" in ran.stderr) == refused


def test_equal_layers_are_drawn_once_and_others_apart() -> None:
    masks = ("", *["{window: 2}"] * 3, "{window: 3}", "")
    for command in ("run", "shapes"):
        drawn = re.findall(
            r"^  (layer \d|× \d: .* alike)",
            printed(command, "-", stdin=layers(*masks)),
            re.MULTILINE,
        )
        alike = ["× 3: layers 3–4 alike", "layer 2"]
        assert drawn == ["layer 6", "layer 5", *alike, "layer 1"]


def test_forcing_says_that_the_mask_hides_the_answers_if_each_layer_does() -> None:
    hides = "The mask hides the later tokens"
    for masks, said in ((("", "{window: 2}"), True), (("", "none"), False)):
        text = " ".join(printed("loss", "-", stdin=layers(*masks)).split())
        assert (hides in text) == said


def test_no_question_is_asked_about_different_masks() -> None:
    for masks, said in ((("{window: 2}", "{window: 2}"), True), (("", "{window: 2}"), False)):
        of = traced(layers(*masks))
        asked = questions(told(of), of, len(of.tokens) - 1, seed=1).values()
        assert any("Which tokens does the mask hide" in str(each) for each in asked) == said


REFUSED = "expected only in the decoder's self-attention"


def test_what_has_no_mask_of_its_own() -> None:
    of_encoder = f"layers: [{{attention: {{mask: none, {HEAD}}}}}]"
    encoder = f"encoder: {{tokens: [x], embeddings: [[1, 0]], {of_encoder}}}\n"
    crossed = layers("causal", start=START + encoder).replace(
        "- {attention", "- {cross_attention", 1
    )
    ran = run("run", "-", stdin=crossed)
    assert ran.exit_code == 2 and ran.stderr.count(REFUSED) == 2
    assert "encoder.layer1.attention.mask" in ran.stderr
    assert "layer1.cross_attention.mask" in ran.stderr


@pytest.mark.parametrize("typed", ["[[0, 0], [0, 0]]", "always", "3"])
def test_a_layer_has_no_typed_rows(typed: str) -> None:
    ran = run("run", "-", stdin=layers(typed))
    assert ran.exit_code == 2
    assert "expected causal, none or {window: 3}" in ran.stderr


def test_sliding_layers_have_the_weights_of_mistral_and_gemma() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    masking = pytest.importorskip("transformers.masking_utils")
    transformers = pytest.importorskip("transformers")
    kinds = ["sliding_attention", "full_attention", "sliding_attention"]
    config = transformers.Gemma2Config(
        num_hidden_layers=3, sliding_window=2, layer_types=kinds, attn_implementation="eager"
    )
    numbers, positions = torch.zeros(1, 4, 2, dtype=torch.float64), torch.arange(4)[None]
    makes = {
        "sliding_attention": masking.create_sliding_window_causal_mask,
        "full_attention": masking.create_causal_mask,
    }
    found = traced(layers("{window: 2}", "", "{window: 2}"))
    for number, kind in enumerate(kinds, 1):
        at = f"layer{number}.attention.head1."
        scores = torch.tensor(found[f"{at}scores"].array.astype(float))
        # by position: the name of the fourth, the cache, differs between versions
        mask = makes[kind](config, numbers, None, None, position_ids=positions)[0, 0]
        weights = torch.softmax(scores + mask, dim=1)
        assert_allclose(found[f"{at}weights"].array.astype(float), weights, atol=1e-12)
