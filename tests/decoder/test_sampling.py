"""Drawn words: temperature, top-k and top-p worked a second time, and where the draw falls."""

from __future__ import annotations

import itertools
import math
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest

from tests.helpers.command import generated, printed, turns
from tests.helpers.random_scenarios import CARRY_MODES

TOLERANCE = 1e-12

TALK = """\
title: Five words in any order
tokens: [a]
embeddings: {a: [1, 0.3], b: [-0.4, 0.8], c: [0.9, -0.6], d: [0.1, 0.2], e: [-1, -0.7]}
layers:
  - attention:
      heads: [{W_Q: [[0.5], [0.3]], W_K: [[0.2], [-0.9]], W_V: [[0.4, 0.1], [-0.3, 0.6]]}]
vocabulary: [a, b, c, d, e]
unembedding: {W_U: [[0.5, -1, 0.25, 0.8, 0.1], [1.2, 0.4, -0.6, -0.1, 0.3]]}
generation: {max_tokens: 6}
"""


def softmax(logits: list[float], temperature: float) -> list[float]:
    powers = [math.exp(z / temperature) for z in logits]
    return [power / math.fsum(powers) for power in powers]


def kept(p: list[float], top_k: int | None, top_p: float | None) -> list[int]:
    """The likeliest words, as many as top-k says, then as few of them as reach top-p."""
    found = sorted(range(len(p)), key=lambda j: -p[j])[:top_k]
    while top_p is not None and math.fsum(p[j] for j in found[:-1]) >= top_p:
        found.pop()
    return found


ASKED: list[dict[str, Any]] = [
    {"seed": 1},
    {"seed": 2, "temperature": 0.7},
    {"seed": 3, "temperature": 2.5},
    {"seed": 4, "temperature": 3.0, "top-k": 3},
    {"seed": 5, "temperature": 3.0, "top-p": 0.8},
    {"seed": 6, "temperature": 2.0, "top-k": 4, "top-p": 0.9},
    {"temperature": 5.0, "top-p": 1.0},
    {"top-k": 2},
    {"top-p": 0.05},
]


def options(asked: dict[str, Any]) -> list[str]:
    return [part for name, value in asked.items() for part in (f"--{name}", str(value))]


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("cached", [(), ("--kv-cache",)], ids=["whole", "cached"])
@pytest.mark.parametrize("arithmetic", ["decimal", "float64"])
def test_a_word_is_drawn_as_asked(
    arithmetic: str, asked: dict[str, Any], cached: tuple[str, ...]
) -> None:
    text = f"{TALK}rounding: {{carry: never}}\narithmetic: {arithmetic}\n"
    document = generated("-", *options(asked), *cached, stdin=text)
    for turn, values in turns(document):
        p = softmax(values["logits"][-1], asked.get("temperature", 1))
        assert values["sampling.probabilities"][0] == pytest.approx(p, rel=TOLERANCE)
        columns = kept(p, asked.get("top-k"), asked.get("top-p"))
        words = ["abcde"[j] for j in columns]
        candidates = next(v for v in turn["values"] if v["address"] == "sampling.candidates")
        assert candidates["axes"][1]["labels"] == words

        total = math.fsum(p[j] for j in columns)
        upper = list(itertools.accumulate(p[j] / total for j in columns))
        assert values["sampling.cumulative"][0] == pytest.approx(upper, rel=TOLERANCE)
        draw = values["sampling.draw"]
        assert 0 <= draw < 1
        intervals = zip([0, *upper], upper, words, strict=False)
        assert [word for low, high, word in intervals if low <= draw < high] == [turn["word"]]


def test_the_same_seed_gives_the_same_text() -> None:
    def text(*asked: str) -> str:
        return (
            printed("generate", "-", *asked, stdin=TALK)
            .partition("the model writes ")[2]
            .partition("Turn 1")[0]
        )

    assert text("--seed", "7") == text("--seed", "7")
    assert text("--seed", "7", "--kv-cache") == text("--seed", "7")
    assert len({text("--seed", str(seed)) for seed in range(8)}) > 4


@pytest.mark.parametrize("carry", CARRY_MODES)
def test_the_draw_falls_on_the_word_however_numbers_are_rounded(carry: str) -> None:
    asked = ("--seed", "11", "--temperature", "2", "--top-k", "4", "--carry", carry)
    document = generated("-", *asked, "--decimals", "1", stdin=TALK)
    text = printed("generate", "-", *asked, "--decimals", "1", stdin=TALK)
    for turn, values in turns(document):
        candidates = next(v for v in turn["values"] if v["address"] == "sampling.candidates")
        upper, draw = values["sampling.cumulative"][0], values["sampling.draw"]
        # Of sums rounded to less than 1 the last word has the rest.
        place = next((i for i, sum_ in enumerate(upper) if draw < sum_), len(upper) - 1)
        assert candidates["axes"][1]["labels"][place] == turn["word"]
        drawn = f"The random number is {draw:.4f}"
        if draw < upper[-1]:
            assert f"{drawn}: it selects “{turn['word']}”." in text
        else:
            rest = f"{drawn}. Rounding leaves the last sum at {upper[-1]}, so the last word"
            assert f"{rest}, “{turn['word']}”, is selected." in " ".join(text.split())


