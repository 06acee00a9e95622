"""The picture of the model as characters, SVG and LaTeX: all of it there, nothing over the edge."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from rich.cells import cell_len

from tests.helpers.command import printed
from tests.helpers.random_scenarios import Scenario, odd_tokens, scenarios
from tests.helpers.traces import bundled, traced, traced_or_rejected
from tracer.decoder.forward import Trace
from tracer.lesson.context import LessonContext
from tracer.lesson.document import Picture
from tracer.lesson.texts.picture import picture
from tracer.lesson.texts.selection import steps
from tracer.lesson.texts.symbols import symbols
from tracer.renderers.picture.as_svg import image_of
from tracer.renderers.picture.characters import in_characters
from tracer.renderers.picture.layout import laid_out

SCENARIOS = ("alex", "science", "pizza", "comics", "picture")
WIDTHS = (40, 60, 80, 120)
SVG = "{http://www.w3.org/2000/svg}"

several = settings(
    phases=[Phase.generate],
    database=None,
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def drawn(trace: Trace) -> Picture:
    return picture(LessonContext(trace, 0, symbols(trace.records)), steps(trace.records))


def numbers(lines: list[str]) -> list[int]:
    """The steps at the right of each tower's lines, and those of heads that are left out."""
    found: list[int] = []
    for line in lines:
        at_the_right = r"  ([0-9]+(?:–[0-9]+)?(?:, [0-9]+(?:–[0-9]+)?)*)(?=  |$| [│└])"
        left_out = re.findall(r"│ +([0-9]+–[0-9]+)(?= +│)", line)
        rest = re.sub(r"│ +[0-9]+–[0-9]+(?= +│)", "│", line)
        for each in (*re.findall(at_the_right, rest), *left_out):
            for part in each.split(", "):
                first, _, last = part.partition("–")
                found += range(int(first), int(last or first) + 1)
    return found


# --- characters ----------------------------------------------------------------------------------


@several
@given(scenario=scenarios(epsilons=("0.1",)) | scenarios(epsilons=("0.1",), alike=True))
def test_each_step_is_named_once(scenario: Scenario) -> None:
    trace = traced_or_rejected(scenario)
    for width in WIDTHS:
        *lines, _ = in_characters(drawn(trace), width)  # the tokens may be numbers
        # A range of steps that are not shown may include steps without a box.
        of_model = [s.number for s in steps(trace.records) if s.kind.sign is not None]
        assert sorted(n for n in numbers(lines) if n in of_model) == of_model


@several
@given(scenario=scenarios(epsilons=("0.1",), names=odd_tokens(), max_tokens=30))
def test_no_line_is_too_wide(scenario: Scenario) -> None:
    trace = traced_or_rejected(scenario)
    for width in WIDTHS:
        lines = in_characters(drawn(trace), width)
        assert [line for line in lines if cell_len(line) > width] == []
        assert "" not in lines


@several
@given(scenario=scenarios(epsilons=("0.1",), max_layers=1))
def test_ways_heads_and_entrances(scenario: Scenario) -> None:
    found = drawn(traced_or_rejected(scenario))
    text = "\n".join(in_characters(found, 300))
    (layer,) = scenario["layers"]
    encodes = found.encoder.layers if found.encoder else ()
    layers = [scenario["encoder"]["layers"][each.first - 1] for each in encodes]
    kinds = ("attention", "cross_attention", "ffn")
    parts = [each[kind] for each in (layer, *layers) for kind in kinds if kind in each]
    assert text.count("◂") == sum(p.get("residual", True) for p in parts)
    assert text.count("▸") == ("cross_attention" in layer)
    by_kind = {False: 0, True: 0}
    for part in parts:
        by_kind[part.get("kind", "softmax") != "softmax"] += len(part.get("heads", []))
    assert len(re.findall("Aᴱ?.? · V", text)) == by_kind[False]
    assert len(re.findall(r"\bstate\b", text)) == by_kind[True]


@pytest.mark.parametrize(("heads", "shown"), [(1, 1), (2, 2), (3, 3), (4, 1), (12, 1)])
def test_heads_are_below_each_other_where_it_is_narrow(heads: int, shown: int) -> None:
    narrow = "\n".join(in_characters(drawn(traced(with_heads(heads))), 40))
    assert narrow.count("A · V") == shown
    assert ("more" in narrow) == (shown < heads)


@pytest.mark.parametrize(("heads", "shown"), [(1, 1), (2, 2), (4, 2), (12, 2)])
def test_of_many_heads_some_are_left_out(heads: int, shown: int) -> None:
    lines = in_characters(drawn(traced(with_heads(heads))), 80)
    beside = [line.count("A · V") for line in lines if "A · V" in line]
    assert beside == [shown]
    text = "\n".join(lines)
    assert (f"{heads - shown} more" in text) == (shown < heads)
    assert (f"heads {shown + 1}–{heads}" in text) == (shown < heads)


