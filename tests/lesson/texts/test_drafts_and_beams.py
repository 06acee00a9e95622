"""Texts of drafts and beams: each equation and each sentence is true, in every carry mode.

A sentence that is not among the forms fails. The numbers come from the JSON of the same command.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.decoder.test_speculation import LIKE_IT, TALK, another
from tests.helpers import random_scenarios
from tests.helpers.claims_of_drafts import BEAMS, DRAFTS, Place, faults
from tests.helpers.command import printed, run
from tests.helpers.latex_truth import from_latex, from_markdown
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.truth import equations, false_equations, needless_equations, unreadable

WIDE = 5000
REFUSED = (
    "a division by zero|number is too (large|small)|the mask shows later tokens|"
    "cannot read drafted words|probability is too small"
)
READERS: dict[str, tuple[tuple[str, ...], Callable[[str], str]]] = {
    "terminal": ((), str),
    "markdown": (("--format", "markdown"), from_markdown),
    "math": (("--format", "markdown", "--math"), from_markdown),
    "latex": (("--format", "latex"), from_latex),
}


def assert_true(options: tuple[str, ...], stdin: str, form: str = "terminal") -> None:
    ran = run("generate", "-", *options, "--format", "json", stdin=stdin)
    if ran.exit_code:
        assert re.search(REFUSED, ran.stderr), ran.stderr
        return
    more, read = READERS[form]
    text = printed("generate", "-", *options, *more, width=WIDE, stdin=stdin)
    plain = read(text)
    assert (unreadable(plain), false_equations(plain)) == ([], [])
    assert needless_equations(plain) == []
    said, greedy = json.loads(ran.stdout), None
    if "--draft" in options and not any("draw" in str(each) for each in said["rounds"]):
        limit = options[options.index("--max-tokens") :][:2]
        ran = run("generate", "-", *limit, "--format", "json", stdin=stdin)
        greedy = json.loads(ran.stdout)["text"]
    if form == "terminal":
        assert faults(text, Place(said, greedy), DRAFTS if "--draft" in options else BEAMS) == []
        if said["rounding"]["carry"] != "never" or "--draft" in options:
            assert unprinted(text) == []
    if "--draft" not in options or "--seed" in options:
        assert equations(plain)


NUMBER = re.compile(r"(?<![\d.])-?\d+\.\d+(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?")


def unprinted(text: str) -> list[str]:
    """The lines that put in a number that stood nowhere before: in no table and no line.

    A random number stands in the line before. What other words have together stands in a sentence.
    """
    known, found = set[str](), []
    for line in text.split("\n"):
        shown = set(NUMBER.findall(line))
        if re.match(" {4}[^ ]", line):
            sides = re.split(" +[=≈] +", line)
            first = next((side for side in sides if NUMBER.search(side)), "")
            # A number that a sign precedes is subtracted, or negative.
            put_in = {each.lstrip("-") for each in NUMBER.findall(first)}
            if first != sides[-1] and put_in - {each.lstrip("-") for each in known}:
                found.append(line)
        known |= shown
    return found


WAYS = (
    ("--draft",),
    ("--draft", "--seed", "1"),
    ("--draft", "--seed", "2", "--temperature", "0.6", "--draft-tokens", "2"),
    ("--draft", "--seed", "3", "--temperature", "3", "--top-p", "0.8"),
    ("--draft", "--seed", "4", "--top-k", "2"),
    ("--beams", "1"),
    ("--beams", "2"),
    ("--beams", "3"),
)


def options_of(way: tuple[str, ...], draft: Path, limit: int) -> tuple[str, ...]:
    with_draft = [*way[:1], str(draft), *way[1:]] if way[0] == "--draft" else way
    return (*with_draft, "--max-tokens", str(limit))


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_of_one_pair(way: tuple[str, ...], tmp_path: Path) -> None:
    draft = tmp_path / "draft.yaml"
    draft.write_text(LIKE_IT, encoding="utf-8")
    for i, carry in enumerate(("line", "step", "never")):
        for ends in ("", ", end: c"):
            text = TALK.replace("carry: never", f"carry: {carry}").replace("s: 6", f"s: 6{ends}")
            form = list(READERS)[1 + i] if ends else "terminal"
            assert_true(options_of(way, draft, 5), text, form)


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], tuple[str, ...], int]:
    spec = draw(random_scenarios.scenarios(speaks=True, max_layers=1, max_tokens=3))
    other = another(spec, draw(st.integers(0, 100)))
    if draw(st.booleans()):
        other = {**other, "rounding": {"decimals": draw(st.integers(1, 5))}}
    return spec, other, draw(st.sampled_from(WAYS)), draw(st.integers(1, 3))


few = settings(
    max_examples=8, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)


def assert_case(
    case: tuple[dict[str, Any], dict[str, Any], tuple[str, ...], int], folder: Path
) -> None:
    spec, other, way, limit = case
    draft = folder / "draft.yaml"
    draft.write_text(to_yaml(other), encoding="utf-8")
    assert_true(options_of(way, draft, limit), to_yaml(spec))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drafts")


def test_of_random_scenarios(folder: Path) -> None:
    @few
    @given(cases())
    def tested(case: Any) -> None:
        assert_case(case, folder)

    tested()


@pytest.mark.fuzz
def test_of_many_random_scenarios(folder: Path) -> None:
    @settings(few, max_examples=500, derandomize=False)
    @given(cases())
    def tested(case: Any) -> None:
        assert_case(case, folder)

    tested()


def test_a_changed_number_or_name_is_found(tmp_path: Path) -> None:
    draft = tmp_path / "draft.yaml"
    draft.write_text(LIKE_IT, encoding="utf-8")
    for way in (WAYS[0], WAYS[1], WAYS[-1]):
        options, missed, tried = options_of(way, draft, 4), list[str](), 0
        said = json.loads(printed("generate", "-", *options, "--format", "json", stdin=TALK))
        plain = json.loads(printed("generate", "-", "--max-tokens", "4", "-f", "json", stdin=TALK))
        text = printed("generate", "-", *options, width=WIDE, stdin=TALK)
        forms = DRAFTS if way[0] == "--draft" else BEAMS
        lines = text.split("\n")
        for i, line in enumerate(lines):
            if not re.match("[A-Z“0-9]", line) or set(lines[i + 1]) & set("═─"):
                continue
            for found in re.finditer("“.+?”", line):
                wrong = f"{line[: found.start()]}“xyzzy”{line[found.end() :]}"
                changed = "\n".join([*lines[:i], wrong, *lines[i + 1 :]])
                tried += 1
                if not faults(changed, Place(said, plain["text"]), forms):
                    missed.append(wrong)
        assert tried > 3 and missed == []


def test_many_words_are_summed_up(tmp_path: Path) -> None:
    """Of 40 words, the eight most probable are shown; the sums of the others are in the table."""
    rng = random.Random(5)
    words = [f"w{i}" for i in range(40)]
    spec = {
        "tokens": ["w0"],
        "embeddings": {word: [rng.choice((-1, 1)), rng.random()] for word in words},
        "layers": [],
        "vocabulary": words,
        "unembedding": {"W_U": [[rng.gauss(0, 1.5) for _ in words] for _ in range(2)]},
    }
    draft = tmp_path / "draft.yaml"
    draft.write_text(yaml.safe_dump(another(spec, 3)), encoding="utf-8")
    options = ("--draft", str(draft), "--seed", "1", "--max-tokens", "4")
    text = printed("generate", "-", *options, width=WIDE, stdin=yaml.safe_dump(spec))
    assert (unreadable(text), false_equations(text)) == ([], [])
    assert re.search(r"^  \d+ others", text, re.MULTILINE) and " more: " in text
    for table in re.findall(r"word +q.*\n((?:[ ▸] .*\n)+)", text):
        columns = zip(*(row.split()[-4:] for row in table.strip("\n").split("\n")), strict=True)
        q, p, common, left = (sum(map(Decimal, column)) for column in columns)
        assert q == p == 1 and common + left == 1


def test_a_number_from_nowhere_is_found() -> None:
    assert unprinted("  0.25  0.5\n    a: 0.25 + 0.5 = 0.75\n    b: 0.75 - 0.5 = 0.25\n") == []
    assert unprinted("  0.25  0.5\n    a: 0.25 + 0.4 = 0.65\n") == ["    a: 0.25 + 0.4 = 0.65"]


@pytest.mark.parametrize("carry", ["line", "step", "never"])
def test_every_step_of_both_models_is_true(carry: str, tmp_path: Path) -> None:
    draft = tmp_path / "draft.yaml"
    draft.write_text(LIKE_IT, encoding="utf-8")
    options = ("--draft", str(draft), "--seed", "2", "--temperature", "0.7", "--top-k", "3")
    limits = ("--max-tokens", "3", "--worked", "--brief")
    stdin = TALK.replace("carry: never", f"carry: {carry}")
    text = printed("generate", "-", *options, *limits, width=WIDE, stdin=stdin)
    assert (unreadable(text), false_equations(text)) == ([], [])
    assert text.count("\nA pass of draft\n") == 2
    assert len(re.findall("^The logits, divided by the temperature:$", text, re.MULTILINE)) >= 4
