"""Examples of beam search and speculative decoding that others have published.

A model without layers has the probabilities that an author prints: the row of the last word holds
their logarithms.
"""

from __future__ import annotations

import json
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command import printed

START = "start"


def model(rows: dict[str, dict[str, float]], words: list[str]) -> str:
    """A scenario in which the probabilities of the next word depend on the last word."""
    unlikely = 1e-9
    spec = {
        "title": "A table of probabilities",
        "tokens": [START],
        "embeddings": {
            word: [round(log(row.get(other, unlikely)), 12) for other in words]
            for word, row in rows.items()
        },
        "layers": [],
        "vocabulary": words,
        "unembedding": {"W_U": [[int(a == b) for b in words] for a in words]},
        "rounding": {"decimals": 6, "carry": "never"},
    }
    return json.dumps(spec)


def searched(stdin: str, beams: int, words: int) -> Any:
    limits = ("--beams", str(beams), "--max-tokens", str(words))
    return json.loads(printed("generate", "-", *limits, "--format", "json", stdin=stdin))


def scores(found: Any) -> dict[str, float]:
    """The logarithm of the probability of each candidate of the last turn."""
    turn = found["turns"][-1]
    return {
        " ".join([*turn["beams"][each["beam"] - 1]["input"][1:], each["word"]]): each["score"]
        for each in turn["candidates"]
    }


# --- beam search ---------------------------------------------------------------------------------

THE = {
    START: {"nice": 0.5, "dog": 0.4, "car": 0.1},
    "nice": {"woman": 0.4, "house": 0.3, "guy": 0.3},
    "dog": {"and": 0.05, "runs": 0.05, "has": 0.9},
    "car": {"is": 0.3, "drives": 0.5, "turns": 0.2},
}
WORDS = list(dict.fromkeys(word for row in THE.values() for word in row))
"""After “The”, in huggingface.co/blog/how-to-generate."""

CHAIN = {START: {"0": 0.6, "1": 0.4}, "0": {"0": 0.7, "1": 0.3}, "1": {"0": 0.4, "1": 0.6}}
"""prof.lexailabs.com/practice/beam-search-decoding"""

EVERY_STEP = {"0": 0.5, "1": 0.3, "2": 0.2}
STEPS = {START: {"0": 0.1, "1": 0.2, "2": 0.7}, **dict.fromkeys("012", EVERY_STEP)}
"""click4ai.perfionixai.com/problems/beam-search-decoding"""


def test_two_beams_find_what_one_misses() -> None:
    rows = THE | {word: {other: 1 / len(WORDS) for other in WORDS} for word in WORDS[3:]}
    found = searched(model(rows, WORDS), 2, 2)
    assert found["text"][1:] == ["dog", "has"]
    for text, probability in (("dog has", 0.36), ("nice woman", 0.2)):
        assert scores(found)[text] == pytest.approx(log(probability), abs=1e-6)
    alone = searched(model(rows, WORDS), 1, 2)
    assert alone["text"][1:] == ["nice", "woman"]


def test_a_chain_has_the_published_probabilities() -> None:
    found = searched(model(CHAIN, ["0", "1"]), 2, 2)
    assert found["text"][1:] == ["0", "0"]
    published = {"0 0": 0.42, "1 1": 0.24, "0 1": 0.18, "1 0": 0.16}
    expected = {text: log(probability) for text, probability in published.items()}
    assert scores(found) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("beams", [1, 2])
def test_the_most_probable_words_of_each_step_are_not_the_first(beams: int) -> None:
    """The author expects 0 0, which has the probability 0.1×0.5 = 0.05; 2 0 has 0.7×0.5 = 0.35."""
    found = searched(model(STEPS, ["0", "1", "2"]), beams, 2)
    assert found["text"][1:] == ["2", "0"]
    assert scores(found)["2 0"] == pytest.approx(log(0.7 * 0.5), abs=1e-6)
    assert "0 0" not in scores(found)


