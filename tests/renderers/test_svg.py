"""Pictures of the attention weights: valid, true to the numbers, and linked where they lie."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from tests.helpers.command import Ran, printed, run, run_json
from tests.helpers.random_scenarios import ODD_WORDS, Scenario, to_yaml

SCENARIOS = ("alex", "science", "pizza", "comics")
NAMESPACE = "{http://www.w3.org/2000/svg}"
every_scenario = pytest.mark.parametrize("name", SCENARIOS)


def pictures(folder: Path) -> dict[str, ElementTree.Element]:
    """The heat maps in a folder, read as XML."""
    files = folder.glob("*.weights.svg")
    return {path.name: ElementTree.fromstring(path.read_bytes()) for path in files}


def texts(picture: ElementTree.Element) -> list[str]:
    return ["".join(element.itertext()) for element in picture.iter(f"{NAMESPACE}text")]


def weights(name: str) -> dict[str, Any]:
    """The attention weights of a run by the file that shows them."""
    values = run_json(name)["values"]
    found = {v["address"]: v for v in values if v["address"].endswith(".weights")}
    return {f"{name}.{address}.svg": value for address, value in found.items()}


def odd_scenario(names: list[str]) -> str:
    one = [[Decimal(1)]]
    head = dict.fromkeys(["W_Q", "W_K", "W_V"], one)
    scenario: Scenario = {"title": "T", "tokens": names, "embeddings": one * len(names)}
    return to_yaml(scenario | {"layers": [{"attention": {"heads": [head]}}]})


def linked(markdown: str) -> list[tuple[str, str]]:
    """The pictures of a text: where they lie and what they show, in words."""
    blocks = MarkdownIt("commonmark").parse(markdown)
    images = [c for b in blocks for c in b.children or () if c.type == "image"]
    return [
        (unquote(str(image.attrs["src"])), "".join(part.content for part in image.children or ()))
        for image in images
    ]


@every_scenario
def test_one_picture_for_each_head(name: str, tmp_path: Path) -> None:
    printed("run", name, "--figures", str(tmp_path))
    expected = weights(name)
    assert set(pictures(tmp_path)) == set(expected)
    assert all(".attention.head" in file or ".cross_attention.head" in file for file in expected)


@every_scenario
def test_the_numbers_are_those_that_are_printed(name: str, tmp_path: Path) -> None:
    markdown = printed("run", name, "--format", "markdown", "--figures", str(tmp_path))
    tables = {  # the table in front of each link
        unquote(link).rpartition("/")[2]: table
        for table, link in re.findall(r"((?:^\|.*\n)+)\n!\[.*\]\((.*)\)$", markdown, re.MULTILINE)
    }
    for file, value in weights(name).items():
        rows = [
            line.strip("| ").replace("*", "").split(" | ") for line in tables[file].splitlines()
        ]
        numbers = [cell for row in rows[2:] for cell in row[1:]]
        title, *shown = texts(pictures(tmp_path)[file])
        assert title.startswith("Attention weights")
        assert shown[:2] == ["at whom", "who looks"]
        assert [
            text for text in shown if re.fullmatch(r"[0-9.]+(×10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?", text)
        ] == numbers
        assert numbers == [] or len(numbers) == len(value["data"]) * len(value["data"][0])
        cells = pictures(tmp_path)[file].iter(f"{NAMESPACE}rect")
        shares = [c.get("fill-opacity") for c in cells if c.get("class") == "cell"]
        exact = [entry for row in value["data"] for entry in row]
        assert [float(share or "nan") for share in shares] == pytest.approx(exact, abs=0.002)


@every_scenario
def test_titles_and_colors(name: str, tmp_path: Path) -> None:
    printed("run", name, "--figures", str(tmp_path))
    titles = set()
    for picture in pictures(tmp_path).values():
        assert picture.tag == f"{NAMESPACE}svg"
        assert picture.get("role") == "img"
        first, second, style = list(picture)[:3]
        assert [first.tag, second.tag] == [f"{NAMESPACE}title", f"{NAMESPACE}desc"]
        assert (second.text or "").startswith(f"{first.text}: ")
        assert "prefers-color-scheme: dark" in (style.text or "")
        width, height = (float(picture.get(side) or 0) for side in ("width", "height"))
        assert picture.get("viewBox") == f"0 0 {width:g} {height:g}"
        for rect in picture.iter(f"{NAMESPACE}rect"):
            x, y, w, h = (float(rect.get(side) or 0) for side in ("x", "y", "width", "height"))
            assert 0 <= x < x + w <= width
            assert 0 <= y < y + h <= height
        titles.add(first.text)
    assert len(titles) == len(pictures(tmp_path))


def of_kind(picture: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [element for element in picture.iter() if element.get("class") == kind]


@every_scenario
def test_what_is_hidden_is_hatched_and_the_followed_row_is_framed(
    name: str, tmp_path: Path
) -> None:
    printed("run", name, "--token", "2", "--figures", str(tmp_path))
    for file, value in weights(name).items():
        picture, data = pictures(tmp_path)[file], value["data"]
        hidden = [(i, j) for i, row in enumerate(data) for j, x in enumerate(row) if x == 0]
        cells = [(cell.get("x"), cell.get("y")) for cell in of_kind(picture, "cell")]
        hatched = [(cell.get("x"), cell.get("y")) for cell in of_kind(picture, "hatched")]
        assert hatched == [cells[i * len(data[0]) + j] for i, j in hidden]
        (frame,) = of_kind(picture, "marked")
        assert (frame.get("x"), frame.get("y")) == cells[len(data[0])]
        label, *numbers = of_kind(picture, "followed")
        assert "".join(label.itertext()) == value["axes"][0]["labels"][1]
        assert [number.text for number in numbers] == value["printed"][1]


def test_long_names_are_folded_and_make_no_cell_wider(tmp_path: Path) -> None:
    long = ["a-very-long-street-name", "Donaudampfschifffahrtsgesellschaft", "two small words"]
    sizes = []
    for names in (["a", "b", "c"], long):
        printed("run", "-", "--figures", str(tmp_path), "--force", stdin=odd_scenario(names))
        (picture,) = pictures(tmp_path).values()
        sizes.append({cell.get("width") for cell in of_kind(picture, "cell")})
    assert sizes[0] == sizes[1]
    spans = [
        [span.text or "" for span in text] for text in picture.iter(f"{NAMESPACE}text") if len(text)
    ]
    assert all(len(line.rstrip()) <= 18 for lines in spans for line in lines)
    assert spans[2] == ["two small ", "words"]
    assert spans[1][-1].endswith("…")


def luminance(color: tuple[float, ...]) -> float:
    """As WCAG defines it, of red, green and blue between 0 and 1."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


