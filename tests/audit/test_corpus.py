"""What is read, what is found in it, and what is left alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.audit.conftest import audited
from tests.audit.corpus import CONSTRUCTS, LOOK_ALIKES
from tracer.audit.reading.texts import Markup

TEXTS = [markup for markup in Markup if markup is not Markup.NOTEBOOK]


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_a_construct_is_read_and_its_false_variant_found(name: str) -> None:
    for true, false in CONSTRUCTS[name]:
        held = audited(true)
        assert (held.read >= 1, held.hold) == (True, held.read), true
        assert [finding.code for finding in audited(false).findings] == ["A01"], false


@pytest.mark.parametrize("markup", TEXTS)
def test_nothing_is_found_in_what_looks_alike(markup: Markup) -> None:
    for line in LOOK_ALIKES.splitlines():
        assert audited(line, markup).findings == [], line
    assert audited(LOOK_ALIKES, markup).findings == []


@pytest.mark.parametrize(
    ("content", "markup"),
    [
        ("<p>3 &times; 4 = <b>13</b></p>", Markup.HTML),
        ("<td>2<sup>3</sup> + 1 = 10</td>", Markup.HTML),
        ("<li>7 &#8722; 2 = 6</li><script>x = 2*3 = 7</script>", Markup.HTML),
        ("A sum, :math:`2 + 3 = 6`, in a sentence", Markup.RESTRUCTURED),
        (".. math::\n   :label: one\n\n   \\frac{1}{4} = 0.52\n\nText.", Markup.RESTRUCTURED),
        ("Then **2 + 3 = 6** is said::\n\n    7 - 2 = 5\n", Markup.RESTRUCTURED),
        ("% 2 + 2 = 9\n\\[ 2 + 3 = 6 \\]", Markup.LATEX),
        ("\\begin{verbatim}\n2 + 3 = 6\n\\end{verbatim}", Markup.LATEX),
        ("Here $2 \\cdot 3 = 7$ is said.", Markup.LATEX),
        ("  h: 2*3\n     + 4*5\n   = 62", Markup.PLAIN),
    ],
)
def test_one_is_found_in_each_kind_of_text(content: str, markup: Markup) -> None:
    assert [finding.code for finding in audited(content, markup).findings] == ["A01"]


@pytest.mark.parametrize(
    "true",
    [
        "The product is 1/4 &times; 12/51 = 1/17.",
        "7 &minus; 2 &asymp; 5",
        "$$ x &= 3 \\hbox{ since it is odd} \\\\ &= 6 / 2 $$",
        "## Part 3\n= 5 + 1 in all",
        "$$ \\begin{bmatrix}1&2\\end{bmatrix} + [1, 1] = [2, 3] $$",
        "a change of 1.0 = −6.7%",
    ],
)
def test_markup_between_numbers_is_understood(true: str) -> None:
    held = audited(true)
    assert (held.findings, held.doubtful) == ([], []), true


def test_the_evidence_that_the_page_names_has_an_example_that_is_reported() -> None:
    page = Path(__file__).parents[2] / ".github" / "docs" / "audit.md"
    table = page.read_text(encoding="utf-8").partition("| evidence | example |")[2]
    examples = re.findall(r"\| `(.+)` \|", table)
    assert len(examples) == 7
    for example in examples:
        found = audited(f"{example}\n\n{'A sentence about something else. ' * 40}").findings
        assert len(found) == 1, example
