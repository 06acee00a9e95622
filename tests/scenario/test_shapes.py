"""Whether the parts of a scenario fit: one valid scenario, in which one thing is changed.

A ‸ in a changed text stands where the problem is to be told, and is no part of the scenario.
"""

from __future__ import annotations

import pytest

from tests.helpers.bundled import TYPED
from tracer.errors import TracerError
from tracer.scenario.loading import load, parse

# Every width is another one: 3 tokens, d = 2, heads of d_k = 3 and 1, d_v = 4 and 1, d_ff = 6.
VALID = """\
title: Three words
tokens: [a, b, c]
token_ids: [7, 8, 9]
features: [x, y]
embeddings:
  a: [1, 2]
  b: [3, 4]
  c: [5, 6]
positions:
  table:
    - [0, 1]
    - [1, 0]
    - [1, 1]
layers:
  - attention:
      heads:
        - labels:
            query: [q1, q2, q3]
            key: [k1, k2, k3]
            value: [v1, v2, v3, v4]
          W_Q: [[1, 2, 3], [4, 5, 6]]
          W_K: [[1, 3, 5], [2, 4, 6]]
          W_V: [[1, 2, 3, 4], [5, 6, 7, 8]]
          b_Q: [1, 2, 4]
          b_K: [1, 2, 5]
          b_V: [1, 2, 3, 6]
        - W_Q: [[1], [2]]
          W_K: [[3], [4]]
          W_V: [[5], [6]]
      W_O:
        - [1, 2]
        - [3, 4]
        - [5, 6]
        - [7, 8]
        - [9, 0]
      b_O: [1, 2]
      norm: {gain: [1, 3], shift: [0, 3]}
    ffn:
      labels: [h1, h2, h3, h4, h5, h6]
      W_1: [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]
      b_1: [1, 2, 3, 4, 5, 7]
      W_2: [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]]
      b_2: [1, 4]
      norm: {gain: [1, 5], shift: [0, 5]}
vocabulary: [p, q, r, s]
unembedding:
  W_U: [[1, 2, 3, 4], [5, 6, 7, 8]]
  b_U: [1, 2, 3, 5]
"""
MARK = "‸"
Changes = tuple[tuple[str, str], ...]


def changed(changes: Changes) -> str:
    """The valid scenario with texts replaced, each of which it has once."""
    text = VALID
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def problems(text: str) -> list[str]:
    """What is wrong with a scenario; nothing, if it can be read."""
    try:
        parse(text, "f.yaml")
    except TracerError as error:
        return [str(problem) for problem in error.problems]
    return []


def marked(text: str) -> tuple[str, list[str]]:
    """A text without its marks, and the file:line:column of each of them."""
    places = []
    while MARK in text:
        before, _, after = text.partition(MARK)
        places.append(
            f"f.yaml:{before.count(chr(10)) + 1}:{len(before.rpartition(chr(10))[2]) + 1}"
        )
        text = before + after
    return text, places


def test_the_valid_scenario_is_valid() -> None:
    assert problems(VALID) == []


@pytest.mark.parametrize("name", TYPED)
def test_the_bundled_scenarios_are_valid(name: str) -> None:
    assert load(name).scenario.tokens


HEAD = "layer1.attention.head1"