def with_heads(count: int) -> str:
    head = "{W_Q: [[1], [2]], W_K: [[3], [4]], W_V: [[1, 0], [0, 1]]}"
    heads = ", ".join([head] * count)
    return (
        "title: T\ntokens: [a, b]\nembeddings: [[1, 2], [3, 4]]\n"
        f"layers: [{{attention: {{heads: [{heads}], residual: false}}}}]\n"
    )


def test_many_tokens_are_counted() -> None:
    tokens = ", ".join(f"word{i}" for i in range(30))
    yaml = f"title: T\ntokens: [{tokens}]\nembeddings: {[[1, 2]] * 30}\n"
    found = drawn(traced(yaml))
    for width in range(40, 100):
        assert max(map(len, in_characters(found, width))) <= width
    *_, last = in_characters(found, 40)
    assert last.split("  ") == ["word0", "word1", "word2", "… 26 more …", "word29"]
    assert len(last) <= 40 < len(last) + len("  word3")


def test_a_model_without_layers() -> None:
    lines = in_characters(drawn(traced("title: T\ntokens: [a]\nembeddings: [[1, 2]]\n")), 80)
    assert [line.split() for line in lines] == [
        *(["y", "1×2", "3"], ["│"], ["X′", "1×2", "2"], ["X", "1×2", "1"], ["a"]),
    ]


@pytest.mark.parametrize("command", ["run", "tutorial"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_it_stands_before_the_steps(name: str, command: str) -> None:
    text = printed(command, name, "--format", "terminal", "--detail", "full")
    introduction, _, _ = text.partition("\n1 · ")[0].partition("Its sizes:")
    _, begins, diagram = introduction.partition("Read the diagram from bottom to top.")
    count = len(steps(bundled(name).records))
    assert begins and sorted(numbers(diagram.split("\n"))) == list(range(1, count + 1))


# --- SVG -----------------------------------------------------------------------------------------


@several
@given(scenario=scenarios(epsilons=("0.1",), names=odd_tokens()))
def test_boxes_do_not_overlap(scenario: Scenario) -> None:
    found = drawn(traced_or_rejected(scenario))
    svg = ElementTree.fromstring(image_of(found))
    width, height = (float(svg.get(side) or 0) for side in ("width", "height"))
    boxes = list(map(placed, svg_boxes(svg)))
    for x, y, w, h in boxes:
        assert 0 <= x < x + w <= width
        assert 0 <= y < y + h <= height
    for (x1, y1, w1, h1), (x2, y2, w2, h2) in combinations(boxes, 2):
        assert x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1


def svg_boxes(svg: ElementTree.Element) -> list[ElementTree.Element]:
    return [g for g in svg.iter(f"{SVG}g") if "box" in (g.get("class") or "").split()]


def placed(box: ElementTree.Element) -> tuple[float, float, float, float]:
    """Left, top, width and height."""
    x, y = map(float, re.findall(r"-?[\d.]+", box.get("transform") or ""))
    edge = box.find(f"{SVG}rect")
    assert edge is not None
    return x, y, float(edge.get("width") or 0), float(edge.get("height") or 0)


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_file_beside_the_text(name: str, tmp_path: Path) -> None:
    markdown = printed("run", name, "--format", "markdown", "--figures", str(tmp_path))
    file = tmp_path / f"{name}.model.svg"
    svg = ElementTree.fromstring(file.read_bytes())
    assert svg.findtext(f"{SVG}title") == "The model"
    assert f"/{file.name})" in markdown
    assert "│" not in markdown  # the characters are only for who has no figures
    written = printed("run", name, "--format", "markdown")
    signs = [box.findtext(f"{SVG}text") or "" for box in svg_boxes(svg)]
    assert [sign for sign in signs if sign not in written] == []


# --- LaTeX ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCENARIOS)
def test_latex_has_the_same_words(name: str) -> None:
    latex = printed("run", name, "--format", "latex")
    rows = re.findall(
        r"^\\begin\{picture\}\(\d+,2\)\(-\d+,0\)(.*)\\end\{picture\}\\par$", latex, re.M
    )
    written = sum(row.count(r"\makebox") - row.count(r"$\triangle") for row in rows)
    assert written == sum(len(words.lines) for words in laid_out(drawn(bundled(name)), 92).words)
    number = r"\[l\]\{([0-9]+[-0-9, ]*)\}"
    words = [each for row in rows for each in re.findall(number, row)]
    shown = [each.replace("--", "–") for each in words]
    last = len(steps(bundled(name).records))
    assert sorted(numbers([f"  {text}" for text in shown])) == list(range(1, last + 1))
