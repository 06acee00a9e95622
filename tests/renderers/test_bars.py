"""Signed bars: proportional to their numbers in every format, with a true text alternative.

The lengths are read from what is drawn, and compared with the numbers that were put in.
"""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

from tests.helpers.command import printed
from tests.helpers.strict_json import document
from tracer.formula.expression import Number
from tracer.lesson.document import Bar, Bars, Document, Figure, Section
from tracer.lesson.texts.page import page_of
from tracer.renderers import Format, bars, figures, render
from tracer.renderers.page.as_html import render as page
from tracer.renderers.palette import BLUE, CLAY

SVG = "{http://www.w3.org/2000/svg}"
CASES = {
    "both signs": "2.553 -0.909 -0.493 0.258 0.173",
    "positive": "3 2 0.5",
    "negative": "-3 -2 -0.5",
    "zeros": "0.00 0.00 0.00",
    "a zero": "1.00 0.00 -1.00",
    "one": "-0.3",
    "a tiny one": "1000 -0.001",
    "as large": "0.5 -0.5",
    "many": " ".join(str((-1) ** i * (40 - i)) for i in range(30)),
}
every_case = pytest.mark.parametrize("case", CASES)


def block(case: str, label: str = "part {}") -> Bars:
    numbers = CASES[case].split()
    drawn = [Bar(label.format(i), Number(Decimal(n))) for i, n in enumerate(numbers)]
    return Bars(tuple(drawn), Figure("x", "The parts of <x>"))


def expected(of: Bars) -> list[float]:
    """The lengths, where the longest bars of both signs together are 1 long."""
    numbers = [float(bar.number.value) for bar in of.bars]
    return [n / (max(0, *numbers, 0) - min(0, *numbers, 0) or 1) for n in numbers]