MISFITS: list[tuple[Changes, str]] = [
    ((("token_ids: [7, 8, 9]", "‸token_ids: [7, 8]"),), "token_ids: 2 entries, expected 3"),
    ((("features: [x, y]", "‸features: [x]"),), "features: 1 entry, expected 2"),
    ((("features: [x, y]", "‸features: [x, y, z]"),), "features: 3 entries, expected 2"),
    # embeddings
    ((("  b: [3, 4]", "  ‸b: [3]"),), "embeddings.b: 1 number, expected 2"),
    ((("  c: [5, 6]", "  ‸c: [5, 6, 7]"),), "embeddings.c: 3 numbers, expected 2"),
    (
        (("  b: [3, 4]", "  B: [3, 4]"), ("[a, b, c]", "[a, ‸b, c]")),
        "tokens entry 2: no embedding for the token 'b'",
    ),
    (
        (("  b: [3, 4]", "  bee: [3, 4]"), ("[a, b, c]", "[a, ‸be, c]")),
        "tokens entry 2: no embedding for the token 'be'; did you mean 'bee'?",
    ),
    (
        (
            ("embeddings:\n", "‸embeddings: [[1, 2], [3, 4]]\n"),
            ("  a: [1, 2]\n  b: [3, 4]\n  c: [5, 6]\n", ""),
        ),
        "embeddings: 2 rows, expected",
    ),
    (
        (
            ("embeddings:\n", "embeddings: [[1, 2], ‸[3], [5, 6]]\n"),
            ("  a: [1, 2]\n  b: [3, 4]\n  c: [5, 6]\n", ""),
        ),
        "embeddings row 2: 1 number, expected 2",
    ),
    # positions
    ((("    - [1, 1]\n", ""), ("  table:", "  ‸table:")), "positions.table: 2 rows, expected"),
    ((("- [0, 1]", "- ‸[0]"),), "positions.table row 1: 1 column, expected 2"),
    ((("- [1, 1]", "- ‸[1, 1, 1]"),), "positions.table row 3: 3 columns, expected 2"),
    # attention
    ((("[[1, 2, 3], [4, 5, 6]]", "[[1, 2, 3], ‸[4, 5]]"),), f"{HEAD}.W_Q row 2: 2 columns, expect"),
    ((("W_Q: [[1, 2, 3], [4", "‸W_Q: [[1, 2, 3], [0, 0, 0], [4"),), f"{HEAD}.W_Q: 3 rows, expecte"),
    ((("W_K: [[1, 3, 5], [2, 4, 6]]", "‸W_K: [[1, 3, 5]]"),), f"{HEAD}.W_K: 1 row, expected 2"),
    ((("[2, 4, 6]", "‸[2, 4, 6, 8]"),), f"{HEAD}.W_K row 2: 4 columns, expected 3"),
    ((("W_V: [[1, 2, 3, 4], ", "‸W_V: ["),), f"{HEAD}.W_V: 1 row, expected 2"),
    ((("4], [5, 6, 7, 8]]\n          b", "4], ‸[5]]\n          b"),), f"{HEAD}.W_V row 2: 1 colu"),
    ((("b_Q: [1, 2, 4]", "‸b_Q: [1, 2]"),), f"{HEAD}.b_Q: 2 numbers, expected 3"),
    ((("b_K: [1, 2, 5]", "‸b_K: []"),), f"{HEAD}.b_K: 0 numbers, expected 3"),
    ((("b_V: [1, 2, 3, 6]", "‸b_V: [1]"),), f"{HEAD}.b_V: 1 number, expected 4"),
    ((("query: [q1, q2, q3]", "‸query: [q1]"),), f"{HEAD}.labels.query: 1 entry, expected 3"),
    ((("key: [k1, k2, k3]", "‸key: [k1, k2]"),), f"{HEAD}.labels.key: 2 entries, expected 3"),
    ((("value: [v1, v2, ", "‸value: ["),), f"{HEAD}.labels.value: 2 entries, expected 4"),
    (
        (("[[3], [4]]", "[[3], ‸[4, 5]]"),),
        "layer1.attention.head2.W_K row 2: 2 columns, expected 1",
    ),
    ((("        - [9, 0]\n", ""), ("W_O:", "‸W_O:")), "layer1.attention.W_O: 4 rows, expected 5"),
    ((("- [5, 6]", "- ‸[5, 6, 7]"),), "layer1.attention.W_O row 3: 3 columns, expected 2"),
    ((("b_O: [1, 2]", "‸b_O: [1, 2, 3]"),), "layer1.attention.b_O: 3 numbers, expected 2"),
    ((("gain: [1, 3]", "‸gain: [1]"),), "layer1.attention.norm.gain: 1 number, expected 2"),
    ((("shift: [0, 3]", "‸shift: [0, 0, 3]"),), "layer1.attention.norm.shift: 3 numbers, expected"),
    # FFN
    ((("labels: [h1, h2, ", "‸labels: ["),), "layer1.ffn.labels: 4 entries, expected 6"),
    ((("W_1: [[1, 2, 3, 4, 5, 6], [", "‸W_1: [["),), "layer1.ffn.W_1: 1 row, expected 2"),
    ((("[7, 8, 9, 10, 11, 12]", "‸[7, 8, 9]"),), "layer1.ffn.W_1 row 2: 3 columns, expected 6"),
    ((("b_1: [1, 2, ", "‸b_1: ["),), "layer1.ffn.b_1: 4 numbers, expected 6"),
    ((("W_2: [[1, 2], ", "‸W_2: ["),), "layer1.ffn.W_2: 5 rows, expected 6"),
    ((("[9, 10]", "‸[9]"),), "layer1.ffn.W_2 row 5: 1 column, expected 2"),
    ((("b_2: [1, 4]", "‸b_2: [1]"),), "layer1.ffn.b_2: 1 number, expected 2"),
    ((("gain: [1, 5]", "‸gain: [1]"),), "layer1.ffn.norm.gain: 1 number, expected 2"),
    ((("shift: [0, 5]", "‸shift: []"),), "layer1.ffn.norm.shift: 0 numbers, expected 2"),
    # output
    ((("  W_U: [[1, 2, 3, 4], ", "  ‸W_U: ["),), "unembedding.W_U: 1 row, expected 2"),
    (
        (("  W_U: [[1, 2, 3, 4], [5, 6, 7, 8]]", "  W_U: [[1, 2, 3, 4], ‸[5, 6, 7]]"),),
        "unembedding.W_U row 2: 3 columns, expected 4",
    ),
    (
        (
            ("W_U: [[1, 2, 3, 4], [5, 6, 7, 8]]", "W_U: [‸[], []]"),
            ("  b_U: [1, 2, 3, 5]\n", ""),
        ),
        "unembedding.W_U row 1: an empty row",
    ),
    ((("b_U: [1, 2, ", "‸b_U: ["),), "unembedding.b_U: 2 numbers, expected 4"),
]
"""What is changed, and the beginning of what is told of it."""


