"""Why each thing is done, and how large it is: told where it comes first."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest
import yaml

from tests.helpers.bundled import TYPED
from tests.helpers.command import printed, run_json
from tests.helpers.learned_numbers import numbers_learned

every_scenario = pytest.mark.parametrize("name", TYPED)

REASON = re.compile(
    r"\b(because|so that|otherwise|therefore|since|lets|without (?:positions|the \w+)"
    r"|with probabilities|to a moderate size|to predict the word|adds nothing)\b",
    re.IGNORECASE,
)
SAID_INSTEAD = re.compile(
    r"^There (?:is|are) (?:no|only one) .* here|are given: they are not computed here|"
    r"^A large score means|^The logit of .* is the dot product",
    re.MULTILINE,
)
"""What is not there has no reason."""


@cache
def tutorial(name: str, *options: str) -> str:
    return printed("tutorial", name, "--detail", "full", *options)


def steps(text: str) -> list[tuple[str, str]]:
    """The numbered steps: what kind of step it is, and its text."""
    parts = re.split(r"^### [0-9]+\. ", text.partition("\n## Summary")[0], flags=re.MULTILINE)[1:]
    split = [part.partition("\n")[::2] for part in parts]
    kinds = (
        re.sub("^Final | (?:after|before|of W_.) .*| of W_.$", "", title.rpartition(" · ")[2])
        for title, _ in split
    )
    return list(zip(kinds, (body for _, body in split), strict=True))


def prose(text: str) -> list[str]:
    """The sentences outside tables, fences, formulas, contents and headings."""
    bare = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    others = ("|", "#", "- [", ">", "$$", "![")
    blocks = [b.strip() for b in bare.split("\n\n") if b.strip() and not b.startswith(others)]
    return [s for block in blocks for s in re.split(r"(?<=[.:?!])\s+", block)]


@every_scenario
def test_the_first_step_of_each_kind_says_why(name: str) -> None:
    first: dict[str, str] = {}
    for kind, body in steps(tutorial(name)):
        first.setdefault(kind, body)
    assert len(first) > 10
    silent = [
        k for k, body in first.items() if not (REASON.search(body) or SAID_INSTEAD.search(body))
    ]
    assert silent == SILENT.get(name, [])


SILENT = {"experts": ["Output of the model"]}
"""Without attention, an output gathers nothing."""


@every_scenario
def test_a_reason_is_given_once(name: str) -> None:
    why = [sentence for sentence in prose(tutorial(name)) if REASON.search(sentence)]
    assert {sentence: n for sentence, n in Counter(why).items() if n > 1} == {}


@every_scenario
def test_brief_leaves_reasons_and_counts_out(name: str) -> None:
    brief = tutorial(name, "--brief")
    assert not re.search(r"\bparameters?\.", brief)
    assert len(prose(brief)) < len(prose(tutorial(name)))
    # What is computed is the same.
    numbers = [
        re.findall(r"^[^#>|`].* [=≈] .*$", text, re.MULTILINE) for text in (brief, tutorial(name))
    ]
    assert [n for n in numbers[0] if "parameters" not in n] == [
        n for n in numbers[1] if "parameters" not in n
    ]


@every_scenario
def test_every_matrix_has_its_shape_where_it_comes_first(name: str) -> None:
    text = re.sub(r"[_\\]", "", tutorial(name))
    missing = []
    for value in run_json(name)["values"]:
        rows_and_columns = " × ".join(map(str, value["shape"]))
        symbol = re.sub(r"[_\\]", "", value["symbol"])
        if len(value["shape"]) == 2 and f"{symbol} ({rows_and_columns})" not in text:
            missing.append(symbol)
    # What has no formula of its own is written inside that of another.
    assert {s for s in missing if re.fullmatch(r"[A-Za-zΣ]+′?[₀-₉]*[⁰-⁹]*", s)} <= {
        *("targets", "S₁", "S₂", "V₂"),  # blocks are columns and rows of S and V
        *("FQ", "FV"),  # frozen weights have the shape of the sum
    }


@every_scenario
def test_parameters_are_counted(name: str) -> None:
    learned = numbers_learned(yaml.safe_load(TYPED[name].read_text(encoding="utf-8")))
    counted = f"\n| parameters | {learned:,} | " in tutorial(name)
    assert counted or (not learned and "\n| parameters |" not in tutorial(name))


def test_the_first_tutorial_is_a_text_and_not_a_list() -> None:
    sentences = prose(tutorial("alex"))
    words = sum(len(sentence.split()) for sentence in sentences)
    assert 1500 <= words <= 3500
    twice = sum(n for n in Counter(sentences).values() if n > 1)
    assert twice / len(sentences) < 1 / 7
