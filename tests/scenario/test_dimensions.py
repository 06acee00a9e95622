"""A decoder by its dimensions: what is refused, what it makes, and weights from a seed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.command import printed, problems, run
from tracer.decoder.forward import trace
from tracer.errors import TracerError
from tracer.scenario.loading import load, parse
from tracer.scenario.parts import networks
from tracer.scenario.schema import schema

SIZES = "layers: 2, width: 8, heads: 2, words: 9, context: 5"
SMALL = f"tokens: the cat sat\ndimensions: {{{SIZES}}}\ngeneration: {{max_tokens: 2}}\n"
SEEDED = f"{SMALL}random: {{seed: 1}}\n"


def refused(text: str) -> list[str]:
    with pytest.raises(TracerError) as caught:
        parse(text, "f.yaml")
    return [str(problem) for problem in caught.value.problems]


REFUSED = {
    "dimensions: {layers: 2, width: 8, heads: 2, context: 5}": "1:13: dimensions.words: missing, "
    "expected words: 50257",
    f"dimensions: {{{SIZES}}}\ntokens: ' '": "2:1: tokens: empty, expected at least one entry",
    "dimensions: 3": "1:1: dimensions: expected a mapping, such as dimensions: {layers: 12, width: "
    "768, heads: 12, words: 50257}, got '3'",
    f"dimensions: {{{SIZES}, hiden: 3}}": "1:67: dimensions.hiden: unknown key; did you mean "
    "'hidden'?",
    f"dimensions: {{{SIZES}, positions: round}}": "1:67: dimensions.positions: expected learned, "
    "sinusoidal, rotary or alibi, got 'round'",
    "dimensions: {layers: 0, width: 8, heads: 2, words: 9, context: 5}": "1:14: dimensions.layers: "
    "expected at least 1, got '0'",
    "dimensions: {layers: 2, width: 9, heads: 2, words: 9, context: 5}": "1:35: dimensions.heads: "
    "2, expected a divisor of 9, the width, or d_k: 64",
    f"dimensions: {{{SIZES}, key_heads: 3}}": "1:67: dimensions.key_heads: 3, expected a divisor "
    "of 2, the heads",
    f"dimensions: {{{SIZES}, shared: true}}": "1:67: dimensions.shared: true, but there are no "
    "experts, expected experts: 8",
    f"dimensions: {{{SIZES}, experts: 1}}": "1:13: dimensions.top: 2, expected at most 1, the "
    "experts",
    f"dimensions: {{{SIZES}, top: 1}}": "1:67: dimensions.top: 1, but there are no experts, "
    "expected experts: 8",
    f"dimensions: {{{SIZES}, d_k: 3, positions: rotary}}": "1:75: dimensions.positions: 3 numbers "
    "per query, expected pairs of them",
    "dimensions: {layers: 2, width: 8, heads: 2, words: 9}": "1:13: dimensions.context: missing, "
    "expected context: 1024",
    f"dimensions: {{{SIZES}}}\ntokens: a b c d e f": "2:1: tokens: 6, expected at most 5, the "
    "context",
    "dimensions: {layers: 2, width: 8, heads: 2, words: 1, context: 5}\ntokens: a b": "1:45: "
    "dimensions.words: 1, expected at least 2, one for each token",
    f"dimensions: {{{SIZES}}}\nrounding: {{carry: step}}": "2:1: rounding: weights from a seed go "
    "with carry: never only",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text: str) -> None:
    assert refused(f"{text}\n") == [f"f.yaml:{REFUSED[text]}"]


COMMANDS = ("run", "loss", "generate", "tutorial")


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_seed_there_is_nothing_to_compute(command: str) -> None:
    ran = run(command, "-", stdin=SMALL)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert problems(ran) == [
        "<stdin>:2:1: dimensions: the scenario has shapes but no numbers; for random weights add "
        "random: {seed: 1}"
    ]


@pytest.mark.parametrize("command", ["steps", "shapes"])
def test_what_looks_at_shapes_needs_no_seed(command: str) -> None:
    assert printed(command, "-", stdin=SMALL) == printed(command, "-", stdin=SEEDED)


@pytest.mark.parametrize("command", COMMANDS)
def test_with_a_seed_every_command_works(command: str) -> None:
    assert printed(command, "-", stdin=SEEDED)


def test_without_tokens_as_many_are_read_as_there_is_context() -> None:
    assert parse(f"dimensions: {{{SIZES}}}\n", "f.yaml").tokens == ("t1", "t2", "t3", "t4", "t5")


FEW_WORDS = "dimensions: {layers: 1, width: 4, heads: 2, words: 3, context: 5}\n"


@pytest.mark.parametrize("command", ["run", "steps", "loss", "shapes"])
def test_a_context_may_be_longer_than_the_vocabulary(command: str) -> None:
    assert printed(command, "-", stdin=f"{FEW_WORDS}random: {{seed: 1}}\n")
    found = parse(FEW_WORDS, "f.yaml")
    assert found.tokens == ("t1", "t2", "t3", "t1", "t2")
    assert found.vocabulary == ("t1", "t2", "t3")


def test_no_word_is_there_twice() -> None:
    found = parse(f"tokens: w3 a\n{FEW_WORDS.replace('words: 3', 'words: 5')}", "f.yaml")
    assert found.vocabulary == ("w3", "a", "w4", "w5", "w6")


def test_a_seed_gives_the_numbers_that_it_gave_before() -> None:
    """Drawn by NumPy's oldest generator, whose numbers are promised to stay."""
    first, again = (trace("s", parse(SEEDED, "f.yaml")) for _ in range(2))
    for address in ("embedding", "layer2.attention.head2.W_K", "output", "probabilities"):
        assert np.array_equal(first[address].numbers, again[address].numbers)
    other = trace("s", parse(SEEDED.replace("seed: 1", "seed: 2"), "f.yaml"))
    assert not np.allclose(first["output"].array, other["output"].array)
    same = first["layer1.attention.head1.W_Q"].array == first["layer1.attention.head2.W_Q"].array
    assert not same.any()


def test_the_weights_are_spread_as_before_the_training_of_gpt2() -> None:
    (found,) = networks(load("gpt2-small").scenario.layers[0])
    weights = np.asarray(found.W_1)
    assert weights.shape == (768, 3072)
    assert weights.std() == pytest.approx(0.02, rel=0.01)
    assert abs(weights.mean()) < 1e-4
    assert np.all(np.asarray(found.b_1) == 0)


def test_some_rows_are_those_of_all() -> None:
    table = load("gpt2-small").scenario.positions
    assert table is not None and table.table is not None
    rows: object = table.table[60:70]
    assert np.array_equal(np.asarray(rows), np.asarray(table.table)[60:70])


def test_what_is_tied_is_the_embeddings() -> None:
    found = trace("s", parse(SEEDED, "f.yaml"))
    columns = found["unembedding.W_U"].array.T
    assert np.array_equal(columns[:3], found["embedding"].array)


def test_the_schema_has_the_form() -> None:
    assert '"key_heads"' in schema()