@pytest.mark.parametrize(("changes", "told"), MISFITS, ids=[told for _, told in MISFITS])
def test_a_misfit_is_told_at_its_line(changes: Changes, told: str) -> None:
    text, (place,) = marked(changed(changes))
    (problem,) = problems(text)
    assert problem.startswith(f"{place}: {told}")


def test_the_vocabulary_is_counted_against_every_row() -> None:
    change = ("[p, q, r, s]", "[p, q, r]"), ("W_U: [[1, 2, 3, 4], [", "W_U: [[1, 2, 3], ‸[")
    text, (place,) = marked(changed(change))
    assert problems(text)[0].startswith(f"{place}: unembedding.W_U row 2: 4 columns, expected 3")


def test_rows_that_are_all_too_long_are_one_problem() -> None:
    change = ("[p, q, r, s]", "[p, q, r]"), ("W_U: [[1", "‸W_U: [[1"), ("  b_U: [1, 2, 3, 5]\n", "")
    text, (place,) = marked(changed(change))
    told = f"{place}: unembedding.W_U: 4 columns, expected 3 (one per word of the vocabulary)"
    assert problems(text) == [told]


NARROW = "- [1]\n        - [3]\n        - [5]\n        - [7]\n        - [9]\n"


def test_a_bias_needs_its_matrix() -> None:
    w_o = VALID[VALID.index("      W_O:") : VALID.index("      b_O")]
    text, (place,) = marked(changed(((w_o, "      residual: false\n"), ("b_O:", "‸b_O:"))))
    assert f"{place}: layer1.attention.b_O: a bias without W_O" in problems(text)


def test_an_embedding_has_numbers() -> None:
    text, (place,) = marked(changed((("  a: [1, 2]", "  ‸a: []"),)))
    assert problems(text)[0].startswith(f"{place}: embeddings.a: 0 numbers, expected 2")


def test_a_residual_needs_as_many_outputs_as_inputs() -> None:
    w_o = VALID[VALID.index("        - [1, 2]\n") : VALID.index("      b_O")]
    changes = ((w_o, f"        {NARROW}"), ("b_O: [1, 2]", "b_O: [1]"))
    text, (place, *_) = marked(changed((*changes, ("- attention:", "- ‸attention:"))))
    assert any(p.startswith(f"{place}: layer1.attention: 1 output ") for p in problems(text))
    without = changed((*changes, ("      b_O", "      residual: false\n      b_O")))
    assert not any("layer1.attention: " in problem for problem in problems(without))
    # What comes behind is counted against the one number that is left.
    told = " ".join(problems(without))
    assert "layer1.attention.norm.gain: 2 numbers, expected 1" in told
    assert "layer1.ffn.W_1: 2 rows, expected 1" in told
    assert "layer1.ffn: 2 outputs cannot be added to 1 input" in told


SECOND = """\
        - W_Q: [[1], [2]]
          W_K: [[3], [4]]
          W_V: [[5], [6]]
"""
SHARING = """\
        - {W_Q: [[1, 2, 3], [4, 5, 6]], ‸shares: NUMBER}
"""