def colors(style: str) -> dict[str, tuple[float, ...]]:
    """The fill of each kind of thing."""
    found = re.findall(r"([.\w]+) \{[^}]*?fill: #([0-9a-f]{6})", style)
    return {kind: tuple(int(c[i : i + 2], 16) / 255 for i in (0, 2, 4)) for kind, c in found}


def test_words_are_easy_to_read_on_every_cell_by_day_and_by_night(tmp_path: Path) -> None:
    printed("step", "softmax", "--figures", str(tmp_path))
    picture = next(iter(pictures(tmp_path).values()))
    day, _, night = (picture.findtext(f"{NAMESPACE}style") or "").partition("@media")
    for found in (colors(day), colors(day) | colors(night)):
        for share in range(0, 101, 5):
            pairs = zip(found[".page"], found[".cell"], strict=True)
            ground = tuple(page + (cell - page) * share / 100 for page, cell in pairs)
            assert contrast(found["text"], ground) >= 4.5
        assert contrast(found[".axis"], found[".page"]) >= 4.5


def test_what_is_not_seen_without_the_mask(tmp_path: Path) -> None:
    arguments = ("step", "attention", "-s", "pizza", "--layer", "1", "--head", "1", "--no-mask")
    printed(*arguments, "--figures", str(tmp_path))
    title = {file: next(iter(picture)).text for file, picture in pictures(tmp_path).items()}
    at = "pizza.layer1.attention.head1"
    assert set(title) == {f"{at}.weights.svg", f"{at}.unmasked.weights.svg"}
    assert "without the mask" in (title[f"{at}.unmasked.weights.svg"] or "")
    assert "without the mask" not in (title[f"{at}.weights.svg"] or "")


def test_hostile_names(tmp_path: Path) -> None:
    names = list(dict.fromkeys(ODD_WORDS))
    markdown = printed(
        *("run", "-", "-f", "markdown", "--figures", str(tmp_path)), stdin=odd_scenario(names)
    )
    (picture,) = pictures(tmp_path).values()
    plain = [
        name for name in names if name.isprintable() and len(name) < 20 and name.strip(" ") == name
    ]
    assert [name for name in plain if texts(picture).count(name) < 2] == []
    assert {element.tag.removeprefix(NAMESPACE) for element in picture.iter()} == {
        *("svg", "title", "desc", "style", "text", "tspan", "rect", "defs", "pattern", "path")
    }
    ((path, description),) = (link for link in linked(markdown) if ".weights.svg" in link[0])
    assert (Path.cwd() / path).resolve().is_file()
    assert description == picture.findtext(f"{NAMESPACE}desc")


PLACES = {
    "beside": ("page.md", "."),
    "below": ("page.md", "figures"),
    "spaces": ("my text/a page.md", "my text/some (odd) pictures #1"),
    "elsewhere": ("text/page.md", "pictures/of heads"),
    "above": ("a/b/page.md", "pictures"),
}


def test_of_a_share_that_a_worksheet_leaves_out_only_the_blank_is_shown(tmp_path: Path) -> None:
    printed("tutorial", "alex", "--blanks", "--seed", "6", "--figures", str(tmp_path))
    picture = pictures(tmp_path)["alex.layer1.attention.head1.weights.svg"]
    alex = texts(picture)[-4:]
    shades = [cell.attrib["fill-opacity"] for cell in of_kind(picture, "cell")][-4:]
    assert 0 < sum(share.startswith("[") for share in alex) < 4
    for share, shade in zip(alex, shades, strict=True):
        assert re.fullmatch(r"\[\d+\]", share) if shade == "0" else share == shade


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_links(place: str, absolute: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page, folder = (str(tmp_path / part) if absolute else part for part in PLACES[place])
    (tmp_path / PLACES[place][0]).parent.mkdir(parents=True, exist_ok=True)
    ran = run("tutorial", "alex", "--output", page, "--figures", folder)
    assert ran == Ran(0, "", "")
    found = linked(Path(page).read_text(encoding="utf-8"))
    assert sum(".weights.svg" in path for path, _ in found) == 3  # one without the mask
    for path, description in found:
        assert not Path(path).is_absolute()
        target = Path(page).parent / path
        assert target.is_file()
        picture = ElementTree.fromstring(target.read_bytes())
        assert picture.findtext(f"{NAMESPACE}desc") == description
    assert len(list(Path(folder).glob("*.svg"))) == len(found)


def test_no_pictures_where_none_are_asked_for(tmp_path: Path) -> None:
    assert linked(printed("tutorial", "alex")) == []
    ran = run("step", "norm", "--figures", str(tmp_path / "none"))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("--figures: this output has no pictures")
    assert not (tmp_path / "none").exists()