# --- speculative decoding ------------------------------------------------------------------------


def speculated(folder: Path, target: str, draft: str, *options: str) -> Any:
    for name, text in (("target", target), ("draft", draft)):
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    files = (str(folder / "target.yaml"), "--draft", str(folder / "draft.yaml"))
    limits = ("--temperature", "1", *options, "--format", "json")
    return json.loads(printed("generate", *files, *limits))


def checked(check: Any) -> tuple[dict[str, Fraction], dict[str, Fraction], Fraction]:
    """min(1, p / q) and the residual distribution of each word, and the mean acceptance."""
    rows = check["probabilities"]
    p, q, left = (
        {row["word"]: Fraction(str(row[name])) for row in rows} for name in ("p", "q", "left")
    )
    ratios = {word: min(Fraction(1), p[word] / q[word]) for word in p}
    rest = {word: number / sum(left.values()) for word, number in left.items() if number}
    return ratios, rest, Fraction(str(check["acceptance"]))


NUMBERED = ["0", "1", "2", "3"]


def numbered(*row: float) -> dict[str, float]:
    return dict(zip(NUMBERED, row, strict=True))


def test_a_draft_is_verified_as_published(tmp_path: Path) -> None:
    """github.com/AlphaGPU/leetgpu-challenges, 87_speculative_decoding_verification.

    With the draws of this seed, too, the first draft is accepted, the second is rejected, and the
    residual distribution selects 3.
    """
    end = numbered(0.4, 0.2, 0.2, 0.2)
    draft = {START: numbered(0.1, 0.6, 0.2, 0.1), "1": numbered(0.1, 0.2, 0.5, 0.2)}
    target = {START: numbered(0.1, 0.5, 0.2, 0.2), "1": numbered(0.3, 0.2, 0.2, 0.3)}
    for rows in (draft, target):
        rows.update({word: end for word in NUMBERED if word != "1"})
    options = ("--draft-tokens", "2", "--max-tokens", "4", "--seed", "4")
    found = speculated(tmp_path, model(target, NUMBERED), model(draft, NUMBERED), *options)
    first, second = found["rounds"][0]["checks"]
    assert (first["word"], second["word"]) == ("1", "2")
    assert checked(first)[0]["1"] == Fraction(5, 6)  # printed as 0.833
    ratios, rest, _ = checked(second)
    assert ratios["2"] == Fraction(2, 5)
    assert rest == {"0": Fraction(2, 3), "3": Fraction(1, 3)}
    assert (first["accepted"], second["accepted"]) == (True, False)
    assert found["rounds"][0]["written"] == ["1", "3"]


def test_a_prefix_of_a_draft_is_accepted_as_published(tmp_path: Path) -> None:
    """prof.lexailabs.com/practice/speculative-decoding-verification: ratios 2, capped, and 0.2."""
    words = ["5", "2", "7"]
    draft = {START: {"5": 0.3, "2": 0.4, "7": 0.3}, "5": {"5": 0.2, "2": 0.5, "7": 0.3}}
    target = {START: {"5": 0.6, "2": 0.2, "7": 0.2}, "5": {"5": 0.5, "2": 0.1, "7": 0.4}}
    for rows in (draft, target):
        rows.update({word: {"5": 0.3, "2": 0.3, "7": 0.4} for word in ("2", "7")})
    files = model(target, words), model(draft, words)
    options = ("--draft-tokens", "2", "--max-tokens", "4")
    seen = 0
    for seed in range(12):
        found = speculated(tmp_path, *files, *options, "--seed", str(seed))
        checks = found["rounds"][0]["checks"]
        if checks[0]["word"] != "5":
            continue
        assert checked(checks[0])[0]["5"] == 1
        assert checks[0]["accepted"]
        if len(checks) > 1 and checks[1]["word"] == "2":
            seen += 1
            assert checked(checks[1])[0]["2"] == Fraction(1, 5)
            assert checks[1]["accepted"] == (checks[1]["draw"] < 0.2)
    assert seen