HEADS: list[tuple[str, str]] = [
    (SHARING.replace("NUMBER", "2"), "head2.shares: 2, expected an earlier head: 1"),
    (SHARING.replace("NUMBER", "0"), "head2.shares: expected at least 1, got '0'"),
    (SHARING.replace("NUMBER", "x"), "head2.shares: expected a whole number, got 'x'"),
    (
        "        - {‸W_Q: [[1], [2]], shares: 1}\n",
        "head2.W_Q: 1 column, expected 3 (as many as the keys have)",
    ),
    (
        "        - {W_Q: identity, shares: 1, ‸W_K: identity}\n".replace(
            "identity", "{random: {}}"
        ),
        "head2.W_K: own keys or values and shares: 1, expected only one of them",
    ),
    (
        "        - {W_Q: {random: {}}, shares: 1, ‸b_V: [1, 2, 3, 4]}\n",
        "head2.b_V: own keys or values and shares: 1, expected only one of them",
    ),
    (
        "        - {W_Q: {random: {}}, shares: 1, labels: {‸key: [a, b, c]}}\n",
        "head2.labels.key: own keys or values and shares: 1, expected only one of them",
    ),
    (
        "        - {W_Q: {random: {}}, shares: 1}\n        - {W_Q: [[1], [2]], ‸shares: 2}\n",
        "head3.shares: head 2 has no keys and values of its own",
    ),
    (
        "        - ‸{W_Q: [[1], [2]], W_V: [[5], [6]]}\n",
        "head2.W_K: missing, expected W_K: [[1, 0], …] or shares: 1",
    ),
]


@pytest.mark.parametrize(("second", "told"), HEADS, ids=[told for _, told in HEADS])
def test_a_head_that_shares_is_told_what_it_cannot_have(second: str, told: str) -> None:
    text, (place,) = marked(changed(((SECOND, second),)))
    of_sharing = [problem for problem in problems(text) if ".head" in problem]
    assert len(of_sharing) == 1
    assert of_sharing[0].startswith(f"{place}: layer1.attention.{told}")


def test_the_first_head_has_none_to_share_with() -> None:
    first = "          W_Q: [[1, 2, 3], [4, 5, 6]]\n"
    text, (place,) = marked(changed(((first, f"{first}          ‸shares: 1\n"),)))
    told = (
        f"{place}: layer1.attention.head1.shares: 1, expected an earlier head: this is the "
        f"first head"
    )
    assert told in problems(text)


ROTARY = ("  table:\n    - [0, 1]\n    - [1, 0]\n    - [1, 1]\n", "  rotary: {}\n")


def test_what_is_turned_comes_in_pairs() -> None:
    text, places = marked(
        changed(
            (
                ROTARY,
                ("          W_Q: [[1, 2, 3]", "          ‸W_Q: [[1, 2, 3]"),
                ("- W_Q: [[1]", "- ‸W_Q: [[1]"),
            )
        )
    )
    even = "expected an even number of them (rotary positions rotate pairs)"
    assert problems(text) == [
        f"{places[0]}: layer1.attention.head1.W_Q: 3 columns, {even}",
        f"{places[1]}: layer1.attention.head2.W_Q: 1 column, {even}",
    ]


def test_heads_that_are_turned_are_alike_wide() -> None:
    wide = [
        *(
            ("[[1, 2, 3], [4, 5, 6]]", "[[1, 2], [4, 5]]"),
            ("[[1, 3, 5], [2, 4, 6]]", "[[1, 3], [2, 4]]"),
        ),
        *(("query: [q1, q2, q3]", "query: [q1, q2]"), ("key: [k1, k2, k3]", "key: [k1, k2]")),
        *(("b_Q: [1, 2, 4]", "b_Q: [1, 2]"), ("b_K: [1, 2, 5]", "b_K: [1, 2]")),
        *(
            ("- W_Q: [[1], [2]]", "- ‸W_Q: [[1, 2, 3, 4], [2, 3, 4, 5]]"),
            ("[[3], [4]]", "[[1, 2, 3, 4], [2, 3, 4, 5]]"),
        ),
    ]
    text, (place,) = marked(changed((ROTARY, *wide)))
    told = "4 columns, expected 2 (rotary positions: as many as in the first head)"
    assert problems(text) == [f"{place}: layer1.attention.head2.W_Q: {told}"]


def test_a_sample_of_one_number_has_no_deviation() -> None:
    of_two = ("norm: {gain: [1, 5], shift: [0, 5]}", "norm: {deviation: sample}")
    assert problems(changed((of_two,))) == []
    narrow = "tokens: [a]\nembeddings: {a: [1]}\nfinal_norm: {‸deviation: sample}\n"
    text, (place,) = marked(narrow)
    assert problems(text) == [
        f"{place}: final_norm.deviation: the deviation of a sample needs two features"
    ]