MANY = f"""\
title: One word, and twelve that are alike
tokens: [a]
embeddings: {{{", ".join(f"{word}: [1]" for word in "abcdefghijklm")}}}
layers: [{{ffn: {{W_1: [[0]], W_2: [[0]]}}}}]
vocabulary: [{", ".join("abcdefghijklm")}]
unembedding: {{W_U: [[2.5{", 0" * 12}]]}}
"""
"""The first has a half, since e^2.5 is 12.2, the others 0.041 each."""


@pytest.mark.parametrize("carry", ["line", "step"])
@pytest.mark.parametrize("rounding", ["decimals: 1", "digits: {sampling.cumulative: 1}"])
@pytest.mark.parametrize("seed", [6, 7])
def test_each_running_sum_goes_on_from_the_one_before_it(
    seed: int, rounding: str, carry: str
) -> None:
    text = f"{MANY}rounding: {{{rounding}, carry: {carry}}}\n"
    asked = ("-", "--max-tokens", "1", "--seed", str(seed))
    [turn] = generated(*asked, stdin=text)["turns"]
    values = {value["address"]: value for value in turn["values"]}
    [p], [sums] = (
        [list(map(Decimal, row)) for row in values[address]["printed"]]
        for address in ("sampling.candidates", "sampling.cumulative")
    )
    before = Decimal(0)
    for share, total in zip(p, sums, strict=True):
        assert (before + share).quantize(total, ROUND_HALF_UP) == total
        before = total
    # What is said of the draw is true of the sums that are printed.
    draw = Decimal(repr(values["sampling.draw"]["data"]))
    words = values["sampling.candidates"]["axes"][1]["labels"]
    falls = [word for word, total in zip(words, sums, strict=True) if draw < total]
    assert turn["word"] == (falls[0] if falls else words[-1])


@pytest.mark.parametrize("carry", CARRY_MODES)
def test_candidates_are_chosen_on_numbers_that_are_not_rounded(carry: str) -> None:
    # Of 35.6, e^2.5 is 0.342 and e^2.52 is 0.349: with one decimal both 0.3.
    text = MANY.replace("[[2.5, 0,", "[[2.5, 2.52,")
    text += f"rounding: {{carry: {carry}, digits: {{'*.probabilities': 1}}}}\n"
    asked = ("-", "--max-tokens", "1", "--seed", "0", "--top-k", "1")
    [turn] = generated(*asked, stdin=text)["turns"]
    [shares] = [v["printed"] for v in turn["values"] if v["address"] == "sampling.probabilities"]
    assert shares[0][:2] == ["0.3", "0.3"]
    assert turn["word"] == "b"


@pytest.mark.parametrize("carry", CARRY_MODES)
@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_the_likeliest_alone_is_the_greedy_text(carry: str, seed: str) -> None:
    greedy = generated("-", "--carry", carry, stdin=TALK)
    drawn = generated("-", "--carry", carry, "--top-k", "1", "--seed", seed, stdin=TALK)
    assert drawn["text"] == greedy["text"]


def test_the_likeliest_words_alone_translate_rightly() -> None:
    text = printed("generate", "pizza", "--top-k", "1", "--seed", "5")
    assert "After “<START>”, the model writes “Me gusta la pizza <END>”." in text


# --- at other temperatures -----------------------------------------------------------------------


def table_of(markdown: str) -> list[list[str]]:
    """The rows of the table below “Other temperatures”."""
    _, _, section = markdown.partition("## Other temperatures")
    rows = [line for line in section.partition("\n##")[0].split("\n") if line.startswith("| ")]
    return [row.strip("| ").split(" | ") for row in rows if "---" not in row]


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_the_same_draw_at_other_temperatures(asked: dict[str, Any]) -> None:
    rounding = "{carry: never, decimals: 9}"
    text = f"{TALK}rounding: {rounding}\n"
    (_, values), *_ = turns(generated("-", *options(asked), stdin=text))
    z, draw, own = values["logits"][-1], values["sampling.draw"], asked.get("temperature", 1)
    table = table_of(printed("generate", "-", *options(asked), "-f", "markdown", stdin=text))
    expected: list[list[Any]] = []
    for t in sorted({0.5, 1, 2, own}):
        p = softmax(z, t)
        remaining = kept(p, asked.get("top-k"), asked.get("top-p"))
        total = math.fsum(p[j] for j in remaining)
        sums = itertools.accumulate(p[j] / total for j in remaining)
        drawn = next(j for j, reached in zip(remaining, sums, strict=True) if draw < reached)
        shares = [p[j] / total if j in remaining else 0 for j in range(len(z))]
        expected.append([t, *shares, "abcde"[drawn]])
    if all(column[1:].count(0) == len(z) - 1 for column in expected):
        assert table == []  # one word is left
        return
    header, *rows, last = table
    assert [float(cell.removeprefix("T = ")) for cell in header[1:]] == [c[0] for c in expected]
    some = [j for j in range(len(z)) if any(column[1 + j] for column in expected)]
    assert [row[0] for row in rows] == ["abcde"[j] for j in sorted(some, key=lambda j: -z[j])]
    for word, *numbers in rows:
        shares = [column[1 + "abcde".index(word)] for column in expected]
        assert [float(n) for n in numbers] == pytest.approx(shares, abs=1e-8)
    assert last == ["drawn", *(column[-1] for column in expected)]
