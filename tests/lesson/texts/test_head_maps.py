"""Heat maps of heads: the numbers of the data, colored by size and sign, with a true legend."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.helpers.command import printed
from tests.helpers.scenario_yaml import to_yaml
from tests.helpers.strict_json import document
from tests.renderers.test_svg import colors, contrast
from tracer.formula.expression import Number, Symbol
from tracer.lesson.document import Figure, Matrix
from tracer.renderers.palette import BLUE, CLAY
from tracer.renderers.tables import matrix_rows

SVG = "{http://www.w3.org/2000/svg}"
ADDRESS = re.compile(r"(encoder\.)?layer(\d+)\.(attention|cross_attention)\.head(\d+)\.output")
NUMBER = r"-?\d+(?:\.\d+)?(?:×10⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
TITLES = {
    ("", "attention"): "The {} of the heads",
    ("", "cross_attention"): "The {} of the heads of cross-attention",
    ("encoder.", "attention"): "The {} of the heads of the encoder",
}
LARGE = """
title: t
tokens: [a, b, c]
random: {seed: 3}
dimensions: {layers: 5, width: 36, heads: 12, words: 40, context: 9}
"""


def of_heads(*counts: int) -> str:
    """A scenario with an encoder, whose layers have so many heads."""
    rng = random.Random(5)

    def matrix(rows: int, columns: int) -> list[list[Decimal]]:
        return [[Decimal(rng.randint(-9, 9)) / 10 for _ in range(columns)] for _ in range(rows)]

    def attention(heads: int) -> dict[str, Any]:
        names = ("W_Q", "W_K", "W_V")
        every = [{name: matrix(2, 1) for name in names} for _ in range(heads)]
        return {"heads": every, "W_O": matrix(heads, 2)}

    words = ["a", "b", "c", "d"]
    both = ("attention", "cross_attention")
    towers = {"tokens": words[:2], "embeddings": matrix(2, 2)}
    encoder = [{"attention": attention(n)} for n in counts]
    layers = [{name: attention(n) for name in both} for n in counts]
    return to_yaml(
        {
            **{"title": "t", **towers, "encoder": {**towers, "layers": encoder}},
            **{"layers": layers, "vocabulary": words, "unembedding": {"W_U": matrix(2, 4)}},
            "rounding": {"decimals": 4},
        }
    )


Maps = dict[str, dict[int, list[Any]]]


def expected(entries: list[dict[str, Any]], key: str, what: str) -> Maps:
    """The numbers of the heads in JSON: by title, then by layer, in the order of the heads."""
    found: Any = defaultdict(lambda: defaultdict(dict))
    for each in entries:
        if match := ADDRESS.fullmatch(each["address"]):
            tower, layer, part, head = match.groups()
            found[tower or "", part][int(layer)][int(head)] = each[key]
    maps: Maps = {}
    for kind, layers in found.items():
        counts = {len(row) for row in layers.values()}
        if sum(len(row) > 1 for row in layers.values()) < 2:
            continue
        for layer, row in sorted(layers.items()):
            number = f"{len(row)} head{'s' * (len(row) > 1)}"
            title = TITLES[kind].format(what) + f", layers with {number}" * (len(counts) > 1)
            maps.setdefault(title, {})[layer] = [row[head] for head in sorted(row)]
    return maps


def in_markdown(text: str) -> Maps:
    """The maps of a text by their titles."""
    found: Maps = {}
    for title, table in re.findall(r"^(.*), a row for each layer:\n\n((?:\|.*\n)+)", text, re.M):
        header, _, *rows = [line.strip("| \n").split(" | ") for line in table.splitlines()]
        assert header[1:] == [f"head {i}" for i in range(1, len(header))]
        found[title] = {int(row[0]): row[1:] for row in rows}
    return found


def check_picture(svg: str, printed_in_text: str, largest: float) -> None:
    """Cells are as deep as their numbers are large, by sign; the alternative is true."""
    root = ElementTree.fromstring(svg)
    texts = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    numbers = [each for each in texts if re.fullmatch(NUMBER, each) and "." in each]
    cells = [r for r in root.iter(f"{SVG}rect") if (r.get("class") or "").startswith("cell")]
    assert len(cells) == len(numbers) > 0
    for cell, number in zip(cells, numbers, strict=True):
        value = as_float(number)
        side = "negative" if value < 0 else "positive" if value > 0 else "zero"
        assert cell.get("class") == f"cell {side}"
        assert float(cell.get("fill-opacity") or "nan") == pytest.approx(
            abs(value) / largest, abs=2e-3
        )
    ends = re.findall(f"deepest: ({NUMBER})", svg)
    assert [abs(as_float(end)) for end in ends] == [largest]
    assert all(number in printed_in_text for number in (*numbers, *ends))
    words = root.findtext(f"{SVG}desc") or ""
    here = max(numbers, key=lambda number: abs(as_float(number)))
    side = "negative" if as_float(here) < 0 else "positive"
    assert f"({here}, {side})" in words
    layer, head = re.findall(r"layer (\d+), head (\d+) \(", words)[0]
    heads = len(set(re.findall(r"head \d+", " ".join(texts))))
    at = numbers.index(here)
    rows = [each for each in texts if re.fullmatch(r"\d+", each)]
    assert (rows[at // heads], int(head)) == (layer, at % heads + 1)
    width, height = (float(root.get(side) or 0) for side in ("width", "height"))
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.get(name) or 0) for name in ("x", "y", "width", "height"))
        assert 0 <= x < x + w <= width and 0 <= y < y + h <= height


def as_float(number: str) -> float:
    plain = number.replace("×10", "e").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(plain)


ASKED = {
    "pizza": (("attribute", "logits[la,pizza]", "-s", "pizza"), ""),
    "large": (("attribute", "logits[c,w13]", "-s", "-", "--instead-of", "w14"), LARGE),
    "differing": (("attribute", "logits[b,c]", "-s", "-"), of_heads(3, 2, 3, 1)),
    "sweep": (("compare", "pizza", "--text", "<START> odio la pizza", "--sweep", "heads"), ""),
}


@cache
def maps_of(name: str) -> Maps:
    """The maps of what is asked for in Markdown."""
    words, stdin = ASKED[name]
    return in_markdown(printed(*words, "-f", "markdown", stdin=stdin))


@pytest.mark.parametrize("name", ASKED)
def test_maps_have_the_numbers_of_the_data(name: str, tmp_path: Path) -> None:
    words, stdin = ASKED[name]
    found = document(*words, stdin=stdin)
    of_parts = "parts" in found
    maps = expected(
        found["parts"] if of_parts else found["sweep"],
        *(("printed", "parts") if of_parts else ("effect", "effects")),
    )
    text = printed(*words, "-f", "markdown", "--figures", str(tmp_path), stdin=stdin)
    shown = in_markdown(text)
    assert list(shown) == sorted(maps, key=list(shown).index) and shown
    for title, layers in maps.items():
        assert list(shown[title]) == list(layers)
        for layer, numbers in layers.items():
            if of_parts:
                assert shown[title][layer] == numbers
            else:
                rounded = [as_float(number) for number in shown[title][layer]]
                assert rounded == pytest.approx(list(map(float, numbers)), abs=5.1e-4)
    every = [as_float(n) for layers in shown.values() for row in layers.values() for n in row]
    pictures = list(tmp_path.glob("*.heads*.svg"))
    assert len(pictures) == len(shown)
    for picture in pictures:
        check_picture(picture.read_text(encoding="utf-8"), text, max(map(abs, every)))


def test_heads_of_the_encoder_have_a_map_of_their_own(tmp_path: Path) -> None:
    files = [tmp_path / "first.yaml", tmp_path / "second.yaml"]
    for file, first in zip(files, "ab", strict=True):
        file.write_text(of_heads(2, 2).replace("tokens: [a, b]", f"tokens: [{first}, b]", 1))
    rng = random.Random(1)
    other = re.sub(r"0\.\d", lambda found: f"0.{rng.randint(1, 9)}", files[0].read_text())
    files[1].write_text(other)
    asked = ("compare", *map(str, files), "--sweep", "heads")
    maps = expected(document(*asked)["sweep"], "effect", "effects")
    assert set(in_markdown(printed(*asked, "-f", "markdown"))) == set(maps)
    assert len(maps) == 3


@pytest.mark.parametrize("counts", [(1, 1, 1), (3,), (3, 1)])
def test_a_layer_or_a_head_alone_has_no_map(counts: tuple[int, ...]) -> None:
    text = printed("attribute", "logits[b,c]", "-s", "-", "-f", "markdown", stdin=of_heads(*counts))
    assert in_markdown(text) == {}


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("name", ASKED)
def test_a_terminal_shows_the_large_numbers(name: str, width: int) -> None:
    words, stdin = ASKED[name]
    shown = maps_of(name)
    largest = max(
        (n for layers in shown.values() for row in layers.values() for n in row),
        key=lambda number: abs(as_float(number)),
    )
    text = printed(*words, width=width, stdin=stdin)
    assert max(map(len, text.splitlines())) <= width
    for title, layers in shown.items():
        caption = r"\s".join(map(re.escape, f"{title}, a row for each layer:".split()))
        below = re.split(f"{caption}\n\n", text)[1]
        rows: Any = defaultdict(list)
        last = ""
        for block in below.split("\n\n"):
            if "│" not in block:
                break
            *_, last = block.splitlines()
            for line in block.splitlines():
                if match := re.match(r"  (\d+) +│ (.*)", line):
                    rows[int(match[1])] += match[2].split()
        small = [
            abs(as_float(n)) * 20 < abs(as_float(largest)) for row in layers.values() for n in row
        ]
        numbers = [n for row in layers.values() for n in row]
        drawn = [n for row in rows.values() for n in row]
        assert list(rows) == list(layers)
        assert drawn == ["·" if s else n for s, n in zip(small, numbers, strict=True)]
        legend = f"  · is less than 5 % of the size of {largest}"
        assert (last == legend) == any(small)


def test_every_format_colors_by_sign(tmp_path: Path) -> None:
    words, _ = ASKED["pizza"]
    shown = in_markdown(printed(*words, "-f", "markdown"))
    numbers = [n for layers in shown.values() for row in layers.values() for n in row]
    largest = max(abs(as_float(n)) for n in numbers)
    latex = printed(*words, "-f", "latex")
    for number in numbers:
        color = "orange" if as_float(number) < 0 else "blue"
        depth = round(40 * abs(as_float(number)) / largest)
        assert rf"\cellcolor{{{color}!{depth}}}{number}" in latex
    assert r"\colorbox{blue!40}{positive} \colorbox{orange!40}{negative}" in latex


def test_a_terminal_with_colors_has_one_for_each_sign() -> None:
    cells = tuple((Number(Decimal(a)), Number(Decimal(b))) for a, b in (("2", "-1"), ("0", "-0.2")))
    figure = Figure("x", "t", ("layer", ""), Number(Decimal(2)))
    matrix = Matrix(Symbol("c"), ("1", "2"), ("head 1", "head 2"), cells, None, figure)
    _, *rows, _ = matrix_rows(matrix, 80)
    styles = [[(row.plain[a:b].strip(), style) for a, b, style in row.spans[1:]] for row in rows]
    assert styles == [
        [("2", f"bold reverse {BLUE}"), ("-1", f"bold reverse {CLAY}")],
        [("·", BLUE), ("-0.2", CLAY)],
    ]


def test_numbers_are_easy_to_read_on_every_color_by_day_and_by_night(tmp_path: Path) -> None:
    printed(*ASKED["pizza"][0], "--figures", str(tmp_path))
    root = ElementTree.fromstring((tmp_path / "pizza.logits.heads.svg").read_text("utf-8"))
    day, _, night = (root.findtext(f"{SVG}style") or "").partition("@media")
    for found in (colors(day), colors(day) | colors(night)):
        for side in (".positive", ".negative"):
            assert contrast(found["text"], found[side]) >= 4.5