def test_a_norm_of_the_embeddings_is_as_wide_as_they_are() -> None:
    start, norm = "tokens: [a]\nembeddings: {a: [1, 2]}\n", "embedding_norm: {gain: [1, 1]}\n"
    assert problems(start + norm) == []
    text, (place,) = marked(start + norm.replace("gain: [1, 1]", "‸shift: [1]"))
    [found] = problems(text)
    assert found.startswith(f"{place}: embedding_norm.shift: 1 number, expected 2")


ENCODER = """\
encoder:
  tokens: [u, v]
  features: [p, q, r]
  embeddings: [[1, 2, 3], [4, 5, 6]]
  positions: {table: [[0, 0, 1], [1, 0, 0]]}
  layers:
    - attention:
        heads:
          - W_Q: [[1], [2], [3]]
            W_K: [[1], [2], [3]]
            W_V: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
      ffn: {W_1: [[1], [2], [3]], W_2: [[1, 2, 3]]}
  final_norm: {gain: [1, 1, 1]}
layers:
  - cross_attention:
      heads: [{W_Q: [[1], [2]], W_K: [[4], [5], [6]], W_V: [[1, 0], [0, 1], [0, 0]]}]
"""
WITH_ENCODER = f"title: T\ntokens: [a]\nembeddings: [[1, 2]]\n{ENCODER}"
IN_THE_ENCODER = [
    (("W_Q: [[1], [2], [3]]", "‸W_Q: [[1], [2]]"), "encoder.layer1.attention.head1.W_Q: 2 rows"),
    (("W_2: [[1, 2, 3]]", "‸W_2: [[1, 2, 3], [4, 5, 6]]"), "encoder.layer1.ffn.W_2: 2 rows"),
    (("gain: [1, 1, 1]", "‸gain: [1, 1]"), "encoder.final_norm.gain: 2 numbers"),
    (("features: [p, q, r]", "‸features: [p, q]"), "encoder.features: 2 entries"),
    (("table: [[0, 0, 1], [1, 0, 0]]", "‸table: [[0, 0, 1]]"), "encoder.positions.table: 1 row"),
    (
        ("      ffn:", "      ‸cross_attention: {heads: [{W_Q: identity}]}\n      ffn:"),
        "encoder.layer1.cross_attention: cross-attention in the encoder, which looks at its own",
    ),
    (("embeddings: [[1, 2, 3], [4", "‸embeddings: [[4"), "encoder.embeddings: 1 row, expected 2"),
    (
        ("tokens: [u, v]", "tokens: [u, ‸w]"),
        "encoder.tokens entry 2: no embedding for the token 'w'",
    ),
    (("W_K: [[4], [5], [6]]", "‸W_K: [[4], [5]]"), "layer1.cross_attention.head1.W_K: 2 rows"),
]
"""What is changed, and the beginning of what is told of it."""


@pytest.mark.parametrize(
    ("change", "told"), IN_THE_ENCODER, ids=[told for _, told in IN_THE_ENCODER]
)
def test_a_misfit_in_the_encoder_is_told_there(change: tuple[str, str], told: str) -> None:
    by_word = WITH_ENCODER.replace("[[1, 2, 3], [4, 5, 6]]", "{u: [1, 2, 3], v: [4, 5, 6]}")
    valid = by_word if "no embedding" in told else WITH_ENCODER
    assert problems(valid) == []
    assert valid.count(change[0]) == 1
    text, (place,) = marked(valid.replace(*change))
    assert any(problem.startswith(f"{place}: {told}") for problem in problems(text))


def test_vectors_are_given_or_computed() -> None:
    given = WITH_ENCODER.replace("encoder:\n", "encoder:\n  vectors: [[1], [2]]\n")
    assert "vectors and embeddings, expected only one of them" in problems(given)[0]
    (neither,) = problems("title: T\ntokens: [a]\nembeddings: [[1]]\nencoder: {tokens: [b]}\n")
    assert neither == (
        "f.yaml:4:1: encoder: expected vectors, or embeddings from which they are computed"
    )


def test_all_misfits_are_told_together_in_the_order_of_the_file() -> None:
    changes = (
        *(("token_ids: [7, 8, 9]", "‸token_ids: [7]"), ("  c: [5, 6]", "  ‸c: [5]")),
        *(("- [1, 1]", "- ‸[1]"), ("key: [k1, k2, k3]", "‸key: []")),
        *(("[2, 4, 6]", "‸[2]"), ("shift: [0, 3]", "‸shift: [0]"), ("[9, 10]", "‸[9]")),
        ("b_U: [1, 2, 3, 5]", "‸b_U: [1]"),
    )
    text, places = marked(changed(changes))
    assert [problem.split(": ")[0] for problem in problems(text)] == places
    assert len(places) == len(changes)