def in_svg(image: str) -> tuple[list[float], str, list[str], list[str]]:
    """The signed lengths, in pixels; the title, the labels and the numbers."""
    root = ElementTree.fromstring(image)
    (axis,) = root.iter(f"{SVG}path")
    zero = float(re.match(r"M([-\d.]+) ", axis.get("d") or "")[1])  # type: ignore[index]
    left, _, size, _ = map(float, (root.get("viewBox") or "").split())
    lengths = []
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("class") == "page":
            continue
        x, width = float(rect.get("x") or 0), float(rect.get("width") or 0)
        is_left = rect.get("class") == "negative"
        assert (x + width if is_left else x) == pytest.approx(zero, abs=0.06)
        assert left <= x <= x + width <= left + size
        lengths.append(-width if is_left else width)
    title, *words = ("".join(each.itertext()) for each in root.iter(f"{SVG}text"))
    return lengths, title, words[: len(words) // 2], words[len(words) // 2 :]


def in_rows(rows: list[str]) -> list[float]:
    """The signed lengths, in cells; all rows have their zero line in the same cell."""
    sizes = {"█": 1.0, "▌": 0.5, "▐": 0.5, "▏": 0.01, "▕": 0.01, " ": 0.0}
    lengths = []
    for row in rows:
        before, after = row.split("│")
        left = re.search("[█▐▕]*$", before)
        assert left
        lengths.append(sum(map(sizes.__getitem__, after)) - sum(sizes[c] for c in left[0]))
    assert len({cell_len(row.split("│")[0]) for row in rows}) == 1
    return lengths


def in_latex(text: str) -> list[float]:
    """The signed lengths, in pixels."""
    rules = re.findall(r"\\put\([^)]*\)\{\\color\{(\w+)[^}]*\}\\rule\{([\d.]+)", text)
    return [float(width) * (-1 if color == "orange" else 1) for color, width in rules]


def on_page(html: str) -> list[float]:
    """The signed lengths, in percent."""
    rects = re.findall(r'<rect class="(\w+)" x="([\d.]+)" width="([\d.]+)"', html)
    zero = {float(x) for x in re.findall('<path d="M([0-9.]+) 0V1"', html)}
    assert len(zero) == 1
    for side, x, width in rects:
        end = float(x) + float(width) if side == "negative" else float(x)
        assert end == pytest.approx(min(zero), abs=0.02)
    return [float(width) * (-1 if side == "negative" else 1) for side, _, width in rects]


@every_case
def test_bars_are_as_long_as_their_numbers_are_large(case: str) -> None:
    of = block(case)
    text = Document("x", "t", (), (Section(None, "s", (of,)),))
    lengths = expected(of)
    for found in (
        in_svg(figures.image(of))[0],
        in_latex(render(text, Format.LATEX)),
        on_page(page(page_of(text))),
    ):
        whole = max([0, *found]) - min([0, *found]) or 1
        assert [each / whole for each in found] == pytest.approx(lengths, abs=1e-3)
    for width in (40, 80, 200):
        rows = [row.plain for row in bars.in_characters(of, width)]
        found = in_rows(rows)
        whole = max([0, *found]) - min([0, *found])
        assert found == pytest.approx([whole * each for each in lengths], abs=0.51)
        assert max(map(cell_len, rows)) <= width
        for length, number in zip(found, lengths, strict=True):
            assert (length > 0, length < 0) == (number > 0, number < 0)


@every_case
def test_every_format_prints_each_number_once(case: str) -> None:
    of = block(case)
    text = Document("x", "t", (), (Section(None, "s", (of,)),))
    numbers = CASES[case].split()
    assert in_svg(figures.image(of))[3] == numbers
    for form in (Format.TERMINAL, Format.MARKDOWN):
        drawn = [line for line in render(text, form).split("\n") if "│" in line]
        assert [re.findall(r" (-?[\d.]+) ", line)[-1] for line in drawn] == numbers
    assert re.findall(r"\$(-?[\d.]+)\$", render(text, Format.LATEX)) == numbers
    assert re.findall(r"<span>(-?[\d.]+)</span>", page(page_of(text))) == numbers


ALTERNATIVES = {
    "both signs": "the largest in size is part 0 (2.553, positive).",
    "negative": "the largest in size is part 0 (-3, negative).",
    "zeros": "all are 0.",
    "one": "the largest in size is part 0 (-0.3, negative).",
    "as large": "the largest in size are part 0 (0.5, positive), part 1 (-0.5, negative).",
}


@pytest.mark.parametrize("case", ALTERNATIVES)
def test_the_text_alternative_names_the_largest(case: str) -> None:
    assert bars.description(block(case)) == f"The parts of <x>: {ALTERNATIVES[case]}"


def test_the_rest_is_no_part_that_is_the_largest() -> None:
    drawn = (Bar("a", Number(Decimal(-1))), Bar("9 more", Number(Decimal(5)), 9))
    words = bars.description(Bars(drawn, Figure("x", "t")))
    assert words == "t: the largest in size is a (-1, negative)."


@pytest.mark.parametrize(
    "label", ["a very long label of a part {} that goes on", "日本語の名前 {}", "<b> {} & $"]
)
def test_labels_are_cut_and_escaped(label: str) -> None:
    of = block("both signs", label)
    assert len({cell_len(row.plain.split("│")[0]) for row in bars.in_characters(of, 40)}) == 1
    assert all(cell_len(row.plain) <= 40 for row in bars.in_characters(of, 40))
    _, title, labels, _ = in_svg(figures.image(of))
    assert title == "The parts of <x>"
    assert all(cell_len(each) <= 24 for each in labels)
    text = Document("x", "t", (), (Section(None, "s", (of,)),))
    written = render(text, Format.LATEX)
    assert r"\textless{}b\textgreater{}" in written or "<" not in label


def test_numbers_may_be_larger_than_floats() -> None:
    drawn = tuple(Bar("a", Number(Decimal(number))) for number in ("3E+400", "-1E+400"))
    of = Bars(drawn, Figure("x", "t"))
    assert [bars.scale_of(of).length(bar.number) for bar in drawn] == [0.75, -0.25]
    found, _, _, numbers = in_svg(figures.image(of))
    assert found[0] == pytest.approx(-3 * found[1], abs=0.05)
    assert numbers == ["3×10⁴⁰⁰", "-1×10⁴⁰⁰"]
    text = Document("x", "t", (), (Section(None, "s", (of,)),))
    assert "3 \\times 10^{400}" in render(text, Format.LATEX)


def test_colors_on_a_terminal_are_those_of_the_sign() -> None:
    of = block("both signs")
    for row, bar in zip(bars.in_characters(of, 80), of.bars, strict=True):
        ((start, end, style),) = row.spans
        assert re.fullmatch(" *[█▐▌]+", row.plain[start:end])
        assert style == (CLAY if bar.number.value < 0 else BLUE)


# --- of an attribution ---------------------------------------------------------------------------

LARGE = """
title: t
tokens: [a, b, c]
random: {seed: 3}
dimensions: {layers: 5, width: 32, heads: 4, words: 40, context: 9}
"""
ASKED = {
    "alex": ("attribute", "output[Alex,cheap]", "-s", "alex"),
    "pizza": ("attribute", "logits[la,pizza]", "-s", "pizza", "--instead-of", "la"),
    "large": ("attribute", "logits[c,w13]", "-s", "-"),
}


@pytest.mark.parametrize("name", ASKED)
def test_an_attribution_shows_its_largest_parts_and_the_rest(name: str, tmp_path: Path) -> None:
    stdin = LARGE if name == "large" else ""
    found = document(*ASKED[name], stdin=stdin)
    text = printed(*ASKED[name], "-f", "markdown", "--figures", str(tmp_path), stdin=stdin)
    (file,) = tmp_path.glob("*.parts.svg")
    lengths, title, labels, numbers = in_svg(file.read_text(encoding="utf-8"))
    instead = ASKED[name][5:]
    assert title.endswith(" as a sum")
    assert (" and not “la”" in title) == bool(instead)
    sizes = [float(part["value"]) for part in found["parts"]]
    shown = sizes if len(sizes) == len(labels) else sizes[: len(labels) - 1]
    assert labels[: len(shown)] == [part["label"] for part in found["parts"]][: len(shown)]
    assert numbers[: len(shown)] == [part["printed"] for part in found["parts"]][: len(shown)]
    if rest := sizes[len(shown) :]:
        assert labels[-1] == f"{len(rest)} more"
        assert f"[{len(rest)} more: {numbers[-1]}]" in text
        shown.append(sum(rest))
    whole = (max(0, *lengths) - min(0, *lengths)) / (max(0, *shown) - min(0, *shown))
    assert lengths == pytest.approx([whole * each for each in shown], abs=8)  # they are rounded
    assert all(abs(a) >= abs(b) for a, b in pairwise(sizes))
    sign = "positive" if sizes[0] > 0 else "negative"
    words_of, *_ = re.findall(r"^!\[(.*)\]", text.split("Their sum:")[0], re.MULTILINE)
    assert f"the largest in size is {labels[0]} ({numbers[0]}, {sign})" in words_of


def test_many_bars_are_on_several_pages_of_paper() -> None:
    drawn = tuple(Bar(f"part {i}", Number(Decimal(i + 1))) for i in range(100))
    text = Document("x", "t", (), (Section(None, "s", (Bars(drawn, Figure("x", "t")),)),))
    written = render(text, Format.LATEX)
    heights = re.findall(
        r"unitlength\}\{([\d.]+)pt.*\n\\begin\{picture\}\([\d.]+,([\d.]+)", written
    )
    assert len(heights) == 3
    assert all(float(unit) * float(height) < 700 for unit, height in heights)
    assert in_latex(written) == pytest.approx([3 * (i + 1) for i in range(100)], abs=0.01)
