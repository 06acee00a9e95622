"""Whatever a text holds, auditing it ends soon, and longer texts take longer in proportion."""

from __future__ import annotations

import time

import pytest

from tracer.audit.findings import Audit, audit
from tracer.audit.texts import Markup, Text

LENGTH = 8_000

SIGNS = {
    "opened": "(",
    "equal": "=",
    "equal apart": "= ",
    "fractions": "\\frac{",
    "digits": "1",
    "powers": "^",
    "powers of e": "e^",
    "braces": "{",
    "chains": "1=",
    "chains of sums": "1 + 1 = ",
    "chains in brackets": "(1=",
    "closed": ")=",
    "signs": "-",
    "bullets": "- ",
    "roots": "√",
    "lists": "[1,",
    "dollars": "$",
    "displays": "$$ a ",
    "environments": "\\begin{align}",
    "norms": "‖1",
    "tags": "<",
    "comments": "<!--",
    "stars": "**a",
    "fences": "`",
    "versions": "1.1.",
    "thousands": "1,111",
    "lines": "1 +\n",
    "false sums": "1.55 + 2.55 = 3\n",
    "large powers": "9^9999 = 3 ",
}


def audited(content: str, markup: Markup) -> Audit:
    return audit(Text("text", content, markup))


@pytest.mark.parametrize(
    "markup", [Markup.MARKDOWN, Markup.LATEX, Markup.HTML, Markup.RESTRUCTURED]
)
@pytest.mark.parametrize("name", SIGNS)
def test_it_ends_without_an_error(name: str, markup: Markup) -> None:
    sign = SIGNS[name]
    audited(sign * (LENGTH // len(sign)) + "\n1 = 1 = 2", markup)


def test_brackets_in_brackets_are_left_alone_from_some_depth_on() -> None:
    for depth, read in ((10, 1), (1000, 0)):
        content = f"{'(' * depth}1 + 1{')' * depth} = 2"
        assert audited(content, Markup.MARKDOWN).read == read


def test_a_sum_may_have_many_terms() -> None:
    assert audited(f"{'1 + ' * 4000}1 = 4001", Markup.MARKDOWN).hold == 1


def seconds(content: str) -> float:
    """Of this process, the least of three times."""
    times = []
    for _ in range(2):
        start = time.process_time()
        audited(content, Markup.MARKDOWN)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("name", ["equal apart", "chains", "false sums", "displays", "lists"])
def test_four_times_the_text_takes_four_times_as_long(name: str) -> None:
    sign = SIGNS[name]
    once = sign * (5_000 // len(sign))
    assert seconds(once * 4) < 4 * 2.5 * seconds(once) + 0.05
